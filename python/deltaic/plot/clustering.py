"""How well the files of a table are clustered: how far their ranges of values overlap, by column."""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from deltaic.exceptions import InvalidArgumentError
from deltaic.file_statistics import leaves
from deltaic.plot.model import Bars, Ranges

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deltaic.plot.source import Source

COLUMNS = 30
"""Columns of the chart at most."""
SPANS = 200
"""Ranges that are drawn at most."""


def clustering(table: Source, columns: Sequence[str] = (), where: str | None = None) -> list[Bars | Ranges]:
    """The share of the files that a lookup of one value opens, for each column, and the ranges of the best of them.

    It is the mean, over the minimum and maximum of each file, of the files whose range has this value; a file without
    statistics of the column counts always. 100 % is no order at all.

    Args:
        table: The table.
        columns: Names of columns, fields of structs as `s.a`; by default all that have statistics.
        where: Only files in which a row may match.

    Raises:
        InvalidArgumentError: a column has no statistics.
    """
    files, ranges = _ranges(table, where)
    for name in columns:
        if files and name not in ranges:
            raise InvalidArgumentError.of("columns", f"`{name}` has no minimum and maximum in any file")
    names = list(columns or ranges)[:COLUMNS] if files else []
    shares = {name: 100 * depth(ranges[name], files) / files for name in names}
    bars = Bars(
        "Files that a lookup of one value opens", "column", "percent", names, {"files": list(shares.values())}
    )
    if not names:
        return [bars]
    best = min(names, key=lambda name: shares[name])
    return [
        bars,
        Ranges(f"Ranges of {best}, file by file", f"values of {best}, by rank", spans(ranges[best])),
    ]


def depth(ranges: Sequence[tuple[Any, Any]], files: int) -> float:
    """How many of the files a lookup of one value opens, on average over the ends of the ranges."""
    starts, ends = sorted(low for low, _ in ranges), sorted(high for _, high in ranges)
    opened = sum(bisect_right(starts, at) - bisect_left(ends, at) for at in (*starts, *ends))
    return opened / (2 * len(ranges)) + files - len(ranges)


def spans(ranges: Sequence[tuple[Any, Any]]) -> list[tuple[float, float]]:
    """Some of the ranges, evenly chosen, by the rank of their ends, in the order of their beginnings."""
    values = sorted({value for both in ranges for value in both})
    rank = {value: at / max(len(values) - 1, 1) for at, value in enumerate(values)}
    chosen = sorted(ranges)[:: -(-len(ranges) // SPANS)]
    return [(rank[low], rank[high]) for low, high in chosen]


def _ranges(table: Source, where: str | None) -> tuple[int, dict[str, list[tuple[Any, Any]]]]:
    fields = json.loads(table.schema.json())["fields"]
    files, found = 0, dict[str, list[tuple[Any, Any]]]()
    for file in table.file_list(where, stats=True):
        files += 1
        facts = json.loads(file["stats"], parse_float=Decimal) if file["stats"] else {}
        low, high = (dict(leaves(facts.get(key), fields)) for key in ("minValues", "maxValues"))
        for path, value in low.items():
            other = high.get(path)
            if other is None or value is None or isinstance(value, (bool, list)):
                continue
            ranges = found.setdefault(".".join(path), [])
            # of one type each: a log may say anything
            if isinstance(value, str) is isinstance(other, str) and (
                not ranges or isinstance(ranges[0][0], str) is isinstance(value, str)
            ):
                ranges.append((value, other))
    order = {field["name"]: at for at, field in enumerate(fields)}
    kept = {name: ranges for name, ranges in found.items() if ranges}
    return files, dict(sorted(kept.items(), key=lambda c: order.get(c[0].split(".")[0], len(order))))
