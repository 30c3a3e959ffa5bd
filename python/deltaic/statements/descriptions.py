"""DESCRIBE and SHOW of one table on Spark Connect, whose catalog knows a table as it was once."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING, Any

from pyspark.sql.types import StringType, StructField, StructType

from deltaic import _core
from deltaic.spark import frames, names
from deltaic.spark.as_sparks import raises_sparks
from deltaic.spark.partition_values import NULL, partition_values
from deltaic.spark.settings import storage
from deltaic.statements.parts import listed
from deltaic.statements.words import Words, first_words
from deltaic.table import Table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_BEGIN = (["DESCRIBE"], ["DESC"], ["SHOW", "COLUMNS"], ["SHOW", "TBLPROPERTIES"], ["SHOW", "PARTITIONS"])
# of which DESCRIBE tells, too, and what it tells more of a table
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
_COLUMN = ("col_name", "data_type", "comment")
_PROPERTY = ("key", "value")


@dataclasses.dataclass(frozen=True)
class Description:
    """What is asked of a table: `columns`, their `names`, `properties` or `partitions`."""

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


@raises_sparks
def run_description(spark: Any, text: str) -> DataFrame | None:
    """Answers it from the newest version; None for other statements and tables, which the server knows.

    Raises:
        DeltaError: as `deltaic.Table`.
    """
    asked = parse_description(text)
    if asked is None:
        return None
    known = names.ours(spark, asked.name)
    if known is None:
        return None
    there = (known.path, None, None, storage(spark, {}))
    table = Table(*there)
    if asked.what == "partitions":
        shown: DataFrame = partition_values(spark, _core.SparkTable(*there), asked.spec)
        return shown
    if asked.what == "properties":
        return _frame(spark, _PROPERTY, _properties(_shown(there), known.name, asked.key))
    columns = _columns(table)
    if asked.what == "names":
        return _frame(spark, _COLUMN[:1], [column[:1] for column in columns])
    return _frame(spark, _COLUMN, columns + _partitioning(table, columns))


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


def _columns(table: Table) -> list[tuple[str | None, ...]]:
    fields = StructType.fromJson({"type": "struct", "fields": [dataclasses.asdict(f) for f in table.schema]})
    return [(f.name, f.dataType.simpleString(), f.metadata.get("comment")) for f in fields]


def _partitioning(table: Table, columns: list[tuple[str | None, ...]]) -> list[tuple[str | None, ...]]:
    if not table.partition_columns:
        return []
    by_name = {column[0]: column for column in columns}
    titles: list[tuple[str | None, ...]] = [
        ("# Partition Information", "", ""),
        (f"# {_COLUMN[0]}", *_COLUMN[1:]),
    ]
    return titles + [by_name[name] for name in table.partition_columns]


def _shown(there: tuple[str, None, None, dict[str, str]]) -> dict[str, str]:
    facts = json.loads(_core.SparkTable(*there).describe())
    return {**facts["properties"], **facts["protocolProperties"]}


def _properties(found: dict[str, str], label: str, key: str | None) -> list[tuple[str | None, ...]]:
    if key is None:
        return sorted(found.items())
    return [(key, found.get(key, f"Table {label} does not have property: {key}"))]


def _frame(spark: Any, names: tuple[str, ...], rows: list[tuple[str | None, ...]]) -> DataFrame:
    schema = StructType([StructField(name, StringType()) for name in names])
    frame: DataFrame = frames.frame(spark, schema, [dict(zip(names, row, strict=True)) for row in rows])
    return frame
