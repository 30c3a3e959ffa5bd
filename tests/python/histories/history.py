"""What happened: the attempts as the writers tell them, and the versions as an independent reader finds them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from operations import Operation, Rows


@dataclass(frozen=True)
class Attempt:
    """One try of a writer to do an operation. Tries after a lost race have ids of their own."""

    txn: str
    writer: str
    engine: str
    operation: Operation
    begun_at: int
    """The newest version when it began."""
    outcome: str
    """`done`, `lost` (a conflict), `failed`, or `unknown`: the writer could not tell, or was ended."""
    ended_at: int | None = None
    """The newest version when it learned the outcome."""
    error: str | None = None
    rule: str | None = None
    races: tuple[str, ...] = ()
    """Rules by which it lost races. The engine itself played it again after each, but for the last of what is lost."""
    seconds: float = 0.0
    """Seconds that it took."""

    @property
    def by(self) -> str:
        return f"{self.operation.kind} {self.txn} of {self.engine}"


@dataclass(frozen=True)
class Version:
    """A commit and the rows after it."""

    number: int
    rows: Rows
    operation: str = ""
    """The engine's name of it."""
    txn: str | None = None
    document: Operation | None = None
    """What the commit says of itself in `userMetadata`."""
    blind: bool | None = None
    """`isBlindAppend`."""
    read: int | None = None
    """`readVersion`."""


@dataclass
class History:
    """All of one table."""

    versions: list[Version]
    attempts: list[Attempt] = field(default_factory=list)
    level: str = "Serializable"
