"""The columns by which a merge condition compares the table with the source: `t.id = s.id AND …`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark.sql import Column
from pyspark.sql.types import DateType, DecimalType, IntegralType, StringType, StructType

from deltaic.columns import TEXT_LIMIT
from deltaic.predicates import equalities, name_parts
from deltaic.spark.session.kind import is_connect

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql.types import StructField

    from deltaic.spark.dml.operation import Operation


@dataclass(frozen=True)
class Key:
    """A column of the table that must equal one of the source."""

    target: str
    source: str
    null_safe: bool
    """Whether nulls are equal."""


def keys_of(op: Operation, condition: Any, source: StructType) -> list[Key]:
    """The keys that every match must have equal, of types whose values can be listed. What is unclear is none."""
    found = []
    for one, other, null_safe in _equalities(condition):
        for target, origin in ((one, other), (other, one)):
            name, of = _of_table(op, target, source), _of_source(op, origin, source)
            if name is not None and of is not None and _comparable(op.schema[name], source[of]):
                found.append(Key(name, of, null_safe))
    return found


def _equalities(condition: Any) -> Iterator[tuple[list[str], list[str], bool]]:
    if isinstance(condition, str):
        yield from equalities(condition)
        return
    kind, function, parts = _node(condition)
    if kind == "sql":
        yield from equalities(function)
    elif kind == "function" and function == "and":
        for part in parts:
            yield from _equalities(part)
    elif kind == "function" and function in {"=", "==", "<=>"}:
        names = [_node(part) for part in parts]
        if [n[0] for n in names] == ["name", "name"]:
            yield names[0][2], names[1][2], function == "<=>"


def _node(column: Any) -> tuple[str, str, list[Any]]:
    """A Column, or a part of one, as a kind, a text and parts."""
    if is_connect(column):
        return _connect_node(column._expr if isinstance(column, Column) else column)
    node = column._jc.node() if isinstance(column, Column) else column
    kind = node.getClass().getSimpleName()
    if kind == "UnresolvedFunction":
        arguments = node.arguments()
        return "function", node.functionName(), [arguments.apply(i) for i in range(arguments.size())]
    if kind == "UnresolvedAttribute":
        names = node.nameParts()
        return "name", "", [names.apply(i) for i in range(names.size())]
    return ("sql", node.expression(), []) if kind == "SqlExpression" else ("", "", [])


def _connect_node(node: Any) -> tuple[str, str, list[Any]]:
    kind = type(node).__name__
    if kind == "UnresolvedFunction":
        return "function", node._name, list(node._args)
    if kind == "ColumnReference":
        return "name", "", name_parts(node._unparsed_identifier)
    return ("sql", node._expr, []) if kind == "SQLExpression" else ("", "", [])


def _of_table(op: Operation, parts: list[str], source: StructType) -> str | None:
    *before, last = parts
    name = _among(last, op.schema)
    if before:
        return name if [b.lower() for b in before] == [str(op.ref.alias).lower()] else None
    return None if _among(last, source) else name


def _of_source(op: Operation, parts: list[str], source: StructType) -> str | None:
    *before, last = parts
    name = _among(last, source)
    if not before:
        return None if _among(last, op.schema) else name
    alias = before[0].lower()
    clear = len(before) == 1 and alias != str(op.ref.alias).lower()
    # it may be a struct of either side
    return name if clear and not any(_is_field(of, alias, last) for of in (op.schema, source)) else None


def _is_field(schema: StructType, struct: str, field: str) -> bool:
    found = (f.dataType for f in schema.fields if f.name.lower() == struct.lower())
    return any(
        isinstance(t, StructType) and field.lower() in [f.name.lower() for f in t.fields] for t in found
    )


def _among(name: str, schema: StructType) -> str | None:
    same = [f.name for f in schema.fields if f.name.lower() == name.lower()]
    return same[0] if len(same) == 1 else None


def _comparable(a: StructField, b: StructField) -> bool:
    if isinstance(a.dataType, IntegralType):
        return isinstance(b.dataType, IntegralType)
    # Spark pads `char` to compare it
    if any(TEXT_LIMIT in f.metadata for f in (a, b)) or a.dataType != b.dataType:
        return False
    return isinstance(a.dataType, DateType | DecimalType) or a.dataType == StringType()
