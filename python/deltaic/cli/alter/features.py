"""`alter add-feature`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from deltaic.cli import output
from deltaic.cli.options import newest_command

if TYPE_CHECKING:
    from deltaic.table import Table


@click.command("add-feature", short_help="Add a table feature to the protocol.")
@newest_command
@click.argument("name")
def add_feature(table: Table, *, name: str, as_json: bool) -> None:
    """Add the table feature NAME, with those that it requires, to the protocol."""
    output.done(table.add_feature(name), as_json=as_json)
