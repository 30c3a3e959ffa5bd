"""SHOW PARTITIONS."""

from __future__ import annotations

from typing import Any

from deltaic import _core
from deltaic.exceptions import InvalidArgumentError
from deltaic.spark import frames
from deltaic.spark.bridge.options import split_storage
from deltaic.spark.bridge.sessions import session_of
from deltaic.table import Table

_NULL = "__HIVE_DEFAULT_PARTITION__"


def partitions(asked: dict[str, Any], data: Any) -> Any:
    """The partitions that have rows, as `p=1/q=2` and in order; a Java Dataset.

    Raises:
        InvalidArgumentError: the table is not partitioned, or PARTITION names no partition column.
    """
    _, storage = split_storage(asked["options"])
    table = Table(asked["path"], asked["version"], storage_options=storage)
    columns, wanted = table.partition_columns, _wanted(table, asked.get("spec") or {})
    found = {
        tuple(dict(values).get(column) for column in columns)
        for batch in _batches(table)
        for values in batch.column("partition_values").to_pylist()
    }
    named = [list(zip(columns, values, strict=True)) for values in found]
    shown = sorted(
        _core.partition_folder(values) for values in named if wanted.items() <= dict(values).items()
    )
    return frames.frame(session_of(data), frames.PARTITIONS, [{"partition": text} for text in shown])._jdf


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


def _batches(table: Table) -> Any:
    import pyarrow as pa

    return pa.RecordBatchReader.from_stream(table.files())
