"""The driver route: a small result comes to the driver as Arrow, and the core writes it there."""

from __future__ import annotations

from typing import Any

from pyspark.sql.types import ArrayType, MapType, StructField, StructType

from deltaic.spark.frame import functions, quoted


def write(df: Any, plan: Any, folder: str) -> list[str]:
    """Writes the rows of a small DataFrame below `folder`; the `add` actions of the files, with statistics."""
    adds: list[str] = plan.write(_with_nullable_fields(df).toArrow(), folder)
    return adds


def _with_nullable_fields(df: Any) -> Any:
    """The frame, whose structs have no field that must not be null: Arrow refuses null structs that have one.

    What must not be null the core checks. It finds columns by name: otherwise a projection would only cost.
    """
    types = [_nullable(field.dataType) for field in df.schema.fields]
    if all(new == field.dataType for new, field in zip(types, df.schema.fields, strict=True)):
        return df
    F = functions(df)  # noqa: N806 (its usual name)
    return df.select(
        *(F.col(quoted(name)).cast(new).alias(name) for name, new in zip(df.columns, types, strict=True))
    )


def _nullable(kind: Any) -> Any:
    if isinstance(kind, StructType):
        return StructType([StructField(f.name, _nullable(f.dataType), True, f.metadata) for f in kind.fields])
    if isinstance(kind, ArrayType):
        return ArrayType(_nullable(kind.elementType), kind.containsNull)
    if isinstance(kind, MapType):
        return MapType(_nullable(kind.keyType), _nullable(kind.valueType), kind.valueContainsNull)
    return kind
