"""`schema`: the columns of a table."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from deltaic.cli import output
from deltaic.cli.options import table_command

if TYPE_CHECKING:
    from deltaic.table import Table


@click.command(short_help="The columns, as a tree.")
@table_command
def schema(table: Table, *, as_json: bool) -> None:
    """Show the columns of a table: as a tree, or with --json in the form of the protocol."""
    if as_json:
        output.print_json(json.loads(table.schema.json()))
        return
    output.echo(repr(table.schema))
    if table.partition_columns:
        output.line(f"partitioned by: {', '.join(table.partition_columns)}")
