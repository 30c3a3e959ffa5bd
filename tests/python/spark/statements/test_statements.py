"""Statements that change a table go to the writer or are refused; none writes around the log."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from bridge_tables import data_files, numbers
from pyspark.errors import AnalysisException

import deltaic
from deltaic.exceptions import SchemaMismatchError, UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession


@pytest.fixture(params=[False, True], ids=["plain", "partitioned"])
def path(request: pytest.FixtureRequest, spark: SparkSession, tmp_path: Path) -> Iterator[Path]:
    """A table that is also known as `target`, and as the view `target_view`."""
    path = numbers(tmp_path / "t", partitioned=request.param)
    spark.sql(f"CREATE TABLE target USING delta LOCATION '{path}'")
    spark.read.format("delta").load(str(path)).createOrReplaceTempView("target_view")
    yield path
    spark.sql("DROP TABLE IF EXISTS target")


def _more(spark: SparkSession):
    return spark.sql("SELECT 100L AS id, '9' AS p, 1.5D AS x")


APPENDS: dict[str, Callable[[SparkSession, Path], object]] = {
    "insert into name": lambda s, p: s.sql("INSERT INTO target VALUES (100, '9', 1.5)"),
    "insert into path": lambda s, p: s.sql(f"INSERT INTO delta.`{p}` VALUES (100, '9', 1.5)"),
    "insert with columns": lambda s, p: s.sql("INSERT INTO target (x, p, id) VALUES (1.5, '9', 100)"),
    "insert by name": lambda s, p: s.sql("INSERT INTO target BY NAME SELECT 1.5D AS x, '9' AS p, 100L AS id"),
    "insertInto": lambda s, p: _more(s).write.insertInto("target"),
    "writeTo name": lambda s, p: _more(s).writeTo("target").append(),
    "writeTo path": lambda s, p: _more(s).writeTo(f"delta.`{p}`").append(),
    "saveAsTable": lambda s, p: _more(s).write.format("delta").mode("append").saveAsTable("target"),
    "save": lambda s, p: _more(s).write.format("delta").mode("append").save(str(p)),
}


@pytest.mark.parametrize("append", APPENDS.values(), ids=APPENDS.keys())
def test_appends_are_commits(
    spark: SparkSession, path: Path, append: Callable[[SparkSession, Path], object]
) -> None:
    append(spark, path)
    table = deltaic.Table(str(path))
    assert table.version == 3
    (row,) = spark.read.format("delta").load(str(path)).where("id = 100").collect()
    assert row.asDict() == {"id": 100, "p": "9", "x": 1.5}
    assert spark.table("target").count() == 31


EVOLVING: dict[str, Callable[[DataFrame, Path], object]] = {
    "save": lambda df, p: df.write.format("delta").mode("append").option("mergeSchema", "true").save(str(p)),
    "writeTo name": lambda df, _: df.writeTo("target").option("mergeSchema", "true").append(),
    "writeTo path": lambda df, p: df.writeTo(f"delta.`{p}`").option("mergeschema", "TRUE").append(),
    "writeTo qualified": lambda df, _: (
        df.writeTo("spark_catalog.default.target").option("mergeSchema", "true").append()
    ),
    "saveAsTable": lambda df, _: (
        df.write.format("delta").mode("append").option("mergeSchema", "true").saveAsTable("target")
    ),
}


@pytest.mark.parametrize("write", EVOLVING.values(), ids=EVOLVING.keys())
def test_columns_join_by_the_option(
    spark: SparkSession, path: Path, write: Callable[[DataFrame, Path], object]
) -> None:
    more = spark.sql("SELECT 100L AS id, '9' AS p, 1.5D AS x, named_struct('a', 1) AS new")
    write(more, path)
    table = deltaic.Table(str(path))
    assert table.version == 3
    assert table.schema.names == ["id", "p", "x", "new"]
    rows = {r.id: r.new for r in spark.read.format("delta").load(str(path)).collect()}
    assert rows.pop(100).a == 1
    assert len(rows) == 30
    assert set(rows.values()) == {None}


def test_columns_join_by_the_option_of_an_overwrite(spark: SparkSession, path: Path) -> None:
    more = spark.sql("SELECT 100L AS id, '0' AS p, 1.5D AS x, true AS new")
    more.writeTo("target").option("mergeSchema", "true").overwritePartitions()
    assert spark.read.format("delta").load(str(path)).where("new").count() == 1
    # without the option Spark refuses them
    with pytest.raises(AnalysisException):
        more.selectExpr("*", "1 AS newer").writeTo("target").append()
    more.write.option("mergeSchema", "true").insertInto("target", overwrite=True)
    assert spark.read.format("delta").load(str(path)).count() == 1


def test_insert_into_a_partition_is_a_commit(spark: SparkSession, tmp_path: Path) -> None:
    path = numbers(tmp_path / "t", partitioned=True)
    spark.sql(f"INSERT INTO delta.`{path}` PARTITION (p = '7') VALUES (100, 1.5)")
    (row,) = spark.read.format("delta").load(str(path)).where("p = '7'").collect()
    assert row.asDict() == {"id": 100, "p": "7", "x": 1.5}


REFUSED: dict[str, Callable[[SparkSession, Path], object]] = {
    "insert into view": lambda s, p: s.sql("INSERT INTO target_view VALUES (100, '9', 1.5)"),
    "insertInto view": lambda s, p: _more(s).write.insertInto("target_view"),
    "insert overwrite view": lambda s, p: s.sql("INSERT OVERWRITE target_view VALUES (100, '9', 1.5)"),
    "insert into a version": lambda s, p: s.sql(f"INSERT INTO delta.`{p}@v1` VALUES (100, '9', 1.5)"),
    "set location": lambda s, p: s.sql(f"ALTER TABLE delta.`{p}` SET LOCATION '{p}2'"),
    "buckets": lambda s, p: s.sql("CREATE TABLE other (a INT) USING delta CLUSTERED BY (a) INTO 4 BUCKETS"),
    "years": lambda s, p: s.sql("CREATE TABLE other (a TIMESTAMP) USING delta PARTITIONED BY (years(a))"),
    "deep clone": lambda s, p: s.sql("CREATE TABLE other CLONE target"),
    "drop path": lambda s, p: s.sql(f"DROP TABLE delta.`{p}`"),
}


@pytest.mark.parametrize("statement", REFUSED.values(), ids=REFUSED.keys())
def test_other_changes_are_refused_by_name_and_leave_all_as_it_was(
    spark: SparkSession, path: Path, statement: Callable[[SparkSession, Path], object]
) -> None:
    before = data_files(path)
    with pytest.raises(UnsupportedError, match="not supported: "):
        statement(spark, path)
    assert data_files(path) == before
    assert spark.table("target").count() == 30
    assert deltaic.Table(str(path)).version == 2
    assert not spark.catalog.tableExists("other")


def test_explain_runs_nothing(spark: SparkSession, path: Path) -> None:
    spark.sql("EXPLAIN INSERT INTO target VALUES (100, '9', 1.5)").collect()
    assert deltaic.Table(str(path)).version == 2


def test_create_table_checks_what_it_is_given(spark: SparkSession, path: Path) -> None:
    with pytest.raises(SchemaMismatchError, match="columns"):
        spark.sql(f"CREATE TABLE other (id INT) USING delta LOCATION '{path}'")
    own = "".join(f"PARTITIONED BY ({c})" for c in deltaic.Table(str(path)).partition_columns)
    made = "CREATE TABLE other (id BIGINT, p STRING, x DOUBLE) USING delta"
    for given in ("", "PARTITIONED BY (x)", "PARTITIONED BY (p)"):
        if given != own:
            with pytest.raises(SchemaMismatchError, match="gives the partitioning"):
                spark.sql(f"{made} {given} LOCATION '{path}'")
    spark.sql(f"{made} {own} LOCATION '{path}'")
    spark.sql("DROP TABLE other")
    assert data_files(path)
