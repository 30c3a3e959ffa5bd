"""The part of a filter of Polars that a scan can do.

It is an upper bound: Polars filters what it is given, so that a part which is not understood here costs time and never
rows. A part is understood where a column is compared with a constant of just its type.
"""

from __future__ import annotations

import datetime as dt
import io
import json
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from deltaic.identifiers import quoted

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars

_COMPARISONS = {"Eq": "=", "Lt": "<", "LtEq": "<=", "Gt": ">", "GtEq": ">="}
# the same comparison with its sides exchanged
_TURNED = {"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_WHOLE = {"byte", "short", "integer", "long"}
_BETWEEN = {"Both": (">=", "<="), "Left": (">=", "<"), "Right": (">", "<="), "None": (">", "<")}
_LONG = range(-(2**63), 2**63)


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
    return _Filter(types).condition(tree)


class _Filter:
    def __init__(self, types: Mapping[str, object]) -> None:
        self._types = types

    def condition(self, node: Any) -> str | None:
        match node:
            case {"BinaryExpr": {"op": "And" | "LogicalAnd", "left": left, "right": right}}:
                parts = [part for side in (left, right) if (part := self.condition(side)) is not None]
                return " AND ".join(parts) or None
            case {"BinaryExpr": {"op": "Or" | "LogicalOr", "left": left, "right": right}}:
                parts = [part for side in (left, right) if (part := self.condition(side)) is not None]
                return f"({' OR '.join(parts)})" if len(parts) == 2 else None
            case {"BinaryExpr": {"op": str(op), "left": {"Column": str(name)}, "right": value}}:
                return self._compared(name, _COMPARISONS.get(op), _constant(value))
            case {"BinaryExpr": {"op": str(op), "left": value, "right": {"Column": str(name)}}}:
                return self._compared(name, _TURNED.get(_COMPARISONS.get(op, "")), _constant(value))
            case {"Column": str(name)}:
                return self._compared(name, "=", True)
            case {"Function": {"input": [{"Column": str(name)}, *rest], "function": {"Boolean": function}}}:
                return self._function(name, function, rest)
        return None

    def _function(self, name: str, function: Any, rest: list[Any]) -> str | None:
        match function:
            case "IsNull" if name in self._types:
                return f"{quoted(name)} IS NULL"
            case "IsNotNull" if name in self._types:
                return f"{quoted(name)} IS NOT NULL"
            case "Not":
                return self._compared(name, "=", False)
            case {"IsBetween": {"closed": str(closed)}} if closed in _BETWEEN and len(rest) == 2:
                bounds = zip(_BETWEEN[closed], map(_constant, rest), strict=True)
                parts = [part for sign, v in bounds if (part := self._compared(name, sign, v)) is not None]
                return " AND ".join(parts) or None
            case {"IsIn": {"nulls_equal": False}} if len(rest) == 1:
                values = _constant(rest[0])
                if not isinstance(values, list):
                    return None
                texts = [self._text(name, v) for v in values if v is not None]
                if not texts or None in texts:
                    return None
                return f"{quoted(name)} IN ({', '.join(map(str, texts))})"
        return None

    def _compared(self, name: str, sign: str | None, value: Any) -> str | None:
        text = self._text(name, value)
        return None if sign is None or text is None else f"{quoted(name)} {sign} {text}"

    def _text(self, name: str, value: Any) -> str | None:
        """A constant of just the type of the column: comparing across types is each engine's own."""
        data_type = self._types.get(name)
        if isinstance(value, bool):
            return str(value).lower() if data_type == "boolean" else None
        if isinstance(value, int):
            return str(value) if data_type in _WHOLE and value in _LONG else None
        if isinstance(value, str):
            return exp.Literal.string(value).sql("spark") if data_type == "string" else None
        if isinstance(value, dt.datetime):
            if data_type == "timestamp" and value.tzinfo is not None:
                return f"TIMESTAMP '{value.astimezone(dt.timezone.utc).replace(tzinfo=None).isoformat(' ')}'"
            if data_type == "timestamp_ntz" and value.tzinfo is None:
                return f"TIMESTAMP_NTZ '{value.isoformat(' ')}'"
            return None
        if isinstance(value, dt.date):
            return f"DATE '{value.isoformat()}'" if data_type == "date" else None
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
