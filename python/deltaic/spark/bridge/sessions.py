"""The session in which a statement runs."""

from __future__ import annotations

from typing import Any


def session_of(data: Any) -> Any:
    """The session that a command brings, or the one that is active on this thread."""
    from pyspark import SparkContext
    from pyspark.sql.classic.dataframe import DataFrame  # noqa: F401  (registers the class)
    from pyspark.sql.session import SparkSession

    context = SparkContext.getOrCreate()
    java = None if data is None else data["session"]
    return SparkSession(context, java or context._jvm.org.apache.spark.sql.classic.SparkSession.active())
