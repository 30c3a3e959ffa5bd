"""Partition columns in data files: where delta-spark writes them, deltaic does, on every route."""

from __future__ import annotations

import datetime as dt
import json
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from dml_tables import actions, live

import deltaic
from deltaic.tables import DeltaTable

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import SparkSession

WRITTEN, FEATURE = "delta.writePartitionColumnsToParquet", "delta.enableMaterializePartitionColumnsFeature"
# what is said of the table, and whether the files hold the columns
SAID: dict[str, tuple[str, bool]] = {
    "nothing": ("'k' = 'v'", True),
    "not written": (f"'{WRITTEN}' = 'false'", False),
    "feature": (f"'{WRITTEN}' = 'false', '{FEATURE}' = 'true'", True),
    "mapped": ("'delta.columnMapping.mode' = 'name', 'delta.enableChangeDataFeed' = 'true'", True),
}
# no two rows of a commit are of one partition, so that it has as many files whoever writes it
STEPS = [
    "INSERT INTO {t} VALUES (1, 'x', 10, DATE'2020-01-01'), (2, 'y', 20, NULL)",
    "INSERT INTO {t} VALUES (3, 'x', 30, DATE'2020-01-01'), (5, '', 50, NULL)",
    "INSERT INTO {t} VALUES (4, 'x', 40, DATE'2020-01-01')",
    "OPTIMIZE {t}",
    "UPDATE {t} SET n = n + 1 WHERE id = 1",
    "UPDATE {t} SET p = 'z' WHERE id = 3",
    "DELETE FROM {t} WHERE id = 4",
    """MERGE INTO {t} USING (SELECT 2L AS id) s ON {t}.id = s.id WHEN MATCHED THEN UPDATE SET n = 0
       WHEN NOT MATCHED THEN INSERT (id) VALUES (9)""",
    "INSERT OVERWRITE {t} VALUES (7, 'o', 70, NULL)",
]


def _files(path: Path, version: int) -> list[tuple[str, dict[str, Any], list[str], dict[str, set[Any]]]]:
    """Of each file of a commit what it is of, its columns, and the values of its partition columns."""
    found = []
    for action in actions(str(path), version):
        for kind in action.keys() & {"add", "cdc"}:
            of = action[kind]["partitionValues"]
            inside = pq.read_table(path / unquote(action[kind]["path"]), partitioning=None)
            columns = [name for name in inside.column_names if not name.startswith("_")]
            values = {name: set(inside[name].to_pylist()) for name in of if name in columns}
            found.append((kind, of, columns, values))
    return found


def _logical(table: deltaic.Table) -> Callable[[str], str]:
    names = {f.metadata.get("delta.columnMapping.physicalName", f.name): f.name for f in table.schema}
    return lambda physical: names[physical]


def _reported(path: Path, version: int) -> set[str]:
    """The files of a commit as both engines must write them; an empty text is the null that it is in the log."""
    name = _logical(deltaic.Table(path))
    reported = (
        (
            kind,
            sorted((name(k), v) for k, v in of.items()),
            [name(c) for c in columns],
            sorted((name(k), {v or None for v in found}) for k, found in values.items()),
        )
        for kind, of, columns, values in _files(path, version)
    )
    return {str(file) for file in reported}


@pytest.mark.parametrize("said", SAID)
def test_files_hold_what_those_of_delta_spark_hold(
    spark: SparkSession, delta_spark: Any, same: Any, said: str, tmp_path: Path
) -> None:
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    properties, held = SAID[said]
    create = f"""CREATE TABLE {{t}} (id BIGINT, p STRING, n INT, d DATE) USING delta
                 PARTITIONED BY (p, d) TBLPROPERTIES ({properties})"""
    for number, step in enumerate([create, *STEPS]):
        spark.sql(step.format(t=f"delta.`{ours}`"))
        delta_spark.sql(step.format(t=f"delta.`{theirs}`"))
        assert _reported(ours, number) == _reported(theirs, number), step
    for engine in (ours, theirs):
        same(delta_spark.read(engine), pa.table(deltaic.Table(engine).to_arrow()))
        for add in live(str(engine)):
            columns = pq.read_schema(engine / unquote(add["path"])).names
            stats = json.loads(add["stats"])
            assert (len(columns) >= 4) == held
            # partition columns have none, and come last
            assert all(
                stats[kind].keys() == set(columns[:2]) for kind in ("minValues", "maxValues", "nullCount")
            )


def _routes(spark: SparkSession, path: Path) -> dict[str, Callable[[Any], None]]:
    def by_spark(route: str) -> Callable[[Any], None]:
        return lambda rows: (
            spark.createDataFrame(rows.to_pandas())
            .selectExpr("id", "text", "CAST(day AS DATE) AS day", "at", "n")
            .write.format("delta")
            .option("deltaicRoute", route)
            .mode("append")
            .save(str(path))
        )

    return {
        "core": lambda rows: deltaic.write(path, rows),
        **{route: by_spark(route) for route in ("direct", "arrow", "driver")},
    }


