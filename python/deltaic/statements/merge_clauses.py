"""The clauses of a merge, as they are given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    Assigned = Mapping[str, Any] | Mapping[tuple[str, ...], Any]

MATCHED, NOT_MATCHED, NOT_MATCHED_BY_SOURCE = "whenMatched", "whenNotMatched", "whenNotMatchedBySource"
UPDATE, DELETE, INSERT = "update", "delete", "insert"


@dataclass(frozen=True)
class Clause:
    """One clause."""

    when: str
    action: str
    condition: Any = None
    values: Assigned | None = None
    """By target, as `Assignments` takes them. None sets every column to that of the source with its name."""

    @property
    def is_star(self) -> bool:
        """Whether columns get those of the source with their names."""
        return self.values is None and self.action != DELETE
