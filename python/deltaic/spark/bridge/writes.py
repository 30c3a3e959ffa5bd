"""Hands what Spark writes to the writer."""

from __future__ import annotations

import json
from typing import Any

from deltaic.exceptions import InvalidArgumentError
from deltaic.spark.read import options as reading
from deltaic.spark.save import save as write
from deltaic.spark.session.jvm import session_of


def insert(asked: dict[str, Any], data: Any) -> None:
    """The rows of a statement, or of a `DataFrame` for a name: columns that it leaves out are null."""
    save(asked, data["query"], whole_partitions=False)


def save(asked: dict[str, Any], data: Any, *, whole_partitions: bool = True) -> None:
    """A write of `data`, a Java Dataset. Modes are Spark's names in lower case.

    Raises:
        InvalidArgumentError: without a path.
    """
    from pyspark.sql.classic.dataframe import DataFrame

    given: dict[str, str] = asked["options"]
    path = next((value for name, value in given.items() if name.lower() == "path"), None)
    if path is None:
        reason = "a write needs one: save(path)"
        raise InvalidArgumentError.of("path", reason)
    columns = given.get("__partition_columns")
    partition_by = json.loads(columns) if columns else None
    spark = session_of({"session": data.sparkSession()})
    rest, storage = reading.split_storage(given)
    rows, whole = DataFrame(data, spark), whole_partitions
    write(spark, rows, path, asked["mode"], partition_by, rest, storage or None, whole_partitions=whole)
