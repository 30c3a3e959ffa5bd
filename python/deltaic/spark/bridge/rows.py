"""DELETE, UPDATE, MERGE and TRUNCATE as Spark resolved them: conditions and values come as Columns."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from deltaic.exceptions import InvalidArgumentError
from deltaic.identifiers import quoted
from deltaic.spark.dml.delete import delete as delete_rows
from deltaic.spark.dml.merge import merge as merge_rows
from deltaic.spark.dml.update import update as update_rows
from deltaic.spark.read.options import split_storage
from deltaic.spark.session.jvm import session_of
from deltaic.spark.session.table_ref import TableRef
from deltaic.statements.merge_clauses import INSERT, Clause

if TYPE_CHECKING:
    from collections.abc import Mapping

_UNKNOWN = -1
"""The number of rows if it is unknown, as delta-spark reports it."""


def delete(asked: dict[str, Any], data: Any) -> str:
    """DELETE FROM: see `deltaic.spark.dml.delete`."""
    condition = _columns(data)[asked["condition"]]
    if str(condition) == "Column<'true'>":
        condition = None
    return _counts(_number(delete_rows(_ref(asked, data), condition), "numDeletedRows"))


def update(asked: dict[str, Any], data: Any) -> str:
    """UPDATE: see `deltaic.spark.dml.update`."""
    columns = _columns(data)
    condition = None if asked["condition"] is None else columns[asked["condition"]]
    done = update_rows(_ref(asked, data), _assigned(asked["set"], columns), condition)
    return _counts(_number(done, "numUpdatedRows"))


def merge(asked: dict[str, Any], data: Any) -> str:
    """MERGE INTO: see `deltaic.spark.dml.merge`."""
    from pyspark.sql.classic.dataframe import DataFrame

    columns = _columns(data)
    ref = _ref(asked, data)
    clauses = [
        Clause(
            c["when"],
            c["action"],
            None if c["condition"] is None else columns[c["condition"]],
            _assigned(c["set"], columns, inserts=c["action"] == INSERT) if "set" in c else None,
        )
        for c in asked["clauses"]
    ]
    source = DataFrame(data["source"], ref.spark)
    condition = columns[asked["condition"]]
    done = merge_rows(ref, source, condition, clauses, with_schema_evolution=asked["evolves"])
    if done.version is None and not done.metrics:
        # the table has recorded the application transaction: delta-spark answers with no row
        return json.dumps([])
    numbers = [done.rows(what) for what in ("Updated", "Deleted", "Inserted")]
    return _counts(sum(numbers), *numbers)


def truncate(asked: dict[str, Any], _: Any) -> None:
    """TRUNCATE TABLE: a delete of all rows."""
    delete_rows(_ref(asked, None), truncates=True)


def _ref(asked: dict[str, Any], data: Any) -> TableRef:
    _, storage = split_storage(asked["options"])
    return TableRef(session_of(data), asked["path"], asked.get("alias"), storage)


def _columns(data: Any) -> list[Any]:
    from pyspark.sql.classic.column import Column

    columns = data["columns"]
    # a list of the JVM ends an iteration by an exception, which PySpark converts by two dozen requests
    return [Column(columns[i]) for i in range(len(columns))]


def _assigned(
    given: list[dict[str, Any]], columns: list[Any], *, inserts: bool = False
) -> dict[tuple[str, ...], Any]:
    assigned = {tuple(a["column"]): columns[a["value"]] for a in given}
    if len(assigned) < len(given):
        names = [".".join(map(quoted, a["column"])) for a in given]
        error = InvalidArgumentError.of("set", f"a column is set twice: {', '.join(names)}")
        if inserts:
            raise error.named("DELTA_DUPLICATE_COLUMNS_ON_INSERT")
        raise error.named("DELTA_CONFLICT_SET_COLUMN", columnList=f"[{', '.join(names)}]")
    return assigned


def _number(done: Mapping[str, int], name: str) -> int:
    return done.get(name, _UNKNOWN) if done else 0


def _counts(*numbers: int) -> str:
    return json.dumps([numbers])
