"""Upserts of Arrow data by key, without Spark."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pandas
import polars
import pyarrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import deltaic
from deltaic.exceptions import InvalidArgumentError, InvalidExpressionError, MultipleMatchesError

if TYPE_CHECKING:
    from pathlib import Path

PEOPLE = pyarrow.schema([("k", pyarrow.int32()), ("name", pyarrow.string()), ("seq", pyarrow.int32())])


def people(*rows: tuple[Any, ...]) -> pyarrow.Table:
    columns = zip(*rows, strict=True) if rows else ([], [], [])
    return pyarrow.table([list(c) for c in columns], schema=PEOPLE)


def rows(table: deltaic.Table) -> list[tuple[Any, ...]]:
    return sorted((tuple(r.values()) for r in pyarrow.table(table.to_arrow()).to_pylist()), key=str)


@pytest.fixture(params=["vectors", "rewrite", "feed and row ids"])
def table(request: pytest.FixtureRequest, tmp_path: Path) -> deltaic.Table:
    properties = {
        "vectors": {"delta.enableDeletionVectors": "true"},
        "rewrite": {"delta.enableDeletionVectors": "false"},
        "feed and row ids": {"delta.enableChangeDataFeed": "true", "delta.enableRowTracking": "true"},
    }
    first = people((1, "a", 1), (2, "b", 1), (None, "c", 1))
    deltaic.write(tmp_path / "t", first, configuration=properties[request.param])
    return deltaic.Table(tmp_path / "t")


def test_an_upsert_replaces_rows_and_adds_others(table: deltaic.Table) -> None:
    batch = people((2, "B", 2), (None, "C", 2), (3, "D", 2))
    done = table.upsert(batch, "K")
    assert (done.version, done.inserted_rows, done.updated_rows) == (1, 1, 2)
    assert table.version == 1
    assert rows(table) == [(1, "a", 1), (2, "B", 2), (3, "D", 2), (None, "C", 2)]
    done = table.upsert(batch, ["k", "seq"], user_metadata="again")
    assert (done.inserted_rows, done.updated_rows) == (0, 3)
    newest = table.history(1)[0]
    assert (newest["operation"], newest["userMetadata"]) == ("MERGE", "again")
    assert table.verify(deep=True).findings == []


@pytest.mark.parametrize("frame", [polars.DataFrame, pandas.DataFrame], ids=["polars", "pandas"])
def test_frames_are_sources(table: deltaic.Table, frame: Any) -> None:
    assert table.upsert(frame({"k": [1, 9], "name": ["A", "J"], "seq": [2, 2]}), "k").updated_rows == 1
    assert (1, "A", 2) in rows(table)


def test_a_duplicate_key_is_refused_unless_an_order_says_which_row_is_the_latest(
    table: deltaic.Table,
) -> None:
    # neither key is in the table: a merge would add all four rows
    twice = people((7, "a", 2), (7, "b", 3), (8, "c", 1), (8, "d", None))
    with pytest.raises(MultipleMatchesError, match="k = 7; k = 8"):
        table.upsert(twice, "k")
    assert deltaic.Table(table.uri).version == 0
    done = table.upsert(twice, "k", order_by="seq")
    assert (done.source_rows, done.inserted_rows) == (2, 2)
    assert [r for r in rows(table) if r[0] in (7, 8)] == [(7, "b", 3), (8, "c", 1)]
    table.upsert(twice, "k", order_by=["seq IS NULL", "name"])
    assert [r for r in rows(table) if r[0] in (7, 8)] == [(7, "b", 3), (8, "d", None)]


def test_an_application_does_a_version_once(table: deltaic.Table) -> None:
    run = people((1, "new", 5))
    assert table.upsert(run, "k", app_transaction=("nightly", 7)).version == 1
    table.delete("k = 1")
    assert table.upsert(run, "k", app_transaction=("nightly", 7)).version is None
    assert all(k != 1 for k, _, _ in rows(table))
    # without rows the version is recorded, too
    assert table.upsert(people(), "k", app_transaction=("nightly", 8)).version == 3


def test_columns_are_added_where_that_is_asked_for(table: deltaic.Table) -> None:
    more = pyarrow.table({"k": pyarrow.array([1, 4], pyarrow.int32()), "city": ["Oslo", "Lima"]})
    with pytest.raises(InvalidArgumentError):
        table.upsert(more, "k")
    table.upsert(more, "k", with_schema_evolution=True)
    expected = [(1, "a", 1, "Oslo"), (2, "b", 1, None), (4, None, None, "Lima"), (None, "c", 1, None)]
    assert rows(table) == expected


def test_what_is_no_key_and_no_order_is_refused(table: deltaic.Table) -> None:
    batch = people((1, "a", 1))
    for keys in ([], "no", ["k", "no"]):
        with pytest.raises(InvalidArgumentError, match="id_cols"):
            table.upsert(batch, keys)
    for order in ("no", "seq +"):
        with pytest.raises(InvalidExpressionError):
            table.upsert(batch, "k", order_by=order)
    # a column of the source only
    with pytest.raises(InvalidExpressionError, match="no column"):
        table.upsert(batch.append_column("new", pyarrow.array([1])), "new")
    assert deltaic.Table(table.uri).version == 0


KEYS = st.one_of(st.none(), st.integers(0, 4))
ORDER = st.one_of(st.none(), st.floats(width=32), st.sampled_from([0.0, -0.0, math.nan]))


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(KEYS, ORDER), max_size=12), st.lists(st.tuples(KEYS, ORDER), max_size=12))
def test_many_upserts_leave_what_plain_code_leaves(
    tmp_path_factory: pytest.TempPathFactory, first: list[Any], second: list[Any]
) -> None:
    """Null is the least, NaN the greatest, and of equal ones the last counts."""
    kept: dict[Any, tuple[Any, int]] = {}

    def place(value: float | None) -> tuple[int, float]:
        if value is None:
            return (0, 0.0)
        return (2, 0.0) if math.isnan(value) else (1, value)

    path = tmp_path_factory.mktemp("upserts") / "t"
    schema = pyarrow.schema([("k", pyarrow.int64()), ("seen", pyarrow.float64()), ("at", pyarrow.int64())])
    deltaic.write(path, schema.empty_table())
    table = deltaic.Table(path)
    for number, batch in enumerate([first, second]):
        latest: dict[Any, tuple[Any, int]] = {}
        for at, (key, seen) in enumerate(batch):
            if key not in latest or place(seen) >= place(latest[key][0]):
                latest[key] = (seen, number * 100 + at)
        kept |= latest
        columns = zip(*((k, s, number * 100 + at) for at, (k, s) in enumerate(batch)), strict=True)
        arrays = [list(c) for c in columns] or [[], [], []]
        table.upsert(pyarrow.table(arrays, schema=schema), "k", order_by="seen")
    found = {row["k"]: row["at"] for row in pyarrow.table(table.to_arrow()).to_pylist()}
    assert found == {key: at for key, (_, at) in kept.items()}
