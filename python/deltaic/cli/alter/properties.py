"""`alter set-properties` and `alter unset-properties`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from deltaic.cli import output
from deltaic.cli.options import newest_command, pairs

if TYPE_CHECKING:
    from deltaic.table import Table


@click.command("set-properties", short_help="Set table properties.")
@newest_command
@click.argument("properties", metavar="KEY=VALUE...", nargs=-1, required=True, callback=pairs)
def set_properties(table: Table, *, properties: dict[str, str], as_json: bool) -> None:
    """Set table properties. Other properties stay, and table features that they need are added."""
    output.done(table.set_properties(properties), as_json=as_json)


@click.command("unset-properties", short_help="Remove table properties.")
@newest_command
@click.argument("keys", metavar="KEY...", nargs=-1, required=True)
@click.option("--if-exists", is_flag=True, help="Ignore keys that are not set.")
def unset_properties(table: Table, *, keys: tuple[str, ...], if_exists: bool, as_json: bool) -> None:
    """Remove table properties. Table features stay."""
    output.done(table.unset_properties(keys, if_exists=if_exists), as_json=as_json)
