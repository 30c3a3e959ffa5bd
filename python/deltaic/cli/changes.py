"""`changes`: the rows that a range of versions changed."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

import click

from deltaic.cli import output
from deltaic.cli.options import pager_option, table_command

if TYPE_CHECKING:
    from collections.abc import Iterator

    from deltaic.table import Table


@click.command(short_help="The rows that versions changed.")
@click.option("--from", "start", type=click.IntRange(min=0), help="First version; required, or --from-time.")
@click.option("--to", "end", type=click.IntRange(min=0), help="Last version, instead of the newest.")
@click.option("--from-time", metavar="TIME", help="Begin with the first version at or after this time (UTC).")
@click.option("--to-time", metavar="TIME", help="End with the last version at or before this time (UTC).")
@click.option(
    "--where",
    metavar="SQL",
    help="Only rows for which this is true; _change_type and the like are columns too.",
)
@click.option("--columns", metavar="A,B,…", help="Only these columns.")
@click.option("--limit", type=click.IntRange(min=1), help="Show at most so many.")
@click.option("--files", is_flag=True, help="Show the files of each version's changes, and read no rows.")
@pager_option
@table_command
def changes(
    table: Table,
    *,
    start: int | None,
    end: int | None,
    from_time: str | None,
    to_time: str | None,
    where: str | None,
    columns: str | None,
    limit: int | None,
    files: bool,
    as_json: bool,
) -> None:
    """Show the rows that versions inserted, updated and deleted (change data feed). With --json, one line per row."""
    if start is None and from_time is None:
        raise click.UsageError("the start is missing: give --from VERSION or --from-time TIME")
    asked: dict[str, Any] = {"start_timestamp": from_time, "end_timestamp": to_time}
    if files:
        if where or columns or limit:
            raise click.UsageError("--files reads no rows: leave out --where, --columns and --limit")
        _show_files(table.changed_files(start, end, **asked), as_json=as_json)
        return
    wanted = [name.strip() for name in columns.split(",")] if columns else None
    rows = _arrow(table.changes(start, end, **asked, columns=wanted, where=where))
    if as_json:
        for row in islice(_dicts(rows), limit):
            output.print_content_line(row)
        return
    grid = output.grid(*rows.schema.names)
    with output.progress("reading changes", unit="rows") as advance:
        for row in islice(_dicts(rows), limit):
            grid.add_row(*map(output.cell, row.values()))
            advance()
    with output.page() as console:
        console.print(grid)


def _show_files(commits: list[dict[str, Any]], *, as_json: bool) -> None:
    if as_json:
        output.print_json(commits)
        return
    numbers = ["version", "inserts", "deletes", "cdc", "bytes"]
    grid = output.grid("version", "timestamp", *numbers[1:], right=numbers)
    for commit in commits:
        counts = (f"{commit[name]:,}" for name in ("inserts", "deletes", "cdc"))
        grid.add_row(
            str(commit["version"]), output.cell(commit["timestamp"]), *counts, output.size(commit["bytes"])
        )
    with output.page() as console:
        console.print(grid)


def _arrow(stream: Any) -> Any:
    try:
        import pyarrow as pa
    except ImportError:
        raise click.ClickException("showing rows needs pyarrow: pip install pyarrow") from None
    return pa.RecordBatchReader.from_stream(stream)


def _dicts(rows: Any) -> Iterator[dict[str, Any]]:
    for batch in rows:
        yield from batch.to_pylist()
