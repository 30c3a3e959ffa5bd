"""What `append` and `overwrite` share."""

from __future__ import annotations

import functools
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import click

import deltaic
from deltaic.cli import output, sources
from deltaic.cli.options import pairs
from deltaic.exceptions import TableNotFoundError
from deltaic.printable import counted

if TYPE_CHECKING:
    from collections.abc import Callable

    from deltaic.table.write import WriteResult


@dataclass(frozen=True)
class WriteArguments:
    """What a write is given."""

    files: tuple[str, ...]
    """Data files."""
    file_format: str | None
    """Their format, where their names do not tell it."""
    table: dict[str, Any]
    """Arguments of `deltaic.write` as they are."""


def write_options(function: Callable[..., None]) -> Callable[..., None]:
    """Gives a command FILES, and the options of a write as `arguments`."""

    @click.argument("files", nargs=-1, required=True, metavar="FILES...")
    @click.option(
        "--format",
        "file_format",
        type=click.Choice(sources.FORMATS),
        help="Format of the files, if their names do not show it.",
    )
    @click.option(
        "--partition-by",
        metavar="COLUMN",
        multiple=True,
        help="Partition column of a new table; may be repeated.",
    )
    @click.option(
        "--property",
        "configuration",
        metavar="KEY=VALUE",
        multiple=True,
        callback=pairs,
        help="Table property of a new table; may be repeated.",
    )
    @click.option(
        "--compression", metavar="CODEC", help="Codec of the data files, instead of the table's own."
    )
    @click.option("--user-metadata", metavar="TEXT", help="Text for the history.")
    @functools.wraps(function)
    def command(files: tuple[str, ...], file_format: str | None, **others: Any) -> None:
        names = ("partition_by", "configuration", "compression", "user_metadata")
        table = {name: others.pop(name) for name in names}
        function(arguments=WriteArguments(files, file_format, table), **others)

    return command


def write(
    uri: str,
    arguments: WriteArguments,
    mode: str,
    advance: Callable[[int], None],
    *,
    storage_options: dict[str, str],
    **others: Any,
) -> WriteResult:
    """Writes the rows of the files; `advance` is told the rows of each batch."""
    try:
        table = deltaic.Table(uri, storage_options=storage_options)
    except TableNotFoundError:
        table = None
    rows = sources.counted(sources.batches(arguments.files, arguments.file_format, table), advance)
    return deltaic.write(uri, rows, mode, storage_options=storage_options, **arguments.table, **others)


def report(done: WriteResult, *, as_json: bool) -> None:
    """Prints what a write did."""
    if as_json:
        output.print_json(asdict(done))
    elif done.skipped:
        click.echo(f"nothing to write: the table is at version {done.version}")
    else:
        removed = f", {counted(done.removed, 'file')} out" if done.removed else ""
        click.echo(
            f"version {done.version}: {counted(done.rows, 'row')}, {output.size(done.bytes)} "
            f"in {counted(done.files, 'file')}{removed}"
        )
