"""`sql`: a query on tables, its result as a table, CSV, JSON or Parquet."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from deltaic.cli import output
from deltaic.cli.options import location_command, pager_option, pairs
from deltaic.cli.sql.engine import Query
from deltaic.printable import counted
from deltaic.table import Table

_SHOWN = 1_000
_ENDINGS = {".csv": "csv", ".json": "json", ".jsonl": "json", ".ndjson": "json", ".parquet": "parquet"}


@click.command(short_help="A query, by DuckDB.")
@click.option(
    "--with",
    "others",
    metavar="NAME=TABLE",
    multiple=True,
    callback=pairs,
    help="Another table and its name in the query; may be repeated.",
)
@click.option(
    "--format",
    "file_format",
    type=click.Choice(("table", "csv", "json", "parquet")),
    help="Format of the result; by default that of the ending of --output, else a table.",
)
@click.option(
    "--output", "-o", "file", type=click.Path(dir_okay=False, path_type=Path), help="Write to this file."
)
@pager_option
@location_command
@click.argument("query")
def sql(
    uri: str,
    query: str,
    others: dict[str, str],
    storage_options: dict[str, str],
    *,
    file_format: str | None,
    file: Path | None,
    as_json: bool,
) -> None:
    """Run QUERY, in which TABLE is called t, by DuckDB (pip install 'deltaic[sql]').

    Only the columns of the query and the files in which a row may match are read, one after the other.
    A table shows the first 1,000 rows; CSV, JSON (one object per line) and Parquet have all rows. Times are UTC.
    """
    if as_json:
        if file_format not in (None, "json"):
            raise click.UsageError("--json and --format contradict each other")
        file_format = "json"
    if "t" in others:
        raise click.UsageError("`t` is TABLE: --with takes another name")
    if file_format is None:
        file_format = "table" if file is None else _ENDINGS.get(file.suffix.lower())
        if file_format is None:
            raise click.UsageError("the name does not show the format: give --format csv|json|parquet")
    if file_format == "table" and file is not None:
        raise click.UsageError("a table is for the terminal: give --format csv|json|parquet with --output")
    if file_format == "parquet" and file is None and sys.stdout.isatty():
        raise click.UsageError("Parquet is not for the terminal: give --output FILE")
    places = {"t": uri, **others}
    tables = {name: Table(place, storage_options=storage_options) for name, place in places.items()}
    _give(Query(query, tables), file_format, file)


def _give(query: Query, file_format: str, file: Path | None) -> None:
    if file is not None:
        click.echo(counted(query.write(file, file_format), "row"), err=True)
    elif file_format == "table":
        _show(query)
    else:
        query.write_to(sys.stdout.buffer, file_format)


def _show(query: Query) -> None:
    names, rows = query.rows(_SHOWN + 1)
    grid = output.grid(*names)
    for count, row in enumerate(rows):
        if count < _SHOWN:
            grid.add_row(*map(output.cell, row))
        else:
            grid.caption = (
                f"only the first {_SHOWN:,} rows: the others come with --format csv, json or parquet"
            )
    with output.page() as console:
        console.print(grid)
