"""Tables as datasets of pyarrow, and as views of DuckDB."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any

import duckdb
import polars
import pyarrow
import pyarrow.compute as pc
import pyarrow.dataset
import pytest
from frame_tables import DAY, combined, ten_files, with_files_of
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow.compute import field

import deltaic
from deltaic.exceptions import InvalidArgumentError
from deltaic.frames.arrow_filter import Shown

if TYPE_CHECKING:
    from pathlib import Path

    from pyarrow.compute import Expression


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> deltaic.Table:
    return ten_files(tmp_path_factory.mktemp("dataset") / "t")


def rows(found: Any) -> list[str]:
    return sorted(map(str, found.to_pylist()))


# what is pushed of each
FILTERS: dict[str, tuple[Expression, str | None]] = {
    "n > 12": (field("n") > 12, "`n` > 12"),
    "turned": (pc.scalar(12) > field("n"), "`n` < 12"),
    "not equal": (field("n") != 12, None),
    "and": ((field("n") >= 12) & (field("s") < "it's \\ 50"), r"`n` >= 12 AND `s` < 'it\'s \\ 50'"),
    "or": ((field("n") < 5) | (field("d") == DAY), "(`n` < 5 OR `d` = DATE '2026-01-01')"),
    "or of what is not understood": ((field("n") < 5) | (field("f") > 10.0), None),
    "and of what is not understood": ((field("n") < 50) & (field("f") > 10.0), "`n` < 50"),
    "in": (field("n").isin([1, 44, 77]), "`n` IN (1, 44, 77)"),
    "in with null": (field("n").isin([1, None]), None),
    "in nothing": (field("n").isin(pyarrow.array([], pyarrow.int64())), None),
    "null": (field("n").is_null(), "`n` IS NULL"),
    "not null": (field("n").is_valid() & (field("n") > 90), "`n` IS NOT NULL AND `n` > 90"),
    "a boolean": (field("b"), "`b` = true"),
    "no boolean": (~field("b"), "`b` = false"),
    "not of a comparison": (~(field("n") > 12), None),
    "an odd name": (field("odd name") == 2, "`odd name` = 2"),
    "a field of a struct": (field("w", "x") > 12, None),
    "what Substrait cannot say": ((field("n") < 12) & (field("n").cast("int8") > 3), None),
    "two columns": (field("n") > field("odd name"), None),
    "nothing": (pc.scalar(False), None),
}


@pytest.mark.parametrize("name", FILTERS)
def test_a_filter_keeps_the_rows_that_pyarrow_keeps(table: deltaic.Table, name: str) -> None:
    condition, pushed = FILTERS[name]
    expected = pyarrow.table(table.to_arrow()).filter(condition)
    found = deltaic.dataset(table)
    assert rows(found.to_table(filter=condition)) == rows(expected)
    assert rows(found.to_table(["d", "f"], filter=condition)) == rows(expected.select(["d", "f"]))
    assert found.count_rows(filter=condition) == expected.num_rows
    types = {f.name: f.type for f in table.schema.fields}
    assert Shown(condition, found.schema).condition(types) == pushed


def test_the_calls_of_a_dataset(table: deltaic.Table) -> None:
    found, plain = deltaic.dataset(table), pyarrow.table(table.to_arrow())
    assert isinstance(found, pyarrow.dataset.Dataset)
    assert found.schema == plain.schema
    assert found.count_rows() == 97
    assert rows(found.to_table()) == rows(plain)
    assert found.head(5).num_rows == 5
    assert found.take([3, 0]).num_rows == 2
    assert sum(batch.num_rows for batch in found.to_batches(columns=["n"], batch_size=7)) == 97
    twice = {"twice": field("n") * 2, "s": field("s")}
    assert rows(found.to_table(twice)) == rows(pyarrow.dataset.dataset(plain).to_table(twice))
    assert rows(pickle.loads(pickle.dumps(deltaic.dataset(table))).to_table()) == rows(plain)
    with pytest.raises(pyarrow.ArrowInvalid, match="no"):
        found.to_table(["no"])


@pytest.mark.parametrize(
    "ask",
    [
        lambda d: d.get_fragments(),
        lambda d: d.filter(field("n") > 1),
        lambda d: d.sort_by("n"),
        lambda d: d.join(d, "n"),
        lambda d: d.join_asof(d, "n", "s", 1),
        lambda d: d.replace_schema(d.schema),
        lambda d: d.partition_expression,
    ],
)
def test_what_needs_files_of_pyarrow_is_refused(table: deltaic.Table, ask: Any) -> None:
    with pytest.raises(NotImplementedError, match="to_table"):
        ask(deltaic.dataset(table))


QUERIES = [
    "SELECT n, s FROM events WHERE n > 12 AND s <> 'q' AND d >= DATE '2026-02-01' ORDER BY s",
    "SELECT count(*) FROM events WHERE n IN (1, 44, 77) OR s = 'it''s \\ 05'",
    "SELECT a.n FROM events a JOIN events b ON a.n = b.n + 1 WHERE b.n < 8 ORDER BY 1",
    'SELECT sum(n), count(*), max(w.x) FROM events WHERE b AND "odd name" = 2',
    "SELECT n FROM events WHERE n IS NULL OR n BETWEEN 90 AND 93 ORDER BY s",
    "SELECT count(*) FROM events WHERE t > TIMESTAMPTZ '2026-01-01 20:00:00+02' AND u < TIMESTAMP '2026-01-01 22:00'",
    "SELECT count(*) FROM events WHERE f > 10",
]


@pytest.mark.parametrize("query", QUERIES)
def test_duckdb_queries_it_as_a_view(table: deltaic.Table, query: str) -> None:
    def answer(source: Any) -> list[Any]:
        connection = duckdb.connect()
        connection.register("events", source)
        return connection.execute(query).fetchall()

    assert answer(deltaic.dataset(table)) == answer(pyarrow.table(table.to_arrow()))


@pytest.mark.parametrize(
    "scan",
    [
        lambda found: found.to_table(["n"], filter=field("n") > 92)["n"].to_pylist(),
        lambda found: [n for (n,) in duckdb.sql("SELECT n FROM found WHERE n > 92").fetchall()],
        lambda found: (
            polars.scan_pyarrow_dataset(found).filter(polars.col("n") > 92).collect()["n"].to_list()
        ),
    ],
    ids=["pyarrow", "duckdb", "polars"],
)
def test_only_files_that_may_hold_rows_are_opened(table: deltaic.Table, tmp_path: Path, scan: Any) -> None:
    """Files with other rows are gone, and the query does not notice."""
    copy = with_files_of(table, tmp_path / "t", "n > 92")
    assert sorted(scan(deltaic.dataset(copy))) == [*range(93, 99)]


def test_the_version_stays_the_same(tmp_path: Path) -> None:
    path = tmp_path / "t"
    deltaic.write(path, pyarrow.table({"n": [1, 2]}))
    found = deltaic.dataset(path)
    deltaic.write(path, pyarrow.table({"n": [3]}), mode="append")
    assert (found.count_rows(), deltaic.dataset(path).count_rows()) == (2, 3)
    assert deltaic.dataset(path, version=0).count_rows() == 2
    with pytest.raises(InvalidArgumentError, match="open table"):
        deltaic.dataset(deltaic.Table(path), version=0)


LEAF = st.one_of(
    st.builds(
        lambda n, op: getattr(field("n"), op)(n),
        st.integers(-5, 105),
        st.sampled_from(["__gt__", "__le__", "__eq__"]),
    ),
    st.sampled_from([field("b"), ~field("b"), field("n").is_null(), field("f") > 10.0, field("d") > DAY]),
    st.builds(lambda ns: field("n").isin(ns), st.lists(st.integers(0, 100), min_size=1, max_size=4)),
)


@settings(max_examples=60, deadline=None)
@given(combined(LEAF))
def test_no_filter_loses_rows(table: deltaic.Table, condition: Expression) -> None:
    expected = pyarrow.table(table.to_arrow()).filter(condition)
    assert rows(deltaic.dataset(table).to_table(filter=condition)) == rows(expected)
