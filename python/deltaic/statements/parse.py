"""Parses the text of a statement."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deltaic import identifiers
from deltaic.exceptions import InvalidArgumentError
from deltaic.statements.grammar import new_table, table_properties
from deltaic.statements.model import (
    AddConstraint,
    Clone,
    Convert,
    Detail,
    DropConstraint,
    DropFeature,
    Generate,
    History,
    Optimize,
    Reorg,
    Restore,
    Statement,
    SyncIdentity,
    Vacuum,
)
from deltaic.statements.tokens import Words, first_words

if TYPE_CHECKING:
    from collections.abc import Callable


def parse(text: str) -> Statement | None:
    """A parsed statement of Delta; None for any other, which Spark handles.

    Raises:
        InvalidArgumentError: it begins as one and continues otherwise. The error names the word and its place.
    """
    first = first_words(text, 2)
    if not first:
        return None
    parser = _PARSERS.get(first[0])
    if parser is None or (first[0] in _SECOND and first[1:] != [] and first[1] not in _SECOND[first[0]]):
        return None
    words = Words(text)
    statement = parser(words)
    if statement is not None:
        words.end()
    return statement


def _optimize(words: Words) -> Statement:
    words.need("OPTIMIZE")
    name = words.place()
    full = words.take("FULL")
    where = None
    if words.take("WHERE"):
        where = words.raw_until(lambda: words.follows("ZORDER", "BY"), "a condition")
    columns: list[str] = []
    if words.take("ZORDER"):
        words.need("BY")
        columns = _columns(words)
    return Optimize(name, where, columns, full)


def _columns(words: Words) -> list[str]:
    """Names with commas between them, in brackets or not."""
    brackets = words.sign("(")
    columns = [_dotted(words.name("the name of a column"))]
    while words.sign(","):
        columns.append(_dotted(words.name("the name of a column")))
    if brackets:
        words.need_sign(")")
    return columns


def _dotted(parts: list[str]) -> str:
    plain = all(part.replace("_", "a").isalnum() for part in parts)
    return ".".join(parts if plain else ["`" + part.replace("`", "``") + "`" for part in parts])


def _reorg(words: Words) -> Statement:
    words.need("REORG", "TABLE")
    name = words.place()
    where = None
    if words.take("WHERE"):
        where = words.raw_until(lambda: words.follows("APPLY"), "a condition")
    words.need("APPLY")
    words.need_sign("(")
    words.need("PURGE")
    words.need_sign(")")
    return Reorg(name, where)


def _vacuum(words: Words) -> Statement:
    words.need("VACUUM")
    name = words.place()
    hours, dry_run, mode, inventory = None, False, None, None
    while not words.ended and not words.follows(";"):
        if words.take("RETAIN"):
            _once("RETAIN", hours)
            hours = float(words.number("a number of hours"))
            words.need("HOURS")
        elif words.take("DRY"):
            words.need("RUN")
            _once("DRY RUN", dry_run or None)
            dry_run = True
        elif words.take("LITE"):
            _once("LITE/FULL", mode)
            mode = "lite"
        elif words.take("FULL"):
            _once("LITE/FULL", mode)
            mode = "full"
        elif words.take("USING", "INVENTORY"):
            _once("INVENTORY", inventory)
            inventory = _inventory(words)
        else:
            break
    if mode == "lite" and inventory is not None:
        reason = "LITE reads the log only: leave it or USING INVENTORY out"
        raise InvalidArgumentError.of("statement", reason)
    return Vacuum(name, hours, dry_run, lite=mode == "lite", inventory=inventory)


def _once(clause: str, given: object) -> None:
    if given is not None:
        reason = f"{clause} is given twice"
        raise InvalidArgumentError.of("statement", reason).named("DUPLICATE_CLAUSES", clauseName=clause)


def _inventory(words: Words) -> str:
    """The query of an inventory, which is one or the name of a table."""
    if not words.sign("("):
        return f"TABLE {identifiers.sql(words.name())}"
    query = words.raw_until(lambda: False, "a query")
    words.need_sign(")")
    return query


def _restore(words: Words) -> Statement:
    words.need("RESTORE")
    words.take("TABLE")
    name = words.place()
    words.take("TO")
    version, timestamp = _version(words)
    if version is None and timestamp is None:
        words.refuse("VERSION AS OF or TIMESTAMP AS OF")
    return Restore(name, version, timestamp)


def _version(words: Words) -> tuple[int | None, str | None]:
    if words.take("VERSION"):
        words.need("AS", "OF")
        text = words.number("the number of a version")
        return int(text), None
    if words.take("TIMESTAMP"):
        words.need("AS", "OF")
        return None, words.string("a time in quotes")
    return None, None


def _describe(words: Words) -> Statement | None:
    if not (words.take("DESCRIBE") or words.take("DESC")):
        return None
    history = words.take("HISTORY")
    if not history:
        words.need("DETAIL")
    if words.ended:
        # a table of this name
        return None
    words.take("TABLE")
    name = words.place()
    if not history:
        return Detail(name)
    return History(name, int(words.number("a number of commits")) if words.take("LIMIT") else None)


def _convert(words: Words) -> Statement:
    words.need("CONVERT", "TO", "DELTA")
    name = words.name("parquet.`/path`")
    statistics = not words.take("NO", "STATISTICS")
    partition_by = None
    if words.take("PARTITIONED"):
        words.need("BY")
        words.need_sign("(")
        partition_by = words.raw_until(lambda: False, "columns and their types")
        words.need_sign(")")
    if words.take("NO"):
        words.need("STATISTICS")
        statistics = False
    return Convert(name, partition_by, statistics)


def _generate(words: Words) -> Statement:
    words.need("GENERATE")
    mode = words.name("symlink_format_manifest")
    words.need("FOR", "TABLE")
    return Generate(words.place(), ".".join(mode))


def _create(words: Words) -> Statement | None:
    head = new_table(words)
    if head is None:
        return None
    mode, name = head
    shallow = words.take("SHALLOW")
    if not shallow:
        words.take("DEEP")
    if not words.take("CLONE"):
        return None
    source = words.place()
    version, timestamp = _version(words)
    properties: dict[str, str] = {}
    if words.take("TBLPROPERTIES"):
        properties = table_properties(words)
    location = words.string("a path in quotes") if words.take("LOCATION") else None
    return Clone(
        name,
        source,
        shallow,
        replaces=mode.endswith("replace"),
        creates=mode != "replace",
        if_not_exists=mode == "create_if_not_exists",
        version=version,
        timestamp=timestamp,
        properties=properties,
        location=location,
    )


def _alter(words: Words) -> Statement | None:
    words.need("ALTER")
    if not words.take("TABLE"):
        return None
    name = words.name()
    if words.take("ADD", "CONSTRAINT"):
        constraint = words.name("the name of a constraint")
        words.need("CHECK")
        words.need_sign("(")
        expression = words.raw_until(lambda: False, "a condition")
        words.need_sign(")")
        return AddConstraint(name, ".".join(constraint), expression)
    if words.take("ADD") and words.follows("CHECK"):
        words.refuse("CONSTRAINT and a name")
    if words.take("DROP", "CONSTRAINT"):
        if_exists = words.take("IF", "EXISTS")
        return DropConstraint(name, ".".join(words.name("the name of a constraint")), if_exists)
    if words.take("ALTER") or words.take("CHANGE"):
        words.take("COLUMN")
        column = words.name("the name of a column")
        return SyncIdentity(name, column) if words.take("SYNC", "IDENTITY") else None
    if words.take("DROP", "FEATURE"):
        feature = [words.string()] if words.is_text else words.name("the name of a table feature")
        truncates = words.take("TRUNCATE")
        if truncates:
            words.need("HISTORY")
        return DropFeature(name, ".".join(feature), truncates)
    return None


_PARSERS: dict[str, Callable[[Words], Statement | None]] = {
    "OPTIMIZE": _optimize,
    "VACUUM": _vacuum,
    "RESTORE": _restore,
    "DESCRIBE": _describe,
    "DESC": _describe,
    "CONVERT": _convert,
    "GENERATE": _generate,
    "REORG": _reorg,
    "CREATE": _create,
    "REPLACE": _create,
    "ALTER": _alter,
}
# words that must follow, so that most statements of Spark are left alone at once
_SECOND = {
    "DESCRIBE": {"HISTORY", "DETAIL"},
    "DESC": {"HISTORY", "DETAIL"},
    "CREATE": {"OR", "TABLE"},
    "REPLACE": {"TABLE"},
    "ALTER": {"TABLE"},
}
