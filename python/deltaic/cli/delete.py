"""`delete`: delete the rows that match a condition."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from deltaic.cli import output
from deltaic.cli.options import confirm, newest_command, yes_option
from deltaic.printable import counted

if TYPE_CHECKING:
    from deltaic.table import Table


@click.command(short_help="Delete the rows that match a condition.")
@click.option("--where", metavar="SQL", help="Condition; without it, every row is deleted.")
@click.option("--user-metadata", metavar="TEXT", help="Text for the history.")
@yes_option
@newest_command
def delete(table: Table, *, where: str | None, user_metadata: str | None, yes: bool, as_json: bool) -> None:
    """Delete the rows that match a condition, in one version. Older versions keep them."""
    if where is None:
        confirm(f"delete every row of {table.uri}", yes=yes)
    with output.files_progress("deleting") as tell:
        done = table.delete(where, user_metadata=user_metadata, progress=tell)
    if as_json:
        output.print_json(asdict(done))
    elif done.version is None:
        click.echo("no row matches: nothing was committed")
    else:
        rows = "all rows" if done.deleted_rows is None else counted(done.deleted_rows, "row")
        where_from = f" of {counted(done.removed_files, 'file')}" if done.deleted_rows is None else ""
        click.echo(f"version {done.version}: {rows}{where_from} deleted")
