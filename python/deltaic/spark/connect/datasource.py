"""The Python Data Source `delta`: reads and appends where there is no JVM to bridge to, as on Spark Connect.

Planning is the core's: each partition of a read is a group of files with all that a worker needs to read them, so that
no worker opens the log. These classes are pickled by reference: deltaic must be importable on the server.
"""

from __future__ import annotations

import json
import uuid
from dataclasses import dataclass, replace
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, ClassVar

import pyspark
from pyspark.sql.datasource import (
    DataSource,
    DataSourceArrowWriter,
    DataSourceReader,
    InputPartition,
    WriterCommitMessage,
)
from pyspark.sql.types import StructType

from deltaic import _core
from deltaic.exceptions import (
    DeltaError,
    InvalidArgumentError,
    SchemaMismatchError,
)
from deltaic.identifiers import local
from deltaic.spark.connect.stream_datasource import DeltaStreamReader, DeltaStreamWriter, query_of
from deltaic.spark.read import change_data_feed
from deltaic.spark.read.options import split_storage, verify_level
from deltaic.spark.read.planning import millis_of, plan_changes, plan_scan
from deltaic.spark.read.split_read import BYTES_PER_PARTITION, read_group
from deltaic.spark.session.settings import OUT_OF_RANGE, Settings, of_store
from deltaic.spark.session.time_zone import TIME_ZONE
from deltaic.spark.stream.change_data_feed import with_changes
from deltaic.spark.write import transaction
from deltaic.spark.write.options import WriteOptions
from deltaic.spark.write.routes.arrow import Task

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa

_QUERY_OPTIONS = frozenset({"checkpointlocation", "queryname"})


def _plainly(method: Any) -> Any:
    """Errors of deltaic without a traceback, which Spark would show as text in an error of its own."""

    @wraps(method)
    def called(*arguments: Any, **keywords: Any) -> Any:
        try:
            return method(*arguments, **keywords)
        except DeltaError as error:
            raise error.with_traceback(None) from None

    return called


class DeltaDataSource(DataSource):  # type: ignore[misc]  # pyspark has no types
    """`spark.read.format("delta")` and `df.write.format("delta")` in the modes `append` and `overwrite`."""

    format_name = "delta"
    settings: ClassVar[dict[str, str]] = {}
    """Of the session, when it registered the class."""

    @classmethod
    def name(cls) -> str:
        """The name of the format."""
        return cls.format_name

    @_plainly
    def schema(self) -> StructType:
        """The schema of the version that is asked for. Spark does not say whether it asks for a stream."""
        given = self._given()
        begins = given.get("startingversion", given.get("startingtimestamp", "latest"))
        if change_data_feed.wanted(given) and begins.lower() == "latest":
            # only a stream may begin so
            now = _core.Table(self._path(), None, None, self._storage()).schema_json()
            return StructType.fromJson(with_changes(json.loads(now)))
        return StructType.fromJson(json.loads(self.scan().schema))

    def reader(self, schema: StructType) -> DeltaReader:
        """Reads the columns of `schema` by name."""
        return DeltaReader(self, schema)

    @_plainly
    def writer(self, schema: StructType, overwrite: bool) -> DeltaWriter:  # noqa: FBT001 (Spark's signature)
        """Appends rows of `schema`, or overwrites with them."""
        path = self._path()
        mode = "overwrite" if overwrite else "append"
        options = WriteOptions.parse(path, dict(self.options)).in_session(Settings.read(self.settings))
        options = replace(options, store=self._storage())
        if options.replacing is not None:
            # it needs to read the table, which the server cannot do here
            reason = "not for this write on Spark Connect: write with deltaic.save(df, path, mode=…)"
            raise InvalidArgumentError.of(options.replacing.option, reason)
        return DeltaWriter(path, schema, mode, options.zoned(self._time_zone(), path, options.store))

    def streamReader(self, schema: StructType) -> DeltaStreamReader:  # noqa: N802 (Spark's name)
        """Follows the table."""
        path, options = self._path(), self._given()
        millis = millis_of(path, options.get("startingtimestamp"), self._time_zone())
        given = (path, options, millis, self._storage())
        return DeltaStreamReader(given, schema, _groups, partial(_rows, schema))

    def streamWriter(self, schema: StructType, overwrite: bool) -> DeltaStreamWriter:  # noqa: FBT001, N802
        """Appends the rows of each batch, or overwrites with them."""
        path, given = self._path(), self._given()
        app_id = given.pop("txnappid", None)
        query = query_of(path, given, app_id)
        rest = {name: value for name, value in given.items() if name not in _QUERY_OPTIONS}
        options = replace(WriteOptions.parse(path, rest), store=self._storage())
        mode = "overwrite" if overwrite else "append"
        options.check_stream(mode)
        return DeltaStreamWriter(path, schema, mode, options, query)

    def _given(self) -> dict[str, str]:
        return {name.lower(): value for name, value in self.options.items()}

    def _time_zone(self) -> str:
        zone: str = self.settings.get(TIME_ZONE, "UTC")
        return zone

    def _storage(self) -> dict[str, str]:
        _, storage = split_storage(self._given())
        return of_store(self.settings) | storage

    def _path(self) -> str:
        path: str | None = self.options.get("path")
        if not path:
            raise InvalidArgumentError(
                "path: missing; give the location of the table to load(…) or save(…): on Spark Connect the catalog "
                "does not say where a table is, and deltaic.save(df, path), deltaic.read(spark, path) and "
                "deltaic.sql(spark, statement) take the place of saveAsTable, writeTo, insertInto, INSERT and "
                "spark.table",
                argument="path",
                reason="missing",
            )
        return local(path)

    def scan(self) -> Any:
        """The plan of a read: schema and files of a version, or of the changes of versions."""
        path = self._path()
        given = self._given()
        if change_data_feed.wanted(given):
            lenient = self.settings.get(OUT_OF_RANGE, "false").lower() == "true"
            zone, storage = self._time_zone(), self._storage()
            return plan_changes(path, given, zone, storage, allow_out_of_range=lenient)
        version = self.options.get("versionasof")
        timestamp = self.options.get("timestampasof")
        zone, storage = self._time_zone(), self._storage()
        return plan_scan(path, version, timestamp, None, zone, storage, verify=verify_level(given))


