"""Conditions and values of functions that Spark's analyzer rewrites into others, such as BETWEEN."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from pyspark.sql.functions import col, expr

from deltaic.tables import DeltaTable

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

CONDITIONS = [
    "id BETWEEN 2 AND 4",
    "id NOT BETWEEN 2 AND 17",
    "s BETWEEN 'a1' AND 'a15' AND id BETWEEN 0 AND 100",
    "CASE WHEN id BETWEEN 3 AND 5 THEN nullif(v, 4) IS NULL ELSE false END",
    "nullif(id, 3) IS NULL",
    "abs(v - 5) BETWEEN id - 5 AND coalesce(nullif(v, 7), 0)",
    "id BETWEEN (SELECT 3) AND (SELECT max(id) - 12 FROM other)",
    "ifnull(nullif(v, 2), 9) = 9",
]


@pytest.fixture
def other(spark: SparkSession) -> None:
    spark.range(20).createOrReplaceTempView("other")


def rows(spark: SparkSession, path: str) -> list[tuple[int, int, str]]:
    return sorted(map(tuple, spark.read.format("delta").load(path).collect()))


@pytest.mark.parametrize("vectors", ["true", "false"])
@pytest.mark.parametrize("condition", CONDITIONS)
@pytest.mark.usefixtures("other")
def test_statements_take_the_rows_that_a_query_takes(
    spark: SparkSession, tmp_path: Path, condition: str, vectors: str
) -> None:
    df = spark.range(20).selectExpr("id", "CAST(id AS INT) AS v", "concat('a', id) AS s")
    expected = sorted(map(tuple, df.where(condition).collect()))
    assert 0 < len(expected) < 20
    others = sorted({*map(tuple, df.collect())} - {*expected})
    for name in ("deleted", "updated", "merged"):
        df.write.format("delta").option("delta.enableDeletionVectors", vectors).save(f"{tmp_path}/{name}")

    spark.sql(f"DELETE FROM delta.`{tmp_path}/deleted` WHERE {condition}")
    assert rows(spark, f"{tmp_path}/deleted") == others

    spark.sql(f"UPDATE delta.`{tmp_path}/updated` SET v = nullif(v, v) WHERE {condition}")
    changed = [(i, None, s) for i, _, s in expected]
    assert sorted(rows(spark, f"{tmp_path}/updated"), key=str) == sorted([*others, *changed], key=str)

    if "SELECT" in condition:
        return  # conditions of clauses have no subqueries
    spark.sql(
        f"MERGE INTO delta.`{tmp_path}/merged` t USING (SELECT id AS k FROM other) u"
        " ON t.id = u.k AND u.k BETWEEN 0 AND 30"
        f" WHEN MATCHED AND {condition} THEN DELETE"
    )
    assert rows(spark, f"{tmp_path}/merged") == others


def test_columns_take_them_too(spark: SparkSession, tmp_path: Path) -> None:
    path = f"{tmp_path}/t"
    spark.range(20).selectExpr("id", "CAST(id AS INT) AS v").write.format("delta").save(path)
    DeltaTable.forPath(spark, path).delete(col("id").between(2, 4))
    DeltaTable.forPath(spark, path).update(expr("v BETWEEN 5 AND 6"), {"v": expr("nullif(v, 5)")})
    found = sorted(map(tuple, spark.read.format("delta").load(path).collect()))
    assert found == [(i, None if i == 5 else i) for i in range(20) if not 2 <= i <= 4]
