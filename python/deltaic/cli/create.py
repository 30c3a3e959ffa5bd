"""`create`: create a table without rows."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

import deltaic
from deltaic.cli import output, sources
from deltaic.cli.options import location_command, pairs
from deltaic.predicates import name_parts


@click.command(short_help="Create a table without rows.")
@click.option(
    "--schema",
    metavar="COLUMNS",
    help="Columns as SQL writes them ('id BIGINT NOT NULL, name STRING'), the JSON of a schema, or a file of either.",
)
@click.option(
    "--like",
    metavar="FILE",
    help="Take the columns of a data file: Parquet, Arrow, CSV or JSON.",
)
@click.option("--partition-by", metavar="COLUMN", multiple=True, help="Partition column; may be repeated.")
@click.option(
    "--cluster-by",
    metavar="COLUMN",
    multiple=True,
    help="Clustering column, or a field of a struct as 's.a'; may be repeated. Needs --schema.",
)
@click.option(
    "--property",
    "configuration",
    metavar="KEY=VALUE",
    multiple=True,
    callback=pairs,
    help="Table property; may be repeated.",
)
@click.option("--name", help="Name of the table.")
@click.option("--description", help="Description of the table.")
@click.option("--if-not-exists", is_flag=True, help="Do nothing if there is a table.")
@click.option("--or-replace", is_flag=True, help="Replace an existing table. Needs --schema.")
@location_command
def create(
    uri: str,
    *,
    schema: str | None,
    like: str | None,
    partition_by: tuple[str, ...],
    cluster_by: tuple[str, ...],
    configuration: dict[str, str],
    name: str | None,
    description: str | None,
    if_not_exists: bool,
    or_replace: bool,
    storage_options: dict[str, str],
    as_json: bool,
) -> None:
    """Create a table without rows, with the columns of --schema or --like. `append` creates one, too."""
    if (schema is None) == (like is None):
        raise click.UsageError("the columns are missing: give --schema or --like")
    if like is not None and (cluster_by or or_replace):
        raise click.UsageError("--cluster-by and --or-replace need --schema, not --like")
    if if_not_exists and or_replace:
        raise click.UsageError("--if-not-exists and --or-replace contradict each other; give one")
    facts: dict[str, Any] = {
        "partition_by": partition_by,
        "configuration": configuration,
        "name": name,
        "description": description,
        "storage_options": storage_options,
    }
    if like is None:
        done = deltaic.create(
            uri,
            _text(schema or ""),
            cluster_by=[name_parts(column) for column in cluster_by],
            if_not_exists=if_not_exists,
            or_replace=or_replace,
            **facts,
        )
        result = asdict(done)
    else:
        mode = "ignore" if if_not_exists else "errorifexists"
        written = deltaic.write(uri, sources.no_rows(like), mode, **facts)
        result = {"version": written.version, "created": written.created, "replaced": False}
    if as_json:
        output.print_json(result)
    elif result["created"] or result["replaced"]:
        click.echo(f"version {result['version']}")
    else:
        click.echo(f"the table exists already, at version {result['version']}")


def _text(schema: str) -> str:
    """The schema, or the file that has it."""
    file = Path(schema.removeprefix("@"))
    try:
        return file.read_text(encoding="utf-8") if file.is_file() else schema
    except OSError:
        return schema  # too long for a name, as columns may well be
