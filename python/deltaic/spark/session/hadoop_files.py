"""Whether Hadoop has a file system for a place: without one Spark itself can neither read nor write files there."""

from __future__ import annotations

from typing import Any

from deltaic.identifiers import is_url
from deltaic.spark.session.jvm import java_method


def has_file_system(spark: Any, uri: str) -> bool:
    """Whether Hadoop has one in a classic session, for the place with this URI or path."""
    if not is_url(uri) or uri.startswith("file:"):
        return True
    return bool(java_method(spark, "HadoopFiles", "has")(spark._jsparkSession, uri))


def without_file_system(spark: Any, uri: str) -> str:
    """Says that Hadoop has none there, and what to add."""
    scheme = uri.partition(":")[0]
    needed = java_method(spark, "HadoopFiles", "needed")(uri)
    return f"Hadoop has no file system for `{scheme}` in this session: add {needed} to spark.jars.packages"