@pytest.mark.parametrize("mode", ["none", "name"])
@pytest.mark.parametrize("route", ["core", "direct", "arrow", "driver"])
def test_every_route_writes_them(
    spark: SparkSession, delta_spark: Any, same: Any, route: str, mode: str, tmp_path: Path
) -> None:
    at = dt.datetime(2024, 1, 2, 3, 4, 5, 678901, dt.timezone.utc)
    rows = pa.table(
        {
            "id": pa.array([1, 2, 3], pa.int64()),
            "text": pa.array(["a b", "", None], pa.string()),
            "day": pa.array([dt.date(2024, 1, 1), None, dt.date(2024, 1, 1)], pa.date32()),
            "at": pa.array([at, at, None], pa.timestamp("us", "UTC")),
            "n": pa.array([1, 2, 3], pa.int64()),
        }
    )
    deltaic.create(
        tmp_path,
        "id BIGINT, text STRING, day DATE, at TIMESTAMP, n BIGINT",
        partition_by=["day", "text", "at"],
        configuration={"delta.columnMapping.mode": mode},
    )
    _routes(spark, tmp_path)[route](rows)
    name = _logical(deltaic.Table(tmp_path))
    for kind, of, columns, values in _files(tmp_path, 1):
        assert kind == "add"
        assert [name(c) for c in columns] == ["id", "n", "day", "text", "at"]
        day, text, instant = (of[column] for column in columns[2:])
        expected = [day and dt.date.fromisoformat(day), text, instant and at]
        assert [values[column] for column in columns[2:]] == [{value} for value in expected]
    kept = rows.set_column(1, "text", pa.array(["a b", None, None], pa.string()))
    same(pa.table(deltaic.Table(tmp_path).to_arrow()), kept)
    same(delta_spark.read(tmp_path), kept)


def test_what_the_log_says_goes_before_what_the_files_hold(
    spark: SparkSession, delta_spark: Any, same: Any, tmp_path: Path
) -> None:
    deltaic.write(tmp_path, pa.table({"id": [1, 2], "p": ["x", "y"]}), partition_by="p")
    commit = tmp_path / "_delta_log" / "00000000000000000000.json"
    commit.write_text(
        commit.read_text().replace('"partitionValues":{"p":"x"}', '"partitionValues":{"p":"z"}')
    )
    (tmp_path / "_delta_log" / "00000000000000000000.crc").unlink(missing_ok=True)
    expected = pa.table({"id": [1, 2], "p": ["z", "y"]})
    same(pa.table(deltaic.Table(tmp_path).to_arrow()), expected)
    same(delta_spark.read(tmp_path), expected)
    for where, found in (("p = 'x'", []), ("p = 'z'", [1]), ("p > 'x' AND id > 0", [2, 1])):
        rows = spark.read.format("delta").load(str(tmp_path)).where(where).collect()
        assert sorted(row.id for row in rows) == sorted(found)
        ours = pa.table(deltaic.Table(tmp_path).to_arrow(where=where))
        assert sorted(ours["id"].to_pylist()) == sorted(found)


def _definition(path: Path) -> tuple[set[str], dict[str, str]]:
    table = deltaic.Table(path)
    return set(table.protocol.writer_features or []), dict(table.properties)


def test_the_feature_comes_and_goes_as_by_delta_spark(
    spark: SparkSession, delta_spark: Any, tmp_path: Path
) -> None:
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    steps = [
        f"""CREATE TABLE {{t}} (id BIGINT, p STRING) USING delta PARTITIONED BY (p)
            TBLPROPERTIES ('{WRITTEN}' = 'false')""",
        f"ALTER TABLE {{t}} SET TBLPROPERTIES ('{FEATURE}' = 'true')",
        "INSERT INTO {t} VALUES (1, 'x')",
        # neither takes the feature away
        f"ALTER TABLE {{t}} SET TBLPROPERTIES ('{FEATURE}' = 'false')",
        f"ALTER TABLE {{t}} UNSET TBLPROPERTIES ('{FEATURE}')",
        "INSERT INTO {t} VALUES (2, 'x')",
        f"ALTER TABLE {{t}} SET TBLPROPERTIES ('{FEATURE}' = 'true')",
        "ALTER TABLE {t} DROP FEATURE materializePartitionColumns",
        "INSERT INTO {t} VALUES (3, 'x')",
        "ALTER TABLE {t} SET TBLPROPERTIES ('delta.feature.materializePartitionColumns' = 'supported')",
        "INSERT INTO {t} VALUES (4, 'x')",
        "OPTIMIZE {t}",
    ]
    for number, step in enumerate(steps):
        spark.sql(step.format(t=f"delta.`{ours}`"))
        delta_spark.sql(step.format(t=f"delta.`{theirs}`"))
        assert _definition(ours) == _definition(theirs), step
        assert _reported(ours, number) == _reported(theirs, number), step
    # each goes on with the table of the other
    DeltaTable.forPath(spark, str(theirs)).update(set={"id": "id * 10"})
    delta_spark.sql(f"UPDATE delta.`{ours}` SET id = id * 10")
    assert _reported(ours, len(steps)) == _reported(theirs, len(steps))
    assert sorted(row.id for row in spark.read.format("delta").load(str(ours)).collect()) == [10, 20, 30, 40]
