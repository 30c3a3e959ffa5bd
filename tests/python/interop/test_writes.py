"""The same writes by deltaic and by delta-spark leave the same table, history and statistics."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import deltaic

if TYPE_CHECKING:
    from pathlib import Path

TEN = (
    "SELECT id, id % 3 AS p, concat('name ', id) AS name, cast(id AS double) / 4 AS x FROM range(0, 10, 1, 1)"
)
MORE = (
    "SELECT id, id % 3 AS p, concat('more ', id) AS name, cast(id AS double) / 4 AS x FROM range(7, 15, 1, 1)"
)
WIDE = "SELECT id, id % 3 AS p, true AS flag, named_struct('a', id) AS s FROM range(20, 24, 1, 1)"
DEEP = """SELECT 1L AS id, named_struct('x', 1L) AS s, array(named_struct('y', 1)) AS l,
    map('k', named_struct('z', 1)) AS m"""
DEEPER = """SELECT 2L AS id, named_struct('x', 2L, 'n', 'new') AS s,
    array(named_struct('y', 2, 'n', date'2024-02-29')) AS l, map('k', named_struct('z', 2, 'n', 1.5D)) AS m"""

Step = tuple[str, str, dict[str, str], list[str]]

CASES: dict[str, list[Step]] = {
    "append": [(TEN, "append", {}, []), (MORE, "append", {}, [])],
    "append to partitions": [(TEN, "errorifexists", {}, ["p"]), (MORE, "append", {}, ["p"])],
    "ignore": [(TEN, "ignore", {}, []), (MORE, "ignore", {}, [])],
    "overwrite": [(TEN, "overwrite", {}, ["p"]), (MORE, "overwrite", {}, [])],
    "dynamic": [
        (TEN, "append", {}, ["p"]),
        (f"{MORE} WHERE id % 3 > 0", "overwrite", {"partitionOverwriteMode": "dynamic"}, []),
    ],
    "replace partitions": [
        (TEN, "append", {}, ["p"]),
        (f"{MORE} WHERE id % 3 = 1", "overwrite", {"replaceWhere": "p = 1"}, []),
    ],
    "replace rows": [
        (TEN, "append", {}, []),
        (f"{MORE} WHERE id < 10", "overwrite", {"replaceWhere": "id BETWEEN 7 AND 9"}, []),
    ],
    "merge schema": [(TEN, "append", {}, ["p"]), (WIDE, "append", {"mergeSchema": "true"}, [])],
    "merge nested": [(DEEP, "append", {}, []), (DEEPER, "append", {"mergeSchema": "true"}, [])],
    "overwrite schema": [(TEN, "append", {}, ["p"]), (WIDE, "overwrite", {"overwriteSchema": "true"}, [])],
    "other partitions": [
        (TEN, "append", {}, ["p"]),
        (WIDE, "overwrite", {"overwriteSchema": "true"}, ["flag"]),
    ],
    "same rows": [
        (TEN, "append", {}, []),
        (TEN, "overwrite", {"dataChange": "false", "userMetadata": "again"}, []),
    ],
    "once": [
        (TEN, "append", {"txnAppId": "app", "txnVersion": "1"}, []),
        (TEN, "append", {"txnAppId": "app", "txnVersion": "1"}, []),
    ],
    "few rows a file": [(TEN, "append", {"maxRecordsPerFile": "4", "compression": "zstd"}, [])],
}


def log(path: Path) -> list[list[dict[str, Any]]]:
    files = sorted((path / "_delta_log").glob("*.json"))
    return [[json.loads(line) for line in file.read_text().splitlines()] for file in files]


def facts(commit: list[dict[str, Any]], route: str) -> dict[str, Any]:
    """What must be equal of a commit: all but times, names, sizes and ids."""
    found: dict[str, Any] = {"adds": [], "removes": 0, "txn": None}
    for action in commit:
        ((kind, value),) = action.items()
        if kind == "commitInfo":
            found["operation"] = (value["operation"], value["operationParameters"], value.get("userMetadata"))
            metrics = value["operationMetrics"]
            found["metrics"] = {k: v for k, v in metrics.items() if "Bytes" not in k}
            found["bytes"] = {k for k in metrics if "Bytes" in k}
        elif kind == "metaData":
            found["schema"] = json.loads(value["schemaString"])
            found["by"], found["configuration"] = value["partitionColumns"], value["configuration"]
        elif kind == "add":
            stats = json.loads(value["stats"])
            if route == "direct":
                # the footers of Spark's files count null elements, not null arrays and maps
                nulls = stats.get("nullCount", {})
                stats["nullCount"] = {name: n for name, n in nulls.items() if name not in ("l", "m")}
            found["adds"].append(
                json.dumps([value["partitionValues"], value["dataChange"], stats], sort_keys=True)
            )
        elif kind == "remove":
            found["removes"] += 1
        elif kind == "txn":
            found["txn"] = (value["appId"], value["version"])
    found["adds"].sort()
    return found


@pytest.mark.parametrize("route", ["direct", "arrow", "driver"])
@pytest.mark.parametrize("case", CASES)
def test_the_same_writes(
    spark: Any, delta_spark: Any, same: Any, case: str, route: str, tmp_path: Path
) -> None:
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    for query, mode, options, by in CASES[case]:
        nested = case == "merge nested" and route == "direct" and options
        writer = spark.sql(query).write.format("delta").mode(mode).options(**options)
        writer.option("deltaicRoute", "auto" if nested else route).partitionBy(*by).save(str(ours))
        delta_spark.write(theirs, query, mode, options, by)
    here, there = log(ours), log(theirs)
    assert len(here) == len(there)
    for one, other in zip(here, there, strict=True):
        assert facts(one, route) == facts(other, route)
    rows = delta_spark.read(ours)
    same(rows, delta_spark.read(theirs))
    same(deltaic.Table(str(ours)).to_arrow(), rows)
    same(deltaic.Table(str(theirs)).to_arrow(), rows)


REFUSED: dict[str, tuple[Step, str]] = {
    "a new column": ((WIDE, "append", {}, []), "flag"),
    "another type": (("SELECT 'a' AS id, 1L AS p, '' AS name, 1D AS x", "append", {}, []), "id"),
    "a longer type": (("SELECT 1D AS id, 1L AS p, '' AS name, 1D AS x", "append", {}, []), "id"),
    "other partitions": ((TEN, "append", {}, ["name"]), "p"),
    "other partitions to overwrite": ((TEN, "overwrite", {}, ["name"]), "p"),
    "a row outside": ((TEN, "overwrite", {"replaceWhere": "p = 1"}, []), "p = 1"),
    "exists": ((TEN, "errorifexists", {}, []), "exists"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_both_refuse(spark: Any, delta_spark: Any, case: str, tmp_path: Path) -> None:
    (query, mode, options, by), said = REFUSED[case]
    delta_spark.write(tmp_path, TEN, "append", {}, ["p"])
    with pytest.raises(AssertionError):
        delta_spark.write(tmp_path, query, mode, options, by)
    with pytest.raises(deltaic.exceptions.DeltaError) as error:
        spark.sql(query).write.format("delta").mode(mode).options(**options).partitionBy(*by).save(
            str(tmp_path)
        )
    assert said in str(error.value)
    assert deltaic.Table(str(tmp_path)).version == 0
