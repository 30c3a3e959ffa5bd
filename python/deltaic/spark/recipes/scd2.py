"""Type-2 dimension: every version of a row stays, with the time when it was valid."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import and_, or_
from typing import TYPE_CHECKING, Any

from deltaic.exceptions import InvalidArgumentError
from deltaic.spark.recipes import keys
from deltaic.spark.recipes.target import SOURCE, TARGET, ref_of
from deltaic.spark.session.on_server import carried_out_by_server

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame

    from deltaic.spark.delta_table import DeltaTable
    from deltaic.spark.dml.operation import Operation

_AT, _SINCE, _CLOSES = "__deltaic_at", "__deltaic_since", "__deltaic_closes"
_KEY, _WAS = "__deltaic_key_", "__deltaic_was_"
_SHOWN = 3


@dataclass(frozen=True)
class Scd2Result:
    """What became of a dimension."""

    version: int | None
    """Version that was committed; None where nothing changed, or the application transaction was recorded."""
    opened_rows: int
    """Rows that were added as the current ones of their keys."""
    closed_rows: int
    """Rows that were current, and are not any more."""


@dataclass(frozen=True)
class _Columns:
    """The columns of a dimension."""

    ids: list[str]
    tracked: list[str]
    valid_from: str
    valid_to: str
    is_current: str


@carried_out_by_server
def scd2(
    df: DataFrame,
    table: DeltaTable | str,
    id_cols: str | Sequence[str],
    *,
    tracked: Sequence[str] | None = None,
    valid_at: str = "current_timestamp()",
    valid_from: str = "valid_from",
    valid_to: str = "valid_to",
    is_current: str = "is_current",
    order_by: str | Sequence[str] | None = None,
    app_transaction: tuple[str, int] | None = None,
) -> Scd2Result:
    """Each row of `df` that differs from the current row of its key takes its place, in one commit; the old row stays.

    The old row gets the end of its time and is current no more, and the new one begins at that moment, without an end.
    Rows that do not differ do nothing, and so does a `df` that comes again. Keys that `df` does not have stay as they
    are. All or nothing, the same on classic sessions and on Spark Connect; a writer that changes the same keys
    meanwhile makes one of both fail. Files that cannot hold a key of `df` are not read.

    Args:
        df: The rows as they are now, with the columns of the table except the three of the dimension.
        table: A path, or a `DeltaTable`. It has the columns of `df`, and those of the dimension.
        id_cols: The columns of the key. Nulls are equal.
        tracked: The columns whose change makes a new row; without it all but the key and, where `valid_at` is a column,
            that one.
        valid_at: A column of `df` or an SQL expression on its rows: since when the row holds.
        valid_from: Column of the table with the time since when a row holds.
        valid_to: Column with the time until when it was valid; null in current rows.
        is_current: Boolean column that marks the current row of a key.
        order_by: Columns or SQL expressions by which the greatest row of a key counts, nulls last; earlier ones are
            dropped. Without it each key may come once.
        app_transaction: As of `upsert`.

    Raises:
        InvalidArgumentError: a column does not exist, or a change is not later than the current row of its key.
        MultipleMatchesError: several rows have one key, and there is no `order_by`.
        DeltaError: as `DeltaMergeBuilder.execute`.
    """
    from deltaic.identifiers import in_sql, quoted
    from deltaic.spark.dml.merge import merge
    from deltaic.spark.session.kind import functions
    from deltaic.statements.merge_clauses import INSERT, MATCHED, NOT_MATCHED, UPDATE, Clause

    ids = keys.columns(id_cols, df.columns, "id_cols")
    others = [c for c in df.columns if c not in ids and c.lower() != valid_at.strip("`").lower()]
    watched = others if tracked is None else keys.columns(tracked, df.columns, "tracked")
    dimension = _Columns(ids, watched, valid_from, valid_to, is_current)
    rows = df if order_by is None else keys.latest(df, ids, order_by)
    rows = rows.withColumn(_AT, functions(df).expr(valid_at))

    def changes(op: Operation) -> Any:
        return _changes(op, rows, dimension, once=order_by is not None)

    condition = f"{keys.same_key(ids)} AND {TARGET}.{in_sql(is_current)} AND {SOURCE}.{_CLOSES}"
    closed = {quoted(valid_to): f"{SOURCE}.{_AT}", quoted(is_current): "false"}
    opened = {quoted(c): f"{SOURCE}.{in_sql(c)}" for c in df.columns}
    opened |= {quoted(valid_from): f"{SOURCE}.{_AT}", quoted(valid_to): "NULL", quoted(is_current): "true"}
    done = merge(
        ref_of(table, df.sparkSession),
        changes,
        condition,
        [Clause(MATCHED, UPDATE, values=closed), Clause(NOT_MATCHED, INSERT, values=opened)],
        app_transaction=app_transaction,
    )
    return Scd2Result(done.version, done.rows("Inserted"), done.rows("Updated"))


def _changes(op: Operation, given: Any, dimension: _Columns, *, once: bool) -> Any:
    """The source of the merge: a row to open for each change, and one to close where the key has a current row."""
    from deltaic.identifiers import quoted
    from deltaic.spark.dml.source import SOURCE_ROW, Source

    F, ids = op.functions, dimension.ids  # noqa: N806 (its usual name)
    own = [dimension.valid_from, dimension.valid_to, dimension.is_current]
    keys.columns([*ids, *dimension.tracked, *own], op.schema.names, "table")
    source = Source(op, given.alias(SOURCE), keys.same_key(ids), by_name=False)
    if not once:
        keys.refuse_duplicates(source.rows, ids, op.ref.path)
    source.announce()
    rows = source.prune(op.stored_rows("all", row_ids=False).alias(TARGET))
    current = rows.where(F.col(quoted(dimension.is_current))).select(
        *(F.col(quoted(c)).alias(f"{_KEY}{i}") for i, c in enumerate(ids)),
        *(F.col(quoted(c)).alias(f"{_WAS}{i}") for i, c in enumerate(dimension.tracked)),
        F.col(quoted(dimension.valid_from)).alias(_SINCE),
        F.lit(True).alias(_CLOSES),
    )
    same = [F.col(quoted(c)).eqNullSafe(F.col(f"{_KEY}{i}")) for i, c in enumerate(ids)]
    differs = [~F.col(quoted(c)).eqNullSafe(F.col(f"{_WAS}{i}")) for i, c in enumerate(dimension.tracked)]
    both = source.rows.drop(SOURCE_ROW).join(current, reduce(and_, same), "left")
    changed = both.where(reduce(or_, differs, F.col(_CLOSES).isNull())).localCheckpoint()
    _refuse_late(op, changed, ids)
    closes = F.when(F.col(_CLOSES), F.array(F.lit(True), F.lit(False))).otherwise(F.array(F.lit(False)))
    columns = [F.col(quoted(c)) for c in given.columns]
    return changed.select(*columns, F.explode(closes).alias(_CLOSES)).alias(SOURCE)


def _refuse_late(op: Operation, changed: Any, ids: Sequence[str]) -> None:
    """A row whose time would end before it began is none."""
    from deltaic.identifiers import quoted

    F = op.functions  # noqa: N806 (its usual name)
    late = F.col(_AT).isNull() | (F.col(_AT) <= F.col(_SINCE))
    found = changed.where(late).select(*(quoted(c) for c in ids), _AT, _SINCE).limit(_SHOWN).collect()
    if found:
        shown = "; ".join(
            f"{', '.join(f'{n} = {v}' for n, v in zip(ids, row, strict=False))}: {row[-2]}, current since {row[-1]}"
            for row in found
        )
        reason = f"changes that are not later than what they change: {shown}"
        raise InvalidArgumentError(f"`{op.ref.path}`: valid_at: {reason}", argument="valid_at", reason=reason)
