"""The arguments that the commands share."""

from __future__ import annotations

import functools
import json
import sys
from typing import TYPE_CHECKING, Any, TextIO

import click
from click.shell_completion import CompletionItem

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
    return click.argument("uri", metavar="TABLE", shell_complete=folders)(store_command(function))


def folders(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Asks the shell to complete a TABLE as a folder."""
    return [CompletionItem(incomplete, type="dir")]


def store_command(function: Callable[..., None]) -> Callable[..., None]:
    """Gives a command the options of the store and `--json`."""

    @click.option(
        "--storage-option",
        "storage_options",
        metavar="KEY=VALUE",
        multiple=True,
        callback=pairs,
        help="Option of the store, such as aws_region=eu-west-1; may be repeated. `ps` shows it: pass no secrets.",
    )
    @click.option(
        "--storage-options-file",
        "kept_options",
        metavar="FILE",
        type=click.File(encoding="utf-8"),
        callback=_kept,
        help="Options of the store, hidden from `ps`: a JSON object in a file, or with - on standard input.",
    )
    @click.option(
        "--allowed-locations",
        metavar="LOCATIONS",
        help="Where files of the log may be: any, table-only, or locations separated by commas.",
    )
    @json_command
    @functools.wraps(function)
    def command(
        *,
        storage_options: dict[str, str],
        kept_options: dict[str, str],
        allowed_locations: str | None,
        **others: Any,
    ) -> None:
        options = with_allowed({**kept_options, **storage_options}, allowed_locations)
        function(storage_options=options, **others)

    return command


def json_command(function: Callable[..., None]) -> Callable[..., None]:
    """Gives a command `--json`, with which its errors are JSON, too."""

    @click.option("--json", "as_json", is_flag=True, help="Print JSON for machines.")
    @functools.wraps(function)
    def command(*, as_json: bool, **others: Any) -> None:
        try:
            function(as_json=as_json, **others)
        except DeltaError as error:
            if as_json:
                output.print_json(output.error_facts(error))
            raise

    return command


def pager_option(function: Callable[..., None]) -> Callable[..., None]:
    """Gives a command whose output may be long `--no-pager`."""

    def note(context: click.Context, _parameter: click.Parameter, given: bool) -> None:  # noqa: FBT001 click's own
        if given:
            context.meta[output.NO_PAGER] = True

    return click.option(
        "--no-pager",
        is_flag=True,
        expose_value=False,
        callback=note,
        help="Print long output as it is; on a terminal it goes through $PAGER, or less.",
    )(function)


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


def _kept(_context: click.Context, _parameter: click.Parameter, file: TextIO | None) -> dict[str, str]:
    if file is None:
        return {}
    # what is wrong is not shown: it may be a secret
    try:
        given = json.load(file)
    except ValueError:
        given = None
    if not isinstance(given, dict) or not all(isinstance(value, str) for value in given.values()):
        raise click.BadParameter(f"`{file.name}` has no JSON object of texts")
    return given


def pairs(_context: click.Context, _parameter: click.Parameter, given: tuple[str, ...]) -> dict[str, str]:
    """The callback of an option or argument that is KEY=VALUE."""
    found = {}
    for pair in given:
        key, equals, value = pair.partition("=")
        if not equals or not key:
            # its content may be a secret
            message = "one is not KEY=VALUE"
            raise click.BadParameter(message)
        found[key] = value
    return found
