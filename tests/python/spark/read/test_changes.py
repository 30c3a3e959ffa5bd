"""The change data feed in batch, on classic sessions and on Spark Connect, by options, functions and SQL."""

from __future__ import annotations

import datetime as dt
import os
from typing import TYPE_CHECKING, Any

import plans
import pyarrow as pa
import pytest
from pyspark.sql import DataFrameReader

import deltaic
from deltaic import exceptions

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.spark

FEED = {"delta.enableChangeDataFeed": "true"}
KINDS = {
    "rewrite": FEED,
    "vectors": {**FEED, "delta.enableDeletionVectors": "true"},
    "names": {**FEED, "delta.enableDeletionVectors": "true", "delta.columnMapping.mode": "name"},
    "ids": {**FEED, "delta.enableDeletionVectors": "true", "delta.columnMapping.mode": "id"},
}


def make(path: Path, properties: dict[str, str]) -> deltaic.Table:
    """Appends, deletes, updates, an overwrite, a restore and a compaction."""
    ids = pa.array(range(12), pa.int64())
    nested = pa.array([{"x": i} for i in range(12)], pa.struct([("x", pa.int32())]))
    data = pa.table({"id": ids, "p": ["a", "b", None] * 4, "s": nested})
    deltaic.write(path, data.slice(0, 6), partition_by="p", configuration=properties)
    deltaic.write(path, data.slice(6, 6))
    table = deltaic.Table(path)
    table.delete("id IN (2, 3)")
    table.delete("id = 0")
    table.update_rows({"id": "id + 100"}, "id > 9")
    table.restore(version=2)
    deltaic.write(path, data.slice(0, 1), mode="overwrite")
    table.optimize()
    return table.update()


def rows(df: Any) -> list[str]:
    return sorted(repr(row.asDict(recursive=True)) for row in df.collect())


def expected(table: deltaic.Table, start: int, end: int | None = None, **options: Any) -> list[str]:
    found = pa.table(table.changes(start, end, **options))
    at = found.column_names.index("_commit_timestamp")
    # as Spark gives times: in the time zone of this process
    local = [t.astimezone().replace(tzinfo=None) for t in found.column(at).to_pylist()]
    return sorted(
        repr({**row, "_commit_timestamp": t}) for row, t in zip(found.to_pylist(), local, strict=True)
    )


def feed(door: Any, path: Any, **options: Any) -> Any:
    return door.read.format("delta").option("readChangeFeed", "true").options(**options).load(str(path))


@pytest.mark.parametrize("kind", KINDS)
def test_the_rows_are_those_of_the_core(door: Any, kind: str, tmp_path: Path) -> None:
    table = make(tmp_path / "t", KINDS[kind])
    everything = expected(table, 0)
    assert len(everything) > 30
    df = feed(door, table.uri, startingVersion=0)
    assert df.columns == ["id", "p", "s", "_change_type", "_commit_version", "_commit_timestamp"]
    assert rows(df) == everything
    assert rows(feed(door, table.uri, startingVersion=2, endingVersion=4)) == expected(table, 2, 4)
    assert rows(deltaic.table_changes(door, table.uri, 3)) == expected(table, 3)
    assert rows(deltaic.table_changes(door, table.uri, 3, 3)) == expected(table, 3, 3)
    # of columns, of filters on every kind of column, and of counts
    assert df.count() == len(everything)
    assert df.where("_change_type = 'delete'").count() == sum("'delete'" in row for row in everything)
    condition = "_change_type <> 'insert' AND _commit_version IN (2, 4) AND (p = 'a' OR id > 5)"
    assert rows(df.where(condition)) == expected(table, 0, where=condition)
    assert rows(df.where("p IS NULL AND s.x = 2").select("id", "_commit_version")) == sorted(
        repr({"id": r["id"], "_commit_version": r["_commit_version"]})
        for r in pa.table(table.changes(0, where="p IS NULL AND id IN (2, 102)")).to_pylist()
        if r["s"]["x"] == 2
    )
    counts = df.groupBy("_change_type").count().collect()
    assert {row[0]: row[1] for row in counts} == {
        kind: sum(f"'{kind}'" in row for row in everything) for kind in {row[0] for row in counts}
    }
    kinds = df.select("_change_type").distinct().collect()
    assert {row[0] for row in kinds} == {"insert", "delete", "update_preimage", "update_postimage"}
    joined = df.alias("a").join(df.alias("b"), ["id", "_commit_version", "_change_type"])
    assert joined.count() >= len(everything)


