"""`watch`: commits as they land."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import click

from deltaic import times
from deltaic.cli import output
from deltaic.cli.log import also
from deltaic.cli.options import newest_command
from deltaic.exceptions import NotFoundError
from deltaic.printable import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from deltaic.table import Table


@click.command(short_help="Show commits as they land.")
@click.option(
    "--from",
    "start",
    type=click.IntRange(min=0),
    metavar="VERSION",
    help="Begin with this version instead of the next.",
)
@click.option(
    "--until",
    type=click.IntRange(min=0),
    metavar="VERSION",
    help="End after this version, instead of at Ctrl-C.",
)
@click.option(
    "--interval",
    type=click.FloatRange(min=0.05),
    default=1.0,
    show_default=True,
    help="Seconds between two checks of the log.",
)
@newest_command
def watch(table: Table, *, start: int | None, until: int | None, interval: float, as_json: bool) -> None:
    """Show each commit of TABLE when it lands, until Ctrl-C; with --json, one line per commit.

    Every version is shown once, in order. Standard error names versions that a cleanup removed before they were seen.
    Without news, a check of the log costs one listing from its newest commit.
    """
    for commit in _commits(table, start, until, interval):
        if as_json:
            output.print_json_line(commit)
        else:
            output.line(_line(commit))


def _commits(table: Table, start: int | None, until: int | None, interval: float) -> Iterator[dict[str, Any]]:
    version = table.version + 1 if start is None else start
    gone: list[int] = []
    while until is None or version <= until:
        if version > table.version:
            _tell(gone)
            time.sleep(interval)
            table.update()
            continue
        try:
            commit = table.commit(version)
        except NotFoundError:
            gone.append(version)
        else:
            _tell(gone)
            yield commit
        version += 1
    _tell(gone)


def _tell(gone: list[int]) -> None:
    """Names the versions in a row that cleanup was faster to remove, and forgets them."""
    if gone:
        which = f"version {gone[0]} is" if len(gone) == 1 else f"versions {gone[0]} to {gone[-1]} are"
        output.line(f"deltaic: {which} not in the log any more", err=True)
        gone.clear()


def _line(commit: dict[str, Any]) -> str:
    """A commit in one line."""
    info = commit["commitInfo"] or {}
    millis = info.get("inCommitTimestamp") or info.get("timestamp")
    when = output.cell(None if millis is None else times.from_millis(millis)).plain
    parts = [f"{commit['version']:>6}", when, info.get("operation") or "-"]
    if commit["adds"]:
        parts.append(f"+{counted(commit['adds'], 'file')} ({output.size(commit['addedBytes'])})")
    if commit["removes"]:
        parts.append(f"-{counted(commit['removes'], 'file')} ({output.size(commit['removedBytes'])})")
    parts += also(commit)
    if info.get("engineInfo"):
        parts.append(f"by {info['engineInfo']}")
    return "  ".join(parts)
