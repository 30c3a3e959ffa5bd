"""One way to read and one to write a table from Spark, the same on classic sessions and on Spark Connect."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from deltaic.exceptions import InvalidArgumentError

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Mapping, Sequence

    from pyspark.sql import DataFrame, SparkSession

_FIELDS = ("row_id", "row_commit_version")
"""Fields of `_metadata`, and the columns of a read that they become."""
_ROW_IDS = ("_row_id", "_row_commit_version")


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
    On Spark Connect this reads with Spark's own Parquet reader, several times faster than
    `spark.read.format("delta")`, wherever that is right and quick; otherwise, as with column mapping by id, file names
    that Spark hides or more than 10,000 files, the Python workers of the server read, and must be able to import
    deltaic. The table is planned in this process, which must reach its storage.

    With `row_ids` each row also tells its id and the version that it was last changed in, in two more columns at the
    end, `_row_id` and `_row_commit_version`. On classic sessions they are `_metadata.row_id` and
    `_metadata.row_commit_version` of every read.

    Raises:
        TableNotFoundError: when there is no table.
        InvalidArgumentError: row ids of a version without `delta.enableRowTracking`.
        VersionNotFoundError, TimestampOutOfRangeError: with the range that is available.
        UnsupportedFeatureError: when the table needs a feature that deltaic does not have.
    """
    from deltaic.spark.frame import is_connect

    rows = (
        _connect_rows(spark, path, version, timestamp, where, row_ids=row_ids)
        if is_connect(spark)
        else _classic_rows(spark, path, version, timestamp, row_ids=row_ids)
    )
    return rows if where is None else rows.where(where)


def sql(spark: SparkSession, text: str) -> DataFrame:
    """Runs an SQL statement: those of Spark, and those of Delta, on both kinds of session.

    On a classic session it is `spark.sql(text)`. On Spark Connect queries of Delta tables, INSERT, TRUNCATE, DELETE,
    UPDATE, MERGE, CREATE, REPLACE and ALTER TABLE, COMMENT ON TABLE, DESCRIBE (TABLE, HISTORY, DETAIL), SHOW COLUMNS,
    TBLPROPERTIES and PARTITIONS, OPTIMIZE, VACUUM, RESTORE, CONVERT TO DELTA, GENERATE, CLONE and REORG are read and
    carried out here; all else goes to the server. A statement runs once, now.

    Example:
        >>> deltaic.sql(spark, "OPTIMIZE delta.`/data/events` ZORDER BY (user)").show()  # doctest: +SKIP

    Raises:
        InvalidArgumentError: a mistake in one of these statements; the error names the word and its place.
        DeltaError: as the method of `DeltaTable` that does the same.
    """
    from deltaic.spark.frame import is_connect

    if not is_connect(spark):
        from deltaic.spark.session import enable

        return enable(spark).sql(text)
    from deltaic.spark.connect import enable_connect
    from deltaic.statements.changes import parse_change, run_change
    from deltaic.statements.define import run_definition
    from deltaic.statements.descriptions import run_description
    from deltaic.statements.inserts import run_insert
    from deltaic.statements.parse import parse
    from deltaic.statements.queries import query
    from deltaic.statements.run import run

    enable_connect(spark)
    if (statement := parse(text)) is not None:
        return run(spark, statement)
    if (change := parse_change(text)) is not None:
        return run_change(spark, change)
    if (defined := run_definition(spark, text)) is not None:
        return defined
    if (told := run_description(spark, text)) is not None:
        return told
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
    from deltaic.spark import names

    name = names.format_name(spark)
    path = table
    if "/" not in table or "`" in table:
        parts = names.parts(table)
        path = names.path_of(parts) or names.known(spark, parts).path
    reader = spark.read.format(name).option("readChangeFeed", "true")
    for which, value in (("starting", start), ("ending", end)):
        if isinstance(value, int):
            reader = reader.option(f"{which}Version", value)
        elif value is not None:
            reader = reader.option(f"{which}Timestamp", str(value))
    return reader.load(path)


def save(
    df: DataFrame,
    path: str,
    *,
    mode: str = "errorifexists",
    partition_by: Sequence[str] | str | None = None,
    storage_options: Mapping[str, str] | None = None,
    **options: str,
) -> int | None:
    """Creates the table at `path` from the rows of `df`, or appends them, on both kinds of session.

    The same as `df.write.format("delta").mode(mode).partitionBy(…).options(…).save(path)`, which Spark
    Connect offers for `append` and `overwrite` without `partitionBy` only. Returns the new version, or `None` where
    there was nothing to do. All or nothing: see `deltaic.spark.writer.save` for what is raised.
    """
    from deltaic.spark import writer

    columns = [partition_by] if isinstance(partition_by, str) else partition_by
    return writer.save(df.sparkSession, df, path, mode, columns, options, storage_options)


def _classic_rows(
    spark: Any, path: str, version: int | None, timestamp: str | dt.datetime | None, *, row_ids: bool
) -> Any:
    from deltaic.spark.bridge.install import format_name
    from deltaic.spark.session import enable

    reader = enable(spark).read.format(format_name(spark))
    if version is not None:
        reader = reader.option("versionAsOf", version)
    if timestamp is not None:
        reader = reader.option("timestampAsOf", str(timestamp))
    rows = reader.load(path)
    if not row_ids:
        return rows
    metadata = rows.metadataColumn("_metadata")
    if "row_id" not in rows.select(metadata).schema[0].dataType.names:
        reason = (
            "the table has none in this version: set `delta.enableRowTracking` to true, and rows get them"
        )
        raise InvalidArgumentError.of("row_ids", reason)
    _check_names(rows.columns)
    return rows.select(
        "*", *(metadata.getField(field).alias(name) for field, name in zip(_FIELDS, _ROW_IDS, strict=True))
    )


def _connect_rows(
    spark: Any,
    path: str,
    version: int | None,
    timestamp: str | dt.datetime | None,
    where: str | None,
    *,
    row_ids: bool,
) -> Any:
    from deltaic.predicates import from_sql
    from deltaic.spark.connect import list_quickly
    from deltaic.spark.datasource import plan_scan
    from deltaic.spark.native_read import FILE, ROW, with_row_ids
    from deltaic.spark.settings import storage
    from deltaic.spark.split_read import planned_rows
    from deltaic.spark.zoned import TIME_ZONE, is_utc, pruning

    list_quickly(spark)
    zone = spark.conf.get(TIME_ZONE)
    if where is not None and not is_utc(zone):
        where = pruning(
            zone, where, plan_scan(path, version, timestamp, None, zone, storage(spark, {})).schema, path
        )
    predicate = None if where is None else from_sql(where)
    scan = plan_scan(path, version, timestamp, predicate, zone, storage(spark, {}), row_ids=row_ids)
    if not row_ids:
        return planned_rows(spark, scan)
    kept = scan.row_id_columns
    rows = with_row_ids(spark, planned_rows(spark, scan, located=True), scan.row_id_bases(), kept)
    rows = rows.drop(FILE, ROW)
    _check_names(rows.columns)
    return rows.withColumnsRenamed(dict(zip(kept, _ROW_IDS, strict=True)))


def _check_names(columns: Sequence[str]) -> None:
    if own := [c for c in columns if c.lower() in _ROW_IDS]:
        reason = f"the table has a column `{own[0]}` of its own: read without it"
        raise InvalidArgumentError.of("row_ids", reason)
