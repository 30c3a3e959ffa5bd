"""`alter add-columns`, `drop-columns`, `rename-column`, `change-column`. Columns in structs are paths: `a.b`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from deltaic import ddl
from deltaic.cli import output
from deltaic.cli.options import newest_command

if TYPE_CHECKING:
    from collections.abc import Callable

    from deltaic.table import Table


def path(text: str) -> list[str]:
    """The names of a path. A name with a dot is in backquotes."""
    names, rest = [], text
    while True:
        if rest.startswith("`") and (end := rest.find("`", 1)) > 0:
            name, rest = rest[1:end], rest[end + 1 :]
        else:
            end = rest.find(".") if "." in rest else len(rest)
            name, rest = rest[:end], rest[end:]
        if not name or not (rest == "" or rest.startswith(".")):
            raise click.BadParameter(f"`{text}` is not a name or path such as `address.city`")
        names.append(name)
        if not rest:
            return names
        rest = rest[1:]


def place_options(function: Callable[..., None]) -> Callable[..., None]:
    """Gives a command `--first` and `--after`."""
    function = click.option("--after", metavar="COLUMN", help="Put it after this column.")(function)
    return click.option("--first", is_flag=True, help="Put it first.")(function)


@click.command("add-columns", short_help="Add columns, which are null in existing rows.")
@newest_command
@click.argument("columns")
@click.option("--parent", metavar="PATH", help="Struct to add them to, instead of the table.")
@place_options
def add_columns(
    table: Table, *, columns: str, parent: str | None, first: bool, after: str | None, as_json: bool
) -> None:
    """Add COLUMNS, as SQL writes them: 'city STRING COMMENT ''of birth'', height DOUBLE'."""
    within = [] if parent is None else path(parent)
    done = table.add_columns(columns, parent=within, first=first, after=after)
    output.done(done, as_json=as_json)


@click.command("drop-columns", short_help="Drop columns of a table with column mapping.")
@newest_command
@click.argument("columns", metavar="COLUMN...", nargs=-1, required=True)
def drop_columns(table: Table, *, columns: tuple[str, ...], as_json: bool) -> None:
    """Drop columns. Their values stay in the files, where no later version reads them."""
    output.done(table.drop_columns([path(column) for column in columns]), as_json=as_json)


@click.command("rename-column", short_help="Rename a column of a table with column mapping.")
@newest_command
@click.argument("column")
@click.argument("name")
def rename_column(table: Table, *, column: str, name: str, as_json: bool) -> None:
    """Rename COLUMN, a name or a path, to NAME."""
    output.done(table.rename_column(path(column), name), as_json=as_json)


@click.command("change-column", short_help="Change type, nullability, comment or place of a column.")
@newest_command
@click.argument("column")
@click.option("--type", "data_type", help="A wider type, if `delta.enableTypeWidening` is true.")
@click.option("--nullable", is_flag=True, help="Allow nulls.")
@click.option("--comment", help="New comment; an empty one removes it.")
@place_options
def change_column(
    table: Table,
    *,
    column: str,
    data_type: str | None,
    nullable: bool,
    comment: str | None,
    first: bool,
    after: str | None,
    as_json: bool,
) -> None:
    """Change COLUMN, a name or a path. Everything else stays."""
    if data_type is not None:
        (field,) = json.loads(ddl.schema_json(f"column {data_type}"))["fields"]
        data_type = field["type"]
    done = table.change_column(
        path(column),
        data_type=data_type,
        nullable=True if nullable else None,
        comment=comment,
        first=first,
        after=after,
    )
    output.done(done, as_json=as_json)
