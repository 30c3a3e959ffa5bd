"""Tables that deltaic writes are read back row for row by delta-spark and by `deltalake`."""

from __future__ import annotations

import datetime as dt
import json
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable
from pyspark.sql import functions

import deltaic

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(params=["delta-spark", "deltalake"])
def reader(request: pytest.FixtureRequest) -> Any:
    if request.param == "deltalake":
        return lambda path: DeltaTable(str(path)).to_pyarrow_table()
    return request.getfixturevalue("delta_spark").read


def test_every_type_from_python(reader: Any, every_type: pa.Table, same: Any, tmp_path: Path) -> None:
    deltaic.write(str(tmp_path / "t"), every_type)
    same(reader(tmp_path / "t"), every_type)


def test_appends_from_python(reader: Any, every_type: pa.Table, same: Any, tmp_path: Path) -> None:
    for _ in range(3):
        deltaic.write(str(tmp_path / "t"), every_type, mode="append")
    same(reader(tmp_path / "t"), pa.concat_tables([every_type] * 3))


def test_an_optimized_table(reader: Any, every_type: pa.Table, same: Any, tmp_path: Path) -> None:
    for _ in range(3):
        deltaic.write(str(tmp_path / "t"), every_type, mode="append")
    assert deltaic.Table(tmp_path / "t").optimize().added_files == 1
    same(reader(tmp_path / "t"), pa.concat_tables([every_type] * 3))


@pytest.mark.parametrize("mode", ["LEGACY", "EXCEPTION"])
def test_days_before_1582_in_a_session_of_another_calendar(
    delta_spark: Any, same: Any, tmp_path: Path, mode: str
) -> None:
    # of files that do not name their calendar such a session moves these days, or refuses them
    days = [dt.date(1, 1, 1), dt.date(1582, 10, 4), dt.date(2024, 2, 29)]
    times = [dt.datetime.combine(day, dt.time(12), dt.timezone.utc) for day in days]
    rows = pa.table({"day": days, "at": pa.array(times, pa.timestamp("us", "UTC"))})
    table = str(tmp_path / "t")
    for _ in range(2):
        deltaic.write(table, rows, mode="append")
    deltaic.Table(table).optimize()
    deltaic.write(table, rows, mode="append")
    deltaic.Table(table).checkpoint()
    (checkpoint,) = (tmp_path / "t" / "_delta_log").glob("*.checkpoint*.parquet")
    assert b"org.apache.spark.version" in pq.read_metadata(checkpoint).metadata
    setting = "spark.sql.parquet.datetimeRebaseModeInRead"
    delta_spark.sql(f"SET {setting} = {mode}")
    try:
        same(delta_spark.read(table), pa.concat_tables([rows] * 3))
        same(delta_spark.read_where(table, "day < '0002-01-01'"), pa.concat_tables([rows.slice(0, 1)] * 3))
    finally:
        delta_spark.sql(f"RESET {setting}")


def test_rows_with_nan_are_found(delta_spark: Any, tmp_path: Path) -> None:
    # parquet-mr takes the order of another column where some are nested, and bounds without NaN for those of all values
    nested = pa.array([{"x": 1, "y": "a", "z": None}] * 5)
    numbers = {"f": [float("nan"), float("nan"), -0.0, 0.0, 1.5], "id": [1, 2, 3, 4, 5]}
    lists = pa.array([[("k", 1)]] * 5, pa.map_(pa.string(), pa.int32()))
    rows = pa.table({"s": nested, "m": lists, **numbers, "g": pa.array(numbers["f"], pa.float32())})
    table = str(tmp_path / "t")
    deltaic.write(table, rows, configuration={"delta.dataSkippingNumIndexedCols": "0"})
    for _ in range(2):
        for column in ("f", "g"):
            for condition, found in {
                "= double('NaN')": [1, 2],
                "> 5": [1, 2],
                ">= 1.5": [1, 2, 5],
                "= 0": [3, 4],
            }.items():
                read = delta_spark.read_where(table, f"{column} {condition}")
                assert sorted(read["id"].to_pylist()) == found, f"{column} {condition}"
        assert deltaic.Table(table).optimize(zorder_by=["id"], check_statistics=False).added_files == 1


