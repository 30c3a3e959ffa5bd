"""One operation on one version of a table: its rows as DataFrames, the files that it writes, and the commit."""

from __future__ import annotations

import json
import time
import uuid
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql.types import LongType, StructField, StructType, TimestampType

from deltaic import _core
from deltaic.exceptions import InvalidPredicateError
from deltaic.identifiers import quoted
from deltaic.spark.dml.relation import Relation
from deltaic.spark.read import read_set
from deltaic.spark.read.held import Held
from deltaic.spark.read.native_read import with_places, with_row_ids
from deltaic.spark.read.split_read import planned_rows
from deltaic.spark.session.after_commit import committed
from deltaic.spark.session.call_sites import without_call_sites
from deltaic.spark.session.enabling import format_name
from deltaic.spark.session.file_listing import list_quickly
from deltaic.spark.session.jvm import java_method
from deltaic.spark.session.kind import functions, has_one_process, is_connect
from deltaic.spark.session.optimize_tasks import compacted
from deltaic.spark.session.settings import Settings, cluster_bytes, dml_cluster_bytes
from deltaic.spark.session.tasks import DRIVER, SPARK, tell_route
from deltaic.spark.session.time_zone import TIME_ZONE, is_utc
from deltaic.spark.session.types import arrow_takes
from deltaic.spark.write.options import WriteOptions
from deltaic.spark.write.routes import driver
from deltaic.spark.write.row_rules import RowRules
from deltaic.spark.write.rows import write_rows
from deltaic.spark.write.rule_expressions import DEFAULT, GENERATED, Rule

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType

    from typing_extensions import Self

    from deltaic.spark.session.table_ref import TableRef
    from deltaic.spark.write.row_rules import Sequence

# an operation as `known_settings` calls it
_KINDS = {"DELETE": "delete", "TRUNCATE": "delete", "UPDATE": "update", "MERGE": "merge", "WRITE": "write"}
# rows, and bytes of files, that the driver holds
_FEW_ROWS, _FEW_BYTES = 100_000, 16 << 20


