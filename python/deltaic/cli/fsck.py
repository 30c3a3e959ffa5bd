"""`fsck`: remove missing files from the log."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from deltaic.cli import output
from deltaic.cli.options import confirm, newest_command, yes_option
from deltaic.printable import counted

if TYPE_CHECKING:
    from deltaic.table import Table


@click.command(short_help="Remove files from the log that the store does not have.")
@click.option("--dry-run", is_flag=True, help="Show what is missing, and change nothing.")
@yes_option
@newest_command
def fsck(table: Table, *, dry_run: bool, yes: bool, as_json: bool) -> None:
    """Check every file of the newest version, and remove those from the log that the store does not have.

    The exit code is 1 if something is missing that it did not remove.
    """
    if not dry_run:
        confirm(f"remove missing files from the log of {table.uri}", yes=yes)
    with output.progress("looking after files"):
        done = table.fsck(dry_run=dry_run)
    if as_json:
        output.print_json(asdict(done))
    else:
        for path in [*done.missing, *done.missing_vectors]:
            output.line(path)
        what = "missing" if done.version is None else f"removed from the log by version {done.version}"
        vectors = (
            f", {counted(len(done.missing_vectors), 'deletion vector')} missing"
            if done.missing_vectors
            else ""
        )
        output.console().print(f"{counted(len(done.missing), 'file')} {what}{vectors}", style="dim")
    if done.missing_vectors or (done.missing and done.version is None):
        sys.exit(1)
