"""What both tools know of a mutant."""

from dataclasses import dataclass


@dataclass
class Mutant:
    """One change of one place."""

    number: int
    file: str
    line: int
    function: str
    what: str
    ordinal: int = 0
    """Of the file, so that a mutant keeps its name when others are dropped."""
