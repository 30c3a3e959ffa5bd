"""Statements in sessions of their own, through views, with parameters, explained and executed from text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from pyspark.errors import AnalysisException, PySparkException

import deltaic

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyspark.sql import SparkSession


@pytest.fixture
def path(spark: SparkSession, tmp_path: Path) -> Iterator[Path]:
    """Ids from 0 to 9 and `p` = `id % 3`, also known as `people`; deltaic has committed one version."""
    path = tmp_path / "t"
    spark.range(10).selectExpr("id", "id % 3 AS p").write.format("delta").save(str(path))
    spark.sql(f"CREATE TABLE people USING delta LOCATION '{path}'")
    yield path
    spark.catalog.dropTempView("seen")
    spark.sql("DROP TABLE IF EXISTS people")


def ids(spark: SparkSession, table: str = "people") -> list[int]:
    return sorted(r.id for r in spark.table(table).collect())


def test_a_new_session_has_every_api(spark: SparkSession, another: Any, path: Path) -> None:
    other = another()
    for statement in (
        "INSERT INTO people VALUES (10, 1)",
        "DELETE FROM people WHERE id < 5",
        "UPDATE people SET p = 7 WHERE id = 5",
        "MERGE INTO people t USING (SELECT 6L AS id) s ON t.id = s.id WHEN MATCHED THEN DELETE",
        "OPTIMIZE people",
        "ALTER TABLE people ADD CONSTRAINT small CHECK (id < 100)",
        "INSERT OVERWRITE people SELECT id, p FROM people WHERE id > 7",
    ):
        before = deltaic.Table(path).version
        other.sql(statement)
        assert deltaic.Table(path).version == before + 1, statement
    assert ids(other) == ids(spark) == [8, 9, 10]
    assert other.sql("DESCRIBE HISTORY people").count() == 8
    # a setting of one session is not one of the other
    other.conf.set("spark.databricks.delta.commitInfo.userMetadata", "of the other")
    other.sql("INSERT INTO people VALUES (11, 1)")
    spark.sql("INSERT INTO people VALUES (12, 1)")
    assert [h.get("userMetadata") for h in deltaic.Table(path).history(2)] == [None, "of the other"]


def test_a_view_shows_what_anyone_committed(spark: SparkSession, another: Any, path: Path) -> None:
    spark.sql("CREATE TEMPORARY VIEW seen AS SELECT * FROM people WHERE id > 7")
    assert ids(spark, "seen") == [8, 9]
    deltaic.Table(path).delete("id = 8")
    assert ids(spark, "seen") == [9]
    spark.sql("INSERT INTO people SELECT id + 100, p FROM seen")
    assert ids(spark, "seen") == [9, 109]
    merged = "MERGE INTO people t USING seen s ON t.id = s.id WHEN MATCHED THEN UPDATE SET p = -1"
    assert spark.sql(merged).collect()[0].num_updated_rows == 2
    with pytest.raises(AnalysisException):
        _ = another().table("seen").schema


def test_parameters(spark: SparkSession, path: Path) -> None:
    spark.sql("INSERT INTO people VALUES (:id, :p)", args={"id": 20, "p": 5})
    spark.sql("INSERT INTO people VALUES (?, ?)", args=[21, 5])
    spark.sql("UPDATE people SET p = :p WHERE id = :id", args={"id": 20, "p": 6})
    assert spark.sql("DELETE FROM people WHERE id IN (?, ?)", args=[0, 1]).collect()[0][0] == 2
    spark.sql(
        "MERGE INTO people t USING (SELECT :id AS id) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET p = :p",
        args={"id": 21, "p": 9},
    )
    found = spark.sql(
        "SELECT * FROM IDENTIFIER(:t) WHERE id >= :id ORDER BY id", args={"t": "people", "id": 20}
    )
    assert [tuple(r) for r in found.collect()] == [(20, 6), (21, 9)]
    old = spark.sql("SELECT count(*) AS n FROM people VERSION AS OF 0 WHERE id < :id", args={"id": 5})
    assert old.collect()[0].n == 5
    spark.sql("DELETE FROM IDENTIFIER(:t) WHERE id > 2", args={"t": "people"})
    assert ids(spark) == [2]


def test_execute_immediate(spark: SparkSession, path: Path) -> None:
    spark.sql("EXECUTE IMMEDIATE 'INSERT INTO people VALUES (?, ?)' USING 20, 5")
    spark.sql("EXECUTE IMMEDIATE 'DELETE FROM people WHERE id < :id' USING 19 AS id")
    assert ids(spark) == [20]
    assert spark.sql("EXECUTE IMMEDIATE 'DESCRIBE HISTORY people LIMIT 1'").collect()[0].operation == "DELETE"
    spark.sql("EXECUTE IMMEDIATE 'OPTIMIZE people'")
    assert deltaic.Table(path).version >= 2
    spark.sql("DECLARE VARIABLE stated STRING DEFAULT 'DESCRIBE DETAIL people'")
    assert spark.sql("EXECUTE IMMEDIATE stated").collect()[0].format == "delta"
    spark.sql("DROP TEMPORARY VARIABLE stated")


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO people VALUES (100, 9)",
        "INSERT OVERWRITE people VALUES (100, 9)",
        "DELETE FROM people WHERE id = 1",
        "UPDATE people SET p = 0",
        "MERGE INTO people t USING (SELECT 1L AS id) s ON t.id = s.id WHEN MATCHED THEN DELETE",
        "CREATE TABLE made USING delta AS SELECT 1 AS a",
        "CREATE OR REPLACE TABLE people USING delta AS SELECT 1 AS a",
        "TRUNCATE TABLE people",
        "SHOW PARTITIONS people",
        "ALTER TABLE people ADD COLUMN more INT",
    ],
)
@pytest.mark.parametrize("how", ["", "EXTENDED", "FORMATTED"])
def test_explain_runs_nothing(spark: SparkSession, path: Path, statement: str, how: str) -> None:
    files = sorted(path.rglob("*"))
    assert spark.sql(f"EXPLAIN {how} {statement}").collect()[0][0]
    assert sorted(path.rglob("*")) == files
    assert not spark.catalog.tableExists("made")


def test_a_mistake_is_an_error_before_anything_runs(spark: SparkSession, path: Path) -> None:
    for statement in (
        "DELETE FROM people WHERE nope = 1",
        "INSERT INTO people VALUES (:id, 1)",
        "OPTIMIZE people ZORDER",
    ):
        with pytest.raises((PySparkException, deltaic.exceptions.DeltaError)):
            spark.sql(statement)
    # what Spark's parser raises itself goes through ours as it is
    with pytest.raises(AnalysisException, match="UNBOUND_SQL_PARAMETER"):
        spark.sql("SELECT :id", args={"other": 1}).collect()
    assert deltaic.Table(path).version == 0
