"""`update`: set columns in the rows that match a condition."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from deltaic.cli import output
from deltaic.cli.options import newest_command, pairs
from deltaic.printable import counted

if TYPE_CHECKING:
    from deltaic.table import Table


@click.command(short_help="Set columns in the rows that match a condition.")
@click.option(
    "--set",
    "assignments",
    metavar="COLUMN=SQL",
    multiple=True,
    required=True,
    callback=pairs,
    help="Column, or field of a struct, and the expression of its value; may be repeated.",
)
@click.option("--where", metavar="SQL", help="Condition; without it, every row is updated.")
@click.option("--user-metadata", metavar="TEXT", help="Text for the history.")
@newest_command
def update(
    table: Table,
    *,
    assignments: dict[str, str],
    where: str | None,
    user_metadata: str | None,
    as_json: bool,
) -> None:
    """Set columns in the rows that match a condition, in one version. Expressions see the old row."""
    with output.files_progress("updating") as tell:
        done = table.update_rows(assignments, where, user_metadata=user_metadata, progress=tell)
    if as_json:
        output.print_json(asdict(done))
    elif done.version is None:
        click.echo("no row matches: nothing was committed")
    else:
        click.echo(f"version {done.version}: {counted(done.updated_rows, 'row')} updated")
