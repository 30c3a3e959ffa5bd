"""The arguments that the commands share."""

from __future__ import annotations

import functools
import sys
from typing import TYPE_CHECKING, Any

import click

from deltaic.allowed_locations import with_allowed
from deltaic.cli import output
from deltaic.exceptions import DeltaError
from deltaic.table import Table

if TYPE_CHECKING:
    from collections.abc import Callable


def table_command(function: Callable[..., None]) -> Callable[..., None]:
    """Gives a command TABLE with the options of time travel, the store and `--json`, and opens the table for it."""

    @click.option("--version", type=click.IntRange(min=0), help="Version to open, instead of the newest.")
    @click.option(
        "--timestamp",
        metavar="TIME",
        help="Open the version at this time, as in '2026-01-31 12:00:00' (UTC).",
    )
    @location_command
    @functools.wraps(function)
    def command(
        uri: str,
        version: int | None,
        timestamp: str | None,
        storage_options: dict[str, str],
        **others: Any,
    ) -> None:
        function(Table(uri, version=version, timestamp=timestamp, storage_options=storage_options), **others)

    return command


def newest_command(function: Callable[..., None]) -> Callable[..., None]:
    """Gives a command that changes the newest version TABLE with the options of the store and `--json`."""

    @location_command
    @functools.wraps(function)
    def command(uri: str, storage_options: dict[str, str], **others: Any) -> None:
        function(Table(uri, storage_options=storage_options), **others)

    return command


def location_command(function: Callable[..., None]) -> Callable[..., None]:
    """Gives a command TABLE, which may not be there yet, with the options of the store and `--json`."""

    @click.argument("uri", metavar="TABLE")
    @click.option(
        "--storage-option",
        "storage_options",
        metavar="KEY=VALUE",
        multiple=True,
        callback=pairs,
        help="Option of the store, such as aws_region=eu-west-1; may be repeated.",
    )
    @click.option(
        "--allowed-locations",
        metavar="LOCATIONS",
        help="Where the log may name files that are read: any, table-only, or locations with commas between them.",
    )
    @click.option("--json", "as_json", is_flag=True, help="Print JSON for machines.")
    @functools.wraps(function)
    def command(
        *, as_json: bool, storage_options: dict[str, str], allowed_locations: str | None, **others: Any
    ) -> None:
        options = with_allowed(storage_options, allowed_locations)
        try:
            function(as_json=as_json, storage_options=options, **others)
        except DeltaError as error:
            if as_json:
                output.print_json(output.error_facts(error))
            raise

    return command


def dry_run_option(function: Callable[..., None]) -> Callable[..., None]:
    """Gives a command that deletes `--dry-run`."""
    return click.option("--dry-run", is_flag=True, help="Show what would be deleted, and delete nothing.")(
        function
    )


def yes_option(function: Callable[..., None]) -> Callable[..., None]:
    """Gives a command that asks `--yes`."""
    return click.option("--yes", is_flag=True, help="Do not ask.")(function)


def confirm(what: str, *, yes: bool) -> None:
    """Asks on a terminal before something is done that cannot be undone."""
    if not yes and sys.stdin.isatty():
        click.confirm(f"{what}?", abort=True, err=True)


def pairs(_context: click.Context, _parameter: click.Parameter, given: tuple[str, ...]) -> dict[str, str]:
    """The callback of an option or argument that is KEY=VALUE."""
    found = {}
    for pair in given:
        key, equals, value = pair.partition("=")
        if not equals or not key:
            raise click.BadParameter(f"`{pair}` is not KEY=VALUE")
        found[key] = value
    return found
