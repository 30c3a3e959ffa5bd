"""`DeltaTable`, under the names of `delta.tables`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from deltaic.spark.dml.delete import delete
from deltaic.spark.dml.merge_builder import DeltaMergeBuilder
from deltaic.spark.dml.ref import TableRef
from deltaic.spark.dml.update import update
from deltaic.spark.doors import read

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import Column, DataFrame, SparkSession


class DeltaTable:
    """A table in a Spark session, classic or Spark Connect."""

    def __init__(self, ref: TableRef) -> None:
        self._ref = ref

    @classmethod
    def forPath(  # noqa: N802 (the name of delta-spark)
        cls,
        sparkSession: SparkSession,  # noqa: N803
        path: str,
        hadoopConf: dict[str, str] | None = None,  # noqa: N803
    ) -> DeltaTable:
        """The table at a path.

        Raises:
            TableNotFoundError: when there is none.
        """
        from deltaic.table import Table

        options = dict(hadoopConf or {})
        Table(path, storage_options=options or None)
        return cls(TableRef(sparkSession, path, None, options))

    def toDF(self) -> DataFrame:  # noqa: N802 (the name of delta-spark)
        """The rows of the newest version."""
        df = read(self._ref.spark, self._ref.path)
        return df if self._ref.alias is None else df.alias(self._ref.alias)

    def alias(self, aliasName: str) -> DeltaTable:  # noqa: N803 (the name of delta-spark)
        """The same table, whose columns conditions and values may call by this name."""
        ref = self._ref
        return DeltaTable(TableRef(ref.spark, ref.path, aliasName, ref.storage_options))

    def delete(self, condition: str | Column | None = None) -> None:
        """Deletes the rows for which the condition is true, all rows without one: in one commit, or nothing.

        Raises:
            InvalidPredicateError: for a condition that is not deterministic.
            CommitConflictError: when another writer changed rows that the condition reads.
        """
        delete(self._ref, condition)

    def update(
        self,
        condition: str | Column | None = None,
        set: Mapping[str, str | Column] | None = None,  # noqa: A002 (the name of delta-spark)
    ) -> None:
        """Sets columns of the rows for which the condition is true, of all rows without one: in one commit, or nothing.

        Keys of `set` are columns or fields of structs (`s.a`), values SQL expressions or Columns.

        Raises:
            InvalidArgumentError: for columns that are not there.
            InvalidPredicateError: for a condition or a value that is not deterministic.
            InvariantViolationError, SchemaMismatchError: for a new row that breaks a rule of the table.
            CommitConflictError: when another writer changed rows that the condition reads.
        """
        update(self._ref, set or {}, condition)

    def merge(self, source: DataFrame, condition: str | Column) -> DeltaMergeBuilder:
        """Begins a merge of the rows of a DataFrame into the table: see `DeltaMergeBuilder`.

        The condition says which rows match. Name both sides by aliases:

        Example:
            >>> (
            ...     table.alias("t").merge(rows.alias("s"), "t.id = s.id")
            ...     .whenMatchedUpdateAll()
            ...     .whenNotMatchedInsertAll()
            ...     .execute()
            ... )  # doctest: +SKIP
        """
        return DeltaMergeBuilder(self._ref, source, condition)


__all__: Any = ["DeltaMergeBuilder", "DeltaTable"]
