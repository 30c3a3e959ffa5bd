"""`stats`: what the log says about columns."""

from __future__ import annotations

import json
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import click

from deltaic.cli import output
from deltaic.cli.options import pager_option, table_command
from deltaic.file_statistics import leaves, partition_value
from deltaic.printable import counted

if TYPE_CHECKING:
    from deltaic.table import Table


@dataclass
class _Column:
    """Facts of a column over all files; those of a file without its statistics are unknown."""

    files: int = 0
    minimum: Any = None
    maximum: Any = None
    nulls: int = 0
    files_with_nulls: int = 0

    def take(self, low: Any, high: Any, nulls: int | None) -> None:
        if low is not None or high is not None or nulls is not None:
            self.files += 1
        if low is not None and (self.minimum is None or low < self.minimum):
            self.minimum = low
        if high is not None and (self.maximum is None or high > self.maximum):
            self.maximum = high
        if nulls is not None:
            self.nulls += nulls
            self.files_with_nulls += 1


@click.command(short_help="What the log says about columns: minimum, maximum, nulls.")
@click.option("--where", metavar="SQL", help="Only files in which a row may match.")
@pager_option
@table_command
def stats(table: Table, *, where: str | None, as_json: bool) -> None:
    """Show the statistics of the log for each column, over all files: the minimum, the maximum and the nulls.

    Writers put them into the log. They are bounds: strings may be truncated, and deleted rows of deletion vectors
    count. No data file is read.
    """
    with output.progress("reading statistics", unit="files") as advance:
        found = _stats(table, where, advance)
    if as_json:
        output.print_json(found)
        return
    numbers = ["nulls", "files"]
    grid = output.grid("column", "type", "min", "max", *numbers, right=numbers)
    for column in found["columns"]:
        grid.add_row(
            output.cell(column["name"]),
            output.cell(column["type"]),
            *(output.cell(column[name]) for name in ("min", "max", "nulls")),
            f"{column['files']:,}",
        )
    rows = "an unknown number of rows" if found["rows"] is None else counted(found["rows"], "row")
    with output.page() as console:
        console.print(grid)
        console.print(f"{counted(found['files'], 'file')}, {rows}", style="dim")


def _stats(table: Table, where: str | None, advance: Any) -> dict[str, Any]:
    columns: dict[tuple[str, ...], _Column] = {}
    fields = json.loads(table.schema.json())["fields"]
    types = {field["name"]: field["type"] for field in fields}
    files = rows = 0
    unknown = False
    for file in table.file_list(where, stats=True):
        files += 1
        facts = json.loads(file["stats"], parse_float=Decimal) if file["stats"] else {}
        number = facts.get("numRecords")
        unknown |= number is None
        vector = file["deletion_vector"]
        rows += (number or 0) - (vector["cardinality"] if vector else 0)
        low, high, nulls = (
            dict(leaves(facts.get(k), fields)) for k in ("minValues", "maxValues", "nullCount")
        )
        for path in {**low, **high, **nulls}:
            columns.setdefault(path, _Column()).take(low.get(path), high.get(path), nulls.get(path))
        for name, text in file["partition_values"].items():
            value = partition_value(text, types.get(name))
            missing = None if number is None else number * (value is None)
            columns.setdefault((name,), _Column()).take(value, value, missing)
        advance()
    order = {name: position for position, name in enumerate(types)}
    for name in types:
        if not any(path[0] == name for path in columns):
            columns[(name,)] = _Column()
    return {
        "version": table.version,
        "files": files,
        "rows": None if unknown else rows,
        "columns": [
            {
                "name": ".".join(path),
                "type": types.get(path[0]) if len(path) == 1 else None,
                "min": column.minimum,
                "max": column.maximum,
                "nulls": column.nulls if files and column.files_with_nulls == files else None,
                "files": column.files,
            }
            for path, column in sorted(columns.items(), key=lambda c: (order.get(c[0][0], len(order)), c[0]))
        ],
    }
