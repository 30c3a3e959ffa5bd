"""Row-level changes: what the change-data feed gives for an operation that is not only files coming or going."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from deltaic.spark.dml.operation import Operation

CHANGE_TYPE = "_change_type"


def changes(op: Operation, rows: Any, kind: str) -> Any:
    """Rows with the columns of the table as changes of one kind, such as `update_preimage`."""
    return rows.select(*op.table_columns(), op.functions.lit(kind).alias(CHANGE_TYPE))
