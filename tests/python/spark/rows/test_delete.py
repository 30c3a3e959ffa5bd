"""Deletes through Spark, the same on classic sessions and on Spark Connect."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from dml_tables import (
    FEED,
    KINDS,
    VECTORS,
    changes,
    data_files,
    ids,
    last_commit,
    live,
    make,
    metrics,
    row_ids,
    versions,
)

import deltaic
from deltaic import exceptions
from deltaic.spark.dml.delete import delete
from deltaic.spark.dml.operation import Operation
from deltaic.spark.dml.touched_rows import find_touched
from deltaic.spark.session.kind import functions
from deltaic.spark.session.table_ref import TableRef
from deltaic.tables import DeltaTable

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.spark

CONDITIONS = [
    "n = 3",
    "n <> 3",
    "id >= 20 AND id < 71",
    "s.a > 50 OR p = '1'",
    "p = '1' AND n IS NULL",
    "NOT (n > 2)",
    "t.id IN (SELECT id FROM range(10))",
    "id NOT IN (SELECT id FROM range(90))",
    "EXISTS (SELECT 1 FROM range(5) AS r WHERE r.id = t.id)",
    "id > (SELECT max(id) - 95 FROM range(100))",
    "s.b LIKE 't1%'",
]


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    path = tmp_path_factory.mktemp("tables") / "partitioned"
    numbers = list(range(100))
    rows = {
        "id": pa.array(numbers, pa.int64()),
        "p": [str(i % 4) for i in numbers],
        "n": pa.array([None if i % 5 == 0 else i % 7 for i in numbers], pa.int32()),
        "s": [{"a": i, "b": f"t{i}"} for i in numbers],
    }
    deltaic.write(str(path), pa.table(rows), partition_by=["p"])
    return {"partitioned": str(path)}


def left(door: Any, path: str, condition: str) -> list[int]:
    """What SQL says must stay: a row for which the condition is unknown does."""
    df = deltaic.read(door, path).alias("t")
    gone = set(ids(df.where(condition)))
    return [i for i in ids(df) if i not in gone]


@pytest.mark.parametrize("condition", CONDITIONS)
def test_rows_for_which_the_condition_is_true_are_found_and_no_others(
    door: Any, condition: str, tables: dict[str, str]
) -> None:
    with Operation(TableRef(door, tables["partitioned"], "t"), "DELETE", {}) as op:
        expected = op.rows().where(condition).count()
        assert find_touched(op, condition) == (expected, expected)
        assert op.counts()["matchedRows"] == expected


@pytest.mark.parametrize("kind", ["rewrite", "everything"])
@pytest.mark.parametrize(
    "condition", ["n <> 3", "id NOT IN (SELECT id FROM range(90))", "t.id IN (SELECT id FROM range(10))"]
)
def test_rows_for_which_the_condition_is_unknown_stay(
    door: Any, kind: str, condition: str, tmp_path: Path
) -> None:
    path = make(door, tmp_path / "t", kind)
    expected = left(door, path, condition)
    DeltaTable.forPath(door, path).alias("t").delete(condition)
    assert ids(deltaic.read(door, path)) == expected
    assert metrics(path)["numDeletedRows"] == 100 - len(expected)


@pytest.mark.parametrize("kind", KINDS)
def test_deletes_follow_each_other(door: Any, kind: str, tmp_path: Path) -> None:
    path = make(door, tmp_path / "t", kind, by=["p"])
    table = DeltaTable.forPath(door, path)
    before = row_ids(path) if "row" in kind or kind == "everything" else None
    for condition in ["n = 3", "id < 40 AND n > 1", "p = '2'", "id % 2 = 0"]:
        expected = left(door, path, condition)
        table.delete(condition)
        assert ids(deltaic.read(door, path)) == expected
    if before is not None:
        after = row_ids(path)
        assert all(after[i] == before[i] for i in expected)
    version = versions(path)
    table.delete("id % 2 = 0")
    assert versions(path) == version
    table.delete()
    assert ids(deltaic.read(door, path)) == []
    assert data_files(path) >= {a["path"] for a in live(path)}


def test_columns_are_conditions_too(door: Any, tmp_path: Path) -> None:
    F = functions(door)  # noqa: N806 (its usual name)
    path = make(door, tmp_path / "t", "vectors")
    DeltaTable.forPath(door, path).delete(F.col("id") > 90)
    assert ids(deltaic.read(door, path)) == list(range(91))
    even = F.udf(lambda i: i % 2 == 0, "boolean")
    DeltaTable.forPath(door, path).delete(even("id"))
    assert ids(deltaic.read(door, path)) == list(range(1, 91, 2))


def test_whole_table_and_partitions_read_no_data(
    door: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = make(door, tmp_path / "t", "vectors", by=["p"])
    for file in live(path):
        # nobody can read these any more
        (tmp_path / "t" / file["path"]).write_bytes(b"x")
    written: list[Any] = []
    monkeypatch.setattr(Operation, "write_data", lambda *a, **_: written.append(a))
    table = DeltaTable.forPath(door, path)
    table.delete("p IN ('1', '3')")
    assert {a["partitionValues"]["p"] for a in live(path)} == {"0", "2"}
    assert metrics(path)["numDeletedRows"] == 50
    table.delete("upper(p) = '2'")
    assert {a["partitionValues"]["p"] for a in live(path)} == {"0"}
    version = versions(path)
    table.delete("p = '7'")
    assert versions(path) == version
    table.delete()
    assert (live(path), written) == ([], [])
    assert metrics(path)["numDeletedRows"] == 25


def test_a_condition_that_changes_is_refused(door: Any, tmp_path: Path) -> None:
    path = make(door, tmp_path / "t", "vectors")
    with pytest.raises(exceptions.InvalidPredicateError, match="not deterministic"):
        DeltaTable.forPath(door, path).delete("rand() > 0.5")
    assert versions(path) == 1


def test_what_is_no_condition_is_sparks_error(door: Any, tmp_path: Path) -> None:
    from pyspark.errors import AnalysisException

    path = make(door, tmp_path / "t", "rewrite")
    with pytest.raises(AnalysisException):
        DeltaTable.forPath(door, path).delete("nothing = 1")
    assert versions(path) == 1


@pytest.mark.parametrize("by_vectors", [False, True], ids=["rewrite", "vectors"])
def test_metrics_are_in_balance(door: Any, by_vectors: Any, tmp_path: Path) -> None:
    path = str(tmp_path / "t")
    deltaic.save(door.range(0, 100, 1, 4), path, deltaicRoute="arrow", **(VECTORS if by_vectors else {}))
    done = delete(TableRef(door, path), "id < 30")
    assert done["numDeletedRows"] == 30
    expected = {
        "numDeletedRows": 30,
        "numCopiedRows": 0 if by_vectors else 20,
        "numRemovedFiles": 1 if by_vectors else 2,
        "numAddedFiles": 0 if by_vectors else 1,
        "numAddedChangeFiles": 0,
        "numDeletionVectorsAdded": 1 if by_vectors else 0,
        "numDeletionVectorsRemoved": 0,
        "numDeletionVectorsUpdated": 0,
    }
    assert metrics(path) == expected
    assert delete(TableRef(door, path), "id < 30") == {}
    delete(TableRef(door, path), "id < 40")
    assert metrics(path) == {
        **expected,
        "numDeletedRows": 10,
        "numCopiedRows": 0 if by_vectors else 10,
        "numRemovedFiles": 0 if by_vectors else 1,
        "numDeletionVectorsAdded": 1 if by_vectors else 0,
        "numDeletionVectorsRemoved": 1 if by_vectors else 0,
        "numDeletionVectorsUpdated": 1 if by_vectors else 0,
    }
    delete(TableRef(door, path))
    assert metrics(path)["numDeletedRows"] == 60


def test_changes_are_written_where_files_are_rewritten(door: Any, tmp_path: Path) -> None:
    path = str(tmp_path / "t")
    deltaic.save(door.range(0, 100, 1, 2), path, deltaicRoute="arrow", **FEED)
    DeltaTable.forPath(door, path).delete("id % 50 < 3")
    seen = changes(path)
    assert sorted(c["id"] for c in seen) == [0, 1, 2, 50, 51, 52]
    assert {c["_change_type"] for c in seen} == {"delete"}
    assert metrics(path)["numAddedChangeFiles"] == len([a for a in last_commit(path)[1] if "cdc" in a])


def test_paths_that_need_escapes(door: Any, tmp_path: Path) -> None:
    path = str(tmp_path / "a b%20é#[1]")
    df = door.sql("SELECT id, concat('x/ ü%', id % 2) AS p FROM range(20)")
    deltaic.save(df, path, partition_by=["p"], **VECTORS)
    DeltaTable.forPath(door, path).delete("id % 4 = 1")
    DeltaTable.forPath(door, path).delete("id % 4 = 3 AND id > 10")
    assert ids(deltaic.read(door, path)) == [
        i for i in range(20) if i % 4 != 1 and not (i % 4 == 3 and i > 10)
    ]


def test_an_append_only_table_loses_no_rows(door: Any, tmp_path: Path) -> None:
    path = str(tmp_path / "t")
    deltaic.save(door.range(10), path, **{"delta.appendOnly": "true"})
    table = DeltaTable.forPath(door, path)
    # whether there are such rows or not
    for condition in (None, "id = 3", "id = 77", "false"):
        with pytest.raises(exceptions.AppendOnlyError):
            table.delete(condition)
        with pytest.raises(exceptions.AppendOnlyError):
            table.update(condition, {"id": "id"})
    assert versions(path) == 1


@pytest.mark.classic("asks an operation of this process")
def test_the_predicate_of_spark_is_what_was_read(spark: Any, tmp_path: Path) -> None:
    path = str(tmp_path / "t")
    deltaic.save(spark.range(0, 100, 1, 4), path, **VECTORS)
    with Operation(TableRef(spark, path), "DELETE", {}) as op:
        op.bound(op.rows().where("id + 0 < 5 + 5 AND id IS NOT NULL")).collect()
        assert '"value": 10' in (op.asked() or "") or '"value":10' in (op.asked() or "")


@pytest.mark.parametrize("by_vectors", [False, True], ids=["rewrite", "vectors"])
def test_disjoint_deletes_at_the_same_time_all_land(door: Any, by_vectors: Any, tmp_path: Path) -> None:
    path = str(tmp_path / "t")
    deltaic.save(door.range(0, 400, 1, 4), path, deltaicRoute="arrow", **(VECTORS if by_vectors else {}))
    table = DeltaTable.forPath(door, path)

    def one(number: int) -> None:
        low = number * 100
        table.delete(f"id >= {low} AND id < {low + 50}")

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(one, range(4)))
    assert ids(deltaic.read(door, path)) == [i for i in range(400) if i % 100 >= 50]


def test_deletes_of_other_rows_of_one_file_merge(door: Any, tmp_path: Path) -> None:
    path = str(tmp_path / "t")
    deltaic.save(door.range(0, 100, 1, 1), path, **VECTORS)
    with Operation(TableRef(door, path), "DELETE", {}) as op:
        find_touched(op, "id < 10")
        DeltaTable.forPath(door, path).delete("id > 90")
        op.commit({}, by_vectors=True)
    assert ids(deltaic.read(door, path)) == list(range(10, 91))


def test_a_lost_race_leaves_no_file(door: Any, tmp_path: Path) -> None:
    path = str(tmp_path / "t")
    deltaic.save(door.range(0, 100, 1, 1), path)
    with Operation(TableRef(door, path), "DELETE", {}) as op:
        find_touched(op, "id < 10")
        op.write_data(op.rows("left").where("id >= 10").select("id"), changed=False)
        DeltaTable.forPath(door, path).delete("id > 90")
        before = data_files(path)
        with pytest.raises(exceptions.CommitConflictError):
            op.commit({}, by_vectors=False)
    assert len(data_files(path)) == len(before) - 1
    assert ids(deltaic.read(door, path)) == list(range(91))
