"""What is known of a condition before any row is read."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.errors import AnalysisException

from deltaic.exceptions import DeltaError, InvalidPredicateError
from deltaic.predicates import columns_of, from_sql
from deltaic.predicates import has_subquery as may_have_subquery
from deltaic.spark.dml.operation import shown
from deltaic.spark.session.jvm import java_class, java_method

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deltaic.spark.dml.operation import Operation

_NUMBER = "__deltaic_partition"
_SUBQUERIES = "org.apache.spark.sql.catalyst.expressions.SubqueryExpression"
_NONDETERMINISTIC = "INVALID_NON_DETERMINISTIC_EXPRESSIONS"


def check_deterministic(op: Operation, condition: Any, values: Sequence[Any] = ()) -> None:
    """Checks that a condition and values give the same each time.

    Raises:
        InvalidPredicateError: when they need not.
        AnalysisException: of Spark, for what is none on this table.
    """
    if op.connect:
        given = [op.column(condition), *(op.column(v).isNull() for v in values)]
        deterministic = all(_deterministic_on_connect(op, c) for c in given)
    else:
        deterministic = bool(_analyzed(op, condition).deterministic())
        if values:
            projected = op.rows().select(*map(op.column, values))
            deterministic &= bool(projected._jdf.queryExecution().analyzed().deterministic())
    if not deterministic:
        reason = "it is not deterministic, or a value is not: the rows are evaluated more than once"
        raise InvalidPredicateError(
            f"predicate `{shown(condition)}`: {reason}", predicate=shown(condition), reason=reason
        ).named(_NONDETERMINISTIC)


def _analyzed(op: Operation, condition: Any) -> Any:
    """The condition in a classic session, resolved on the rows of the table: a Catalyst expression."""
    return op.matching_rows(condition)._jdf.queryExecution().analyzed().condition()


def plain(op: Operation, condition: Any) -> str | None:
    """SQL of a condition that the core and Spark take for the same, so that the core may look for its rows."""
    if op.connect:
        return None
    sql = java_method(op.spark, "PlainConditions", "sql")(_analyzed(op, condition), op.schema.json())
    return None if sql is None else str(sql)


def has_subquery(op: Operation, condition: Any) -> bool:
    """Whether the condition has a subquery, by its words on Spark Connect.

    Raises:
        AnalysisException: of Spark, for what is no condition on this table.
    """
    if op.connect:
        return isinstance(condition, str) and may_have_subquery(condition)
    subqueries = java_class(op.spark.sparkContext._gateway, _SUBQUERIES)
    return bool(subqueries.hasSubquery(_analyzed(op, condition)))


def _may_be_of_partitions(op: Operation, condition: Any) -> bool:
    """Whether the condition may name partition columns only, and has no subquery."""
    partitions = {name.lower() for name in op.dml.partition_columns}
    if op.connect:
        if not isinstance(condition, str):
            return True
        named = None if may_have_subquery(condition) else columns_of(condition)
        return named is not None and all(any(p.lower() in partitions for p in path) for path in named)
    if has_subquery(op, condition):
        return False
    names = _analyzed(op, condition).references().toSeq()
    return all(names.apply(i).name().lower() in partitions for i in range(names.size()))


def _deterministic_on_connect(op: Operation, condition: Any) -> bool:
    """Spark refuses a join on what is not deterministic; nothing runs."""
    empty = op.spark.createDataFrame([], op.schema)
    if op.ref.alias is not None:
        empty = empty.alias(op.ref.alias)
    try:
        _ = empty.join(op.spark.range(0).toDF(_NUMBER), condition).schema
    except AnalysisException as error:
        return _NONDETERMINISTIC not in str(error)
    return True


def take_partitions(op: Operation, condition: Any) -> bool:
    """Selects whole files if partition values alone decide the condition: no data is read. Returns whether they do."""
    if not _may_be_of_partitions(op, condition):
        return False
    if op.has_instants_by_zone():
        return False
    partitions = pa.table(pa.RecordBatchReader.from_stream(op.dml.partitions(_NUMBER)))
    try:
        df = op.spark.createDataFrame(partitions)
        if op.ref.alias is not None:
            df = df.alias(op.ref.alias)
        df = df.where(op.column(condition)).select(_NUMBER)
        _ = df.schema
    except AnalysisException:
        return False  # it names another column
    numbers = [row[0] for row in df.collect()]
    if not op.connect and numbers:
        op.bound(op.matching_rows(condition))
        op.dml.set_predicate(op.asked())
    op.dml.take_partitions(numbers)
    return True


def prune(op: Operation, condition: Any) -> None:
    """On Spark Connect, hands the condition to the core; a classic session does so when it reads."""
    if op.connect:
        op.dml.set_predicate(_predicate(op, condition))


def _predicate(op: Operation, condition: Any) -> str | None:
    if not isinstance(condition, str) or may_have_subquery(condition):
        return None
    try:
        tree = json.loads(from_sql(condition))
    except DeltaError:
        return None  # Spark judges it
    return json.dumps(_known(tree, op))


def _known(tree: Any, op: Operation) -> Any:
    """The predicate with columns as the table has them; what is not known of them is unknown."""
    (kind, body), *_ = tree.items()
    if kind in {"and", "or"}:
        return {kind: [_known(part, op) for part in body]}
    if kind == "not":
        return {kind: _known(body, op)}
    if not isinstance(body, dict):
        return tree
    path: list[str] = body["column"]
    names = {f.name.lower() for f in op.schema.fields}
    alias = op.ref.alias
    if (
        alias is not None
        and len(path) > 1
        and path[0].lower() == alias.lower()
        and alias.lower() not in names
    ):
        path = path[1:]
    values = [body.get("value"), *body.get("values", ())]
    instants = any(v is not None and v["type"] in {"timestamp", "string"} for v in values)
    dated = not isinstance(_type_of(op, path), str)
    if path[0].lower() not in names or (instants and dated and not op.is_in_utc()):
        return {"unknown": "a column or an instant"}
    return {kind: {**body, "column": path}}


def _type_of(op: Operation, path: list[str]) -> Any:
    """`"string"` where the column is one, else its type."""
    found = next((f.dataType for f in op.schema.fields if f.name.lower() == path[0].lower()), None)
    return "string" if found is not None and found.simpleString() == "string" else found
