"""`properties`: the table properties."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from deltaic.cli import output
from deltaic.cli.options import pager_option, table_command

if TYPE_CHECKING:
    from deltaic.table import Table


@click.command(short_help="The table properties.")
@pager_option
@table_command
def properties(table: Table, *, as_json: bool) -> None:
    """Show the properties that are set, one per line."""
    found = dict(sorted(table.properties.items()))
    if as_json:
        output.print_content(found)
    elif found:
        with output.page() as console:
            console.print(output.facts(found.items()))
