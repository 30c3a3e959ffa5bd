"""`diff`: what differs between two versions."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from deltaic.cli import output
from deltaic.cli.options import location_command, pager_option
from deltaic.printable import counted
from deltaic.table import Table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import Console


@click.command(short_help="What differs between two versions.")
@click.option("--files", is_flag=True, help="Also show the files.")
@pager_option
@location_command
@click.argument("before", metavar="V1", type=click.IntRange(min=0))
@click.argument("after", metavar="V2", type=click.IntRange(min=0))
def diff(
    uri: str, before: int, after: int, storage_options: dict[str, str], *, files: bool, as_json: bool
) -> None:
    """Show how versions V1 and V2 differ: files, columns, properties, protocol.

    A file with other deleted rows is changed; the versions between the two are not read.
    """
    tables = [Table(uri, version=version, storage_options=storage_options) for version in (before, after)]
    with output.progress("listing files"):
        found = _differences(*tables)
    if as_json:
        output.print_json(found)
        return
    with output.page() as console:
        _show(console, found, files=files)


def _show(console: Console, found: dict[str, Any], *, files: bool) -> None:
    moved = found["files"]
    grid = output.grid("", "what", "before", "after")
    for what in ("columns", "properties", "protocol", "table"):
        for name, (was, now) in found[what].items():
            sign = "+" if was is None else "-" if now is None else "~"
            grid.add_row(sign, f"{what} {name}", output.cell(was), output.cell(now))
    if grid.row_count:
        console.print(grid)
    for sign, kind in (("+", "added"), ("-", "removed"), ("~", "changed")):
        bytes_of = sum(file["size"] for file in moved[kind])
        console.print(f"{sign} {counted(len(moved[kind]), 'file')} {kind}, {output.size(bytes_of)}")
        if files:
            for file in moved[kind]:
                console.print("  ", output.cell(file["path"]), sep="")


def _differences(before: Table, after: Table) -> dict[str, Any]:
    meta = [asdict(table.metadata) for table in (before, after)]
    facts = ("id", "name", "description", "partition_columns")
    return {
        "before": before.version,
        "after": after.version,
        "files": _files(before, after),
        "columns": _between(*({field.name: _type(field) for field in t.schema} for t in (before, after))),
        "properties": _between(*(m["configuration"] for m in meta)),
        "protocol": _between(*(asdict(table.protocol) for table in (before, after))),
        "table": _between(*({fact: m[fact] for fact in facts} for m in meta)),
    }


def _type(field: Any) -> str:
    return f"{field.type}{'' if field.nullable else ' not null'}"


def _between(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """The values that differ, by name, in the order of `before` and then of `after`."""
    names = dict.fromkeys([*before, *after])
    return {
        name: (before.get(name), after.get(name)) for name in names if before.get(name) != after.get(name)
    }


def _files(before: Table, after: Table) -> dict[str, list[dict[str, Any]]]:
    left, right = ({file["path"]: _file(file) for file in table.file_list()} for table in (before, after))
    return {
        "added": [file for path, file in right.items() if path not in left],
        "removed": [file for path, file in left.items() if path not in right],
        "changed": [file for path, file in right.items() if path in left and file != left[path]],
    }


def _file(file: dict[str, Any]) -> dict[str, Any]:
    vector = file["deletion_vector"]
    return {
        "path": file["path"],
        "size": file["size"],
        "partition_values": file["partition_values"],
        "deleted_rows": 0 if vector is None else vector["cardinality"],
    }
