"""An inventory of files, as stores make them, for a vacuum that lists nothing."""

from __future__ import annotations

from typing import Any

from deltaic.exceptions import InvalidArgumentError
from deltaic.spark.maintenance.result_rows import hadoop_path
from deltaic.spark.session.kind import functions

_COLUMNS = {"path": "string", "length": "bigint", "isDir": "boolean", "modificationTime": "bigint"}


def inventory_files(rows: Any, uri: str) -> list[tuple[str, int]]:
    """The files of an inventory that are below a table: their relative paths, and when they were last changed.

    Raises:
        InvalidArgumentError: the query has other columns than those of an inventory.
    """
    found = {f.name: f.dataType.simpleString() for f in rows.schema.fields if f.name in _COLUMNS}
    if found != _COLUMNS:
        wanted = ", ".join(f"{name} {kind}" for name, kind in _COLUMNS.items())
        reason = f"it needs the columns {wanted}, and has {rows.schema.simpleString()}"
        error = InvalidArgumentError.of("inventory", reason)
        raise error.named("DELTA_INVALID_INVENTORY_SCHEMA", expectedSchema=wanted)
    F = functions(rows)  # noqa: N806 (its usual name)
    base = f"{hadoop_path(uri).rstrip('/')}/"
    files = rows.where(F.col("path").startswith(base) & ~F.col("isDir")).select("path", "modificationTime")
    return [(path.removeprefix(base), modified) for path, modified in files.collect() if modified is not None]
