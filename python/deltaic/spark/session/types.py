"""The parts of Spark's types."""

from __future__ import annotations

from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    DataType,
    DateType,
    MapType,
    NumericType,
    StringType,
    StructType,
    TimestampNTZType,
    TimestampType,
)

_FLAT = (NumericType, StringType, BinaryType, BooleanType, DateType, TimestampType, TimestampNTZType)


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


def has(kind: DataType, wanted: type[DataType]) -> bool:
    """Whether a type is of a class, or contains one that is."""
    if isinstance(kind, StructType):
        return any(has(field.dataType, wanted) for field in kind.fields)
    if isinstance(kind, ArrayType):
        return has(kind.elementType, wanted)
    if isinstance(kind, MapType):
        return has(kind.keyType, wanted) or has(kind.valueType, wanted)
    return isinstance(kind, wanted)
