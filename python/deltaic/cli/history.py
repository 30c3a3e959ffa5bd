"""`history`: who committed what, and when."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from deltaic.cli import output
from deltaic.cli.options import pager_option, table_command

if TYPE_CHECKING:
    from deltaic.table import Table


@click.command(short_help="The commits, newest first.")
@click.option("--limit", type=click.IntRange(min=1), help="Show at most so many.")
@pager_option
@table_command
def history(table: Table, *, limit: int | None, as_json: bool) -> None:
    """Show the commits of a table, newest first, as DESCRIBE HISTORY does."""
    with output.progress("reading commits"):
        commits = table.history(limit)
    if as_json:
        output.print_json(commits)
        return
    columns = {
        "operation": "operation",
        "operationParameters": "parameters",
        "operationMetrics": "metrics",
        "engineInfo": "engine",
    }
    if any(commit["route"] for commit in commits):
        columns["route"] = "route"
    grid = output.grid("version", "timestamp", *columns.values(), right=["version"])
    for commit in commits:
        shown = (commit[name] for name in columns)
        grid.add_row(str(commit["version"]), output.cell(commit["timestamp"]), *map(output.cell, shown))
    with output.page() as console:
        console.print(grid)
