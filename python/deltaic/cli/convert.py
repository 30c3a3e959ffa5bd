"""`convert`: turn Parquet files into a table."""

from __future__ import annotations

from dataclasses import asdict

import click

import deltaic
from deltaic.cli import output
from deltaic.cli.options import confirm, location_command, pairs, yes_option
from deltaic.printable import counted


@click.command(short_help="Turn the Parquet files of a folder into a table.")
@click.option("--partition-by", metavar="COLUMNS", help="Partition columns as in SQL: 'year INT, day DATE'.")
@click.option("--infer-partitions", is_flag=True, help="Infer partition columns from the folders.")
@click.option("--no-statistics", is_flag=True, help="Collect no statistics of columns.")
@click.option(
    "--property", "properties", metavar="KEY=VALUE", multiple=True, callback=pairs, help="Table property."
)
@yes_option
@location_command
def convert(
    uri: str,
    *,
    partition_by: str | None,
    infer_partitions: bool,
    no_statistics: bool,
    properties: dict[str, str],
    yes: bool,
    storage_options: dict[str, str],
    as_json: bool,
) -> None:
    """Turn the Parquet files of a folder into a table, in one commit. No data is read or copied."""
    confirm(f"make {uri} a Delta table", yes=yes)
    with output.files_progress("reading footers") as tell:
        done = deltaic.convert(
            uri,
            partition_by,
            infer_partitions=infer_partitions,
            statistics=not no_statistics,
            configuration=properties,
            storage_options=storage_options,
            progress=tell,
        )
    if as_json:
        output.print_json(asdict(done))
    elif done.existed:
        output.line(f"{uri} is a Delta table already, at version {done.version}")
    else:
        click.echo(f"{counted(done.files, 'file')}, {counted(done.rows, 'row')}, {output.size(done.bytes)}")
