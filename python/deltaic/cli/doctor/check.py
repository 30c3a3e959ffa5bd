"""One thing that was looked at."""

from __future__ import annotations

from dataclasses import dataclass

OK, NOTE, PROBLEM = "ok", "note", "problem"
"""It works; it limits what works; it does not work."""


@dataclass(frozen=True)
class Check:
    """What was found, and what to do about it."""

    name: str
    status: str
    """`OK`, `NOTE` or `PROBLEM`."""
    found: str
    """Without values of secrets."""
    advice: str | None = None
    """What to do; none where all is well."""