def test_times_and_ranges(door: Any, tmp_path: Path) -> None:
    table = make(tmp_path / "t", FEED)
    first = dt.datetime(2026, 1, 1, tzinfo=dt.timezone.utc)
    for version in range(table.version + 1):
        at = (first + dt.timedelta(days=version)).timestamp()
        os.utime(f"{table.uri}/_delta_log/{version:020}.json", (at, at))
    table = deltaic.Table(table.uri)
    df = feed(door, table.uri, startingTimestamp="2026-01-02 12:00:00", endingTimestamp="2026-01-04")
    assert rows(df) == expected(table, 2, 3)
    assert rows(deltaic.table_changes(door, table.uri, "2026-01-03", "2026-01-04")) == expected(table, 2, 3)
    assert rows(feed(door, table.uri, startingVersion=1, endingTimestamp="2026-01-02")) == expected(
        table, 1, 1
    )
    nothing = feed(
        door, table.uri, startingTimestamp="2026-01-02 01:00:00", endingTimestamp="2026-01-02 02:00:00"
    )
    assert nothing.collect() == []
    assert nothing.columns[-1] == "_commit_timestamp"


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({}, exceptions.InvalidArgumentError),
        ({"startingVersion": "99"}, exceptions.VersionNotFoundError),
        ({"startingVersion": "x"}, exceptions.InvalidTimeTravelError),
        ({"startingVersion": "3", "endingVersion": "2"}, exceptions.InvalidTimeTravelError),
        ({"startingTimestamp": "soon"}, exceptions.InvalidTimeTravelError),
        ({"startingTimestamp": "2999-01-01"}, exceptions.TimestampOutOfRangeError),
        ({"startingVersion": "0", "versionAsOf": "1"}, exceptions.InvalidTimeTravelError),
        ({"startingVersion": "0", "readChangeFeed": "perhaps"}, exceptions.InvalidArgumentError),
    ],
)
def test_ranges_that_are_not_there_are_refused(
    spark: Any, tmp_path: Path, options: dict[str, str], error: type[Exception]
) -> None:
    table = make(tmp_path / "t", FEED)
    with pytest.raises(error):
        # what is lazy on Spark Connect
        _ = feed(spark, table.uri, **options).schema


def test_errors_are_the_same_on_both_kinds_of_session(door: Any, tmp_path: Path) -> None:
    deltaic.write(tmp_path / "off", pa.table({"id": [1]}))
    with pytest.raises(Exception, match="change data feed off"):
        feed(door, tmp_path / "off", startingVersion=0).collect()
    deltaic.write(tmp_path / "t", pa.table({"id": [1]}), configuration=KINDS["names"])
    deltaic.Table(tmp_path / "t").rename_column("id", "key")
    with pytest.raises(Exception, match="column `id` was renamed to `key`"):
        feed(door, tmp_path / "t", startingVersion=0).collect()


def test_a_range_after_the_newest_version(door: Any, tmp_path: Path) -> None:
    name = "spark.databricks.delta.changeDataFeed.timestampOutOfRange.enabled"
    table = make(tmp_path / "t", FEED)
    before = door.conf.get(name, None)
    door.conf.set(name, "true")
    try:
        deltaic.enable(door)  # on Spark Connect the format follows the settings of this moment
        assert feed(door, table.uri, startingVersion=99).collect() == []
        assert feed(door, table.uri, startingTimestamp="2999-01-01").collect() == []
        late = feed(door, table.uri, startingVersion=4, endingTimestamp="2999-01-01")
        assert rows(late) == expected(table, 4)
    finally:
        door.conf.unset(name) if before is None else door.conf.set(name, before)
        deltaic.enable(door)


