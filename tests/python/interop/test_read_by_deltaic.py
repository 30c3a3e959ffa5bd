"""Tables that delta-spark and `deltalake` write are read row for row by deltaic."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

import deltaic

if TYPE_CHECKING:
    from pathlib import Path

# one row of low values, one of high ones, one of nulls
TYPES = """
    CREATE TABLE delta.`{path}` USING delta AS SELECT * FROM VALUES
    (
        1L, -2147483648, -32768S, -128Y, CAST(-1.5 AS FLOAT), CAST('NaN' AS DOUBLE),
        CAST('-1234567890123456.7890' AS DECIMAL(20, 4)), false, '', X'', DATE'1900-01-01',
        TIMESTAMP'1969-12-31 23:59:59.999999', TIMESTAMP_NTZ'1969-12-31 23:59:59.999999',
        array(), named_struct('a', 1L, 'b', CAST(NULL AS STRING)), map()
    ),
    (
        2L, 2147483647, 32767S, 127Y, CAST('Infinity' AS FLOAT), 1e300D,
        CAST('0.0001' AS DECIMAL(20, 4)), true, 'zß水🦀', X'00FF', DATE'9999-12-31',
        TIMESTAMP'2026-01-02 03:04:05.678901', TIMESTAMP_NTZ'2026-01-02 03:04:05.678901',
        array(1, NULL), named_struct('a', CAST(NULL AS LONG), 'b', 'x'), map('k', 1, 'l', NULL)
    ),
    (3L, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)
    AS t(
        id, integer, short, byte, float, double, decimal, flag, text, raw, day, at, clock, list, struct, map
    )
