"""Tables and colours for people, JSON for machines."""

from __future__ import annotations

import io
import json
import os
import sys
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console, ConsoleOptions, RenderableType
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
)
from rich.segment import Segment
from rich.table import Table as Grid
from rich.text import Text

from deltaic import printable
from deltaic import progress as files
from deltaic.printable import in_json, in_one_line, visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from contextlib import AbstractContextManager

    from deltaic.exceptions import DeltaError


JSON_FORMAT = 1
"""The version of the JSON that deltaic prints. Keys may be added to it; any other change is a new version."""

NO_PAGER = "deltaic.no_pager"
"""What of the context of a command says that it uses no pager."""


class _Visible(Console):
    """A console on which only the console itself controls the terminal."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """As Rich renders it, without control characters in what is rendered."""
        for text, style, control in super().render(renderable, options):
            yield Segment(text if control else visible(text), style, control)


def console() -> Console:
    """Standard output. Colours only on a terminal; into a file or pipe, lines are as long as they must be."""
    if sys.stdout.isatty():
        return _Visible(highlight=False)
    return _Visible(highlight=False, width=10_000, soft_wrap=True)


@contextmanager
def page() -> Iterator[Console]:
    """Standard output; on a terminal, what is longer than it goes through its pager, unless with `--no-pager`."""
    screen = console()
    if not (sys.stdin.isatty() and sys.stdout.isatty()) or click.get_current_context().meta.get(NO_PAGER):
        yield screen
        return
    held = io.StringIO()
    colours: Any = screen.color_system  # the pager gets those that the terminal would get
    yield _Visible(highlight=False, file=held, force_terminal=True, width=screen.width, color_system=colours)
    shown = held.getvalue()
    if shown.count("\n") < screen.height:
        click.echo(shown, nl=False)
        return
    os.environ.setdefault("LESS", "-FRX")
    click.echo_via_pager(shown.removesuffix("\n"), color=True)


def line(value: object, *, err: bool = False) -> None:
    """Prints text of a table as one line, whatever is in it."""
    click.echo(in_one_line(str(value)), err=err)


def print_json(value: dict[str, Any] | list[dict[str, Any]]) -> None:
    """One JSON document of deltaic's own form, which `schemas` has; times as ISO 8601."""
    print_content([_formed(entry) for entry in value] if isinstance(value, list) else _formed(value))


def print_json_line(value: dict[str, Any]) -> None:
    """One such object in a line, for lists too long to hold."""
    print_content_line(_formed(value))


def print_content(value: Any) -> None:
    """One JSON document whose form is another's: that of the protocol, or of the properties of a table."""
    click.echo(in_json(json.dumps(value, default=_plain, indent=2, ensure_ascii=False)))


def print_content_line(value: Any) -> None:
    """One line of JSON whose form is another's: a row of a table."""
    click.echo(in_json(json.dumps(value, default=_plain, ensure_ascii=False)))


def _formed(value: dict[str, Any]) -> dict[str, Any]:
    return {"format": JSON_FORMAT, **value}


def error_facts(error: DeltaError) -> dict[str, Any]:
    """The facts of an error, for machines."""
    facts = dict(error.facts)
    transaction = facts.get("transaction")
    if isinstance(transaction, str):
        facts["transaction"] = json.loads(transaction)
    return {"error": {"kind": error.kind, "message": str(error), **facts}}


def done(version: int, *, as_json: bool, **facts: Any) -> None:
    """The result of a change: the version that has it, and more for machines."""
    if as_json:
        print_json({"version": version, **facts})
    else:
        click.echo(f"version {version}")


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat(timespec="milliseconds")
    if isinstance(value, (tuple, set, frozenset)):
        return list(value)
    return str(value)


def grid(*columns: str, right: Iterable[str] = ()) -> Grid:
    """A table with these headings; those of `right` are numbers."""
    numbers = set(right)
    made = Grid(box=None, header_style="bold", pad_edge=False)
    for name in columns:
        made.add_column(name, justify="right" if name in numbers else "left", overflow="fold")
    return made


def facts(rows: Iterable[tuple[str, object]]) -> Grid:
    """Names and values, one a line."""
    made = Grid.grid(padding=(0, 2))
    made.add_column(style="bold")
    made.add_column(overflow="fold")
    for name, value in rows:
        made.add_row(cell(name), cell(value))
    return made


def cell(value: object) -> Text:
    """A value as people read it; text is shown as it is, markup and all."""
    if value is None:
        return Text("-", style="dim")
    if isinstance(value, datetime):
        return Text(value.strftime("%Y-%m-%d %H:%M:%S.%f")[:-3] + " UTC")
    if isinstance(value, dict):
        return Text(in_one_line(", ".join(f"{k}={v}" for k, v in value.items())) or "-")
    if isinstance(value, (list, tuple)):
        return Text(in_one_line(", ".join(map(str, value))) or "-")
    return Text(in_one_line(str(value)))


def size(count: int | None) -> str:
    """Bytes in the unit that reads best."""
    return "-" if count is None else printable.size(count)


def files_progress(what: str) -> AbstractContextManager[Callable[[files.Progress], object]]:
    """Shows files and bytes on standard error, if that is a terminal; gives the `progress` of an operation."""
    return files.bar(Console(stderr=True), what)


@contextmanager
def progress(what: str, total: int | None = None, *, unit: str | None = None) -> Iterator[Any]:
    """Shows progress on standard error, if that is a terminal; yields what to call after each step.

    Steps are shown against their total, or counted in units.
    """
    shown = Console(stderr=True)
    if not shown.is_terminal:
        yield lambda _steps=1: None
        return
    counter: tuple[ProgressColumn, ...] = (BarColumn(), MofNCompleteColumn()) if total else ()
    if unit is not None:
        counter = (TextColumn(f"{{task.completed:,.0f}} {unit}"),)
    columns = (SpinnerColumn(), TextColumn("{task.description}"), *counter, TimeElapsedColumn())
    with Progress(*columns, console=shown, transient=True) as bar:
        task = bar.add_task(what, total=total)
        yield lambda steps=1: bar.advance(task, steps)
