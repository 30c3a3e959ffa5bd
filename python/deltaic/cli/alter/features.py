"""`alter add-feature` and `alter drop-feature`."""

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


@click.command("drop-feature", short_help="Drop a table feature from the protocol.")
@newest_command
@click.argument("name")
@click.option(
    "--truncate-history",
    is_flag=True,
    help="Remove the versions that use the feature, when they are old enough, instead of protecting checkpoints.",
)
def drop_feature(table: Table, *, name: str, truncate_history: bool, as_json: bool) -> None:
    """Drop the table feature NAME and what uses it: files that use it are rewritten, and no row changes.

    If readers need it, older versions stay behind protected checkpoints, or --truncate-history removes them.
    """
    with output.progress("dropping the feature"):
        version = table.drop_feature(name, truncate_history=truncate_history)
    output.done(version, as_json=as_json)
