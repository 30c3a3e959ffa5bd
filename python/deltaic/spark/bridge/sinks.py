"""The streaming sink for the JVM: each batch is one commit, which also records that the batch is done."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyspark.sql.types import NullType

from deltaic.columns import GENERATION
from deltaic.exceptions import (
    InvalidArgumentError,
    InvalidSchemaError,
    TableNotFoundError,
    UnsupportedError,
)
from deltaic.spark.read.options import split_storage
from deltaic.spark.save import save
from deltaic.spark.session.hadoop_files import has_file_system, without_file_system
from deltaic.spark.session.jvm import java_method, session_of
from deltaic.spark.session.places import placed
from deltaic.spark.session.settings import Settings
from deltaic.spark.session.types import has
from deltaic.spark.stream.batch import StreamBatch
from deltaic.spark.write.options import WriteOptions
from deltaic.table import Table

if TYPE_CHECKING:
    from pyspark.sql.classic.dataframe import DataFrame

# what Spark itself puts among the options of a query
_SPARKS_OWN = frozenset({"path", "checkpointlocation", "queryname"})
_MODES = {"append": "append", "complete": "overwrite"}


def check(asked: dict[str, Any]) -> None:
    """Checks what can be checked before the query starts.

    Raises:
        UnsupportedError: for an output mode or an option that is not supported, by its name.
        InvalidArgumentError: without a path, and for an option that makes no sense here.
    """
    path, options, _ = _given(asked)
    if asked["mode"] not in _MODES:
        what = f"the output mode `{asked['mode']}`"
        message = f"`{path}`: {what} is not supported: use append or complete, or foreachBatch with a merge"
        error = UnsupportedError(message, path=path, what=what)
        raise error.named(
            "DELTA_UNSUPPORTED_OUTPUT_MODE", dataSource="delta", mode=asked["mode"].capitalize()
        )
    _check_checkpoint(asked["options"].get("checkpointlocation"))
    given = WriteOptions.parse(path, options)
    if given.txn_app_id is not None:
        raise InvalidArgumentError.of("txnAppId", "not for a stream: the query has its own")
    given.check_stream(_MODES[asked["mode"]])


def _check_checkpoint(place: str | None) -> None:
    spark = session_of(None)
    if place is not None and not has_file_system(spark, place):
        reason = without_file_system(spark, place)
        raise InvalidArgumentError.of(
            "checkpointLocation", f"Spark keeps it by Hadoop. {reason}, or keep it locally or on HDFS"
        )


def add_batch(asked: dict[str, Any], data: Any) -> bool:
    """Writes a batch, unless it was committed before; whether it had few rows.

    `data` has Java Datasets: the `rows`, and the `batch` as Spark planned it. A batch that reads the table claims what
    it read.

    Raises:
        InvalidSchemaError: when a column of the batch is void, at any depth, or one that the table generates.
        CommitConflictError: when another writer changed what the batch read: only the query can plan it again.
    """
    from pyspark.sql.classic.dataframe import DataFrame

    path, options, storage = _given(asked)
    options |= {"txnappid": asked["query"], "txnversion": str(asked["batch"])}
    if asked["mode"] == "complete":
        # every batch is the whole result
        options["partitionoverwritemode"] = "static"
    spark = session_of({"session": data["rows"].sparkSession()})
    by = asked["partitioning"] or None
    rows = DataFrame(data["rows"], spark)
    if has(rows.schema, NullType):
        raise _void(path, "a stream has a void column")
    settings = Settings.of(spark)
    batch = StreamBatch(data["batch"], asked["few"])
    try:
        table = Table(path, storage_options=settings.storage(storage))
    except TableNotFoundError:
        pass
    else:
        if any(f.type == "void" and GENERATION in f.metadata for f in table.schema):
            raise _void(path, "the table has a void column that it generates")
        rows = _fitted(rows, table, WriteOptions.parse(path, options).in_session(settings))
        batch.of_table(spark, table.uri)
    save(spark, rows, path, _MODES[asked["mode"]], by, options, storage or None, batch=batch)
    return batch.few


def _void(path: str, what: str) -> InvalidSchemaError:
    reason = f"{what}, which holds only nulls of no type: leave it out, or give it a type"
    error = InvalidSchemaError(f"`{path}`: {reason}", reason=reason)
    return error.named("DELTA_NULL_SCHEMA_IN_STREAMING_WRITE")


def _fitted(rows: DataFrame, table: Table, given: WriteOptions) -> DataFrame:
    """The rows with the types that the table has, where Spark casts to these by itself."""
    from pyspark.sql.classic.dataframe import DataFrame

    if given.overwrite_schema:
        return rows
    widens = given.merge_schema is True and table.properties.get("delta.enableTypeWidening") == "true"
    fitted = java_method(rows.sparkSession, "FittedRows", "ofStream")(rows._jdf, table.schema.json(), widens)
    return DataFrame(fitted, rows.sparkSession)


def _given(asked: dict[str, Any]) -> tuple[str, dict[str, str], dict[str, str]]:
    options, storage = split_storage(asked["options"])
    path = options.get("path")
    if not path:
        reason = "a stream needs one: start(path), or toTable(name)"
        raise InvalidArgumentError.of("path", reason)
    others = {name: value for name, value in options.items() if name not in _SPARKS_OWN}
    return placed(session_of(None), path), others, storage
