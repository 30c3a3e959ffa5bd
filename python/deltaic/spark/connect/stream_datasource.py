"""Streams of the Python Data Source `delta`, for sessions without a JVM to bridge to, as on Spark Connect.

The source has the offsets of the bridge. PySpark 4.2 and later say how much a batch may take; before, a batch takes
everything. The sink commits a batch once: the table records how far the query came.
"""

from __future__ import annotations

import json
import uuid
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyspark
from pyspark.sql import datasource
from pyspark.sql.datasource import DataSourceStreamReader, WriterCommitMessage
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from deltaic.exceptions import InvalidArgumentError, SchemaMismatchError, UnsupportedError
from deltaic.identifiers import local
from deltaic.spark.stream.batch import StreamBatch
from deltaic.spark.stream.change_data_feed import open_stream
from deltaic.spark.write import transaction
from deltaic.spark.write.routes.arrow import Task

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import pyarrow as pa

    from deltaic.spark.write.options import WriteOptions

try:
    from pyspark.sql.streaming import datasource as limits
except ImportError:  # before PySpark 4.2
    limits = None

# before PySpark 4.1 a sink gets its rows one by one
_ArrowWriter = getattr(datasource, "DataSourceStreamArrowWriter", None)
_Writer: Any = _ArrowWriter or datasource.DataSourceStreamWriter
_Mixin: Any = object if limits is None else limits.SupportsTriggerAvailableNow

_ROWS_OF_A_BATCH = 10_000
# Spark gives such a source neither its part of the checkpoint nor, before 4.2, the end of a batch
_NOT_HERE = ("schemaTrackingLocation", "schemaLocation")


