"""DESCRIBE and SHOW of one table on Spark Connect, whose catalog may have an old definition of a table."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING, Any

from pyspark.sql.types import StringType, StructField, StructType

from deltaic import _core
from deltaic.spark.catalog import names
from deltaic.spark.catalog.partition_values import partition_values
from deltaic.spark.session import local_frames
from deltaic.spark.session.pyspark_errors import raises_pyspark_errors
from deltaic.spark.session.settings import storage
from deltaic.statements.describe import parse_description
from deltaic.table import Table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_COLUMN = ("col_name", "data_type", "comment")
_PROPERTY = ("key", "value")


@raises_pyspark_errors
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
    frame: DataFrame = local_frames.frame(spark, schema, [dict(zip(names, row, strict=True)) for row in rows])
    return frame
