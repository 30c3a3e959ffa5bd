"""Columns of DataFrames in a merge of a table with what was made of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from deltaic.spark.dml.clauses import MATCHED
from deltaic.spark.frame import is_connect, quoted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from deltaic.spark.dml.clauses import Clause
    from deltaic.spark.dml.ref import TableRef


def check_columns(ref: TableRef, source: Any, condition: Any, clauses: Sequence[Clause]) -> None:
    """Checks that no Column is one of both sides: of a DataFrame of the table, and of the source that was made of it.

    Spark would take it for the source's. `target["id"] == source["id"]` was true for each row.

    Raises:
        AnalysisException: of Spark, for such a Column in the condition or in a clause for matches.
    """
    columns = [c for c in (condition, *_given(clauses)) if c is not None and not isinstance(c, str)]
    if is_connect(ref.spark) or not columns or not ref.frames:
        return
    both = _ids(_output(source)) & {i for frame in ref.frames for i in _ids(_output(frame))}
    if not both:
        return
    utils = ref.spark._jvm.org.apache.spark.sql.classic.ExpressionUtils
    for column in columns:
        for attribute in _each(utils.expression(column._jc).references().toSeq()):
            if attribute.resolved() and attribute.exprId().id() in both:
                # Spark itself says what is ambiguous
                one = ref.spark.range(1).toDF(attribute.name())
                other = ref.spark.range(1).toDF(attribute.name())
                one.alias("target").crossJoin(other.alias("source")).select(quoted(attribute.name()))


def _given(clauses: Sequence[Clause]) -> Iterator[Any]:
    for clause in clauses:
        if clause.when == MATCHED:
            yield clause.condition
            yield from (clause.values or {}).values()


def _output(df: Any) -> Any:
    return df._jdf.queryExecution().analyzed().output()


def _ids(attributes: Any) -> set[int]:
    return {attribute.exprId().id() for attribute in _each(attributes)}


def _each(sequence: Any) -> Iterator[Any]:
    return (sequence.apply(i) for i in range(sequence.size()))
