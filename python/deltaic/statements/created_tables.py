"""The tables that a text would have Spark make or replace, wherever in it they are made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from deltaic.exceptions import InvalidArgumentError
from deltaic.statements.grammar import OTHER, QUERY
from deltaic.statements.tokens import Words

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True)
class Made:
    """A table that a statement makes."""

    name: list[str] | None
    """None where the statement computes it."""
    replaces: bool
    keeps: bool
    """Whether an existing table stays."""
    format: str | None
    """The format of USING; empty if another clause decides it."""
    filled: bool
    """Whether it has a location, or the rows of a query."""


def made(text: str) -> Iterator[Made]:
    """The tables that CREATE TABLE and REPLACE TABLE make in it, in scripts too; nothing of a text that is no SQL."""
    # most texts have no such word, and need no reading
    if "TABLE" not in text.upper():
        return
    try:
        for begin in (("REPLACE", "TABLE"), ("CREATE", "TABLE")):
            words = Words(text)
            while words.search(*begin):
                yield _read(words, replaces=begin[0] == "REPLACE")
    except InvalidArgumentError:
        return


def executed(text: str) -> Iterator[str]:
    """The expressions whose texts EXECUTE IMMEDIATE runs."""
    if "IMMEDIATE" not in text.upper():
        return
    try:
        words = Words(text)
        while words.search("EXECUTE", "IMMEDIATE"):
            yield words.raw_until(
                lambda: words.follows("INTO") or words.follows("USING") or words.sees(";"), "a text"
            )
    except InvalidArgumentError:
        return


def _read(words: Words, *, replaces: bool) -> Made:
    keeps = words.take("IF", "NOT", "EXISTS")
    name: list[str] | None = words.name()
    if len(name or []) == 1 and words.comes_after("IDENTIFIER") and words.sees("("):
        name = None
    form: str | None = None
    filled = False

    def ends() -> bool:
        return words.sees(";") or any(words.follows(w) for w in ("USING", "LOCATION", *QUERY, *OTHER))

    while not words.ended and not words.sees(";"):
        if words.take("USING"):
            form = ".".join(words.name())
        elif words.take("LOCATION"):
            filled = True
        elif any(words.follows(word) for word in OTHER):
            form = ""
            break
        elif any(words.follows(word) for word in QUERY):
            filled = True
            break
        else:
            words.raw_until(ends, "what the table is to be")
    return Made(name, replaces, keeps, form, filled)
