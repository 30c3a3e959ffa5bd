"""Vacuum, optimize, restore, clone and their like."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from error_situations.play import ids, situation

if TYPE_CHECKING:
    from collections.abc import Iterator


@situation
def vacuum_of_files_that_are_young(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at)
    yield
    tables.forPath(spark, at).vacuum(1)


@situation
def vacuum_of_less_than_nothing(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at)
    yield
    tables.forPath(spark, at).vacuum(-1)


@situation
def vacuum_of_nothing(spark: Any, tables: Any, at: str) -> Iterator[None]:
    yield
    spark.sql(f"VACUUM '{at}'")


@situation
def optimize_where_of_data(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at, by="p")
    yield
    spark.sql(f"OPTIMIZE delta.`{at}` WHERE id = 1")


@situation
def optimize_where_of_no_column(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at, by="p")
    yield
    tables.forPath(spark, at).optimize().where("other = 1").executeCompaction()


@situation
def zorder_by_no_column(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at)
    yield
    tables.forPath(spark, at).optimize().executeZOrderBy("other")


@situation
def zorder_by_a_partition_column(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at, by="p")
    yield
    spark.sql(f"OPTIMIZE delta.`{at}` ZORDER BY (p)")


@situation
def optimize_of_nothing(spark: Any, tables: Any, at: str) -> Iterator[None]:
    yield
    spark.sql(f"OPTIMIZE '{at}'")


@situation
def restore_to_no_version(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at)
    yield
    tables.forPath(spark, at).restoreToVersion(99)


@situation
def restore_to_no_version_by_sql(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at)
    yield
    spark.sql(f"RESTORE delta.`{at}` TO VERSION AS OF 99")


@situation
def restore_to_a_time_before(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at)
    yield
    tables.forPath(spark, at).restoreToTimestamp("1999-01-01")


@situation
def restore_to_a_time_after(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at)
    yield
    tables.forPath(spark, at).restoreToTimestamp("2999-01-01")


@situation
def restore_to_no_time(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at)
    yield
    tables.forPath(spark, at).restoreToTimestamp("soon")


@situation
def restore_to_a_text(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at)
    yield
    tables.forPath(spark, at).restoreToVersion("first")


@situation
def clone_onto_rows(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at)
    ids(spark, at + "-target")
    yield
    spark.sql(f"CREATE OR REPLACE TABLE delta.`{at}-target` SHALLOW CLONE delta.`{at}`")


@situation
def clone_where_a_table_is(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at)
    ids(spark, at + "-target")
    yield
    spark.sql(f"CREATE TABLE delta.`{at}-target` SHALLOW CLONE delta.`{at}`")


@situation
def clone_of_nothing(spark: Any, tables: Any, at: str) -> Iterator[None]:
    yield
    spark.sql(f"CREATE TABLE delta.`{at}-target` SHALLOW CLONE delta.`{at}`")


@situation
def conversion_of_nothing(spark: Any, tables: Any, at: str) -> Iterator[None]:
    yield
    tables.convertToDelta(spark, f"parquet.`{at}`")


@situation
def conversion_without_the_partition_columns(spark: Any, tables: Any, at: str) -> Iterator[None]:
    spark.range(4).selectExpr("id", "id % 2 AS p").write.partitionBy("p").parquet(at)
    yield
    tables.convertToDelta(spark, f"parquet.`{at}`")


@situation
def manifest_of_no_kind(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at)
    yield
    tables.forPath(spark, at).generate("magic")


@situation
def history_of_nothing(spark: Any, tables: Any, at: str) -> Iterator[None]:
    yield
    spark.sql(f"DESCRIBE HISTORY delta.`{at}`").collect()


@situation
def history_of_files(spark: Any, tables: Any, at: str) -> Iterator[None]:
    spark.range(3).write.parquet(at)
    yield
    spark.sql(f"DESCRIBE HISTORY '{at}'").collect()


@situation
def detail_of_nothing(spark: Any, tables: Any, at: str) -> Iterator[None]:
    yield
    spark.sql(f"DESCRIBE DETAIL delta.`{at}`").collect()
