"""Writes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from error_situations.play import by_sql, ids, situation

if TYPE_CHECKING:
    from collections.abc import Iterator


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
def struct_without_fields(spark: Any, tables: Any, at: str) -> Iterator[None]:
    yield
    spark.createDataFrame([], "id INT, s STRUCT<>").write.format("delta").save(at)


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
    writer = spark.range(10, 11).write.format("delta").mode("overwrite")
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
