"""`manifest`: write symlink manifests."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from deltaic.cli import output
from deltaic.cli.options import newest_command

if TYPE_CHECKING:
    from deltaic.table import Table


@click.command(short_help="Write symlink manifests for engines that read Hive tables.")
@newest_command
def manifest(table: Table, *, as_json: bool) -> None:
    """Write a list of the files of each partition of the newest version, below `_symlink_format_manifest`."""
    with output.progress("writing manifests"):
        done = table.generate_manifest()
    if as_json:
        output.print_json(asdict(done))
        return
    click.echo(
        f"manifests of version {done.version}: {done.written:,} written, {done.deleted:,} stale ones deleted"
    )
