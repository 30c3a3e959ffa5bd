"""What the tour asks of an engine, and the facts of its orders."""

from __future__ import annotations

from typing import Protocol

COUNTRIES = ("AT", "CH", "DE", "ES", "FR", "IT", "NL", "PL")
DAYS = 28
"""The days of a month on which there are orders."""
PROPERTIES = {"delta.enableChangeDataFeed": "true"}
"""The table records its changes from its first version on."""


class Engine(Protocol):
    """What writes and reads the table."""

    def append(self, path: str, month: str, first: int, count: int) -> None:
        """Appends the orders of a month: `count` of them, with the ids from `first` on, partitioned by country."""

    def count(self, path: str, where: str | None = None, version: int | None = None) -> int:
        """The number of rows for which the condition is true. It reads them."""
