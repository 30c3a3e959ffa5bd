"""Merges of Arrow data into a table, without Spark."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import TYPE_CHECKING

import pandas
import polars
import pyarrow
import pytest

import deltaic
from deltaic.exceptions import (
    AppendOnlyError,
    InvalidArgumentError,
    InvalidExpressionError,
    InvariantViolationError,
    MultipleMatchesError,
    SchemaMismatchError,
)

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(params=["vectors", "rewrite", "feed and row ids"])
def items(request: pytest.FixtureRequest, tmp_path: Path) -> deltaic.Table:
    properties = {
        "vectors": {"delta.enableDeletionVectors": "true"},
        "rewrite": {"delta.enableDeletionVectors": "false"},
        "feed and row ids": {"delta.enableChangeDataFeed": "true", "delta.enableRowTracking": "true"},
    }
    rows = pyarrow.table({"id": range(10), "name": [f"item {n}" for n in range(10)], "stock": [5] * 10})
    deltaic.write(tmp_path / "items", rows, configuration=properties[request.param])
    return deltaic.Table(tmp_path / "items")


def rows(table: deltaic.Table) -> list[dict[str, object]]:
    return pyarrow.table(table.to_arrow()).sort_by(table.schema.names[0]).to_pylist()


CHANGES = {"id": [3, 20], "name": ["lamp", "chair"], "stock": [1, 2]}


@pytest.mark.parametrize(
    "source",
    [
        pyarrow.table(CHANGES),
        pyarrow.table(CHANGES).to_reader(max_chunksize=1),
        pyarrow.record_batch(CHANGES),
        polars.DataFrame(CHANGES),
        pandas.DataFrame(CHANGES),
    ],
    ids=["table", "reader", "batch", "polars", "pandas"],
)
def test_an_upsert_of_any_frame(tmp_path: Path, source: object) -> None:
    deltaic.write(tmp_path / "t", pyarrow.table({"id": [3, 4], "name": ["a", "b"], "stock": [0, 0]}))
    table = deltaic.Table(tmp_path / "t")
    merge = table.merge(source, ["id"]).when_matched_update_all().when_not_matched_insert_all()
    done = merge.execute()
    assert (done.version, done.source_rows, done.updated_rows, done.inserted_rows) == (1, 2, 1, 1)
    assert table.version == 1
    assert [row["name"] for row in rows(table)] == ["lamp", "b", "chair"]


def test_each_clause_is_about_its_rows(items: deltaic.Table) -> None:
    source = pyarrow.table({"id": [1, 2, 30, 31], "n": [7, 8, 9, 10], "gone": [True, False, False, True]})
    done = (
        items.merge(source, "t.id = s.id", source_alias="s", target_alias="t")
        .when_matched_delete("gone")
        .when_matched_update({"stock": "stock + s.n", "name": "upper(name)"})
        .when_not_matched_insert({"id": "s.id", "stock": "n"}, where="NOT gone")
        .when_not_matched_by_source_update({"stock": "0"}, where="id > 7")
        .when_not_matched_by_source_delete("id = 0")
        .execute()
    )
    assert (done.deleted_rows, done.updated_rows, done.inserted_rows) == (2, 3, 1)
    found = {row["id"]: (row["name"], row["stock"]) for row in rows(items)}
    assert found == {
        2: ("ITEM 2", 13),
        **{n: (f"item {n}", 5) for n in range(3, 8)},
        8: ("item 8", 0),
        9: ("item 9", 0),
        30: (None, 9),
    }
    assert items.verify(deep=True).findings == []
    history = items.history(1)[0]
    assert history["operation"] == "MERGE"
    assert history["operationParameters"]["predicate"] == '["t.id = s.id"]'
    metrics = history["operationMetrics"]
    assert (metrics["numTargetRowsMatchedUpdated"], metrics["numTargetRowsNotMatchedBySourceUpdated"]) == (
        "1",
        "2",
    )


def test_nothing_is_committed_where_no_clause_applies(items: deltaic.Table) -> None:
    none = pyarrow.table({"id": pyarrow.array([], pyarrow.int64())})
    for source in [none, pyarrow.table({"id": [77]})]:
        done = items.merge(source, ["id"]).when_matched_delete().execute()
        assert (done.version, done.deleted_rows, items.version) == (None, 0, 0)


KEYS = [
    (pyarrow.int32(), pyarrow.int64(), [1, 2], [2, 2**40]),
    (pyarrow.int64(), pyarrow.int8(), [1, 2], [2, 3]),
    (pyarrow.string(), pyarrow.large_string(), ["a", "é"], ["é", "z"]),
    (pyarrow.string(), pyarrow.dictionary(pyarrow.int32(), pyarrow.string()), ["a", "b"], ["b", "z"]),
    (pyarrow.float64(), pyarrow.float64(), [0.5, float("nan")], [float("nan"), 7.0]),
    (pyarrow.float64(), pyarrow.float64(), [0.5, 0.0], [-0.0, 7.0]),
    (pyarrow.decimal128(9, 2), pyarrow.int32(), [Decimal("1.50"), Decimal("2.00")], [2, 3]),
    (
        pyarrow.date32(),
        pyarrow.date32(),
        [dt.date(2026, 1, 1), dt.date(2026, 1, 2)],
        [dt.date(2026, 1, 2), dt.date(2027, 1, 1)],
    ),
    (pyarrow.bool_(), pyarrow.bool_(), [False, True], [True]),
    (pyarrow.binary(), pyarrow.binary(), [b"a", b"\x00\xff"], [b"\x00\xff", b"z"]),
    (
        pyarrow.timestamp("us", "UTC"),
        pyarrow.timestamp("ms", "UTC"),
        [dt.datetime(2026, 1, 1, tzinfo=dt.timezone.utc), dt.datetime(2026, 1, 2, tzinfo=dt.timezone.utc)],
        [dt.datetime(2026, 1, 2, tzinfo=dt.timezone.utc)],
    ),
]


@pytest.mark.parametrize(
    ("own", "other", "keys", "given"), KEYS, ids=[f"{k[0]} {k[1]} {n}" for n, k in enumerate(KEYS)]
)
def test_keys_of_every_type_meet_by_value(
    tmp_path: Path, own: pyarrow.DataType, other: pyarrow.DataType, keys: list[object], given: list[object]
) -> None:
    deltaic.write(tmp_path / "t", pyarrow.table({"k": pyarrow.array([*keys, None], own), "n": [0, 1, 2]}))
    table = deltaic.Table(tmp_path / "t")
    source = pyarrow.table({"k": pyarrow.array([*given, None], other)})
    done = table.merge(source, ["k"]).when_matched_update({"n": "9"}).execute()
    assert done.updated_rows == 1
    assert sorted(row["n"] for row in rows(table)) == [0, 2, 9]
    done = table.merge(source, "target.k <=> source.k").when_matched_delete().execute()
    assert done.deleted_rows == 2


def test_values_are_stored_as_those_of_an_insert(items: deltaic.Table) -> None:
    small = pyarrow.table({"id": pyarrow.array([3], pyarrow.int16()), "name": [5], "stock": [2.0]})
    merge = items.merge(small, ["id"]).when_matched_update_all().when_not_matched_insert_all()
    assert merge.execute().updated_rows == 1
    assert rows(items)[3] == {"id": 3, "name": "5", "stock": 2}
    with pytest.raises(SchemaMismatchError, match="stock"):
        items.merge(small.set_column(2, "stock", [["x"]]), ["id"]).when_matched_update_all().execute()
    large = pyarrow.table({"id": [3], "name": ["x"], "stock": [1e300]})
    with pytest.raises(InvalidExpressionError):
        items.merge(large, ["id"]).when_matched_update_all().execute()
    assert items.version == 1


def test_several_matches_are_an_error_that_shows_the_rows(items: deltaic.Table) -> None:
    twice = pyarrow.table({"id": [4, 4, 5], "stock": [1, 2, 3]})
    with pytest.raises(MultipleMatchesError, match="id = 4") as raised:
        items.merge(twice, ["id"]).when_matched_update({"stock": "source.stock"}).execute()
    assert raised.value.rows == ["id = 4"]
    assert raised.value.condition == "DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE"
    assert items.version == 0
    assert items.merge(twice, ["id"]).when_matched_delete().execute().deleted_rows == 2


def test_what_cannot_be_is_refused(items: deltaic.Table, tmp_path: Path) -> None:
    source = pyarrow.table({"id": [1], "other": [2]})
    begun = items.merge(source, ["id"])
    for refused, error in [
        (begun, InvalidArgumentError),
        (begun.when_matched_update_all(), InvalidArgumentError),
        (begun.when_matched_update({"nobody": "1"}), InvalidArgumentError),
        (begun.when_matched_delete().when_matched_update({"stock": "1"}), InvalidArgumentError),
        (begun.when_matched_delete("nobody = 1"), InvalidExpressionError),
        (items.merge(source, "id = id").when_matched_delete(), InvalidExpressionError),
        (items.merge(source, ["nobody"]).when_matched_delete(), InvalidExpressionError),
        (items.merge(source, ["id"], source_alias="target").when_matched_delete(), InvalidArgumentError),
        (items.merge([1], ["id"]).when_matched_delete(), InvalidArgumentError),
    ]:
        with pytest.raises(error):
            refused.execute()
    assert items.version == 0
    deltaic.write(tmp_path / "log", source, configuration={"delta.appendOnly": "true"})
    log = deltaic.Table(tmp_path / "log")
    with pytest.raises(AppendOnlyError):
        log.merge(source, ["id"]).when_matched_delete().execute()
    more = pyarrow.table({"id": [1, 2], "other": [2, 3]})
    assert log.merge(more, ["id"]).when_not_matched_insert_all().execute().inserted_rows == 1


def test_the_rules_of_the_table_hold(tmp_path: Path) -> None:
    rows_ = pyarrow.table({"id": [1, 2], "n": [1, 2]})
    deltaic.write(tmp_path / "t", rows_)
    table = deltaic.Table(tmp_path / "t")
    table.add_constraint("small", "n < 100")
    for source in [{"id": [1], "n": [500]}, {"id": [9], "n": [500]}]:
        merge = (
            table.merge(pyarrow.table(source), ["id"]).when_matched_update_all().when_not_matched_insert_all()
        )
        with pytest.raises(InvariantViolationError, match="small"):
            merge.execute()
    assert deltaic.Table(tmp_path / "t").version == 1


def test_columns_join_where_the_schema_evolves(items: deltaic.Table) -> None:
    source = pyarrow.table({"id": [3, 40], "name": ["a", "b"], "stock": [1, 1], "rating": [4.5, 5.0]})
    merge = items.merge(source, ["id"], with_schema_evolution=True)
    merge.when_matched_update({"rating": "source.rating"}).when_not_matched_insert_all().execute()
    assert items.schema.names == ["id", "name", "stock", "rating"]
    found = {row["id"]: (row["name"], row["rating"]) for row in rows(items) if row["rating"] is not None}
    assert found == {3: ("item 3", 4.5), 40: ("b", 5.0)}


def test_a_transaction_is_recorded_once(items: deltaic.Table) -> None:
    source = pyarrow.table({"id": [3]})
    for version in (1, None):
        merge = items.merge(
            source, ["id"], app_transaction=("app", 1), user_metadata="once"
        ).when_matched_update({"stock": "stock + 1"})
        assert merge.execute().version == version
    assert rows(items)[3]["stock"] == 6
    assert items.history(1)[0]["userMetadata"] == "once"
