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

# numbers, texts around the length that the log keeps, and beyond the length that footers keep; nulls at every depth
EVERY_TYPE = """SELECT id, cast(id AS byte) AS b, cast(-id AS short) AS s, cast(id AS int) AS i,
    CASE WHEN id % 4 = 0 THEN float('NaN') ELSE cast(id AS float) / 3 END AS f,
    CASE id WHEN 3 THEN double('Infinity') WHEN 4 THEN double('-Infinity') ELSE id * 1e-7 END AS d,
    CASE WHEN id = 5 THEN double('NaN') WHEN id % 2 = 0 THEN id - 3.25D END AS nan,
    double('NaN') AS only_nan, cast(NULL AS double) AS no_double,
    cast(id - 6.25 AS decimal(9, 2)) AS d9, cast(id * -1234567.8901 AS decimal(18, 4)) AS d18,
    cast(id * 12345678901234567890.5 - 1 AS decimal(38, 10)) AS d38,
    id % 2 = 0 AS flag, concat('id ', id) AS text, cast(NULL AS string) AS no_text, '' AS empty,
    concat(repeat('x', 31), chr(97 + id), 'tail') AS longer, repeat(concat('zß水🦀', id), 9) AS wide,
    concat(repeat('ÿ', 3000), id) AS longest, repeat('🦀', 2500) AS crabs, concat(repeat('a', 32), '水') AS edge,
    cast(concat('raw ', id) AS binary) AS raw, date_add(date'1969-12-28', cast(id AS int)) AS day,
    timestamp'1969-12-31 23:59:59.999999Z' + make_dt_interval(0, 0, 0, id * 0.123457) AS at,
    timestamp_ntz'2024-02-29 12:34:56.789012' + make_dt_interval(cast(id AS int)) AS clock,
    CASE WHEN id % 3 = 0 THEN NULL WHEN id % 3 = 1 THEN array() ELSE array(1, NULL, 3) END AS l,
    CASE WHEN id % 4 > 0 THEN map('k', id, 'l', NULL) END AS m,
    CASE WHEN id % 5 > 0 THEN named_struct('x', CASE WHEN id % 2 = 0 THEN id END, 't', concat('t', id),
        'l', CASE WHEN id % 3 = 0 THEN array(named_struct('y', id)) END,
        's', CASE WHEN id % 4 > 1 THEN named_struct('m', map(id, id), 'd', cast(id / 2 AS decimal(5, 2))) END) END AS n,
    CASE WHEN id % 6 = 0 THEN array(array(id)) END AS ll, named_struct('l', array(id)) AS never_null
    FROM range(0, 12, 1, 1)"""

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
        (
            f"{MORE} WHERE id % 5 = 1",
            "overwrite",
            {"replaceWhere": "pmod(id, 5) = 1 AND length(name) > 0"},
            [],
        ),
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
    "every type": [(EVERY_TYPE, "append", {}, []), (f"{EVERY_TYPE} WHERE id > 5", "append", {}, [])],
    "every type in few rows a file": [(EVERY_TYPE, "append", {"maxRecordsPerFile": "5"}, [])],
    "few rows a file": [(TEN, "append", {"maxRecordsPerFile": "4", "compression": "zstd"}, [])],
}


def log(path: Path) -> list[list[dict[str, Any]]]:
    files = sorted((path / "_delta_log").glob("*.json"))
    return [[json.loads(line) for line in file.read_text().splitlines()] for file in files]


def facts(commit: list[dict[str, Any]]) -> dict[str, Any]:
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
        assert facts(one) == facts(other)
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


MERGED_BY_SETTING = [
    "INSERT INTO {t} SELECT 1, named_struct('a', 1), 'x' AS c",
    "INSERT INTO {t} SELECT 2, named_struct('a', 1, 'b', 2), 'y'",
    "INSERT INTO {t} BY NAME SELECT 3 AS id, 4L AS d",
    "INSERT INTO {t} BY NAME SELECT 5 AS id, named_struct('a', 5, 'b', 6, 'g', 7) AS s",
    "INSERT INTO {t} (id, c) VALUES (7, 'z')",
    "INSERT OVERWRITE {t} SELECT 8, named_struct('a', 1, 'b', 2, 'g', 3), 'w', 9L, true AS f",
]


def test_columns_join_where_the_session_says_so(
    spark: Any, delta_spark: Any, same: Any, tmp_path: Path
) -> None:
    setting = "spark.databricks.delta.schema.autoMerge.enabled"
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    for sql, table in ((spark.sql, ours), (delta_spark.sql, theirs)):
        sql(f"CREATE TABLE delta.`{table}` (id INT, s STRUCT<a: INT>) USING delta")
        sql(f"SET {setting} = true")
    try:
        for statement in MERGED_BY_SETTING:
            spark.sql(statement.format(t=f"delta.`{ours}`"))
            delta_spark.sql(statement.format(t=f"delta.`{theirs}`"))
            same(delta_spark.read(ours), delta_spark.read(theirs))
    finally:
        spark.conf.unset(setting)
        delta_spark.sql(f"RESET {setting}")
