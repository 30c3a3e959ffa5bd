"""Charts as pictures, by Matplotlib. Nothing global is touched: no window, no style, no current figure."""

from __future__ import annotations

import io
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deltaic.exceptions import InvalidArgumentError, UnsupportedError
from deltaic.plot.model import Bars, Heat, Ranges
from deltaic.printable import in_one_line, size

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from deltaic.plot.model import Chart

# the colours of Okabe and Ito, which people with any sight of colours tell apart
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#999999")
LETTERS = 44
"""Letters of a label at most."""
TITLE = 60
"""Letters of a title at most."""
_FORMATS = (".png", ".svg", ".pdf")


class Plot:
    """A picture. Notebooks show it; `save` writes it; `figure` is the `matplotlib.figure.Figure`."""

    def __init__(self, charts: Sequence[Chart]) -> None:
        self.charts = list(charts)
        """What it shows, as numbers."""
        self.figure = _figure(self.charts)
        """The figure."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a file whose name ends with `.png`, `.svg` or `.pdf`.

        Raises:
            InvalidArgumentError: it ends with something else.
            OSError: it cannot be written.
        """
        ending = Path(path).suffix.lower()
        if ending not in _FORMATS:
            raise InvalidArgumentError.of("path", f"the name ends with none of {', '.join(_FORMATS)}")
        Path(path).write_bytes(self._bytes(ending[1:]))

    def _repr_png_(self) -> bytes:
        return self._bytes("png")

    def _bytes(self, form: str) -> bytes:
        held = io.BytesIO()
        import matplotlib as mpl

        # text of an SVG stays text
        with warnings.catch_warnings(), mpl.rc_context({"svg.fonttype": "none"}):
            # a table may have names in any script
            warnings.filterwarnings("ignore", "Glyph", UserWarning)
            self.figure.savefig(held, format=form, dpi=150)
        return held.getvalue()


def _figure(charts: Sequence[Chart]) -> Any:
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise UnsupportedError("pictures need Matplotlib. Run: pip install 'deltaic[plot]'") from error
    heights = [_height(chart) for chart in charts]
    figure = Figure(figsize=(9, sum(heights)), layout="constrained")
    axes = figure.subplots(len(charts), 1, squeeze=False, height_ratios=heights)
    for chart, place in zip(charts, axes[:, 0], strict=True):
        place.set_title(_text(chart.title, TITLE), loc="left", fontsize=11, fontweight="bold")
        if isinstance(chart, Bars):
            _bars(chart, place)
        elif isinstance(chart, Heat):
            _heat(chart, place, figure)
        else:
            _ranges(chart, place)
    return figure


def _height(chart: Chart) -> float:
    if isinstance(chart, Heat):
        return max(2.5, 1.2 + 0.28 * len(chart.rows))
    if isinstance(chart, Bars):
        return max(2.0, 1.3 + 0.24 * len(chart.labels)) if _is_flat(chart) else 3.2
    return 3.2


def _is_flat(chart: Bars) -> bool:
    """Whether bars lie, because their labels are long or no sequence."""
    return chart.about not in ("version", "time (UTC)", "size of the file")


