"""History, details and results of a table, as rows of `result_frames`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from deltaic.table import Table
    from deltaic.table.maintain import RestoreResult


def history(table: Table, limit: int | None) -> list[dict[str, Any]]:
    """The commits, newest first."""
    rows = table.history(limit)
    for row in rows:
        for column in ("operationParameters", "operationMetrics"):
            row[column] = _texts(row[column])
    return rows


def detail(table: Table, name: str | None) -> dict[str, Any]:
    """The table in one row; `name` is the one that a catalog knows it by."""
    row = table.detail()
    return {**row, "name": name or row["name"], "location": hadoop_path(row["location"])}


def restored(done: RestoreResult) -> list[dict[str, int]]:
    """What a restore did; nothing for the newest version."""
    if done.version == done.restored_version:
        return []
    row = {
        "table_size_after_restore": done.bytes,
        "num_of_files_after_restore": done.files,
        "num_removed_files": done.removed_files,
        "num_restored_files": done.restored_files,
        "removed_files_size": done.removed_bytes,
        "restored_files_size": done.restored_bytes,
    }
    return [row]


def hadoop_path(uri: str) -> str:
    """A location as Hadoop writes it: a local one as `file:/…`."""
    return f"file:{uri}" if uri.startswith("/") else uri


def _texts(values: dict[str, Any] | None) -> dict[str, str | None] | None:
    """As delta-spark reads them: a value that is not a text in the log is shown as JSON."""
    if values is None:
        return None
    return {key: value if isinstance(value, str | None) else _json(value) for key, value in values.items()}


def _json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