@dataclass
class DeltaPartition(InputPartition):  # type: ignore[misc]  # pyspark has no types
    """A group of files, and where a stream gives changes the commit (version, time) that inserted all of the rows."""

    files: bytes
    inserted: tuple[int, int] | None = None


class DeltaReader(DataSourceReader):  # type: ignore[misc]  # pyspark has no types
    """Reads a version as Arrow batches.

    It takes no filters: Spark keeps the files that are left by the filters of one query for the next query on
    the same relation (a view, a DataFrame that is used twice), which then would miss rows.
    """

    def __init__(self, source: DeltaDataSource, schema: StructType) -> None:
        self.source = source
        self.schema = schema

    @_plainly
    def partitions(self) -> Sequence[DeltaPartition]:
        """Groups of files of the version, of about the same number of bytes."""
        scan = self.source.scan()
        table = StructType.fromJson(json.loads(scan.schema))
        types = {f.name.lower(): f.dataType for f in table.fields}
        for field in self.schema.fields:
            if types.get(field.name.lower()) != field.dataType:
                reason = (
                    f"the given schema has `{field.simpleString()}`, but not the table {table.simpleString()}"
                )
                raise SchemaMismatchError.of(scan.root, reason)
        return _groups([scan])

    def read(self, partition: DeltaPartition) -> Iterator[pa.RecordBatch]:
        """The rows of a group of files."""
        return _rows(self.schema, partition)


def _rows(schema: StructType, partition: DeltaPartition) -> Iterator[pa.RecordBatch]:
    if partition.files:
        yield from read_group(partition.files, schema, inserted=partition.inserted)


def _groups(parts: Sequence[Any]) -> Sequence[DeltaPartition]:
    """Groups of files of about the same number of bytes. Spark wants one partition at least."""
    groups = [
        DeltaPartition(group, getattr(part, "inserted", None))
        for part in parts
        for group in part.splits(BYTES_PER_PARTITION)
    ]
    return groups or [DeltaPartition(b"")]


@dataclass
class Written(WriterCommitMessage):  # type: ignore[misc]  # pyspark has no types
    """The `add` actions of one task."""

    adds: list[str]


class DeltaWriter(DataSourceArrowWriter):  # type: ignore[misc]  # pyspark has no types
    """Appends or overwrites: each task writes files, and one commit lists those of the tasks that won."""

    def __init__(self, path: str, schema: StructType, mode: str, options: WriteOptions) -> None:
        # Spark makes a writer for the job and pickles it: what it holds must be plain
        options = options.of_mode(mode)
        given = (path, mode, schema.json(), options.partition_by, options, pyspark.__version__)
        plan = transaction.make_plan(*given, options.store, rules_held=False)
        self.plan: bytes = plan.to_bytes()
        self.folder = str(uuid.uuid4())

    @_plainly
    def write(self, iterator: Iterator[pa.RecordBatch]) -> Written:
        """Writes the rows of one task."""
        return Written(Task(self.plan, self.folder).run(iterator))

    @_plainly
    def commit(self, messages: list[Written | None]) -> None:
        """One commit for all tasks."""
        adds = [add for message in messages if message is not None for add in message.adds]
        transaction.commit(_core.WritePlan.from_bytes(self.plan), adds, self.folder)

    def abort(self, messages: list[Written | None]) -> None:
        """Removes what the tasks wrote."""
        del messages  # those of lost attempts are not among them
        _core.WritePlan.from_bytes(self.plan).discard(self.folder, [])
