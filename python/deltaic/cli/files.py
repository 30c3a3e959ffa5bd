"""`files`: the data files of a table, and which of them a predicate keeps."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

import click

from deltaic import times
from deltaic.cli import output
from deltaic.cli.options import pager_option, table_command
from deltaic.printable import counted

if TYPE_CHECKING:
    from deltaic.table import Table


@click.command(short_help="The data files, pruned by --where.")
@click.option("--where", metavar="SQL", help="Only files in which a row may match.")
@click.option("--stats", is_flag=True, help="With the statistics of each file.")
@click.option("--limit", type=click.IntRange(min=1), help="Show at most so many.")
@pager_option
@table_command
def files(table: Table, *, where: str | None, stats: bool, limit: int | None, as_json: bool) -> None:
    """List the data files of a table. With --json, one line per file."""
    listed = islice(table.file_list(where, stats=stats), limit)
    if as_json:
        for file in listed:
            file["modification_time"] = times.from_millis(file["modification_time"])
            if not stats:
                del file["stats"]
            output.print_json_line(file)
        return
    grid = output.grid(
        "size", "modified", "partition", "deleted rows", "path", right=["size", "deleted rows"]
    )
    if stats:
        grid.add_column("stats", overflow="fold")
    with output.progress("listing files", unit="files") as advance:
        for file in listed:
            grid.add_row(*_row(file, stats=stats))
            advance()
    log = table.report
    pruned = log["files_pruned_by_partition"] + log["files_pruned_by_stats"]
    with output.page() as console:
        console.print(grid)
        console.print(
            counted(grid.row_count, "file") + (f", {pruned:,} pruned" if where else ""), style="dim"
        )


def _row(file: dict[str, Any], *, stats: bool) -> list[Any]:
    vector = file["deletion_vector"]
    cells: list[Any] = [
        output.size(file["size"]),
        output.cell(times.from_millis(file["modification_time"])),
        output.cell(file["partition_values"]),
        output.cell(None if vector is None else vector["cardinality"]),
        output.cell(file["path"]),
    ]
    return [*cells, output.cell(file["stats"])] if stats else cells
