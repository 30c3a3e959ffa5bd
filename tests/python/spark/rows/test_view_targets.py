"""DELETE, UPDATE and MERGE through views: those that stand for their table take them, the others are refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import deltaic
from deltaic.exceptions import UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyspark.sql import SparkSession

ROWS = [(1, 10, "a"), (2, 20, "b"), (3, 30, "c")]


@pytest.fixture
def table(spark: SparkSession, tmp_path: Path) -> Iterator[str]:
    """A table by its path; `seen` is dropped afterwards, whatever kind of view it is."""
    name = f"delta.`{tmp_path / 't'}`"
    spark.createDataFrame(ROWS, "id INT, v INT, s STRING").write.format("delta").save(str(tmp_path / "t"))
    yield name
    if "seen" in {found.viewName for found in spark.sql("SHOW VIEWS").collect()}:
        spark.sql("DROP VIEW seen")


def rows(spark: SparkSession, table: str) -> list[tuple[object, ...]]:
    return [tuple(row) for row in spark.sql(f"SELECT * FROM {table} ORDER BY id").collect()]


def test_a_view_of_a_dataframe_stands_for_its_table(spark: SparkSession, table: str, tmp_path: Path) -> None:
    df = spark.read.format("delta").load(str(tmp_path / "t"))
    df.createOrReplaceTempView("seen")
    spark.sql("DELETE FROM seen WHERE id = 1")
    df.select("s", "v", "id").alias("x").createOrReplaceTempView("seen")
    spark.sql("UPDATE seen SET v = v + 1 WHERE s = 'b'")
    merged = "MERGE INTO seen USING (SELECT 4 AS id) AS new ON seen.id = new.id"
    spark.sql(f"{merged} WHEN NOT MATCHED THEN INSERT (id) VALUES (id)")
    assert rows(spark, table) == [(2, 21, "b"), (3, 30, "c"), (4, None, None)]


def test_columns_that_a_view_leaves_out_keep_what_they_hold(spark: SparkSession, table: str) -> None:
    # delta-spark writes nulls into them
    spark.sql(f"CREATE TEMPORARY VIEW seen AS SELECT v, id FROM {table}")
    spark.sql("UPDATE seen SET v = 0 WHERE id = 2")
    spark.sql("DELETE FROM seen WHERE id = 1")
    assert rows(spark, table) == [(2, 0, "b"), (3, 30, "c")]


VIEWS = {
    "some rows": "TEMPORARY VIEW seen AS SELECT * FROM {t} WHERE id > 1",
    "some rows of a view": "TEMPORARY VIEW seen AS SELECT * FROM (SELECT * FROM {t} WHERE id > 1) AS x",
    "a limit": "TEMPORARY VIEW seen AS SELECT * FROM {t} LIMIT 2",
    "an aggregate": "TEMPORARY VIEW seen AS SELECT id, sum(v) AS v FROM {t} GROUP BY id",
    "a union": "TEMPORARY VIEW seen AS SELECT * FROM {t} UNION ALL SELECT * FROM {t}",
    "a join": "TEMPORARY VIEW seen AS SELECT a.* FROM {t} AS a JOIN {t} AS b ON a.id = b.id",
    "another name": "TEMPORARY VIEW seen AS SELECT id, v AS v, s AS id2 FROM {t}",
    "names that change places": "TEMPORARY VIEW seen AS SELECT v AS id, id AS v, s FROM {t}",
    "a computed column": "TEMPORARY VIEW seen AS SELECT id, v + 1 AS v, s FROM {t}",
    "another type": "TEMPORARY VIEW seen AS SELECT CAST(id AS STRING) AS id, v, s FROM {t}",
    "an old version": "TEMPORARY VIEW seen AS SELECT * FROM {t} VERSION AS OF 0",
    "kept in the catalog": "VIEW seen AS SELECT * FROM {t}",
    "of one in the catalog": "TEMPORARY VIEW seen AS SELECT * FROM kept",
}
CHANGES = [
    "DELETE FROM seen WHERE id = 2",
    "UPDATE seen SET v = 0 WHERE id = 2",
    "MERGE INTO seen USING (SELECT 2 AS id) AS new ON seen.id = new.id WHEN MATCHED THEN DELETE",
]


@pytest.mark.parametrize("view", VIEWS)
def test_a_view_that_does_not_stand_for_its_table_is_refused(
    spark: SparkSession, table: str, view: str
) -> None:
    kept = "SELECT * FROM kept" in VIEWS[view]
    if kept:
        spark.sql(f"CREATE VIEW kept AS SELECT * FROM {table}")
    spark.sql("CREATE " + VIEWS[view].format(t=table))
    for change in CHANGES:
        with pytest.raises(UnsupportedError, match=r"through a view|old version"):
            spark.sql(change)
    assert rows(spark, table) == ROWS
    if kept:
        spark.sql("DROP VIEW kept")


def test_a_merge_wants_a_view_with_all_columns(spark: SparkSession, table: str, tmp_path: Path) -> None:
    spark.sql(f"CREATE TEMPORARY VIEW seen AS SELECT id, v FROM {table}")
    with pytest.raises(UnsupportedError, match="without all columns"):
        spark.sql(CHANGES[2])
    assert deltaic.Table(str(tmp_path / "t")).version == 0
