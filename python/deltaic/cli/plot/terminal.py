"""Charts by the characters of a terminal."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING

from rich.text import Text

from deltaic.cli import output
from deltaic.plot.model import Bars, Heat
from deltaic.printable import in_one_line, size

if TYPE_CHECKING:
    from rich.console import Console

    from deltaic.plot.model import Chart, Ranges

_EIGHTHS = " ▏▎▍▌▋▊▉█"
_SHADES = " ░▒▓█"
_STYLES = ("blue", "yellow", "green", "magenta", "cyan", "red", "white", "bright_black")
# without colours series differ by these
_FILLS = ("█", "▓", "▒", "░", "▚", "▞", "▖", "▗")
_LABEL = 32
_SPANS = 20


def show(console: Console, chart: Chart) -> None:
    """Prints a chart as wide as the console, at most 120 columns."""
    console.print(Text(in_one_line(chart.title), style="bold"))
    width = min(console.width, 120)
    if isinstance(chart, Bars):
        _bars(console, chart, width)
    elif isinstance(chart, Heat):
        _heat(console, chart)
    else:
        _ranges(console, chart, width)


def _bars(console: Console, chart: Bars, width: int) -> None:
    totals = [sum(heights) for heights in zip(*chart.series.values(), strict=True)]
    if not totals:
        console.print("nothing to show", style="dim")
        return
    labels = [_label(label) for label in chart.labels]
    beside = max(map(len, labels))
    room = max(width - beside - 16, 10)
    most = max(totals) or 1
    for at, label in enumerate(labels):
        line = Text(f"{label:>{beside}} ")
        # the ends of the parts, so that rounded parts are as long as their sum
        ends = [end / most * room for end in accumulate(heights[at] for heights in chart.series.values())]
        for number, (start, end) in enumerate(zip([0.0, *ends], ends, strict=False)):
            line.append(
                _bar(start, end, number, last=number == len(ends) - 1), style=_STYLES[number % len(_STYLES)]
            )
        line.append(f" {shown(totals[at], chart.unit)}")
        console.print(line, no_wrap=True)
    if len(chart.series) > 1:
        legend = Text(" " * (beside + 1))
        for number, name in enumerate(chart.series):
            style = _STYLES[number % len(_STYLES)]
            legend.append(f"{_FILLS[number % len(_FILLS)]} ", style=style).append(f"{_label(name)}  ")
        console.print(legend)


def _bar(start: float, end: float, number: int, *, last: bool) -> str:
    whole = int(end) - int(start)
    text = _FILLS[number % len(_FILLS)] * whole
    if last and number == 0:
        text += _EIGHTHS[int((end - int(end)) * 8)].strip()
        # what is there is seen
        return text or ("▏" if end > start else "")
    return text or ("▏" if last and end > start else "")


def _heat(console: Console, chart: Heat) -> None:
    most = max((cell for line in chart.cells for cell in line if cell is not None), default=0) or 1
    beside = max((len(_label(row)) for row in chart.rows), default=0)
    for row, line in zip(chart.rows, chart.cells, strict=True):
        text = Text(f"{_label(row):>{beside}} ")
        for cell in line:
            # the smallest cell is seen, too
            shade = 0 if cell is None else max(1, round(cell / most * (len(_SHADES) - 1)))
            text.append(_SHADES[shade] * 2, style="blue")
        console.print(text, no_wrap=True)
    across = (
        f"{_label(chart.columns[0])} … {_label(chart.columns[-1])}" if chart.columns else "nothing to show"
    )
    rows, columns = (in_one_line(name) for name in chart.about)
    console.print(Text(f"{' ' * (beside + 1)}{across}"))
    console.print(
        Text(
            f"{rows} by {columns}; █ is {shown(most, chart.unit)}, an empty cell is no partition", style="dim"
        )
    )


def _ranges(console: Console, chart: Ranges, width: int) -> None:
    room = max(width - 2, 10)
    step = -(-len(chart.spans) // _SPANS) or 1
    for low, high in chart.spans[::step]:
        start, end = int(low * (room - 1)), int(high * (room - 1))
        console.print(Text(" " * start + "━" * max(end - start, 1), style="blue"), no_wrap=True)
    console.print(Text(f"{in_one_line(chart.about)}; each line is a file", style="dim"))


def shown(value: float, unit: str) -> str:
    """A number with its unit."""
    if unit == "bytes":
        return size(int(value))
    return f"{value:.3g} %" if unit == "percent" else f"{value:,.0f}"


def _label(text: str) -> str:
    shown_text = output.cell(text).plain
    return shown_text if len(shown_text) <= _LABEL else f"{shown_text[: _LABEL - 1]}…"
