"""Tables whose writers lose processes: what is in them at first, and what their logs and folders must say then."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import pyarrow as pa

import deltaic

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

ROWS = 200
PARTS = 4

Row = tuple[int, str, int]


def row(n: int, v: int | None = None) -> Row:
    """The row of a number, with another value than at first where one is given."""
    return n, "abc"[n % 3], n if v is None else v


def make(path: Path, *, by: bool = True, **properties: str) -> None:
    """A table of the rows 0 to `ROWS`, in files of several commits."""
    each = ROWS // PARTS
    for part in range(PARTS):
        rows = [row(n) for n in range(part * each, (part + 1) * each)]
        n, p, v = zip(*rows, strict=True)
        deltaic.write(
            path,
            pa.table({"n": n, "p": p, "v": v}),
            partition_by="p" if by else None,
            configuration=properties if part == 0 else None,
        )


def rows(path: Path) -> list[Row]:
    """What is in the newest version, by a reader without Spark."""
    found = pa.table(deltaic.Table(path).to_arrow(columns=["n", "p", "v"])).to_pydict()
    return sorted(zip(found["n"], found["p"], found["v"], strict=True))


def commits(path: Path) -> list[list[dict[str, Any]]]:
    """The actions of each commit, as they are in the log."""
    logs = sorted((path / "_delta_log").glob("[0-9]*.json"))
    return [[json.loads(line) for line in log.read_text().splitlines()] for log in logs]


def named(path: Path) -> list[str]:
    """Each file that a commit adds, whether data, changes or a deletion vector; twice what is added twice."""
    found = []
    for actions in commits(path):
        for action in actions:
            if (add := action.get("add")) is not None and "deletionVector" not in add:
                found.append(unquote(add["path"]))
            if (change := action.get("cdc")) is not None:
                found.append(unquote(change["path"]))
    return found


def written(path: Path) -> set[str]:
    """The data files below the table, and those of changes."""
    files = (file.relative_to(path) for file in path.rglob("*.parquet"))
    return {str(file) for file in files if "_delta_log" not in file.parts}


def check(path: Path, wanted: Iterable[Row], versions: int) -> dict[str, Any]:
    """What is wrong with a table after a step, and how many files no commit names; a vacuum deletes just these.

    The step adds so many `versions` to those of `make`.
    """
    wanted = sorted(wanted)
    before = rows(path)
    added = named(path)
    wrong = []
    if before != wanted:
        lost, more = set(wanted) - set(before), set(before) - set(wanted)
        wrong.append(f"{len(before)} rows of {len(wanted)}; lost {sorted(lost)[:5]}, more {sorted(more)[:5]}")
    if len(commits(path)) != PARTS + versions:
        wrong.append(f"{len(commits(path))} commits instead of {PARTS + versions}")
    if len(added) != len(set(added)):
        wrong.append("a file is added twice")
    if missing := set(added) - written(path):
        wrong.append(f"files of the log that are not there: {sorted(missing)[:5]}")
    table = deltaic.Table(path)
    if findings := table.verify(deep=True).findings:
        wrong.append(f"verify: {findings[:3]}")
    orphans = written(path) - set(added)
    table.vacuum(0, allow_short_retention=True)
    if left := orphans & written(path):
        wrong.append(f"a vacuum left {sorted(left)[:5]}")
    if rows(path) != wanted:
        wrong.append("other rows after a vacuum")
    return {"wrong": wrong, "orphans": len(orphans)}
