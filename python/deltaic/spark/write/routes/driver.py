"""The driver route: a small result comes to the driver as Arrow, and the core writes it there.

What the optimizer reduces to rows that it holds itself, such as literals, VALUES and ranges, needs no job: compiling
and running one takes several times as long as the whole write of a row.
"""

from __future__ import annotations

import base64
import json
from typing import Any

import pyarrow as pa
from pyspark.sql.types import ArrayType, MapType, StructField, StructType

from deltaic.identifiers import quoted
from deltaic.spark.session.jvm import java_method
from deltaic.spark.session.kind import functions, is_connect

# number of rows that are always fetched to the driver, and of those that stay there if it has them already
_FEW_ROWS, _HELD_ROWS = 1000, 100_000
# rows that are fetched, and bytes that they are taken for: by the optimizer, or by the files of as many before them
_FETCHED_ROWS, _FETCHED_BYTES = 10_000, 256 << 10


def write(df: Any, plan: Any, folder: str) -> list[str]:
    """Writes the rows of a small DataFrame; the `add` actions of the files, with statistics.

    The files need no folder of their own, since the core knows them: they are beside `folder`.
    """
    return _written(rows(df), plan, folder)


def write_few(df: Any, plan: Any, folder: str) -> list[str] | None:
    """As `write`, if a classic DataFrame has few rows, which one job fetches; None, and no file, where it has more."""
    df = _with_nullable_fields(df)
    stream = java_method(df.sparkSession, "SmallRows", "fetched")(df._jdf, _FETCHED_ROWS)
    if stream is None:
        return None
    return _written(_table(stream), plan, folder) if stream else []


def have_few_rows(adds: list[str]) -> bool:
    """Whether files, by their `add` actions, have so few rows that as many more are worth being fetched."""
    files = [json.loads(add) for add in adds]
    if sum(file["size"] for file in files) > _FETCHED_BYTES:
        return False
    rows: int = sum(json.loads(file["stats"])["numRecords"] for file in files)
    return rows <= _FETCHED_ROWS


def _written(table: Any, plan: Any, folder: str) -> list[str]:
    beside = folder.rpartition("/")[0]
    adds: list[str] = plan.write(table, beside or None)
    return adds


def rows(df: Any) -> Any:
    """The rows of a small DataFrame as an Arrow table."""
    df = _with_nullable_fields(df)
    if is_connect(df):
        return df.toArrow()
    # `toArrow` of PySpark refuses nulls among variants
    return _table(java_method(df.sparkSession, "SmallRows", "all")(df._jdf, _HELD_ROWS))


def rows_here(df: Any) -> Any:
    """The rows of a classic DataFrame as an Arrow table, where that needs no job."""
    stream = java_method(df.sparkSession, "SmallRows", "arrow")(df._jdf, _HELD_ROWS)
    return None if stream is None else _table(stream)


def _table(stream: str) -> pa.Table:
    return pa.ipc.open_stream(base64.b64decode(stream)).read_all()


def held(df: Any) -> Any:
    """A classic DataFrame whose rows the driver has, computed once: who reads them gets the same.

    None where they are many.
    """
    limits = _HELD_ROWS, _FETCHED_ROWS, _FETCHED_BYTES
    return _frame(df, java_method(df.sparkSession, "SmallRows", "held")(df._jdf, *limits))


def taken(df: Any) -> Any:
    """A classic DataFrame whose rows one job computes and the driver has from then on; None where they are not few."""
    return _frame(df, java_method(df.sparkSession, "SmallRows", "taken")(df._jdf, _FEW_ROWS))


def kept(df: Any, most_bytes: int) -> Any:
    """As `taken`, of rows that tasks computed and keep in at most so many bytes, up to as many as the driver holds."""
    return _frame(df, java_method(df.sparkSession, "SmallRows", "kept")(df._jdf, _HELD_ROWS, most_bytes))


def _frame(df: Any, rows: Any) -> Any:
    from pyspark.sql.classic.dataframe import DataFrame

    return None if rows is None else DataFrame(rows, df.sparkSession)


def small(df: Any, at_most: int | None = None) -> bool:
    """Whether the result of a classic DataFrame is known to have few rows. No job runs.

    Known by the caller, or by the optimizer, which may also hold them.
    """
    if at_most is not None and at_most <= _FEW_ROWS:
        return True
    return bool(java_method(df.sparkSession, "SmallRows", "small")(df._jdf, _FEW_ROWS, _HELD_ROWS))


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
