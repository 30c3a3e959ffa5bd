"""The table of the tests of frames."""

from __future__ import annotations

import datetime as dt
import shutil
from typing import TYPE_CHECKING, Any

import pyarrow
from hypothesis import strategies as st

import deltaic

if TYPE_CHECKING:
    from pathlib import Path

DAY = dt.date(2026, 1, 1)
UTC = dt.timezone.utc


def ten_files(path: Path) -> deltaic.Table:
    """Ten files of ten rows, three rows deleted by a vector, with column mapping, nulls and NaN."""
    configuration = {"delta.enableDeletionVectors": "true", "delta.columnMapping.mode": "name"}
    for first in range(0, 100, 10):
        ids = range(first, first + 10)
        batch = {
            "b": [None if n % 7 == 0 else n % 2 == 0 for n in ids],
            "d": [DAY + dt.timedelta(days=n) for n in ids],
            "f": [float("nan") if n % 5 == 0 else n / 2 for n in ids],
            "n": [None if n % 10 == 9 else n for n in ids],
            "odd name": pyarrow.array([n % 3 for n in ids], pyarrow.int32()),
            "s": [f"it's \\ {n:02}" for n in ids],
            "t": [dt.datetime(2026, 1, 1, n % 24, tzinfo=UTC) for n in ids],
            "u": [dt.datetime(2026, 1, 1, n % 24) for n in ids],
            "w": [{"x": n} for n in ids],
        }
        deltaic.write(
            path, pyarrow.table(batch), mode="append", configuration=None if first else configuration
        )
    table = deltaic.Table(path)
    table.delete("n IN (3, 44, 71)")
    return table


def with_files_of(table: deltaic.Table, path: Path, where: str) -> Path:
    """A copy of a table without the files in which no row matches: a scan that opens one of these fails."""
    shutil.copytree(table.uri.removeprefix("file://"), path)
    copy = deltaic.Table(path)
    kept = {f["path"] for f in copy.file_list(where)}
    for file in copy.file_list():
        if file["path"] not in kept:
            (path / file["path"]).unlink()
    return path


def combined(leaf: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Conditions of these, joined by AND and OR and negated."""
    operators = st.sampled_from(["and", "or", "not"])
    return st.recursive(
        leaf,
        lambda part: st.builds(
            lambda a, b, op: {"and": a & b, "or": a | b, "not": ~a}[op], part, part, operators
        ),
        max_leaves=6,
    )
