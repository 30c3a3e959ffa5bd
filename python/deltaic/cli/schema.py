"""`schema`: the columns of a table."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click
from rich.text import Text

from deltaic.cli import output
from deltaic.cli.options import pager_option, table_command

if TYPE_CHECKING:
    from deltaic.table import Table


@click.command(short_help="The columns, as a tree.")
@pager_option
@table_command
def schema(table: Table, *, as_json: bool) -> None:
    """Show the columns of a table: as a tree, or with --json in the form of the protocol."""
    if as_json:
        output.print_content(json.loads(table.schema.json()))
        return
    with output.page() as console:
        console.print(Text(repr(table.schema)))
        if table.partition_columns:
            console.print(output.cell(f"partitioned by: {', '.join(table.partition_columns)}"))
