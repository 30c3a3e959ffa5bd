"""The folder of a partition as the path of a read, by deltaic and by delta-spark."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from pyspark.errors import PySparkException

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import DeltaSpark, Same
    from pyspark.sql import SparkSession

FOLDERS = [
    "k=1",
    "k=2/",
    "k=1/l=a",
    "l=a",
    "l=a/k=2",
    "k=3/l=x%20y",
    "k=3/l=x y",
    "k=4/day=2024-01-31",
    "day=2024-01-31@v1",
    "k=1@v2",
]
NONE = ["k=9", "k=7", "k=abc"]
OTHER, NO_FOLDER = "DELTA_NON_PARTITION_COLUMN_SPECIFIED", "DELTA_INVALID_PARTITION_PATH"
WRONG = {"K=1": OTHER, "z=1": OTHER, "id=1": OTHER, "k=1/id=1": OTHER, "k=1/other": NO_FOLDER}


@pytest.fixture(scope="module")
def table(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("partitions") / "t"
    at = f"delta.`{path}`"
    spark.sql(f"CREATE TABLE {at} (id INT, k INT, l STRING, day DATE) USING delta PARTITIONED BY (k, l, day)")
    values = "(1, 1, 'a', NULL), (2, 1, 'b', NULL), (3, 2, 'a', NULL), (4, 3, 'x y', NULL)"
    spark.sql(f"INSERT INTO {at} VALUES {values}, (5, 4, 'b', DATE '2024-01-31')")
    spark.sql(f"INSERT INTO {at} VALUES (6, 1, 'a', NULL), (7, 7, 'a', NULL)")
    spark.sql(f"DELETE FROM {at} WHERE id = 7")
    return path


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_folder_reads_its_partitions(
    spark: SparkSession, delta_spark: DeltaSpark, same: Same, table: Path, folder: str
) -> None:
    found = spark.read.format("delta").load(f"{table}/{folder}")
    rows = delta_spark.read(f"{table}/{folder}")
    assert rows.num_rows
    same(found.toArrow(), rows)
    assert found.count() == rows.num_rows


@pytest.mark.parametrize("folder", NONE)
def test_both_refuse_a_partition_that_is_none(
    spark: SparkSession, delta_spark: DeltaSpark, table: Path, folder: str
) -> None:
    with pytest.raises(AssertionError, match=r"DELTA_|CAST_INVALID_INPUT"):
        delta_spark.read(f"{table}/{folder}")
    with pytest.raises(Exception, match=r"no Delta table at|path: "):
        spark.read.format("delta").load(f"{table}/{folder}")


@pytest.mark.parametrize("folder", WRONG)
def test_both_refuse_a_folder_that_is_none(
    spark: SparkSession, delta_spark: DeltaSpark, table: Path, folder: str
) -> None:
    with pytest.raises(AssertionError, match=WRONG[folder]):
        delta_spark.read(f"{table}/{folder}")
    with pytest.raises(PySparkException) as error:
        spark.read.format("delta").load(f"{table}/{folder}")
    assert error.value.getCondition() == WRONG[folder]
