"""CONVERT TO DELTA: of a folder of Parquet files, and of a Parquet table that the catalog knows."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from deltaic import identifiers
from deltaic.exceptions import InvalidArgumentError, TableNotFoundError, UnsupportedError
from deltaic.schema import columns_json
from deltaic.spark.catalog import names, parquet
from deltaic.spark.maintenance.convert_tasks import ConvertRun
from deltaic.spark.session.after_commit import committed_at
from deltaic.spark.session.places import placed
from deltaic.spark.session.settings import Settings
from deltaic.spark.session.table_ref import TableRef
from deltaic.table import Table, maintain

if TYPE_CHECKING:
    from collections.abc import Mapping

    from deltaic.spark.catalog.parquet import Entry

    Partitions = str | Mapping[str, Any] | None


def convert(spark: Any, name: list[str], partition_by: Partitions, *, statistics: bool = True) -> TableRef:
    """Makes a table of Parquet files in one commit, without reading rows, and tells the catalog that it is one of ours.

    Where there is a Delta table already, nothing is done. A table of the catalog has its partition columns and its
    properties from there.

    Args:
        spark: The session.
        name: parquet.`/path`, or the name of a table in the catalog of the session.
        partition_by: The partition columns, as `deltaic.convert` takes them.
        statistics: Whether to take statistics of columns from the footers.

    Raises:
        TableNotFoundError: the catalog has no such table.
        InvalidArgumentError: it is a view, or of another format; the given partition columns are not those of the
            catalog; folders are partitions that the catalog does not know; and as `deltaic.convert`.
        UnsupportedError: a name in a catalog of its own, or on a client of Spark Connect alone.
        DataFileError, SchemaMismatchError, InvalidSchemaError: as `deltaic.convert`.
    """
    text = identifiers.sql(name)
    if (path := identifiers.path_of(name)) is not None:
        return TableRef(spark, path)
    if len(name) == 2 and identifiers.is_absolute(name[1]):
        if name[0].lower() != "parquet":
            raise _not_parquet(text, name[0])
        path = placed(spark, name[1])
        _commit(spark, path, partition_by, statistics=statistics)
        return TableRef(spark, path)
    if len(name) == 1 and identifiers.is_absolute(name[0]):
        error = InvalidArgumentError.of("name", f"{text} has no format: write parquet.{text}")
        raise error.named("DELTA_MISSING_PROVIDER_FOR_CONVERT", path=name[0])
    return _convert_named(spark, name, partition_by, statistics=statistics)


def _convert_named(spark: Any, name: list[str], partition_by: Partitions, *, statistics: bool) -> TableRef:
    text = identifiers.sql(name)
    if not names.in_metastore(spark, name):
        what = f"a conversion of {text}, which is not parquet.`/path`,"
        raise UnsupportedError(f"{what} is not supported here", path=text, what=what)
    entry = _entry(spark, name, text)
    if entry.format in identifiers.FORMATS:
        return TableRef(spark, entry.path, name=names.known(spark, name).name)
    if entry.format != "parquet":
        raise _not_parquet(text, entry.format)
    _check_partitions(entry, partition_by)
    parquet.check_folders(spark, name, text)
    given = entry.own_properties
    by, name_there = entry.partition_by, entry.name
    if _commit(spark, entry.path, by, statistics=statistics, properties=given, catalog_table=name_there):
        _keep_properties(spark, entry, given)
    parquet.converted(spark, name)
    return TableRef(spark, entry.path, name=names.known(spark, name).name)


def _commit(
    spark: Any,
    path: str,
    partition_by: Partitions,
    *,
    statistics: bool,
    properties: Mapping[str, str] | None = None,
    catalog_table: str | None = None,
) -> bool:
    """Whether there was a Delta table already."""
    settings = Settings.of(spark, "convert")
    done = maintain.convert(
        path,
        partition_by,
        statistics=statistics,
        configuration={**settings.defaults, **(properties or {})},
        user_metadata=settings.user_metadata,
        storage_options=settings.store,
        _run=ConvertRun(spark),
        _catalog_table=catalog_table,
    )
    committed_at(spark, path, done.version)
    return done.existed


def _keep_properties(spark: Any, entry: Entry, given: dict[str, str]) -> None:
    """Gives a Delta table that the catalog took for one of Parquet the properties that the catalog has for it.

    Raises:
        InvalidArgumentError: the table has properties, and others than the catalog.
    """
    settings = Settings.of(spark, "convert")
    table = Table(entry.path, storage_options=settings.store)
    own = table.metadata.configuration
    missing = {key: value for key, value in given.items() if own.get(key) != value}
    if missing and own:
        reason = f"the Delta table at `{entry.path}` lacks properties that the catalog has for {entry.name}: {missing}"
        shown = {"tableProperties": json.dumps(given), "configuration": json.dumps(dict(own))}
        raise InvalidArgumentError.of("name", reason).named(
            "DELTA_CONVERT_METASTORE_METADATA_MISMATCH", **shown
        )
    if missing:
        version = table.set_properties(missing, allow_arbitrary=True, user_metadata=settings.user_metadata)
        committed_at(spark, entry.path, version)


def _entry(spark: Any, name: list[str], text: str) -> Entry:
    found = parquet.entry(spark, name)
    if found is None:
        error = TableNotFoundError(f"the catalog has no table {text}", path=text)
        raise error.named("TABLE_OR_VIEW_NOT_FOUND", relationName=text)
    if found.format == "view":
        what = "Converting a view to a Delta table"
        refused = InvalidArgumentError.of("name", f"{text} is a view: name the table")
        raise refused.named("DELTA_OPERATION_NOT_ALLOWED_DETAIL", operation=what, tableName=text)
    return found


def _check_partitions(entry: Entry, partition_by: Partitions) -> None:
    if not partition_by:
        return
    given = json.loads(columns_json(partition_by))["fields"]
    known = json.loads(entry.partitions)["fields"]
    if [(f["name"], f["type"]) for f in given] != [(f["name"], f["type"]) for f in known]:
        reason = f"the catalog has other partition columns for {entry.name}: leave them out"
        schemas = {"catalogPartitionSchema": _shown(known), "userPartitionSchema": _shown(given)}
        error = InvalidArgumentError.of("partitionSchema", reason)
        raise error.named("DELTA_UNEXPECTED_PARTITION_SCHEMA_FROM_USER", **schemas)


def _shown(fields: list[dict[str, Any]]) -> str:
    return ", ".join(f"{field['name']} {field['type']}" for field in fields)


def _not_parquet(text: str, kind: str) -> InvalidArgumentError:
    error = InvalidArgumentError.of(
        "name", f"{text} is of the format {kind}, and only Parquet can be converted"
    )
    return error.named("DELTA_CONVERT_NON_PARQUET_TABLE", sourceName=kind, tableId=text)
