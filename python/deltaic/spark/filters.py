"""Filters of the Python Data Source as the predicate of the core."""

from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal
from typing import Any

_OPS = {
    "EqualTo": "=",
    "EqualNullSafe": "<=>",
    "GreaterThan": ">",
    "GreaterThanOrEqual": ">=",
    "LessThan": "<",
    "LessThanOrEqual": "<=",
}
_EPOCH = dt.datetime(1970, 1, 1)


def to_predicate(filters: list[Any]) -> str | None:
    """The conjunction of what can be expressed, as JSON; `None` when nothing can."""
    known = [p for p in (_predicate(f) for f in filters) if p is not None]
    return json.dumps({"and": known}) if known else None


def _predicate(given: Any) -> dict[str, Any] | None:
    kind = type(given).__name__
    if kind == "Not":
        inner = _predicate(given.child)
        return None if inner is None else {"not": inner}
    column = list(getattr(given, "attribute", ()))
    if not column:
        return None
    if kind in {"IsNull", "IsNotNull"}:
        return {kind.lower(): {"column": column}}
    if kind == "StringStartsWith":
        return {"startswith": {"column": column, "prefix": given.value}}
    if kind == "In":
        values = [_literal(v) for v in given.value]
        return None if None in values else {"in": {"column": column, "values": values}}
    if kind in _OPS and (value := _literal(given.value)) is not None:
        return {"compare": {"op": _OPS[kind], "column": column, "value": value}}
    return None


def _literal(value: Any) -> dict[str, Any] | None:
    if value is None:
        return {"type": "null"}
    if isinstance(value, bool):
        return {"type": "boolean", "value": value}
    if isinstance(value, int):
        return {"type": "long", "value": value}
    if isinstance(value, float):
        finite = value == value and abs(value) != float("inf")
        return {"type": "double", "value": value if finite else str(value)}
    if isinstance(value, Decimal):
        return {"type": "decimal", "value": format(value, "f")}
    if isinstance(value, str):
        return {"type": "string", "value": value}
    if isinstance(value, dt.datetime):
        if value.tzinfo is None:
            return {"type": "timestampntz", "value": _micros(value - _EPOCH)}
        return {"type": "timestamp", "value": _micros(value - _EPOCH.replace(tzinfo=dt.timezone.utc))}
    if isinstance(value, dt.date):
        return {"type": "date", "value": (value - _EPOCH.date()).days}
    if isinstance(value, (bytes, bytearray)):
        return {"type": "binary", "value": bytes(value).hex()}
    return None


def _micros(delta: dt.timedelta) -> int:
    return delta // dt.timedelta(microseconds=1)
