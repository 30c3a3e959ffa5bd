"""MERGE: rows of a source meet those of a table."""

from __future__ import annotations

import dataclasses
import time
from typing import TYPE_CHECKING, Any

from deltaic.columns import GENERATION, IDENTITY
from deltaic.exceptions import SchemaMismatchError
from deltaic.identifiers import quoted
from deltaic.spark.dml import metrics
from deltaic.spark.dml.assignments import DEFAULT, is_made
from deltaic.spark.dml.change_data_feed import changes
from deltaic.spark.dml.clauses import Clauses, first_true
from deltaic.spark.dml.evolution import evolve
from deltaic.spark.dml.matches import CLAUSE, OLD, Matches, insert_of
from deltaic.spark.dml.operation import Operation
from deltaic.spark.dml.rewritten_files import rewrite
from deltaic.spark.dml.row_expressions import check_expressions
from deltaic.spark.dml.source import SOURCE_ROW, Source
from deltaic.spark.dml.store_casts import refusing_values
from deltaic.spark.dml.unresolved_columns import naming_clauses
from deltaic.spark.write.retry import retried
from deltaic.spark.write.row_rules import NUMBER, identity_value, numbered, task_count
from deltaic.statements.merge_clauses import DELETE, MATCHED, NOT_MATCHED_BY_SOURCE, UPDATE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyspark.sql.types import StructField

    from deltaic.spark.dml.assignments import Assignments
    from deltaic.spark.session.table_ref import TableRef
    from deltaic.statements.merge_clauses import Clause

_TARGET = "__deltaic_target"
_SEEN = "__deltaic_seen"
# rows that one file should have at least, and rows that one task writes to all partitions
_FULL, _ONE_TASK = 500_000, 1000


@dataclasses.dataclass(frozen=True)
class Merged:
    """What a merge did."""

    version: int | None
    """Version that was committed; None where nothing changed, or the application transaction was recorded before."""
    metrics: dict[str, int]
    """Of the commit; without one only the numbers of rows."""

    def rows(self, what: str) -> int:
        """Rows of the table that were `Inserted`, `Updated` or `Deleted`."""
        return self.metrics.get(f"numTargetRows{what}", 0)


