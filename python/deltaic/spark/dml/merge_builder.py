"""`DeltaMergeBuilder`, under the names of `delta.tables`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from deltaic.spark.dml.arguments import check_condition, check_values
from deltaic.spark.dml.merge import merge
from deltaic.spark.session.on_server import carried_out_by_server
from deltaic.spark.session.pyspark_errors import all_raise_pyspark_errors
from deltaic.statements.merge_clauses import (
    DELETE,
    INSERT,
    MATCHED,
    NOT_MATCHED,
    NOT_MATCHED_BY_SOURCE,
    UPDATE,
    Clause,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyspark.sql import Column, DataFrame

    from deltaic.spark.session.table_ref import TableRef

_RESULT = "num_affected_rows long, num_updated_rows long, num_deleted_rows long, num_inserted_rows long"


@all_raise_pyspark_errors
class DeltaMergeBuilder:
    """What a merge does with the rows that match and with those that do not; `execute` does it.

    `DeltaTable.merge` begins one. Each method returns a new builder with one clause more. Of the clauses of a kind,
    the first whose condition is true is followed, and only the last may lack a condition. A row for which no clause
    is followed stays as it is, or is not inserted. An update that sets nothing keeps the rows for which its condition
    is true from the clauses after it; without a condition it is none.

    Clauses for matches see the columns of both sides, those for rows of the source without a match (`whenNotMatched…`)
    the source's, and those for rows of the table without a match (`whenNotMatchedBySource…`) the table's. Values and
    conditions are SQL text or Columns.

    Example:
        >>> table = deltaic.tables.DeltaTable.forPath(spark, path).alias("t")  # doctest: +SKIP
        >>> (
        ...     table.merge(changes.alias("s"), "t.id = s.id")
        ...     .whenMatchedDelete("s.gone")
        ...     .whenMatchedUpdate(set={"name": "s.name", "changes": "t.changes + 1"})
        ...     .whenNotMatchedInsert("NOT s.gone", {"id": "s.id", "name": "s.name", "changes": "0"})
        ...     .execute()
        ... )  # doctest: +SKIP
    """

    def __init__(
        self,
        ref: TableRef,
        source: DataFrame,
        condition: str | Column,
        clauses: Sequence[Clause] = (),
        *,
        evolves: bool = False,
    ) -> None:
        self._ref = ref
        self._source = source
        self._condition = condition
        self._clauses = tuple(clauses)
        self._evolves = evolves

    def whenMatchedUpdate(  # noqa: N802 (the name of delta-spark)
        self,
        condition: str | Column | None = None,
        set: Mapping[str, str | Column] | None = None,  # noqa: A002 (the name of delta-spark)
    ) -> DeltaMergeBuilder:
        """Sets columns, or fields of structs, of a row of the table that matches."""
        return self._with(MATCHED, UPDATE, condition, check_values("set", set, "whenMatchedUpdate"))

    def whenMatchedUpdateAll(  # noqa: N802 (the name of delta-spark)
        self, condition: str | Column | None = None
    ) -> DeltaMergeBuilder:
        """Sets every column of a row of the table that matches to the source's of that name."""
        return self._with(MATCHED, UPDATE, condition)

    def whenMatchedDelete(  # noqa: N802 (the name of delta-spark)
        self, condition: str | Column | None = None
    ) -> DeltaMergeBuilder:
        """Deletes a row of the table that matches."""
        return self._with(MATCHED, DELETE, condition)

    def whenNotMatchedInsert(  # noqa: N802 (the name of delta-spark)
        self,
        condition: str | Column | None = None,
        values: Mapping[str, str | Column] | None = None,
    ) -> DeltaMergeBuilder:
        """Inserts a row for one of the source that matches none; columns without a value are filled as by an INSERT."""
        given = check_values("values", values, "whenNotMatchedInsert")
        return self._with(NOT_MATCHED, INSERT, condition, given)

    def whenNotMatchedInsertAll(  # noqa: N802 (the name of delta-spark)
        self, condition: str | Column | None = None
    ) -> DeltaMergeBuilder:
        """Inserts a row of the source that matches none, column by column of the same name."""
        return self._with(NOT_MATCHED, INSERT, condition)

    def whenNotMatchedBySourceUpdate(  # noqa: N802 (the name of delta-spark)
        self,
        condition: str | Column | None = None,
        set: Mapping[str, str | Column] | None = None,  # noqa: A002 (the name of delta-spark)
    ) -> DeltaMergeBuilder:
        """Sets columns, or fields of structs, of a row of the table that no row of the source matches."""
        given = check_values("set", set, "whenNotMatchedBySourceUpdate")
        return self._with(NOT_MATCHED_BY_SOURCE, UPDATE, condition, given)

    def whenNotMatchedBySourceDelete(  # noqa: N802 (the name of delta-spark)
        self, condition: str | Column | None = None
    ) -> DeltaMergeBuilder:
        """Deletes a row of the table that no row of the source matches."""
        return self._with(NOT_MATCHED_BY_SOURCE, DELETE, condition)

    def withSchemaEvolution(self) -> DeltaMergeBuilder:  # noqa: N802 (the name of delta-spark)
        """The table gets the columns of the source that it lacks and that a clause sets, `…All` all of them."""
        return DeltaMergeBuilder(self._ref, self._source, self._condition, self._clauses, evolves=True)

    @carried_out_by_server
    def execute(self) -> DataFrame:
        """Does it, in one commit or, where nothing changes, in none: see `deltaic.spark.dml.merge.merge`.

        Returns one row: `num_affected_rows`, `num_updated_rows`, `num_deleted_rows`, `num_inserted_rows`.

        Raises:
            InvalidArgumentError: for clauses out of order and missing columns.
            MultipleMatchesError: for a row of the table that matches several rows of the source.
            InvariantViolationError, SchemaMismatchError: for a row that breaks a rule of the table.
            CommitConflictError: when another writer changed rows that the condition reads.
        """
        done = merge(
            self._ref, self._source, self._condition, self._clauses, with_schema_evolution=self._evolves
        )
        numbers = [done.rows(what) for what in ("Updated", "Deleted", "Inserted")]
        result: DataFrame = self._ref.spark.createDataFrame([(sum(numbers), *numbers)], _RESULT)
        return result

    def _with(
        self, when: str, action: str, condition: Any, values: Mapping[str, Any] | None = None
    ) -> DeltaMergeBuilder:
        check_condition(condition)
        if action == UPDATE and values is not None and not values and condition is None:
            # every row would stay as it is: no clause, as in delta-spark
            return self
        clauses = (*self._clauses, Clause(when, action, condition, values))
        return DeltaMergeBuilder(self._ref, self._source, self._condition, clauses, evolves=self._evolves)
