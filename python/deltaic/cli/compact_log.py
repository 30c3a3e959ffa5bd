"""`compact-log`: one log file for many commits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from deltaic.cli import output
from deltaic.cli.options import table_command
from deltaic.printable import counted

if TYPE_CHECKING:
    from deltaic.table import Table


@click.command("compact-log", short_help="Write one log file for many commits.")
@click.option("--start", type=click.IntRange(min=0), required=True, help="First commit.")
@click.option("--end", type=click.IntRange(min=0), help="Last commit, instead of that of the version.")
@table_command
def compact_log(table: Table, *, start: int, end: int | None, as_json: bool) -> None:
    """Write one file that readers use instead of the commits --start to --end. The commits stay."""
    with output.progress("reading commits"):
        done = table.compact_log(start, end)
    if as_json:
        output.print_json(done._asdict())
    elif done.existed:
        click.echo(f"{done.name} exists already")
    else:
        click.echo(
            f"{done.name}: {done.kept:,} of {counted(done.actions, 'action')}, {output.size(done.bytes)}"
        )
