"""`enable`, and one way to read, write, verify and run SQL, the same on classic sessions and on Spark Connect.

PySpark is imported when a function is called: `import deltaic` works without it.
"""

from __future__ import annotations

import os
import warnings
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, TypeVar, overload

from deltaic import _core
from deltaic.credentials import with_credentials
from deltaic.exceptions import InvalidArgumentError
from deltaic.spark.session.enabling import enabled_by

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import AbstractContextManager

    from pyspark.sql import DataFrame, SparkSession

    from deltaic.credentials import Credentials
    from deltaic.progress import Progress
    from deltaic.table.verify import VerifyReport

Session = TypeVar("Session")


@overload
def enable(spark: None = None, *, credentials: Credentials | None = None) -> SparkSession: ...


@overload
def enable(spark: Session, *, credentials: Credentials | None = None) -> Session: ...


def enable(spark: Any = None, *, credentials: Credentials | None = None) -> Any:
    """Makes `format("delta")` and Delta tables in SQL work in this session, and returns the session.

    A classic session gets the bridge, and so does every session that it makes later (`newSession`). So does a session
    of Spark Connect: on the server, whose Python needs the same version of deltaic. Where the server does not allow it,
    the session gets the Python Data Source, which does less, and a warning says why (see `docs/spark-connect.md`).
    Calling it again does nothing else. Where Delta's own JAR is on
    the classpath, the format is named `deltaic`, with a warning. A warning names what this Spark does not offer, with
    what replaces it.

    The first call on a machine compiles a few small classes, which takes about two seconds.

    Args:
        spark: The session. Without it, the active one, or one that is made as `SparkSession.builder.getOrCreate()`
            makes it, on the Java that is there or that the extra `spark` has installed.
        credentials: A function that gives the credentials of the stores of this session's tables, as in
            `deltaic.Table`; docs/storage.md says what Spark itself gets of them. Without one, what was set stays.

    Raises:
        InvalidArgumentError: when `spark` is not a Spark session.
        UnsupportedError: a session is to be made, and there is no Java for it.
    """
    if spark is None:
        spark = _session_here()
    if hasattr(spark, "_jsparkSession"):
        from deltaic.spark.bridge.install import install

        for said in install(spark):
            warnings.warn(said, UserWarning, stacklevel=2)
    elif type(spark).__module__.startswith("pyspark.sql.connect"):
        from deltaic.spark.connect.enable import enable_connect

        enable_connect(spark)
    else:
        reason = f"a {type(spark).__name__} is not a Spark session"
        raise InvalidArgumentError.of("spark", reason)
    if credentials is not None:
        from deltaic.spark.session.settings import give_credentials

        give_credentials(spark, with_credentials(None, credentials)[_core.CREDENTIALS])
    return spark


def _session_here() -> Any:
    from pyspark.sql import SparkSession

    from deltaic.spark.java import ensure_java

    active = SparkSession.getActiveSession()
    if active is not None:
        return active
    if "SPARK_REMOTE" not in os.environ:
        ensure_java()
    return SparkSession.builder.getOrCreate()


@enabled_by
def _format_name(spark: Any) -> str:
    from deltaic.spark.session.kind import is_connect

    if is_connect(spark):
        from deltaic.spark.connect.enable import enable_connect

        return enable_connect(spark)
    from deltaic.spark.bridge.install import format_name, name_where_installed

    return name_where_installed(spark) or format_name(enable(spark))


