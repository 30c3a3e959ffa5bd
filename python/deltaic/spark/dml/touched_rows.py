"""Finds the rows that a condition matches in one pass of Spark: bitmaps are built in the JVM."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from deltaic.spark.dml.conditions import plain, prune, take_partitions
from deltaic.spark.read.native_read import FILE, ROW
from deltaic.spark.session.worker_errors import errors_of_workers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deltaic.spark.dml.operation import Operation

# bitmaps count from one
_POSITION = f"({ROW} + 1)"
# positions that a bitmap of Spark has
_BUCKET = 32_768


def find_touched(op: Operation, condition: Any) -> tuple[int, int]:
    """Takes the rows for which the condition is true. Their number, and how often they were found.

    Only files that may have such rows are read, and of them the columns of the condition.
    """
    prune(op, condition)
    return take(op, op.matching_rows(condition))


def take_matches(op: Operation, condition: Any) -> bool:
    """Selects the rows that the condition matches, all rows without one; returns whether that read any."""
    if condition is None:
        op.dml.take_all()
        return False
    if take_partitions(op, condition):
        return False
    if (sql := plain(op, condition)) is not None and op.dml.take_where(sql, op.most_bytes):
        op.tell_route("the rows that match", here=True)
    else:
        find_touched(op, condition)
    return True


def take(op: Operation, rows: Any) -> tuple[int, int]:
    """Takes the rows that a frame names by `FILE` and `ROW`; it must come from `op.rows()` of all files."""
    op.tell_route("the rows that match", here=False)
    with errors_of_workers():
        bitmaps = op.bound(bitmaps_of(op, rows)).toArrow()
    if not op.connect:
        op.dml.set_predicate(op.asked())
    taken = op.dml.take_rows(bitmaps)
    return taken["rows"], taken["matches"]


def bitmaps_of(op: Operation, rows: Any) -> Any:
    """One row for each file and 32,768 positions in it: the positions as a bitmap, and how often they come."""
    F = op.functions  # noqa: N806 (its usual name)
    return _by_bucket(op, rows).agg(_bitmap(F).alias("bitmap"), F.count(F.lit(1)).alias("count"))


def bitmaps_of_matches(op: Operation, rows: Any, matching: Any, matched: Any, more: Sequence[Any]) -> Any:
    """As `bitmaps_of`, of the `matching` rows, with `more` aggregates.

    Two say how many positions are of rows that are `matched`, and how often these come (`matches`).
    """
    F = op.functions  # noqa: N806 (its usual name)
    return _by_bucket(op, rows).agg(
        _bitmap(F, matching).alias("bitmap"),
        F.count_if(matching).alias("count"),
        F.bitmap_count(_bitmap(F, matched)).alias("matched"),
        F.count_if(matched).alias("matches"),
        *more,
    )


def bitmaps_here(rows: pa.Table) -> pa.Table:
    """As `bitmaps_of`, of rows that the driver has: positions (`ROW`) in files (`FILE`)."""
    bitmaps: dict[tuple[str, int], bytearray] = {}
    counts: Counter[tuple[str, int]] = Counter()
    for file, row in zip(rows[FILE].to_pylist(), rows[ROW].to_pylist(), strict=True):
        bucket, position = divmod(row, _BUCKET)
        bitmap = bitmaps.setdefault((file, bucket + 1), bytearray(_BUCKET // 8))
        bitmap[position // 8] |= 1 << position % 8
        counts[file, bucket + 1] += 1
    return pa.table(
        {
            FILE: pa.array([file for file, _ in bitmaps], pa.string()),
            "bucket": pa.array([bucket for _, bucket in bitmaps], pa.int64()),
            "bitmap": pa.array([bytes(bitmap) for bitmap in bitmaps.values()], pa.binary()),
            "count": pa.array([counts[key] for key in bitmaps], pa.int64()),
        }
    )


def _by_bucket(op: Operation, rows: Any) -> Any:
    F = op.functions  # noqa: N806 (its usual name)
    return rows.groupBy(F.col(FILE), F.expr(f"bitmap_bucket_number({_POSITION})").alias("bucket"))


def _bitmap(F: Any, matching: Any = None) -> Any:  # noqa: N803 (its usual name)
    position = F.expr(f"bitmap_bit_position({_POSITION})")
    return F.bitmap_construct_agg(position if matching is None else F.when(matching, position))
