"""Deduplicate: of the rows of a key one stays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from deltaic.exceptions import InvalidArgumentError
from deltaic.spark.recipes import keys
from deltaic.spark.recipes.target import SOURCE, TARGET, ref_of
from deltaic.spark.session.on_server import carried_out_by_server

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deltaic.spark.delta_table import DeltaTable
    from deltaic.spark.dml.operation import Operation

_NUMBER, _FILE, _ROW = "__deltaic_number", "__deltaic_duplicate_file", "__deltaic_duplicate_row"


@dataclass(frozen=True)
class DeduplicateResult:
    """What a deduplication did."""

    version: int | None
    """Version that was committed; None where there were no duplicates."""
    deleted_rows: int
    """Rows that were removed."""


@carried_out_by_server
def deduplicate(
    table: DeltaTable, id_cols: str | Sequence[str], order_by: str | Sequence[str] | None = None
) -> DeduplicateResult:
    """Deletes rows of the table so that each key has one, in one commit, or nothing where each has.

    The row that stays is not written again where the table has deletion vectors, and keeps its row id everywhere. The
    columns of the key and of `order_by` are read of every file.

    Args:
        table: The table.
        id_cols: The columns of the key. Nulls are equal.
        order_by: Columns or SQL expressions by which the greatest row stays, nulls last. Without it, it is any one.

    Raises:
        InvalidArgumentError: a column of the key is missing.
        AppendOnlyError: the table loses no rows.
        CommitConflictError: another writer changed rows meanwhile.
    """
    from deltaic.spark.dml.merge import merge
    from deltaic.spark.read.native_read import FILE, ROW
    from deltaic.statements.merge_clauses import DELETE, MATCHED, Clause

    ref = ref_of(table)
    if ref.spark is None:
        reason = "a path does not belong to a session: give a DeltaTable"
        raise InvalidArgumentError.of("table", reason)

    def duplicates(op: Operation) -> Any:
        F = op.functions  # noqa: N806 (its usual name)
        ids = keys.columns(id_cols, op.schema.names, "id_cols")
        # the place decides between equals
        order = [*([] if order_by is None else keys.listed(order_by)), FILE, ROW]
        rows = keys.numbered(op.stored_rows("all", row_ids=False), ids, order, _NUMBER)
        rows = rows.where(f"{_NUMBER} > 1")
        return rows.select(F.col(FILE).alias(_FILE), F.col(ROW).alias(_ROW)).alias(SOURCE)

    here = f"{TARGET}.{FILE} = {SOURCE}.{_FILE} AND {TARGET}.{ROW} = {SOURCE}.{_ROW}"
    done = merge(ref, duplicates, here, [Clause(MATCHED, DELETE)])
    return DeduplicateResult(done.version, done.rows("Deleted"))
