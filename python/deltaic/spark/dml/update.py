"""UPDATE: rows of a table get other values."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

from pyspark.errors import AnalysisException

from deltaic.spark.dml import metrics
from deltaic.spark.dml.assignments import Assignments
from deltaic.spark.dml.change_data import changes
from deltaic.spark.dml.conditions import check_deterministic
from deltaic.spark.dml.operation import Operation, shown
from deltaic.spark.dml.touched import take_matches

if TYPE_CHECKING:
    from collections.abc import Mapping

    from deltaic.spark.dml.ref import TableRef

_MATCHED = "__deltaic_matched"


def update(ref: TableRef, assigned: Mapping[str, Any], condition: Any = None) -> dict[str, int]:
    """Sets columns, or fields of structs, of the rows for which a condition is true; the metrics of the commit.

    Without a condition of all rows. All or nothing, in one commit; nothing is committed where no row matches, and
    the metrics are empty then. Values see the row as it was. They are stored as an INSERT stores them; generated
    columns are computed anew, and CHECK constraints hold. Where the table has `delta.enableDeletionVectors`, the old
    rows are marked and the new ones appended; elsewhere the files are written anew. Row ids are kept.

    Raises:
        InvalidArgumentError: for columns that are not there.
        InvalidPredicateError: for a condition or a value that is not deterministic.
        InvariantViolationError, SchemaMismatchError: for a new row that breaks a rule of the table.
        CommitConflictError: when another writer changed rows that the condition reads.
        CommitStateUnknownError: when nobody can tell whether the commit landed; no file was removed.
        AnalysisException: of Spark, for what is no condition or value on this table.
    """
    parameters = {"predicate": json.dumps([] if condition is None else [shown(condition)])}
    with Operation(ref, "UPDATE", parameters) as op:
        if op.is_done():
            return {}
        assignments = Assignments(op, assigned)
        by_vectors = bool(op.dml.uses_vectors)
        check_deterministic(op, "true" if condition is None else condition, assignments.values())
        by_rows = take_matches(op, condition)
        if not op.counts()["touchedFiles"]:
            return {}
        scanned, rewriting = op.millis(), time.monotonic()
        if condition is None or by_vectors or not by_rows:
            _write_new(op, assignments, condition if by_rows else None)
        else:
            _rewrite(op, assignments, condition)
        counts = op.counts()
        expected = counts["matchedRows"] if by_vectors or not by_rows else counts["touchedRows"]
        op.expect_rows(expected, "true" if condition is None else condition)
        if op.dml.has_change_feed:
            _write_changes(op, assignments, condition if by_rows else None)
        measured = metrics.of_update(op.counts(), by_vectors=by_vectors, by_rows=by_rows)
        times = {"scanTimeMs": scanned, "rewriteTimeMs": op.millis(rewriting)}
        return op.commit({**measured, **times}, by_vectors=by_vectors)


def _write_new(op: Operation, assignments: Assignments, condition: Any) -> None:
    """Writes the new rows and no others."""
    rows = op.rows("touched", row_ids=True)
    if condition is not None:
        rows = rows.where(op.column(condition))
    op.write_data(_as_written(op, assignments.new_rows(rows), changed=True), changed=True)


def _rewrite(op: Operation, assignments: Assignments, condition: Any) -> None:
    """Writes the new rows, and those of the same files that stay as they are."""
    F = op.functions  # noqa: N806 (its usual name)
    rows = op.rows("touched", row_ids=True)
    matched = F.coalesce(op.column(condition), F.lit(False))
    try:
        marked = rows.select("*", matched.alias(_MATCHED))
        _ = marked.schema
    except AnalysisException:
        # IN and EXISTS with a subquery stand in filters only
        changed = assignments.new_rows(rows.where(matched)).withColumn(_MATCHED, F.lit(True))
        kept = rows.where(~matched).select(*_all(op, rows)).withColumn(_MATCHED, F.lit(False))
        new = changed.unionByName(kept)
    else:
        new = assignments.new_rows(marked, F.col(_MATCHED))
    op.write_data(_as_written(op, new, changed=F.col(_MATCHED)), changed=True)


def _all(op: Operation, rows: Any) -> list[Any]:
    more = [c for c in rows.columns if c not in frozenset(op.schema.names)]
    return [*op.table_columns(), *(op.functions.col(c) for c in more)]


def _as_written(op: Operation, rows: Any, *, changed: Any) -> Any:
    """With row ids; a row that is `changed` takes the commit version of the file that it goes to."""
    F = op.functions  # noqa: N806 (its usual name)
    if not op.row_ids:
        return rows.select(*op.table_columns())
    row_id, version = op.row_id_columns()
    fresh = F.when(~F.lit(changed) if isinstance(changed, bool) else ~changed, version)
    return rows.select(*op.table_columns(), row_id, fresh.cast("bigint").alias(op.row_ids[1]))


def _write_changes(op: Operation, assignments: Assignments, condition: Any) -> None:
    """Writes each row as it was and as it is."""
    rows = op.rows("touched")
    if condition is not None:
        rows = rows.where(op.column(condition))
    before = changes(op, rows, "update_preimage")
    after = changes(op, assignments.new_rows(rows), "update_postimage")
    op.write_changes(before.unionByName(after))