@retried
def merge(
    ref: TableRef,
    source: Any,
    condition: Any,
    given: Sequence[Clause],
    *,
    with_schema_evolution: bool = False,
    app_transaction: tuple[str, int] | None = None,
) -> Merged:
    """Updates, deletes and inserts rows by those of a source: a DataFrame, or what makes one of the `Operation`.

    A source that is computed reads the version that the merge works on, and no other.

    All or nothing, in one commit. Nothing is committed, and the metrics are empty, where the table has recorded the
    application transaction of the session. Nothing is committed, and there are only the numbers of rows, if no clause
    applies and no column is added. The source is computed once, and so is every value: one that differs each time is
    the same in the table and in its change-data feed. Only files that may hold a key of the source are read, unless a
    clause is about rows without a match. Old rows are marked in deletion vectors where the table has
    `delta.enableDeletionVectors`; elsewhere the files with a changed row are rewritten. Row ids are kept. New rows
    and values are stored as an INSERT stores them, and the rules of the table hold. An `app_transaction`, the id of an
    application and its version, is recorded with the commit, also where nothing changes; it is not done again.

    Raises:
        InvalidArgumentError: for clauses out of order and missing columns.
        MultipleMatchesError: for a row of the table that matches several rows of the source, unless the only clause
            for matches deletes them all.
        InvariantViolationError, SchemaMismatchError: for a row that breaks a rule of the table.
        CommitConflictError: when another writer changed rows that the condition reads, again and again.
        CommitStateUnknownError: it is unknown whether the commit landed; no file was removed.
        AnalysisException: of Spark, for what is not a condition or value on these rows.
    """
    clauses = Clauses(given)
    ref = dataclasses.replace(ref, alias=ref.alias or _TARGET)
    parameters = clauses.parameters(condition)
    with (
        refusing_values(ref.path),
        Operation(ref, "MERGE", parameters, app_transaction=app_transaction) as op,
    ):
        if op.is_done():
            return Merged(None, {})
        if callable(source):
            source = source(op)
        op.source = source
        if with_schema_evolution or op.settings.merge_schema:
            evolve(op, source.schema, clauses)
        elif not op.schema.fields:
            refusal = SchemaMismatchError.of(
                ref.path, "the table has no columns; enable schema evolution to add some"
            )
            raise refusal.named("DELTA_MERGE_INTO_EMPTY_SCHEMA_TARGET")
        rows = Source(op, source, condition, by_name=any(c.is_star for c in clauses.all.values()))
        inserts = {i: insert_of(op, c, rows) for i, c in clauses.inserts.items()}
        materialized, begun = op.millis(), time.monotonic()
        with naming_clauses(op, rows, condition, clauses):
            check_expressions(op, rows, condition, clauses)
            matches = Matches(op, rows, condition, clauses)
        if clauses.only_inserts:
            matches.settle()
        else:
            matches.take()
        scanned, begun = op.millis(begun), time.monotonic()
        touched = bool(op.counts()["touchedFiles"])
        by_vectors = bool(op.dml.uses_vectors)
        if touched:
            _write_new(op, matches, by_vectors=by_vectors)
        kept = op.counts()["addedRows"] or 0
        if touched and op.dml.has_change_feed:
            _write_changes(op, matches)
        if clauses.inserts:
            with naming_clauses(op, rows, condition, clauses):
                _insert(op, matches, inserts, as_changes=touched and bool(op.dml.has_change_feed))
        counts = op.counts()
        measured = _measured(matches, kept, (counts["addedRows"] or 0) - kept)
        measured = metrics.of_merge(counts, measured, by_vectors=by_vectors)
        times = {
            "materializeSourceTimeMs": materialized,
            "scanTimeMs": scanned,
            "rewriteTimeMs": op.millis(begun),
        }
        same = not touched and not counts["addedFiles"] and op.written == op.schema
        if same and app_transaction is None:
            return Merged(None, measured)
        measured = op.commit({**measured, **times}, by_vectors=by_vectors)
        return Merged(op.committed, {} if op.committed is None else measured)


def _measured(matches: Matches, kept: int, inserted: int) -> dict[str, int]:
    """Numbers of rows by their outcome."""
    updated = [matches.number(when, UPDATE) for when in (MATCHED, NOT_MATCHED_BY_SOURCE)]
    deleted = [matches.number(when, DELETE) for when in (MATCHED, NOT_MATCHED_BY_SOURCE)]
    return {
        "numSourceRows": matches.source.count,
        "numTargetRowsInserted": inserted,
        "numTargetRowsMatchedUpdated": updated[0],
        "numTargetRowsNotMatchedBySourceUpdated": updated[1],
        "numTargetRowsMatchedDeleted": deleted[0],
        "numTargetRowsNotMatchedBySourceDeleted": deleted[1],
        "numTargetRowsCopied": kept - sum(updated),
    }


