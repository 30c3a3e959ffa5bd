"""Batches of few rows, which the driver fetches and writes itself, and what follows them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from streams import append, ids, run

import deltaic
from deltaic import exceptions
from deltaic.tables import DeltaTable

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
MANY = 30_000


def stream(spark: SparkSession, path: Path, files: int = 1) -> Any:
    return spark.readStream.format("delta").option("maxFilesPerTrigger", files).load(str(path))


def files_added(table: Path) -> list[list[dict[str, Any]]]:
    """What each commit of a table added, the first one left out, with the number of rows."""
    found = []
    for commit in sorted((table / "_delta_log").glob("*.json"))[1:]:
        adds = [json.loads(line).get("add") for line in commit.read_text().splitlines()]
        found.append([{**add, "rows": json.loads(add["stats"])["numRecords"]} for add in adds if add])
    return found


def test_small_batches_after_the_first_have_one_file_each(spark: SparkSession, tmp_path: Path) -> None:
    for n in range(6):
        append(spark, tmp_path / "t", [n])
    run(stream(spark, tmp_path / "t", 2), tmp_path / "to", tmp_path / "c")
    assert [[add["rows"] for add in adds] for adds in files_added(tmp_path / "to")] == [[2], [2]]
    assert ids(spark, tmp_path / "to") == [*range(6)]


def test_rows_are_spread_over_the_tasks_that_a_query_asks_for(spark: SparkSession, tmp_path: Path) -> None:
    for n in range(3):
        append(spark, tmp_path / "t", range(n * 40, n * 40 + 40))
    run(stream(spark, tmp_path / "t").repartition(3), tmp_path / "to", tmp_path / "c")
    assert [len(adds) for adds in files_added(tmp_path / "to")] == [3, 3]


def test_many_tasks_write_their_rows(
    spark: SparkSession, tmp_path: Path, setting: Callable[[str, str], None]
) -> None:
    """Of each of them the driver would have to expect many rows."""
    # more than a file has, and less than Spark adds for opening it: one file a task
    setting("spark.sql.files.maxPartitionBytes", "100000")
    for n in range(26):
        append(spark, tmp_path / "t", [n])
    run(stream(spark, tmp_path / "t", 13), tmp_path / "to", tmp_path / "c")
    assert [len(adds) for adds in files_added(tmp_path / "to")] == [13]
    assert ids(spark, tmp_path / "to") == [*range(26)]


@pytest.mark.classic("asks a query that has ended for its progress")
def test_a_large_batch_may_follow_small_ones(spark: SparkSession, tmp_path: Path) -> None:
    """Each row is written once, and counted once in the progress of the query."""
    for rows in (range(2), range(2, 4), range(4, MANY), range(MANY, MANY + 2), range(MANY + 2, MANY + 4)):
        append(spark, tmp_path / "t", rows)
    query = run(stream(spark, tmp_path / "t"), tmp_path / "to", tmp_path / "c")
    assert ids(spark, tmp_path / "to") == [*range(MANY + 4)]
    read = [progress["numInputRows"] for progress in query.recentProgress]
    assert [rows for rows in read if rows] == [2, 2, MANY - 4, 2, 2]


@pytest.mark.classic("asks a query that has ended for its progress")
def test_metrics_of_the_user_are_those_of_the_whole_batch(spark: SparkSession, tmp_path: Path) -> None:
    from pyspark.sql import functions as F  # noqa: N812

    for rows in (range(2), range(2, MANY), range(MANY, MANY + 3)):
        append(spark, tmp_path / "t", rows)
    observed = stream(spark, tmp_path / "t").observe("seen", F.count(F.lit(1)).alias("rows"))
    query = run(observed, tmp_path / "to", tmp_path / "c")
    seen = [progress["observedMetrics"]["seen"]["rows"] for progress in query.recentProgress]
    assert [rows for rows in seen if rows] == [2, MANY - 2, 3]


@pytest.mark.parametrize("mode", ["append", "complete"])
def test_queries_with_state(spark: SparkSession, tmp_path: Path, mode: str) -> None:
    """The tasks write its batches, however few rows they have: no state is committed twice."""
    batches = [range(3), range(1, 5), range(2, MANY), range(10, MANY + 1), range(4)]
    for rows in batches:
        append(spark, tmp_path / "t", rows)
    rows = stream(spark, tmp_path / "t")
    rows = rows.dropDuplicates(["id"]) if mode == "append" else rows.groupBy("id").count()
    writer = rows.writeStream.format("delta").outputMode(mode).trigger(availableNow=True)
    query = writer.option("checkpointLocation", str(tmp_path / "c")).start(str(tmp_path / "to"))
    query.awaitTermination()
    assert ids(spark, tmp_path / "to") == [*range(MANY + 1)]
    # one for each task that has rows
    assert len(files_added(tmp_path / "to")[0]) == 2
    if mode == "complete":
        times = deltaic.read(spark, str(tmp_path / "to")).groupBy().sum("count").collect()[0][0]
        assert times == sum(map(len, batches))


def test_rules_of_the_table_hold(spark: SparkSession, tmp_path: Path) -> None:
    to = tmp_path / "to"
    builder = DeltaTable.create(spark).location(str(to)).addColumn("id", "BIGINT").addColumn("p", "BIGINT")
    builder.addColumn("q", "BIGINT", generatedAlwaysAs="p * 2").execute()
    spark.sql(f"ALTER TABLE delta.`{to}` ADD CONSTRAINT small CHECK (id < 3)")
    for n in (0, 1, 2):
        append(spark, tmp_path / "t", [n])
    run(stream(spark, tmp_path / "t"), to, tmp_path / "c")
    rows = deltaic.read(spark, str(to)).orderBy("id").collect()
    assert [(row.id, row.q) for row in rows] == [(0, 0), (1, 2), (2, 0)]
    for n in (1, 3):
        append(spark, tmp_path / "t", [n])
    with pytest.raises(exceptions.InvariantViolationError, match="small"):
        run(stream(spark, tmp_path / "t"), to, tmp_path / "c")
    assert ids(spark, to) == [0, 1, 1, 2]


def test_partitions_and_values_of_each_type(spark: SparkSession, tmp_path: Path) -> None:
    columns = [
        "id",
        "p",
        "cast(id AS string) AS text",
        "cast(id AS decimal(20, 2)) AS decimal",
        "timestamp_seconds(id) AS instant",
        "array(id, NULL) AS array",
        "map(id, struct(id AS x)) AS map",
        "cast(cast(id AS string) AS binary) AS bytes",
    ]
    for n in range(3):
        append(spark, tmp_path / "t", range(n * 4, n * 4 + 4))
    rows = stream(spark, tmp_path / "t").selectExpr(*columns)
    writer = rows.writeStream.format("delta").partitionBy("p").trigger(availableNow=True)
    query = writer.option("checkpointLocation", str(tmp_path / "c")).start(str(tmp_path / "to"))
    query.awaitTermination()
    assert [len(adds) for adds in files_added(tmp_path / "to")] == [2, 2]
    expected = deltaic.read(spark, str(tmp_path / "t")).selectExpr(*columns).orderBy("id").collect()
    assert deltaic.read(spark, str(tmp_path / "to")).orderBy("id").collect() == expected
