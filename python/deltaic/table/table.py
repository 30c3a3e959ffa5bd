"""A Delta table, without an engine."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, overload
from typing import Protocol as Interface

from deltaic import _core, time_travel, times
from deltaic.allowed_locations import with_allowed
from deltaic.credentials import with_credentials
from deltaic.schema import Schema
from deltaic.table.alter import Alterations
from deltaic.table.dml import RowChanges
from deltaic.table.maintain import Maintenance
from deltaic.table.merge import MergesRows
from deltaic.table.results import Checkpoint, CleanedLog, CompactedLog, FileTotals, Metadata, Protocol
from deltaic.table.shown import ConflictReport, Explanation, History, Report, table_html
from deltaic.table.uri import place
from deltaic.table.verify import LEVELS, VerifyLevel

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import date, datetime

    from deltaic.credentials import Credentials
    from deltaic.plot.plots import Plots


class ArrowStream(Interface):
    """Batches that Arrow peers take as they are: `pyarrow.table(x)`, `polars.DataFrame(x)`, `duckdb.from_arrow(x)` ….

    Nothing is read before a peer asks for batches; each export is a new scan.
    """

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """A capsule of the Arrow C stream interface."""

    def __arrow_c_schema__(self) -> object:
        """A capsule of the schema of every batch."""


class Table(RowChanges, MergesRows, Alterations, Maintenance):
    """One version of a Delta table.

    Opening reads the protocol and the metadata and no file actions. A table is a picture of one version: it changes
    only by `update()`. It may be shared by threads, and opened in a forked process.

    Args:
        uri: A path, or a URL such as `s3://bucket/table`. With `@v5` or `@20260101000000000` after it, it is that
            version, or the version at that time.
        version: Version to open, instead of the newest one.
        timestamp: Time whose version is opened: the newest commit at or before it. Text as Spark writes it, a
            datetime, or a date (its midnight). Without a time zone, all of them are UTC.
        storage_options: Credentials, region, endpoint … of the store, by the keys of the Rust crate `object_store` or
            the names of Hadoop's settings (`fs.s3a.access.key`); docs/storage.md has them.
        credentials: A function without arguments that gives the credentials of the store: a mapping of options, such as
            `aws_access_key_id`, `aws_secret_access_key` and `aws_session_token`, and `expires_at`, a datetime or
            seconds since the Unix epoch. It is called when there are none, and again before they expire, once at a
            time. Tables that get the same function share what it gives.
        allowed_locations: Where the log may name files that are read. `"any"`, the default: anywhere, as the protocol
            allows. `"table-only"`: below the table, for a table of an untrusted writer. Or locations beside the table:
            absolute paths and URLs, as a list or with commas between them. Except with `"any"`, no link of a local
            file system below them is followed. What is written or deleted is always below the table.
        verify: What the log is compared with before it is trusted. `"fast"` (or False): what the result is made of is
            intact. `"checked"`: nothing that is read anyway contradicts it, such as the checksum of the version or a
            transaction that is in the log twice. `"full"` (or True): nothing in the whole log, and none of the files
            of the version, contradicts it, as `deltaic.verify` finds out first, and again when `update()` finds a
            newer version. That costs the reading of the whole log and a look after each data file; the others cost
            nothing to speak of.

    Raises:
        TableNotFoundError: there is no Delta log at the location.
        VersionNotFoundError: the version is not in the log; the error has the range that is.
        TimestampOutOfRangeError: the time is before the first or after the last commit.
        InvalidTimeTravelError: a version or time that makes no sense, or two at once.
        UnsupportedFeatureError: reading the table needs a table feature that deltaic does not have.
        LogGapError, LogCorruptError, MissingActionError: the log is broken; the error names the file and the version.
        InvalidArgumentError: `verify` is no level, or what is in `allowed_locations` is no location.
        OutsideTableError: the log names a file that `allowed_locations` does not allow. Reading raises it, too.
        CredentialsError: `credentials` raised, or gave none of the store. Everything that asks the store raises it.
    """

    __slots__ = ()

    def __init__(
        self,
        uri: str | os.PathLike[str],
        version: int | None = None,
        timestamp: str | datetime | date | None = None,
        storage_options: Mapping[str, str] | None = None,
        *,
        allowed_locations: str | Iterable[str | os.PathLike[str]] | None = None,
        credentials: Credentials | None = None,
        verify: VerifyLevel | bool = "checked",
    ) -> None:
        path = place(uri)
        options = with_credentials(with_allowed(storage_options, allowed_locations), credentials)
        time_travel.check_version(path, version)
        at = time_travel.millis(path, timestamp)
        level = verify if isinstance(verify, str) else LEVELS[verify]
        self._core = _core.Table(path, version, at, options, level)

    @property
    def version(self) -> int:
        """The version."""
        return self._core.version

    @property
    def timestamp(self) -> datetime:
        """When the version was committed: its in-commit timestamp, or the (monotonic) time of its log file."""
        return times.from_millis(self._core.timestamp())

    @property
    def uri(self) -> str:
        """The location: an absolute path, or a URL."""
        return self._core.uri

    @property
    def protocol(self) -> Protocol:
        """What a client must be able to do."""
        found = json.loads(self._core.protocol())
        return Protocol(
            found["minReaderVersion"],
            found["minWriterVersion"],
            tuple(found.get("readerFeatures") or ()),
            tuple(found.get("writerFeatures") or ()),
        )

    @property
    def metadata(self) -> Metadata:
        """Identity, partitioning and properties."""
        found = json.loads(self._core.metadata())
        created = found.get("createdTime")
        return Metadata(
            found["id"],
            found.get("name"),
            found.get("description"),
            tuple(found["partitionColumns"]),
            found["configuration"],
            None if created is None else times.from_millis(created),
        )

    @property
    def properties(self) -> dict[str, str]:
        """Table properties."""
        return self.metadata.configuration

    @property
    def partition_columns(self) -> list[str]:
        """Partition columns in order."""
        return self._core.partition_columns

    @property
    def schema(self) -> Schema:
        """The columns, as an Arrow schema and as the protocol writes them."""
        return Schema(self._core.schema_json(), self._core.schema_capsule)

    @property
    def report(self) -> dict[str, Any]:
        """What was listed, read and skipped, with bytes and milliseconds."""
        return Report(json.loads(self._core.report()))

    @property
    def plot(self) -> Plots:
        """Pictures of this version, such as `table.plot.sizes()`; they need `pip install 'deltaic[plot]'`."""
        from deltaic.plot.plots import Plots  # most programs draw nothing

        return Plots(self)

    def files(self, where: str | None = None, *, stats: bool = False) -> ArrowStream:
        """The data files of this version, without those in which no row can match `where`.

        The columns are `path` (as written in the log), `size`, `modification_time`, `partition_values` (a map of
        text), `deletion_vector`, and with `stats` also `num_records` and `stats` (JSON).

        Args:
            where: A condition in SQL. A part that statistics cannot decide keeps the file.
            stats: Whether to read the statistics, which are most of a log.

        Raises:
            InvalidPredicateError: `where` is not a condition, or names an unknown column.
        """
        return self._core.files(_predicate(where), stats)

    def totals(self, where: str | None = None) -> FileTotals:
        """Numbers of the files that `files(where)` lists, without listing them one by one."""
        totals = self._core.files_totals(_predicate(where))
        return FileTotals(**json.loads(totals))

    def explain(self, where: str, *, limit: int | None = None, kept: bool | None = None) -> dict[str, Any]:
        """Explains for each data file why a scan with `where` opens or skips it. No data file is read.

        The verdicts are those of `files(where)` and of every scan. The dictionary has:

        - `kept` and `dropped`: `files` and `bytes`;
        - `parts`: for each `part` of `where` that drops files, how many (`files`, `bytes`), and `by` what: `partition
          values`, `statistics`, typed values of a `checkpoint`, or, as a `constant`, whatever the file is;
        - `undecided`: the tests of `where` that neither partition values nor statistics decide;
        - `files`: for each file its `path`, `size`, and whether it is `kept`; then `why` (`may match`, or `no
          statistics` of the columns), else the `causes`: parts of `where` that are true for none of its rows, with
          `by` and `columns`. With it the statistics of the columns of `where`: `num_records`, and in `columns` the
          `partition_value`, or `min`, `max` and `null_count` where they are known, numbers with a point as `Decimal`.

        Args:
            where: A condition in SQL.
            limit: Report at most so many files; the totals are of all.
            kept: Report only files that are kept, or only those that are dropped.

        Raises:
            InvalidPredicateError: as for `files`.
        """
        found = self._core.explain(_predicate(where), limit, kept)
        from decimal import Decimal

        return Explanation(json.loads(found, parse_float=Decimal))

    def to_arrow(
        self, columns: Sequence[str] | None = None, where: str | None = None, *, row_ids: bool = False
    ) -> ArrowStream:
        """The rows, read file by file: memory is bounded by the batches in flight.

        Args:
            columns: Columns to read, in this order, instead of all.
            where: A condition in Spark SQL, with functions and arithmetic; exactly the rows for which it is true are
                given.
            row_ids: Whether each row also has its id and the version that it was last changed in, in two more
                columns, `_row_id` and `_row_commit_version`. A row keeps its id when it is updated or moves.

        Raises:
            InvalidPredicateError, InvalidExpressionError: `where` is not a condition, names an unknown column, or
                cannot be evaluated here; or, from the rows, it cannot be computed for one of them.
            InvalidArgumentError: there is no such column; or row ids of a version without `delta.enableRowTracking`.
        """
        return self._core.rows(None if columns is None else list(columns), _predicate(where), where, row_ids)

    def changes(
        self,
        start: int | None = None,
        end: int | None = None,
        *,
        start_timestamp: str | datetime | date | None = None,
        end_timestamp: str | datetime | date | None = None,
        columns: Sequence[str] | None = None,
        where: str | None = None,
        allow_out_of_range: bool = False,
    ) -> ArrowStream:
        """The rows that the versions `start` to `end` changed, both included: the change data feed.

        The columns are those of the table, then `_change_type` (`insert`, `delete`, `update_preimage` or
        `update_postimage`), `_commit_version` and `_commit_timestamp`. Rows come version by version, read file by file.
        The versions end with that of this object. In a table with column mapping the schema is that of the last version
        of the range, else that of this object.

        Args:
            start: First version.
            end: Last version, instead of that of this object. One that does not exist yet is that of this object.
            start_timestamp: Instead of `start`: begins with the first version committed at or after this time, which is
                given as for `Table`.
            end_timestamp: Instead of `end`: ends with the last version committed at or before this time.
            columns: Columns to read, in this order, instead of all.
            where: A condition in Spark SQL on any of the columns; exactly the rows for which it is true are given.
            allow_out_of_range: A start after the last commit gives no rows, and an end after it is the last commit,
                instead of an error.

        Raises:
            ChangesNotRecordedError: `delta.enableChangeDataFeed` was off in a version of the range.
            ChangesSchemaMismatchError: a column was renamed, dropped or got another type within the range.
            VersionNotFoundError, TimestampOutOfRangeError: the range begins after the last commit, or the log no longer
                has its versions.
            InvalidTimeTravelError: the range ends before it begins.
            InvalidArgumentError: there is no start, or two; or no such column.
            InvalidPredicateError, InvalidExpressionError: as for `to_arrow`.
            LogGapError: a commit of the range is missing.
        """
        plan = self._changes(
            start, end, start_timestamp, end_timestamp, allow_out_of_range=allow_out_of_range
        )
        return plan.rows(None if columns is None else list(columns), _predicate(where), where)

    def changed_files(
        self,
        start: int | None = None,
        end: int | None = None,
        *,
        start_timestamp: str | datetime | date | None = None,
        end_timestamp: str | datetime | date | None = None,
        allow_out_of_range: bool = False,
    ) -> list[dict[str, Any]]:
        """What `changes` would read, version by version, in numbers; no data file is read.

        Each entry has `version`, `timestamp`, `bytes`, and the number of files whose rows are `inserts`, `deletes`, or
        have a change type each (`cdc`). Arguments and errors are those of `changes`.
        """
        plan = self._changes(
            start, end, start_timestamp, end_timestamp, allow_out_of_range=allow_out_of_range
        )
        found: list[dict[str, Any]] = json.loads(plan.commits())
        for commit in found:
            commit["timestamp"] = times.from_millis(commit["timestamp"])
        return found

    def _changes(
        self,
        start: int | None,
        end: int | None,
        start_timestamp: str | datetime | date | None,
        end_timestamp: str | datetime | date | None,
        *,
        allow_out_of_range: bool,
    ) -> _core.Changes:
        for version in (start, end):
            time_travel.check_version(self.uri, version)
        begin, until = (time_travel.millis(self.uri, when) for when in (start_timestamp, end_timestamp))
        return self._core.changes(start, begin, end, until, allow_out_of_range=allow_out_of_range)

    def history(self, limit: int | None = None) -> list[dict[str, Any]]:
        """The commits, newest first, in the columns of `DESCRIBE HISTORY`; what a commit does not record is None.

        `route` is beside them: who read and wrote the files of a DELETE, UPDATE, MERGE, OPTIMIZE or VACUUM on Spark.
        It is `driver` (the process that committed), `tasks` (deltaic in Spark's tasks), `spark` (Spark's own reader
        and writer), or two of them in the order of their work, such as `spark, driver`.

        Args:
            limit: At most so many; each one costs a read of its commit.
        """
        return History(_commit(entry) for entry in json.loads(self._core.history(limit)))

    def detail(self) -> dict[str, Any]:
        """This version in one dictionary, with the columns of `DESCRIBE DETAIL`: size, features, clustering columns.

        The features are all that the protocol has, those that its versions imply included.
        """
        metadata, protocol, totals = self.metadata, self.protocol, self.totals()
        return {
            "format": "delta",
            "id": metadata.id,
            "name": metadata.name,
            "description": metadata.description,
            "location": self.uri,
            "createdAt": metadata.created_time,
            "lastModified": self.timestamp,
            "partitionColumns": list(metadata.partition_columns),
            "clusteringColumns": self._core.shown_clustering_columns(),
            "numFiles": totals.files,
            "sizeInBytes": totals.bytes,
            "properties": metadata.configuration,
            "minReaderVersion": protocol.min_reader_version,
            "minWriterVersion": protocol.min_writer_version,
            "tableFeatures": self._core.features(),
        }

    def file_list(self, where: str | None = None, *, stats: bool = False) -> Iterator[dict[str, Any]]:
        """The files of `files()` one by one as dictionaries, for programs without an Arrow library."""
        for batch in self._core.files_json(_predicate(where), stats):
            yield from json.loads(batch)

    def commit(self, version: int) -> dict[str, Any]:
        """What the commit of a version did: its `commitInfo`, its actions counted and summed, the rare ones whole.

        Raises:
            NotFoundError: the log does not hold this commit any more.
        """
        found: dict[str, Any] = json.loads(self._core.commit(version))
        return found

    def checkpoint(self) -> Checkpoint:
        """Writes a checkpoint of this version, by the table's properties V1 (classic) or V2 (with sidecars).

        An existing one is left alone. A crash on the way leaves the table as readable as it was.

        Raises:
            UnsupportedFeatureError: the table has writer features that deltaic does not know.
            LogCorruptError: the log is broken, or its checksum counts other files.
        """
        return Checkpoint(**json.loads(self._core.checkpoint()))

    def compact_log(self, start: int, end: int | None = None) -> CompactedLog:
        """Writes one file that readers take instead of the commits `start` to `end`. The commits stay.

        Args:
            start: First commit.
            end: Last commit, instead of that of this version.

        Raises:
            InvalidArgumentError: these are fewer than two commits.
            LogGapError: a commit is missing.
        """
        return CompactedLog(**json.loads(self._core.compact_log(start, self.version if end is None else end)))

    def clean_log(self, *, dry_run: bool = False) -> CleanedLog:
        """Deletes log files older than `delta.logRetentionDuration` that no younger version needs.

        Every version that was the newest one at the beginning of the retention, or later, stays.

        Args:
            dry_run: Delete nothing, and return what would be deleted.
        """
        return CleanedLog(**self._core.clean_log(dry_run))

    def reset_application(self, app_id: str) -> int | None:
        """Makes the table forget how far an application came, so that its next writes count again.

        It is for a streaming query that starts again with the checkpoint of an old one removed, and for writes with
        `txnAppId`. One commit, which changes no rows.

        Args:
            app_id: The id of the query, or the `txnAppId`.

        Returns:
            The version of the commit, none where the table knows nothing of the application.

        Raises:
            ConcurrentTransactionError: the application writes meanwhile.
            CommitStateUnknownError: the store did not say whether the commit landed.
        """
        return _core.reset_application(self._core, app_id)

    def explain_conflict(self, transaction: str | Mapping[str, Any]) -> dict[str, Any]:
        """Explains why a transaction lost, or would: each rule, for each commit after its version.

        The rules are asked by the same code as at the commit, and nothing is written. `docs/conflicts.md` has them all.

        Args:
            transaction: `transaction` of a `CommitConflictError`, or a description of the same form.

        Raises:
            InvalidArgumentError: this is no transaction.
            VersionNotFoundError, NotFoundError: the log no longer has the version, or a commit after it.
        """
        text = transaction if isinstance(transaction, str) else json.dumps(transaction)
        found = ConflictReport(json.loads(self._core.explain_conflict(text)))
        for winner in found["winners"]:
            at = winner["timestamp"]
            winner["timestamp"] = None if at is None else times.from_millis(at)
        return found

    def update(self) -> Table:
        """Moves to the newest version by reading the new commits only, and returns the table."""
        self._advance()
        return self

    def __repr__(self) -> str:
        return f"<deltaic.Table {self.uri} version {self.version}>"

    def _repr_html_(self) -> str:
        columns = (
            (
                field.name,
                field.type if isinstance(field.type, str) else field.type["type"],
                field.nullable,
                field.metadata.get("comment"),
            )
            for field in self.schema
        )
        return table_html(f"Delta table, version {self.version}", self.detail(), columns)

    def __reduce__(self) -> tuple[Any, ...]:
        options = _core.options_to_send(self.uri, self._core.storage_options)
        return _reopen, (self.uri, self.version, options, self._core.verify_level)


def _reopen(uri: str, version: int, storage_options: dict[str, str], verify: VerifyLevel) -> Table:
    return Table(uri, version=version, storage_options=storage_options, verify=verify)


_HISTORY = (
    "version",
    "timestamp",
    "userId",
    "userName",
    "operation",
    "operationParameters",
    "job",
    "notebook",
    "clusterId",
    "readVersion",
    "isolationLevel",
    "isBlindAppend",
    "operationMetrics",
    "userMetadata",
    "engineInfo",
)
_ROUTE = "deltaic.route"
"""The tag of a commit."""


def _commit(entry: dict[str, Any]) -> dict[str, Any]:
    info = entry["info"] or {}
    row = {name: info.get(name) for name in _HISTORY}
    row["version"] = entry["version"]
    row["timestamp"] = times.from_millis(entry["timestamp"])
    # free-form by the protocol: another writer's may be anything
    tags = info.get("tags")
    row["route"] = tags.get(_ROUTE) if isinstance(tags, dict) else None
    return row


@overload
def _predicate(where: str) -> str: ...
@overload
def _predicate(where: str | None) -> str | None: ...
def _predicate(where: str | None) -> str | None:
    if where is None:
        return None
    from deltaic.predicates import from_sql  # reading SQL takes longer to import than all else together

    return from_sql(where)
