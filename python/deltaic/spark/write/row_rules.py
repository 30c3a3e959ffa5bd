"""The rules of a table, checked by Spark: the plan of a write fills columns and checks rows.

The expressions follow the time zone and the ANSI setting of the session of the DataFrame; what Spark is given of them,
`deltaic.spark.write.rule_expressions` says.
"""

from __future__ import annotations

import functools
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark.errors import AnalysisException
from pyspark.sql.types import StringType

from deltaic.identifiers import quoted
from deltaic.spark.session.kind import functions, is_connect
from deltaic.spark.session.projection import Taken, select, type_of
from deltaic.spark.write import failure_marks
from deltaic.spark.write.row_checks import guarded, limited, refusal, shown
from deltaic.spark.write.rule_expressions import CHECK, DEFAULT, GENERATED, Rule
from deltaic.spark.write.storing import Storing, plainly
from deltaic.spark.write.write_columns import simple_type

if TYPE_CHECKING:
    from collections.abc import Callable

    from deltaic.spark.write.write_columns import WriteColumn

NUMBER = "__deltaic_row"
"""Column that `numbered` adds."""
# `monotonically_increasing_id` has the number of the task above these bits, and that of the row in them
_ROW_BITS = 33
# columns of a row that is refused for a value of one of them
_SHOWN_COLUMNS = 5
_WORD = re.compile(r"`((?:[^`]|``)+)`|(\w+)")


@dataclass(frozen=True)
class Sequence:
    """An identity column whose values are to be made."""

    column: str
    first: int
    step: int


@dataclass(frozen=True)
class Condition:
    """What must be true for every row."""

    rule: str
    value: Rule
    column: str | None
    """The column that must be equal to the value, or null where it is; None where the value is the truth itself."""

    @property
    def expression(self) -> str:
        """Its text, for errors."""
        return self.value.expression if self.column is None else f"{self.column} <=> {self.value.expression}"

    def holds(self, rows: Any) -> Any:
        """Whether it is true, as a column of a DataFrame."""
        F = functions(rows)  # noqa: N806 (its usual name)
        value = self.value.column(rows)
        if self.column is not None:
            return F.col(quoted(self.column)).eqNullSafe(value)
        return F.coalesce(value, F.lit(False))


@dataclass(frozen=True)
class RowRules:
    """What must be done to rows: columns to fill by an expression, and conditions to check."""

    defaults: dict[str, Rule]
    identities: dict[str, Sequence]
    generated: dict[str, Rule]
    checks: list[Condition]

    @classmethod
    def of(cls, text: str) -> RowRules:
        """The rules that a plan of the core lists as JSON."""
        given = json.loads(text)
        return cls(
            defaults={d["column"]: Rule.of(d, DEFAULT) for d in given["defaults"]},
            identities={i["column"]: Sequence(**i) for i in given["identities"]},
            generated={g["column"]: Rule.of(g, GENERATED) for g in given["generated"]},
            checks=[_condition(check) for check in given["checks"]],
        )

    def all(self) -> list[Rule]:
        """All expressions of the log."""
        return [*self.defaults.values(), *self.generated.values(), *(check.value for check in self.checks)]

    def __bool__(self) -> bool:
        return bool(self.defaults or self.identities or self.generated or self.checks)


def _condition(given: dict[str, Any]) -> Condition:
    column = given["column"]
    return Condition(given["rule"], Rule.of(given, CHECK if column is None else GENERATED), column)


def table_rows(
    df: Any, columns: list[WriteColumn], rules: RowRules, path: str, *, tasks: int, within: str | None = None
) -> Any:
    """The rows as the table has them: its columns by their names, filled, and guarded against what must not be.

    A job on the frame fails at the first row that breaks a rule, with what `row_errors.raise_known`
    understands. Identities differ between all rows, whatever the number of tasks, and are without large gaps
    where it is at most `tasks`. `within` is the condition of an overwrite that all rows must meet.

    Raises:
        InvalidExpressionError: for a rule that Spark must not be given, and one that it cannot resolve.
    """
    F = functions(df)  # noqa: N806 (its usual name)
    if rules.identities:
        df = numbered(df)
    row = _shown_once(F, [c.source for c in columns if c.source is not None])
    rows = select(
        df,
        [
            _supplied(df, i, c, rules, tasks, row)
            for i, c in enumerate(columns)
            if c.name not in rules.generated
        ],
    )
    try:
        rows = _complete(F, rows, columns, rules, within)
        if rules:
            _ = rows.schema  # Spark Connect resolves late
    except AnalysisException as error:
        _blame(rows, rules, path, error)
        raise
    return rows


def _shown_once(F: Any, names: list[str]) -> Callable[[], Any]:  # noqa: N803
    """The text of a row, made when a column needs it: each call of a function of columns is a request."""
    return functools.cache(lambda: shown(F, names[:_SHOWN_COLUMNS]))


