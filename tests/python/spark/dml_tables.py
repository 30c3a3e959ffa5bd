"""Tables for the tests of deletes and updates, and what their logs say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet as pq

import deltaic

VECTORS = {"delta.enableDeletionVectors": "true"}
FEED = {"delta.enableChangeDataFeed": "true"}
ROW_TRACKING = {"delta.enableRowTracking": "true"}
NAMES = {"delta.columnMapping.mode": "name"}

KINDS = {
    "rewrite": {},
    "vectors": VECTORS,
    "everything": {**VECTORS, **FEED, **ROW_TRACKING, **NAMES},
    "rewrite with feed and row ids": {**FEED, **ROW_TRACKING},
}
"""Properties that decide about how rows leave."""

ROWS = """
    SELECT id, CAST(id % 4 AS string) AS p, IF(id % 5 = 0, NULL, CAST(id % 7 AS int)) AS n,
        named_struct('a', CAST(id AS int), 'b', concat('t', id)) AS s
    FROM range(0, 100, 1, 3)
"""


def make(door: Any, path: Path, kind: str, *, by: list[str] | None = None) -> str:
    """A table of `ROWS` in three files or more."""
    deltaic.save(door.sql(ROWS), str(path), partition_by=by, **KINDS[kind])
    return str(path)


def write_parts(path: Path, properties: dict[str, str], *, by: list[str] | None = None) -> None:
    """A table of sixty rows like `ROWS`, written without Spark in three commits."""
    ids = list(range(60))
    data = pa.table(
        {
            "id": pa.array(ids, pa.int64()),
            "p": ["abc"[i % 3] for i in ids],
            "n": pa.array([None if i % 11 == 5 else i % 7 for i in ids], pa.int32()),
            "s": pa.array(
                [{"a": i, "b": "x"} for i in ids], pa.struct([("a", pa.int32()), ("b", pa.string())])
            ),
        }
    )
    deltaic.write(str(path), data.slice(0, 20), partition_by=by, configuration=properties)
    for start in (20, 40):
        deltaic.write(str(path), data.slice(start, 20))


def ids(rows: Any) -> list[int]:
    return sorted(r.id for r in rows.collect())


def actions(path: str, version: int | None = None) -> list[dict[str, Any]]:
    """Those of a version, or of all of them."""
    commits = sorted(Path(path, "_delta_log").glob("*.json"))
    wanted = commits if version is None else [commits[version]]
    return [json.loads(line) for commit in wanted for line in commit.read_text().splitlines()]


def versions(path: str) -> int:
    return len(list(Path(path, "_delta_log").glob("*.json")))


def last_commit(path: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """`commitInfo` of the newest version, and the other actions."""
    all_ = actions(path, -1)
    info = next(a["commitInfo"] for a in all_ if "commitInfo" in a)
    return info, [a for a in all_ if "commitInfo" not in a]


def metrics(path: str) -> dict[str, int]:
    """Of the newest version, but for times and bytes."""
    given = last_commit(path)[0]["operationMetrics"]
    return {k: int(v) for k, v in given.items() if not k.endswith(("Ms", "Bytes"))}


def live(path: str) -> list[dict[str, Any]]:
    """The `add` actions that are left."""
    files: dict[str, dict[str, Any]] = {}
    for commit in range(versions(path)):
        of_one = actions(path, commit)
        for action in of_one:
            if "remove" in action:
                files.pop(action["remove"]["path"], None)
        for action in of_one:
            if "add" in action:
                files[action["add"]["path"]] = action["add"]
    return list(files.values())


def row_ids(path: str, key: str = "id") -> dict[int, set[tuple[int, int]]]:
    """Row id and commit version of each row that live files hold, deleted ones included, by the value of a column."""
    last = [a["metaData"] for a in actions(path) if "metaData" in a][-1]
    names = [
        last["configuration"][f"delta.rowTracking.materialized{n}ColumnName"]
        for n in ("RowId", "RowCommitVersion")
    ]
    fields = json.loads(last["schemaString"])["fields"]
    stored = next(
        f["metadata"].get("delta.columnMapping.physicalName", key) for f in fields if f["name"] == key
    )
    out: dict[int, set[tuple[int, int]]] = {}
    for add in live(path):
        table = pq.ParquetFile(Path(path, unquote(add["path"]))).read()
        columns = [
            table.column(n).to_pylist() if n in table.column_names else [None] * len(table) for n in names
        ]
        for at, value in enumerate(table.column(stored).to_pylist()):
            own = columns[0][at], columns[1][at]
            row_id = add["baseRowId"] + at if own[0] is None else own[0]
            out.setdefault(value, set()).add(
                (row_id, add["defaultRowCommitVersion"] if own[1] is None else own[1])
            )
    return out


def changes(path: str) -> list[dict[str, Any]]:
    """The rows of the change files of the newest version, without partition columns."""
    files = [a["cdc"]["path"] for a in last_commit(path)[1] if "cdc" in a]
    tables = [pq.ParquetFile(Path(path, unquote(f))).read() for f in files]
    return pa.concat_tables(tables, promote_options="permissive").to_pylist() if tables else []


def data_files(path: str) -> set[str]:
    """Every file of the table's folder but the log and what Hadoop leaves beside files."""
    files = (f.relative_to(path) for f in Path(path).rglob("*") if f.is_file())
    return {str(f) for f in files if f.parts[0] != "_delta_log" and not f.name.endswith(".crc")}
