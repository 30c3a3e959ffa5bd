"""`replaceWhere` with a condition that only Spark evaluates: beside other writers, on every route, with every rule."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from dml_tables import VECTORS, data_files
from pyspark.errors import PySparkException

import deltaic
from deltaic import exceptions
from deltaic.spark.write.retry import MAX_REPLAYS
from deltaic.tables import DeltaTable

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

EVEN = "exists(array(id), x -> x % 2 = 0)"
"""What the core has no function for."""


def ids(path: str) -> list[int]:
    return sorted(pa.table(deltaic.Table(path).to_arrow(["id"])).column("id").to_pylist())


def replace(data: Any, path: str, where: str = EVEN, **options: Any) -> None:
    deltaic.save(data, path, mode="overwrite", replaceWhere=where, **options)


def numbers(door: Any, *which: int) -> Any:
    listed = ", ".join(f"({i}L, {i % 3}L)" for i in which)
    return door.sql(f"SELECT id, p FROM VALUES {listed} AS t (id, p)")


@pytest.fixture
def make(door: Any, tmp_path: Path) -> Callable[..., str]:
    """A table of the ids 0 to 9 in two files, or partitioned by `p`, the rest by 3."""

    def table(*by: str, **properties: str) -> str:
        path = str(tmp_path / "t")
        for first in (0, 5):
            data = door.sql(f"SELECT id, id % 3 AS p FROM range({first}, {first + 5}, 1, 1)")
            deltaic.save(data, path, mode="append", partition_by=by, **properties)
        return path

    return table


@pytest.mark.parametrize("route", ["auto", "driver", "arrow"])
@pytest.mark.parametrize("properties", [{}, VECTORS], ids=["rewrite", "vectors"])
def test_rows_are_replaced(door: Any, make: Any, route: str, properties: dict[str, str]) -> None:
    path = make(**properties, **{"delta.enableChangeDataFeed": "true"})
    replace(numbers(door, 100, 102), path, deltaicRoute=route)
    assert ids(path) == [1, 3, 5, 7, 9, 100, 102]
    table = deltaic.Table(path)
    changed = pa.table(table.changes(table.version)).to_pylist()
    found = sorted((row["_change_type"], row["id"]) for row in changed)
    assert found == [*(("delete", i) for i in range(0, 10, 2)), ("insert", 100), ("insert", 102)]
    assert table.history(limit=1)[0]["operationParameters"]["predicate"] == EVEN
    assert table.verify(deep=True).findings == []
    before = table.version
    with pytest.raises(exceptions.ReplaceWhereMismatchError) as refused:
        replace(numbers(door, 104, 105), path, deltaicRoute=route)
    assert (refused.value.predicate, refused.value.row) == (EVEN, "id = 105")
    assert deltaic.Table(path).version == before


def test_the_session_may_leave_the_check_out(door: Any, make: Any) -> None:
    path, setting = make(), "spark.databricks.delta.replaceWhere.constraintCheck.enabled"
    door.conf.set(setting, "false")
    try:
        replace(numbers(door, 101), path)
    finally:
        door.conf.unset(setting)
    assert ids(path) == [1, 3, 5, 7, 9, 101]


@pytest.mark.parametrize("route", ["auto", "driver", "arrow"])
def test_whole_partitions(door: Any, make: Any, route: str) -> None:
    path = make("p")
    where = "exists(array(p), x -> x = 1)"
    replace(numbers(door, 100), path, where, deltaicRoute=route)
    assert ids(path) == [0, 2, 3, 5, 6, 8, 9, 100]
    assert int(deltaic.Table(path).history(limit=1)[0]["operationMetrics"]["numRemovedFiles"]) == 2
    # the same rows in other files
    rows = deltaic.read(door, path).where("p = 1").coalesce(1)
    replace(rows, path, where, dataChange="false", deltaicRoute=route)
    assert '"dataChange":true' not in max(Path(path, "_delta_log").glob("*.json")).read_text()
    assert ids(path) == [0, 2, 3, 5, 6, 8, 9, 100]
    with pytest.raises(exceptions.InvalidArgumentError, match="without being reported") as refused:
        replace(numbers(door, 100), path, dataChange="false")
    assert refused.value.condition == "DELTA_REPLACE_WHERE_WITH_FILTER_DATA_CHANGE_UNSET"


def test_a_name_of_the_table(door: Any, make: Any) -> None:
    path, where = make(), "exists(array(t.id), x -> x % 2 = 0)"
    replace(numbers(door, 100), path, where, targetAlias="t")
    assert ids(path) == [1, 3, 5, 7, 9, 100]
    assert deltaic.Table(path).history(limit=1)[0]["operationParameters"]["predicate"] == where


def test_new_columns_join(door: Any, make: Any) -> None:
    path = make(**{"delta.enableRowTracking": "true"})
    before = dict(deltaic.read(door, path, row_ids=True).select("id", "_row_id").collect())
    replace(numbers(door, 100).selectExpr("*", "'new' AS v"), path, mergeSchema="true")
    rows = deltaic.read(door, path, row_ids=True).select("id", "_row_id", "v").collect()
    assert {row.id: row.v for row in rows} == {**dict.fromkeys((1, 3, 5, 7, 9)), 100: "new"}
    assert all(row._row_id == before[row.id] for row in rows if row.id < 100)


def test_rules_of_the_table_hold(door: Any, tmp_path: Path) -> None:
    path = str(tmp_path / "t")
    made = DeltaTable.create(door).location(path).addColumn("id", "BIGINT")
    made.addColumn("half", "BIGINT", generatedAlwaysAs="id div 2").execute()
    deltaic.save(door.range(4), path, mode="append")
    # the condition is about the rows as the table has them
    where = "exists(array(half), x -> x = 1)"
    replace(door.sql("SELECT 3L AS id"), path, where)
    assert ids(path) == [0, 1, 3]
    with pytest.raises(exceptions.ReplaceWhereMismatchError):
        replace(door.sql("SELECT 4L AS id"), path, where)
    deltaic.Table(path).add_constraint("few", "id < 10")
    with pytest.raises(exceptions.InvariantViolationError):
        replace(door.sql("SELECT 12L AS id"), path, "exists(array(id), x -> x > 2)")
    assert ids(path) == [0, 1, 3]


def test_a_table_that_is_made(door: Any, tmp_path: Path) -> None:
    path = str(tmp_path / "t")
    with pytest.raises(exceptions.ReplaceWhereMismatchError):
        replace(numbers(door, 1), path)
    replace(numbers(door, 2), path)
    assert ids(path) == [2]


@pytest.mark.parametrize(
    ("where", "condition"),
    [
        ("id IN (SELECT 1) AND hash(id) > 0", "DELTA_UNSUPPORTED_SUBQUERY"),
        ("hash(id) < < 2", "DELTA_FAILED_RECOGNIZE_PREDICATE"),
        ("hash(id) > 0 AND rand() < 2", "INVALID_NON_DETERMINISTIC_EXPRESSIONS"),
        ("hash(nope) > 0", "UNRESOLVED_COLUMN.WITH_SUGGESTION"),
        ("nope(id) > 0", "UNRESOLVED_ROUTINE"),
    ],
)
def test_what_is_no_condition_is_refused(door: Any, make: Any, where: str, condition: str) -> None:
    path = make()
    with pytest.raises(PySparkException) as refused:
        replace(numbers(door, 2), path, where)
    assert refused.value.getCondition() == condition
    assert (ids(path), deltaic.Table(path).version) == ([*range(10)], 1)


def test_a_table_that_loses_no_rows(door: Any, make: Any) -> None:
    path = make(**{"delta.appendOnly": "true"})
    with pytest.raises(exceptions.AppendOnlyError):
        replace(numbers(door, 2), path)
    assert ids(path) == [*range(10)]


class TestBesideOthers:
    @pytest.fixture
    def path(self, spark: SparkSession, tmp_path: Path, request: Any) -> str:
        at = str(tmp_path / "t")
        for first in (0, 5):
            data = spark.sql(f"SELECT id, id % 3 AS p FROM range({first}, {first + 5}, 1, 1)")
            deltaic.save(data, at, mode="append", **getattr(request, "param", {}))
        return at

    @pytest.mark.parametrize("path", [{}, VECTORS], ids=["rewrite", "vectors"], indirect=True)
    def test_a_row_that_changed_is_replaced_as_it_is_now(
        self, spark: SparkSession, path: str, overtaken: Any
    ) -> None:
        overtaken(lambda: DeltaTable.forPath(spark, path).update("id IN (2, 5)", {"id": "7 - id"}))
        replace(numbers(spark, 100), path)
        assert ids(path) == [1, 3, 5, 7, 9, 100]
        overtaken(lambda: DeltaTable.forPath(spark, path).update("id = 5", {"id": "6"}))
        replace(numbers(spark, 102), path)
        assert ids(path) == [1, 3, 7, 9, 102]

    def test_a_lost_race_is_an_error_and_nothing_is_left_of_it(
        self, spark: SparkSession, path: str, overtaken: Any, setting: Any
    ) -> None:
        setting(MAX_REPLAYS, "0")
        overtaken(lambda: DeltaTable.forPath(spark, path).delete("id = 2"))
        with pytest.raises(exceptions.CommitConflictError) as lost:
            replace(numbers(spark, 100), path)
        assert lost.value.winner == "DELETE"
        assert ids(path) == [0, 1, *range(3, 10)]
        assert len(data_files(path)) == 3

    @pytest.mark.parametrize(
        "path", [{"delta.isolationLevel": "Serializable"}], ids=["serial"], indirect=True
    )
    def test_a_row_that_joined_is_replaced_where_all_is_serial(
        self, spark: SparkSession, path: str, overtaken: Any
    ) -> None:
        overtaken(lambda: deltaic.save(numbers(spark, 20, 21), path, mode="append"))
        replace(numbers(spark, 100), path)
        assert ids(path) == [1, 3, 5, 7, 9, 21, 100]

    def test_what_the_rows_read_of_the_table_is_claimed(
        self, spark: SparkSession, path: str, overtaken: Any
    ) -> None:
        top = spark.read.format("delta").load(path).selectExpr("max(id) * 2 AS id", "0L AS p")
        overtaken(lambda: DeltaTable.forPath(spark, path).update("id = 9", {"id": "51"}))
        replace(top, path)
        assert ids(path) == [1, 3, 5, 7, 51, 102]
