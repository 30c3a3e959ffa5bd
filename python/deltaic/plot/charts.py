"""The charts of a table: file sizes, partitions, versions, the log, and what a filter prunes."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from deltaic.exceptions import InvalidArgumentError, NotFoundError
from deltaic.plot.model import Bars, Heat
from deltaic.printable import size

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import datetime

    from deltaic.plot.source import Source

BARS = 40
"""Bars, rows and columns of a chart at most."""
OPERATIONS = 7
"""Operations that have a series of their own at most."""
NULL = "null"
# how times are written by the seconds between two of them, and the letters of it that are kept
_TIMES = ((86_400, "%Y-%m-%d", 10), (60, "%m-%d %H:%M", 11), (1, "%H:%M:%S", 8), (0, "%H:%M:%S.%f", 12))


def sizes(table: Source, where: str | None = None) -> list[Bars]:
    """The files by their sizes, in powers of two: how many there are, and how many bytes they have together."""
    files, total = Counter[int](), Counter[int]()
    for file in table.file_list(where):
        power = max(int(file["size"]).bit_length() - 1, 0)
        files[power] += 1
        total[power] += file["size"]
    powers = range(min(files), max(files) + 1) if files else range(0)
    labels = [f"≥ {size(1 << power)}" for power in powers]
    about = "size of the file"
    return [
        Bars("Files by size", about, "files", labels, {"files": [files[power] for power in powers]}),
        Bars(
            "Bytes by size of the file", about, "bytes", labels, {"bytes": [total[power] for power in powers]}
        ),
    ]


def partitions(table: Source, where: str | None = None) -> list[Bars | Heat]:
    """The bytes of the partitions: by the first two partition columns, or by the only one.

    Raises:
        InvalidArgumentError: the table has no partition columns.
    """
    columns = table.partition_columns[:2]
    if not columns:
        raise InvalidArgumentError.of("partitions", "the table has no partition columns")
    cells = Counter[tuple[str, ...]]()
    for file in table.file_list(where):
        values = file["partition_values"]
        cells[tuple(NULL if not values.get(name) else values[name] for name in columns)] += file["size"]
    if len(columns) == 1:
        labels = _largest({key[0]: count for key, count in cells.items()})
        heights = [float(cells[(label,)]) for label in labels]
        title = _cut("Bytes by partition", len(cells), len(labels))
        return [Bars(title, columns[0], "bytes", labels, {"bytes": heights})]
    rows, across = (
        _largest(_sums((key[at], count) for key, count in cells.items())) for at in range(len(columns))
    )
    grid = [
        [float(cells[row, column]) if (row, column) in cells else None for column in across] for row in rows
    ]
    title = _cut("Bytes by partition", len(cells), sum(cell is not None for line in grid for cell in line))
    return [Heat(title, (columns[0], columns[1]), "bytes", rows, across, grid)]


def versions(table: Source, limit: int = 1000) -> list[Bars]:
    """The newest versions over time, by their operations."""
    commits = table.history(limit)[::-1]
    if not commits:
        return [Bars("Versions over time", "time (UTC)", "versions", [], {})]
    often = Counter(str(commit["operation"]) for commit in commits)
    own = [name for name, _ in often.most_common(OPERATIONS)]
    labels, place = _times([commit["timestamp"] for commit in commits])
    series = {name: [0.0] * len(labels) for name in (own if len(own) == len(often) else [*own, "others"])}
    for commit in commits:
        name = str(commit["operation"])
        series[name if name in own else "others"][place(commit["timestamp"])] += 1
    return [Bars("Versions over time", "time (UTC)", "versions", labels, series)]


def log(table: Source, limit: int = 200) -> list[Bars]:
    """What the newest versions added to the log: actions that add files, that remove them, and others."""
    found = list(_commits(table, limit))[::-1]
    labels: list[str] = []
    series: dict[str, list[float]] = {"add": [], "remove": [], "other": []}
    live: list[float] = []
    for part in _parts(found, BARS):
        first, last = part[0]["version"], part[-1]["version"]
        labels.append(str(first) if first == last else f"{first}-{last}")
        series["add"].append(sum(commit["adds"] for commit in part))
        series["remove"].append(sum(commit["removes"] for commit in part))
        series["other"].append(sum(_others(commit) for commit in part))
        live.append(sum(series[name][-1] for name in series) + (live[-1] if live else 0.0))
    return [
        Bars("Actions of the log by version", "version", "actions", labels, series),
        Bars("Actions since the first of these versions", "version", "actions", labels, {"actions": live}),
    ]


def pruning(table: Source, where: str) -> list[Bars]:
    """What a scan with a condition opens, and by what the other files are dropped.

    Raises:
        InvalidPredicateError: `where` is not a condition, or names an unknown column.
    """
    found = table.explain(where, limit=0)
    parts = [(part["by"], part["part"], part) for part in found["parts"]][: BARS - 2]
    labels = ["opened", "dropped", *(f"{part} ({by})" for by, part, _ in parts)]
    both = [found["kept"], found["dropped"], *(part for _, _, part in parts)]
    title = f"Files that a scan opens where {where}"
    return [
        Bars(title, "verdict, part", "files", labels, {"files": [b["files"] for b in both]}),
        Bars(
            "Their bytes",
            "verdict, part",
            "bytes",
            labels,
            {"bytes": [b["bytes"] for b in both]},
        ),
    ]


def _commits(table: Source, limit: int) -> Iterator[dict[str, Any]]:
    """The newest commits, newest first, as far as the log still holds them."""
    with suppress(NotFoundError):
        for version in range(table.version, max(table.version - limit, -1), -1):
            yield table.commit(version)


def _others(commit: dict[str, Any]) -> int:
    named = sum(commit[name] is not None for name in ("protocol", "metadata", "commitInfo"))
    return len(commit["txns"]) + len(commit["domains"]) + int(commit["cdc"]) + named


def _sums(pairs: Iterable[tuple[str, int]]) -> dict[str, int]:
    found = Counter[str]()
    for key, count in pairs:
        found[key] += count
    return dict(found)


def _largest(counts: dict[str, int]) -> list[str]:
    """The keys with the largest counts, at most `BARS`, in their own order."""
    return sorted(sorted(counts, key=lambda key: -counts[key])[:BARS])


def _cut(title: str, there: int, shown: int) -> str:
    return title if there == shown else f"{title}: {shown:,} of {there:,}"


def _parts(entries: Sequence[dict[str, Any]], most: int) -> list[Sequence[dict[str, Any]]]:
    """The entries in at most so many parts of one after the other."""
    step = -(-len(entries) // most) or 1
    ends = [*range(0, len(entries), step), len(entries)]
    return [entries[start:end] for start, end in pairwise(ends)]


def _times(moments: Sequence[datetime]) -> tuple[list[str], Any]:
    """Labels of equal parts of the time between the first and the last, and the part of a time."""
    first, last = min(moments), max(moments)
    seconds = (last - first).total_seconds()
    count = min(BARS, len(moments)) if seconds else 1
    width = seconds / count
    form, kept = next((form, kept) for least, form, kept in _TIMES if width >= least)
    labels = [(first + (last - first) * n / count).strftime(form)[:kept] for n in range(count)]

    def place(moment: datetime) -> int:
        return min(int((moment - first).total_seconds() / width), count - 1) if seconds else 0

    return labels, place
