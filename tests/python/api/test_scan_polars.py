"""Tables as lazy frames of Polars."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING

import polars
import pyarrow
import pytest
from frame_tables import DAY, UTC, combined, ten_files, with_files_of
from hypothesis import given, settings
from hypothesis import strategies as st
from polars import col

import deltaic
from deltaic.exceptions import DataFileError, InvalidArgumentError, TableNotFoundError
from deltaic.frames.polars_filter import pushed

if TYPE_CHECKING:
    from pathlib import Path

TYPES = {
    "b": "boolean",
    "d": "date",
    "f": "double",
    "n": "long",
    "s": "string",
    "t": "timestamp",
    "u": "timestamp_ntz",
    "odd name": "integer",
}


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> deltaic.Table:
    return ten_files(tmp_path_factory.mktemp("scan") / "t")


def all_rows(table: deltaic.Table) -> polars.DataFrame:
    frame = polars.from_arrow(pyarrow.table(table.to_arrow()))
    assert isinstance(frame, polars.DataFrame)
    return frame


FILTERS = {
    "n > 12": col("n") > 12,
    "turned": polars.lit(12) > col("n"),
    "n is 12": col("n") == 12,
    "not": col("n") != 12,
    "and": (col("n") >= 12) & (col("s") < "it's \\ 50"),
    "or": (col("n") < 5) | (col("d") == DAY + dt.timedelta(days=90)),
    "or of what is not understood": (col("n") < 5) | (col("n") % 2 == 0),
    "and of what is not understood": (col("n") < 50) & (col("n") % 2 == 0),
    "between": col("n").is_between(20, 30, closed="left"),
    "in": col("n").is_in([1, 44, 77, None]),
    "in text": col("s").is_in(["it's \\ 05", "no"]),
    "in nothing": col("n").is_in([]),
    "null": col("n").is_null(),
    "not null": col("n").is_not_null() & (col("n") > 90),
    "a boolean": col("b"),
    "no boolean": ~col("b"),
    "a fraction": col("n") > 12.5,
    "NaN": col("f") > 3.0,
    "of a cast": col("n").cast(polars.Int8) > 12,
    "a time": col("t") > dt.datetime(2026, 1, 1, 20, tzinfo=UTC),
    "a time elsewhere": col("t") > dt.datetime(2026, 1, 1, 20, tzinfo=dt.timezone(dt.timedelta(hours=2))),
    "a time without a zone": col("u") <= dt.datetime(2026, 1, 1, 2),
    "an odd name": col("odd name") == 2,
    "a missing key": col("n").eq_missing(12),
    "beyond": col("n") < 2**80,
}


@pytest.mark.parametrize("name", FILTERS)
def test_a_filter_keeps_the_rows_that_polars_keeps(table: deltaic.Table, name: str) -> None:
    expected = all_rows(table).filter(FILTERS[name])
    frame = deltaic.scan_polars(table)
    assert frame.filter(FILTERS[name]).sort("s").collect().equals(expected.sort("s"))
    some = frame.filter(FILTERS[name]).select("d", "f").sort("d").collect()
    assert some.equals(expected.select("d", "f").sort("d"))
    assert frame.filter(FILTERS[name]).select(polars.len()).collect().item() == len(expected)


PUSHED = {
    "n > 12": "`n` > 12",
    "turned": "`n` < 12",
    "and": r"`n` >= 12 AND `s` < 'it\'s \\ 50'",
    "or": "(`n` < 5 OR `d` = DATE '2026-04-01')",
    "or of what is not understood": None,
    "and of what is not understood": "`n` < 50",
    "between": "`n` >= 20 AND `n` < 30",
    "null": "`n` IS NULL",
    "a boolean": "`b` = true",
    "no boolean": "`b` = false",
    "a fraction": None,
    "NaN": None,
    "of a cast": None,
    "a time elsewhere": "`t` > TIMESTAMP '2026-01-01 18:00:00'",
    "a time without a zone": "`u` <= TIMESTAMP_NTZ '2026-01-01 02:00:00'",
    "an odd name": "`odd name` = 2",
    "beyond": None,
}


@pytest.mark.parametrize("name", PUSHED)
def test_what_is_pushed_is_understood(name: str) -> None:
    assert pushed(FILTERS[name], TYPES) == PUSHED[name]


def test_lists_of_constants_are_pushed_where_polars_can_say_them() -> None:
    assert pushed(col("n").is_in([1, 44, None]), TYPES) == "`n` IN (1, 44)"
    assert pushed(col("n").is_in(["a"]), TYPES) is None


def test_only_files_that_may_hold_rows_are_opened(table: deltaic.Table, tmp_path: Path) -> None:
    """Files with other rows are gone, and the query does not notice."""
    copy = with_files_of(table, tmp_path / "t", "n > 92")
    frame = deltaic.scan_polars(copy)
    assert frame.filter(col("n") > 92).select("n").collect()["n"].sort().to_list() == [*range(93, 99)]
    with pytest.raises(DataFileError):
        frame.collect()


def test_the_version_stays_the_same(tmp_path: Path) -> None:
    path = tmp_path / "t"
    deltaic.write(path, pyarrow.table({"n": [1, 2]}))
    frame = deltaic.scan_polars(path)
    deltaic.write(path, pyarrow.table({"n": [3]}), mode="append")
    assert frame.select("n").collect()["n"].to_list() == [1, 2]
    assert sorted(deltaic.scan_polars(path).collect()["n"].to_list()) == [1, 2, 3]
    assert deltaic.scan_polars(path, version=0).collect().height == 2
    with pytest.raises(InvalidArgumentError, match="open table"):
        deltaic.scan_polars(deltaic.Table(path), version=0)
    with pytest.raises(TableNotFoundError):
        deltaic.scan_polars(tmp_path / "none")


@pytest.mark.parametrize("rows", [0, 1, 7, 1000])
def test_a_slice_reads_no_more(table: deltaic.Table, rows: int) -> None:
    frame = deltaic.scan_polars(table)
    assert frame.head(rows).collect().height == min(rows, 97)
    few = frame.head(rows).filter(col("n") >= 0).collect()
    assert few.height == frame.head(rows).collect().filter(col("n") >= 0).height


def test_a_table_without_rows_has_its_schema(tmp_path: Path) -> None:
    deltaic.create(tmp_path / "t", "a INT, s STRUCT<b: STRING>, l ARRAY<DATE>")
    frame = deltaic.scan_polars(tmp_path / "t").filter(col("a") > 1).collect()
    types = {
        "a": polars.Int32,
        "s": polars.Struct({"b": polars.String}),
        "l": polars.List(polars.Date),
    }
    assert (frame.height, dict(frame.schema)) == (0, types)


LEAF = st.one_of(
    st.builds(
        lambda n, op: getattr(col("n"), op)(n),
        st.integers(-5, 105),
        st.sampled_from(["__gt__", "__le__", "__eq__"]),
    ),
    st.builds(lambda d: col("d") < DAY + dt.timedelta(days=d), st.integers(0, 100)),
    st.sampled_from([col("b"), ~col("b"), col("n").is_null(), col("n") % 3 == 0, col("f") > 10.0]),
    st.builds(lambda ns: col("n").is_in(ns), st.lists(st.integers(0, 100), max_size=4)),
)


@settings(max_examples=60, deadline=None)
@given(combined(LEAF))
def test_no_filter_loses_rows(table: deltaic.Table, condition: polars.Expr) -> None:
    expected = all_rows(table).filter(condition)
    assert deltaic.scan_polars(table).filter(condition).sort("d").collect().equals(expected.sort("d"))
