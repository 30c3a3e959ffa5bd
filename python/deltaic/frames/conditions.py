"""Comparisons of columns with constants, in the SQL of `Table.to_arrow`."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

from deltaic.identifiers import quoted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

TURNED = {"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
"""The same comparison with its sides exchanged."""
_WHOLE = {"byte", "short", "integer", "long"}
_LONG = range(-(2**63), 2**63)


def both(parts: Iterable[str | None]) -> str | None:
    """All parts that are understood; a part that is not keeps rows."""
    return " AND ".join(part for part in parts if part is not None) or None


def either(parts: Iterable[str | None]) -> str | None:
    """One of the parts, where all are understood."""
    known = list(parts)
    return None if not known or None in known else f"({' OR '.join(map(str, known))})"


class Columns:
    """The columns of a table, by their names and types. What is not understood is none.

    Args:
        types: The types of the columns, as the protocol writes them.
    """

    def __init__(self, types: Mapping[str, object]) -> None:
        self._types = types

    def compared(self, name: str, sign: str | None, value: Any) -> str | None:
        """A column beside a constant of just its type: comparing across types is each engine's own."""
        text = self._constant(name, value)
        return None if sign is None or text is None else f"{quoted(name)} {sign} {text}"

    def one_of(self, name: str, values: Iterable[Any]) -> str | None:
        """A column that equals one of these; nulls among them equal nothing."""
        texts = [self._constant(name, value) for value in values if value is not None]
        if not texts or None in texts:
            return None
        return f"{quoted(name)} IN ({', '.join(map(str, texts))})"

    def is_null(self, name: str, *, no: bool = False) -> str | None:
        """A column that is null, or is not."""
        return f"{quoted(name)} IS {'NOT ' if no else ''}NULL" if name in self._types else None

    def _constant(self, name: str, value: Any) -> str | None:
        data_type = self._types.get(name)
        if isinstance(value, bool):
            return str(value).lower() if data_type == "boolean" else None
        if isinstance(value, int):
            return str(value) if data_type in _WHOLE and value in _LONG else None
        if isinstance(value, str):
            return _text(value) if data_type == "string" else None
        if isinstance(value, dt.datetime):
            if data_type == "timestamp" and value.tzinfo is not None:
                return f"TIMESTAMP '{value.astimezone(dt.timezone.utc).replace(tzinfo=None).isoformat(' ')}'"
            if data_type == "timestamp_ntz" and value.tzinfo is None:
                return f"TIMESTAMP_NTZ '{value.isoformat(' ')}'"
            return None
        if isinstance(value, dt.date):
            return f"DATE '{value.isoformat()}'" if data_type == "date" else None
        return None


def _text(value: str) -> str:
    from sqlglot import exp

    return exp.Literal.string(value).sql("spark")
