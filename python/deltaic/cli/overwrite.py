"""`overwrite`: replace the rows of a table by those of data files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from deltaic.cli import output
from deltaic.cli.options import confirm, location_command, yes_option
from deltaic.cli.writing import report, write, write_options

if TYPE_CHECKING:
    from deltaic.cli.writing import WriteArguments


@click.command(short_help="Replace all rows, some rows or partitions.")
@location_command
@write_options
@click.option("--replace-where", metavar="CONDITION", help="Replace only the rows for which this is true.")
@click.option(
    "--partitions",
    is_flag=True,
    help="Replace only the partitions of the new rows (dynamic overwrite).",
)
@yes_option
def overwrite(
    uri: str,
    *,
    arguments: WriteArguments,
    replace_where: str | None,
    partitions: bool,
    yes: bool,
    storage_options: dict[str, str],
    as_json: bool,
) -> None:
    """Replace the rows of TABLE by those of FILES, in one version. Older versions stay until a vacuum."""
    what = "all rows" if replace_where is None else f"the rows where {replace_where}"
    confirm(f"replace {'partitions' if partitions else what} of {uri}", yes=yes)
    with output.progress("writing", unit="rows") as advance:
        done = write(
            uri,
            arguments,
            "overwrite",
            advance,
            storage_options=storage_options,
            replace_where=replace_where,
            partition_overwrite="dynamic" if partitions else "static",
        )
    report(done, as_json=as_json)
