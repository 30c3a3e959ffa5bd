"""`properties`: the table properties."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from deltaic.cli import output
from deltaic.cli.options import table_command

if TYPE_CHECKING:
    from deltaic.table import Table


@click.command(short_help="The table properties.")
@table_command
def properties(table: Table, *, as_json: bool) -> None:
    """Show the properties that are set, one per line."""
    found = dict(sorted(table.properties.items()))
    if as_json:
        output.print_json(found)
    elif found:
        output.console().print(output.facts(found.items()))
