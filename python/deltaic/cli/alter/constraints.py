"""`alter add-constraint` and `alter drop-constraint`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from deltaic.cli import output
from deltaic.cli.options import newest_command

if TYPE_CHECKING:
    from deltaic.table import Table


@click.command("add-constraint", short_help="Add a CHECK constraint that every row passes.")
@newest_command
@click.argument("name")
@click.argument("expression")
def add_constraint(table: Table, *, name: str, expression: str, as_json: bool) -> None:
    """Add the CHECK constraint NAME: an SQL EXPRESSION that must be true for existing and new rows."""
    with output.progress("checking rows"):
        version = table.add_constraint(name, expression)
    output.done(version, as_json=as_json)


@click.command("drop-constraint", short_help="Drop a CHECK constraint.")
@newest_command
@click.argument("name")
@click.option("--if-exists", is_flag=True, help="Do nothing if there is none of this name.")
def drop_constraint(table: Table, *, name: str, if_exists: bool, as_json: bool) -> None:
    """Drop the CHECK constraint NAME."""
    output.done(table.drop_constraint(name, if_exists=if_exists), as_json=as_json)
