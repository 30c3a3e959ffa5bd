"""Adds CHECK constraints to a table: by the core, and by Spark where only Spark knows a function."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyspark.sql.types import BooleanType

from deltaic import _core
from deltaic.exceptions import CommitConflictError, InvalidExpressionError, InvariantViolationError
from deltaic.spark.read.rows import read
from deltaic.spark.session.kind import functions, is_connect
from deltaic.spark.write.row_checks import shown
from deltaic.spark.write.rule_expressions import CHECK, Rule

if TYPE_CHECKING:
    from deltaic.table import Table

# as often as the core repeats a change that lost its race
_MOST_RACES = 20


def add_constraint(spark: Any, table: Table, name: str, expression: str, user_metadata: str | None) -> int:
    """Adds a CHECK constraint that every row of the table passes, and returns the version of the commit.

    The core checks the rows of the table; in a classic session Spark does where the core cannot, and
    then the check is repeated when a writer adds rows meanwhile.

    Raises:
        InvariantViolationError: a row for which it is not true; null is not true.
        InvalidExpressionError: neither can evaluate it, or it holds what no rule may hold.
        InvalidArgumentError: the name is taken.
        CommitConflictError: others went on adding rows.
    """
    try:
        return table.add_constraint(name, expression, user_metadata=user_metadata)
    except InvalidExpressionError as error:
        if is_connect(spark):
            raise
        refused = error
    races = 0
    while True:
        table.update()
        if not _is_rule(spark, table, name, expression):
            raise refused
        _check_rows(spark, table, name, expression)
        try:
            return _core.add_constraint(table._core, name, expression, user_metadata, table.version)
        except CommitConflictError:
            races += 1
            if races > _MOST_RACES:
                raise


def _rows(spark: Any, table: Table) -> Any:
    return read(spark, table.uri, version=table.version)


def _truth(rows: Any, expression: str) -> Any:
    return Rule(expression, None, (), CHECK).column(rows)


def _is_rule(spark: Any, table: Table, name: str, expression: str) -> bool:
    """Whether Spark has a truth for each row that a rule may compute."""
    rows = _rows(spark, table)
    try:
        truth = _truth(rows, expression)
    except InvalidExpressionError:
        return False
    if isinstance(rows.select(truth).schema[0].dataType, BooleanType):
        return True
    error = InvalidExpressionError.of(expression, "it is not a condition")
    raise error.named("DELTA_NON_BOOLEAN_CHECK_CONSTRAINT", name=name, expr=expression)


def _check_rows(spark: Any, table: Table, name: str, expression: str) -> None:
    rows = _rows(spark, table)
    F = functions(rows)  # noqa: N806 (its usual name)
    truth = F.coalesce(_truth(rows, expression), F.lit(False))
    broken = rows.where(~truth).select(shown(F, rows.columns)).head()
    if broken is not None:
        rule, path = f"CHECK constraint {name}", table.uri
        message = f"a row breaks the {rule} of `{path}`: `{expression}` does not hold for {broken[0]}"
        facts = {"path": path, "rule": rule, "expression": expression, "row": broken[0]}
        raise InvariantViolationError(message, **facts).named("DELTA_NEW_CHECK_CONSTRAINT_VIOLATION")
