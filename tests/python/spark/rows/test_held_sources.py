"""Merges whose source the driver has do the same as with one that tasks compute."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from dml_tables import changes, metrics
from pyspark.errors import ArithmeticException
from pyspark.sql import Observation
from pyspark.sql import functions as F  # noqa: N812
from spark_jobs import jobs_of

from deltaic.spark.write.routes import driver
from deltaic.tables import DeltaTable

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.classic("counts the jobs of its Spark context")]

# the type of a key, the keys of the table by a number n of 0 to 99, and those of the source by one of 90 to 109
KEYS = {
    "long": ("bigint", "n", "n"),
    "int beside long": ("bigint", "n", "CAST(n AS int)"),
    "string": ("string", "concat('ä', n)", "concat('ä', n)"),
    "empty string": ("string", "if(n = 91, '', concat('x', n))", "if(n = 92, '', concat('x', n))"),
    "date": ("date", "date_add(DATE '2024-01-01', n)", "date_add(DATE '2024-01-01', n)"),
    "decimal": ("decimal(12,2)", "CAST(n / 4 AS decimal(12,2))", "CAST(n / 4 AS decimal(12,2))"),
    "nulls": ("bigint", "if(n = 5, NULL, n)", "if(n = 95, NULL, n)"),
    "no key": ("double", "n / 4D", "n / 4D"),
}


def _merged(spark: SparkSession, path: str, source: Any) -> tuple[int, Any]:
    """The number of jobs of a merge, and what it did."""
    merge = DeltaTable.forPath(spark, path).alias("t").merge(source.alias("s"), "t.k <=> s.k")
    merge = merge.whenMatchedDelete("s.v = 'n95'").whenMatchedUpdate(set={"v": "s.v"})
    jobs = jobs_of(spark, merge.whenNotMatchedInsertAll().execute)
    return jobs, (
        sorted(map(str, spark.read.format("delta").load(path).collect())),
        sorted(map(str, changes(path))),
        # the bytes of a file depend on the order of its rows
        {name: value for name, value in metrics(path).items() if "Bytes" not in name},
    )


def _table(spark: SparkSession, path: str, kind: str, keys: str) -> None:
    feed = {"delta.enableChangeDataFeed": "true", "delta.enableDeletionVectors": "true"}
    for low in (0, 50):
        rows = spark.range(low, low + 50).selectExpr("CAST(id AS int) AS n")
        rows = rows.selectExpr(f"CAST({keys} AS {kind}) AS k", "concat('o', n) AS v")
        rows.write.format("delta").mode("append").options(**feed).save(path)


@pytest.mark.parametrize("case", KEYS)
def test_it_does_the_same_in_fewer_jobs(
    spark: SparkSession,
    setting: Callable[[str, str], None],
    case: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kind, ours, theirs = KEYS[case]
    source = spark.range(90, 110).selectExpr("CAST(id AS int) AS n")
    source = source.selectExpr(f"{theirs} AS k", "concat('n', n) AS v")
    done = []
    for name, rows in (
        ("here", source),
        ("fetched", source.repartition(2)),
        ("joined", source.repartition(2)),
        ("tasks", source.repartition(2)),
    ):
        if name == "joined":
            setting("spark.deltaic.dml.clusterBytes", "0")
        if name == "tasks":
            monkeypatch.setattr(driver, "held", lambda _: None)
            monkeypatch.setattr(driver, "kept", lambda *_: None)
        path = str(tmp_path / name)
        _table(spark, path, kind, ours)
        done.append(_merged(spark, path, rows))
    (none, here), (one, fetched), (two, joined), (more, tasks) = done
    assert here == fetched == joined == tasks
    assert none < one < more
    # without a key the rows are joined anyway
    assert one < two < more or case == "no key"


def test_many_keys(spark: SparkSession, tmp_path: Path) -> None:
    """More than a scan is asked for one by one."""
    path = str(tmp_path / "t")
    _table(spark, path, "bigint", "n")
    source = spark.range(99, 3000).selectExpr("id AS k", "concat('n', id) AS v")
    _, (rows, _, measured) = _merged(spark, path, source)
    assert len(rows) == 3000
    assert measured["numTargetRowsInserted"] == 2900
    assert measured["numTargetRowsUpdated"] == 1
    assert measured["numSourceRows"] == 2901


def test_more_rows_than_are_fetched(spark: SparkSession, tmp_path: Path) -> None:
    path = str(tmp_path / "t")
    _table(spark, path, "bigint", "n")
    source = spark.range(99, 20_000).repartition(3).selectExpr("id AS k", "concat('n', id) AS v")
    _, (rows, _, measured) = _merged(spark, path, source)
    assert len(rows) == 20_000
    assert measured["numTargetRowsInserted"] == 19_900
    assert measured["numSourceRows"] == 19_901


@pytest.mark.parametrize("tasks", [0, 2])
def test_a_value_of_chance_is_computed_once(spark: SparkSession, tasks: int, tmp_path: Path) -> None:
    path = str(tmp_path / "t")
    _table(spark, path, "bigint", "n")
    source = spark.range(90, 110).selectExpr("id AS k", "uuid() AS v")
    source = source.repartition(tasks) if tasks else source
    _merged(spark, path, source)
    rows = {row.k: row.v for row in spark.read.format("delta").load(path).where("k >= 90").collect()}
    told = {row["k"]: row["v"] for row in changes(path) if row["_change_type"] == "update_postimage"}
    assert told == {k: v for k, v in rows.items() if k < 100}
    assert len(set(rows.values())) == 20


def test_columns_of_the_source_are_still_its_own(spark: SparkSession, tmp_path: Path) -> None:
    path = str(tmp_path / "t")
    _table(spark, path, "bigint", "n")
    source = spark.createDataFrame([(1, "a"), (200, "b")], "k bigint, v string").toPandas()
    source = spark.createDataFrame(source)
    table = DeltaTable.forPath(spark, path).alias("t")
    merge = table.merge(source, (source.k == 1) & (table.toDF()["k"] == source["k"]))
    merge.whenMatchedUpdate(set={"v": source.v}).whenNotMatchedInsert(
        values={"k": source.k, "v": source.v}
    ).execute()
    rows = spark.read.format("delta").load(path)
    assert rows.where("k IN (1, 200)").orderBy("k").collect() == [(1, "a"), (200, "b")]


@pytest.mark.parametrize("rows", [20, 3000, 30_000])
def test_an_observation_is_told_of_every_row(spark: SparkSession, rows: int, tmp_path: Path) -> None:
    path = str(tmp_path / "t")
    _table(spark, path, "bigint", "n")
    observation = Observation()
    source = spark.range(0, rows, 1, 2).selectExpr("id AS k", "uuid() AS v").repartition(2)
    source = source.observe(observation, F.count("*").alias("rows"), F.max("k").alias("last"))
    _merged(spark, path, source)
    assert observation.get == {"rows": rows, "last": rows - 1}


@pytest.mark.parametrize("tasks", [0, 2])
def test_a_value_that_cannot_be_computed_changes_nothing(
    spark: SparkSession, tasks: int, tmp_path: Path
) -> None:
    path = str(tmp_path / "t")
    _table(spark, path, "bigint", "n")
    source = spark.range(90, 110).selectExpr("id AS k", "CAST(1 / (id - 95) AS string) AS v")
    source = source.repartition(tasks) if tasks else source
    with pytest.raises(ArithmeticException, match="DIVIDE_BY_ZERO"):
        _merged(spark, path, source)
    assert DeltaTable.forPath(spark, path).history(1).first().version == 1