def read(
    spark: SparkSession,
    path: str,
    version: int | None = None,
    timestamp: str | dt.datetime | None = None,
    where: str | None = None,
    *,
    row_ids: bool = False,
) -> DataFrame:
    """The rows of a version of the table at `path`: the newest, or the one of `version` or `timestamp`.

    `where` is an SQL predicate; files that it excludes are not read. Both kinds of session answer the same.
    Where a server of Spark Connect does not serve the session, the table is planned in this process, which must reach
    its storage. It is read with Spark's own Parquet reader, several times faster than `spark.read.format("delta")`,
    wherever that is right and quick; otherwise, as with column mapping by id, file names that Spark hides or more than
    10,000 files, the Python workers of the server read, and must be able to import deltaic.

    With `row_ids` each row also has its id and the version that it was last changed in, in two more columns at the
    end, `_row_id` and `_row_commit_version`. On classic sessions they are `_metadata.row_id` and
    `_metadata.row_commit_version` of every read.

    Raises:
        TableNotFoundError: when there is no table.
        InvalidArgumentError: row ids of a version without `delta.enableRowTracking`.
        VersionNotFoundError, TimestampOutOfRangeError: with the range that is available.
        UnsupportedFeatureError: when the table needs a feature that deltaic does not have.
    """
    from deltaic.spark.read.rows import read as rows_of

    rows: DataFrame = rows_of(spark, path, version, timestamp, where, row_ids=row_ids)
    return rows


def sql(spark: SparkSession, text: str) -> DataFrame:
    """Runs an SQL statement: those of Spark, and those of Delta, on both kinds of session.

    On a session that is classic, or that its server serves, it is `spark.sql(text)`. Elsewhere queries of Delta
    tables, INSERT, TRUNCATE, DELETE, UPDATE, MERGE, CREATE, REPLACE and ALTER TABLE, COMMENT ON TABLE, DESCRIBE (TABLE,
    HISTORY, DETAIL), SHOW COLUMNS, TBLPROPERTIES and PARTITIONS, OPTIMIZE, VACUUM, RESTORE, CONVERT TO DELTA, GENERATE,
    CLONE and REORG are read and carried out here; all else goes to the server. A statement runs once, now.

    Example:
        >>> deltaic.sql(spark, "OPTIMIZE delta.`/data/events` ZORDER BY (user)").show()  # doctest: +SKIP

    Raises:
        InvalidArgumentError: a mistake in one of these statements; the error names the word and its place.
        DeltaError: as the method of `DeltaTable` that does the same.
    """
    from deltaic.spark.session.kind import is_connect, served_name

    if not is_connect(enable(spark)) or served_name(spark) is not None:
        return spark.sql(text)
    from deltaic.spark.session.hidden_settings import named_in_errors

    with named_in_errors(spark):
        return _sql_here(spark, text)


def _sql_here(spark: SparkSession, text: str) -> DataFrame:
    from deltaic.spark.statements.ddl import run_definition
    from deltaic.spark.statements.describe import run_description
    from deltaic.spark.statements.dml import run_change
    from deltaic.spark.statements.insert import run_insert
    from deltaic.spark.statements.queries import query
    from deltaic.spark.statements.run import run
    from deltaic.statements.dml import parse_change
    from deltaic.statements.parse import parse

    if (statement := parse(text)) is not None:
        return run(spark, statement)
    if (change := parse_change(text)) is not None:
        return run_change(spark, change)
    if (defined := run_definition(spark, text)) is not None:
        return defined
    if (described := run_description(spark, text)) is not None:
        return described
    if (done := run_insert(spark, text)) is not None:
        return done
    return query(spark, text)


def table_changes(
    spark: SparkSession,
    table: str,
    start: int | str | dt.datetime,
    end: int | str | dt.datetime | None = None,
) -> DataFrame:
    """The rows that the versions `start` to `end` of a table changed, both included, on both kinds of session.

    The same as `spark.read.format("delta").option("readChangeFeed", "true")` with `startingVersion` or
    `startingTimestamp`, and `endingVersion` or `endingTimestamp`. The columns are those of the table, then
    `_change_type`, `_commit_version` and `_commit_timestamp`.

    Args:
        spark: The session.
        table: A path, or the name of a table of the catalog.
        start: First version, or the time at or after which it was committed.
        end: Last version, or the time at or before which it was committed, instead of the newest.

    Raises:
        ChangesNotRecordedError: `delta.enableChangeDataFeed` was off in a version of the range.
        ChangesSchemaMismatchError: a column was renamed, dropped or got another type within the range.
        VersionNotFoundError, TimestampOutOfRangeError, InvalidTimeTravelError: there is no such range.
        TableNotFoundError: there is no table.
    """
    from deltaic import identifiers
    from deltaic.spark.catalog import names
    from deltaic.spark.read.rows import changes

    path = table
    if "/" not in table or "`" in table:
        parts = identifiers.parts(table)
        path = identifiers.path_of(parts) or names.known(spark, parts).path
    rows: DataFrame = changes(spark, path, start, end)
    return rows


