"""Names the clause of a merge that has an unresolved column."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from pyspark.errors import AnalysisException

from deltaic.exceptions import InvalidArgumentError
from deltaic.statements.merge_clauses import MATCHED, NOT_MATCHED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from deltaic.spark.dml.clauses import Clauses
    from deltaic.spark.dml.operation import Operation
    from deltaic.spark.dml.source import Source
    from deltaic.statements.merge_clauses import Clause


@contextmanager
def naming_clauses(op: Operation, source: Source, clauses: Clauses) -> Iterator[None]:
    """Within it, an error of Spark for a name that is not a column names the clause.

    Raises:
        InvalidArgumentError: for a condition or a value of a clause.
    """
    try:
        yield
    except AnalysisException as error:
        if _is_unresolved(error):
            for clause in clauses.all.values():
                _check(op, rows_of(op, source, clause), clause)
        raise


def rows_of(op: Operation, source: Source, clause: Clause) -> Any:
    """What a clause sees."""
    if clause.when == NOT_MATCHED:
        return source.rows
    return op.rows().join(source.rows) if clause.when == MATCHED else op.rows()


def _check(op: Operation, rows: Any, clause: Clause) -> None:
    given = [] if clause.condition is None else [("condition", clause.condition)]
    given += [("clause", value) for value in (clause.values or {}).values()]
    for what, expression in given:
        error = _error_of(rows, op.column(expression))
        if error is None or not _is_unresolved(error):
            continue
        name = (error.getMessageParameters() or {}).get("objectName", str(expression))
        reason = f"`{expression}` names no column that the clause sees: {name}"
        refusal = InvalidArgumentError.of(f"{clause.when} {clause.action}", reason)
        facts = {"clause": f"{clause.action.upper()} {what}", "cols": ", ".join(rows.columns)}
        raise refusal.named("DELTA_MERGE_UNRESOLVED_EXPRESSION", sqlExpr=name, **facts) from error


def _error_of(rows: Any, column: Any) -> AnalysisException | None:
    try:
        _ = rows.select(column).schema
    except AnalysisException as error:
        return error
    return None


def _is_unresolved(error: AnalysisException) -> bool:
    return str(error.getCondition()).startswith("UNRESOLVED_COLUMN")
