"""What the query of a command reads of the table that the command changes: it is the read set of its transaction."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from deltaic.spark.read import opened
from deltaic.spark.session.jvm import java_method
from deltaic.spark.session.kind import is_connect

if TYPE_CHECKING:
    from collections.abc import Mapping


Scan = tuple[str, str | None]
"""The identity of a relation, and the predicate by which it is read; none is every row."""


def bind(df: Any, plan: Any, storage_options: Mapping[str, str] | None) -> Any:
    """The frame, whose scans of a table, made before or within subqueries, read the version that a plan works on.

    `plan` is a `WritePlan` or `Dml` of the core. Scans of a version that was asked for stay as they are. On Spark
    Connect the server plans: a frame stays as it is.

    Raises:
        SchemaChangedError: when the frame was made with columns that the version no longer has.
    """
    if is_connect(df):
        return df
    spark = df.sparkSession
    if not java_method(spark, "CommandReads", "reads")(df._jdf, plan.uri):
        return df
    from pyspark.sql.classic.dataframe import DataFrame

    table = plan.table()
    if table is None:
        # it is gone
        return df
    opened.keep(table)
    options = json.dumps(dict(storage_options or {}))
    return DataFrame(java_method(spark, "CommandReads", "bind")(df._jdf, table.describe(), options), spark)


def at_instant(df: Any, micros: int) -> Any:
    """The frame, in which `now()` and the like are this instant; on Spark Connect it stays as it is."""
    if is_connect(df):
        return df
    from pyspark.sql.classic.dataframe import DataFrame

    spark = df.sparkSession
    return DataFrame(java_method(spark, "OneInstant", "of")(df._jdf, micros), spark)


def scans_of(df: Any) -> list[Scan]:
    """The scans that a command claims, as values of the optimized plan; nothing runs."""
    if is_connect(df):
        return []
    found = json.loads(java_method(df.sparkSession, "CommandReads", "of")(df._jdf))
    return [(scan["identity"], scan["predicate"]) for scan in found]
