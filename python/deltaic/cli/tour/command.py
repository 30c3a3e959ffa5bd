"""`tour`: makes a table, and shows what the commands say of it."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from deltaic.cli import output
from deltaic.cli.options import json_command
from deltaic.cli.tour.story import FILTER, told
from deltaic.table import Table

if TYPE_CHECKING:
    from deltaic.cli.tour.story import Step

# what newcomers are shown, in this order: a sentence, and the words of a command after the table's path
_WALK: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("A table is a folder of Parquet files and a log of what was done to it.", "inspect", ()),
    ("Each write is a version, and the log says who made it.", "history", ()),
    (
        "The log has the minimum and maximum of each column in each file: a filter opens few files.",
        "explain",
        ("--where", FILTER, "--only", "kept"),
    ),
    (
        "Rows are deleted without Spark, too.",
        "delete",
        ("--where", "country = 'DE' AND order_date < '2026-01-15'", "--yes"),
    ),
    ("This table records which rows its versions change.", "changes", ("--from", "3", "--limit", "5")),
    ("The versions before stay as they were; this is how the two differ.", "diff", ("2", "3")),
    ("So a mistake is undone by a new version.", "restore", ("--version", "2", "--yes")),
    ("And a table can be compared with itself, from its log to its files.", "verify", ("--deep",)),
)


@click.command(short_help="Make a table, and see what the commands show of it.")
@click.option(
    "--rows", type=click.IntRange(min=1000), default=300_000, show_default=True, help="Number of orders."
)
@click.option(
    "--keep", type=click.Path(path_type=Path), help="Keep the table in this folder, which must not exist."
)
@click.option(
    "--engine",
    type=click.Choice(("spark", "arrow")),
    help="What writes and reads it: by default a local Spark where PySpark is installed, else Arrow.",
)
@json_command
def tour(*, rows: int, keep: Path | None, engine: str | None, as_json: bool) -> None:
    """Create a table of orders, append to it, read it with a filter and at its first version; then walk through it.

    The walk shows commands and what they print; on a terminal it waits for Enter before each. The tour has its own
    data and, with the extra `spark`, its own Java. It removes what it created, unless with --keep.
    With --json there is no walk: the steps and the history are printed.
    """
    with told(rows, keep, engine) as (path, steps):
        if as_json:
            output.print_json({"steps": [vars(step) for step in steps], "history": Table(path).history()})
            return
        _show(steps)
        _walk(path)
    if keep is not None:
        output.line(f"The table is in {keep}. All commands: deltaic --help")


def _show(steps: list[Step]) -> None:
    numbers = ["rows", "files", "pruned", "seconds"]
    grid = output.grid("step", *numbers, right=numbers)
    for step in steps:
        counts = ("" if n is None else f"{n:,}" for n in (step.rows, step.files, step.pruned))
        grid.add_row(step.name, *counts, f"{step.seconds:.2f}")
    output.console().print(grid)


def _walk(path: str) -> None:
    root = click.get_current_context().find_root().command
    asks = sys.stdin.isatty() and sys.stdout.isatty()
    console = output.console()
    for sentence, name, more in _WALK:
        console.print(f"\n{sentence}", style="bold")
        output.line(f"$ deltaic {' '.join(map(_word, [name, path, *more]))}")
        if asks:
            click.pause("press any key")
        root.main([name, path, *more], prog_name="deltaic", standalone_mode=False)
    console.print()


def _word(text: str) -> str:
    """A word for a shell, in the quotes that read best."""
    return f'"{text}"' if "'" in text and not set(text) & set('"$`\\!') else shlex.quote(text)
