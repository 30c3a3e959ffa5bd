"""CREATE TABLE … LIKE: from and to Delta tables, by name and by path."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from bridge_tables import data_files
from pyspark.errors import AnalysisException

import deltaic
from deltaic.exceptions import InvalidFeatureChangeError, SchemaMismatchError, UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

SOURCE = """CREATE TABLE like_source (id BIGINT NOT NULL COMMENT 'key', c VARCHAR(5),
    next BIGINT GENERATED ALWAYS AS (id + 1), p STRING) USING delta PARTITIONED BY (p) COMMENT 'about'
    TBLPROPERTIES ('k' = 'v', 'delta.enableChangeDataFeed' = 'true', 'delta.columnMapping.mode' = 'name',
    'delta.enableRowTracking' = 'true')"""


@pytest.fixture
def warehouse(spark: SparkSession) -> Iterator[Path]:
    """A source with rows and one change of its columns, and the folder of managed tables."""
    spark.sql(SOURCE)
    spark.sql("ALTER TABLE like_source ADD CONSTRAINT small CHECK (id < 100)")
    spark.sql("ALTER TABLE like_source RENAME COLUMN c TO text")
    spark.sql("SELECT 1L AS id, 'x' AS text, 2L AS next, 'a' AS p").writeTo("like_source").append()
    (row,) = spark.sql("DESCRIBE SCHEMA default").where("info_name = 'Location'").collect()
    yield Path(row[1].removeprefix("file:"))
    for name in ("like_made", "like_other", "like_source", "like_bare"):
        spark.sql(f"DROP TABLE IF EXISTS {name}")
    spark.sql("DROP VIEW IF EXISTS like_seen")
    spark.catalog.dropTempView("like_passing")


def test_a_table_like_another_has_all_of_it_but_its_rows(spark: SparkSession, warehouse: Path) -> None:
    spark.sql("CREATE TABLE like_made LIKE like_source")
    ours, source = deltaic.Table(warehouse / "like_made"), deltaic.Table(warehouse / "like_source")
    assert (ours.version, data_files(warehouse / "like_made")) == (0, set())
    assert ours.schema == source.schema
    assert (ours.partition_columns, ours.metadata.description) == (["p"], "about")
    drawn = "delta.rowTracking.materialized"
    kept = {key: value for key, value in source.properties.items() if not key.startswith(drawn)}
    assert {key: value for key, value in ours.properties.items() if not key.startswith(drawn)} == kept
    assert ours.properties[f"{drawn}RowIdColumnName"] != source.properties[f"{drawn}RowIdColumnName"]
    assert ours.protocol == source.protocol
    (said,) = ours.history()
    assert said["operation"] == "CREATE TABLE"
    assert said["operationParameters"]["isManaged"] == "true"
    spark.table("like_source").writeTo("like_made").append()
    assert [tuple(row) for row in spark.table("like_made").collect()] == [(1, "x", 2, "a")]
    with pytest.raises(deltaic.exceptions.InvariantViolationError, match="small"):
        spark.sql("SELECT 100L AS id, 'x' AS text, 101L AS next, 'a' AS p").writeTo("like_made").append()
    spark.sql("DROP TABLE like_made")
    assert not (warehouse / "like_made").exists()
    assert spark.table("like_source").count() == 1


def test_a_name_that_is_taken(spark: SparkSession, warehouse: Path) -> None:
    spark.sql("CREATE TABLE like_made (a INT) USING delta")
    with pytest.raises(AnalysisException, match="already exists"):
        spark.sql("CREATE TABLE like_made LIKE like_source")
    spark.sql("CREATE TABLE IF NOT EXISTS like_made LIKE like_source")
    assert deltaic.Table(warehouse / "like_made").schema.names == ["a"]
    with pytest.raises(AnalysisException, match="TABLE_OR_VIEW_NOT_FOUND"):
        spark.sql("CREATE TABLE like_other LIKE nothing_there USING delta")


def test_properties_and_a_place_of_its_own(spark: SparkSession, warehouse: Path, tmp_path: Path) -> None:
    path = tmp_path / "a b"
    properties = "('k' = 'w', 'l' = 'm', 'delta.enablechangedatafeed' = 'false')"
    spark.sql(
        f"CREATE TABLE like_made LIKE like_source USING delta LOCATION '{path}' TBLPROPERTIES {properties}"
    )
    found = deltaic.Table(path).properties
    assert (found["k"], found["l"], found["delta.enableChangeDataFeed"]) == ("w", "m", "false")
    assert deltaic.Table(path).history()[0]["operationParameters"]["isManaged"] == "false"
    spark.sql("DROP TABLE like_made")
    # the table at the place is one like the source
    spark.sql(f"CREATE TABLE like_made LIKE like_source LOCATION '{path}'")
    spark.sql(f"CREATE TABLE delta.`{tmp_path}/unlike` (a INT) USING delta")
    with pytest.raises(SchemaMismatchError, match="gives the columns"):
        spark.sql(f"CREATE TABLE like_other LIKE like_source LOCATION '{tmp_path}/unlike'")
    with pytest.raises(InvalidFeatureChangeError, match="columnMapping"):
        spark.sql(
            "CREATE TABLE like_other LIKE like_source TBLPROPERTIES ('delta.columnMapping.mode' = 'none')"
        )
    assert not (warehouse / "like_other").exists()


def test_by_path(spark: SparkSession, warehouse: Path, tmp_path: Path) -> None:
    path = tmp_path / "t"
    spark.sql(f"CREATE TABLE delta.`{path}` LIKE like_source")
    with pytest.raises(AnalysisException, match="already exists"):
        spark.sql(f"CREATE TABLE delta.`{path}` LIKE like_source")
    spark.sql(f"CREATE TABLE IF NOT EXISTS delta.`{path}` LIKE like_source USING delta")
    spark.sql(f"CREATE TABLE like_made LIKE delta.`{path}`")
    assert deltaic.Table(warehouse / "like_made").schema == deltaic.Table(path).schema
    assert deltaic.Table(path).version == 0


def test_like_what_is_no_delta_table(spark: SparkSession, warehouse: Path) -> None:
    spark.sql(
        "CREATE TABLE like_bare (a INT COMMENT 'an a', b CHAR(3), p STRING) USING parquet PARTITIONED BY (p)"
        " COMMENT 'about' TBLPROPERTIES ('k' = 'v')"
    )
    spark.sql("CREATE TABLE like_made LIKE like_bare USING delta TBLPROPERTIES ('l' = 'm')")
    table = deltaic.Table(warehouse / "like_made")
    assert (table.version, table.partition_columns, table.metadata.description) == (0, ["p"], "about")
    assert table.properties == {"k": "v", "l": "m"}
    assert [(f.name, f.type) for f in table.schema] == [("a", "integer"), ("b", "string"), ("p", "string")]
    assert table.schema.fields[0].metadata == {"comment": "an a"}
    spark.sql("INSERT INTO like_made VALUES (1, 'x', 'p')")
    assert spark.table("like_made").first().b == "x  "
    spark.sql("CREATE VIEW like_seen AS SELECT id, text FROM like_source")
    spark.sql("CREATE TEMPORARY VIEW like_passing AS SELECT 1 AS one")
    for view, columns in (("like_seen", ["id", "text"]), ("like_passing", ["one"])):
        spark.sql(f"CREATE TABLE like_other LIKE {view} USING delta")
        table = deltaic.Table(warehouse / "like_other")
        assert (table.schema.names, table.properties) == (columns, {})
        spark.sql("DROP TABLE like_other")


def test_another_format_like_a_delta_table(spark: SparkSession, warehouse: Path) -> None:
    spark.sql("CREATE TABLE like_made LIKE like_source USING parquet")
    assert not (warehouse / "like_made" / "_delta_log").exists()
    assert spark.table("like_made").columns == ["id", "text", "next", "p"]
    spark.sql("INSERT INTO like_made VALUES (1, 'x', 2, 'a')")
    assert (warehouse / "like_made" / "p=a").exists()
    with pytest.raises(UnsupportedError, match="STORED AS"):
        spark.sql("CREATE TABLE like_other LIKE like_source STORED AS parquet")


def test_defaults_of_the_session_and_explain(spark: SparkSession, warehouse: Path) -> None:
    key = "spark.databricks.delta.properties.defaults."
    spark.conf.set(f"{key}appendOnly", "true")
    spark.conf.set(f"{key}enableChangeDataFeed", "false")
    try:
        spark.sql("EXPLAIN CREATE TABLE like_made LIKE like_source").collect()
        assert not spark.catalog.tableExists("like_made")
        spark.sql("CREATE TABLE like_made LIKE like_source")
    finally:
        spark.conf.unset(f"{key}appendOnly")
        spark.conf.unset(f"{key}enableChangeDataFeed")
    found = deltaic.Table(warehouse / "like_made").properties
    assert (found["delta.appendOnly"], found["delta.enableChangeDataFeed"]) == ("true", "true")
