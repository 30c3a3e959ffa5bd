"""OPTIMIZE along curves by deltaic and by delta-spark: same history, each leaves what the other clustered alone."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute

import deltaic

if TYPE_CHECKING:
    from pathlib import Path


def _rows(first: int, count: int) -> pa.Table:
    numbers = range(first, first + count)
    return pa.table(
        {
            "p": ["xy"[n % 2] for n in numbers],
            "a": pa.array([n * 7919 % 10007 if n % 9 else None for n in numbers], pa.int64()),
            "s": pa.array(
                [{"day": f"2026-{n * 31 % 12 + 1:02}", "n": n} for n in numbers],
                pa.struct([("day", pa.string()), ("n", pa.int32())]),
            ),
        }
    )


def _write(path: Path, partition_by: str | None = None) -> None:
    for part in range(3):
        deltaic.write(path, _rows(part * 300, 300), mode="append", partition_by=partition_by)


def _history(path: Path) -> tuple[str, dict[str, Any]]:
    newest = deltaic.Table(path).history(1)[0]
    return newest["operation"], newest["operationParameters"]


def _files(path: Path) -> int:
    return deltaic.Table(path).totals().files


def test_a_z_order(delta_spark: Any, same: Any, tmp_path: Path) -> None:
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    for path in (ours, theirs):
        _write(path, "p")
    # columns as they are typed, and a struct's field
    for where, columns in (
        (None, ["a"]),
        ("p = 'x'", ["A", "s.day"]),
        ("upper(P) LIKE '_' AND p > 'x'", ["a"]),
    ):
        done = deltaic.Table(ours).optimize(where, zorder_by=columns)
        condition = "" if where is None else f"WHERE {where}"
        delta_spark.sql(f"OPTIMIZE delta.`{theirs}` {condition} ZORDER BY ({', '.join(columns)})")
        (mine, parameters), (other, expected) = _history(ours), _history(theirs)
        # a condition is shown as each engine's parser has it
        assert mine == other == "OPTIMIZE"
        assert parameters.keys() == expected.keys()
        assert all(parameters[key] == expected[key] for key in parameters if key != "predicate" or not where)
        assert done.zorder is not None
        assert done.added_files == done.partitions == (1 if where else 2)
        assert _files(ours) == _files(theirs) == 2
    same(delta_spark.read(ours), delta_spark.read(theirs))
    same(deltaic.Table(ours).to_arrow(), deltaic.Table(theirs).to_arrow())


def test_a_clustered_table(delta_spark: Any, same: Any, tmp_path: Path) -> None:
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    _write(tmp_path / "source")
    delta_spark.sql(
        f"CREATE TABLE delta.`{theirs}` (p STRING, a BIGINT, s STRUCT<day STRING, n INT>) USING delta "
        "CLUSTER BY (a, s.day)",
        f"INSERT INTO delta.`{theirs}` SELECT * FROM delta.`{tmp_path / 'source'}`",
    )
    shutil.copytree(theirs, ours)
    done = deltaic.Table(ours).optimize()
    delta_spark.sql(f"OPTIMIZE delta.`{theirs}`")
    assert _history(ours) == _history(theirs)
    assert done.clustering is not None
    same(delta_spark.read(ours), _all(tmp_path / "source"))
    # what one has clustered the other leaves alone
    versions = [deltaic.Table(path).version for path in (ours, theirs)]
    delta_spark.sql(f"OPTIMIZE delta.`{ours}`")
    assert deltaic.Table(theirs).optimize().version is None
    assert [deltaic.Table(path).version for path in (ours, theirs)] == versions
    # and what comes later is clustered with it
    for path in (ours, theirs):
        deltaic.write(path, _rows(900, 100), mode="append")
    delta_spark.sql(f"OPTIMIZE delta.`{ours}`")
    assert deltaic.Table(theirs).optimize().removed_files > 1
    for path in (ours, theirs):
        assert _files(path) == 1
        delta_spark.sql(f"DESCRIBE HISTORY delta.`{path}`")
    same(delta_spark.read(theirs), deltaic.Table(ours).to_arrow())
    # of all, after the columns have changed
    for path in (ours, theirs):
        delta_spark.sql(f"ALTER TABLE delta.`{path}` CLUSTER BY (s.n)")
    deltaic.Table(ours).optimize(full=True)
    delta_spark.sql(f"OPTIMIZE delta.`{theirs}` FULL")
    assert _history(ours) == _history(theirs)
    same(delta_spark.read(ours), deltaic.Table(theirs).to_arrow())


def _all(path: Path) -> pa.Table:
    return pa.table(deltaic.Table(path).to_arrow())


def test_delta_spark_reads_what_tasks_rewrote(
    spark: Any, delta_spark: Any, same: Any, every_type: pa.Table, tmp_path: Path
) -> None:
    path = tmp_path / "t"
    properties = {"delta.enableDeletionVectors": "true", "delta.columnMapping.mode": "name"}
    for part in range(4):
        deltaic.write(path, every_type, mode="append", configuration=None if part else properties)
    deltaic.Table(path).delete("id = 2")
    before = _all(path)
    spark.conf.set("spark.deltaic.optimize.clusterBytes", "1")
    try:
        done = spark.sql(f"OPTIMIZE delta.`{path}` ZORDER BY (id, text)").first().metrics
    finally:
        spark.conf.unset("spark.deltaic.optimize.clusterBytes")
    assert done.totalScheduledTasks > 0
    same(delta_spark.read(path), before)
    assert _files(path) == 1
    # and goes on from there
    delta_spark.sql(f"DELETE FROM delta.`{path}` WHERE id = 1")
    same(deltaic.Table(path).to_arrow(), before.filter(pa.compute.field("id") != 1))
