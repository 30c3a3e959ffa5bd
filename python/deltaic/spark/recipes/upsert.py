"""Upsert by key: rows replace those of the same key, or are added."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from deltaic.exceptions import DeltaError, DeltaWarning, InvalidArgumentError
from deltaic.spark.recipes import keys
from deltaic.spark.recipes.target import SOURCE, ref_of
from deltaic.spark.session.on_server import carried_out_by_server
from deltaic.table import Table

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pyspark.sql import DataFrame

    from deltaic.spark.delta_table import DeltaTable
    from deltaic.spark.dml.operation import Operation
    from deltaic.spark.session.table_ref import TableRef

# Spark's name of the query that a batch belongs to, for jobs of the thread
_QUERY = "sql.streaming.queryId"


@dataclass(frozen=True)
class UpsertResult:
    """What an upsert did."""

    version: int | None
    """Version that was committed; None where there was nothing to do, or the application transaction was recorded."""
    inserted_rows: int
    """Rows with a new key."""
    updated_rows: int
    """Rows that were replaced."""


def upsert(
    df: DataFrame,
    table: DeltaTable | str,
    id_cols: str | Sequence[str],
    *,
    order_by: str | Sequence[str] | None = None,
    merge_schema: bool = False,
    app_transaction: tuple[str, int] | None = None,
    optimize: bool = False,
) -> UpsertResult:
    """Each row of `df` replaces the row of the table with its key, or is added if there is none: in one commit.

    The same on classic sessions and on Spark Connect. All or nothing. It is a merge: files that cannot hold a key of
    `df`, by partition values or by their minimum and maximum, are not read, and other writers may change them
    meanwhile; so name a partition column among `id_cols` where the key decides it.

    Args:
        df: The rows, with all columns of the table. They are computed once.
        table: A path, or a `DeltaTable`, which can also be one of a name or have credentials.
        id_cols: The columns of the key. Nulls are equal.
        order_by: Columns or SQL expressions by which the greatest row of a key counts, nulls last. Without it each key
            may come once.
        merge_schema: Whether the table gets columns of `df` that it lacks; `df` may lack some of the table's then.
        app_transaction: Id of an application and its version, recorded with the commit, also where no row came. A
            version that the table has recorded is not done again.
        optimize: Whether small files are compacted afterwards. That is a commit of its own, and a failure of it a
            `DeltaWarning`.

    Raises:
        InvalidArgumentError: a column of the key is missing, or there is no table.
        MultipleMatchesError: several rows have one key, and there is no `order_by`.
        DeltaError: as `DeltaMergeBuilder.execute`.
    """
    ref = ref_of(table, df.sparkSession)
    return _upsert(df, ref, id_cols, order_by, app_transaction, merge_schema=merge_schema, optimize=optimize)


def upsert_batch(
    table: DeltaTable | str,
    id_cols: str | Sequence[str],
    *,
    query_id: str | None = None,
    order_by: str | Sequence[str] | None = None,
    merge_schema: bool = False,
    optimize_every: int | None = None,
) -> Callable[[DataFrame, int], None]:
    """A function for `foreachBatch` that upserts each batch once, however often Spark runs it.

    The commit of a batch records the query and the number of the batch; a recorded batch is skipped. So a query that
    continues from its checkpoint neither loses rows nor restores old ones.

    Args:
        table: As of `upsert`.
        id_cols: As of `upsert`.
        query_id: What the table knows the query by. Without it, on classic sessions, the id that Spark keeps in the
            checkpoint. On Spark Connect it must be given: a name that belongs to the checkpoint, because with a new
            checkpoint batches begin at 0 again and would be skipped. Two upserts of one query into one table need two.
        order_by: As of `upsert`.
        merge_schema: As of `upsert`.
        optimize_every: Small files are compacted after each so many batches.

    Raises:
        InvalidArgumentError: the table is none, or `optimize_every` is less than 1. The function raises it where
            `query_id` is not given and Spark does not report it, and as `upsert`.

    Example:
        >>> rows.writeStream.foreachBatch(deltaic.upsert_batch(path, "id")).start()  # doctest: +SKIP
    """
    if optimize_every is not None and optimize_every < 1:
        raise InvalidArgumentError.of("optimize_every", f"{optimize_every} is less than 1")
    # without the session: on Spark Connect the function is sent to the server
    ref = replace(ref_of(table), spark=None)

    def write(df: DataFrame, batch_id: int) -> None:
        _upsert(
            df,
            replace(ref, spark=df.sparkSession),
            id_cols,
            order_by,
            (query_id or _query_of(df), batch_id),
            merge_schema=merge_schema,
            optimize=optimize_every is not None and (batch_id + 1) % optimize_every == 0,
        )

    return write


@carried_out_by_server
def _upsert(
    df: DataFrame,
    ref: TableRef,
    id_cols: str | Sequence[str],
    order_by: str | Sequence[str] | None,
    app_transaction: tuple[str, int] | None,
    *,
    merge_schema: bool,
    optimize: bool,
) -> UpsertResult:
    from deltaic.spark.dml.merge import merge
    from deltaic.statements.merge_clauses import INSERT, MATCHED, NOT_MATCHED, UPDATE, Clause

    ids = keys.columns(id_cols, df.columns, "id_cols")

    def rows(op: Operation) -> Any:
        if order_by is not None:
            return keys.latest(df, ids, order_by).alias(SOURCE)
        # read before the merge has its copy
        once = df.localCheckpoint()
        keys.refuse_duplicates(once, ids, op.ref.path)
        return once.alias(SOURCE)

    done = merge(
        ref,
        rows,
        keys.same_key(ids),
        [Clause(MATCHED, UPDATE), Clause(NOT_MATCHED, INSERT)],
        with_schema_evolution=merge_schema,
        app_transaction=app_transaction,
    )
    if optimize and done.version is not None:
        _compact(ref)
    return UpsertResult(done.version, done.rows("Inserted"), done.rows("Updated"))


def _compact(ref: TableRef) -> None:
    """The rows are committed: a failure here must not make it look as if they were not."""
    from deltaic.spark.session.settings import storage

    try:
        Table(ref.path, storage_options=storage(ref.spark, ref.storage_options)).optimize()
    except DeltaError as error:
        warnings.warn(
            f"the upsert is committed, but its small files were not compacted: {error}",
            DeltaWarning,
            stacklevel=4,
        )


def _query_of(df: DataFrame) -> str:
    from deltaic.spark.session.kind import is_connect

    query = None if is_connect(df) else df.sparkSession.sparkContext.getLocalProperty(_QUERY)
    if query is None:
        raise InvalidArgumentError.of("query_id", "Spark does not report which query this is: give it a name")
    return str(query)
