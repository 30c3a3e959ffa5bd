"""What CREATE, REPLACE and ALTER TABLE and COMMENT ON TABLE say, for sessions whose Spark cannot carry them out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from deltaic import ddl, identifiers
from deltaic.statements.grammar import (
    COMMENT,
    OTHER,
    PLACE,
    QUERY,
    added_column,
    column_name,
    expression,
    listed,
    new_column,
    new_table,
    options,
    partition_column,
    place_of,
    property_key,
    replacing_column,
    single_name,
    table_properties,
    type_text,
)
from deltaic.statements.tokens import Words, first_words

if TYPE_CHECKING:
    from collections.abc import Callable

    Changes = list[dict[str, Any]]

_BEGIN = (
    ["CREATE", "TABLE"],
    ["CREATE", "OR", "REPLACE", "TABLE"],
    ["REPLACE", "TABLE"],
    ["ALTER", "TABLE"],
    ["COMMENT", "ON", "TABLE"],
)


@dataclass(frozen=True)
class Subject:
    """The table that such a statement is about."""

    name: list[str]
    makes: bool
    """Whether the statement makes or replaces it."""
    format: str | None = None
    """The format of USING; empty if another clause decides it."""


@dataclass(frozen=True)
class NewTable:
    """CREATE [OR REPLACE] | REPLACE TABLE name …."""

    name: list[str]
    mode: str
    """As `DeltaTableBuilder` has it."""
    columns: list[dict[str, Any]] = field(default_factory=list)
    """In the form of the protocol."""
    partition_by: list[str] = field(default_factory=list)
    cluster_by: list[list[str]] = field(default_factory=list)
    comment: str | None = None
    location: str | None = None
    properties: dict[str, str] = field(default_factory=dict)
    query: str | None = None


def subject(text: str) -> Subject | None:
    """The table that is made or changed; None of any other statement.

    What follows it may be about a table of another format, and is not read.

    Raises:
        InvalidArgumentError: a name is missing.
    """
    first = first_words(text, 4)
    if not any(first[: len(begin)] == begin for begin in _BEGIN):
        return None
    words = Words(text)
    if words.take("ALTER", "TABLE") or words.take("COMMENT", "ON", "TABLE"):
        return Subject(words.name(), makes=False)
    head = new_table(words)
    if head is None:
        return None

    def ends() -> bool:
        return any(words.follows(word) for word in ("USING", *QUERY, *OTHER))

    if not words.ended and not ends():
        words.raw_until(ends, "what the table is to be")
    if any(words.follows(word) for word in OTHER):
        return Subject(head[1], makes=True, format="")
    return Subject(head[1], makes=True, format=".".join(words.name()) if words.take("USING") else None)


def parse_new_table(text: str) -> NewTable:
    """A parsed CREATE TABLE or REPLACE TABLE.

    Raises:
        InvalidArgumentError: something is wrong with it. The error names the word and its place.
    """
    words = Words(text)
    head = new_table(words)
    if head is None:
        words.refuse("TABLE")
    mode, name = head
    columns = listed(words, new_column) if words.sees("(") else []
    said: dict[str, Any] = {}
    while clause := next((c for c in _CLAUSES if c not in said and words.take(*c.split())), None):
        said[clause] = _CLAUSES[clause](words)
    query = None
    partitions = said.get("PARTITIONED BY", [])
    columns += [column for _, column in partitions if column is not None]
    if words.sees("(") or any(words.follows(word) for word in QUERY):
        if columns:
            words.refuse("the end of the statement (the columns of a query are its own)")
        words.take("AS")
        query = words.rest("a query")
    elif not words.ended and not words.sees(";"):
        words.refuse(f"{', '.join(c for c in _CLAUSES if c not in said)}, AS or the end of the statement")
    words.end()
    properties = said.get("TBLPROPERTIES", {})
    comment = said.get("COMMENT", properties.pop("comment", None))
    return NewTable(
        name,
        mode,
        columns,
        [name for name, _ in partitions],
        said.get("CLUSTER BY", []),
        comment,
        said.get("LOCATION"),
        properties,
        query,
    )


def _names(words: Words) -> list[list[str]]:
    return listed(words, column_name)


_CLAUSES: dict[str, Callable[[Words], Any]] = {
    "USING": lambda words: words.name("a format"),
    "PARTITIONED BY": lambda words: listed(words, partition_column),
    "CLUSTER BY": _names,
    "COMMENT": lambda words: words.string(),
    "LOCATION": lambda words: words.string("a path in quotes"),
    "TBLPROPERTIES": table_properties,
}


def parse_changes(text: str) -> Changes | None:
    """What ALTER TABLE and COMMENT ON TABLE change, for `spark.catalog.alterations`; None of what is the catalog's.

    Raises:
        InvalidArgumentError: something is wrong with it. The error names the word and its place.
    """
    words = Words(text)
    if words.take("COMMENT"):
        words.need("ON", "TABLE")
        words.name()
        words.need("IS")
        changes = [_set("comment", "" if words.take("NULL") else words.string())]
    else:
        words.need("ALTER", "TABLE")
        name = words.name()
        if identifiers.path_of(name) is None and words.follows("RENAME", "TO"):
            return None
        begins = next((begin for begin in _CHANGES if words.take(*begin.split())), None)
        if begins is None:
            words.refuse(_KNOWN)
        changes = _CHANGES[begins](words)
    words.end()
    return changes


def _set(key: str, value: str) -> dict[str, Any]:
    return {"kind": "SetProperty", "key": key, "value": value}


def _set_properties(words: Words) -> Changes:
    return [_set(key, value) for key, value in table_properties(words).items()]


def _unset_properties(words: Words) -> Changes:
    # a missing one is ignored, as in Spark and delta-spark
    words.take("IF", "EXISTS")
    return [{"kind": "RemoveProperty", "key": key} for key in listed(words, property_key)]


def _set_location(words: Words) -> Changes:
    return [_set("location", words.string("a path in quotes"))]


def _set_collation(words: Words) -> Changes:
    return [_set("collation", ".".join(words.name("a collation")))]


def _cluster(words: Words) -> Changes:
    columns = [] if words.take("NONE") else _names(words)
    return [{"kind": "ClusterBy", "columns": columns}]


def _add_columns(words: Words) -> Changes:
    return listed(words, added_column, bare=True)


def _replace_columns(words: Words) -> Changes:
    return [{"kind": "DeleteColumn"}, *listed(words, replacing_column)]


def _drop_columns(words: Words) -> Changes:
    if_exists = words.take("IF", "EXISTS")
    columns = listed(words, column_name, bare=True)
    return [{"kind": "DeleteColumn", "column": column, "ifExists": if_exists} for column in columns]


def _rename_column(words: Words) -> Changes:
    column = column_name(words)
    words.need("TO")
    return [{"kind": "RenameColumn", "column": column, "to": single_name(words)}]


def _change_columns(words: Words) -> Changes:
    return _and_more(words, [_change_column(words, column_name(words))])


def _and_more(words: Words, changes: Changes) -> Changes:
    while words.sign(","):
        mark = words.mark
        column = column_name(words)
        if any(_folded(column) == _folded(change["column"]) for change in changes):
            words.refuse("another column", mark)
        changes.append(_change_column(words, column))
    return changes


def _folded(column: list[str]) -> list[str]:
    return [part.lower() for part in column]


def _change_column(words: Words, column: list[str]) -> dict[str, Any]:
    begins = next((begin for begin in _OF_COLUMN if words.take(*begin.split())), None)
    if begins is None:
        words.refuse(", ".join(_OF_COLUMN))
    kind, read = _OF_COLUMN[begins]
    return {"kind": kind, "column": column, **read(words)}


def _change_columns_or_one(words: Words) -> Changes:
    """As ALTER COLUMN, or in the form of Hive: the name twice, and all that the column is to be."""
    column = column_name(words)
    if any(words.follows(*begin.split()) for begin in _OF_COLUMN):
        return _and_more(words, [_change_column(words, column)])
    mark = words.mark
    if single_name(words).lower() != column[-1].lower():
        words.refuse(f"`{column[-1]}` again, which RENAME COLUMN renames", mark)
    changes = [{"kind": "UpdateColumnType", "column": column, **_type(words)}]
    said = options(words, COMMENT | PLACE)
    if "COMMENT" in said:
        changes.append({"kind": "UpdateColumnComment", "column": column, "comment": said["COMMENT"]})
    if place := place_of(said):
        changes.append({"kind": _POSITION, "column": column, **place})
    return changes


def _type(words: Words) -> dict[str, Any]:
    return {"field": ddl.schema_json(f"c {type_text(words)}")}


_KNOWN = (
    "ADD COLUMNS, DROP COLUMNS, RENAME COLUMN, ALTER COLUMN, SET TBLPROPERTIES, UNSET TBLPROPERTIES, CLUSTER BY, "
    "ADD CONSTRAINT, DROP CONSTRAINT or DROP FEATURE"
)
_NULLABILITY, _DEFAULT = "UpdateColumnNullability", "UpdateColumnDefaultValue"
_POSITION = "UpdateColumnPosition"
_OF_COLUMN: dict[str, tuple[str, Callable[[Words], dict[str, Any]]]] = {
    "TYPE": ("UpdateColumnType", _type),
    "COMMENT": ("UpdateColumnComment", lambda words: {"comment": words.string()}),
    "FIRST": (_POSITION, lambda _: {"first": True}),
    "AFTER": (_POSITION, lambda words: {"after": single_name(words)}),
    "SET NOT NULL": (_NULLABILITY, lambda _: {"nullable": False}),
    "DROP NOT NULL": (_NULLABILITY, lambda _: {"nullable": True}),
    "SET DEFAULT": (_DEFAULT, lambda words: {"default": expression(words)}),
    "DROP DEFAULT": (_DEFAULT, lambda _: {"default": ""}),
}
_CHANGES: dict[str, Callable[[Words], Changes]] = {
    "ADD COLUMNS": _add_columns,
    "ADD COLUMN": _add_columns,
    "DROP COLUMNS": _drop_columns,
    "DROP COLUMN": _drop_columns,
    "RENAME COLUMN": _rename_column,
    "REPLACE COLUMNS": _replace_columns,
    "ALTER COLUMN": _change_columns,
    "ALTER": _change_columns,
    "CHANGE COLUMN": _change_columns_or_one,
    "CHANGE": _change_columns_or_one,
    "SET TBLPROPERTIES": _set_properties,
    "UNSET TBLPROPERTIES": _unset_properties,
    "SET LOCATION": _set_location,
    "DEFAULT COLLATION": _set_collation,
    "CLUSTER BY": _cluster,
}
