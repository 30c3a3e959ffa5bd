"""Refuses conditions and values that need more than one row, or differ when they are computed again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyspark.errors import AnalysisException

from deltaic.exceptions import InvalidPredicateError
from deltaic.spark.dml.operation import shown
from deltaic.spark.dml.unresolved_columns import rows_of
from deltaic.statements.merge_clauses import MATCHED, NOT_MATCHED_BY_SOURCE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from deltaic.spark.dml.clauses import Clauses
    from deltaic.spark.dml.operation import Operation
    from deltaic.spark.dml.source import Source

_AGGREGATE, _WINDOW, _GENERATE, _RANDOM = "Aggregate", "Window", "Generate", "random"
_WHAT = {
    _AGGREGATE: "it has an aggregate",
    _WINDOW: "it has a window function",
    _GENERATE: "it makes several rows out of one",
    _RANDOM: "it is not deterministic",
}


def check_expressions(op: Operation, source: Source, condition: Any, clauses: Clauses) -> None:
    """Checks that conditions and values are of one row, and conditions the same each time.

    A session of Spark Connect cannot check this: Spark refuses there what it refuses itself.

    Raises:
        InvalidPredicateError: for an aggregate, a window function or a generator; for a random condition.
        AnalysisException: of Spark, for what is none on these rows.
    """
    if op.connect:
        return
    both = op.rows().join(source.rows)
    _check_condition(op, both, condition, "search")
    for clause in clauses.all.values():
        rows = both if clause.when == MATCHED else rows_of(op, source, clause)
        if clause.condition is not None:
            _check_condition(op, rows, clause.condition, clause.action.upper())
            if clause.when != NOT_MATCHED_BY_SOURCE:
                # refused where it is neither true nor false
                rows.where(op.column(clause.condition))
        check_values(op, rows, (clause.values or {}).values())


def check_values(op: Operation, rows: Any, given: Iterable[Any]) -> None:
    """Checks that values, SQL text or Columns, are of one row.

    Raises:
        InvalidPredicateError: for an aggregate, a window function or a generator.
        AnalysisException: of Spark, for what is none on these rows.
    """
    values = [v for v in given if not (isinstance(v, str) and v.strip().upper() == "DEFAULT")]
    # all at once, as many columns may be set; one by one where that is not right
    if op.connect or not values or not _kinds_of_all(op, rows, values) - {_RANDOM}:
        return
    for value in values:
        for kind in _kinds(rows, op.column(value)) - {_RANDOM}:
            raise _refused(value, kind)


def _kinds_of_all(op: Operation, rows: Any, values: list[Any]) -> set[str]:
    try:
        return _kinds(rows, *map(op.column, values))
    except AnalysisException:
        return {_AGGREGATE}  # perhaps: Spark takes none beside what is none


def _check_condition(op: Operation, rows: Any, condition: Any, kind: str) -> None:
    operation = f"{kind} condition of MERGE operation"
    text = f"(condition = {shown(condition)})"
    found = _kinds(rows, op.column(condition))
    if _RANDOM in found and len(found) == 1:
        error = _refused(condition, _RANDOM)
        name = "DELTA_NON_DETERMINISTIC_FUNCTION_NOT_SUPPORTED"
        raise error.named(name, operation=operation, expression=text)
    if _AGGREGATE in found:
        error = _refused(condition, _AGGREGATE)
        raise error.named("DELTA_AGGREGATION_NOT_SUPPORTED", operation=operation, predicate=text)
    if found:
        raise _refused(condition, (found - {_RANDOM}).pop())


def _refused(expression: Any, what: str) -> InvalidPredicateError:
    text, reason = shown(expression), f"{_WHAT[what]}, and rows are evaluated one by one"
    error = InvalidPredicateError(f"`{text}`: {reason}", predicate=text, reason=reason)
    if what == _GENERATE:
        return error.named("UNSUPPORTED_GENERATOR.OUTSIDE_SELECT", plan=text)
    return error.named("UNSUPPORTED_EXPR_FOR_OPERATOR", invalidExprSqls=text)


def _kinds(rows: Any, *columns: Any) -> set[str]:
    """What expressions are that a merge may not take."""
    given = rows.select()._jdf.queryExecution().analyzed().children().apply(0)
    try:
        at = rows.select(*columns)._jdf.queryExecution().analyzed()
    except AnalysisException as error:
        if error.getCondition() == "MISSING_GROUP_BY":
            return {_AGGREGATE}
        raise
    expressions = at.expressions()
    steady = all(expressions.apply(i).deterministic() for i in range(expressions.size()))
    kinds = set() if steady else {_RANDOM}
    while at.children().size() == 1 and not at.fastEquals(given):
        kinds |= {at.nodeName()} & _WHAT.keys()
        at = at.children().apply(0)
    return kinds
