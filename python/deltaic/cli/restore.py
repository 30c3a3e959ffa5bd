"""`restore`: return a table to an older version."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from deltaic.cli import output
from deltaic.cli.options import confirm, table_command, yes_option
from deltaic.printable import counted

if TYPE_CHECKING:
    from deltaic.table import Table


@click.command(short_help="Return a table to an older version or time.")
@click.option(
    "--ignore-missing-files", is_flag=True, help="Restore even if files of the old version are missing."
)
@yes_option
@table_command
def restore(table: Table, *, ignore_missing_files: bool, yes: bool, as_json: bool) -> None:
    """Make a table what it was at a version or time, as a new version. The versions in between stay."""
    version = table.version
    if table.update().version == version:
        raise click.UsageError(
            f"version {version} is the newest one: give an older one by --version, --timestamp or TABLE@v5"
        )
    confirm(f"restore {table.uri} from version {table.version} to version {version}", yes=yes)
    with output.files_progress("restoring") as tell:
        done = table.restore(version, ignore_missing_files=ignore_missing_files, progress=tell)
    if as_json:
        output.print_json(asdict(done))
        return
    click.echo(
        f"version {done.version} is version {done.restored_version} again: "
        f"{counted(done.restored_files, 'file')} came back, {done.removed_files:,} left"
    )
