"""DELETE, UPDATE and MERGE for sessions whose Spark cannot carry them out: those of Spark Connect."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from deltaic.statements.merge_clauses import (
    DELETE,
    INSERT,
    MATCHED,
    NOT_MATCHED,
    NOT_MATCHED_BY_SOURCE,
    UPDATE,
    Clause,
)
from deltaic.statements.tokens import Words, first_words

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from deltaic.statements.merge_clauses import Assigned


_BEGIN = {"DELETE", "UPDATE", "MERGE"}


@dataclass(frozen=True)
class Change:
    """A statement that changes rows of a table, with conditions and values as they are written."""

    kind: str
    name: list[str]
    alias: str | None = None
    condition: str | None = None
    values: dict[str, str] = field(default_factory=dict)
    source: str = ""
    source_alias: str | None = None
    clauses: list[Clause] = field(default_factory=list)
    evolves: bool = False

    def with_texts(self, of: Callable[[str], str]) -> Change:
        """The same with other texts of its conditions and values."""

        def condition(text: str | None) -> str | None:
            return None if text is None else of(text)

        def values(given: Assigned) -> dict[str, str]:
            return {str(column): of(value) for column, value in given.items()}

        clauses = [
            replace(
                c, condition=condition(c.condition), values=None if c.values is None else values(c.values)
            )
            for c in self.clauses
        ]
        return replace(self, condition=condition(self.condition), values=values(self.values), clauses=clauses)


def parse_change(text: str) -> Change | None:
    """A parsed DELETE, UPDATE or MERGE; None for any other statement.

    Raises:
        InvalidArgumentError: it begins as one and continues otherwise. The error names the word and its place.
    """
    first = first_words(text, 1)
    if not first or first[0] not in _BEGIN:
        return None
    words = Words(text)
    change = {"DELETE": _delete, "UPDATE": _update, "MERGE": _merge}[first[0]](words)
    words.end()
    return change


def _delete(words: Words) -> Change:
    words.need("DELETE", "FROM")
    name = words.name()
    return Change("DELETE", name, _alias(words, "WHERE"), _where(words))


def _update(words: Words) -> Change:
    words.need("UPDATE")
    name = words.name()
    alias = _alias(words, "SET")
    words.need("SET")
    values = _assignments(words, "WHERE")
    return Change("UPDATE", name, alias, _where(words), values)


def _where(words: Words) -> str | None:
    if not words.take("WHERE"):
        return None
    return words.raw_until(lambda: words.sees(";"), "a condition")


def _alias(words: Words, *ends: str) -> str | None:
    if words.take("AS"):
        return words.name("an alias")[0]
    if words.ended or words.sees(";") or any(words.follows(end) for end in ends):
        return None
    return words.name("an alias")[0]


def _assignments(words: Words, *ends: str) -> dict[str, str]:
    values: dict[str, str] = {}
    while True:
        column = words.raw_until(lambda: words.sees("="), "the name of a column")
        words.need_sign("=")
        values[column] = words.raw_until(
            lambda: words.sees(",") or words.sees(";") or any(words.follows(e) for e in ends), "a value"
        )
        if not words.sign(","):
            return values


def _merge(words: Words) -> Change:
    words.need("MERGE")
    evolves = words.take("WITH", "SCHEMA", "EVOLUTION")
    words.need("INTO")
    name = words.name()
    alias = _alias(words, "USING")
    words.need("USING")
    if words.sees("("):
        words.need_sign("(")
        query = words.raw_until(lambda: False, "a query")
        words.need_sign(")")
        source, source_name = f"({query})", None
    else:
        parts = words.name("the name of a table or view")
        source, source_name = ".".join("`" + p.replace("`", "``") + "`" for p in parts), parts[-1]
    source_alias = _alias(words, "ON") or source_name
    words.need("ON")
    condition = words.raw_until(lambda: words.follows("WHEN"), "a condition")
    clauses = []
    while words.take("WHEN"):
        clauses.append(_clause(words))
    if not clauses:
        words.refuse("WHEN")
    return Change(
        "MERGE",
        name,
        alias,
        condition,
        source=source,
        source_alias=source_alias,
        clauses=clauses,
        evolves=evolves,
    )


def _clause(words: Words) -> Clause:
    negated = words.take("NOT")
    words.need("MATCHED")
    when = MATCHED
    if negated:
        when = NOT_MATCHED
        if words.take("BY", "SOURCE"):
            when = NOT_MATCHED_BY_SOURCE
        else:
            words.take("BY", "TARGET")
    condition = None
    if words.take("AND"):
        condition = words.raw_until(lambda: words.follows("THEN"), "a condition")
    words.need("THEN")
    if when == NOT_MATCHED:
        words.need("INSERT")
        return Clause(when, INSERT, condition, _inserted(words))
    if words.take("DELETE"):
        return Clause(when, DELETE, condition)
    words.need("UPDATE", "SET")
    if when == MATCHED and words.sign("*"):
        return Clause(when, UPDATE, condition)
    return Clause(when, UPDATE, condition, _assignments(words, "WHEN"))


def _inserted(words: Words) -> Mapping[str, str] | None:
    if words.sign("*"):
        return None
    columns = _list(words, "the name of a column")
    words.need("VALUES")
    values = _list(words, "a value")
    if len(columns) != len(values):
        words.refuse(
            f"{len(columns)} values for {len(columns)} columns before this place, and not {len(values)},"
        )
    return dict(zip(columns, values, strict=True))


def _list(words: Words, what: str) -> list[str]:
    words.need_sign("(")
    found = [words.raw_until(lambda: words.sees(","), what)]
    while words.sign(","):
        found.append(words.raw_until(lambda: words.sees(","), what))
    words.need_sign(")")
    return found
