"""The rows for which a condition is true, found in one pass of Spark: bitmaps are built in the JVM."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from deltaic.spark.dml.conditions import prune
from deltaic.spark.native_read import FILE, ROW

if TYPE_CHECKING:
    from deltaic.spark.dml.operation import Operation


def find_touched(op: Operation, condition: Any) -> tuple[int, int]:
    """Takes the rows for which the condition is true. Their number, and how often they were found.

    Only files that may have such rows are read, and of them the columns of the condition.
    """
    prune(op, condition)
    return take(op, op.rows().where(op.column(condition)))


def take(op: Operation, rows: Any) -> tuple[int, int]:
    """Takes the rows that a frame names by `FILE` and `ROW`; it must come from `op.rows()` of all files."""
    bitmaps = bitmaps_of(op, rows).toArrow()
    if not op.connect:
        op.dml.set_predicate(op.asked())
    taken: tuple[int, int] = op.dml.take_rows(bitmaps)
    return taken


def bitmaps_of(op: Operation, rows: Any) -> Any:
    """One row for each file and 32,768 positions in it: the positions as a bitmap, and how often they come."""
    F = op.functions  # noqa: N806 (its usual name)
    position = f"({ROW} + 1)"
    bucket = F.expr(f"bitmap_bucket_number({position})").alias("bucket")
    bitmap = F.expr(f"bitmap_construct_agg(bitmap_bit_position({position}))").alias("bitmap")
    return rows.groupBy(F.col(FILE), bucket).agg(bitmap, F.count(F.lit(1)).alias("count"))
