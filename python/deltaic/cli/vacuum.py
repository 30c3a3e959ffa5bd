"""`vacuum`: delete files that no version within the retention needs."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from deltaic.cli import output
from deltaic.cli.options import confirm, dry_run_option, newest_command, yes_option
from deltaic.printable import counted

if TYPE_CHECKING:
    from deltaic.table import Table


@click.command(short_help="Delete files that no retained version needs.")
@click.option("--retention-hours", type=click.FloatRange(min=0), help="Instead of the table's own retention.")
@click.option("--allow-short-retention", is_flag=True, help="Allow a retention below that of the table.")
@click.option("--lite", is_flag=True, help="Only files that the log names as removed; list nothing.")
@dry_run_option
@yes_option
@newest_command
def vacuum(
    table: Table,
    *,
    retention_hours: float | None,
    allow_short_retention: bool,
    lite: bool,
    dry_run: bool,
    yes: bool,
    as_json: bool,
) -> None:
    """Delete the files that neither the newest version nor a version within the retention needs.

    The exit code is 1 if a file could not be deleted.
    """
    if not dry_run:
        confirm(f"delete files of {table.uri}, and the older versions with them", yes=yes)
    with output.files_progress("deleting" if not dry_run else "looking for files") as tell:
        done = table.vacuum(
            retention_hours,
            mode="lite" if lite else "full",
            dry_run=dry_run,
            allow_short_retention=allow_short_retention,
            progress=tell,
        )
    if as_json:
        output.print_json(asdict(done))
    else:
        for file in done.files:
            output.line(file)
        what = "would be deleted" if dry_run else "deleted"
        output.console().print(
            f"{counted(len(done.files), 'file')} {what}, {output.size(done.bytes)}", style="dim"
        )
    for path, reason in done.failed:
        output.line(f"deltaic: not deleted: {path}: {reason}", err=True)
    if done.failed:
        sys.exit(1)
