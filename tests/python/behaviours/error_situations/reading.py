"""Reads, time travel, and logs that cannot be read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from error_situations.play import ids, situation

if TYPE_CHECKING:
    from collections.abc import Iterator


@situation
def read_of_nothing(spark: Any, tables: Any, at: str) -> Iterator[None]:
    yield
    spark.read.format("delta").load(at).collect()


@situation
def read_of_files_that_are_no_table(spark: Any, tables: Any, at: str) -> Iterator[None]:
    spark.range(3).write.parquet(at)
    yield
    spark.read.format("delta").load(at).collect()


@situation
def read_of_nothing_by_sql(spark: Any, tables: Any, at: str) -> Iterator[None]:
    yield
    spark.sql(f"SELECT * FROM delta.`{at}`").collect()


@situation
def read_of_no_name(spark: Any, tables: Any, at: str) -> Iterator[None]:
    yield
    spark.sql("SELECT * FROM there_is_no_such_table").collect()


@situation
def read_without_a_path(spark: Any, tables: Any, at: str) -> Iterator[None]:
    yield
    spark.read.format("delta").load().collect()


@situation
def read_with_a_schema(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at)
    yield
    spark.read.format("delta").schema("other STRING").load(at).collect()


@situation
def for_path_of_nothing(spark: Any, tables: Any, at: str) -> Iterator[None]:
    yield
    tables.forPath(spark, at)


@situation
def for_path_of_files(spark: Any, tables: Any, at: str) -> Iterator[None]:
    spark.range(3).write.parquet(at)
    yield
    tables.forPath(spark, at)


@situation
def for_name_of_nothing(spark: Any, tables: Any, at: str) -> Iterator[None]:
    yield
    tables.forName(spark, "there_is_no_such_table")


@situation
def for_name_of_another_format(spark: Any, tables: Any, at: str) -> Iterator[None]:
    spark.sql("DROP TABLE IF EXISTS for_name_of_another_format")
    spark.sql(f"CREATE TABLE for_name_of_another_format (id LONG) USING parquet LOCATION '{at}'")
    yield
    tables.forName(spark, "for_name_of_another_format")


@situation
def version_that_is_not_there(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at)
    yield
    spark.read.format("delta").option("versionAsOf", 99).load(at).collect()


@situation
def version_that_is_not_there_by_sql(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at)
    yield
    spark.sql(f"SELECT * FROM delta.`{at}` VERSION AS OF 99").collect()


@situation
def version_that_is_no_number(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at)
    yield
    spark.read.format("delta").option("versionAsOf", "first").load(at).collect()


@situation
def timestamp_after_the_last_commit(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at)
    yield
    spark.read.format("delta").option("timestampAsOf", "2999-01-01").load(at).collect()


@situation
def timestamp_before_the_first_commit(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at)
    yield
    spark.read.format("delta").option("timestampAsOf", "1999-01-01").load(at).collect()


@situation
def timestamp_after_the_last_commit_by_sql(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at)
    yield
    spark.sql(f"SELECT * FROM delta.`{at}` TIMESTAMP AS OF '2999-01-01'").collect()


@situation
def timestamp_that_is_none(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at)
    yield
    spark.read.format("delta").option("timestampAsOf", "yesterday at noon").load(at).collect()


@situation
def version_and_timestamp(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at)
    yield
    both = {"versionAsOf": "0", "timestampAsOf": "2020-01-01"}
    spark.read.format("delta").options(**both).load(at).collect()


def edit_protocol(at: str, protocol: dict[str, Any]) -> None:
    """Adds a commit with a protocol."""
    commit = Path(at, "_delta_log", "00000000000000000001.json")
    commit.write_text(json.dumps({"protocol": protocol}) + "\n")


@situation
def reader_feature_that_is_unknown(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at)
    features = {"readerFeatures": ["timeMachine"], "writerFeatures": ["timeMachine"]}
    edit_protocol(at, {"minReaderVersion": 3, "minWriterVersion": 7, **features})
    yield
    spark.read.format("delta").load(at).collect()


@situation
def writer_feature_that_is_unknown(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at)
    edit_protocol(at, {"minReaderVersion": 1, "minWriterVersion": 7, "writerFeatures": ["timeMachine"]})
    yield
    spark.range(3).write.format("delta").mode("append").save(at)


@situation
def reader_version_that_is_unknown(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at)
    edit_protocol(at, {"minReaderVersion": 99, "minWriterVersion": 99})
    yield
    spark.read.format("delta").load(at).collect()


@situation
def log_with_a_gap(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at)
    for _ in range(2):
        spark.range(1).write.format("delta").mode("append").save(at)
    log = Path(at, "_delta_log")
    Path(log, "00000000000000000001.json").unlink()
    Path(log, "00000000000000000001.crc").unlink(missing_ok=True)
    yield
    spark.sql(f"SELECT * FROM delta.`{at}`").collect()


@situation
def log_without_its_beginning(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at)
    spark.range(1).write.format("delta").mode("append").save(at)
    log = Path(at, "_delta_log")
    for file in [*log.glob("*0.json"), *log.glob("*0.crc"), *log.glob(".*0.*")]:
        file.unlink()
    yield
    spark.sql(f"SELECT * FROM delta.`{at}`").collect()
