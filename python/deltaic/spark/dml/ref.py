"""What an operation is done to: a table, as a session sees it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class TableRef:
    """A table at a path, in a session of either kind."""

    spark: Any
    path: str
    alias: str | None = None
    """Name by which conditions and values may call the table's columns."""
    storage_options: Mapping[str, str] = field(default_factory=dict)
    name: str | None = None
    """Qualified name by which a catalog knows it."""
