"""`checkpoint`: write the state of a version to files that are fast to read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from deltaic.cli import output
from deltaic.cli.options import table_command
from deltaic.printable import counted

if TYPE_CHECKING:
    from deltaic.table import Table


@click.command(short_help="Write a checkpoint.")
@table_command
def checkpoint(table: Table, *, as_json: bool) -> None:
    """Write a checkpoint of the version, as the table's properties say. An existing one stays."""
    with output.progress("writing the checkpoint"):
        done = table.checkpoint()
    if as_json:
        output.print_json(done._asdict())
    elif done.existed:
        click.echo(f"{done.name} exists already")
    else:
        sidecars = f", {counted(done.sidecars_reused, 'sidecar')} taken over" if done.sidecars_reused else ""
        click.echo(
            f"{done.name}: {counted(done.files, 'file')}, {output.size(done.written)} written{sidecars}"
        )