def _supplied(
    df: Any, number: int, column: WriteColumn, rules: RowRules, tasks: int, row: Callable[[], Any]
) -> Any:
    F = functions(df)  # noqa: N806 (its usual name)
    if column.source is not None:
        if column.text_limit is None and not column.not_null and column.table_type is None:
            return Taken(column.source, column.name, simple_type(column))
        value = F.col(quoted(column.source))
        if column.table_type is not None:
            given = df.schema[column.source].dataType
            value = Storing(F, plainly, fills=True).stored(
                value, given, type_of(column.table_type), column.name
            )
    elif column.name in rules.defaults:
        value = rules.defaults[column.name].column(df.sparkSession.range(1))
    elif column.name in rules.identities:
        value = identity_value(F, rules.identities[column.name], tasks)
    else:
        value = F.lit(None)
    return _fitted(F, value, number, column, row)


def _fitted(F: Any, value: Any, number: int, column: WriteColumn, row: Callable[[], Any]) -> Any:  # noqa: N803
    if column.source is None and column.table_type is not None:
        value = value.cast(type_of(column.table_type))
    elif (target := simple_type(column)) is not None:
        value = value.cast(type_of(target))
    if column.text_limit is not None:
        value = limited(
            F, value, column.text_limit, refusal(F, failure_marks.guard(number, failure_marks.LENGTH), row())
        )
    return guarded(F, value, number, column, row).alias(column.name)


def numbered(df: Any) -> Any:
    """The rows with a number each, for `identity_value`."""
    return df.select("*", functions(df).monotonically_increasing_id().alias(NUMBER))


def identity_value(F: Any, identity: Sequence, tasks: int) -> Any:  # noqa: N803
    """The value of an identity column in a row that is `numbered`.

    Values of tasks that run in parallel interleave; every number of tasks gives each value once.
    """
    row = F.col(NUMBER)
    task, within = F.shiftright(row, _ROW_BITS), row.bitwiseAND(F.lit((1 << _ROW_BITS) - 1))
    rounds = F.floor(task / tasks).cast("long")
    place = (within + rounds * F.lit(1 << _ROW_BITS)) * F.lit(tasks) + task % F.lit(tasks)
    value = F.try_add(F.lit(identity.first), F.try_multiply(F.lit(identity.step), place))
    return F.coalesce(
        value, F.raise_error(F.lit(f"the values of `{identity.column}` do not fit into a long"))
    )


def _complete(F: Any, rows: Any, columns: list[WriteColumn], rules: RowRules, within: str | None) -> Any:  # noqa: N803
    names: list[Any] = [Taken(c.name, c.name) for c in columns]
    if rules.generated:
        row = _shown_once(F, [c.name for c in columns if c.name not in rules.generated])
        rows = select(
            rows,
            [
                _fitted(F, rules.generated[c.name].column(rows), i, c, row)
                if c.name in rules.generated
                else names[i]
                for i, c in enumerate(columns)
            ],
        )
    refused = [
        (check.holds(rows), failure_marks.broken(n), _named(columns, check.expression))
        for n, check in enumerate(rules.checks)
    ]
    if within is not None:
        holds = F.coalesce(F.expr(within), F.lit(False))
        refused.append((holds, failure_marks.OUTSIDE, _named(columns, within)))
    if not refused:
        return rows
    rows = _as_they_are_read(F, rows, columns)
    # a void column is not written, and a condition with it would not be checked
    at = next((i for i, c in enumerate(columns) if not c.void), 0)
    value = names[at].column(F)
    for holds, mark, named in reversed(refused):
        value = F.when(holds, value).otherwise(refusal(F, mark, shown(F, named)))
    names[at] = value.alias(columns[at].name)
    return select(rows, names)


def _as_they_are_read(F: Any, rows: Any, columns: list[WriteColumn]) -> Any:  # noqa: N803
    """The rows as the table will show them: empty texts of partition columns are null there."""
    if not any(c.partition for c in columns):
        return rows
    kinds = [field.dataType for field in rows.schema]
    return select(
        rows,
        [
            F.nullif(F.col(quoted(c.name)), F.lit("")).alias(c.name)
            if c.partition and isinstance(kind, StringType)
            else Taken(c.name, c.name)
            for c, kind in zip(columns, kinds, strict=True)
        ],
    )


def _named(columns: list[WriteColumn], expression: str) -> list[str]:
    """The columns whose names are in an expression, in the table's order."""
    words = {(a.replace("``", "`") or b).lower() for a, b in _WORD.findall(expression)}
    return [c.name for c in columns if c.name.lower() in words]


def _blame(rows: Any, rules: RowRules, path: str, error: AnalysisException) -> None:
    """Raises the error with the rule that Spark cannot resolve on these rows, if it is one."""
    for rule in rules.all():
        if (reason := _unresolved(rows, rule)) is not None:
            raise rule.refused(None, f"{reason} (a rule of the table `{path}`)") from error


def _unresolved(rows: Any, rule: Rule) -> str | None:
    try:
        _ = rows.select(rule.column(rows)).schema
    except AnalysisException as error:
        return str(error).splitlines()[0]
    return None


def task_count(df: Any) -> int:
    """About as many tasks as will write the rows. No job runs."""
    spark = df.sparkSession
    if is_connect(df):
        return max(1, int(spark.conf.get("spark.sql.shuffle.partitions", "200")))
    known = int(df._jdf.queryExecution().executedPlan().outputPartitioning().numPartitions())
    return known or max(1, int(spark.sparkContext.defaultParallelism))
