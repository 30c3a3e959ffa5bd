"""INSERT and TRUNCATE."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NoReturn

from deltaic.exceptions import UnsupportedError
from deltaic.statements.grammar import listed
from deltaic.statements.tokens import Words, first_words

_QUERIES = ("SELECT", "VALUES", "TABLE", "FROM", "WITH", "MAP", "REDUCE")


@dataclass(frozen=True)
class Insert:
    """A parsed INSERT, or a TRUNCATE, which has only a name."""

    name: list[str]
    rows: str = ""
    """The query, as it is written."""
    overwrites: bool = False
    evolves: bool = False
    by_name: bool = False
    columns: list[str] | None = None
    partition: dict[str, str | None] | None = None
    """Partition columns with their values as SQL, none for those that the rows bring."""
    replaced: str | None = None
    """The condition of REPLACE WHERE."""
    truncates: bool = False


def parse_insert(text: str) -> Insert | None:
    """A parsed INSERT INTO, INSERT OVERWRITE or TRUNCATE TABLE; None for any other statement.

    Raises:
        InvalidArgumentError: it begins as one and continues otherwise. The error names the word and its place.
    """
    begun = begin(text)
    return None if begun is None else finish(*begun)


def begin(text: str) -> tuple[Words, Insert] | None:
    """The statement up to the name of the table: what follows may be about a table of another format."""
    first = first_words(text, 4)
    if first[:1] not in (["TRUNCATE"], ["INSERT"]) or "DIRECTORY" in first:
        return None
    words = Words(text)
    if words.take("TRUNCATE"):
        words.need("TABLE")
        return words, Insert(words.name(), truncates=True)
    words.need("INSERT")
    evolves = words.take("WITH", "SCHEMA", "EVOLUTION")
    overwrites = words.take("OVERWRITE")
    if not overwrites:
        words.need("INTO")
    words.take("TABLE")
    return words, Insert(words.name(), overwrites=overwrites, evolves=evolves)


def finish(words: Words, insert: Insert) -> Insert:
    """The rest of a statement that `begin` has begun.

    Raises:
        InvalidArgumentError, UnsupportedError: as `parse_insert`.
    """
    return _end_of_truncate(words, insert) if insert.truncates else _end_of_insert(words, insert)


def _end_of_insert(words: Words, insert: Insert) -> Insert:
    partition = dict(listed(words, _partition_column)) if words.take("PARTITION") else None
    if words.follows("IF"):
        _refuse(insert, "INSERT … IF NOT EXISTS", "look for the partition first")
    by_name = words.take("BY", "NAME")
    replaced = None
    if words.take("REPLACE", "WHERE"):
        replaced = words.raw_until(lambda: any(words.follows(word) for word in _QUERIES), "a condition")
    columns = None
    if words.sees("(") and not words.opens(*_QUERIES):
        columns = listed(words, _column)
    rows = words.raw_until(lambda: words.sees(";"), "a query")
    words.end()
    return replace(
        insert,
        rows=rows,
        overwrites=insert.overwrites or replaced is not None,
        by_name=by_name,
        columns=columns,
        partition=partition,
        replaced=replaced,
    )


def _end_of_truncate(words: Words, insert: Insert) -> Insert:
    if words.follows("PARTITION"):
        _refuse(insert, "TRUNCATE TABLE … PARTITION", "write a DELETE with a condition")
    words.end()
    return insert


def _refuse(insert: Insert, what: str, instead: str) -> NoReturn:
    path = insert.name[-1]
    raise UnsupportedError(f"`{path}`: {what} is not supported: {instead}", path=path, what=what)


def _partition_column(words: Words) -> tuple[str, str | None]:
    column = words.name("a partition column")[0]
    return column, words.raw_until(lambda: words.sees(","), "a value") if words.sign("=") else None


def _column(words: Words) -> str:
    return words.name("a column")[0]
