"""The columns of a DataFrame as a write needs them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyspark.sql.functions
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    DataType,
    DateType,
    MapType,
    NullType,
    NumericType,
    StringType,
    StructType,
    TimestampNTZType,
    TimestampType,
)

from deltaic.exceptions import UnsupportedError
from deltaic.spark import failures

if TYPE_CHECKING:
    from collections.abc import Sequence


_FLAT = (NumericType, StringType, BinaryType, BooleanType, DateType, TimestampType, TimestampNTZType)


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


def quoted(name: str) -> str:
    """A column name that Spark does not take apart."""
    return "`" + name.replace("`", "``") + "`"


def in_sql(name: str) -> str:
    """A column name within SQL text.

    Raises:
        UnsupportedError: Spark puts a variable of the session or the environment into texts, in names too.
    """
    if "${" in name:
        what = f"SQL with the column `{name}`, in which Spark looks for a variable,"
        raise UnsupportedError(f"{what} is not supported: rename the column", path="", what=what)
    return quoted(name)


def is_connect(of: Any) -> bool:
    """Whether a session or DataFrame is one of Spark Connect."""
    return type(of).__module__.startswith("pyspark.sql.connect")


def is_local(of: Any) -> bool:
    """Whether the tasks of a classic session or DataFrame run in its own process."""
    session = getattr(of, "sparkSession", of)
    return bool(session.sparkContext._jsc.sc().isLocal())


def arrow_takes(schema: StructType) -> bool:
    """Whether Arrow takes rows as they are: fields that must not be null are refused in a null struct."""
    return all(_arrow_takes(field.dataType) for field in schema.fields)


def _arrow_takes(kind: DataType) -> bool:
    if isinstance(kind, StructType):
        return arrow_takes(kind) and all(field.nullable for field in kind.fields)
    if isinstance(kind, ArrayType):
        return _arrow_takes(kind.elementType)
    if isinstance(kind, MapType):
        return _arrow_takes(kind.keyType) and _arrow_takes(kind.valueType)
    return isinstance(kind, _FLAT)


def has_void(kind: DataType) -> bool:
    """Whether a type is void, which holds only nulls, or has it within."""
    if isinstance(kind, StructType):
        return any(has_void(field.dataType) for field in kind.fields)
    if isinstance(kind, ArrayType):
        return has_void(kind.elementType)
    if isinstance(kind, MapType):
        return has_void(kind.keyType) or has_void(kind.valueType)
    return isinstance(kind, NullType)


def functions(of: Any) -> Any:
    """The functions whose columns fit a session or DataFrame: one process can have both kinds."""
    if not is_connect(of):
        return pyspark.sql.functions
    import pyspark.sql.connect.functions as connect_functions

    return connect_functions


def primitive(column: WriteColumn) -> Any:
    """The type that a column without fields must be cast to, if any."""
    target = column.target_type
    return None if target is None or isinstance(target, dict) else _type(target)


def physical(columns: list[WriteColumn], partitioning: Sequence[str]) -> list[Any]:
    """Columns of the table as Spark's Parquet writer must see them: names and ids of data files.

    First the partition columns as the text of their folders, in a session whose time zone is UTC: Spark takes the
    first column of a name. Then what the files hold, partition columns at the end, and no void ones.
    """
    by_name = {column.physical: column for column in columns}
    partitions = [by_name[name] for name in partitioning]
    folders = [_value(c).cast("string").alias(c.physical) for c in partitions]
    stored = [c for c in columns if not (c.partition or c.void)] + [c for c in partitions if c.stored]
    return folders + [_stored(c) for c in stored]


def _stored(column: WriteColumn) -> Any:
    value = _value(column)
    if column.partition:
        # an empty text is null in the log
        value = pyspark.sql.functions.when(value.cast("string") != "", value)
    metadata = {} if column.field_id is None else {"parquet.field.id": column.field_id}
    return value.alias(column.physical, metadata=metadata)


def _value(column: WriteColumn) -> Any:
    value = pyspark.sql.functions.col(quoted(column.name))
    if isinstance(column.target_type, dict):
        # a cast between structs goes by position: it renames, and carries the ids
        value = value.cast(_type(column.target_type))
    return value


def _type(target: Any) -> Any:
    field = {"name": "c", "type": target, "nullable": True, "metadata": {}}
    return StructType.fromJson({"type": "struct", "fields": [field]}).fields[0].dataType


def guarded(F: Any, value: Any, number: int, column: WriteColumn, row: Any) -> Any:  # noqa: N803
    """A value that fails the job where it is null and must not be, with the text of the row."""
    if not column.not_null:
        return value
    return F.coalesce(value, refusal(F, failures.guard(number, failures.NULL), row))


def refusal(F: Any, mark: str, row: Any) -> Any:  # noqa: N803
    """Fails the job with a mark of `failures` and the text of the row."""
    return F.raise_error(F.concat(F.lit(mark), F.hex(row), F.lit(")")))


def shown(F: Any, names: Sequence[str]) -> Any:  # noqa: N803
    """The text of a row: the values of some of its columns."""
    texts = ((name, F.col(quoted(name)).cast("string")) for name in names)
    values = [F.concat(F.lit(f"{name} = "), F.coalesce(text, F.lit("NULL"))) for name, text in texts]
    return F.concat_ws(", ", *values) if values else F.lit("any row")


def limited(F: Any, text: Any, limit: dict[str, Any], refused: Any) -> Any:  # noqa: N803
    """As Spark writes `char` and `varchar`: spaces at the end are cut down to the length, `char` is padded.

    What is too long is refused.
    """
    length = limit["length"]
    fits = F.rpad(text, length, " ") if limit["padded"] else text
    cut = F.when(F.char_length(F.rtrim(text)) <= length, F.substring(text, 1, length))
    return F.when(F.char_length(text) > length, cut.otherwise(refused)).otherwise(fits)
