"""The columns of a DataFrame as a write needs them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyspark.sql.functions

from deltaic.identifiers import quoted
from deltaic.spark.session.projection import Taken, type_of

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class WriteColumn:
    """A column of the frame and the column of the table that it fills."""

    source: str | None
    """Name in the frame, which may lack a nullable column."""
    name: str
    """Name in the table, which may differ in case."""
    physical: str
    """Name in data files."""
    field_id: int | None
    """Id in data files (column mapping)."""
    target_type: Any
    """The type that data files have, as its JSON value, where it is not the frame's: a wider one, or one
    whose nested fields have other names or ids (column mapping)."""
    table_type: Any
    """The type that the table has, as its JSON value, where it is nested and the frame has other fields or lacks
    the column."""
    partition: bool
    stored: bool
    """Whether data files hold it, which they may of a partition column."""
    not_null: bool
    void: bool
    """Whether it holds only nulls of no type: data files do not have it."""
    text_limit: dict[str, Any] | None
    """Length of a `char` (`padded`) or `varchar` column."""

    @classmethod
    def all_of(cls, text: str) -> list[WriteColumn]:
        """The columns that a plan of the core lists as JSON."""
        return [cls(**column) for column in json.loads(text)]


def simple_type(column: WriteColumn) -> Any:
    """The type that a column without fields must be cast to, as its JSON value, if any."""
    return None if isinstance(column.target_type, dict) else column.target_type


def physical(columns: list[WriteColumn], partitioning: Sequence[str]) -> list[Any]:
    """What `projection.select` takes of the table for Spark's Parquet writer: names and ids of data files.

    First the partition columns as the text of their folders, in a session whose time zone is UTC: Spark takes the
    first column of a name. Then what the files hold, partition columns at the end, and no void ones.
    """
    by_name = {column.physical: column for column in columns}
    partitions = [by_name[name] for name in partitioning]
    folders = [_value(c).cast("string").alias(c.physical) for c in partitions]
    stored = [c for c in columns if not (c.partition or c.void)] + [c for c in partitions if c.stored]
    return folders + [_stored(c) for c in stored]


def _stored(column: WriteColumn) -> Any:
    metadata = {} if column.field_id is None else {"parquet.field.id": column.field_id}
    if column.partition:
        value = _value(column)
        # an empty text is null in the log
        value = pyspark.sql.functions.when(value.cast("string") != "", value)
        return value.alias(column.physical, metadata=metadata)
    return Taken(column.name, column.physical, _rearranged(column), metadata)


def _value(column: WriteColumn) -> Any:
    value = pyspark.sql.functions.col(quoted(column.name))
    target = _rearranged(column)
    return value if target is None else value.cast(type_of(target))


def _rearranged(column: WriteColumn) -> Any:
    """The type of a struct in files: a cast between structs is by position, it renames and carries the ids."""
    return column.target_type if isinstance(column.target_type, dict) else None
