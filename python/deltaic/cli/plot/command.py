"""`plot`: a chart in the terminal, or in a file."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from deltaic.cli import output
from deltaic.cli.options import pager_option, table_command
from deltaic.cli.plot import terminal
from deltaic.plot import charts
from deltaic.plot.clustering import clustering
from deltaic.plot.model import Bars, Heat

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deltaic.plot.model import Chart
    from deltaic.table import Table

KINDS = ("sizes", "partitions", "clustering", "versions", "log", "pruning")


@click.command(short_help="Charts: sizes, partitions, clustering, versions, log, pruning.")
@click.argument("kind", type=click.Choice(KINDS))
@click.option(
    "--where", metavar="SQL", help="Only files in which a row may match; of pruning, the condition."
)
@click.option(
    "--column",
    "columns",
    metavar="COLUMN",
    multiple=True,
    help="Of clustering: this column; may be repeated.",
)
@click.option("--limit", type=click.IntRange(min=1), help="Of versions and log: at most so many versions.")
@click.option("--png", type=click.Path(dir_okay=False, path_type=Path), help="Draw into this PNG file.")
@click.option("--svg", type=click.Path(dir_okay=False, path_type=Path), help="Draw into this SVG file.")
@pager_option
@table_command
def plot(
    table: Table,
    *,
    kind: str,
    where: str | None,
    columns: tuple[str, ...],
    limit: int | None,
    png: Path | None,
    svg: Path | None,
    as_json: bool,
) -> None:
    """Show what a table is like: KIND is sizes, partitions, clustering, versions, log or pruning.

    sizes has the files and bytes by the size of the file; partitions the bytes by the first two partition columns;
    clustering, for each column, the share of the files that a lookup of one value opens; versions the commits over time
    by operation; log the actions of the versions; pruning what a scan with --where opens, and which parts of the
    condition drop the other files. No data file is read. Files need Matplotlib (pip install 'deltaic[plot]').
    """
    with output.progress("reading the log"):
        found = _charts(table, kind, where, columns, limit)
    wanted = [file for file in (png, svg) if file is not None]
    if wanted:
        _draw(found, png, svg)
    if as_json:
        output.print_json(
            {"version": table.version, "kind": kind, "charts": [_facts(chart) for chart in found]}
        )
    elif wanted:
        for file in wanted:
            output.line(file)
    else:
        with output.page() as console:
            for at, chart in enumerate(found):
                if at:
                    console.print()
                terminal.show(console, chart)


def _charts(
    table: Table, kind: str, where: str | None, columns: tuple[str, ...], limit: int | None
) -> Sequence[Chart]:
    if columns and kind != "clustering":
        raise click.UsageError("--column is for clustering")
    if limit is not None and kind not in ("versions", "log"):
        raise click.UsageError("--limit is for versions and log")
    if where is not None and kind in ("versions", "log"):
        raise click.UsageError(f"--where is not for {kind}")
    bound = {} if limit is None else {"limit": limit}
    if kind == "sizes":
        return charts.sizes(table, where)
    if kind == "partitions":
        return charts.partitions(table, where)
    if kind == "clustering":
        return clustering(table, columns, where)
    if kind == "versions":
        return charts.versions(table, **bound)
    if kind == "log":
        return charts.log(table, **bound)
    if where is None:
        raise click.UsageError("the condition is missing: give --where")
    return charts.pruning(table, where)


def _draw(found: Sequence[Chart], png: Path | None, svg: Path | None) -> None:
    from deltaic.plot.figure import Plot

    made = Plot(found)
    for file, ending in ((png, ".png"), (svg, ".svg")):
        if file is None:
            continue
        if file.suffix.lower() != ending:
            raise click.UsageError(f"the name of the file does not end with {ending}")
        try:
            made.save(file)
        except OSError as error:
            raise click.ClickException(f"`{file}` cannot be written: {error.strerror}") from error


def _facts(chart: Chart) -> dict[str, object]:
    form = "bars" if isinstance(chart, Bars) else "heat" if isinstance(chart, Heat) else "ranges"
    return {"form": form, **asdict(chart)}