def test_odd_partitions_from_python(reader: Any, odd_partitions: pa.Table, same: Any, tmp_path: Path) -> None:
    deltaic.write(str(tmp_path / "t"), odd_partitions, partition_by=["p"])
    deltaic.write(str(tmp_path / "t"), odd_partitions, mode="append")
    same(reader(tmp_path / "t"), pa.concat_tables([odd_partitions] * 2))


def test_partitions_of_every_type_from_python(
    reader: Any, every_type: pa.Table, same: Any, tmp_path: Path
) -> None:
    by = ["integer", "short", "byte", "decimal", "flag", "day", "at", "text"]
    # an empty string is null as a partition value
    data = every_type.drop_columns(["list", "struct", "map"]).filter(pa.compute.field("id") != 1)
    deltaic.write(str(tmp_path / "t"), data, partition_by=by)
    same(reader(tmp_path / "t"), data)


def test_every_type_from_spark(
    reader: Any, spark: Any, every_type: pa.Table, same: Any, tmp_path: Path
) -> None:
    # PySpark takes Arrow times without a zone for instants
    frame = spark.createDataFrame(every_type).withColumn(
        "clock", functions.col("clock").cast("timestamp_ntz")
    )
    for _ in range(2):
        frame.write.format("delta").mode("append").save(str(tmp_path / "t"))
    same(reader(tmp_path / "t"), pa.concat_tables([every_type] * 2))


def test_odd_partitions_from_spark(
    reader: Any, spark: Any, odd_partitions: pa.Table, same: Any, tmp_path: Path
) -> None:
    frame = spark.createDataFrame(odd_partitions)
    frame.write.format("delta").partitionBy("p").save(str(tmp_path / "t"))
    same(reader(tmp_path / "t"), odd_partitions)


def test_delta_spark_appends_to_our_table(delta_spark: Any, same: Any, tmp_path: Path) -> None:
    path = tmp_path / "t"
    data = pa.table({"id": pa.array([1, 2], pa.int64()), "p": ["a b", None]})
    deltaic.write(str(path), data, partition_by=["p"])
    delta_spark.sql(
        f"INSERT INTO delta.`{path}` VALUES (3, 'c'), (4, 'a b')", f"DELETE FROM delta.`{path}` WHERE id = 1"
    )
    deltaic.write(str(path), pa.table({"id": pa.array([5], pa.int64()), "p": ["d"]}), mode="append")
    expected = pa.table({"id": [2, 3, 4, 5], "p": [None, "c", "a b", "d"]})
    same(deltaic.Table(str(path)).to_arrow(), expected)
    same(delta_spark.read(path), expected)


@pytest.mark.parametrize("version", [2, 3])
def test_files_for_iceberg_are_like_those_of_delta_spark(
    delta_spark: Any, spark: Any, same: Any, tmp_path: Path, version: int
) -> None:
    def columns(path: Path, index: int) -> list[tuple[int, str]]:
        """Field ids and types of the file of a commit, in order."""
        add = (
            (path / "_delta_log" / f"{index:020}.json").read_text().split('"add":{"path":"')[1].split('"')[0]
        )
        schema = pq.read_schema(path / add)
        element = [
            schema.field(at).type.value_field
            for at in range(len(schema))
            if pa.types.is_list(schema.field(at).type)
        ]
        fields = [*schema, *element]
        return [(int(field.metadata[b"PARQUET:field_id"]), str(field.type)) for field in fields]

    path = tmp_path / "t"
    data = pa.table({"p": ["a"], "id": pa.array([1], pa.int64()), "l": [[1, 2]]})
    properties = {f"delta.enableIcebergCompatV{version}": "true"}
    deltaic.write(str(path), data, partition_by=["p"], configuration=properties)
    delta_spark.sql(f"INSERT INTO delta.`{path}` VALUES ('a', 2, array(3))")
    spark.createDataFrame([("a", 3, [4])], "p string, id long, l array<long>").write.format("delta").mode(
        "append"
    ).save(str(path))
    ours, theirs, ours_by_spark = (columns(path, version) for version in range(3))
    assert ours == theirs == ours_by_spark
    expected = pa.table({"p": ["a"] * 3, "id": [1, 2, 3], "l": [[1, 2], [3], [4]]})
    same(delta_spark.read(path), expected)
    same(deltaic.Table(str(path)).to_arrow(), expected)


