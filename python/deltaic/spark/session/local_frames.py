"""DataFrames of a few rows that this process has."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from pyspark.sql import types as T  # noqa: N812 (its usual name)

_ARROW = {
    "string": pa.string(),
    "long": pa.int64(),
    "integer": pa.int32(),
    "double": pa.float64(),
    "boolean": pa.bool_(),
}


def frame(spark: Any, schema: T.StructType, rows: list[dict[str, Any]]) -> Any:
    """A DataFrame of the rows, whose keys are the columns; it has exactly this schema in sessions of both kinds."""
    if not schema.fields:
        return spark.createDataFrame([], schema)
    columns = {
        field.name: pa.array(
            [_value(row.get(field.name), field.dataType) for row in rows], _arrow(field.dataType)
        )
        for field in schema.fields
    }
    return spark.createDataFrame(pa.table(columns), schema)


def _value(value: Any, data_type: Any) -> Any:
    return list(value.items()) if isinstance(data_type, T.MapType) and value is not None else value


def _arrow(data_type: Any) -> Any:
    if isinstance(data_type, T.StructType):
        return pa.struct([pa.field(f.name, _arrow(f.dataType), f.nullable) for f in data_type.fields])
    if isinstance(data_type, T.MapType):
        return pa.map_(_arrow(data_type.keyType), _arrow(data_type.valueType))
    if isinstance(data_type, T.ArrayType):
        return pa.list_(_arrow(data_type.elementType))
    if isinstance(data_type, T.TimestampType):
        return pa.timestamp("us", "UTC")
    return _ARROW[data_type.jsonValue()]
