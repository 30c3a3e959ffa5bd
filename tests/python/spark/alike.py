"""What must be the same of two tables that two kinds of session made."""

from __future__ import annotations

import json
import re
from typing import Any

import pyarrow as pa
from dml_tables import actions, changes

import deltaic

# what the commit of an operation says that depends on time, on how values are packed, and on the tasks of a rewrite
_MEASURED = ("Ms", "Bytes", "BytesAdded", "BytesRemoved", "FilesAdded", "AddedFiles", "AddedChangeFiles")
# what differs between two tables made alike
_OWN = {"id", "createdTime"}
SAID = ("version", "operation", "operationParameters", "userMetadata", "isBlindAppend", "readVersion")


def rows(path: str) -> list[str]:
    """Read without Spark."""
    return sorted(repr(row) for row in pa.table(deltaic.Table(path).to_arrow()).to_pylist())


def commits(path: str) -> list[dict[str, Any]]:
    """What the log says of each commit, but for times, sizes and names."""
    found = []
    for entry in deltaic.Table(path).history():
        metrics = entry["operationMetrics"] or {}
        facts = {k: v for k, v in metrics.items() if not k.endswith(_MEASURED)}
        entry["operationParameters"] = json.loads(_plain(json.dumps(entry["operationParameters"])))
        found.append({**{k: entry[k] for k in SAID}, "metrics": facts, "all": sorted(metrics)})
    return found


def table(path: str) -> dict[str, Any]:
    """The newest protocol and metadata."""
    found: dict[str, Any] = {}
    for action in actions(path):
        for kind in ("protocol", "metaData"):
            if kind in action:
                found[kind] = {k: v for k, v in action[kind].items() if k not in _OWN}
    found["metaData"]["schemaString"] = _plain(found["metaData"]["schemaString"])
    settings = found["metaData"]["configuration"]
    found["metaData"]["configuration"] = {k: v for k, v in settings.items() if "materialized" not in k}
    return found


def _plain(text: str) -> str:
    """Without the names that new columns get in the files."""
    return re.sub("col-[0-9a-f-]{36}", "col", text)


def compare(classic: str, connect: str, *, owned: bool = False) -> None:
    """The two tables are the same; where the catalog of the classic session owns its one, that is what differs."""
    there, here = commits(classic), commits(connect)
    for commit in there if owned else []:
        assert commit["operationParameters"].pop("isManaged", "true") == "true"
    for commit in here if owned else []:
        assert commit["operationParameters"].pop("isManaged", "false") == "false"
    assert there == here
    assert table(classic) == table(connect)
    assert rows(classic) == rows(connect)
    reported = [sorted(named(p, change) for change in changes(p)) for p in (classic, connect)]
    assert reported[0] == reported[1]


def named(path: str, change: dict[str, Any]) -> str:
    """A change with the names of the columns, where its file has others."""
    text = json.dumps(change, default=str)
    for field in deltaic.Table(path).schema:
        text = text.replace(field.metadata.get("delta.columnMapping.physicalName", field.name), field.name)
    return json.dumps(json.loads(text), sort_keys=True)
