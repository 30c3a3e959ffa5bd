"""The arguments that the commands share."""

from __future__ import annotations

import functools
import sys
from typing import TYPE_CHECKING, Any

import click

from deltaic.table import Table

if TYPE_CHECKING:
    from collections.abc import Callable


def table_command(function: Callable[..., None]) -> Callable[..., None]:
    """Gives a command TABLE with the options of time travel, the store and `--json`, and opens the table for it."""

    @click.argument("uri", metavar="TABLE")
    @click.option("--version", type=click.IntRange(min=0), help="Version to open, instead of the newest.")
    @click.option(
        "--timestamp",
        metavar="TIME",
        help="Open the version at this time, as in '2026-01-31 12:00:00' (UTC).",
    )
    @click.option(
        "--storage-option",
        "storage_options",
        metavar="KEY=VALUE",
        multiple=True,
        callback=_pairs,
        help="Option of the store, such as aws_region=eu-west-1; may be repeated.",
    )
    @click.option("--json", "as_json", is_flag=True, help="Print JSON for machines.")
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


def confirm(what: str, *, yes: bool) -> None:
    """Asks on a terminal before something is done that cannot be undone."""
    if not yes and sys.stdin.isatty():
        click.confirm(f"{what}?", abort=True, err=True)


def _pairs(_context: click.Context, _parameter: click.Parameter, given: tuple[str, ...]) -> dict[str, str]:
    pairs = {}
    for pair in given:
        key, equals, value = pair.partition("=")
        if not equals or not key:
            raise click.BadParameter(f"`{pair}` is not KEY=VALUE")
        pairs[key] = value
    return pairs
