"""The Delta tables that a query names, and where in its text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sqlglot
from sqlglot import exp
from sqlglot.errors import ParseError, TokenError

from deltaic import identifiers
from deltaic.identifiers import quoted
from deltaic.predicates import Dialect
from deltaic.statements.tokens import Words

if TYPE_CHECKING:
    from collections.abc import Iterator

_AT = re.compile(r"(?<=[\w`])@(?:v(\d+)|(\d{17}))\b")
_FEED = "table_changes"


@dataclass(frozen=True)
class Reference:
    """A table in the text of a query, with the version that is asked for."""

    name: list[str]
    start: int
    end: int
    alias: str
    """What follows the table there, so that its columns can be called by its name."""
    version: int | None = None
    timestamp: str | None = None
    """A text, or an expression of Spark in brackets."""
    changes: tuple[int | str, ...] = ()
    """Of `table_changes`: the first version or time, and the last."""


def references(text: str) -> list[Reference]:
    """The tables that a query names, in their order; none in a text that cannot be parsed as a query."""
    try:
        # `t@v1` would be an alias to it
        tree = sqlglot.parse_one(_AT.sub(lambda at: " " * len(at[0]), text), dialect=Dialect)
    except (ParseError, TokenError):
        # the server reports what is wrong with it
        return []
    if not isinstance(tree, exp.Query):
        return []
    here = {cte.alias.lower() for cte in tree.find_all(exp.CTE)}
    found = [*_tables(text, tree, here), *_feeds(text)]
    return sorted(found, key=lambda reference: reference.start)


def _tables(text: str, tree: Any, here: set[str]) -> Iterator[Reference]:
    for table in tree.find_all(exp.Table):
        parts = [part for part in (table.args.get(key) for key in ("catalog", "db", "this")) if part]
        if not parts or not all(isinstance(part, exp.Identifier) and "end" in part.meta for part in parts):
            continue
        start, end = parts[0].meta["start"], parts[-1].meta["end"] + 1
        name = identifiers.parts(text[start:end])
        if len(name) == 1 and name[0].lower() in here:
            continue
        yield _reference(text, name, start, end, named=bool(table.alias))


def _reference(text: str, name: list[str], start: int, end: int, *, named: bool) -> Reference:
    version, timestamp = None, None
    if at := _AT.match(text, end):
        version = int(at[1]) if at[1] else None
        timestamp = _moment(at[2]) if at[2] else None
        end = at.end()
    words = Words(text[end:])
    clause = 0
    words.take("FOR")
    if words.take("VERSION", "AS", "OF") or words.take("SYSTEM_VERSION", "AS", "OF"):
        version = int(_version_or_time(words))
        clause = words.offset
    elif words.take("TIMESTAMP", "AS", "OF") or words.take("SYSTEM_TIME", "AS", "OF"):
        timestamp = words.string() if words.is_text else f"({_value(words)})"
        clause = words.offset
    unnamed = not named and not words.follows("TABLESAMPLE") and identifiers.path_of(name) is None
    alias = f" AS {quoted(name[-1])}" if unnamed else ""
    return Reference(name, start, end + clause, alias, version, timestamp)


def _value(words: Words) -> str:
    """One value of SQL: a call, a literal with its type, or what is in brackets."""
    if words.sees("("):
        words.need_sign("(")
        value = words.raw_until(lambda: False, "a timestamp")
        words.need_sign(")")
        return value
    name = ".".join(words.name("a timestamp"))
    if words.is_text:
        return f"{name} '{words.string()}'"
    if not words.sign("("):
        return name
    given = "" if words.sees(")") else words.raw_until(lambda: False, "an argument")
    words.need_sign(")")
    return f"{name}({given})"


def _moment(digits: str) -> str:
    year, month, day, hour, minute, second, millis = (
        digits[a:b] for a, b in ((0, 4), (4, 6), (6, 8), (8, 10), (10, 12), (12, 14), (14, 17))
    )
    return f"{year}-{month}-{day} {hour}:{minute}:{second}.{millis}"


def _feeds(text: str) -> Iterator[Reference]:
    for found in re.finditer(rf"\b{_FEED}\s*\(", text, re.IGNORECASE):
        words = Words(text[found.start() :])
        words.need(_FEED.upper())
        words.need_sign("(")
        if not words.is_text:
            continue
        name = identifiers.parts(words.string())
        given: list[int | str] = []
        while words.sign(","):
            given.append(_version_or_time(words))
        words.need_sign(")")
        yield Reference(name, found.start(), found.start() + words.offset, "", changes=tuple(given))


def _version_or_time(words: Words) -> int | str:
    return words.string() if words.is_text else int(words.number())
