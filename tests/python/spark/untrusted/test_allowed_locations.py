"""Where a log may name files that Spark reads, by option and by session."""

from __future__ import annotations

import json
import shutil
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

import deltaic
from deltaic.exceptions import DeltaError
from deltaic.tables import DeltaTable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

SETTING = "spark.deltaic.allowedLocations"


@contextmanager
def strict(spark: SparkSession, allowed: str = "table-only") -> Iterator[None]:
    """A session that reads only there."""
    spark.conf.set(SETTING, allowed)
    try:
        yield
    finally:
        spark.conf.unset(SETTING)


def refused(action: Callable[[], Any]) -> None:
    """The action must be an error that tells of the file outside."""
    with pytest.raises(Exception, match="allowed_locations") as caught:
        action()
    assert "outside/a.parquet" in str(caught.value)


@pytest.fixture
def table(tmp_path: Path) -> str:
    """A table of the rows 1, 2, 3, the last of which is in a file outside of it."""
    pa = pytest.importorskip("pyarrow")
    root = tmp_path / "table"
    deltaic.write(root, pa.table({"id": [1, 2]}))
    deltaic.write(root, pa.table({"id": [3]}), mode="append")
    commit = root / "_delta_log/00000000000000000001.json"
    actions = [json.loads(line) for line in commit.read_text().splitlines()]
    add = next(action["add"] for action in actions if "add" in action)
    outside = tmp_path / "outside" / "a.parquet"
    outside.parent.mkdir()
    shutil.move(root / add["path"], outside)
    add["path"] = outside.as_uri()
    commit.write_text("\n".join(json.dumps(action) for action in actions))
    (root / "_delta_log/00000000000000000001.crc").unlink(missing_ok=True)
    return str(root)


def ids(rows: Any) -> list[int]:
    """The rows of a frame."""
    return sorted(row.id for row in rows.collect())


def test_frames_follow_the_option(spark: SparkSession, table: str) -> None:
    read = spark.read.format("delta")
    free = read.load(table)
    assert ids(free) == [1, 2, 3]
    allowed = spark.read.format("delta").option("allowedLocations", f"{table}/../outside").load(table)
    only = spark.read.format("delta").option("allowedLocations", "table-only").load(table)
    assert ids(allowed) == [1, 2, 3]
    # in one query, after a frame that may see more, in both orders
    refused(lambda: ids(free.unionAll(only)))
    refused(lambda: ids(only.unionAll(free)))
    refused(lambda: ids(only))
    assert ids(free.unionAll(allowed)) == [1, 1, 2, 2, 3, 3]
    cached = free.cache()
    try:
        assert ids(cached) == [1, 2, 3]
        refused(lambda: ids(only))
    finally:
        cached.unpersist()


def test_a_session_follows_its_setting(spark: SparkSession, table: str) -> None:
    before = spark.read.format("delta").load(table)
    # a frame of Spark Connect follows the settings of its first use, a classic one those of its making
    assert ids(before) == [1, 2, 3]
    with strict(spark):
        name = f"delta.`{table}`"
        target = DeltaTable.forPath(spark, table)
        for action in (
            lambda: ids(spark.read.format("delta").load(table)),
            lambda: ids(spark.sql(f"SELECT * FROM {name}")),
            lambda: ids(target.toDF()),
            lambda: target.update("id > 0", {"id": "id + 1"}),
            lambda: target.delete("id % 2 = 1"),
            lambda: spark.sql(f"DELETE FROM {name} WHERE id % 2 = 1"),
            lambda: spark.sql(f"UPDATE {name} SET id = id + 1"),
            lambda: (
                target.alias("t")
                .merge(before.limit(0).alias("s"), "t.id > 0")
                .whenNotMatchedBySourceDelete("t.id % 2 = 1")
                .execute()
            ),
            lambda: target.optimize().executeCompaction(),
            lambda: target.clone(table + "_clone", isShallow=True),
            lambda: target.generate("symlink_format_manifest"),
        ):
            refused(action)
        assert deltaic.Table(table).version == 1
        # what reads no such file is done
        assert ids(spark.read.format("delta").option("versionAsOf", 0).load(table)) == [1, 2]
        target.delete("id = 1000")
        # an option says more than the session
        assert ids(spark.read.format("delta").option("allowedLocations", "any").load(table)) == [1, 2, 3]
    with strict(spark, f"{table}/../outside"):
        assert ids(spark.read.format("delta").load(table)) == [1, 2, 3]
    assert ids(spark.read.format("delta").load(table)) == [1, 2, 3]
    assert ids(before) == [1, 2, 3]


def test_streams_follow_the_option(spark: SparkSession, table: str, tmp_path: Path) -> None:
    def run(name: str, **options: str) -> list[int]:
        stream = spark.readStream.format("delta").options(**options).load(table)
        query = (
            stream.writeStream.format("memory")
            .queryName(name)
            .option("checkpointLocation", str(tmp_path / name))
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()
        return ids(spark.table(name))

    assert run("free") == [1, 2, 3]
    refused(lambda: run("held", allowedLocations="table-only"))
    with strict(spark):
        refused(lambda: run("held_by_session"))


def test_changes_follow_the_option(spark: SparkSession, tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    root, outside = tmp_path / "feed", tmp_path / "outside"
    deltaic.write(root, pa.table({"id": [1]}), configuration={"delta.enableChangeDataFeed": "true"})
    commit = root / "_delta_log/00000000000000000000.json"
    actions = [json.loads(line) for line in commit.read_text().splitlines()]
    add = next(action["add"] for action in actions if "add" in action)
    outside.mkdir()
    shutil.move(root / add["path"], outside / "a.parquet")
    add["path"] = (outside / "a.parquet").as_uri()
    commit.write_text("\n".join(json.dumps(action) for action in actions))
    (root / "_delta_log/00000000000000000000.crc").unlink(missing_ok=True)

    def changes(**options: str) -> list[int]:
        reader = spark.read.format("delta").option("readChangeFeed", "true").option("startingVersion", 0)
        return ids(reader.options(**options).load(str(root)))

    assert changes() == [1]
    refused(lambda: changes(allowedLocations="table-only"))


def test_connect_follows_the_option(connect: Any, table: str) -> None:
    def read(**options: str) -> list[int]:
        return ids(connect.read.format("delta").options(**options).load(table))

    assert read() == [1, 2, 3]
    with pytest.raises(Exception, match=r"outside/a\.parquet"):
        read(allowedLocations="table-only")


def test_what_is_no_location_is_refused(spark: SparkSession, table: str) -> None:
    with pytest.raises(DeltaError, match="allowed_locations"):
        _ = spark.read.format("delta").option("allowedLocations", "tableonly").load(table).schema
