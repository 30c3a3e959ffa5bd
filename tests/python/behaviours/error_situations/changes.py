"""The change data feed, and streams."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from error_situations.play import ids, situation

if TYPE_CHECKING:
    from collections.abc import Iterator


FEED = ("delta.enableChangeDataFeed", "true")


def feed(spark: Any, **options: str) -> Any:
    return spark.read.format("delta").option("readChangeFeed", "true").options(**options)


@situation
def changes_that_are_not_recorded(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at)
    yield
    feed(spark, startingVersion="0").load(at).collect()


@situation
def changes_from_nowhere(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at, FEED)
    yield
    feed(spark).load(at).collect()


@situation
def changes_from_two_starts(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at, FEED)
    yield
    feed(spark, startingVersion="0", startingTimestamp="2020-01-01").load(at).collect()


@situation
def changes_to_two_ends(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at, FEED)
    yield
    feed(spark, startingVersion="0", endingVersion="0", endingTimestamp="2020-01-01").load(at).collect()


@situation
def changes_backwards(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at, FEED)
    spark.range(1).write.format("delta").mode("append").save(at)
    yield
    feed(spark, startingVersion="1", endingVersion="0").load(at).collect()


@situation
def changes_from_a_version_to_come(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at, FEED)
    yield
    feed(spark, startingVersion="99").load(at).collect()


@situation
def changes_from_a_time_to_come(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at, FEED)
    yield
    feed(spark, startingTimestamp="2999-01-01").load(at).collect()


@situation
def changes_of_a_name_without_a_start(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at, FEED)
    yield
    spark.sql(f"SELECT * FROM table_changes_by_path('{at}', NULL)").collect()


@situation
def changes_of_a_column_of_theirs(spark: Any, tables: Any, at: str) -> Iterator[None]:
    yield
    writer = spark.range(3).selectExpr("id AS _change_type").write.format("delta")
    writer.option(*FEED).save(at)


def drain(spark: Any, at: str, mode: str = "append", **options: str) -> None:
    rows = spark.readStream.format("delta").options(**options).load(at)
    query = rows.writeStream.format("delta").outputMode(mode).option("checkpointLocation", at + "-checkpoint")
    query.trigger(availableNow=True).start(at + "-sink").awaitTermination()


@situation
def stream_of_nothing(spark: Any, tables: Any, at: str) -> Iterator[None]:
    yield
    spark.readStream.format("delta").load(at)


@situation
def stream_with_two_starts(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at)
    yield
    drain(spark, at, startingVersion="0", startingTimestamp="2020-01-01")


@situation
def stream_from_a_version_to_come(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at)
    yield
    drain(spark, at, startingVersion="99")


@situation
def stream_of_rows_that_were_changed(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at)
    drain(spark, at)
    tables.forPath(spark, at).update("id = 1", {"id": "5"})
    yield
    drain(spark, at)


@situation
def stream_at_a_version(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at)
    yield
    drain(spark, at, versionAsOf="0")


@situation
def stream_in_another_mode(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at)
    yield
    drain(spark, at, mode="update")


@situation
def stream_with_no_files_a_trigger(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at)
    yield
    drain(spark, at, maxFilesPerTrigger="0")


@situation
def stream_with_a_schema(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at)
    yield
    spark.readStream.format("delta").schema("other STRING").load(at)