def save(
    df: DataFrame,
    path: str,
    *,
    mode: str = "errorifexists",
    partition_by: Sequence[str] | str | None = None,
    storage_options: Mapping[str, str] | None = None,
    credentials: Credentials | None = None,
    **options: str,
) -> int | None:
    """Creates the table at `path` from the rows of `df`, or appends them, on both kinds of session.

    The same as `df.write.format("delta").mode(mode).partitionBy(…).options(…).save(path)`, which a server of Spark
    Connect that does not serve the session offers for `append` and `overwrite` without `partitionBy` only. Returns the
    new version, or `None` where there was nothing to do. `credentials` is a function as in `deltaic.Table`. All or
    nothing: see `deltaic.spark.save.save` for what is raised.
    """
    from deltaic.spark.save import save as save_rows

    columns = [partition_by] if isinstance(partition_by, str) else partition_by
    given = with_credentials(storage_options, credentials)
    return save_rows(df.sparkSession, df, path, mode, columns, options, storage_options=given)


def verify(
    uri: str | os.PathLike[str],
    *,
    version: int | None = None,
    deep: bool = False,
    storage_options: Mapping[str, str] | None = None,
    credentials: Credentials | None = None,
    spark: SparkSession | None = None,
    progress: bool | Callable[[Progress], object] = False,
) -> VerifyReport:
    """Compares a table's log with its files and with itself; finds nothing if the table is intact.

    The log must be complete, and each checkpoint, compacted file and checksum must say what the commits say; each file
    of the version must be in the store with its size. Nothing is written, and a table that cannot be opened can be
    verified too.

    Args:
        uri: A path, or a URL such as `s3://bucket/table`.
        version: Version to verify, instead of the newest.
        deep: Opens data files and deletion vectors too: rows, types, nulls and bounds against the statistics.
        storage_options: Options of the store.
        credentials: A function that gives the credentials of the store, instead of options: see `deltaic.Table`.
        spark: A session. Its settings of stores hold, too, and its tasks open the files of a deep verification if
            there are at least `spark.deltaic.footers.clusterFiles`. Findings are the same, those of contents last.
        progress: Whether to show a bar with files and bytes on standard error, and at the end what was done; or a
            function that is called with a `deltaic.progress.Progress`, several times a second. What it raises stops the
            verification. Files that tasks open are not counted.

    Raises:
        TableNotFoundError, VersionNotFoundError: there is nothing to verify.
        UnsupportedFeatureError: the table has reader features that deltaic does not know.
    """
    from deltaic.table.verify import verify as verify_table

    options: Mapping[str, str] | None = storage_options
    tasks = None
    named: AbstractContextManager[None] = nullcontext()
    if spark is not None:
        from deltaic.spark.maintenance.verify_tasks import VerifyTasks
        from deltaic.spark.session.hidden_settings import named_in_errors
        from deltaic.spark.session.places import placed
        from deltaic.spark.session.settings import storage

        uri, options = placed(enable(spark), os.fspath(uri)), storage(spark, storage_options or {})
        tasks, named = VerifyTasks(spark), named_in_errors(spark, storage_options or credentials)
    with named:
        return verify_table(
            uri,
            version=version,
            deep=deep,
            storage_options=options,
            credentials=credentials,
            progress=progress,
            _tasks=tasks,
        )
