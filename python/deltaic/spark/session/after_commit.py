"""What follows a commit of a session: its settings name the version, and what Spark cached is refreshed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from deltaic.spark.session.jvm import java_method
from deltaic.spark.session.kind import is_connect

if TYPE_CHECKING:
    from deltaic.table import Table


def committed(spark: Any, uri: str, version: int | None) -> None:
    """Reports a commit to its session; `uri` as the core writes it. Without a version nothing was committed."""
    if version is not None and not is_connect(spark):
        java_method(spark, "Committed", "to")(spark._jsparkSession, uri, version)


def committed_at(spark: Any, path: str, version: int | None) -> None:
    """As `committed`, of a table at an absolute path or URL."""
    if version is not None and not is_connect(spark):
        java_method(spark, "Committed", "toPath")(spark._jsparkSession, path, version)


def altered(spark: Any, table: Table, version: int) -> None:
    """As `committed`, after a change of a table that stays at its version; it answers that where nothing was to do."""
    place = f"file:{table.uri}" if table.uri.startswith("/") else table.uri
    committed_at(spark, place, None if version == table.version else version)