"""
CHECKPOINTS = {
    "V1": "TBLPROPERTIES ('delta.checkpointInterval' = '2')",
    "V1 with struct statistics": (
        "TBLPROPERTIES ('delta.checkpointInterval' = '2', 'delta.checkpoint.writeStatsAsStruct' = 'true')"
    ),
    "V2": "TBLPROPERTIES ('delta.checkpointInterval' = '2', 'delta.checkpointPolicy' = 'v2')",
}

COMPUTED = (
    "id % 20 = 0 AND day > DATE'2026-01-01'",
    "month(day) = 1 AND CAST(id AS STRING) LIKE '_0'",
    "coalesce(day, DATE'2026-01-09') > date_add(DATE'2026-01-01', 2) OR id * 2 = 4",
    "CASE WHEN id < 10 THEN day IS NOT NULL ELSE NULL END",
)


def test_every_type_of_delta_spark(delta_spark: Any, every_type: pa.Table, same: Any, tmp_path: Path) -> None:
    delta_spark.sql(TYPES.format(path=tmp_path / "t"))
    table = deltaic.Table(str(tmp_path / "t"))
    same(table.to_arrow(), every_type)
    for where in (
        "double = 'NaN'",
        "double < 'Infinity'",
        "double > ' -inf ' AND float <> 'nan'",
        "float <= '+Inf'",
    ):
        same(table.to_arrow(where=where), delta_spark.read_where(tmp_path / "t", where))


@pytest.mark.parametrize("checkpoint", CHECKPOINTS)
def test_checkpoints_of_delta_spark(checkpoint: str, delta_spark: Any, same: Any, tmp_path: Path) -> None:
    path = tmp_path / "t"
    delta_spark.sql(
        f"CREATE TABLE delta.`{path}` (id LONG, day DATE) USING delta PARTITIONED BY (day) {CHECKPOINTS[checkpoint]}",
        *(
            f"INSERT INTO delta.`{path}` VALUES ({n}, DATE'2026-01-0{n}'), ({10 * n}, NULL)"
            for n in range(1, 6)
        ),
        f"DELETE FROM delta.`{path}` WHERE id = 30",
    )
    assert list((path / "_delta_log").glob("*.checkpoint*"))
    table = deltaic.Table(str(path))
    assert table.version == 6
    same(table.to_arrow(), delta_spark.read(path))
    for where in ("day = '2026-01-04'", "id > 40", "day IS NULL AND id < 25", "day <=> NULL", *COMPUTED):
        same(table.to_arrow(where=where), delta_spark.read_where(path, where))
    for version in range(7):
        same(
            deltaic.Table(str(path), version=version).to_arrow(),
            delta_spark.read(path, versionAsOf=str(version)),
        )


def test_odd_partitions_of_delta_spark(
    delta_spark: Any, odd_partitions: pa.Table, same: Any, tmp_path: Path
) -> None:
    path = tmp_path / "t"
    literals = [
        "NULL" if p is None else "'" + p.replace("\\", "\\\\").replace("'", "\\'") + "'"
        for p in odd_partitions["p"].to_pylist()
    ]
    rows = ", ".join(f"({n}, {literal})" for n, literal in enumerate(literals))
    delta_spark.sql(
        f"CREATE TABLE delta.`{path}` (id LONG, p STRING) USING delta PARTITIONED BY (p)",
        f"INSERT INTO delta.`{path}` VALUES {rows}",
    )
    same(deltaic.Table(str(path)).to_arrow(), odd_partitions)
    for n, literal in enumerate(literals):
        same(deltaic.Table(str(path)).to_arrow(where=f"p <=> {literal}"), odd_partitions.slice(n, 1))


@pytest.mark.parametrize("mode", ["name", "id"])
def test_column_mapping_of_delta_spark(mode: str, delta_spark: Any, same: Any, tmp_path: Path) -> None:
    path = tmp_path / "t"
    delta_spark.sql(
        f"CREATE TABLE delta.`{path}` (`a b` LONG, s STRUCT<`x,y`: INT, z: STRING>, gone INT, p STRING) "
        f"USING delta PARTITIONED BY (p) TBLPROPERTIES ('delta.columnMapping.mode' = '{mode}')",
        f"INSERT INTO delta.`{path}` VALUES (1, struct(1, 'u'), 7, 'k'), (2, NULL, 8, NULL)",
        f"ALTER TABLE delta.`{path}` RENAME COLUMN `a b` TO `c;d`",
        f"ALTER TABLE delta.`{path}` RENAME COLUMN s.z TO w",
        f"ALTER TABLE delta.`{path}` RENAME COLUMN p TO q",
        f"ALTER TABLE delta.`{path}` DROP COLUMN gone",
        f"ALTER TABLE delta.`{path}` ADD COLUMN gone STRING",
        f"INSERT INTO delta.`{path}` (`c;d`, s, gone, q) VALUES (3, struct(3, 'v'), 'new', 'k')",
    )
    same(deltaic.Table(str(path)).to_arrow(), delta_spark.read(path))
    same(
        deltaic.Table(str(path)).to_arrow(where="q = 'k' AND `c;d` > 1"),
        delta_spark.read_where(path, "q = 'k' AND `c;d` > 1"),
    )


def test_deletion_vectors_of_delta_spark(delta_spark: Any, same: Any, tmp_path: Path) -> None:
    path = tmp_path / "t"
    delta_spark.sql(
        f"CREATE TABLE delta.`{path}` (id LONG, p INT) USING delta PARTITIONED BY (p) TBLPROPERTIES "
        "('delta.enableDeletionVectors' = 'true', 'delta.checkpointInterval' = '3')",
        f"INSERT INTO delta.`{path}` SELECT id, CAST(id % 3 AS INT) FROM range(1000)",
        f"DELETE FROM delta.`{path}` WHERE id % 7 = 0",
        f"DELETE FROM delta.`{path}` WHERE id BETWEEN 100 AND 300 AND p = 1",
        f"UPDATE delta.`{path}` SET id = id + 10000 WHERE id % 11 = 0",
    )
    vectors = deltaic.Table(str(path)).files()
    assert any(v is not None for v in pa.table(vectors)["deletion_vector"].to_pylist())
    same(deltaic.Table(str(path)).to_arrow(), delta_spark.read(path))
    for version in range(5):
        same(
            deltaic.Table(str(path), version=version).to_arrow(),
            delta_spark.read(path, versionAsOf=str(version)),
        )


@pytest.mark.parametrize("json", ["false", "true"])
@pytest.mark.parametrize("by", ["", "PARTITIONED BY (day)", "PARTITIONED BY (at)"])
def test_checkpoints_of_a_session_that_writes_by_another_calendar(
    by: str, json: str, delta_spark: Any, same: Any, tmp_path: Path
) -> None:
    # a day before 1582-10-15 is another number in their parsed columns, but not in partition values or in JSON
    path, setting = tmp_path / "t", "spark.sql.parquet.datetimeRebaseModeInWrite"
    days = ["0001-01-01", "0900-03-01", "1582-10-04", "1582-10-15", "2024-02-29"]
    stats = f"'delta.checkpoint.writeStatsAsStruct' = 'true', 'delta.checkpoint.writeStatsAsJson' = '{json}'"
    delta_spark.sql(f"SET {setting} = LEGACY")
    try:
        delta_spark.sql(
            f"CREATE TABLE delta.`{path}` (id INT, day DATE, at TIMESTAMP, s STRUCT<day: DATE>) USING delta {by} "
            f"TBLPROPERTIES ('delta.checkpointInterval' = '{len(days)}', {stats})",
            *(
                f"INSERT INTO delta.`{path}` SELECT {n}, d, CAST(d AS TIMESTAMP), named_struct('day', d) "
                f"FROM (SELECT DATE'{day}' AS d)"
                for n, day in enumerate(days)
            ),
        )
    finally:
        delta_spark.sql(f"RESET {setting}")
    assert list((path / "_delta_log").glob("*.checkpoint.parquet"))
    conditions = [f"day = '{day}'" for day in days]
    conditions += [f"at = TIMESTAMP'{day} 00:00:00'" for day in days]
    conditions += ["s.day < DATE'0001-01-02'", "day > '1582-10-04' AND at < TIMESTAMP'2000-01-01 00:00:00'"]
    for _ in range(2):
        table = deltaic.Table(str(path))
        for where in conditions:
            found = pa.table(table.to_arrow(where=where))
            assert found.num_rows == 1, where
            same(found, delta_spark.read_where(path, where))
        # and those of a checkpoint that is made from theirs
        table.checkpoint()


def test_every_type_of_deltalake(every_type: pa.Table, same: Any, tmp_path: Path) -> None:
    write_deltalake(str(tmp_path / "t"), every_type)
    same(deltaic.Table(str(tmp_path / "t")).to_arrow(), every_type)


def test_partitions_and_checkpoint_of_deltalake(odd_partitions: pa.Table, same: Any, tmp_path: Path) -> None:
    path = str(tmp_path / "t")
    for _ in range(3):
        write_deltalake(path, odd_partitions, partition_by=["p"], mode="append")
    peer = DeltaTable(path)
    peer.create_checkpoint()
    peer.delete("id = 3")
    table = deltaic.Table(path)
    expected = pa.concat_tables([odd_partitions.filter(pa.compute.field("id") != 3)] * 3)
    same(table.to_arrow(), expected)
    same(table.to_arrow(where="p IS NULL"), expected.filter(pa.compute.field("p").is_null()))
    assert table.version == 3
