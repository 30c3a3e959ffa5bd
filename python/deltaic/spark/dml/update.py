"""UPDATE: rows of a table get other values."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

from deltaic.spark.dml import metrics
from deltaic.spark.dml.assignments import Assignments
from deltaic.spark.dml.change_data_feed import changes
from deltaic.spark.dml.conditions import check_deterministic
from deltaic.spark.dml.operation import Operation, shown
from deltaic.spark.dml.rewritten_files import rewrite
from deltaic.spark.dml.row_expressions import check_values
from deltaic.spark.dml.store_casts import refusing_values
from deltaic.spark.dml.touched_rows import take_matches
from deltaic.spark.dml.unresolved_columns import naming_columns
from deltaic.spark.write.retry import retried

if TYPE_CHECKING:
    from deltaic.spark.session.table_ref import TableRef
    from deltaic.statements.merge_clauses import Assigned


@retried
def update(ref: TableRef, assigned: Assigned, condition: Any = None) -> dict[str, int]:
    """Sets columns, or fields of structs, of the rows for which a condition is true; the metrics of the commit.

    Without a condition of all rows. All or nothing, in one commit; nothing is committed where no row matches, and
    the metrics are empty then. Values see the row as it was. They are stored as an INSERT stores them; generated
    columns are computed again, and CHECK constraints hold. Where the table has `delta.enableDeletionVectors`, the old
    rows are marked and the new ones appended; elsewhere the files are rewritten. Row ids are kept.

    Raises:
        InvalidArgumentError: for missing columns.
        AppendOnlyError: when the table loses no rows.
        InvalidPredicateError: for a condition or a value that is not deterministic.
        InvariantViolationError, SchemaMismatchError: for a new row that breaks a rule of the table.
        CommitConflictError: when another writer changed rows that the condition reads, again and again.
        CommitStateUnknownError: it is unknown whether the commit landed; no file was removed.
        AnalysisException: of Spark, for what is not a condition or value on this table.
    """
    parameters = {"predicate": json.dumps([] if condition is None else [shown(condition)])}
    with refusing_values(ref.path), Operation(ref, "UPDATE", parameters) as op:
        if op.is_done():
            return {}
        op.dml.check_removable()
        assignments = Assignments(op, assigned)
        by_vectors = bool(op.dml.uses_vectors)
        where = "true" if condition is None else condition
        with naming_columns(op, [where, *assignments.values()]):
            check_values(op, op.rows(), assignments.values())
            check_deterministic(op, where, assignments.values())
        by_rows = take_matches(op, condition)
        if not op.counts()["touchedFiles"]:
            return {}
        scanned, rewriting = op.millis(), time.monotonic()
        rows = op.matched(condition if by_rows else None)
        new = assignments.new_rows(rows).select(*op.changed_columns())
        if by_vectors:
            op.write_data(new, changed=True)
        else:
            rewrite(op, new, op.counts()["matchedRows"] or 0)
        counts = op.counts()
        expected = counts["matchedRows"] if by_vectors or not by_rows else counts["touchedRows"]
        op.expect_rows(expected, where)
        if op.dml.has_change_feed:
            before = changes(op, rows, "update_preimage")
            op.write_changes(before.unionByName(changes(op, assignments.new_rows(rows), "update_postimage")))
        measured = metrics.of_update(op.counts(), by_vectors=by_vectors, by_rows=by_rows)
        times = {"scanTimeMs": scanned, "rewriteTimeMs": op.millis(rewriting)}
        return op.commit({**measured, **times}, by_vectors=by_vectors)
