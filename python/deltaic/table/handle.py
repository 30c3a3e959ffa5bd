"""What the parts of `Table` share."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from deltaic._core import Table as CoreTable


class Handle:
    """One version of a table in the core."""

    __slots__ = ("_core",)

    _core: CoreTable

    def _advance(self) -> None:
        """Moves to the newest version by reading the new commits only."""
        self._core = self._core.update()
