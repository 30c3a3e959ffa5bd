"""Errors for names that are no columns tell the clause of a merge, and no column that the table does not have."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from pyspark.errors import AnalysisException

from deltaic.exceptions import InvalidArgumentError
from deltaic.spark.dml.operation import shown
from deltaic.statements.merge_clauses import MATCHED, NOT_MATCHED

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from deltaic.spark.dml.clauses import Clauses
    from deltaic.spark.dml.operation import Operation
    from deltaic.spark.dml.source import Source
    from deltaic.statements.merge_clauses import Clause

# how columns begin that an operation adds to those of the user
_OWN = "__deltaic_"


@contextmanager
def naming_columns(op: Operation, given: Sequence[Any]) -> Iterator[None]:
    """Within it, an error of Spark about a name in conditions and values suggests columns of the table alone.

    The rows that an operation works on have columns of where they are, too.
    """
    try:
        yield
    except AnalysisException as error:
        if _is_unresolved(error):
            _ = _of_the_user(op.rows()).select(*map(op.column, given)).schema
        raise


@contextmanager
def naming_clauses(op: Operation, source: Source, condition: Any, clauses: Clauses) -> Iterator[None]:
    """Within it, an error of Spark for a name that is not a column names the clause.

    Raises:
        InvalidArgumentError: for the condition of the merge, and a condition or a value of a clause.
    """
    try:
        yield
    except AnalysisException as error:
        if _is_unresolved(error):
            both = op.rows().join(source.rows)
            _check(op, both, "condition", "merge", [("search condition", condition)])
            for clause in clauses.all.values():
                name = clause.action.upper()
                given = [] if clause.condition is None else [(f"{name} condition", clause.condition)]
                given += [(f"{name} clause", value) for value in (clause.values or {}).values()]
                _check(op, rows_of(op, source, clause), f"{clause.when} {clause.action}", "clause", given)
        raise


def rows_of(op: Operation, source: Source, clause: Clause) -> Any:
    """What a clause sees."""
    if clause.when == NOT_MATCHED:
        return source.rows
    return op.rows().join(source.rows) if clause.when == MATCHED else op.rows()


def _check(op: Operation, rows: Any, argument: str, what: str, given: Sequence[tuple[str, Any]]) -> None:
    """Refuses what names no column of the rows; each expression has what delta-spark calls it."""
    for clause, expression in given:
        error = _error_of(rows, op.column(expression))
        if error is None or not _is_unresolved(error):
            continue
        name = (error.getMessageParameters() or {}).get("objectName", str(expression))
        reason = f"`{shown(expression)}` names no column that the {what} sees: {name}"
        refusal = InvalidArgumentError.of(argument, reason)
        facts = {"clause": clause, "cols": ", ".join(_of_the_user(rows).columns)}
        raise refusal.named("DELTA_MERGE_UNRESOLVED_EXPRESSION", sqlExpr=name, **facts) from error


def _of_the_user(rows: Any) -> Any:
    return rows.drop(*(name for name in rows.columns if name.startswith(_OWN)))


def _error_of(rows: Any, column: Any) -> AnalysisException | None:
    try:
        _ = rows.select(column).schema
    except AnalysisException as error:
        return error
    return None


def _is_unresolved(error: AnalysisException) -> bool:
    return str(error.getCondition()).startswith("UNRESOLVED_COLUMN")
