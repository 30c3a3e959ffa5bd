"""DELETE, UPDATE, MERGE and TRUNCATE in SQL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from pyspark.errors import AnalysisException

import deltaic
from deltaic.exceptions import InvalidPredicateError, InvariantViolationError
from deltaic.spark.dml.matches import MultipleMatchesError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyspark.sql import SparkSession


@pytest.fixture
def path(spark: SparkSession, tmp_path: Path) -> Iterator[str]:
    """Ids from 0 to 9, `p` = `id % 3`, and a struct; also known as `people`."""
    path = str(tmp_path / "t")
    rows = spark.range(10).selectExpr("id", "id % 3 AS p", "struct(id AS a, 'x' AS b) AS s")
    rows.write.format("delta").save(path)
    spark.sql(f"CREATE TABLE people USING delta LOCATION '{path}'")
    yield path
    spark.sql("DROP TABLE IF EXISTS people")


def counts(spark: SparkSession, statement: str) -> tuple[int, ...]:
    (row,) = spark.sql(statement).collect()
    return tuple(row)


def ids(spark: SparkSession, where: str = "true") -> list[int]:
    return [r[0] for r in spark.table("people").where(where).orderBy("id").select("id").collect()]


CONDITIONS: dict[str, list[int]] = {
    "id = 1": [1],
    "people.id = 1 AND s.a = 1": [1],
    "s.b = 'y'": [],
    "id IN (SELECT id FROM people WHERE p = 0)": [0, 3, 6, 9],
    "id IN (SELECT r.id FROM range(3) r WHERE r.id = people.id AND people.p > 0)": [1, 2],
    "EXISTS (SELECT 1 FROM range(5) AS r WHERE r.id = people.id)": [0, 1, 2, 3, 4],
    "id > (SELECT max(id) - 2 FROM people)": [8, 9],
    "CAST(NULL AS BOOLEAN)": [],
    "true": list(range(10)),
}


@pytest.mark.parametrize("condition", CONDITIONS)
class TestConditions:
    def test_delete(self, spark: SparkSession, path: str, condition: str) -> None:
        expected = CONDITIONS[condition]
        counted = counts(spark, f"DELETE FROM people WHERE {condition}")
        assert counted == (len(expected),)
        assert ids(spark) == [i for i in range(10) if i not in expected]
        assert deltaic.Table(path).version == (1 if expected else 0)

    def test_update(self, spark: SparkSession, path: str, condition: str) -> None:
        expected = CONDITIONS[condition]
        assert counts(spark, f"UPDATE people SET p = id * 100, s.b = 'new' WHERE {condition}") == (
            len(expected),
        )
        assert ids(spark, "p = id * 100 AND s.b = 'new' AND s.a = id") == expected
        assert len(ids(spark)) == 10
        assert deltaic.Table(path).version == (1 if expected else 0)


class TestMerge:
    def test_stars_and_conditions(self, spark: SparkSession, path: str) -> None:
        source = "SELECT id, id * 2 AS p, struct(id AS a, 'new' AS b) AS s FROM range(8, 12)"
        statement = (
            f"MERGE INTO people t USING ({source}) s ON t.id = s.id WHEN MATCHED AND s.id = 8 THEN DELETE"
            " WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
            " WHEN NOT MATCHED BY SOURCE AND t.p = 0 THEN UPDATE SET p = -1"
        )
        assert counts(spark, statement) == (7, 4, 1, 2)
        assert ids(spark, "p = -1") == [0, 3, 6]
        assert ids(spark, "s.b = 'new'") == [9, 10, 11]
        assert deltaic.Table(path).version == 1

    def test_a_table_with_itself_and_columns_of_equal_names(self, spark: SparkSession, path: str) -> None:
        statement = (
            "MERGE INTO people USING (SELECT * FROM people a JOIN range(3) b ON a.id = b.id) AS src"
            " ON people.p = src.p AND people.id = src.s.a WHEN MATCHED THEN UPDATE SET p = src.p + 1000"
        )
        assert counts(spark, statement) == (3, 3, 0, 0)
        assert ids(spark, "p >= 1000") == [0, 1, 2]

    def test_the_source_has_the_name_of_the_table(self, spark: SparkSession, path: str) -> None:
        spark.range(2).createOrReplaceTempView("people_view")
        counted = counts(
            spark,
            "MERGE INTO people USING people ON false WHEN NOT MATCHED THEN INSERT (id) VALUES (people.id + 50)",
        )
        assert counted == (10, 0, 0, 10)

    def test_columns_join_with_schema_evolution(self, spark: SparkSession, path: str) -> None:
        statement = (
            "MERGE WITH SCHEMA EVOLUTION INTO people t USING (SELECT 1L AS id, 'new' AS extra UNION ALL"
            " SELECT 20L, 'other') s ON t.id = s.id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
        )
        assert counts(spark, statement) == (2, 1, 0, 1)
        assert spark.table("people").columns == ["id", "p", "s", "extra"]
        found = (
            spark.table("people")
            .where("extra IS NOT NULL")
            .orderBy("id")
            .select("id", "p", "extra")
            .collect()
        )
        assert [tuple(r) for r in found] == [(1, 1, "new"), (20, None, "other")]

    def test_the_data_frame_api_of_spark(self, spark: SparkSession, path: str) -> None:
        from pyspark.sql import functions as F  # noqa: N812

        source = spark.sql("SELECT 3L AS id, 77L AS p, struct(1L AS a, 'q' AS b) AS s").alias("src")
        source.mergeInto("people", F.expr("people.id = src.id")).whenMatched().updateAll().merge()
        assert ids(spark, "p = 77") == [3]

    def test_errors_are_our_own(self, spark: SparkSession, path: str) -> None:
        with pytest.raises(MultipleMatchesError):
            spark.sql(
                "MERGE INTO people t USING (SELECT explode(array(1L, 1L)) AS id) s ON t.id = s.id"
                " WHEN MATCHED THEN UPDATE SET p = 1"
            )
        with pytest.raises(InvalidPredicateError, match="deterministic"):
            spark.sql("UPDATE people SET p = rand()")
        with pytest.raises(AnalysisException, match="nope"):
            spark.sql("UPDATE people SET nope = 1")
        spark.sql("ALTER TABLE people ADD CONSTRAINT small CHECK (p < 10)")
        with pytest.raises(InvariantViolationError, match="small"):
            spark.sql("UPDATE people SET p = 11")
        assert deltaic.Table(path).version == 1


def test_a_statement_runs_once(spark: SparkSession, path: str) -> None:
    answer = spark.sql("UPDATE people SET p = p + 1")
    answer.collect()
    answer.count()
    assert deltaic.Table(path).version == 1
    plan = spark.sql("EXPLAIN DELETE FROM people").collect()[0][0]
    assert "delete" in plan
    assert deltaic.Table(path).version == 1


def test_truncate(spark: SparkSession, path: str) -> None:
    spark.sql("TRUNCATE TABLE people")
    assert ids(spark) == []
    assert deltaic.Table(path).history(1)[0]["operation"] == "TRUNCATE"
    assert deltaic.Table(path).version == 1


def test_by_path_in_a_new_session(spark: SparkSession, another: Any, path: str) -> None:
    other: Any = another()
    assert counts(other, f"DELETE FROM delta.`{path}` WHERE id < 5") == (5,)
    assert counts(other, f"UPDATE delta.`{path}` AS t SET p = 0 WHERE t.id = 7") == (1,)
    assert ids(spark) == [5, 6, 7, 8, 9]