def _bars(chart: Bars, place: Any) -> None:
    labels = [_text(label, LETTERS) for label in chart.labels]
    where = range(len(labels))
    before = [0.0] * len(labels)
    for at, (name, heights) in enumerate(chart.series.items()):
        colour, label = COLOURS[at % len(COLOURS)], _text(name, LETTERS)
        if _is_flat(chart):
            place.barh(where, heights, left=before, color=colour, label=label)
        else:
            place.bar(where, heights, bottom=before, color=colour, label=label, width=0.85)
        before = [low + height for low, height in zip(before, heights, strict=True)]
    numbers = place.xaxis if _is_flat(chart) else place.yaxis
    numbers.set_major_formatter(_formatter(chart.unit))
    numbers.set_major_locator(_locator(chart.unit, max(before, default=0)))
    if _is_flat(chart):
        place.set_yticks(list(where), labels, fontsize=8)
        place.invert_yaxis()
        place.set_ylabel(_text(chart.about, LETTERS))
        for y, total in enumerate(before):
            place.annotate(
                f" {_shown(total, chart.unit)}", (total, y), va="center", fontsize=8, annotation_clip=False
            )
        place.margins(x=0.14)
    else:
        place.set_xticks(*_some(labels), fontsize=8, rotation=30, ha="right")
        place.set_xlabel(_text(chart.about, LETTERS))
        place.margins(y=0.06)
    if len(chart.series) > 1:
        place.legend(fontsize=8, frameon=False, loc="upper left", bbox_to_anchor=(1, 1))
    place.spines[["top", "right"]].set_visible(False)
    place.grid(axis="x" if _is_flat(chart) else "y", alpha=0.3)
    place.set_axisbelow(True)
    if not labels:
        place.annotate("nothing to show", (0.5, 0.5), xycoords="axes fraction", ha="center")


def _heat(chart: Heat, place: Any, figure: Any) -> None:
    cells = [[float("nan") if cell is None else cell for cell in line] for line in chart.cells]
    most = max((cell for line in chart.cells for cell in line if cell is not None), default=0)
    image = place.imshow(cells, cmap="viridis_r", aspect="auto", vmin=0)
    place.set_yticks(range(len(chart.rows)), [_text(row, LETTERS) for row in chart.rows], fontsize=8)
    ticks, labels = _some([_text(column, LETTERS) for column in chart.columns])
    place.set_xticks(ticks, labels, fontsize=8, rotation=30, ha="right")
    place.set_ylabel(_text(chart.about[0], LETTERS))
    place.set_xlabel(_text(chart.about[1], LETTERS))
    figure.colorbar(image, ax=place, format=_formatter(chart.unit), ticks=_locator(chart.unit, most))


def _ranges(chart: Ranges, place: Any) -> None:
    where = range(len(chart.spans))
    place.hlines(
        where, [low for low, _ in chart.spans], [high for _, high in chart.spans], color=COLOURS[0], lw=1.5
    )
    place.plot([low for low, _ in chart.spans], where, ".", color=COLOURS[0], markersize=3)
    place.plot([high for _, high in chart.spans], where, ".", color=COLOURS[0], markersize=3)
    place.set_xlabel(_text(chart.about, TITLE))
    place.set_ylabel("file")
    place.yaxis.get_major_locator().set_params(integer=True)
    place.set_xticks([])
    place.spines[["top", "right"]].set_visible(False)


def _some(labels: list[str]) -> tuple[list[int], list[str]]:
    """Every so many labels, so that there is room for each."""
    step = -(-len(labels) * max(map(len, labels), default=0) // 130) or 1
    return list(range(0, len(labels), step)), labels[::step]


def _locator(unit: str, most: float) -> Any:
    """Where an axis up to `most` has numbers: whole ones, and bytes at round ones of their own unit."""
    from matplotlib.ticker import MaxNLocator, MultipleLocator

    if unit == "bytes" and most >= 1:
        return MultipleLocator(2.0 ** max(int(most).bit_length() - 3, 0))
    return MaxNLocator(nbins=6, integer=unit != "percent")


def _formatter(unit: str) -> Any:
    from matplotlib.ticker import FuncFormatter

    return FuncFormatter(lambda value, _: _shown(value, unit))


def _shown(value: float, unit: str) -> str:
    if unit == "bytes":
        return size(int(value))
    return f"{value:.3g} %" if unit == "percent" else f"{value:,.0f}"


def _text(text: str, most: int) -> str:
    """Text as it is: no formula, no control character."""
    shown = in_one_line(text)
    shown = shown if len(shown) <= most else f"{shown[: most - 1]}…"
    return shown.replace("$", r"\$")
