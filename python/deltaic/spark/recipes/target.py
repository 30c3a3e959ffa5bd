"""The table that a recipe works on, and the names by which its merge knows both sides."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from deltaic.exceptions import InvalidArgumentError

if TYPE_CHECKING:
    from deltaic.spark.session.table_ref import TableRef

TARGET, SOURCE = "target", "source"
"""Aliases of the table and of the rows that come."""


def ref_of(table: object, spark: Any = None) -> TableRef:
    """The table at a path or of a `DeltaTable`, in a session; that of the `DeltaTable` where none is given.

    Raises:
        InvalidArgumentError: it is neither.
    """
    from deltaic.spark.delta_table import DeltaTable
    from deltaic.spark.session.places import placed
    from deltaic.spark.session.table_ref import TableRef

    if isinstance(table, str):
        return TableRef(spark, placed(spark, table), alias=TARGET)
    if isinstance(table, DeltaTable):
        return replace(table._ref, spark=spark or table._ref.spark, alias=TARGET)
    reason = f"a {type(table).__name__} is neither a path nor a DeltaTable"
    raise InvalidArgumentError.of("table", reason)
