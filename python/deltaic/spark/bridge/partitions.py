"""SHOW PARTITIONS."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812 (its usual name)
from pyspark.sql.types import StructType

from deltaic import _core
from deltaic.exceptions import InvalidArgumentError
from deltaic.spark.bridge.options import split_storage
from deltaic.spark.bridge.sessions import session_of
from deltaic.spark.frame import quoted
from deltaic.table import Table

_NULL = "__HIVE_DEFAULT_PARTITION__"


def partitions(asked: dict[str, Any], data: Any) -> Any:
    """The values of the partition columns that files have, in order, in columns of their types; a Java Dataset.

    Raises:
        InvalidArgumentError: the table is not partitioned, or PARTITION names no partition column.
    """
    _, storage = split_storage(asked["options"])
    table = Table(asked["path"], asked["version"], storage_options=storage)
    columns, wanted = table.partition_columns, _wanted(table, asked.get("spec") or {})
    plan = _core.ScanPlan(asked["path"], asked["version"], None, None, storage)
    files = pa.table(pa.RecordBatchReader.from_stream(plan.files()))
    values = files.select([f"p{i}" for i in range(len(columns))]).rename_columns(columns)
    fields = {f.name: f for f in StructType.fromJson(json.loads(plan.schema)).fields}
    found = session_of(data).createDataFrame(values, StructType([fields[c] for c in columns])).distinct()
    for column, value in wanted.items():
        given = F.col(quoted(column))
        found = found.where(given.isNull() if value is None else given.eqNullSafe(F.lit(value)))
    return found.orderBy(*(F.col(quoted(c)) for c in columns))._jdf


def _wanted(table: Table, spec: dict[str, str]) -> dict[str, str | None]:
    columns = {column.lower(): column for column in table.partition_columns}
    if not columns:
        raise InvalidArgumentError.of(
            "statement", f"SHOW PARTITIONS: the table `{table.uri}` is not partitioned"
        )
    for name in spec:
        if name.lower() not in columns:
            reason = f"SHOW PARTITIONS: `{name}` is none of the partition columns {table.partition_columns}"
            raise InvalidArgumentError.of("statement", reason)
    return {columns[name.lower()]: None if value == _NULL else value for name, value in spec.items()}
