"""`count(*)`: answered by the log where it can be, by the rows elsewhere, and the same either way."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from dml_tables import FEED, VECTORS

import deltaic
from deltaic.tables import DeltaTable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


@pytest.fixture
def path(spark: SparkSession, tmp_path: Path) -> str:
    """A hundred rows in three files, of which ten are deleted."""
    table = str(tmp_path / "t")
    rows = spark.range(0, 100, 1, 3).selectExpr("id", "IF(id % 5 = 0, NULL, id) AS n", "id % 2 AS p")
    deltaic.save(rows, table, partition_by=["p"], **VECTORS, **FEED)
    DeltaTable.forPath(spark, table).delete("id < 10")
    return table


def counted(spark: SparkSession, path: str, **options: Any) -> int:
    return int(spark.read.format("delta").options(**options).load(path).count())


def empty(path: str) -> None:
    """Takes all data files away."""
    for file in Path(path).rglob("*.parquet"):
        file.unlink()


def test_no_file_is_opened(spark: SparkSession, path: str) -> None:
    empty(path)
    assert counted(spark, path) == 90
    assert counted(spark, path, versionAsOf=0) == 100
    both = spark.sql(f"SELECT count(*) AS a, count(1) AS b FROM delta.`{path}`").first()
    assert both.asDict() == {"a": 90, "b": 90}
    twice = spark.sql(
        f"SELECT (SELECT count(*) FROM delta.`{path}`) + (SELECT count(*) FROM delta.`{path}@v0`) AS n"
    )
    assert twice.first().n == 190
    deltaic.write(path, pa.table({"id": [1000], "n": [1], "p": [0]}))
    assert counted(spark, path) == 91


def test_what_asks_for_more_reads_the_rows(spark: SparkSession, path: str) -> None:
    table = spark.read.format("delta").load(path)
    assert table.where("id < 20").count() == 10
    assert table.where("p = 1").count() == 45
    assert table.limit(7).count() == 7
    assert table.union(table).count() == 180
    assert table.dropDuplicates(["p"]).count() == 2
    assert table.selectExpr("count(n)").first()[0] == 72
    assert table.selectExpr("count(DISTINCT p)").first()[0] == 2
    assert table.selectExpr("count(*) FILTER (WHERE id > 49)").first()[0] == 50
    assert table.selectExpr("count(*)", "max(id)").first() == (90, 99)
    assert sorted(map(tuple, table.groupBy("p").count().collect())) == [(0, 45), (1, 45)]
    assert table.selectExpr("explode(array(1, 2))").count() == 180
    assert table.sample(0.5, 3).count() < 90
    assert table.crossJoin(spark.range(2)).count() == 180
    changes = spark.read.format("delta").options(readChangeFeed="true", startingVersion=1).load(path)
    assert changes.count() == 10


def test_files_without_statistics_are_read(spark: SparkSession, path: str) -> None:
    log = Path(path, "_delta_log", f"{0:020}.json")
    actions = [json.loads(line) for line in log.read_text().splitlines()]
    first = next(action["add"] for action in actions if "add" in action)
    del first["stats"]
    log.write_text("".join(json.dumps(action) + "\n" for action in actions))
    assert counted(spark, path, versionAsOf=0) == 100


def test_an_empty_table_has_no_rows(spark: SparkSession, tmp_path: Path) -> None:
    spark.sql(f"CREATE TABLE delta.`{tmp_path}/none` (id INT) USING delta")
    assert counted(spark, f"{tmp_path}/none") == 0
