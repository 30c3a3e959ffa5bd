"""New tables."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from error_situations.play import by_sql, ids, situation

if TYPE_CHECKING:
    from collections.abc import Iterator


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


def beside(spark: Any, at: str) -> None:
    """Files that are no table."""
    spark.range(3).write.parquet(at)


@situation
def create_where_a_hidden_file_is(spark: Any, tables: Any, at: str) -> Iterator[None]:
    Path(at).mkdir(parents=True)
    Path(at, ".hidden").touch()
    yield
    named(spark, "create_where_a_hidden_file_is", "(id LONG)", at)


@situation
def create_where_a_folder_is(spark: Any, tables: Any, at: str) -> Iterator[None]:
    Path(at, "folder").mkdir(parents=True)
    yield
    named(spark, "create_where_a_folder_is", "(id LONG)", at)


@situation
def create_where_nothing_is(spark: Any, tables: Any, at: str) -> Iterator[None]:
    Path(at).mkdir(parents=True)
    yield
    named(spark, "create_where_nothing_is", "(id LONG)", at)


@situation
def create_if_not_there_where_other_files_are(spark: Any, tables: Any, at: str) -> Iterator[None]:
    beside(spark, at)
    yield
    spark.sql(f"CREATE TABLE IF NOT EXISTS not_there (id LONG) USING delta LOCATION '{at}'")


@situation
def create_or_replace_where_other_files_are(spark: Any, tables: Any, at: str) -> Iterator[None]:
    beside(spark, at)
    yield
    spark.sql(f"CREATE OR REPLACE TABLE not_there (id LONG) USING delta LOCATION '{at}'")


@situation
def create_without_columns_where_other_files_are(spark: Any, tables: Any, at: str) -> Iterator[None]:
    beside(spark, at)
    yield
    named(spark, "create_without_columns_where_other_files_are", "", at)


@situation
def create_as_where_other_files_are(spark: Any, tables: Any, at: str) -> Iterator[None]:
    beside(spark, at)
    yield
    spark.sql(f"CREATE TABLE not_there USING delta LOCATION '{at}' AS SELECT 1L AS id")


@situation
def create_as_where_a_creation_has_failed(spark: Any, tables: Any, at: str) -> Iterator[None]:
    spark.sql("DROP TABLE IF EXISTS create_as_where_a_creation_has_failed")
    beside(spark, at)
    Path(at, "_delta_log").mkdir()
    yield
    spark.sql(
        f"CREATE TABLE create_as_where_a_creation_has_failed USING delta LOCATION '{at}' AS SELECT 1L AS id"
    )


@situation
def create_as_where_a_table_is(spark: Any, tables: Any, at: str) -> Iterator[None]:
    ids(spark, at)
    yield
    spark.sql(f"CREATE TABLE not_there USING delta LOCATION '{at}' AS SELECT 1L AS id")


@situation
def create_or_replace_as_where_other_files_are(spark: Any, tables: Any, at: str) -> Iterator[None]:
    beside(spark, at)
    name = "create_or_replace_as_where_other_files_are"
    spark.sql(f"DROP TABLE IF EXISTS {name}")
    yield
    spark.sql(f"CREATE OR REPLACE TABLE {name} USING delta LOCATION '{at}' AS SELECT 1L AS id")


@situation
def create_by_path_where_other_files_are(spark: Any, tables: Any, at: str) -> Iterator[None]:
    beside(spark, at)
    yield
    by_sql(spark, at, "id LONG")


@situation
def create_as_by_path_where_other_files_are(spark: Any, tables: Any, at: str) -> Iterator[None]:
    beside(spark, at)
    yield
    spark.sql(f"CREATE TABLE delta.`{at}` USING delta AS SELECT 1L AS id")


@situation
def create_or_replace_by_path_where_other_files_are(spark: Any, tables: Any, at: str) -> Iterator[None]:
    beside(spark, at)
    yield
    spark.sql(f"CREATE OR REPLACE TABLE delta.`{at}` (id LONG) USING delta")


@situation
def create_at_two_places(spark: Any, tables: Any, at: str) -> Iterator[None]:
    yield
    by_sql(spark, at, "id LONG", f"LOCATION '{at}-other'")


@situation
def create_like_where_other_files_are(spark: Any, tables: Any, at: str) -> Iterator[None]:
    beside(spark, f"{at}/there")
    named(spark, "create_like_where_other_files_are", "(id LONG)", f"{at}/source")
    yield
    spark.sql(f"CREATE TABLE not_there LIKE create_like_where_other_files_are LOCATION '{at}/there'")


@situation
def clone_where_other_files_are(spark: Any, tables: Any, at: str) -> Iterator[None]:
    beside(spark, f"{at}/there")
    by_sql(spark, f"{at}/source", "id LONG")
    yield
    spark.sql(f"CREATE TABLE delta.`{at}/there` SHALLOW CLONE delta.`{at}/source`")


@situation
def save_as_a_table_where_other_files_are(spark: Any, tables: Any, at: str) -> Iterator[None]:
    beside(spark, at)
    yield
    spark.range(1).write.format("delta").mode("append").option("path", at).saveAsTable("not_there")


@situation
def save_where_other_files_are(spark: Any, tables: Any, at: str) -> Iterator[None]:
    beside(spark, at)
    yield
    spark.range(1).write.format("delta").save(at)


def in_warehouse(spark: Any, name: str) -> None:
    """Files where a table of this name would be."""
    spark.sql(f"DROP TABLE IF EXISTS {name}")
    place = Path(spark.conf.get("spark.sql.warehouse.dir").removeprefix("file:").replace("///", "/"), name)
    place.mkdir(parents=True, exist_ok=True)
    (place / "precious.txt").touch()


@situation
def managed_table_where_other_files_are(spark: Any, tables: Any, at: str) -> Iterator[None]:
    in_warehouse(spark, "managed_table_where_other_files_are")
    yield
    spark.sql("CREATE TABLE managed_table_where_other_files_are (id LONG) USING delta")


@situation
def managed_table_as_where_other_files_are(spark: Any, tables: Any, at: str) -> Iterator[None]:
    in_warehouse(spark, "managed_table_as_where_other_files_are")
    yield
    spark.sql("CREATE TABLE managed_table_as_where_other_files_are USING delta AS SELECT 1L AS id")


@situation
def managed_overwrite_where_other_files_are(spark: Any, tables: Any, at: str) -> Iterator[None]:
    in_warehouse(spark, "managed_overwrite_where_other_files_are")
    yield
    overwritten = spark.range(1).write.format("delta").mode("overwrite")
    overwritten.saveAsTable("managed_overwrite_where_other_files_are")


@situation
def builder_where_other_files_are(spark: Any, tables: Any, at: str) -> Iterator[None]:
    beside(spark, at)
    yield
    tables.createIfNotExists(spark).tableName("not_there").addColumn("id", "LONG").location(at).execute()


@situation
def builder_by_path_where_other_files_are(spark: Any, tables: Any, at: str) -> Iterator[None]:
    beside(spark, at)
    yield
    tables.create(spark).addColumn("id", "LONG").location(at).execute()


@situation
def builder_without_a_place(spark: Any, tables: Any, at: str) -> Iterator[None]:
    yield
    tables.create(spark).addColumn("id", "LONG").execute()


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