def test_delta_spark_skips_files_by_our_statistics(delta_spark: Any, same: Any, tmp_path: Path) -> None:
    path = tmp_path / "t"
    for start in (0, 100, 200):
        deltaic.write(
            str(path), pa.table({"id": pa.array(range(start, start + 10), pa.int64())}), mode="append"
        )
    # an UPDATE that finds its files by statistics rewrites one of three
    delta_spark.sql(f"UPDATE delta.`{path}` SET id = id + 1000 WHERE id BETWEEN 105 AND 107")
    info = deltaic.Table(str(path)).history(limit=1)[0]
    assert info["operation"] == "UPDATE"
    assert info["operationMetrics"]["numRemovedFiles"] == "1"


def test_a_new_table_gets_the_protocol_of_delta_spark(delta_spark: Any, tmp_path: Path) -> None:
    cases: list[dict[str, str]] = [
        {},
        {"delta.enableChangeDataFeed": "true"},
        {"delta.columnMapping.mode": "name"},
        {"delta.columnMapping.mode": "id", "delta.enableDeletionVectors": "true"},
        {"delta.enableTypeWidening": "true", "delta.appendOnly": "true"},
        {"delta.enableInCommitTimestamps": "true", "delta.columnMapping.mode": "name"},
        {"delta.checkpointPolicy": "v2"},
        {"delta.enableRowTracking": "true"},
        {"delta.enableIcebergCompatV3": "true"},
        {"delta.feature.vacuumProtocolCheck": "supported"},
        {"delta.feature.allowColumnDefaults": "supported"},
        {"delta.minReaderVersion": "1", "delta.minWriterVersion": "4"},
        {"delta.minReaderVersion": "2", "delta.minWriterVersion": "5"},
        {"delta.minReaderVersion": "3", "delta.minWriterVersion": "7"},
    ]
    data = pa.table({"a": pa.array([1], pa.int64()), "t": pa.array([dt.datetime(2026, 1, 1)])})
    # the second column has a type that is a feature
    tables = [(["a"], case) for case in cases] + [(["a", "t"], case) for case in cases[:3]]
    statements = []
    for n, (columns, case) in enumerate(tables):
        deltaic.write(str(tmp_path / f"ours{n}"), data.select(columns), configuration=case)
        types = ", ".join({"a": "a LONG", "t": "t TIMESTAMP_NTZ"}[column] for column in columns)
        properties = ", ".join(f"'{key}' = '{value}'" for key, value in case.items())
        statements.append(
            f"CREATE TABLE delta.`{tmp_path / f'theirs{n}'}` ({types}) USING delta"
            + (f" TBLPROPERTIES ({properties})" if properties else "")
        )
    delta_spark.sql(*statements)

    def protocol(name: str) -> dict[str, Any]:
        lines = (tmp_path / name / "_delta_log" / f"{0:020}.json").read_text().splitlines()
        found = next(action["protocol"] for action in map(json.loads, lines) if "protocol" in action)
        return {key: sorted(value) if isinstance(value, list) else value for key, value in found.items()}

    for n, table in enumerate(tables):
        assert protocol(f"ours{n}") == protocol(f"theirs{n}"), table
