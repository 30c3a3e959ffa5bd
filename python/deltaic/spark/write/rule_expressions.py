"""The expressions of the rules of a table as Spark's columns.

What the core printed is read by Spark. What only Spark knows is checked first, as a tree, in a classic session: it
may hold what computes a value of a row, and nothing that reads or does anything else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark.errors import AnalysisException

from deltaic import _core
from deltaic.exceptions import InvalidExpressionError
from deltaic.spark.session.jvm import java_method
from deltaic.spark.session.kind import functions, is_connect

if TYPE_CHECKING:
    from collections.abc import Callable

CHECK, GENERATED, DEFAULT = "check", "generated", "default"
_SPARKS = "org.apache.spark.sql.catalyst.expressions."
_NOT_CONSTANT = "INVALID_DEFAULT_VALUE.NOT_CONSTANT"
_NO_TREE = (
    "only Spark knows it, and on Spark Connect deltaic cannot inspect it: write it in the SQL that deltaic "
    "knows, or write to the table from a classic session"
)


@dataclass(frozen=True)
class Rule:
    """An expression of the log."""

    expression: str
    """Its text."""
    sql: str | None
    """The same as the core printed it; None where only Spark knows it."""
    functions: tuple[str, ...]
    """What `sql` calls."""
    kind: str
    """`CHECK`, `GENERATED` or `DEFAULT`."""
    column_name: str | None = None
    """The column that it fills."""

    @classmethod
    def of(cls, given: dict[str, Any], kind: str) -> Rule:
        """From the JSON of the core."""
        column = given.get("column")
        return cls(given["expression"], given["sql"], tuple(given["functions"]), kind, column)

    def column(self, rows: Any) -> Any:
        """Its value for each row of a DataFrame. Nothing is computed before it is known to be harmless.

        Raises:
            InvalidExpressionError: it is no rule, or calls what is not Spark's own in this session.
        """
        F = functions(rows)  # noqa: N806 (its usual name)
        if self.sql is not None:
            self._check_functions(rows.sparkSession)
            return F.expr(self.sql)
        if is_connect(rows):
            raise self.refused("function", _NO_TREE)
        self._check_tree(rows)
        return F.expr(self.expression)

    def _check_functions(self, spark: Any) -> None:
        if not self.functions:
            return
        if is_connect(spark):
            for name in self.functions:
                if not spark.catalog.getFunction(name).className.startswith(_SPARKS):
                    raise self.refused(
                        "user", f"the function `{name}` is one of the session, and not Spark's"
                    )
            return
        refusal = java_method(spark, "RuleTrees", "refusalOfFunctions")
        self._raise(lambda: refusal(spark._jsparkSession, list(self.functions)))

    def _check_tree(self, rows: Any) -> None:
        refusal = java_method(rows.sparkSession, "RuleTrees", "refusal")
        allowed = _core.rule_functions(self.kind)
        self._raise(lambda: refusal(rows._jdf, self.expression, allowed, self.kind == DEFAULT))

    def _raise(self, looked: Callable[[], str | None]) -> None:
        try:
            found = looked()
        except AnalysisException as error:
            lines = [line for line in str(error).splitlines() if line]
            raise self.refused(None, lines[0] if lines else "it is not an expression") from error
        if found is not None:
            what, _, why = found.partition(": ")
            raise self.refused(what, why)

    def refused(self, what: str | None, reason: str) -> InvalidExpressionError:
        """The error of a rule; `what` it must not hold is a `subquery`, `random`, of the `user`, or a `function`."""
        text = self.expression
        error = InvalidExpressionError.of(text, reason)
        if what is None:
            return error
        if self.kind == DEFAULT:
            name = "INVALID_DEFAULT_VALUE.SUBQUERY_EXPRESSION" if what == "subquery" else _NOT_CONSTANT
            return error.named(name, colName=self.column_name, defaultValue=text)
        if self.kind == CHECK:
            name, parameter = _OF_CHECKS.get(
                what, ("DELTA_UNSUPPORTED_EXPRESSION_CHECK_CONSTRAINT", "expression")
            )
            return error.named(name, **{parameter: text})
        if what == "user":
            return error.named("DELTA_UDF_IN_GENERATED_COLUMN", udfExpr=text)
        if what == "function":
            return error.named("DELTA_UNSUPPORTED_EXPRESSION_GENERATED_COLUMN", expression=text)
        facts = {"fieldName": self.column_name, "expressionStr": text, "reason": reason}
        return error.named("UNSUPPORTED_EXPRESSION_GENERATED_COLUMN", **facts)


_OF_CHECKS = {
    "random": ("DELTA_NON_DETERMINISTIC_EXPRESSION_IN_CHECK_CONSTRAINT", "expr"),
    "user": ("DELTA_UDF_IN_CHECK_CONSTRAINT", "expr"),
}
