"""`append`: add the rows of data files to a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from deltaic.cli import output
from deltaic.cli.options import location_command
from deltaic.cli.writing import report, write, write_options

if TYPE_CHECKING:
    from deltaic.cli.writing import WriteArguments


@click.command(short_help="Add the rows of data files.")
@location_command
@write_options
@click.option(
    "--app-transaction",
    metavar="APP VERSION",
    type=(str, int),
    help="Write nothing if the table has recorded this version of this application.",
)
def append(
    uri: str,
    *,
    arguments: WriteArguments,
    app_transaction: tuple[str, int] | None,
    storage_options: dict[str, str],
    as_json: bool,
) -> None:
    """Add the rows of FILES (Parquet, Arrow, CSV or JSON lines) to TABLE in one version; create it if there is none."""
    with output.progress("writing", unit="rows") as advance:
        done = write(
            uri,
            arguments,
            "append",
            advance,
            storage_options=storage_options,
            app_transaction=app_transaction,
        )
    report(done, as_json=as_json)
