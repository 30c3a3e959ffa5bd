"""DELETE, UPDATE and MERGE."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from error_situations.play import ids, situation

if TYPE_CHECKING:
    from collections.abc import Iterator


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
def delete_by_no_column_of_an_alias(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at)
    yield
    tables.forPath(spark, at).alias("t").delete("t.other = 1")


@situation
def update_by_no_column(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at)
    yield
    tables.forPath(spark, at).update("other = 1", {"id": "2"})


@situation
def update_to_no_column(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at)
    yield
    tables.forPath(spark, at).alias("t").update("t.id = 1", {"id": "t.other"})


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


def _structs(spark: Any, at: str) -> None:
    spark.sql(
        f"CREATE TABLE delta.`{at}` "
        "(id INT, s STRUCT<a: INT, b: INT>, m MAP<STRING, STRUCT<a: INT, b: INT>>) USING delta"
    )
    spark.sql(
        f"INSERT INTO delta.`{at}` VALUES (1, named_struct('a', 1, 'b', 2), map('k', named_struct('a', 1, 'b', 2)))"
    )


@situation
def update_a_struct_of_other_fields_by_sql(spark: Any, tables: Any, at: str) -> Iterator[None]:
    _structs(spark, at)
    yield
    spark.sql(f"UPDATE delta.`{at}` SET s = named_struct('b', 1, 'x', 2)")


@situation
def update_a_map_of_other_structs(spark: Any, tables: Any, at: str) -> Iterator[None]:
    _structs(spark, at)
    yield
    spark.sql(f"UPDATE delta.`{at}` SET m = map('k', named_struct('a', 1, 'c', 2))")


@situation
def merge_a_struct_of_other_fields(spark: Any, tables: Any, at: str) -> Iterator[None]:
    _structs(spark, at)
    source = spark.sql("SELECT 1 AS id, named_struct('a', 1, 'd', 2) AS s")
    yield
    matched = tables.forPath(spark, at).alias("t").merge(source.alias("s"), "t.id = s.id")
    matched.whenMatchedUpdate(set={"s": "s.s"}).execute()


@situation
def merge_in_a_struct_of_other_fields(spark: Any, tables: Any, at: str) -> Iterator[None]:
    _structs(spark, at)
    source = spark.sql("SELECT 2 AS id, named_struct('a', 1, 'd', 2) AS s")
    yield
    matched = tables.forPath(spark, at).alias("t").merge(source.alias("s"), "t.id = s.id")
    matched.whenNotMatchedInsert(values={"id": "s.id", "s": "s.s"}).execute()
