"""What several statements that define tables have in them: names, properties and columns."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, TypeVar

from deltaic import ddl
from deltaic.columns import IdentityGenerator, column
from deltaic.exceptions import InvalidSchemaError

if TYPE_CHECKING:
    from collections.abc import Callable

    from deltaic.statements.tokens import Words

    Readers = dict[str, Callable[[Words], Any]]

Item = TypeVar("Item")

QUERY = ("AS", "SELECT", "WITH", "VALUES", "FROM", "TABLE")
"""What a query of a new table begins with."""
OTHER = ("LIKE", "STORED", "ROW")
"""Clauses only for tables of Hive, and for those that are like another one."""
# what Spark keeps elsewhere, and takes as no property
_RESERVED = ("provider", "location", "owner", "external", "is_managed_location")


def new_table(words: Words) -> tuple[str, list[str]] | None:
    """How a table is to be made (a mode of `DeltaTableBuilder`), and its name; None where no TABLE is next."""
    creates = words.take("CREATE")
    replaces = words.take("OR", "REPLACE") if creates else words.take("REPLACE")
    if not words.take("TABLE"):
        return None
    if replaces:
        return "create_or_replace" if creates else "replace", words.name()
    return "create_if_not_exists" if words.take("IF", "NOT", "EXISTS") else "create", words.name()


def listed(words: Words, item: Callable[[Words], Item], *, bare: bool = False) -> list[Item]:
    """Items with commas between them, in brackets; if `bare` these may be missing."""
    opened = words.sign("(")
    if not opened and not bare:
        words.refuse("`(`")
    found = [item(words)]
    while words.sign(","):
        found.append(item(words))
    if opened and not words.sign(")"):
        words.refuse("`,` or `)`")
    return found


def column_name(words: Words) -> list[str]:
    """The name of a column, or of a field within one."""
    return words.name("the name of a column")


def single_name(words: Words) -> str:
    """The name of a column that is within no other."""
    mark = words.mark
    parts = column_name(words)
    if len(parts) > 1:
        words.refuse("the name of a column that is within no other", mark)
    return parts[0]


def property_key(words: Words) -> str:
    """The key of a table property, in quotes or not."""
    mark = words.mark
    what = "the key of a property"
    key = words.string() if words.is_text else ".".join(words.name(what))
    if key.lower() in _RESERVED:
        words.refuse(f"{what}, which Spark's own are not", mark)
    return key


def table_properties(words: Words) -> dict[str, str]:
    """Keys and values, in quotes or not."""
    found: dict[str, str] = {}

    def one(words: Words) -> None:
        mark = words.mark
        key = property_key(words)
        if key in found:
            words.refuse("a key that was not there before", mark)
        words.sign("=")
        found[key] = _property_value(words)

    listed(words, one)
    return found


def _property_value(words: Words) -> str:
    if words.is_text:
        return words.string()
    for switch in ("true", "false"):
        if words.take(switch.upper()):
            return switch
    return words.signed("the value of a property, in quotes")


def type_text(words: Words) -> str:
    """A type that a column of a table can have, as it is written."""
    mark = words.mark
    text = words.data_type()
    try:
        ddl.schema_json(f"c {text}")
    except InvalidSchemaError:
        words.refuse("a type that a table can have", mark)
    return text


def new_column(words: Words) -> dict[str, Any]:
    """A column of a new table, in the form of the protocol."""
    return _column(words, single_name(words), _OF_NEW)[0]


def partition_column(words: Words) -> tuple[str, dict[str, Any] | None]:
    """A partition column; one that has its type here is a column, too."""
    mark = words.mark
    name = single_name(words)
    if words.sees("("):
        words.refuse("the name of a column (in place of a function add a generated column)", mark)
    if words.sees(",") or words.sees(")"):
        return name, None
    return name, _column(words, name, {})[0]


def added_column(words: Words) -> dict[str, Any]:
    """A column of ADD COLUMNS, as a change for `deltaic.spark.catalog.alterations`."""
    path = column_name(words)
    field, said = _column(words, path[-1], PLACE)
    schema = json.dumps({"type": "struct", "fields": [field]})
    return {"kind": "AddColumn", "column": path, "field": schema, **place_of(said)}


def replacing_column(words: Words) -> dict[str, Any]:
    """A column of REPLACE COLUMNS, which says neither a place nor a column of a struct."""
    name = single_name(words)
    schema = json.dumps({"type": "struct", "fields": [_column(words, name, {})[0]]})
    return {"kind": "AddColumn", "column": [name], "field": schema}


def options(words: Words, readers: Readers) -> dict[str, Any]:
    """The clauses after a column, each once, up to a comma or the end."""
    said: dict[str, Any] = {}
    while option := next((o for o in readers if o not in said and words.take(*o.split())), None):
        said[option] = readers[option](words)
    if not (words.ended or any(words.sees(sign) for sign in ",);")):
        words.refuse(", ".join([*(o for o in readers if o not in said), "`,` or `)`"]))
    return said


def place_of(said: dict[str, Any]) -> dict[str, Any]:
    """Where a column is to be, for a change."""
    return {key.lower(): said[key] for key in PLACE if key in said}


def expression(words: Words) -> str:
    """The expression of a default, as it is written."""

    def ends() -> bool:
        not_null = words.follows("NOT", "NULL") and not words.comes_after("IS")
        return not_null or any(words.sees(s) for s in ",;") or any(words.follows(w) for w in _AFTER_DEFAULT)

    return words.raw_until(ends, "an expression")


def _column(words: Words, name: str, more: Readers) -> tuple[dict[str, Any], dict[str, Any]]:
    kind = type_text(words)
    said = options(words, _OF_ANY | more)
    field = column(
        name,
        kind,
        nullable="NOT NULL" not in said,
        always=said.get("GENERATED ALWAYS AS"),
        by_default=said.get("GENERATED BY DEFAULT AS"),
        comment=said.get("COMMENT"),
    )
    if "DEFAULT" in said:
        field["metadata"]["CURRENT_DEFAULT"] = said["DEFAULT"]
    return field, said


def _generated(words: Words) -> str | IdentityGenerator:
    if words.follows("IDENTITY"):
        return _identity(words)
    words.need_sign("(")
    text = words.raw_until(lambda: False, "an expression of other columns")
    words.need_sign(")")
    return text


def _identity(words: Words) -> IdentityGenerator:
    words.need("IDENTITY")
    said: dict[str, int] = {}
    if words.sign("("):
        while not words.sign(")"):
            key = "start" if words.take("START", "WITH") else "step"
            if key in said or (key == "step" and not words.take("INCREMENT", "BY")):
                words.refuse("START WITH, INCREMENT BY or `)`")
            said[key] = int(words.signed("a whole number"))
    return IdentityGenerator(**said)


_AFTER_DEFAULT = ("COMMENT", "GENERATED", "FIRST", "AFTER")
COMMENT: Readers = {"COMMENT": lambda words: words.string()}
PLACE: Readers = {"FIRST": lambda _: True, "AFTER": single_name}
_OF_ANY: Readers = {"NOT NULL": lambda _: True, **COMMENT, "DEFAULT": expression}
_OF_NEW: Readers = {"GENERATED ALWAYS AS": _generated, "GENERATED BY DEFAULT AS": _identity}
