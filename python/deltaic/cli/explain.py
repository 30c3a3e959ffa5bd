"""`explain`: why a scan opens or skips each data file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from deltaic.cli import output
from deltaic.cli.options import pager_option, table_command
from deltaic.printable import counted

if TYPE_CHECKING:
    from rich.console import Console

    from deltaic.table import Table

_VERDICTS = {"kept": True, "dropped": False}


@click.command(short_help="Why a scan with --where opens or skips each data file.")
@click.option("--where", metavar="SQL", required=True, help="Condition of the scan.")
@click.option("--only", type=click.Choice(list(_VERDICTS)), help="Show only the files with this verdict.")
@click.option("--limit", type=click.IntRange(min=0), help="Show at most so many files; the totals count all.")
@pager_option
@table_command
def explain(table: Table, *, where: str, only: str | None, limit: int | None, as_json: bool) -> None:
    """Say for each data file why a scan with a condition opens or skips it.

    Partition values or statistics drop a file; they are shown with the part of the condition that they rule out. A file
    is kept if they are missing, or if a row may match. Every scan uses the same verdicts. No data file is read.
    """
    with output.progress("judging files"):
        found = table.explain(where, limit=limit, kept=None if only is None else _VERDICTS[only])
    if as_json:
        output.print_json({"version": table.version, "where": where, **found})
        return
    with output.page() as console:
        _show(console, found)


def _show(console: Console, found: dict[str, Any]) -> None:
    if found["files"]:
        grid = output.grid("", "size", "why", "the log says", "path", right=["size"])
        for file in found["files"]:
            grid.add_row(
                "kept" if file["kept"] else "dropped",
                output.size(file["size"]),
                output.cell(_why(file)),
                output.cell(_facts(file)),
                output.cell(file["path"]),
                style="green" if file["kept"] else "dim",
            )
        console.print(grid)
        console.print()
    for part in found["parts"]:
        console.print(
            output.cell(part["part"]), f"drops {_totals(part)} by {part['by']}", style="dim", sep="  "
        )
    for test in found["undecided"]:
        console.print(output.cell(test), "cannot be decided for a file", style="dim", sep="  ")
    console.print(f"{_totals(found['kept'])} kept, {_totals(found['dropped'])} dropped", style="bold")


def _totals(found: dict[str, Any]) -> str:
    return f"{counted(found['files'], 'file')} ({output.size(found['bytes'])})"


def _why(file: dict[str, Any]) -> str:
    if file["kept"]:
        return str(file["why"])
    return "; ".join(f"not {cause['part']}: {cause['by']}" for cause in file["causes"])


def _facts(file: dict[str, Any]) -> str | None:
    """What the log says of the columns that the file is skipped by; of a kept file, of all that were tested."""
    asked = {name for cause in file["causes"] for name in cause["columns"]} if not file["kept"] else None
    found = []
    for column in file["columns"]:
        name = column["column"]
        if asked is not None and name not in asked:
            continue
        if "partition_value" in column:
            value = column["partition_value"]
            found.append(f"{name} is {'null' if value is None else value}")
            continue
        bounds = [f"{label} {column[key]}" for key, label in _BOUNDS.items() if key in column]
        found.append(f"{name}: {', '.join(bounds) or 'nothing'}")
    rows = file["num_records"]
    if found and rows is not None:
        found.append(counted(rows, "row"))
    return "; ".join(found) or None


_BOUNDS = {"min": "min", "max": "max", "null_count": "nulls"}
