"""ALTER TABLE."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from error_situations.play import by_sql, ids, situation

if TYPE_CHECKING:
    from collections.abc import Iterator


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
