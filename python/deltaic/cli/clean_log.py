"""`clean-log`: delete log files that have expired."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from deltaic.cli import output
from deltaic.cli.options import confirm, dry_run_option, newest_command, yes_option
from deltaic.printable import counted

if TYPE_CHECKING:
    from deltaic.table import Table


@click.command("clean-log", short_help="Delete log files that have expired.")
@dry_run_option
@yes_option
@newest_command
def clean_log(table: Table, *, dry_run: bool, yes: bool, as_json: bool) -> None:
    """Delete log files older than `delta.logRetentionDuration` that no younger version needs.

    The exit code is 1 if a file could not be deleted.
    """
    if not dry_run:
        confirm(f"delete the expired log files of {table.uri}, and the older versions with them", yes=yes)
    with output.progress("deleting" if not dry_run else "looking for files"):
        done = table.clean_log(dry_run=dry_run)
    if as_json:
        output.print_json(done._asdict())
    else:
        for file in done.deleted:
            output.line(file)
        what = "would be deleted" if dry_run else "deleted"
        output.console().print(f"{counted(len(done.deleted), 'file')} {what}", style="dim")
    for name, reason in done.failed:
        output.line(f"deltaic: not deleted: {name}: {reason}", err=True)
    if done.failed:
        sys.exit(1)
