"""Upserts, once for each batch of a stream; type-2 dimensions; deduplication."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from random import Random
from typing import Any

import pytest
from dml_tables import (
    FEED,
    KINDS,
    NAMES,
    VECTORS,
    actions,
    changes,
    last_commit,
    live,
    make,
    row_ids,
    versions,
)

import deltaic
from deltaic import exceptions
from deltaic.exceptions import MultipleMatchesError
from deltaic.tables import DeltaTable

pytestmark = pytest.mark.spark

PEOPLE = "k INT, name STRING, seq INT"


def people(door: Any, *rows: tuple[Any, ...]) -> Any:
    return door.createDataFrame([*rows], PEOPLE)


def rows(door: Any, path: str, *columns: str) -> list[tuple[Any, ...]]:
    found = deltaic.read(door, path).select(*(columns or ["*"])).collect()
    return sorted((tuple(r) for r in found), key=str)


def transactions(path: str) -> list[tuple[str, int]]:
    return [(a["txn"]["appId"], a["txn"]["version"]) for a in actions(path) if "txn" in a]


@pytest.mark.parametrize("kind", ["rewrite", "vectors"])
def test_an_upsert_replaces_rows_and_adds_others(door: Any, kind: str, tmp_path: Path) -> None:
    path = str(tmp_path / "t")
    deltaic.save(people(door, (1, "a", 1), (2, "b", 1), (None, "c", 1)), path, **KINDS[kind])
    batch = people(door, (2, "B", 2), (None, "C", 2), (3, "D", 2))
    done = deltaic.upsert(batch, path, "K")
    assert done == deltaic.UpsertResult(version=1, inserted_rows=1, updated_rows=2)
    assert rows(door, path) == [(1, "a", 1), (2, "B", 2), (3, "D", 2), (None, "C", 2)]
    # a table of a session that knows more of it
    done = deltaic.upsert(batch, DeltaTable.forPath(door, path), ["k", "seq"])
    assert (done.inserted_rows, done.updated_rows) == (0, 3)
    assert last_commit(path)[0]["operation"] == "MERGE"


def test_only_files_that_may_hold_a_key_are_read(door: Any, tmp_path: Path) -> None:
    path = str(tmp_path / "t")
    first = door.sql("SELECT CAST(id % 3 AS INT) AS p, id, 0 AS n FROM range(30)")
    deltaic.save(first, path, partition_by="p")
    deltaic.save(door.sql("SELECT 0 AS p, id + 1000 AS id, 0 AS n FROM range(9)"), path, mode="append")
    gone = [f["path"] for f in live(path) if f["partitionValues"]["p"] == "1"]
    gone += [f["path"] for f in live(path) if json.loads(f["stats"])["minValues"]["id"] == 1000]
    for name in gone:
        Path(path, name).unlink()
    done = deltaic.upsert(door.sql("SELECT 0 AS p, 3L AS id, 1 AS n"), path, ["p", "id"])
    # one file or more of each, as many as there were tasks
    assert len(gone) >= 2
    assert (done.updated_rows, done.inserted_rows) == (1, 0)


def test_of_several_rows_of_a_key_the_latest_counts(door: Any, tmp_path: Path) -> None:
    path = str(tmp_path / "t")
    deltaic.save(people(door, (1, "a", 1)), path)
    batch = people(
        door, (1, "x", 2), (1, "z", 3), (1, "y", None), (None, "n", 1), (None, "m", 2), (2, "b", None)
    )
    with pytest.raises(MultipleMatchesError, match="order_by") as raised:
        deltaic.upsert(batch, path, "k")
    assert sorted(raised.value.rows) == ["k = 1", "k = None"]
    assert versions(path) == 1
    done = deltaic.upsert(batch, path, "k", order_by=["abs(seq)", "name"])
    assert (done.inserted_rows, done.updated_rows) == (2, 1)
    assert rows(door, path) == [(1, "z", 3), (2, "b", None), (None, "m", 2)]


def test_what_is_no_table_or_column_is_named(spark: Any, tmp_path: Path) -> None:
    path = str(tmp_path / "t")
    batch = people(spark, (1, "a", 1))
    with pytest.raises(exceptions.TableNotFoundError):
        deltaic.upsert(batch, path, "k")
    deltaic.save(batch, path)
    for ids in ("nothing", [], ["k", "nothing"]):
        with pytest.raises(exceptions.InvalidArgumentError, match="id_cols"):
            deltaic.upsert(batch, path, ids)
        with pytest.raises(exceptions.InvalidArgumentError, match="id_cols"):
            deltaic.deduplicate(DeltaTable.forPath(spark, path), ids)
    for call in (lambda: deltaic.upsert(batch, 7, "k"), lambda: deltaic.deduplicate(path, "k")):
        with pytest.raises(exceptions.InvalidArgumentError, match="table"):
            call()
    with pytest.raises(exceptions.InvalidArgumentError, match="optimize_every"):
        deltaic.upsert_batch(path, "k", optimize_every=0)
    with pytest.raises(exceptions.InvalidArgumentError, match="query_id"):
        deltaic.upsert_batch(path, "k")(batch, 0)
    assert versions(path) == 1


def test_columns_join_where_that_is_asked_for(door: Any, tmp_path: Path) -> None:
    path = str(tmp_path / "t")
    deltaic.save(people(door, (1, "a", 1)), path)
    batch = door.sql("SELECT 1 AS k, 'A' AS name, true AS more UNION ALL SELECT 2, 'B', false")
    with pytest.raises(exceptions.InvalidArgumentError, match="seq"):
        deltaic.upsert(batch, path, "k")
    deltaic.upsert(batch, path, "k", merge_schema=True)
    assert rows(door, path) == [(1, "A", 1, True), (2, "B", None, False)]


def test_an_application_transaction_is_done_once(door: Any, tmp_path: Path) -> None:
    path = str(tmp_path / "t")
    deltaic.save(people(door, (1, "a", 1)), path)
    done = deltaic.upsert(people(door, (1, "b", 2)), path, "k", app_transaction=("app", 5))
    assert (done.version, done.updated_rows) == (1, 1)
    for version in (5, 4):
        again = deltaic.upsert(people(door, (1, "c", 3)), path, "k", app_transaction=("app", version))
        assert again == deltaic.UpsertResult(None, 0, 0)
    # what changes nothing is recorded all the same
    assert deltaic.upsert(people(door), path, "k", app_transaction=("app", 6)).version == 2
    assert deltaic.upsert(people(door), path, "k").version is None
    assert rows(door, path) == [(1, "b", 2)]
    assert transactions(path) == [("app", 5), ("app", 6)]


def test_small_files_are_joined_afterwards(spark: Any, tmp_path: Path, monkeypatch: Any) -> None:
    path = str(tmp_path / "t")
    deltaic.save(people(spark, (1, "a", 1)), path, **VECTORS)
    deltaic.upsert(people(spark, (2, "b", 1)), path, "k", optimize=True)
    assert (len(live(path)), last_commit(path)[0]["operation"]) == (1, "OPTIMIZE")
    write = deltaic.upsert_batch(path, "k", query_id="q", optimize_every=2)
    write(people(spark, (3, "c", 1)), 0)
    assert len(live(path)) == 2
    write(people(spark, (4, "d", 1)), 1)
    assert len(live(path)) == 1
    seen = versions(path)
    write(people(spark, (5, "e", 1)), 1)
    assert versions(path) == seen

    def fails(*_: Any, **__: Any) -> None:
        raise exceptions.CommitConflictError("others were first")

    monkeypatch.setattr(deltaic.Table, "optimize", fails)
    with pytest.warns(exceptions.DeltaWarning, match="others were first"):
        done = deltaic.upsert(people(spark, (5, "e", 1)), path, "k", optimize=True)
    assert done.inserted_rows == 1
    assert len(rows(spark, path)) == 5


def test_an_upsert_without_spark_leaves_the_same(spark: Any, tmp_path: Path) -> None:
    """Null is the least, NaN the greatest, both zeros are one key, and equal nulls are one, too."""
    columns = "f DOUBLE, s STRING, at INT"
    floats = [None, float("nan"), float("-inf"), -0.0, 0.0, 1.5]
    words = [None, "", "a", "B", "\u00e9", "\U0001f600", "\uffff"]
    random = Random(7)
    batches = [
        [(random.choice(floats), random.choice(words), 100 * b + n) for n in range(30)] for b in range(3)
    ]
    for key, order in [
        ("f", ["s", "at"]),
        ("s", ["f", "at"]),
        (["s", "f"], ["-at"]),
        ("s", ["f IS NULL", "at"]),
    ]:
        by_spark, by_core = (str(tmp_path / f"{name} {key} {order[0]}") for name in ("spark", "core"))
        for path in (by_spark, by_core):
            deltaic.create(path, columns, configuration=VECTORS)
        for batch in batches:
            frame = spark.createDataFrame(batch, columns)
            done = deltaic.upsert(frame, by_spark, key, order_by=order)
            without = deltaic.Table(by_core).upsert(frame.toArrow(), key, order_by=order)
            assert (without.inserted_rows, without.updated_rows) == (done.inserted_rows, done.updated_rows)
        # a NaN equals nothing in Python
        assert str(rows(spark, by_core)) == str(rows(spark, by_spark))


def stream(door: Any, folder: Path, write: Any) -> None:
    """Runs a query over the files of a folder until it has seen them all, one file a batch."""
    source = door.readStream.schema(PEOPLE).option("maxFilesPerTrigger", 1).json(str(folder / "in"))
    query = source.writeStream.foreachBatch(write).option("checkpointLocation", str(folder / "checkpoint"))
    query.trigger(availableNow=True).start().awaitTermination()


def arrive(folder: Path, batch: int) -> None:
    """A file with two rows, one of them of a key that the batch before has."""
    texts = [{"k": k, "name": f"of batch {batch}", "seq": batch} for k in (batch, batch + 1)]
    (folder / "in").mkdir(exist_ok=True)
    Path(folder, "in", f"{batch}.json").write_text("\n".join(map(json.dumps, texts)), encoding="utf-8")


def test_a_batch_of_a_stream_is_upserted_once(door: Any, tmp_path: Path) -> None:
    path = str(tmp_path / "t")
    deltaic.save(people(door, (0, "zero", 0)), path)
    write = deltaic.upsert_batch(path, "k", order_by="seq", query_id="people")
    for batch in range(2):
        arrive(tmp_path, batch)
        stream(door, tmp_path, write)
    assert rows(door, path, "k", "name") == [(0, "of batch 0"), (1, "of batch 1"), (2, "of batch 1")]
    assert transactions(path) == [("people", 0), ("people", 1)]
    # it was killed before its checkpoint said that the batch is done; meanwhile somebody changed a row
    for done in (tmp_path / "checkpoint" / "commits").glob("*1*"):
        done.unlink()
    deltaic.upsert(people(door, (2, "newer", 9)), path, "k")
    seen = versions(path)
    stream(door, tmp_path, write)
    assert (versions(path), transactions(path)) == (seen, [("people", 0), ("people", 1)])
    assert rows(door, path, "k", "name")[2] == (2, "newer")


@pytest.mark.classic("Spark Connect does not tell a function of foreachBatch which query it is of")
def test_a_stream_is_known_by_the_id_in_its_checkpoint(spark: Any, tmp_path: Path) -> None:
    path = str(tmp_path / "t")
    deltaic.save(people(spark), path)
    table = DeltaTable.forPath(spark, path)
    for batch in range(2):
        arrive(tmp_path, batch)
        stream(spark, tmp_path, deltaic.upsert_batch(table, "k"))
    query = json.loads((tmp_path / "checkpoint" / "metadata").read_text(encoding="utf-8"))["id"]
    assert transactions(path) == [(query, 0), (query, 1)]


DIMENSION = "k INT, name STRING, city STRING, valid_from TIMESTAMP, valid_to TIMESTAMP, is_current BOOLEAN"
SOURCE = "k INT, name STRING, city STRING, at TIMESTAMP"


def day(number: int) -> dt.datetime:
    return dt.datetime(2026, 1, number)


def dimension(door: Any, folder: Path, schema: str = DIMENSION, **properties: str) -> str:
    path = str(folder / "dimension")
    deltaic.save(door.createDataFrame([], schema), path, **properties)
    return path


def facts(door: Any, *given: tuple[Any, ...]) -> Any:
    return door.createDataFrame([*given], SOURCE)


def history(door: Any, path: str, key: int | None) -> list[tuple[Any, ...]]:
    found = deltaic.read(door, path).where(f"k <=> {'NULL' if key is None else key}").orderBy("valid_from")
    return [
        (r.name, r.city, r.valid_from.day, r.valid_to and r.valid_to.day, r.is_current)
        for r in found.collect()
    ]


@pytest.mark.parametrize("kind", ["rewrite", "vectors"])
def test_a_dimension_keeps_what_was(door: Any, kind: str, tmp_path: Path) -> None:
    path = dimension(door, tmp_path, DIMENSION + ", at TIMESTAMP", **KINDS[kind])
    how: dict[str, Any] = {"valid_at": "at"}
    first = facts(door, (1, "a", "Rome", day(1)), (2, "b", "Oslo", day(1)), (None, "n", None, day(1)))
    assert deltaic.scd2(first, path, "k", **how) == deltaic.Scd2Result(1, opened_rows=3, closed_rows=0)
    second = facts(
        door,
        (1, "a", "Paris", day(2)),  # changed
        (2, "b", "Oslo", day(2)),  # as it was
        (3, "c", "Bern", day(2)),  # new
        (None, "n", "Lima", day(2)),  # nulls are values
    )
    assert deltaic.scd2(second, path, "k", **how) == deltaic.Scd2Result(2, opened_rows=3, closed_rows=2)
    assert history(door, path, 1) == [("a", "Rome", 1, 2, False), ("a", "Paris", 2, None, True)]
    assert history(door, path, 2) == [("b", "Oslo", 1, None, True)]
    assert history(door, path, 3) == [("c", "Bern", 2, None, True)]
    assert history(door, path, None) == [("n", None, 1, 2, False), ("n", "Lima", 2, None, True)]
    # the same again does nothing
    assert deltaic.scd2(second, path, "k", **how).version is None
    # a key comes back to what it was
    deltaic.scd2(facts(door, (1, "a", "Rome", day(3))), path, "k", **how)
    assert [h[1:] for h in history(door, path, 1)] == [
        ("Rome", 1, 2, False),
        ("Paris", 2, 3, False),
        ("Rome", 3, None, True),
    ]


def test_a_change_must_be_later_than_what_it_changes(door: Any, tmp_path: Path) -> None:
    path = dimension(door, tmp_path, DIMENSION + ", at TIMESTAMP")
    deltaic.scd2(facts(door, (1, "a", "Rome", day(5))), path, "k", valid_at="at")
    for when in (day(4), day(5), None):
        with pytest.raises(exceptions.InvalidArgumentError, match="k = 1"):
            deltaic.scd2(facts(door, (1, "a", "Oslo", when)), path, "k", valid_at="at")
    # an old row that says the same changes nothing
    assert deltaic.scd2(facts(door, (1, "a", "Rome", day(4))), path, "k", valid_at="at").version is None
    assert history(door, path, 1) == [("a", "Rome", 5, None, True)]


def test_a_dimension_takes_one_row_of_a_key(door: Any, tmp_path: Path) -> None:
    path = dimension(door, tmp_path, DIMENSION + ", at TIMESTAMP")
    twice = facts(door, (1, "a", "Rome", day(2)), (1, "a", "Oslo", day(3)), (2, "b", "Bern", day(2)))
    with pytest.raises(MultipleMatchesError, match="k = 1"):
        deltaic.scd2(twice, path, "k", valid_at="at")
    assert deltaic.scd2(twice, path, "k", valid_at="at", order_by="at").opened_rows == 2
    assert history(door, path, 1) == [("a", "Oslo", 3, None, True)]


def test_a_dimension_with_names_and_tracked_columns_of_its_own(spark: Any, tmp_path: Path) -> None:
    schema = "k INT, name STRING, city STRING, `from` DATE, `to` DATE, `live now` BOOLEAN"
    path = dimension(spark, tmp_path, schema, **NAMES)
    names = {"valid_from": "from", "valid_to": "to", "is_current": "live now", "tracked": ["CITY"]}
    of = "k INT, name STRING, city STRING"
    first = spark.createDataFrame([(1, "a", "Rome")], of)
    deltaic.scd2(first, path, ["k"], valid_at="DATE'2026-01-01'", **names)
    again = deltaic.scd2(
        spark.createDataFrame([(1, "b", "Rome")], of), path, "k", valid_at="DATE'2026-01-02'", **names
    )
    assert again.version is None
    moved = spark.createDataFrame([(1, "b", "Oslo")], of)
    change = {"valid_at": "DATE'2026-01-03'", "app_transaction": ("app", 1)}
    assert deltaic.scd2(moved, path, "k", **change, **names) == deltaic.Scd2Result(2, 1, 1)
    assert deltaic.scd2(first, path, "k", **change, **names).version is None
    found = deltaic.read(spark, path).orderBy("from").collect()
    assert [tuple(r) for r in found] == [
        (1, "a", "Rome", dt.date(2026, 1, 1), dt.date(2026, 1, 3), False),
        (1, "b", "Oslo", dt.date(2026, 1, 3), None, True),
    ]
    with pytest.raises(exceptions.InvalidArgumentError, match="valid_from"):
        deltaic.scd2(first, path, "k")


def test_without_a_time_it_is_now(door: Any, tmp_path: Path) -> None:
    path = dimension(door, tmp_path)
    of = "k INT, name STRING, city STRING"
    deltaic.scd2(door.createDataFrame([(1, "a", "Rome")], of), path, "k")
    deltaic.scd2(door.createDataFrame([(1, "a", "Oslo")], of), path, "k")
    old, new = deltaic.read(door, path).orderBy("valid_from").collect()
    assert old.valid_to == new.valid_from > old.valid_from
    assert (old.is_current, new.is_current, new.valid_to) == (False, True, None)


@pytest.mark.parametrize("kind", KINDS)
def test_one_row_of_a_key_stays(door: Any, kind: str, tmp_path: Path) -> None:
    path = make(door, tmp_path / "t", kind, by=["p"])
    ids = row_ids(path) if "delta.enableRowTracking" in KINDS[kind] else {}
    table = DeltaTable.forPath(door, path)
    assert deltaic.deduplicate(table, "id") == deltaic.DeduplicateResult(None, 0)
    # of each p and n the row with the greatest id, nulls among them
    before = rows(door, path, "p", "n", "id")
    expected: dict[tuple[Any, Any], int] = {}
    for p, n, i in before:
        expected[p, n] = max(i, expected.get((p, n), i))
    done = deltaic.deduplicate(table, ["p", "n"], order_by="id")
    assert done == deltaic.DeduplicateResult(versions(path) - 1, len(before) - len(expected))
    assert sorted(r[2] for r in rows(door, path, "p", "n", "id")) == sorted(expected.values())
    if FEED.items() <= KINDS[kind].items():
        assert {c["_change_type"] for c in changes(path)} == {"delete"}
    if ids:
        now = row_ids(path)
        assert all(now[i] == ids[i] for i in expected.values())


def test_rows_that_are_the_same_leave_one(door: Any, tmp_path: Path) -> None:
    path = str(tmp_path / "t")
    for _ in range(2):
        deltaic.save(people(door, (1, "a", 1), (None, "b", 1), (None, "b", 1)), path, mode="append")
    table = DeltaTable.forPath(door, path).alias("t")
    assert deltaic.deduplicate(table, ["k", "name", "seq"]).deleted_rows == 4
    assert rows(door, path) == [(1, "a", 1), (None, "b", 1)]
