"""Which way rows take into data files on a classic session, when nobody says which."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest

if TYPE_CHECKING:
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