class Operation:
    """A context manager: what was written and not committed is deleted when it ends.

    It ends by `commit`, or by nothing when there is nothing to commit. After a `CommitStateUnknownError` no file is
    deleted.
    """

    def __init__(
        self,
        ref: TableRef,
        name: str,
        parameters: Mapping[str, str],
        *,
        app_transaction: tuple[str, int] | None = None,
        write: tuple[Any, WriteOptions] | None = None,
    ) -> None:
        """With `write`, the plan of one and its options, it is that write: these decide the rest."""
        self.ref = ref
        self.spark = ref.spark
        self.connect = is_connect(ref.spark)
        self.functions = functions(ref.spark)
        self.most_bytes = dml_cluster_bytes(ref.spark)
        """Bytes of files that the core reads in this process; what is more Spark's tasks read."""
        if self.connect:
            list_quickly(self.spark)
        else:
            format_name(self.spark)
        self.started = time.monotonic()
        self._instant = time.time_ns() // 1000
        self._name = name
        self.settings = Settings.of(self.spark, _KINDS[name])
        self._txn_of_session = app_transaction is None and write is None
        self._timed = write is None
        plan, self._options = (None, WriteOptions()) if write is None else write
        self.dml = (
            _core.Dml.of_write(plan)
            if plan is not None
            else _core.Dml(
                ref.path,
                self.settings.storage(ref.storage_options),
                name,
                dict(parameters),
                {
                    "user_metadata": self.settings.user_metadata,
                    "app_transaction": self.settings.txn if app_transaction is None else app_transaction,
                    "auto_compact": self.settings.auto_compact,
                    "vectors": _KINDS[name] not in self.settings.without_vectors,
                    "files": self.settings.files(),
                    "engine": f"Apache-Spark/{self.spark.version}",
                },
            )
        )
        self.schema = StructType.fromJson(json.loads(self.dml.schema))
        self.written = StructType.fromJson(json.loads(self.dml.new_schema))
        """The columns of the rows that are written."""
        self._routes: list[str] = []
        self.evolving = False
        self.source: Any = None
        """The frame whose rows meet those of the table, if any: conditions and values may have its columns."""
        self.committed: int | None = None
        """The version that was made. None after a commit: the application transaction was recorded meanwhile."""
        self.row_ids: list[str] = self.dml.row_id_columns
        self._held = Held(ref.path, ref.storage_options)
        self._asked: list[str | None] = []
        self._matching: tuple[Any, Any] | None = None
        self._without_call_sites = without_call_sites()

    def __enter__(self) -> Self:
        self._without_call_sites.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._without_call_sites.__exit__(kind, error, trace)
        self._held.release()
        # nothing is left of it after a commit
        self.dml.discard()

    def is_done(self) -> bool:
        """Whether the table has recorded the application transaction: then it is not done again."""
        done = bool(self.dml.recorded)
        if done:
            self._end_txn()
        return done

    def _end_txn(self) -> None:
        if self._txn_of_session:
            self.settings.end_txn(self.spark)

    def evolve(self, schema: StructType) -> None:
        """The table gets the columns and fields of this schema that it lacks, if any, with the commit."""
        self.evolving = True
        if not schema.fields:
            return
        self.dml.evolve(schema.json())
        self.written = StructType.fromJson(json.loads(self.dml.new_schema))

    def tell_route(self, what: str, *, here: bool) -> None:
        """Says by `logging` and in the history whether the core reads and writes in this process, or Spark does."""
        route = DRIVER if here else SPARK
        if route not in self._routes:
            self._routes.append(route)
        tell_route(self._name, f"{what}: {'in this process' if here else 'in tasks'}")

    def millis(self, since: float | None = None) -> int:
        """Milliseconds since then, or since the operation began."""
        return int((time.monotonic() - (self.started if since is None else since)) * 1000)

    def column(self, given: Any) -> Any:
        """A condition or value of the user, SQL text or a Column, as a Column."""
        if isinstance(given, str):
            return self.functions.expr(given)
        return self.ref.frames.bound(given, self.ref.alias, self.source)

    def generated(self, field: StructField, rows: Any) -> Any:
        """The value of a generated column in rows of the table, as the table stores it."""
        return self._filled(field.name, GENERATED, rows).cast(field.dataType)

    def default(self, column: str) -> Any:
        """The value of a column in rows that are not given one."""
        return self._filled(column, DEFAULT, self.spark.range(1))

    def _filled(self, column: str, kind: str, rows: Any) -> Any:
        filled = self.dml.filled(column)
        if filled is None:
            return self.functions.lit(None)
        return Rule.of(json.loads(filled), kind).column(rows)

    def table_columns(self) -> list[Any]:
        """The columns of the table as it will be, in its order."""
        return [self.functions.col(quoted(f.name)) for f in self.written.fields]

    def changed_columns(self) -> list[Any]:
        """The columns of rows that have new values, as they are written: the commit version is that of the new file."""
        if not self.row_ids:
            return self.table_columns()
        row_id, version = self.row_ids
        of_file = self.functions.lit(None).cast("bigint").alias(version)
        return [*self.table_columns(), self.functions.col(quoted(row_id)), of_file]

    def row_id_columns(self) -> list[Any]:
        """The columns of row ids and row commit versions, where rows keep them."""
        return [self.functions.col(quoted(name)) for name in self.row_ids]

    def rows(self, part: str = "all", *, row_ids: bool = False) -> Any:
        """The rows of the table, and where each is (`FILE`, `ROW`), under the alias of the user.

        `part` is which: those of `all` files, those of files that were `touched`, or of these the rows that are
        `left` without the matched rows. With `row_ids`, where rows keep them, also their row ids and row
        commit versions. A filter on these rows prunes the files.
        """
        df = self.stored_rows(part, row_ids=row_ids)
        if row_ids and self.row_ids:
            df = self.with_row_ids(df)
        return df if self.ref.alias is None else df.alias(self.ref.alias)

    def stored_rows(self, part: str, *, row_ids: bool) -> Any:
        """As `rows`, without the alias, and with the row ids that files keep.

        They are null where they follow from the position.
        """
        row_ids = row_ids and bool(self.row_ids)
        return (self._connect_rows if self.connect else self._classic_rows)(part, row_ids=row_ids)

    def _classic_rows(self, part: str, *, row_ids: bool) -> Any:
        from pyspark.sql.classic.dataframe import DataFrame

        facts = self._held.hold(Relation(self.dml, part, row_ids=row_ids))
        rows = java_method(self.spark, "Frames", "of")(self.spark._jsparkSession, json.dumps(facts))
        return with_places(DataFrame(rows, self.spark))

    def bound(self, df: Any) -> Any:
        """The frame, whose scans of the table read the version that the operation works on, and are claimed.

        Those of subqueries and of a source that were made before, too. Every frame that runs comes through here:
        `now()` is one instant in all of them.
        """
        df = read_set.bind(df, self.dml, self.ref.storage_options)
        df = read_set.at_instant(df, self._instant)
        scans = read_set.scans_of(df)
        self._asked += [predicate for identity, predicate in scans if identity in self._held]
        self.dml.read_rows_of([predicate for identity, predicate in scans if identity not in self._held])
        return df

    def computed_once(self, df: Any, *, now: bool = False) -> tuple[Any, bool]:
        """The frame, bound, whose rows are computed once: all that read it get the same. Whether the driver has them.

        Where executors may end, they are computed before anything reads them: what was lost in between would be
        computed again, with other values perhaps, beside what has been read. What is lost later is an error, and
        the command runs again. Elsewhere the first who reads computes them, which saves a job, unless they are to be
        computed `now`. Few rows the driver has, computed now.
        """
        df = self.bound(df)
        held = None if self.connect else driver.held(df)
        if held is not None:
            return held, True
        return df.localCheckpoint(eager=now or not has_one_process(self.spark)), False

    def _connect_rows(self, part: str, *, row_ids: bool) -> Any:
        return planned_rows(self.spark, self.dml.scan(part, row_ids), located=True)

    def matching_rows(self, condition: Any) -> Any:
        """The rows of all files for which a condition is true. A classic session resolves it once."""
        if self._matching is not None and self._matching[0] is condition:
            return self._matching[1]
        rows = self.rows().where(self.column(condition))
        if not self.connect:
            # on Spark Connect the files are listed when the rows are asked for
            self._matching = condition, rows
        return rows

    def matched(self, condition: Any) -> Any:
        """The rows that were taken, with their row ids where rows keep them; `condition` is true for them.

        In its place may be what picks them from the rows of the files that have some.

        A classic session reads few rows without a job: the core decodes the pages that have them.
        """
        if not self._holds_matched():
            rows = self.rows("touched", row_ids=True)
            if callable(condition):
                return condition(rows)
            return rows if condition is None else rows.where(self.column(condition))
        rows = pa.table(pa.RecordBatchReader.from_stream(self.dml.matched_rows()))
        ids = [StructField(name, LongType()) for name in self.row_ids]
        df = self.spark.createDataFrame(rows, StructType([*self.schema.fields, *ids]))
        return df if self.ref.alias is None else df.alias(self.ref.alias)

    def has_instants_by_zone(self) -> bool:
        """Whether partition values may be instants without a zone, which Spark reads in the session's."""
        types = {field.name: field.dataType for field in self.schema.fields}
        instants = any(isinstance(types[name], TimestampType) for name in self.dml.partition_columns)
        return instants and not self.is_in_utc()

    def is_in_utc(self) -> bool:
        """Whether the session's time zone is UTC."""
        return is_utc(self.spark.conf.get(TIME_ZONE))

    def _holds_matched(self) -> bool:
        if self.connect or not arrow_takes(self.schema) or self.has_instants_by_zone():
            return False
        return self.holds(self.counts()["matchedRows"] or 0)

    def holds(self, rows: int) -> bool:
        """Whether the driver holds so many rows of touched files."""
        counts = self.counts()
        bytes_, of = counts["touchedBytes"] or 0, counts["touchedRows"] or 0
        return 0 < rows <= _FEW_ROWS and bytes_ * rows < _FEW_BYTES * of

    def with_row_ids(self, df: Any) -> Any:
        """Rows of touched files with the row ids and versions that they have."""
        return with_row_ids(self.spark, df, self.dml.row_id_bases(), self.row_ids)

    def asked(self) -> str | None:
        """The conditions on the rows of `all` files after Spark's optimizer, as a predicate."""
        if not self._asked or any(p is None for p in self._asked):
            return None
        return json.dumps({"or": [json.loads(p) for p in dict.fromkeys(self._asked) if p is not None]})

    def write_data(self, df: Any, *, changed: bool, at_most: int | None = None) -> None:
        """Writes rows, with the columns of the table and of row ids, into data files that the commit adds.

        `at_most` is how many rows there can be, if that is known.
        """
        folder = str(uuid.uuid4())
        plan = self.dml.data_plan(df.schema.json(), changed, folder)
        self.dml.add_files(self._write(df, plan, folder, at_most))

    def write_inserts(
        self, df: Any, *, as_changes: bool, at_most: int | None = None, options: WriteOptions | None = None
    ) -> None:
        """Writes new rows, with columns of the table; the rules of the table fill the others.

        `options` are those of a write whose new rows are checked by a condition.
        """
        folder = str(uuid.uuid4())
        plan = self.dml.insert_plan(df.schema.json(), folder)
        self.dml.add_inserts(self._write(df, plan, folder, at_most, options), as_changes)

    def _write(
        self, df: Any, plan: Any, folder: str, at_most: int | None, options: WriteOptions | None = None
    ) -> list[str]:
        options = options or self._options
        return write_rows(self.bound(df), plan, self.ref.path, folder, options, at_most=at_most)

    def sequences(self, given: StructType) -> dict[str, Sequence]:
        """The generators of identity columns that new rows of this schema lack; the commit records their values."""
        plan = self.dml.insert_plan(given.json(), str(uuid.uuid4()))
        return RowRules.of(plan.rules).identities

    def write_changes(self, df: Any, *, at_most: int | None = None) -> None:
        """Writes row-level changes, with the columns of the table and `_change_type`, into files of their own."""
        folder = f"_change_data/{uuid.uuid4()}"
        plan = self.dml.change_plan(df.schema.json(), folder)
        self.dml.add_changes(self._write(df, plan, folder, at_most))

    def counts(self) -> dict[str, int | None]:
        """What it does so far, in numbers: see `DmlCounts` in the core."""
        counts: dict[str, int | None] = json.loads(self.dml.counts())
        return counts

    def expect_rows(self, number: int | None, condition: Any) -> None:
        """Checks that as many rows were written as the condition matched at first.

        Raises:
            InvalidPredicateError: when the condition matched other rows when it was evaluated again.
        """
        added = self.counts()["addedRows"]
        if number is not None and added != number:
            reason = f"it does not match the same rows each time: {number} rows to write became {added}"
            raise InvalidPredicateError(
                f"predicate `{shown(condition)}`: {reason}", predicate=shown(condition), reason=reason
            )

    def commit(self, metrics: Mapping[str, int], *, by_vectors: bool) -> dict[str, int]:
        """Commits and returns the metrics, with the time that it took."""
        measured = {**metrics, "executionTimeMs": self.millis()} if self._timed else dict(metrics)
        begun_at, uri = self.dml.version, self.dml.uri
        version, compaction = self.dml.commit(
            by_vectors, measured, cluster_bytes(self.spark), self._routes or [DRIVER]
        )
        self.committed = None if version == begun_at else version
        compacted(self.spark, self.committed, compaction)
        committed(self.spark, uri, self.committed)
        self._end_txn()
        return measured


def shown(condition: Any) -> str:
    """A condition as text."""
    if isinstance(condition, str):
        return condition
    return str(condition).removeprefix("Column<'").removesuffix("'>")
