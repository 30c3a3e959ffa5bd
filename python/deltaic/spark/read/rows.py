"""The rows of a table as a DataFrame, and its row-level changes, the same on sessions of both kinds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from deltaic.exceptions import InvalidArgumentError
from deltaic.predicates import from_sql
from deltaic.spark.read.native_read import FILE, ROW, with_row_ids
from deltaic.spark.read.planning import plan_scan
from deltaic.spark.read.split_read import planned_rows
from deltaic.spark.session.enabling import format_name
from deltaic.spark.session.file_listing import list_quickly
from deltaic.spark.session.hidden_settings import named_in_errors
from deltaic.spark.session.kind import is_connect, served_name
from deltaic.spark.session.settings import storage
from deltaic.spark.session.time_zone import TIME_ZONE, is_utc, pruning

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Mapping, Sequence

_FIELDS = ("row_id", "row_commit_version")
"""Fields of `_metadata`, and the columns of a read that they become."""
_ROW_IDS = ("_row_id", "_row_commit_version")


def read(
    spark: Any,
    path: str,
    version: int | None = None,
    timestamp: str | dt.datetime | None = None,
    where: str | None = None,
    *,
    row_ids: bool = False,
    storage_options: Mapping[str, str] | None = None,
) -> Any:
    """See `deltaic.read`; `storage_options` go before what the session says of the store."""
    given = dict(storage_options or {})
    name = format_name(spark)
    if is_connect(spark) and served_name(spark) is None:
        with named_in_errors(spark, given):
            rows = _connect_rows(
                spark, path, version, timestamp, where, storage(spark, given), row_ids=row_ids
            )
    else:
        reader = spark.read.format(name).options(**given)
        rows = _rows(reader, path, version, timestamp, row_ids=row_ids)
        if is_connect(spark):
            # its frames would raise what is wrong when they are used
            _ = rows.schema
    return rows if where is None else rows.where(where)


def changes(
    spark: Any, path: str, start: int | str | dt.datetime, end: int | str | dt.datetime | None = None
) -> Any:
    """See `deltaic.table_changes`; of the table at a path."""
    reader = spark.read.format(format_name(spark)).option("readChangeFeed", "true")
    for which, value in (("starting", start), ("ending", end)):
        if isinstance(value, int):
            reader = reader.option(f"{which}Version", value)
        elif value is not None:
            reader = reader.option(f"{which}Timestamp", str(value))
    return reader.load(path)


def _rows(
    reader: Any, path: str, version: int | None, timestamp: str | dt.datetime | None, *, row_ids: bool
) -> Any:
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
    options: dict[str, str],
    *,
    row_ids: bool,
) -> Any:

    list_quickly(spark)
    zone = spark.conf.get(TIME_ZONE)
    if where is not None and not is_utc(zone):
        schema = plan_scan(path, version, timestamp, None, zone, options).schema
        where = pruning(zone, where, schema, path)
    predicate = from_sql(where)
    scan = plan_scan(path, version, timestamp, predicate, zone, options, row_ids=row_ids)
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
