"""What a chart shows, whoever draws it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Unit = Literal["files", "bytes", "versions", "actions", "percent"]
"""What the numbers of a chart count."""


@dataclass(frozen=True)
class Bars:
    """Bars of one or several series, which are stacked."""

    title: str
    """What it shows."""
    about: str
    """What the labels are."""
    unit: Unit
    """What the numbers count."""
    labels: list[str]
    """One a bar."""
    series: dict[str, list[float]]
    """By name: a number for each label."""


@dataclass(frozen=True)
class Heat:
    """A grid of cells, the darker the larger."""

    title: str
    """What it shows."""
    about: tuple[str, str]
    """What the rows and the columns are."""
    unit: Unit
    """What the numbers count."""
    rows: list[str]
    """Labels of the rows."""
    columns: list[str]
    """Labels of the columns."""
    cells: list[list[float | None]]
    """By row, then column; None where there is nothing."""


@dataclass(frozen=True)
class Ranges:
    """Ranges of values, one above the other: where they overlap, a lookup opens several files."""

    title: str
    """What it shows."""
    about: str
    """What the values are."""
    spans: list[tuple[float, float]]
    """From and to, between 0 and 1 by rank of the value."""


Chart = Bars | Heat | Ranges
