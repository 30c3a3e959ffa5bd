"""Minimum, maximum and nulls of columns, as the files of a log have them."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

# types whose partition values are not in the order of their text
_NUMBERS = ("byte", "short", "integer", "long", "float", "double", "decimal")


def partition_value(text: str | None, kind: Any) -> Any:
    """A partition value, so that it compares as its type does: times and texts do as they are written."""
    if not text:
        return None
    return Decimal(text) if isinstance(kind, str) and kind.startswith(_NUMBERS) else text


def leaves(
    values: Any, fields: list[dict[str, Any]], at: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], Any]]:
    """The values of a tree of statistics by the logical paths of their columns."""
    if not isinstance(values, dict):
        return
    known = {
        field["metadata"].get("delta.columnMapping.physicalName", field["name"]): field for field in fields
    }
    plain = {field["name"]: field for field in fields}
    for name, value in values.items():
        field = known.get(name) or plain.get(name)
        path = (*at, field["name"] if field else name)
        if isinstance(value, dict):
            kind = field["type"] if field else None
            yield from leaves(value, kind.get("fields", []) if isinstance(kind, dict) else [], path)
        else:
            yield path, value
