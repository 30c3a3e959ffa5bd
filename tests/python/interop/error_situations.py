"""Small situations that end in an error, played by deltaic and, in its own process, by delta-spark.

A situation is a generator: what comes before its `yield` has to work, what comes after it is the attempt. It is given
the session, the class `DeltaTable` of the engine, and a folder of its own (as text), and it names tables of the
catalog after itself.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Play = Callable[[Any, Any, str], Iterator[None]]

SITUATIONS: dict[str, Play] = {}


def situation(play: Play) -> Play:
    SITUATIONS[play.__name__] = play
    return play


def told(error: BaseException) -> dict[str, Any]:
    """What a program can tell of an error; of one that PySpark has no class for, what the JVM tells."""
    thrown = _thrown(error)

    def ask(method: str) -> Any:
        return getattr(thrown, method)() if hasattr(thrown, method) else None

    return {
        "error": str(error),
        "classes": [c.__name__ for c in type(error).__mro__],
        "condition": ask("getCondition"),
        "sqlState": ask("getSqlState"),
        "parameters": dict(ask("getMessageParameters") or {}),
    }


def _thrown(error: BaseException) -> Any:
    from py4j.java_gateway import is_instance_of
    from pyspark import SparkContext

    cause = getattr(error, "java_exception", None)
    while cause is not None:
        if is_instance_of(SparkContext._gateway, cause, "org.apache.spark.SparkThrowable"):
            return cause
        cause = cause.getCause()
    return error


def attempt(name: str, spark: Any, tables: Any, at: str) -> dict[str, Any] | None:
    """The error of a situation; None where there is none."""
    play = SITUATIONS[name](spark, tables, at)
    next(play)
    try:
        next(play, None)
    except Exception as error:  # noqa: BLE001 the error is the answer
        return told(error)
    return None


def ids(spark: Any, at: str, *options: tuple[str, str], count: int = 3, by: str | None = None) -> None:
    """A table of the column `id`; with `by` of another one, too, that it is partitioned by."""
    rows = spark.range(count)
    writer = (rows.selectExpr("id", f"id % 2 AS {by}") if by else rows).write.format("delta")
    (writer.partitionBy(by) if by else writer).options(**dict(options)).save(at)


def by_sql(spark: Any, at: str, columns: str, more: str = "") -> None:
    spark.sql(f"CREATE TABLE delta.`{at}` ({columns}) USING delta {more}")


# reading


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


# features and the log


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


# writing


@situation
def save_where_a_table_is(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at)
    yield
    spark.range(3).write.format("delta").save(at)


@situation
def save_as_a_table_that_is_there(spark: Any, tables: Any, at: str) -> Iterator[None]:
    spark.sql("DROP TABLE IF EXISTS save_as_a_table_that_is_there")
    spark.range(3).write.format("delta").option("path", at).saveAsTable("save_as_a_table_that_is_there")
    yield
    spark.range(3).write.format("delta").saveAsTable("save_as_a_table_that_is_there")


@situation
def append_of_another_column(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at)
    yield
    spark.range(3).selectExpr("id", "1 AS more").write.format("delta").mode("append").save(at)


@situation
def append_of_another_type(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at)
    yield
    spark.sql("SELECT array(1) AS id").write.format("delta").mode("append").save(at)


@situation
def append_with_another_partitioning(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at, by="p")
    yield
    rows = spark.range(3).selectExpr("id", "id AS p")
    rows.write.format("delta").mode("append").partitionBy("id").save(at)


@situation
def overwrite_with_another_schema(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at)
    yield
    spark.sql("SELECT 'a' AS other").write.format("delta").mode("overwrite").save(at)


@situation
def column_twice(spark: Any, tables: Any, at: str) -> Iterator[None]:
    yield
    spark.range(3).selectExpr("id", "id AS ID").write.format("delta").save(at)


@situation
def column_with_a_space(spark: Any, tables: Any, at: str) -> Iterator[None]:
    yield
    spark.range(3).selectExpr("id AS `a b`").write.format("delta").save(at)


@situation
def partition_column_that_is_not_there(spark: Any, tables: Any, at: str) -> Iterator[None]:
    yield
    spark.range(3).write.format("delta").partitionBy("other").save(at)


@situation
def every_column_a_partition_column(spark: Any, tables: Any, at: str) -> Iterator[None]:
    yield
    spark.range(3).write.format("delta").partitionBy("id").save(at)


@situation
def option_that_is_neither_true_nor_false(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at)
    yield
    spark.range(3).write.format("delta").mode("append").option("mergeSchema", "maybe").save(at)


@situation
def version_of_an_application_without_its_id(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at)
    yield
    spark.range(3).write.format("delta").mode("append").option("txnVersion", "1").save(at)


@situation
def replace_where_of_other_rows(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at)
    yield
    writer = spark.range(10, 12).write.format("delta").mode("overwrite")
    writer.option("replaceWhere", "id < 2").save(at)


@situation
def replace_where_of_no_column(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at)
    yield
    writer = spark.range(2).write.format("delta").mode("overwrite")
    writer.option("replaceWhere", "other < 2").save(at)


@situation
def replace_where_that_is_no_sql(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at)
    yield
    writer = spark.range(2).write.format("delta").mode("overwrite")
    writer.option("replaceWhere", "id < < 2").save(at)


@situation
def replace_where_with_an_append(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at)
    yield
    spark.range(2).write.format("delta").mode("append").option("replaceWhere", "id < 2").save(at)


@situation
def replace_where_with_dynamic_partitions(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at, by="p")
    yield
    rows = spark.range(2).selectExpr("id", "id AS p").write.format("delta").mode("overwrite")
    rows.option("replaceWhere", "p < 2").option("partitionOverwriteMode", "dynamic").save(at)


@situation
def new_schema_with_dynamic_partitions(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at, by="p")
    yield
    rows = spark.range(2).selectExpr("id", "id AS p", "1 AS q").write.format("delta").mode("overwrite")
    rows.option("overwriteSchema", "true").option("partitionOverwriteMode", "dynamic").save(at)


@situation
def partition_overwrite_mode_that_is_none(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at, by="p")
    yield
    rows = spark.range(2).selectExpr("id", "id AS p").write.format("delta").mode("overwrite")
    rows.option("partitionOverwriteMode", "sometimes").save(at)


@situation
def null_where_none_may_be(spark: Any, tables: Any, at: str) -> Iterator[None]:
    by_sql(spark, at, "id LONG NOT NULL")
    yield
    spark.sql(f"INSERT INTO delta.`{at}` SELECT CAST(NULL AS LONG)")


@situation
def row_that_breaks_a_constraint(spark: Any, tables: Any, at: str) -> Iterator[None]:
    by_sql(spark, at, "id LONG, name STRING")
    spark.sql(f"ALTER TABLE delta.`{at}` ADD CONSTRAINT few CHECK (id < 5)")
    yield
    spark.sql(f"INSERT INTO delta.`{at}` VALUES (7, 'a')")


@situation
def row_of_a_frame_that_breaks_a_constraint(spark: Any, tables: Any, at: str) -> Iterator[None]:
    by_sql(spark, at, "id LONG")
    spark.sql(f"ALTER TABLE delta.`{at}` ADD CONSTRAINT few CHECK (id < 5)")
    yield
    spark.range(7, 8).write.format("delta").mode("append").save(at)


@situation
def text_that_is_too_long(spark: Any, tables: Any, at: str) -> Iterator[None]:
    by_sql(spark, at, "name VARCHAR(3)")
    yield
    spark.sql(f"INSERT INTO delta.`{at}` VALUES ('abcdef')")


@situation
def number_that_is_too_large(spark: Any, tables: Any, at: str) -> Iterator[None]:
    by_sql(spark, at, "n TINYINT")
    yield
    spark.sql(f"INSERT INTO delta.`{at}` SELECT id + 300 FROM range(2)")


@situation
def insert_of_too_few_columns(spark: Any, tables: Any, at: str) -> Iterator[None]:
    by_sql(spark, at, "a LONG, b LONG NOT NULL")
    yield
    spark.sql(f"INSERT INTO delta.`{at}` VALUES (1)")


@situation
def insert_of_too_many_columns(spark: Any, tables: Any, at: str) -> Iterator[None]:
    by_sql(spark, at, "a LONG, b LONG")
    yield
    spark.sql(f"INSERT INTO delta.`{at}` VALUES (1, 2, 3)")


@situation
def insert_of_a_column_that_is_not_there(spark: Any, tables: Any, at: str) -> Iterator[None]:
    by_sql(spark, at, "a LONG, b LONG")
    yield
    spark.sql(f"INSERT INTO delta.`{at}` (a, c) VALUES (1, 2)")


@situation
def insert_into_nothing(spark: Any, tables: Any, at: str) -> Iterator[None]:
    yield
    spark.sql("INSERT INTO there_is_no_such_table VALUES (1)")


@situation
def division_by_zero(spark: Any, tables: Any, at: str) -> Iterator[None]:
    by_sql(spark, at, "a LONG")
    yield
    spark.sql(f"INSERT INTO delta.`{at}` SELECT id div 0 FROM range(2)")


@situation
def generated_column_of_another_value(spark: Any, tables: Any, at: str) -> Iterator[None]:
    by_sql(spark, at, "a LONG, b LONG GENERATED ALWAYS AS (a + 1)")
    yield
    spark.sql(f"INSERT INTO delta.`{at}` VALUES (1, 7)")


@situation
def identity_column_with_values(spark: Any, tables: Any, at: str) -> Iterator[None]:
    by_sql(spark, at, "a LONG GENERATED ALWAYS AS IDENTITY, b LONG")
    yield
    spark.sql(f"INSERT INTO delta.`{at}` VALUES (1, 7)")


@situation
def update_of_an_identity_column(spark: Any, tables: Any, at: str) -> Iterator[None]:
    by_sql(spark, at, "a LONG GENERATED ALWAYS AS IDENTITY, b LONG")
    spark.sql(f"INSERT INTO delta.`{at}` (b) VALUES (7)")
    yield
    spark.sql(f"UPDATE delta.`{at}` SET a = 5")


# rows of a table that is append-only


def append_only(spark: Any, at: str) -> None:
    by_sql(spark, at, "id LONG", "TBLPROPERTIES ('delta.appendOnly' = 'true')")
    spark.sql(f"INSERT INTO delta.`{at}` VALUES (1), (2)")


@situation
def delete_of_an_append_only_table(spark: Any, tables: Any, at: str) -> Iterator[None]:
    append_only(spark, at)
    yield
    spark.sql(f"DELETE FROM delta.`{at}` WHERE id = 1")


@situation
def update_of_an_append_only_table(spark: Any, tables: Any, at: str) -> Iterator[None]:
    append_only(spark, at)
    yield
    tables.forPath(spark, at).update("id = 1", {"id": "5"})


@situation
def overwrite_of_an_append_only_table(spark: Any, tables: Any, at: str) -> Iterator[None]:
    append_only(spark, at)
    yield
    spark.range(3).write.format("delta").mode("overwrite").save(at)


# changes of rows


@situation
def delete_by_no_column(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at)
    yield
    tables.forPath(spark, at).delete("other = 1")


@situation
def delete_by_no_column_by_sql(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at)
    yield
    spark.sql(f"DELETE FROM delta.`{at}` WHERE other = 1")


@situation
def delete_by_no_sql(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at)
    yield
    tables.forPath(spark, at).delete("id = = 1")


@situation
def delete_by_a_number(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at)
    yield
    tables.forPath(spark, at).delete(5)


@situation
def delete_from_nothing(spark: Any, tables: Any, at: str) -> Iterator[None]:
    yield
    spark.sql(f"DELETE FROM delta.`{at}` WHERE true")


@situation
def delete_from_no_name(spark: Any, tables: Any, at: str) -> Iterator[None]:
    yield
    spark.sql("DELETE FROM there_is_no_such_table")


@situation
def delete_by_an_aggregate(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at)
    yield
    spark.sql(f"DELETE FROM delta.`{at}` WHERE max(id) = 1")


@situation
def update_of_no_column(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at)
    yield
    tables.forPath(spark, at).update("id = 1", {"other": "5"})


@situation
def update_of_no_column_by_sql(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at)
    yield
    spark.sql(f"UPDATE delta.`{at}` SET other = 5")


@situation
def update_of_one_column_twice(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at)
    yield
    spark.sql(f"UPDATE delta.`{at}` SET id = 5, id = 6")


@situation
def update_without_a_set(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at)
    yield
    tables.forPath(spark, at).update("id = 1", None)


@situation
def update_with_a_text_as_set(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at)
    yield
    tables.forPath(spark, at).update("id = 1", "id = 2")


@situation
def update_with_a_number_as_value(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at)
    yield
    tables.forPath(spark, at).update("id = 1", {"id": 5})


@situation
def update_that_breaks_a_constraint(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at)
    spark.sql(f"ALTER TABLE delta.`{at}` ADD CONSTRAINT few CHECK (id < 5)")
    yield
    tables.forPath(spark, at).update("id = 1", {"id": "50"})


@situation
def update_by_another_type(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at)
    yield
    tables.forPath(spark, at).update("id = 1", {"id": "array(1)"})


def merging(spark: Any, tables: Any, at: str, condition: Any = "t.id = s.id") -> Any:
    ids(spark, at)
    source = spark.range(3).selectExpr("id", "id + 1 AS n").alias("s")
    return tables.forPath(spark, at).alias("t").merge(source, condition)


@situation
def merge_with_several_matches(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at)
    yield
    source = spark.range(3).selectExpr("1L AS id", "id AS n").alias("s")
    merge = tables.forPath(spark, at).alias("t").merge(source, "t.id = s.id")
    merge.whenMatchedUpdate(set={"id": "s.n"}).execute()


@situation
def merge_without_clauses(spark: Any, tables: Any, at: str) -> Iterator[None]:
    merge = merging(spark, tables, at)
    yield
    merge.execute()


@situation
def merge_with_an_unreachable_clause(spark: Any, tables: Any, at: str) -> Iterator[None]:
    merge = merging(spark, tables, at)
    yield
    merge.whenMatchedDelete().whenMatchedUpdate(set={"id": "s.n"}).execute()


@situation
def merge_by_no_column(spark: Any, tables: Any, at: str) -> Iterator[None]:
    merge = merging(spark, tables, at, "t.other = s.id")
    yield
    merge.whenMatchedDelete().execute()


@situation
def merge_that_sets_no_column(spark: Any, tables: Any, at: str) -> Iterator[None]:
    merge = merging(spark, tables, at)
    yield
    merge.whenMatchedUpdate(set={"other": "s.n"}).execute()


@situation
def merge_that_sets_a_column_twice(spark: Any, tables: Any, at: str) -> Iterator[None]:
    merging(spark, tables, at)
    spark.range(3).createOrReplaceTempView("merge_that_sets_a_column_twice")
    yield
    spark.sql(
        f"MERGE INTO delta.`{at}` t USING merge_that_sets_a_column_twice s ON t.id = s.id "
        "WHEN MATCHED THEN UPDATE SET id = 1, id = 2"
    )


@situation
def merge_of_no_frame(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at)
    yield
    tables.forPath(spark, at).merge("source", "true")


@situation
def merge_without_a_condition(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at)
    yield
    tables.forPath(spark, at).merge(spark.range(1), None)


# definitions


@situation
def create_of_a_table_that_is_there(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at)
    yield
    by_sql(spark, at, "id LONG")


@situation
def create_of_a_name_that_is_there(spark: Any, tables: Any, at: str) -> Iterator[None]:
    spark.sql("DROP TABLE IF EXISTS create_of_a_name_that_is_there")
    spark.sql(f"CREATE TABLE create_of_a_name_that_is_there (id LONG) USING delta LOCATION '{at}'")
    yield
    spark.sql("CREATE TABLE create_of_a_name_that_is_there (id LONG) USING delta")


def named(spark: Any, name: str, columns: str, at: str, more: str = "") -> None:
    spark.sql(f"DROP TABLE IF EXISTS {name}")
    spark.sql(f"CREATE TABLE {name} {columns} USING delta {more} LOCATION '{at}'")


@situation
def create_with_another_schema(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at)
    yield
    named(spark, "create_with_another_schema", "(id LONG, more STRING)", at)


@situation
def create_with_another_partitioning(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at, by="p")
    yield
    named(spark, "create_with_another_partitioning", "(id LONG, p LONG)", at, "PARTITIONED BY (id)")


@situation
def create_with_another_property(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at)
    yield
    named(
        spark,
        "create_with_another_property",
        "(id LONG)",
        at,
        "TBLPROPERTIES ('delta.logRetentionDuration' = 'interval 5 days')",
    )


@situation
def create_without_columns(spark: Any, tables: Any, at: str) -> Iterator[None]:
    yield
    named(spark, "create_without_columns", "", at)


@situation
def create_where_other_files_are(spark: Any, tables: Any, at: str) -> Iterator[None]:
    spark.range(3).write.parquet(at)
    yield
    named(spark, "create_where_other_files_are", "(id LONG)", at)


@situation
def create_with_a_property_that_is_none(spark: Any, tables: Any, at: str) -> Iterator[None]:
    yield
    by_sql(spark, at, "id LONG", "TBLPROPERTIES ('delta.noSuchProperty' = 'true')")


@situation
def create_with_a_value_that_is_none(spark: Any, tables: Any, at: str) -> Iterator[None]:
    yield
    by_sql(spark, at, "id LONG", "TBLPROPERTIES ('delta.appendOnly' = 'maybe')")


@situation
def create_with_a_feature_that_is_unknown(spark: Any, tables: Any, at: str) -> Iterator[None]:
    yield
    by_sql(spark, at, "id LONG", "TBLPROPERTIES ('delta.feature.timeMachine' = 'supported')")


@situation
def feature_with_another_status(spark: Any, tables: Any, at: str) -> Iterator[None]:
    yield
    by_sql(spark, at, "id LONG", "TBLPROPERTIES ('delta.feature.rowTracking' = 'maybe')")


@situation
def create_with_a_default_without_the_feature(spark: Any, tables: Any, at: str) -> Iterator[None]:
    yield
    by_sql(spark, at, "id LONG DEFAULT 5")


@situation
def create_with_a_generated_column_of_no_column(spark: Any, tables: Any, at: str) -> Iterator[None]:
    yield
    by_sql(spark, at, "a LONG, b LONG GENERATED ALWAYS AS (c + 1)")


@situation
def create_with_a_generated_column_of_a_generated_one(spark: Any, tables: Any, at: str) -> Iterator[None]:
    yield
    by_sql(spark, at, "a LONG, b LONG GENERATED ALWAYS AS (a + 1), c LONG GENERATED ALWAYS AS (b + 1)")


@situation
def create_with_a_generated_column_by_chance(spark: Any, tables: Any, at: str) -> Iterator[None]:
    yield
    by_sql(spark, at, "a LONG, b DOUBLE GENERATED ALWAYS AS (rand())")


@situation
def create_with_a_generated_column_by_an_aggregate(spark: Any, tables: Any, at: str) -> Iterator[None]:
    yield
    by_sql(spark, at, "a LONG, b LONG GENERATED ALWAYS AS (max(a))")


@situation
def create_with_a_generated_column_of_another_type(spark: Any, tables: Any, at: str) -> Iterator[None]:
    yield
    by_sql(spark, at, "a LONG, b DATE GENERATED ALWAYS AS (a + 1)")


@situation
def create_with_an_identity_column_of_a_small_type(spark: Any, tables: Any, at: str) -> Iterator[None]:
    yield
    by_sql(spark, at, "a INT GENERATED ALWAYS AS IDENTITY, b LONG")


@situation
def create_with_an_identity_column_without_a_step(spark: Any, tables: Any, at: str) -> Iterator[None]:
    yield
    by_sql(spark, at, "a LONG GENERATED ALWAYS AS IDENTITY (START WITH 1 INCREMENT BY 0), b LONG")


@situation
def create_partitioned_by_an_identity_column(spark: Any, tables: Any, at: str) -> Iterator[None]:
    yield
    by_sql(spark, at, "a LONG GENERATED ALWAYS AS IDENTITY, b LONG", "PARTITIONED BY (a)")


@situation
def create_with_too_many_clustering_columns(spark: Any, tables: Any, at: str) -> Iterator[None]:
    yield
    by_sql(spark, at, "a LONG, b LONG, c LONG, d LONG, e LONG", "CLUSTER BY (a, b, c, d, e)")


@situation
def create_clustered_by_no_column(spark: Any, tables: Any, at: str) -> Iterator[None]:
    yield
    by_sql(spark, at, "a LONG", "CLUSTER BY (other)")


@situation
def replace_of_nothing(spark: Any, tables: Any, at: str) -> Iterator[None]:
    yield
    spark.sql("REPLACE TABLE there_is_no_such_table (id LONG) USING delta")


@situation
def builder_of_a_table_that_is_there(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at)
    yield
    tables.create(spark).location(at).addColumn("id", "LONG").execute()


@situation
def builder_that_replaces_nothing(spark: Any, tables: Any, at: str) -> Iterator[None]:
    yield
    tables.replace(spark).tableName("there_is_no_such_table").addColumn("id", "LONG").execute()


@situation
def builder_with_a_number_as_name(spark: Any, tables: Any, at: str) -> Iterator[None]:
    yield
    tables.create(spark).tableName(5)


@situation
def builder_with_a_number_as_column(spark: Any, tables: Any, at: str) -> Iterator[None]:
    yield
    tables.create(spark).addColumn(5, "LONG")


@situation
def builder_with_a_column_without_a_type(spark: Any, tables: Any, at: str) -> Iterator[None]:
    yield
    tables.create(spark).location(at).addColumn("id").execute()


@situation
def builder_with_a_number_as_property(spark: Any, tables: Any, at: str) -> Iterator[None]:
    yield
    tables.create(spark).property("a", 5)


# ALTER TABLE


def alter(spark: Any, at: str, what: str) -> None:
    spark.sql(f"ALTER TABLE delta.`{at}` {what}")


MAPPED = ("delta.columnMapping.mode", "name")


@situation
def drop_of_a_column_without_column_mapping(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at, by="p")
    yield
    alter(spark, at, "DROP COLUMN id")


@situation
def rename_of_a_column_without_column_mapping(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at)
    yield
    alter(spark, at, "RENAME COLUMN id TO other")


@situation
def drop_of_a_partition_column(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at, MAPPED, by="p")
    yield
    alter(spark, at, "DROP COLUMN p")


@situation
def drop_of_no_column(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at, MAPPED, by="p")
    yield
    alter(spark, at, "DROP COLUMN other")


@situation
def drop_of_every_column(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at, MAPPED)
    yield
    alter(spark, at, "DROP COLUMN id")


@situation
def drop_of_a_column_that_a_constraint_names(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at, MAPPED, by="p")
    alter(spark, at, "ADD CONSTRAINT few CHECK (id < 5)")
    yield
    alter(spark, at, "DROP COLUMN id")


@situation
def rename_of_a_column_that_a_generated_one_names(spark: Any, tables: Any, at: str) -> Iterator[None]:
    columns = "a LONG, b LONG GENERATED ALWAYS AS (a + 1)"
    by_sql(spark, at, columns, "TBLPROPERTIES ('delta.columnMapping.mode' = 'name')")
    yield
    alter(spark, at, "RENAME COLUMN a TO c")


@situation
def rename_to_a_column_that_is_there(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at, MAPPED, by="p")
    yield
    alter(spark, at, "RENAME COLUMN id TO p")


@situation
def added_column_that_is_there(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at)
    yield
    alter(spark, at, "ADD COLUMN (id LONG)")


@situation
def added_column_that_must_not_be_null(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at)
    yield
    alter(spark, at, "ADD COLUMN (more LONG NOT NULL)")


@situation
def added_column_with_a_default(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at, ("delta.feature.allowColumnDefaults", "supported"))
    yield
    alter(spark, at, "ADD COLUMN (more LONG DEFAULT 5)")


@situation
def default_without_the_feature(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at)
    yield
    alter(spark, at, "ALTER COLUMN id SET DEFAULT 5")


@situation
def column_of_a_smaller_type(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at)
    yield
    alter(spark, at, "ALTER COLUMN id TYPE INT")


@situation
def column_that_must_not_be_null_from_now_on(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at)
    yield
    alter(spark, at, "ALTER COLUMN id SET NOT NULL")


@situation
def comment_of_no_column(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at)
    yield
    alter(spark, at, "ALTER COLUMN other COMMENT 'none'")


@situation
def constraint_that_rows_break(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at)
    yield
    alter(spark, at, "ADD CONSTRAINT few CHECK (id < 1)")


@situation
def constraint_twice(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at)
    alter(spark, at, "ADD CONSTRAINT few CHECK (id < 5)")
    yield
    alter(spark, at, "ADD CONSTRAINT few CHECK (id < 6)")


@situation
def constraint_that_is_not_there(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at)
    yield
    alter(spark, at, "DROP CONSTRAINT few")


@situation
def constraint_that_is_no_condition(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at)
    yield
    alter(spark, at, "ADD CONSTRAINT few CHECK (id + 1)")


@situation
def constraint_of_no_column(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at)
    yield
    alter(spark, at, "ADD CONSTRAINT few CHECK (other < 5)")


@situation
def constraint_as_a_property(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at)
    yield
    alter(spark, at, "SET TBLPROPERTIES ('delta.constraints.few' = 'id < 5')")


@situation
def property_that_is_not_there(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at)
    yield
    alter(spark, at, "UNSET TBLPROPERTIES ('delta.appendOnly')")


@situation
def property_that_is_unknown(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at)
    yield
    alter(spark, at, "SET TBLPROPERTIES ('delta.noSuchProperty' = 'true')")


@situation
def feature_that_is_unknown(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at)
    yield
    alter(spark, at, "SET TBLPROPERTIES ('delta.feature.timeMachine' = 'supported')")


@situation
def feature_that_is_unknown_by_method(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at)
    yield
    tables.forPath(spark, at).addFeatureSupport("timeMachine")


@situation
def column_mapping_back_to_none(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at, ("delta.columnMapping.mode", "id"))
    yield
    alter(spark, at, "SET TBLPROPERTIES ('delta.columnMapping.mode' = 'name')")


@situation
def column_mapping_of_no_mode(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at)
    yield
    alter(spark, at, "SET TBLPROPERTIES ('delta.columnMapping.mode' = 'magic')")


@situation
def protocol_that_goes_down(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at)
    yield
    tables.forPath(spark, at).upgradeTableProtocol(1, 1)


@situation
def protocol_of_a_text(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at)
    yield
    tables.forPath(spark, at).upgradeTableProtocol("abc", 3)


@situation
def protocol_of_a_version_that_is_unknown(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at)
    yield
    tables.forPath(spark, at).upgradeTableProtocol(9, 9)


@situation
def feature_that_is_not_there(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at)
    yield
    alter(spark, at, "DROP FEATURE deletionVectors")


@situation
def feature_that_nobody_can_drop(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at, ("delta.feature.appendOnly", "supported"))
    yield
    alter(spark, at, "DROP FEATURE appendOnly")


@situation
def feature_that_nobody_knows(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at)
    yield
    alter(spark, at, "DROP FEATURE timeMachine")


@situation
def feature_that_is_in_the_history(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at, ("delta.feature.v2Checkpoint", "supported"), ("delta.checkpointPolicy", "v2"))
    spark.range(3).write.format("delta").mode("append").save(at)
    yield
    alter(spark, at, "DROP FEATURE v2Checkpoint TRUNCATE HISTORY")


@situation
def clustering_of_a_partitioned_table(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at, by="p")
    yield
    alter(spark, at, "CLUSTER BY (id)")


@situation
def clustering_of_a_table_without(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at)
    yield
    alter(spark, at, "CLUSTER BY (other)")


# maintenance


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


# changes


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


# streams


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