class DeltaStreamReader(DataSourceStreamReader, _Mixin):  # type: ignore[misc]  # pyspark has no types
    """Gives the files of a batch to tasks that read them as Arrow."""

    def __init__(
        self,
        given: tuple[str, dict[str, str], int | None, dict[str, str]],
        schema: StructType,
        plan: Callable[[Sequence[Any]], Sequence[Any]],
        read: Callable[[Any], Iterator[pa.RecordBatch]],
    ) -> None:
        path, options, _, _ = given
        for name in _NOT_HERE:
            if name.lower() in options:
                what = f"the option `{name}` of a stream of the Python data source"
                reason = "read the stream on a classic session"
                raise UnsupportedError(f"`{path}`: {what} is not supported: {reason}", path=path, what=what)
        self._given = given
        self._schema = schema
        self._plan = plan
        self._read = read
        self._opened: Any = None

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_opened": None}

    @property
    def _source(self) -> Any:
        if self._opened is None:
            self._opened = open_stream(*self._given)
            there = StructType.fromJson(json.loads(self._opened.schema))
            if [(f.name, f.dataType) for f in there.fields] != [
                (f.name, f.dataType) for f in self._schema.fields
            ]:
                reason = f"a stream has the schema of its table, {there.simpleString()}"
                raise SchemaMismatchError.of(self._given[0], reason)
        return self._opened

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802 (Spark's name)
        """Where a new query begins."""
        return _as_dict(self._source.first())

    def getDefaultReadLimit(self) -> Any:  # noqa: N802 (Spark's name)
        """A limit other than everything. The options of the stream have the numbers."""
        return limits.ReadMaxFiles(1)

    def latestOffset(self, start: dict[str, Any] | None = None, limit: Any = None) -> dict[str, Any]:  # noqa: N802
        """The end offset of the next batch. Without a start, as before PySpark 4.2: the end of the table."""
        if start is None:
            return _as_dict(self._source.head())
        everything = limits is not None and isinstance(limit, limits.ReadAllAvailable)
        latest = self._source.latest(json.dumps(start), everything=everything)
        return _as_dict(latest)

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802 (Spark's name)
        """The query reads the existing rows and stops."""
        self._source.stop_at_what_is_there()

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[Any]:
        """Groups of the files of a batch."""
        parts = self._source.batch(json.dumps(start), json.dumps(end))
        return self._plan(parts)

    def read(self, partition: Any) -> Iterator[pa.RecordBatch]:
        """The rows of a group of files."""
        return self._read(partition)


@dataclass
class StreamWritten(WriterCommitMessage):  # type: ignore[misc]  # pyspark has no types
    """What one task wrote."""

    adds: list[str]
    folder: str
    table: str
    """The columns and the partitioning that it wrote for."""


class DeltaStreamWriter(_Writer):  # type: ignore[misc]  # pyspark has no types
    """Each task writes files; one commit lists them, and records that the batch is done."""

    def __init__(self, path: str, schema: StructType, mode: str, options: WriteOptions, query: str) -> None:
        self._path, self._schema, self._mode = path, schema, mode
        self._options, self._query = options, query

    def _make_plan(self, txn: tuple[str, int] | None) -> Any:
        options = self._options.for_batch(txn)
        given = (self._path, self._mode, self._schema.json(), options.partition_by, options)
        spark = (pyspark.__version__, options.store)
        return transaction.make_plan(*given, *spark, rules_held=False, batch=StreamBatch())

    def write(self, iterator: Iterator[Any]) -> StreamWritten:
        """Writes the rows of one task, for the table as it is now."""
        plan, folder = self._make_plan(None), str(uuid.uuid4())
        batches = iterator if _ArrowWriter else _batches(iterator, self._schema)
        return StreamWritten(Task(plan.to_bytes(), folder).run(batches), folder, _shape(plan))

    def commit(self, messages: list[StreamWritten | None], batchId: int) -> None:  # noqa: N803 (Spark's name)
        """One commit for all tasks, unless the batch was committed before."""
        plan = self._make_plan((self._query, batchId))
        written = [m for m in messages if m is not None]
        if plan.skip:
            self._discard(plan, written)
            return
        if any(m.adds and m.table != _shape(plan) for m in written):
            self._discard(plan, written)
            reason = "its columns or partitioning changed while a batch was written: start the query again"
            raise SchemaMismatchError.of(self._path, reason)
        adds = [add for m in written for add in m.adds]
        transaction.commit(plan, adds, str(uuid.uuid4()))

    def abort(self, messages: list[StreamWritten | None], batchId: int) -> None:  # noqa: N803 (Spark's name)
        """Removes what the tasks wrote."""
        del batchId
        self._discard(self._make_plan(None), [m for m in messages if m is not None])

    @staticmethod
    def _discard(plan: Any, written: list[StreamWritten]) -> None:
        for message in written:
            plan.discard(message.folder, message.adds)


def query_of(path: str, options: dict[str, str], given: str | None) -> str:
    """The id by which a table knows a query: the same after a restart.

    Raises:
        InvalidArgumentError: when nothing identifies the query.
    """
    if given is not None:
        return given
    checkpoint = options.get("checkpointlocation")
    if not checkpoint:
        reason = f"a stream into `{path}` needs .option('checkpointLocation', …) or .option('txnAppId', …)"
        raise InvalidArgumentError.of("checkpointLocation", reason)
    try:
        # the id that the query has on a classic session, too
        text = Path(local(checkpoint), "metadata").read_text(encoding="utf-8")
        return str(json.loads(text)["id"])
    except (OSError, ValueError, KeyError):
        return f"checkpoint {checkpoint}"


def _as_dict(offset: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(offset)
    return found


def _shape(plan: Any) -> str:
    return json.dumps([plan.columns, plan.partition_columns])


def _batches(rows: Iterator[Any], schema: StructType) -> Iterator[pa.RecordBatch]:
    from pyspark.sql.conversion import LocalDataToArrowConversion

    wanted = to_arrow_schema(schema)
    while some := list(islice(rows, _ROWS_OF_A_BATCH)):
        table = LocalDataToArrowConversion.convert(some, schema, use_large_var_types=False)
        yield from table.cast(wanted).to_batches()
