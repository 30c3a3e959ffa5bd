"""DELETE: removes rows from a table."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

from deltaic.spark.dml import metrics
from deltaic.spark.dml.change_data_feed import changes
from deltaic.spark.dml.conditions import check_deterministic
from deltaic.spark.dml.operation import Operation, shown
from deltaic.spark.dml.rewritten_files import rewrite
from deltaic.spark.dml.touched_rows import take_matches
from deltaic.spark.dml.unresolved_columns import naming_columns
from deltaic.spark.write.retry import retried

if TYPE_CHECKING:
    from deltaic.spark.session.table_ref import TableRef


@retried
def delete(ref: TableRef, condition: Any = None, *, truncates: bool = False) -> dict[str, int]:
    """Deletes the rows for which a condition is true, all rows without one; the metrics of the commit.

    All or nothing, in one commit; nothing is committed where no row matches, and the metrics are empty then. A row
    for which the condition is null stays. No data is read if all rows are deleted or partition values decide.
    Otherwise the rows are found in one pass; they are marked in deletion vectors where the table has
    `delta.enableDeletionVectors`, or the remaining rows are written into new files, with their row ids. After
    TRUNCATE TABLE the history shows TRUNCATE.

    Raises:
        InvalidPredicateError: for a condition that is not deterministic.
        AppendOnlyError: when the table loses no rows.
        CommitConflictError: when another writer changed rows that the condition reads, again and again.
        CommitStateUnknownError: it is unknown whether the commit landed; no file was removed.
        AnalysisException: of Spark, for what is not a condition on this table.
    """
    parameters = {"predicate": json.dumps([] if condition is None else [shown(condition)])}
    name, said = ("TRUNCATE", {}) if truncates else ("DELETE", parameters)
    with Operation(ref, name, said) as op:
        if op.is_done():
            return {}
        op.dml.check_removable()
        by_vectors = bool(op.dml.uses_vectors)
        if condition is not None:
            with naming_columns(op, [condition]):
                check_deterministic(op, condition)
        by_rows = take_matches(op, condition)
        if not op.counts()["touchedFiles"]:
            return {}
        scanned, rewriting = op.millis(), time.monotonic()
        if by_rows and not by_vectors:
            rewrite(op)
            if op.dml.has_change_feed:
                op.write_changes(changes(op, op.matched(condition), "delete"))
        measured = metrics.of_delete(op.counts(), by_vectors=by_vectors, by_rows=by_rows)
        times = {"scanTimeMs": scanned, "rewriteTimeMs": op.millis(rewriting) if by_rows else 0}
        return op.commit({**measured, **times}, by_vectors=by_vectors)
