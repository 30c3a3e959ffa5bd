"""Overwrites of the rows of a condition (`replaceWhere`) that the core does not evaluate as the session does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyspark.errors import AnalysisException

from deltaic.exceptions import InvalidArgumentError, InvalidExpressionError
from deltaic.spark.dml import metrics
from deltaic.spark.dml.assignments import old_value
from deltaic.spark.dml.change_data_feed import CHANGE_TYPE
from deltaic.spark.dml.conditions import check_deterministic, has_subquery
from deltaic.spark.dml.operation import Operation
from deltaic.spark.dml.rewritten_files import rewrite
from deltaic.spark.dml.touched_rows import take_matches
from deltaic.spark.dml.unresolved_columns import naming_columns
from deltaic.spark.session.table_ref import TableRef

if TYPE_CHECKING:
    from collections.abc import Mapping

    from deltaic.spark.write.options import WriteOptions


def replace_where(
    df: Any, plan: Any, path: str, options: WriteOptions, storage_options: Mapping[str, str] | None
) -> int | None:
    """Writes the rows of `df`, and takes those out of the table for which a condition of Spark is true; the version.

    All or nothing, in one commit. `plan` is the checked write. Rows are removed as by a delete, and the others keep
    their row ids. The new rows must meet the condition, too, unless the session does not check that.

    Raises:
        InvalidExpressionError: for what is no condition, or has a subquery.
        InvalidPredicateError: for a condition that is not deterministic.
        InvalidArgumentError: when rows of files would go and `dataChange` is false.
        AppendOnlyError: when the table loses no rows.
        ReplaceWhereMismatchError: for a row that the condition does not match.
        InvariantViolationError, SchemaMismatchError: for a row that breaks a rule of the table.
        CommitConflictError: when another writer changed what was read.
        CommitStateUnknownError: it is unknown whether the commit landed; no file was removed.
        AnalysisException: of Spark, for what is not a condition on this table.
    """
    condition = str(options.where_given or options.replace_where)
    alias = options.target_alias
    ref = TableRef(df.sparkSession, path, alias=alias, storage_options=dict(storage_options or {}))
    with Operation(ref, "WRITE", {}, write=(plan, options.without_condition())) as op:
        op.dml.check_removable()
        _check(op, condition)
        by_rows = take_matches(op, condition)
        if by_rows and not options.data_change:
            raise _data_change(condition)
        by_vectors = by_rows and bool(op.dml.uses_vectors) and "delete" not in op.settings.without_vectors
        tells = False
        if by_rows and not by_vectors and op.counts()["touchedFiles"]:
            rewrite(op)
            tells = bool(op.dml.has_change_feed)
        copied = op.counts()["addedRows"] or 0
        if tells:
            columns = (old_value(op, field).alias(field.name) for field in op.written.fields)
            kind = op.functions.lit("delete").alias(CHANGE_TYPE)
            op.write_changes(op.matched(condition).select(*columns, kind))
        op.write_inserts(df, as_changes=tells, options=options)
        measured = metrics.of_replace(op.counts(), copied, by_vectors=by_vectors, by_rows=by_rows)
        op.commit(measured, by_vectors=by_vectors)
        return op.committed


def _check(op: Operation, condition: str) -> None:
    """Checks the condition before anything runs."""
    try:
        with naming_columns(op, [condition]):
            if has_subquery(op, condition):
                refusal = InvalidExpressionError.of(condition, "it has a subquery")
                raise refusal.named("DELTA_UNSUPPORTED_SUBQUERY", operation="DELETE", cond=condition)
            check_deterministic(op, condition)
            _ = op.matching_rows(condition).schema
    except AnalysisException as error:
        if not str(error.getCondition()).startswith("PARSE_"):
            raise
        refusal = InvalidExpressionError.of(condition, "Spark cannot parse it")
        raise refusal.named("DELTA_FAILED_RECOGNIZE_PREDICATE", predicate=condition) from error


def _data_change(condition: str) -> InvalidArgumentError:
    reason = "is on data columns, and `dataChange` is false: rows would change without being reported"
    error = InvalidArgumentError.of("replaceWhere", reason)
    return error.named("DELTA_REPLACE_WHERE_WITH_FILTER_DATA_CHANGE_UNSET", dataFilters=condition)