def _in_full_files(op: Operation, rows: Any, number: int) -> Any:
    """The rows in tasks that write few files: matches are scattered over as many tasks as the table was read by."""
    # clauses may omit columns
    by = [c for c in op.dml.partition_columns if c in rows.columns]
    if by and number > _ONE_TASK:
        return rows.repartition(*(op.functions.col(quoted(c)) for c in by))
    return rows.coalesce(max(1, -(-number // _FULL)))


def _write_new(op: Operation, matches: Matches, *, by_vectors: bool) -> None:
    """Writes the updated rows, and where rows are not marked as deleted those that are left of their files."""
    number = sum(matches.counts[i] for i in matches.updates)
    new = None
    if number:
        rows = matches.of(UPDATE)
        if op.row_ids and not matches.found_here:
            rows = op.with_row_ids(rows)
        if not matches.is_here:
            rows = _in_full_files(op, rows, number)
        new = rows.select(*op.changed_columns())
    if not by_vectors:
        rewrite(op, new, number)
    elif new is not None:
        op.write_data(new, changed=True, at_most=number if op.holds(number) else None)


def _write_changes(op: Operation, matches: Matches) -> None:
    """Writes each updated row before and after the change, and each deleted one."""
    rows = None
    for action, kind in ((UPDATE, "update_preimage"), (DELETE, "delete")):
        if any(c.action == action for c in matches.clauses.all.values()):
            changed = changes(op, matches.of(action).select(f"{OLD}.*"), kind)
            rows = changed if rows is None else rows.unionByName(changed)
    if matches.updates:
        changed = changes(op, matches.of(UPDATE), "update_postimage")
        rows = changed if rows is None else rows.unionByName(changed)
    number = 2 * sum(matches.counts.values())
    if not matches.is_here:
        rows = _in_full_files(op, rows, number)
    op.write_changes(rows, at_most=number if op.holds(number) else None)


def _insert(op: Operation, matches: Matches, inserts: Mapping[int, Assignments], *, as_changes: bool) -> None:
    """Writes the rows of the source that match no row of the table, and that a clause is about."""
    F, clauses = op.functions, matches.clauses.inserts  # noqa: N806 (its usual name)
    if matches.seen is not None:
        rows = matches.source.without(matches.seen)
    else:
        seen = matches.rows.select(F.col(SOURCE_ROW).alias(_SEEN)).where(F.col(_SEEN).isNotNull())
        rows = matches.source.rows.join(seen, F.col(SOURCE_ROW) == F.col(_SEEN), "left_anti")
    conditions = ((i, None if c.condition is None else op.column(c.condition)) for i, c in clauses.items())
    rows = rows.select("*", first_true(F, conditions).alias(CLAUSE)).where(F.col(CLAUSE).isNotNull())
    values = {}
    for i, insert in inserts.items():
        values[i] = {path[0]: value for path, value in insert.stored(rows).items()}
    lacking = {f.name: [i for i in clauses if f.name not in values[i]] for f in op.written.fields}
    made = [f for f in op.written.fields if is_made(f) and 0 < len(lacking[f.name]) < len(clauses)]
    computes = any(GENERATION in f.metadata for f in made)
    columns = []
    for field in op.written.fields:
        if len(lacking[field.name]) == len(clauses) and (is_made(field) or not computes):
            continue  # the rules of the table fill it
        given = [
            (i, values[i][field.name] if field.name in values[i] else _default(op, field)) for i in clauses
        ]
        # each row has a clause: that of the last one is what is left
        value = given[-1][1]
        for i, own in given[:-1]:
            value = F.when(F.col(CLAUSE) == i, own).otherwise(value)
        if len(given) > 1 or field.name not in values[given[0][0]]:
            value = value.cast(field.dataType)
        columns.append(value.alias(field.name))
    rows = rows.select(CLAUSE, *columns)
    if matches.seen is None:
        rows = _in_full_files(op, rows, matches.source.count)
    rows = _with_made(op, rows, [(f, lacking[f.name]) for f in made])
    at_most = matches.source.count if matches.source.is_small else None
    op.write_inserts(rows.drop(CLAUSE), as_changes=as_changes, at_most=at_most)


def _default(op: Operation, field: StructField) -> Any:
    """What a row has in a column that its clause does not set, where another does."""
    return (
        op.functions.lit(None) if is_made(field) or DEFAULT not in field.metadata else op.default(field.name)
    )


def _with_made(op: Operation, rows: Any, made: Sequence[tuple[StructField, Sequence[int]]]) -> Any:
    """The new rows with values of columns that the table makes, for those whose clause is one of the numbers."""
    F = op.functions  # noqa: N806 (its usual name)
    identities = [f.name for f, _ in made if IDENTITY in f.metadata]
    if identities:
        sequences = op.sequences(rows.drop(CLAUSE, *identities).schema)
        tasks = task_count(rows)
        rows = numbered(rows)
    for field, clauses in made:
        if IDENTITY in field.metadata:
            value = identity_value(F, sequences[field.name], tasks)
        else:
            value = op.generated(field, rows)
        column = F.col(quoted(field.name))
        value = F.when(F.col(CLAUSE).isin(*clauses), value).otherwise(column)
        rows = rows.select(*(value.alias(c) if c == field.name else F.col(quoted(c)) for c in rows.columns))
    return rows.drop(NUMBER)
