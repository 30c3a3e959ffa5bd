"""The session in which a statement runs, its JVM, and the classes of the bridge there."""

from __future__ import annotations

from typing import Any

PACKAGE = "deltaic.spark"
"""The Java package of the bridge."""


def session_of(data: Any) -> Any:
    """The session that a command brings, or the one that is active on this thread."""
    from pyspark import SparkContext
    from pyspark.sql.classic.dataframe import DataFrame  # noqa: F401  (registers the class)
    from pyspark.sql.session import SparkSession

    context = SparkContext.getOrCreate()
    java = None if data is None else data["session"]
    return SparkSession(context, java or context._jvm.org.apache.spark.sql.classic.SparkSession.active())


def java_method(spark: Any, name: str, method: str) -> Any:
    """A static method of a class of the bridge, which must be there.

    By its path through the JVM's packages each name would be a question, and as a member of its class the method one.
    """
    from py4j.java_gateway import JavaMember
    from py4j.protocol import STATIC_PREFIX

    client = spark.sparkContext._gateway._gateway_client
    return JavaMember(method, None, f"{STATIC_PREFIX}{PACKAGE}.{name}", client)


def is_loaded(gateway: Any, name: str) -> bool:
    """Whether the JVM finds a class."""
    path = name.replace(".", "/") + ".class"
    loader = gateway.jvm.java.lang.Thread.currentThread().getContextClassLoader()
    return loader.getResource(path) is not None
