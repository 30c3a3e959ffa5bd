"""Small situations that end in an error, by area (`play` says what one is)."""

from error_situations import alterations, changes, definitions, maintenance, reading, rows, writing
from error_situations.play import SITUATIONS, attempt, reported

__all__ = [
    "SITUATIONS",
    "alterations",
    "attempt",
    "changes",
    "definitions",
    "maintenance",
    "reading",
    "reported",
    "rows",
    "writing",
]
