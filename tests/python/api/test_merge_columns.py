"""Which columns of the table a merge reads for new rows: with deletion vectors those alone that the rows need."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import deltaic
from deltaic.exceptions import DataFileError

if TYPE_CHECKING:
    from pathlib import Path

VECTORS = {"delta.enableDeletionVectors": "true"}
# how new rows are written; the first one copies whole files, and so reads all columns
TABLES: dict[str, dict[str, str]] = {
    "copies": {"delta.enableDeletionVectors": "false"},
    "vectors": VECTORS,
    "row ids": {**VECTORS, "delta.enableRowTracking": "true"},
    "changes": {**VECTORS, "delta.enableChangeDataFeed": "true"},
    "mapped": {**VECTORS, "delta.columnMapping.mode": "name"},
}
ROWS = 40
SOURCE = pyarrow.table(
    {
        "id": [1, 3, 17, 18, 39, 100, 101],
        "a": pyarrow.array([None, 20, 30, 40, 50, 60, 70], pyarrow.int64()),
        "b": ["v", None, "x", "y", "z", "new", "newer"],
        "p": ["one", "two", "one", None, "two", "one", "three"],
        "s": [None, {"x": 1, "y": "s"}, {"x": None, "y": None}, None, {"x": 4, "y": "t"}, None, None],
    },
    schema=pyarrow.schema(
        [
            ("id", pyarrow.int64()),
            ("a", pyarrow.int64()),
            ("b", pyarrow.string()),
            ("p", pyarrow.string()),
            ("s", pyarrow.struct([("x", pyarrow.int64()), ("y", pyarrow.string())])),
        ]
    ),
)
# what a column can become: of the source alone, of itself, of others
VALUES = {
    "a": ["s.a", "t.a + 1", "t.id * 2", "length(t.b) + s.a", "t.s.x", "NULL"],
    "b": ["s.b", "concat(t.b, s.b)", "t.p", "upper(t.s.y)", "'same'"],
    "p": ["s.p", "t.b", "'moved'"],
    "s": ["s.s", "t.s", "NULL"],
    "s.x": ["s.a", "t.s.x + t.a", "NULL"],
    "s.y": ["s.b", "t.b"],
}
BY_SOURCE = {
    column: [v for v in values if "s." not in v.replace("t.s.", "")] for column, values in VALUES.items()
}


def made(folder: Path, *, partitioned: bool) -> None:
    """One table of each kind, with the same rows in several files, of which some are deleted."""
    rows = {
        "id": range(ROWS),
        "a": [None if n % 7 == 0 else n for n in range(ROWS)],
        "b": [None if n % 5 == 0 else f"b{n}" for n in range(ROWS)],
        "p": ["one" if n % 3 else "two" for n in range(ROWS)],
        "s": [None if n % 4 == 0 else {"x": n, "y": f"y{n}"} for n in range(ROWS)],
    }
    data = pyarrow.table(rows, schema=SOURCE.schema)
    for name, properties in TABLES.items():
        place = folder / name
        for at in range(0, ROWS, 10):
            first = {"configuration": properties, "partition_by": ["p"] if partitioned else []}
            deltaic.write(place, data.slice(at, 10), **(first if at == 0 else {}))
        deltaic.Table(place).delete("id IN (5, 17)")


@pytest.fixture(scope="module", params=[False, True], ids=["plain", "partitioned"])
def tables(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tables")
    made(folder, partitioned=request.param)
    return folder


def sets(values: dict[str, list[str]]) -> st.SearchStrategy[dict[str, str]]:
    """Some columns with a value each; a struct as a whole, or fields of it."""
    some = st.fixed_dictionaries(
        {}, optional={name: st.sampled_from(of) for name, of in values.items() if of}
    )
    return some.filter(lambda set_: set_ and not ("s" in set_ and ("s.x" in set_ or "s.y" in set_)))


def held(table: deltaic.Table) -> list[dict[str, Any]]:
    return pyarrow.table(table.to_arrow()).sort_by("id").to_pylist()


def ids(table: deltaic.Table) -> dict[int, int]:
    """The row id of each row."""
    rows = pyarrow.table(table.to_arrow(["id"], row_ids=True)).to_pydict()
    return dict(zip(rows["id"], rows["_row_id"], strict=True))


@given(
    matched=st.none() | sets(VALUES),
    first=st.none() | sets(VALUES),
    by_source=st.none() | sets(BY_SOURCE),
)
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_new_rows_are_those_of_whole_files(
    tables: Path,
    tmp_path_factory: pytest.TempPathFactory,
    matched: dict[str, str] | None,
    first: dict[str, str] | None,
    by_source: dict[str, str] | None,
) -> None:
    place = tmp_path_factory.mktemp("merged")
    shutil.copytree(tables, place, dirs_exist_ok=True)
    found = {}
    for name in TABLES:
        table = deltaic.Table(place / name)
        before = ids(table) if name == "row ids" else {}
        merge = table.merge(SOURCE, "t.id = s.id", source_alias="s", target_alias="t")
        if first:
            merge = merge.when_matched_update(first, where="t.id < 10")
        merge = merge.when_matched_update(matched) if matched else merge.when_matched_update_all()
        if by_source:
            merge = merge.when_not_matched_by_source_update(by_source, where="t.id > 25")
        merge.when_not_matched_insert_all().execute()
        found[name] = held(table)
        if before:
            after = ids(table)
            assert {row: after[row] for row in before} == before
    shutil.rmtree(place)
    for name, rows in found.items():
        assert rows == found["copies"], name


def test_columns_that_new_rows_do_not_need_are_not_read(tmp_path: Path) -> None:
    """The bytes of a column are destroyed: a merge that replaces it has no use for them."""
    rows = pyarrow.table({"id": range(1000), "text": [f"text {n}" for n in range(1000)]})
    deltaic.write(tmp_path / "t", rows, configuration=VECTORS)
    [file] = (tmp_path / "t").glob("*.parquet")
    chunk = pyarrow.parquet.read_metadata(file).row_group(0).column(1)
    start = chunk.dictionary_page_offset or chunk.data_page_offset
    with file.open("r+b") as data:
        data.seek(start)
        data.write(b"\xff" * chunk.total_compressed_size)
    table = deltaic.Table(tmp_path / "t")
    source = pyarrow.table({"id": [7, 2000], "text": ["seven", "new"]})
    with pytest.raises(DataFileError):
        table.merge(source, ["id"]).when_matched_update({"text": "upper(target.text)"}).execute()
    done = table.merge(source, ["id"]).when_matched_update_all().when_not_matched_insert_all().execute()
    assert (done.updated_rows, done.inserted_rows) == (1, 1)
    found = pyarrow.table(table.to_arrow(["id"]))
    assert found.num_rows == 1001
