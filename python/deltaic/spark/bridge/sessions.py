"""The session in which a statement runs, and the classes of the bridge in its JVM."""

from __future__ import annotations

from typing import Any

from deltaic.spark.bridge.compiler import PACKAGE


def session_of(data: Any) -> Any:
    """The session that a command brings, or the one that is active on this thread."""
    from pyspark import SparkContext
    from pyspark.sql.classic.dataframe import DataFrame  # noqa: F401  (registers the class)
    from pyspark.sql.session import SparkSession

    context = SparkContext.getOrCreate()
    java = None if data is None else data["session"]
    return SparkSession(context, java or context._jvm.org.apache.spark.sql.classic.SparkSession.active())


def java_class(spark: Any, name: str) -> Any:
    """A class of the bridge, which must be there.

    By its path through the JVM's packages, each name would be a question.
    """
    from py4j.java_gateway import JavaClass

    return JavaClass(f"{PACKAGE}.{name}", spark.sparkContext._gateway._gateway_client)
