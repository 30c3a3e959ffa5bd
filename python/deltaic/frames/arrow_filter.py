"""The part of a filter of pyarrow that a scan can do, and the columns that expressions read.

An expression of pyarrow shows what it is by Substrait. As for Polars, the condition is an upper bound: pyarrow filters
what it is given.
"""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

import pyarrow
from substrait.extended_expression_pb2 import ExtendedExpression

from deltaic.frames.conditions import TURNED, Columns, both, either

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyarrow.compute import Expression

_COMPARISONS = {"equal": "=", "lt": "<", "lte": "<=", "gt": ">", "gte": ">="}
_WHOLE = {"i8", "i16", "i32", "i64"}
_EPOCH = dt.date(1970, 1, 1)
# what Python has a date for
_DAYS = range((dt.date.min - _EPOCH).days, (dt.date.max - _EPOCH).days + 1)


class Shown:
    """What an expression over a schema is; nothing is known of one that Substrait cannot say."""

    def __init__(self, expression: Expression, schema: pyarrow.Schema) -> None:
        from pyarrow.substrait import serialize_expressions

        self._schema = schema
        self._shown: Any = None
        try:
            text = bytes(serialize_expressions([expression], ["_"], schema))
        except (pyarrow.ArrowException, NotImplementedError):
            return
        shown = ExtendedExpression()
        shown.ParseFromString(text)
        functions = (extension.extension_function for extension in shown.extensions)
        self._functions = {function.function_anchor: function.name for function in functions}
        self._shown = shown.referred_expr[0].expression

    def columns(self) -> set[str] | None:
        """The columns that it reads; none where they are not known."""
        if self._shown is None:
            return None
        return {self._schema.names[place] for place in _places(self._shown)}

    def condition(self, types: Mapping[str, object]) -> str | None:
        """A condition in SQL that is true for every row for which it is; none where nothing is understood.

        Args:
            types: The types of the columns, as the protocol writes them.
        """
        return None if self._shown is None else self._condition(self._shown, Columns(types))

    def _condition(self, node: Any, columns: Columns) -> str | None:
        match node.WhichOneof("rex_type"):
            case "scalar_function":
                name = self._functions.get(node.scalar_function.function_reference, "")
                return self._function(
                    name, [given.value for given in node.scalar_function.arguments], columns
                )
            case "selection":
                column = self._column(node)
                return None if column is None else columns.compared(column, "=", True)
            case "singular_or_list":
                column = self._column(node.singular_or_list.value)
                values = [_constant(option) for option in node.singular_or_list.options]
                # a null among them may equal null
                return None if column is None or None in values else columns.one_of(column, values)
            case "if_then" if len(node.if_then.ifs) == 1 and _is_null(getattr(node.if_then, "else")):
                # true only where both are: DuckDB writes IN so
                clause = node.if_then.ifs[0]
                return both(self._condition(part, columns) for part in (getattr(clause, "if"), clause.then))
        return None

    def _function(self, name: str, given: list[Any], columns: Columns) -> str | None:
        if name == "and":
            return both(self._condition(part, columns) for part in given)
        if name == "or":
            return either(self._condition(part, columns) for part in given)
        found = [self._column(part) for part in given]
        match found:
            case [str(column)]:
                if name == "not":
                    return columns.compared(column, "=", False)
                return columns.is_null(column, no=name == "is_not_null") if name.startswith("is_n") else None
            case [str(column), None]:
                return columns.compared(column, _COMPARISONS.get(name), _constant(given[1]))
            case [None, str(column)]:
                return columns.compared(column, TURNED.get(_COMPARISONS.get(name, "")), _constant(given[0]))
        return None

    def _column(self, node: Any) -> str | None:
        """The column that a node is, if it is all of one."""
        if node.WhichOneof("rex_type") != "selection":
            return None
        field = node.selection.direct_reference.struct_field
        return None if field.HasField("child") else str(self._schema.names[field.field])


def _places(message: Any) -> set[int]:
    """The numbers of the columns that are named anywhere in a message."""
    if message.DESCRIPTOR.name == "FieldReference":
        return {message.direct_reference.struct_field.field}
    found = set()
    for field, value in message.ListFields():
        if field.message_type is not None:
            parts = [value] if hasattr(value, "ListFields") else list(value)
            found |= {place for part in parts if hasattr(part, "ListFields") for place in _places(part)}
    return found


def _is_null(node: Any) -> bool:
    return bool(
        node.WhichOneof("rex_type") == "literal" and node.literal.WhichOneof("literal_type") == "null"
    )


def _constant(node: Any) -> Any:
    """The value of a literal; none of what is no literal, and of a type that is not compared here."""
    if node.WhichOneof("rex_type") != "literal":
        return None
    kind = node.literal.WhichOneof("literal_type")
    if kind in _WHOLE or kind in ("string", "boolean"):
        return getattr(node.literal, kind)
    if kind == "date" and node.literal.date in _DAYS:
        return _EPOCH + dt.timedelta(days=node.literal.date)
    return None
