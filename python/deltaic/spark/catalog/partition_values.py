"""SHOW PARTITIONS, on sessions of both kinds."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
from pyspark.sql.types import StructType

from deltaic.exceptions import InvalidArgumentError
from deltaic.identifiers import quoted
from deltaic.spark.session.kind import functions
from deltaic.statements.describe import NULL


def partition_values(spark: Any, table: Any, spec: dict[str, str]) -> Any:
    """The values of the partition columns that files have, in order, in columns of their types.

    `table` is a `SparkTable` of the core, and `spec` has the values of columns that are asked for, as text.

    Raises:
        InvalidArgumentError: the table is not partitioned, or PARTITION names no partition column.
    """
    F = functions(spark)  # noqa: N806 (its usual name)
    facts = json.loads(table.describe())
    columns, wanted = facts["partitionColumns"], _wanted(facts, spec)
    values = pa.table(pa.RecordBatchReader.from_stream(table.partitions()))
    fields = {f.name: f for f in StructType.fromJson(facts["schema"]).fields}
    # texts that differ may be one value, such as `1` and `01`
    found = spark.createDataFrame(values, StructType([fields[c] for c in columns])).distinct()
    for column, value in wanted.items():
        given = F.col(quoted(column))
        found = found.where(given.isNull() if value is None else given.eqNullSafe(F.lit(value)))
    return found.orderBy(*(F.col(quoted(c)) for c in columns))


def _wanted(facts: dict[str, Any], spec: dict[str, str]) -> dict[str, str | None]:
    columns = {column.lower(): column for column in facts["partitionColumns"]}
    if not columns:
        reason = f"SHOW PARTITIONS: the table `{facts['uri']}` is not partitioned"
        error = InvalidArgumentError.of("statement", reason)
        raise error.named("DELTA_SHOW_PARTITION_IN_NON_PARTITIONED_TABLE", tableName=facts["uri"])
    for name in spec:
        if name.lower() not in columns:
            reason = f"SHOW PARTITIONS: `{name}` is none of the partition columns {facts['partitionColumns']}"
            error = InvalidArgumentError.of("statement", reason)
            raise error.named("DELTA_SHOW_PARTITION_IN_NON_PARTITIONED_COLUMN", badCols=f"[{name}]")
    return {columns[name.lower()]: None if value == NULL else value for name, value in spec.items()}
