"""Rewrites files that have matched rows, without deletion vectors."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

from deltaic.spark.dml.assignments import old_value
from deltaic.spark.write.rows import rows_for_core

if TYPE_CHECKING:
    from deltaic.spark.dml.operation import Operation

# bytes of the files that one task writes at least
_TASK = 128 << 20


def rewrite(op: Operation, new: Any = None, number: int = 0) -> None:
    """Writes the rows that are left of the touched files into as few files, and `number` `new` rows with them.

    New rows have the columns `op.changed_columns()`. Files that are not too much for this process are left to the core,
    which reads and writes several times as fast as Spark with the same cores.
    """
    counts = op.counts()
    left = (counts["touchedFiles"] or 0) - (counts["emptiedFiles"] or 0)
    here = not op.connect and (counts["touchedBytes"] or 0) <= op.most_bytes
    op.tell_route("the rows that stay", here=here)
    if here and left:
        few = None
        if new is not None and op.holds(number):
            plan = op.dml.data_plan(new.schema.json(), True, str(uuid.uuid4()))
            few = rows_for_core(op.bound(new), plan, op.ref.path)
        elif new is not None:
            op.write_data(new, changed=True)
        op.dml.copy_left(few)
        return
    changed = new is not None
    if left:
        rows = op.rows("left", row_ids=True)
        stay = (old_value(op, f).alias(f.name) for f in op.written.fields)
        rows = rows.select(*stay, *op.row_id_columns())
        bytes_ = (counts["touchedBytes"] or 0) - (counts["emptiedBytes"] or 0)
        new = rows.unionByName(new).coalesce(max(left, bytes_ // _TASK)) if changed else rows
    if new is not None:
        op.write_data(new, changed=changed)
