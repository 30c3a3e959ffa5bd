"""DESCRIBE and SHOW of one table."""

from __future__ import annotations

import dataclasses

from deltaic.statements.grammar import listed
from deltaic.statements.tokens import Words, first_words

_BEGIN = (["DESCRIBE"], ["DESC"], ["SHOW", "COLUMNS"], ["SHOW", "TBLPROPERTIES"], ["SHOW", "PARTITIONS"])
# what else DESCRIBE describes, and its longer forms
_OTHERS = (
    "QUERY",
    "FUNCTION",
    "DATABASE",
    "SCHEMA",
    "NAMESPACE",
    "CATALOG",
    "PROCEDURE",
    "EXTENDED",
    "FORMATTED",
)


NULL = "__HIVE_DEFAULT_PARTITION__"
"""How PARTITION writes a null value."""


@dataclasses.dataclass(frozen=True)
class Description:
    """What is requested of a table: `columns`, their `names`, `properties` or `partitions`."""

    what: str
    name: list[str]
    key: str | None = None
    """The one property that is asked for."""
    spec: dict[str, str] = dataclasses.field(default_factory=dict)
    """Values of partition columns, as text."""


def parse_description(text: str) -> Description | None:
    """What such a statement asks of a table; None for any other, and for more than that."""
    first = first_words(text, 2)
    if not any(first[: len(begin)] == begin for begin in _BEGIN):
        return None
    words = Words(text)
    if words.take("SHOW", "COLUMNS"):
        found = Description("names", words.name()) if words.take("IN") or words.take("FROM") else None
    elif words.take("SHOW", "TBLPROPERTIES"):
        name, key = words.name(), None
        if words.sign("("):
            key = words.string() if words.is_text else ".".join(words.name("the key of a property"))
            words.need_sign(")")
        found = Description("properties", name, key)
    elif words.take("SHOW", "PARTITIONS"):
        found = Description("partitions", words.name(), spec=_spec(words) if words.take("PARTITION") else {})
    else:
        found = _described(words)
    while words.sign(";"):
        pass
    return found if words.ended else None


def _described(words: Words) -> Description | None:
    if not words.take("DESCRIBE"):
        words.need("DESC")
    words.take("TABLE")
    if words.ended or any(words.follows(other) for other in _OTHERS):
        return None
    return Description("columns", words.name())


def _spec(words: Words) -> dict[str, str]:
    return dict(listed(words, _value))


def _value(words: Words) -> tuple[str, str]:
    column = words.name("a partition column")[0]
    words.need_sign("=")
    if words.take("NULL"):
        return column, NULL
    # dates and the like have their type before the text
    words.take("DATE") or words.take("TIMESTAMP")
    return column, words.string() if words.is_text else words.raw_until(lambda: words.sees(","), "a value")
