"""HTML for notebooks. All text is escaped, nothing in it runs, and a table has a bounded number of rows.

The writer of a table must not control the notebook of a reader: names, values, comments and errors of a log are shown
as text, control characters and all.
"""

from __future__ import annotations

from datetime import datetime, timezone
from itertools import islice
from typing import TYPE_CHECKING

from deltaic.printable import in_one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

ROWS = 50
"""Rows that a grid shows at most."""
LETTERS = 500
"""Letters that a cell shows at most."""


def text(value: object) -> str:
    """A value as escaped text of one line; None is a dash."""
    if value is None:
        return "-"
    if isinstance(value, datetime):
        # without a time zone it is local, as rows of Spark have it
        shown = value.astimezone(timezone.utc).strftime("%Y-%m-%d %H:%M:%S.%f")[:-3] + " UTC"
    elif isinstance(value, dict):
        shown = ", ".join(f"{name}={_cut(str(each))}" for name, each in islice(value.items(), ROWS)) or "-"
    elif isinstance(value, (list, tuple)):
        shown = ", ".join(_cut(str(each)) for each in islice(value, ROWS)) or "-"
    else:
        shown = str(value)
    from html import escape  # its entities are long, and most programs show no HTML

    return escape(in_one_line(_cut(shown)))


def page(title: str, *parts: str) -> str:
    """What `facts` and `grid` made, below a title."""
    return f"<div><strong>{text(title)}</strong>{''.join(parts)}</div>"


def note(said: str) -> str:
    """A line."""
    return f"<div>{text(said)}</div>"


def facts(rows: Iterable[tuple[str, object]]) -> str:
    """Names and values, one a line."""
    lines = (f'<tr><th style="text-align:left">{text(n)}</th>{_cell(_said(v))}</tr>' for n, v in rows)
    return f"<table><tbody>{''.join(lines)}</tbody></table>"


def grid(headings: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table with these headings; numbers are to the right. After `ROWS` rows it says how many more there are."""
    remaining = iter(rows)
    lines = [f"<tr>{''.join(map(_cell, row))}</tr>" for row in islice(remaining, ROWS)]
    more = sum(1 for _ in remaining)
    head = "".join(f'<th style="text-align:left">{text(heading)}</th>' for heading in headings)
    shown = f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>"
    return shown + (note(f"… and {more:,} more") if more else "")


def _said(value: object) -> object:
    """A number as text, which begins where texts do."""
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else value


def _cell(value: object) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return f'<td style="text-align:right">{value:,}</td>'
    wraps = "" if not isinstance(value, datetime) else ";white-space:nowrap"
    return f'<td style="text-align:left{wraps}">{text(value)}</td>'


def _cut(shown: str) -> str:
    return shown if len(shown) <= LETTERS else f"{shown[:LETTERS]}…"
