"""Overwrites of the rows that match: `replaceUsing` and `replaceOn` of a DataFrameWriter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from pyspark.errors import AnalysisException

from deltaic.exceptions import InvalidArgumentError, InvariantViolationError, SchemaMismatchError
from deltaic.identifiers import in_sql, quoted
from deltaic.predicates import columns_of
from deltaic.spark.dml import metrics
from deltaic.spark.dml.assignments import old_value
from deltaic.spark.dml.change_data_feed import CHANGE_TYPE
from deltaic.spark.dml.operation import Operation
from deltaic.spark.dml.rewritten_files import rewrite
from deltaic.spark.dml.source import Source
from deltaic.spark.dml.touched_rows import take
from deltaic.spark.session.jvm import java_method
from deltaic.spark.session.kind import functions, is_connect
from deltaic.spark.session.table_ref import TableRef

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from deltaic.spark.write.options import WriteOptions
    from deltaic.spark.write.replacing import Replacing

_TARGET, _SOURCE = "__deltaic_target", "__deltaic_source"
_NEW = "__deltaic_new_"
_UNCLEAR = ("AMBIGUOUS_REFERENCE", "UNRESOLVED_COLUMN")


def replace_matches(
    df: Any,
    plan: Any,
    path: str,
    given: Replacing,
    options: WriteOptions,
    storage_options: Mapping[str, str] | None,
) -> int | None:
    """Writes the rows of `df`, and takes those out of the table that match one of them; the version.

    All or nothing, in one commit; none where there are no rows, no new columns and no `txnAppId`. `plan` is the checked
    write. The rows are computed once. Of the table those files are read that may hold a match; rows are removed as by
    a delete, and the others keep their row ids. What was read is claimed.

    Raises:
        InvalidArgumentError: for a column that does not exist, or is in both.
        AppendOnlyError: when the table loses no rows.
        InvariantViolationError, SchemaMismatchError: for a row that breaks a rule of the table.
        CommitConflictError: when another writer changed what was read.
        CommitStateUnknownError: it is unknown whether the commit landed; no file was removed.
        AnalysisException: of Spark, for what is not a condition on these rows.
    """
    alias = _TARGET if given.on is None else given.alias or _TARGET
    ref = TableRef(df.sparkSession, path, alias=alias, storage_options=dict(storage_options or {}))
    with Operation(ref, "WRITE", {}, write=(plan, options)) as op:
        op.dml.check_removable()
        names, (rows, placed) = df.columns, _beside(df)
        if given.on is None:
            condition = _equal(op, rows.columns[: -len(names)], given.columns, placed=placed)
            rows = rows.alias(_SOURCE)
        else:
            condition = given.on
            _check(op, rows, given)
        source = Source(op, rows, condition, by_name=False)
        by_vectors = bool(op.dml.uses_vectors) and "delete" not in op.settings.without_vectors
        if source.count:
            _take(op, source, condition)
        touched = bool(op.counts()["touchedFiles"])
        tells = touched and not by_vectors and bool(op.dml.has_change_feed)
        if touched and not by_vectors:
            rewrite(op)
        copied = op.counts()["addedRows"] or 0
        if tells:
            op.write_changes(_gone(op, source, condition))
        if source.count:
            _insert(op, source, names, given, as_changes=tells)
        counts = op.counts()
        if (
            not touched
            and not counts["addedFiles"]
            and op.written == op.schema
            and options.txn_app_id is None
        ):
            return None
        op.commit(metrics.of_replace(counts, copied, by_vectors=by_vectors), by_vectors=by_vectors)
        return op.committed


def _beside(df: Any) -> tuple[Any, bool]:
    """The rows with their own columns, and after them those that are written, named by numbers.

    And whether they are written by their places.
    """
    if not is_connect(df):
        from pyspark.sql.classic.dataframe import DataFrame

        rows = java_method(df.sparkSession, "PlacedRows", "of")(df._jdf, _NEW)
        if rows is not None:
            placed = java_method(df.sparkSession, "PlacedRows", "goByPlace")(df._jdf)
            return DataFrame(rows, df.sparkSession), placed
    F = functions(df)  # noqa: N806 (its usual name)
    return df.select("*", *(F.col(quoted(c)).alias(f"{_NEW}{i}") for i, c in enumerate(df.columns))), False


def _equal(op: Operation, names: Sequence[str], columns: Sequence[str], *, placed: bool) -> str:
    """The condition that these columns are equal, none of them null."""
    found = [(_among(op.schema.names, name, "table"), _among(names, name, "query")) for name in columns]
    moved = [
        quoted(n)
        for n, (t, s) in zip(columns, found, strict=True)
        if op.schema.names.index(t) != names.index(s)
    ]
    if placed and moved:
        listed = ", ".join(moved)
        error = InvalidArgumentError.of("replaceUsing", f"{listed}: in other places than in the table")
        raise error.named(
            "INSERT_REPLACE_USING_DISALLOW_MISALIGNED_COLUMNS", misalignedReplaceUsingCols=listed
        )
    return " AND ".join(f"{_TARGET}.{in_sql(t)} = {_SOURCE}.{in_sql(s)}" for t, s in found)


def _among(names: Sequence[str], name: str, of: str) -> str:
    found = next((n for n in names if n.lower() == name.lower()), None)
    if found is not None:
        return found
    suggestion = ", ".join(quoted(n) for n in sorted(names))
    error = InvalidArgumentError.of(
        "replaceUsing", f"`{name}` is not a column of the {of}: it has {suggestion}"
    )
    raise error.named(
        "UNRESOLVED_INSERT_REPLACE_USING_COLUMN",
        colName=quoted(name),
        relationType=of,
        suggestion=suggestion,
    )


def _check(op: Operation, df: Any, given: Replacing) -> None:
    """Checks the condition before anything runs."""
    try:
        _ = op.rows().join(df, op.column(given.on), "left_semi").schema
    except AnalysisException as error:
        if str(error.getCondition()).startswith(_UNCLEAR):
            _explain(op, df, given, error)
        raise


def _explain(op: Operation, df: Any, given: Replacing, error: AnalysisException) -> None:
    """Raises the error of columns that are in neither, or in both."""
    named = [".".join(map(quoted, parts)) for parts in columns_of(str(given.on)) or ()]
    found = {name: (_resolves(op, op.rows(), name), _resolves(op, df, name)) for name in named}
    if both := [name for name, sides in found.items() if all(sides)]:
        reason = (
            "in the table and in the rows to be written: give these an alias, and the table a `targetAlias`"
        )
        _refuse("AMBIGUOUS", both, reason, error)
    if neither := [name for name, sides in found.items() if not any(sides)]:
        _refuse("UNRESOLVED", neither, "neither in the table nor in the rows to be written", error)


def _refuse(what: str, names: Sequence[str], reason: str, error: AnalysisException) -> NoReturn:
    listed = ", ".join(names)
    refusal = InvalidArgumentError.of("replaceOn", f"{listed}: {reason}")
    condition = f"DELTA_INSERT_REPLACE_ON_{what}_COLUMNS_IN_CONDITION"
    raise refusal.named(condition, columnNames=listed) from error


def _resolves(op: Operation, df: Any, name: str) -> bool:
    try:
        _ = df.select(op.functions.col(name)).schema
    except AnalysisException:
        return False
    return True


def _take(op: Operation, source: Source, condition: str) -> None:
    """Takes the rows of the table that match."""
    source.announce()
    rows = source.prune(op.rows())
    take(op, rows.join(source.joinable(), op.column(condition), "left_semi"))


def _gone(op: Operation, source: Source, condition: str) -> Any:
    """The removed rows, as changes."""
    rows = op.matched(lambda rows: rows.join(source.joinable(), op.column(condition), "left_semi"))
    columns = (old_value(op, field).alias(field.name) for field in op.written.fields)
    return rows.select(*columns, op.functions.lit("delete").alias(CHANGE_TYPE))


def _insert(
    op: Operation, source: Source, names: Sequence[str], given: Replacing, *, as_changes: bool
) -> None:
    try:
        columns = (op.functions.col(f"{_NEW}{i}").alias(name) for i, name in enumerate(names))
        rows = source.rows.select(*columns)
        op.write_inserts(rows, as_changes=as_changes)
    except (InvariantViolationError, SchemaMismatchError) as error:
        if error.condition in ("DELTA_VIOLATE_CONSTRAINT_WITH_VALUES", "DELTA_NOT_NULL_CONSTRAINT_VIOLATED"):
            error.named(
                "DELTA_REPLACE_ON_OR_USING_TABLE_CONSTRAINT_VIOLATION",
                replaceExpression=given.text,
                invariantViolationMessage=str(error),
            )
        raise
