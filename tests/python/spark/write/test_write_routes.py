"""Which way rows take into data files on a classic session, when nobody says which."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import doors
import pyarrow as pa
import pyarrow.parquet as pq
import pyspark
import pytest
from pyspark.errors import ArithmeticException
from spark_jobs import jobs_of

import deltaic

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import SparkSession

SPARK, CORE = "parquet-mr", "deltaic"


@pytest.mark.parametrize(
    ("rows", "columns", "by", "writer"),
    [
        (3000, ["id", "id % 3 AS p"], [], SPARK),
        # Spark would sort them
        (3000, ["id", "id % 3 AS p"], ["p"], CORE),
        (3000, ["named_struct('id', id) AS id", "id % 3 AS p"], ["p"], SPARK),
        # they come to the driver
        (30, ["id", "id % 3 AS p"], [], CORE),
    ],
)
def test_who_writes(
    spark: SparkSession, rows: int, columns: list[str], by: list[str], writer: str, tmp_path: Path
) -> None:
    if by and doors.workers():
        writer = SPARK  # executors on other machines may lack deltaic
    data = spark.range(0, rows, 1, 2).selectExpr(*columns)
    data.write.format("delta").partitionBy(*by).save(str(tmp_path / "t"))
    files = (tmp_path / "t").rglob("part-*.parquet")
    assert {pq.read_metadata(file).created_by.split()[0] for file in files} == {writer}
    assert spark.read.format("delta").load(str(tmp_path / "t")).count() == rows


def test_every_task_has_one_file_in_each_of_many_partitions(spark: SparkSession, tmp_path: Path) -> None:
    data = spark.range(0, 60_000, 1, 2).selectExpr("id", "id % 200 AS p")
    data.write.format("delta").partitionBy("p").save(str(tmp_path / "t"))
    assert len(list((tmp_path / "t").rglob("part-*.parquet"))) == 400
    assert spark.read.format("delta").load(str(tmp_path / "t")).where("id % 200 = p").count() == 60_000


@pytest.mark.parametrize(
    "query",
    [
        "SELECT 1 AS id, TIMESTAMP '2024-05-01 12:00:00' AS at, ARRAY(1, NULL) AS l, MAP('k', 1.5BD) AS m",
        "SELECT * FROM VALUES (1, 'a'), (2, NULL) AS v(id, s) WHERE id > 0",
        "SELECT id, named_struct('x', CAST(id AS DOUBLE), 'd', DATE '2024-05-01') AS s FROM range(-3, 900, 7)",
        "SELECT id, uuid() AS u, rand() AS r FROM range(3)",
    ],
)
@pytest.mark.classic("counts the jobs of its Spark context")
def test_rows_that_the_optimizer_holds_are_written_without_a_job(
    spark: SparkSession, query: str, tmp_path: Path, setting: Callable[[str, str], None]
) -> None:
    setting("spark.sql.session.timeZone", "Asia/Tokyo")
    path = str(tmp_path / "t")
    assert jobs_of(spark, lambda: spark.sql(query).write.format("delta").save(path)) == 0
    df = spark.sql(query)
    written = spark.read.format("delta").load(path)
    assert [f.dataType.simpleString() for f in written.schema] == [
        f.dataType.simpleString() for f in df.schema
    ]
    if "rand" in query:
        assert written.where("length(u) = 36 AND r BETWEEN 0 AND 1").count() == 3
    else:
        assert sorted(map(str, written.collect())) == sorted(map(str, df.collect()))


@pytest.mark.classic("counts the jobs of its Spark context")
def test_rows_of_the_driver_are_written_without_a_job(spark: SparkSession, tmp_path: Path) -> None:
    path = str(tmp_path / "t")
    df = spark.createDataFrame(pa.table({"id": range(5000), "s": ["x", None] * 2500}))
    assert jobs_of(spark, lambda: df.selectExpr("id + 1 AS id", "s").write.format("delta").save(path)) == 0
    written = spark.read.format("delta").load(path)
    assert written.selectExpr("count(s)", "sum(id)", "max(id)").first() == (2500, 12_502_500, 5000)


def test_a_value_that_cannot_be_computed_leaves_no_table(spark: SparkSession, tmp_path: Path) -> None:
    df = spark.range(3).selectExpr("1 / (id - 1) AS x")
    with pytest.raises(ArithmeticException, match="DIVIDE_BY_ZERO"):
        df.write.format("delta").save(str(tmp_path / "t"))
    assert not list(tmp_path.rglob("*.parquet"))
    assert not (tmp_path / "t" / "_delta_log").exists()


@pytest.mark.parametrize("rows", [3, 3000])
@pytest.mark.parametrize("by", [[], ["p"]])
def test_variants_on_every_route(spark: SparkSession, rows: int, by: list[str], tmp_path: Path) -> None:
    path = str(tmp_path / "t")
    value = 'parse_json(concat(\'{"id":\', id, \',"s":[null,1.5,"x"]}\')) AS v'
    spark.range(rows).selectExpr("id", "id % 2 AS p", value).write.format("delta").partitionBy(*by).save(path)
    written = spark.read.format("delta").load(path)
    assert written.schema["v"].dataType.simpleString() == "variant"
    assert (
        written.where(
            "variant_get(v, '$.id', 'long') = id AND variant_get(v, '$.s[2]', 'string') = 'x'"
        ).count()
        == rows
    )


@pytest.mark.parametrize("said", ["false", "true"])
def test_variants_are_shredded_where_the_table_says_so(
    spark: SparkSession, said: str, tmp_path: Path
) -> None:
    path, shredded = str(tmp_path / "t"), said == "true"
    property_of = f"TBLPROPERTIES ('delta.enableVariantShredding' = '{said}')"
    spark.sql(f"CREATE TABLE delta.`{path}` (id LONG, v VARIANT) USING delta {property_of}")
    text = """concat('{"id":', id, ',"s":"x"}')"""
    rows = spark.range(3000).selectExpr("id", f"parse_json({text}) AS v")
    # what the session says is of tables of other formats
    spark.conf.set("spark.sql.variant.inferShreddingSchema", str(not shredded).lower())
    try:
        rows.write.format("delta").mode("append").option("deltaicRoute", "direct").save(path)
    finally:
        spark.conf.unset("spark.sql.variant.inferShreddingSchema")
    [*files] = (tmp_path / "t").rglob("part-*.parquet")
    typed = {any("typed_value" in column.path for column in pq.ParquetFile(f).schema) for f in files}
    assert typed == {shredded and not pyspark.__version__.startswith("4.0.")}
    # Spark cannot compute variant_get on shredded ones without code generation
    read = lambda: spark.read.format("delta").load(path)  # noqa: E731
    assert read().where(f"to_json(v) = {text}").count() == 3000
    opened = deltaic.Table(path)
    statistics = pa.table(opened.files(stats=True))["stats"].to_pylist()
    assert {json.loads(text)["nullCount"]["v"] for text in statistics} == {0}
    assert not opened.verify(deep=True).findings
    opened.optimize()
    assert read().where(f"to_json(v) = {text}").count() == 3000


@pytest.mark.parametrize(
    ("query", "tasks"),
    [
        ("SELECT /*+ REPARTITION(4) */ * FROM range(20)", 4),
        ("SELECT /*+ REPARTITION_BY_RANGE(3, id) */ * FROM range(20)", 3),
        ("SELECT /*+ COALESCE(2) */ * FROM range(0, 20, 1, 4)", 2),
        ("SELECT /*+ REPARTITION(1) */ * FROM range(20)", 1),
        (
            "SELECT * FROM (SELECT /*+ REPARTITION(4) */ * FROM range(20)) WHERE id >= 0 ORDER BY id LIMIT 8",
            1,
        ),
    ],
)
def test_few_rows_are_written_by_as_many_tasks_as_were_asked_for(
    spark: SparkSession, query: str, tasks: int, tmp_path: Path
) -> None:
    spark.sql(query).write.format("delta").save(str(tmp_path / "t"))
    spark.sql(f"INSERT INTO delta.`{tmp_path / 't'}` {query}")
    assert len(list((tmp_path / "t").rglob("part-*.parquet"))) == 2 * tasks
