"""The rows of a table and of the source of a merge that have the same keys, where the core finds them in this process.

Spark evaluates the rest of the merge on them, and needs no job for it: the driver has all of them.
"""

from __future__ import annotations

import json
import struct
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql.types import StructType

from deltaic.columns import TEXT_LIMIT
from deltaic.spark.read.native_read import FILE, ROW
from deltaic.spark.session.jvm import java_method
from deltaic.spark.session.types import arrow_takes

if TYPE_CHECKING:
    from deltaic.spark.dml.operation import Operation
    from deltaic.spark.dml.source import Source

# pairs, bytes that the rows of the table take in their files, and in memory
_MOST_PAIRS, _MOST_STORED, _MOST_HELD = 100_000, 16 << 20, 64 << 20


class Pairs:
    """A frame of the columns of both sides, whose rows are read when it is known which columns are needed."""

    def __init__(self, op: Operation, source: Source, both: Any, condition: Any, *, row_ids: bool) -> None:
        """`both` is a join of both sides; the rows have row ids where they keep them."""
        from pyspark.sql.classic.dataframe import DataFrame

        self._op, self._source, self._row_ids = op, source, row_ids
        fields = both.schema.fields
        self._fields = fields[: len(fields) - len(source.rows.schema.fields)]
        self.count = 0
        columns = java_method(op.spark, "MergePairs", "columns")(both._jdf)
        self._columns = DataFrame(columns, op.spark)
        self.matching = self._columns.where(condition)
        """Those for which the condition is true: the columns, without rows. Frames are made of it, and `filled`."""

    def only_compares(self) -> bool:
        """Whether the condition only compares both sides."""
        compares = java_method(self._op.spark, "MergePairs", "onlyCompares")
        return bool(compares(self.matching._jdf, len(self._fields)))

    def find(self) -> bool:
        """Finds the pairs in the files that the predicate of the operation leaves; False where they are many."""
        op, source = self._op, self._source
        if not op.dml.may_find_pairs(op.most_bytes):
            return False
        keys, values = source.key_values()
        found = op.dml.find_pairs(values, keys, _MOST_PAIRS, _MOST_STORED)
        self.count = found or 0
        return found is not None

    def filled(self, rows: Any) -> Any:
        """A frame that was made of those that match, with rows.

        None where they take much memory, and where Arrow has no type for a column that is needed.
        """
        from pyspark.sql.classic.dataframe import DataFrame

        if self.count == 0:
            return rows
        op, width = self._op, len(self._fields)
        needed = list(java_method(op.spark, "MergePairs", "needed")(rows._jdf, self._columns._jdf, width))
        fields = [self._fields[place] for place in needed]
        if not arrow_takes(StructType(fields)):
            return None
        ids = op.row_ids if self._row_ids else []
        columns = [f.name for f in fields if f.name not in (FILE, ROW, *ids)]
        stream = op.dml.paired_rows(columns, bool(ids), _MOST_HELD)
        if stream is None:
            return None
        read = pa.table(pa.RecordBatchReader.from_stream(stream))
        file, row, number, *values = read.columns
        by_name = dict(zip([*columns, *ids], values, strict=True))
        by_name |= {FILE: file, ROW: row.cast(pa.int64())}
        target = pa.Table.from_arrays([by_name[f.name] for f in fields], [f.name for f in fields])
        numbers = struct.pack(f">{len(number)}i", *number.to_pylist())
        fill = java_method(op.spark, "MergePairs", "filled")
        here = op.spark.createDataFrame(target, StructType(fields))
        of_source = self._source.rows._jdf
        return DataFrame(
            fill(rows._jdf, self._columns._jdf, here._jdf, needed, of_source, numbers, width), op.spark
        )


def pairs_of(op: Operation, source: Source, condition: Any, *, row_ids: bool) -> Pairs | None:
    """The pairs that the condition can be true for, found, and claimed by the operation.

    None where the core cannot find them, or where they are many: Spark's tasks find these.
    """
    # Spark pads `char` when it reads it
    padded = f'"{TEXT_LIMIT}":"char' in op.dml.schema
    if op.connect or padded or op.has_instants_by_zone() or not source.has_keys_here:
        return None
    target = op.stored_rows("all", row_ids=row_ids).alias(op.ref.alias)
    condition = op.column(condition)
    pairs = Pairs(op, source, target.join(source.rows), condition, row_ids=row_ids)
    if pairs.only_compares():
        op.dml.set_predicate(json.dumps(source.predicate()))
    else:
        # what the condition asks of the table alone prunes files, too
        op.bound(source.prune(target).join(source.joinable(), condition).select(FILE))
        op.dml.set_predicate(op.asked())
    return pairs if pairs.find() else None