class TestClassic:
    def test_scans_are_native_and_prune_by_version(self, spark: Any, scanned: Any, tmp_path: Path) -> None:
        table = make(tmp_path / "t", KINDS["vectors"])
        df = feed(spark, table.uri, startingVersion=0)
        plan = plans.physical(df)
        assert "parquet" in plan.lower()
        files = sum(c["inserts"] + c["deletes"] + c["cdc"] for c in table.changed_files(0))
        assert scanned(df) == files
        second = table.changed_files(2, 2)[0]
        of_one = df.where("_commit_version = 2")
        assert scanned(of_one) == second["inserts"] + second["deletes"] + second["cdc"]

    def test_sql(self, spark: Any, another: Any, tmp_path: Path) -> None:
        table = make(tmp_path / "t", KINDS["names"])
        spark.sql(f"CREATE TABLE fed USING delta LOCATION '{table.uri}'")
        try:
            every, some = expected(table, 0), expected(table, 1, 3)
            for text in (table.uri, "fed", "default.fed", f"delta.`{table.uri}`"):
                assert rows(spark.sql(f"SELECT * FROM table_changes('{text}', 0)")) == every, text
            assert rows(spark.sql(f"SELECT * FROM table_changes_by_path('{table.uri}', 1, 3)")) == some
            counted = """
                SELECT _change_type, count(*) AS n FROM table_changes('fed', 1, 3) c
                WHERE c._commit_version > 1 GROUP BY 1
            """
            assert sum(row.n for row in spark.sql(counted).collect()) == len(expected(table, 2, 3))
            newest = "timestamp'2000-01-01'"
            assert rows(spark.sql(f"SELECT * FROM table_changes('fed', {newest})")) == every
            assert rows(spark.sql("SELECT * FROM table_changes('fed', '2000-01-01')")) == every
            assert rows(
                spark.read.option("readChangeFeed", "true").option("startingVersion", 1).table("fed")
            ) == (expected(table, 1))
            assert rows(deltaic.table_changes(spark, "fed", 1, 3)) == some
            other = another()
            assert other.sql("SELECT * FROM table_changes('default.fed', 1, 3)").count() == len(some)
            with pytest.raises(exceptions.VersionNotFoundError):
                spark.sql("SELECT * FROM table_changes('fed', 99)")
            with pytest.raises(exceptions.InvalidArgumentError, match="1 arguments"):
                spark.sql("SELECT * FROM table_changes('fed')")
        finally:
            spark.sql("DROP TABLE fed")

    def test_without_an_end_a_relation_follows(self, spark: Any, tmp_path: Path) -> None:
        table = make(tmp_path / "t", KINDS["vectors"])
        newest = table.version
        followed, kept = (
            feed(spark, table.uri, startingVersion=0, **end) for end in ({}, {"endingVersion": newest})
        )
        before = expected(table, 0)
        assert rows(followed) == rows(kept) == before
        table.delete("id = 0")
        table = table.update()
        assert rows(kept) == before
        assert rows(followed.where("true")) == expected(table, 0)
        # both sides of a query end with one version, and the table beside them has it too
        now = spark.read.format("delta").load(table.uri)
        deleted = followed.where(f"_commit_version = {table.version}")
        assert [row.id for row in deleted.collect()] == [0]
        assert deleted.join(now, "id").count() == 0

    def test_changes_are_not_written_to(self, spark: Any, tmp_path: Path) -> None:
        table = make(tmp_path / "t", FEED)
        feed(spark, table.uri, startingVersion=0).createOrReplaceTempView("changed")
        with pytest.raises(exceptions.UnsupportedError):
            spark.sql("INSERT INTO changed SELECT * FROM changed")
        assert deltaic.Table(table.uri).version == table.version


@pytest.mark.skipif(not hasattr(DataFrameReader, "changes"), reason="PySpark has it from 4.2 on")
def test_spark_reads_changes_by_name(spark: Any, tmp_path: Path) -> None:
    table = make(tmp_path / "t", FEED)
    spark.sql(f"CREATE TABLE changed_by_name USING delta LOCATION '{tmp_path / 't'}'")
    try:
        for name in ("changed_by_name", "spark_catalog.default.changed_by_name", f"delta.`{tmp_path / 't'}`"):
            found = spark.read.option("startingVersion", "1").option("endingVersion", "4").changes(name)
            assert rows(found) == expected(table, 1, 4)
        later = spark.read.option("startingVersion", "3").option("startingBoundInclusive", "false")
        assert rows(later.changes("changed_by_name")) == expected(table, 4)
        times = [commit["timestamp"] for commit in reversed(table.history())]
        said = {
            "startingTimestamp": times[2].isoformat(sep=" "),
            "endingTimestamp": times[4].isoformat(sep=" "),
        }
        assert rows(spark.read.options(**said).changes("changed_by_name")) == expected(table, 2, 4)
        by_sql = spark.sql("SELECT * FROM changed_by_name CHANGES FROM VERSION 2 TO VERSION 3")
        assert rows(by_sql) == expected(table, 2, 3)
        net = spark.read.option("startingVersion", "1").option("deduplicationMode", "netChanges")
        with pytest.raises(exceptions.UnsupportedError, match="netChanges"):
            net.changes("changed_by_name").collect()
    finally:
        spark.sql("DROP TABLE changed_by_name")
