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
    for name in ("made", "other", "like_source", "bare"):
        spark.sql(f"DROP TABLE IF EXISTS {name}")
    spark.sql("DROP VIEW IF EXISTS seen")
    spark.catalog.dropTempView("passing")


def test_a_table_like_another_has_all_of_it_but_its_rows(spark: SparkSession, warehouse: Path) -> None:
    spark.sql("CREATE TABLE made LIKE like_source")
    ours, source = deltaic.Table(warehouse / "made"), deltaic.Table(warehouse / "like_source")
    assert (ours.version, data_files(warehouse / "made")) == (0, set())
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
    spark.table("like_source").writeTo("made").append()
    assert [tuple(row) for row in spark.table("made").collect()] == [(1, "x", 2, "a")]
    with pytest.raises(deltaic.exceptions.InvariantViolationError, match="small"):
        spark.sql("SELECT 100L AS id, 'x' AS text, 101L AS next, 'a' AS p").writeTo("made").append()
    spark.sql("DROP TABLE made")
    assert not (warehouse / "made").exists()
    assert spark.table("like_source").count() == 1


def test_a_name_that_is_taken(spark: SparkSession, warehouse: Path) -> None:
    spark.sql("CREATE TABLE made (a INT) USING delta")
    with pytest.raises(AnalysisException, match="already exists"):
        spark.sql("CREATE TABLE made LIKE like_source")
    spark.sql("CREATE TABLE IF NOT EXISTS made LIKE like_source")
    assert deltaic.Table(warehouse / "made").schema.names == ["a"]
    with pytest.raises(AnalysisException, match="TABLE_OR_VIEW_NOT_FOUND"):
        spark.sql("CREATE TABLE other LIKE nothing_there USING delta")


def test_properties_and_a_place_of_its_own(spark: SparkSession, warehouse: Path, tmp_path: Path) -> None:
    path = tmp_path / "a b"
    properties = "('k' = 'w', 'l' = 'm', 'delta.enablechangedatafeed' = 'false')"
    spark.sql(f"CREATE TABLE made LIKE like_source USING delta LOCATION '{path}' TBLPROPERTIES {properties}")
    found = deltaic.Table(path).properties
    assert (found["k"], found["l"], found["delta.enableChangeDataFeed"]) == ("w", "m", "false")
    assert deltaic.Table(path).history()[0]["operationParameters"]["isManaged"] == "false"
    spark.sql("DROP TABLE made")
    # the table at the place is one like the source
    spark.sql(f"CREATE TABLE made LIKE like_source LOCATION '{path}'")
    spark.sql(f"CREATE TABLE delta.`{tmp_path}/unlike` (a INT) USING delta")
    with pytest.raises(SchemaMismatchError, match="gives the columns"):
        spark.sql(f"CREATE TABLE other LIKE like_source LOCATION '{tmp_path}/unlike'")
    with pytest.raises(InvalidFeatureChangeError, match="columnMapping"):
        spark.sql("CREATE TABLE other LIKE like_source TBLPROPERTIES ('delta.columnMapping.mode' = 'none')")
    assert not (warehouse / "other").exists()


def test_by_path(spark: SparkSession, warehouse: Path, tmp_path: Path) -> None:
    path = tmp_path / "t"
    spark.sql(f"CREATE TABLE delta.`{path}` LIKE like_source")
    with pytest.raises(AnalysisException, match="already exists"):
        spark.sql(f"CREATE TABLE delta.`{path}` LIKE like_source")
    spark.sql(f"CREATE TABLE IF NOT EXISTS delta.`{path}` LIKE like_source USING delta")
    spark.sql(f"CREATE TABLE made LIKE delta.`{path}`")
    assert deltaic.Table(warehouse / "made").schema == deltaic.Table(path).schema
    assert deltaic.Table(path).version == 0


def test_like_what_is_no_delta_table(spark: SparkSession, warehouse: Path) -> None:
    spark.sql(
        "CREATE TABLE bare (a INT COMMENT 'an a', b CHAR(3), p STRING) USING parquet PARTITIONED BY (p)"
        " COMMENT 'about' TBLPROPERTIES ('k' = 'v')"
    )
    spark.sql("CREATE TABLE made LIKE bare USING delta TBLPROPERTIES ('l' = 'm')")
    table = deltaic.Table(warehouse / "made")
    assert (table.version, table.partition_columns, table.metadata.description) == (0, ["p"], "about")
    assert table.properties == {"k": "v", "l": "m"}
    assert [(f.name, f.type) for f in table.schema] == [("a", "integer"), ("b", "string"), ("p", "string")]
    assert table.schema.fields[0].metadata == {"comment": "an a"}
    spark.sql("INSERT INTO made VALUES (1, 'x', 'p')")
    assert spark.table("made").first().b == "x  "
    spark.sql("CREATE VIEW seen AS SELECT id, text FROM like_source")
    spark.sql("CREATE TEMPORARY VIEW passing AS SELECT 1 AS one")
    for view, columns in (("seen", ["id", "text"]), ("passing", ["one"])):
        spark.sql(f"CREATE TABLE other LIKE {view} USING delta")
        table = deltaic.Table(warehouse / "other")
        assert (table.schema.names, table.properties) == (columns, {})
        spark.sql("DROP TABLE other")


def test_another_format_like_a_delta_table(spark: SparkSession, warehouse: Path) -> None:
    spark.sql("CREATE TABLE made LIKE like_source USING parquet")
    assert not (warehouse / "made" / "_delta_log").exists()
    assert spark.table("made").columns == ["id", "text", "next", "p"]
    spark.sql("INSERT INTO made VALUES (1, 'x', 2, 'a')")
    assert (warehouse / "made" / "p=a").exists()
    with pytest.raises(UnsupportedError, match="STORED AS"):
        spark.sql("CREATE TABLE other LIKE like_source STORED AS parquet")


def test_defaults_of_the_session_and_explain(spark: SparkSession, warehouse: Path) -> None:
    key = "spark.databricks.delta.properties.defaults."
    spark.conf.set(f"{key}appendOnly", "true")
    spark.conf.set(f"{key}enableChangeDataFeed", "false")
    try:
        spark.sql("EXPLAIN CREATE TABLE made LIKE like_source").collect()
        assert not spark.catalog.tableExists("made")
        spark.sql("CREATE TABLE made LIKE like_source")
    finally:
        spark.conf.unset(f"{key}appendOnly")
        spark.conf.unset(f"{key}enableChangeDataFeed")
    found = deltaic.Table(warehouse / "made").properties
    assert (found["delta.appendOnly"], found["delta.enableChangeDataFeed"]) == ("true", "true")
