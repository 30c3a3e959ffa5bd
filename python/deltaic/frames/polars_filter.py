"""The part of a filter of Polars that a scan can do.

It is an upper bound: Polars filters what it is given, so that a part which is not understood here costs time and never
rows. A part is understood where a column is compared with a constant of just its type.
"""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

from deltaic.frames.conditions import TURNED, Columns, both, either

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars

_COMPARISONS = {"Eq": "=", "Lt": "<", "LtEq": "<=", "Gt": ">", "GtEq": ">="}
_BETWEEN = {"Both": (">=", "<="), "Left": (">=", "<"), "Right": (">", "<="), "None": (">", "<")}


def pushed(predicate: polars.Expr, types: Mapping[str, object]) -> str | None:
    """A condition in SQL that is true for every row for which `predicate` is; none where nothing is understood.

    Args:
        predicate: The filter.
        types: The types of the columns, as the protocol writes them.
    """
    import polars

    try:
        tree = json.loads(predicate.meta.serialize(format="json"))
    # the form is Polars' own, and not all filters have one
    except (polars.exceptions.PolarsError, ValueError):
        return None
    return _condition(tree, Columns(types))


def _condition(node: Any, columns: Columns) -> str | None:
    match node:
        case {"BinaryExpr": {"op": "And" | "LogicalAnd", "left": left, "right": right}}:
            return both(_condition(side, columns) for side in (left, right))
        case {"BinaryExpr": {"op": "Or" | "LogicalOr", "left": left, "right": right}}:
            return either(_condition(side, columns) for side in (left, right))
        case {"BinaryExpr": {"op": str(op), "left": {"Column": str(name)}, "right": value}}:
            return columns.compared(name, _COMPARISONS.get(op), _constant(value))
        case {"BinaryExpr": {"op": str(op), "left": value, "right": {"Column": str(name)}}}:
            return columns.compared(name, TURNED.get(_COMPARISONS.get(op, "")), _constant(value))
        case {"Column": str(name)}:
            return columns.compared(name, "=", True)
        case {"Function": {"input": [{"Column": str(name)}, *rest], "function": {"Boolean": function}}}:
            return _function(name, function, rest, columns)
    return None


def _function(name: str, function: Any, rest: list[Any], columns: Columns) -> str | None:
    match function:
        case "IsNull":
            return columns.is_null(name)
        case "IsNotNull":
            return columns.is_null(name, no=True)
        case "Not":
            return columns.compared(name, "=", False)
        case {"IsBetween": {"closed": str(closed)}} if closed in _BETWEEN and len(rest) == 2:
            bounds = zip(_BETWEEN[closed], rest, strict=True)
            return both(columns.compared(name, sign, _constant(value)) for sign, value in bounds)
        case {"IsIn": {"nulls_equal": False}} if len(rest) == 1:
            values = _constant(rest[0])
            return columns.one_of(name, values) if isinstance(values, list) else None
    return None


def _constant(node: Any) -> Any:
    """The value of a literal; none of what is no literal, and of what Python has no value for."""
    import polars

    if not (isinstance(node, dict) and list(node) == ["Literal"]):
        return None
    try:
        literal = polars.Expr.deserialize(io.StringIO(json.dumps(node)), format="json")
        value = polars.select(literal).to_series()[0]
    except (polars.exceptions.PolarsError, ValueError, OverflowError):
        return None
    return value.to_list() if isinstance(value, polars.Series) else value
