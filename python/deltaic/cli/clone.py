"""`clone`: create a table that refers to the files of another."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from deltaic.cli import output
from deltaic.cli.options import pairs, table_command
from deltaic.printable import counted

if TYPE_CHECKING:
    from deltaic.table import Table


@click.command(short_help="Create a table that refers to the files of another.")
@click.option("--replace", is_flag=True, help="Replace a table that has no files.")
@click.option(
    "--property", "properties", metavar="KEY=VALUE", multiple=True, callback=pairs, help="Table property."
)
@table_command
@click.argument("target")
def clone(table: Table, *, target: str, replace: bool, properties: dict[str, str], as_json: bool) -> None:
    """Create a table at TARGET from a version of TABLE. No file is copied; row ids are not kept."""
    with output.files_progress("cloning") as tell:
        done = table.shallow_clone(target, replace=replace, properties=properties, progress=tell)
    if as_json:
        output.print_json(asdict(done))
        return
    output.line(
        f"version {done.version} of {done.uri} is version {done.source_version} of {table.uri}: "
        f"{counted(done.files, 'file')}, {output.size(done.bytes)}"
    )
