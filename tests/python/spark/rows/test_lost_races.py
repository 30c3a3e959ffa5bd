"""Row-level operations that lose to a faster writer: rebased where it can be, else an error that names the winner."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from dml_tables import VECTORS, data_files, ids, versions
from pyspark.errors import PySparkException

import deltaic
from deltaic import exceptions
from deltaic.spark.write.retry import MAX_REPLAYS
from deltaic.tables import DeltaTable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def delete(table: DeltaTable) -> None:
    table.delete("p = 1 AND id < 6")


def update(table: DeltaTable) -> None:
    table.update("p = 1 AND id < 6", {"id": "id + 100"})


def merge(table: DeltaTable) -> None:
    source = table.toDF().sparkSession.sql("SELECT id, 1L AS p, id + 100 AS m FROM range(1, 6, 4)").alias("s")
    rows = table.alias("t").merge(source, "t.id = s.id AND t.p = s.p")
    rows.whenMatchedUpdate(set={"id": "s.m"}).whenNotMatchedInsert(values={"id": "s.id", "p": "2"}).execute()


# what is left of the partition 1, which has 1, 5, 9
DONE: dict[str, tuple[Callable[[DeltaTable], None], list[int]]] = {
    "delete": (delete, [9]),
    "update": (update, [9, 101, 105]),
    "merge": (merge, [9, 101, 105]),
}


@pytest.fixture
def make(spark: SparkSession, tmp_path: Path) -> Callable[[bool], str]:
    def table(by_vectors: bool) -> str:  # noqa: FBT001
        path = str(tmp_path / "t")
        rows = spark.range(0, 12, 1, 1).selectExpr("id", "id % 4 AS p")
        deltaic.save(rows, path, partition_by="p", **(VECTORS if by_vectors else {}))
        return path

    return table


@pytest.fixture
def once(spark: SparkSession) -> Iterator[None]:
    """Nothing is played again."""
    spark.conf.set(MAX_REPLAYS, "0")
    yield
    spark.conf.unset(MAX_REPLAYS)


@pytest.mark.parametrize("by_vectors", [False, True], ids=["rewrite", "vectors"])
@pytest.mark.parametrize("operation", DONE)
def test_what_does_not_meet_is_rebased(
    spark: SparkSession, make: Any, overtaken: Any, operation: str, by_vectors: Any
) -> None:
    path = make(by_vectors)
    act, left = DONE[operation]
    overtaken(lambda: DeltaTable.forPath(spark, path).delete("p = 2"))
    act(DeltaTable.forPath(spark, path))
    assert versions(path) == 3
    rows = deltaic.read(spark, path)
    assert ids(rows.where("p = 1")) == left
    assert ids(rows.where("p <> 1")) == [0, 3, 4, 7, 8, 11]


# with the row 5 as another writer left it
AGAIN = {"delete": [9], "update": [9, 95, 101], "merge": [-5, 9, 101]}


@pytest.mark.parametrize("by_vectors", [False, True], ids=["rewrite", "vectors"])
@pytest.mark.parametrize("operation", DONE)
def test_what_meets_is_played_again(
    spark: SparkSession, make: Any, overtaken: Any, operation: str, by_vectors: Any
) -> None:
    path = make(by_vectors)
    act, _ = DONE[operation]
    table = DeltaTable.forPath(spark, path)
    overtaken(lambda: table.update("p = 1 AND id = 5", {"id": "-5"}))
    act(table)
    assert versions(path) == 3
    rows = deltaic.read(spark, path)
    assert ids(rows.where("p = 1")) == AGAIN[operation]


@pytest.mark.parametrize("by_vectors", [False, True], ids=["rewrite", "vectors"])
@pytest.mark.parametrize("operation", DONE)
def test_what_meets_is_an_error_with_the_facts_where_nothing_is_played_again(
    spark: SparkSession, make: Any, overtaken: Any, once: None, operation: str, by_vectors: Any
) -> None:
    path = make(by_vectors)
    act, _ = DONE[operation]
    table = DeltaTable.forPath(spark, path)
    overtaken(lambda: table.update("p = 1 AND id = 5", {"id": "-5"}))
    with pytest.raises(exceptions.CommitConflictError) as lost:
        act(table)
    error = lost.value
    assert isinstance(error, PySparkException)
    assert isinstance(
        error, exceptions.ConcurrentDeleteReadException | exceptions.ConcurrentDeleteDeleteException
    )
    assert (error.version, error.winner) == (1, "UPDATE")
    assert len(error.files) == 1
    assert "p=1/" in error.files[0]
    assert error.rule
    assert error.advice
    assert versions(path) == 2
    assert ids(deltaic.read(spark, path)) == [-5, *(i for i in range(12) if i != 5)]
    # nothing of what lost is left: those are the files of the winner, of which one may be that of its vector
    assert len(data_files(path)) == 5 + by_vectors


def test_an_error_does_not_tell_how_deleted_rows_are_left_out(
    spark: SparkSession, make: Any, overtaken: Any, once: None
) -> None:
    path = make(True)
    spark.sql(f"ALTER TABLE delta.`{path}` SET TBLPROPERTIES ('delta.isolationLevel' = 'Serializable')")
    table = DeltaTable.forPath(spark, path)
    table.delete("id = 9")
    overtaken(lambda: spark.sql(f"INSERT INTO delta.`{path}` VALUES (1, 1)"))
    source = spark.sql("SELECT 5L AS id").alias("s")
    rows = table.alias("t").merge(source, "t.id = s.id").whenMatchedDelete()
    with pytest.raises(exceptions.ConcurrentAppendException) as lost:
        rows.whenNotMatchedBySourceDelete("t.p = 3").execute()
    assert (lost.value.rule, lost.value.predicate) == (
        "blind-append-read",
        "a condition that only the engine knows",
    )
