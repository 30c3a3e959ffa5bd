"""CREATE TABLE … SHALLOW CLONE: of a table of ours, and of Parquet files, by path or by a name of the catalog."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from deltaic import identifiers
from deltaic.exceptions import InvalidArgumentError, TableNotFoundError, UnsupportedError
from deltaic.spark.catalog import names, parquet
from deltaic.spark.catalog.clone import clone as clone_table
from deltaic.spark.catalog.clone import made_at
from deltaic.spark.maintenance.convert_tasks import ConvertRun
from deltaic.spark.session.places import placed
from deltaic.spark.session.settings import Settings, moment, storage
from deltaic.spark.session.table_ref import TableRef
from deltaic.spark.statements.named import instead_of_table, ref_of, whole
from deltaic.table import Table, maintain

if TYPE_CHECKING:
    from deltaic import _core
    from deltaic.statements.model import Clone

_NOTHING = dict.fromkeys(
    ("num_removed_files", "num_copied_files", "removed_files_size", "copied_files_size"), 0
)


def clone(spark: Any, statement: Clone) -> list[dict[str, Any]]:
    """Carries the statement out; its answer.

    Raises:
        TableNotFoundError: there is no source, or it is neither a table of ours nor Parquet.
        UnsupportedError: a deep clone, or Parquet by name on a client of Spark Connect alone.
        DeltaError: as `Table.shallow_clone`, and `deltaic.convert` for Parquet.
    """
    source = _source(spark, statement)
    if not statement.shallow:
        what = "a deep clone, which copies files,"
        message = f"`{source.path}`: {what} is not supported: write SHALLOW CLONE"
        raise UnsupportedError(message, path=source.path, what=what)
    target = identifiers.sql(statement.name)
    if statement.if_not_exists and _is_there(spark, statement.name):
        return []
    if not statement.creates and not _is_there(spark, statement.name):
        missing = TableNotFoundError(
            f"there is no table {target} to replace: CREATE OR REPLACE makes one", path=target
        )
        raise missing.named("DELTA_CANNOT_REPLACE_MISSING_TABLE", tableName=target)
    if statement.location is not None:
        target = _place(spark, statement.name, statement.location)
    if isinstance(source, TableRef):
        made = _of_table(spark, source, statement, target)
    else:
        made = _of_files(spark, source, statement, target)
    if statement.location is not None:
        names.register(spark, statement.name, target)
    totals = Table(made.path, storage_options=storage(spark, {})).totals()
    return [{"source_table_size": totals.bytes, "source_num_of_files": totals.files, **_NOTHING}]


def _source(spark: Any, statement: Clone) -> TableRef | parquet.Entry:
    """The table, or the Parquet files, that are cloned.

    Raises:
        TableNotFoundError: it is neither.
    """
    name = statement.source
    if len(name) == 2 and name[0].lower() == "parquet" and identifiers.is_absolute(name[1]):
        return parquet.Entry("", "parquet", placed(spark, name[1]))
    try:
        return whole(spark, name)
    except TableNotFoundError as error:
        instead, text = instead_of_table(spark, name), identifiers.sql(name)
        travels = statement.version is not None or statement.timestamp is not None
        if instead == "nothing" or (instead == "other" and travels):
            error.named("TABLE_OR_VIEW_NOT_FOUND", relationName=text)
        elif instead == "view":
            error.named("DELTA_CLONE_UNSUPPORTED_SOURCE", name=text, format="View")
        elif instead == "other":
            return _named(spark, name, error)
        raise


def _named(spark: Any, name: list[str], error: TableNotFoundError) -> parquet.Entry:
    """The Parquet table of the catalog.

    Raises:
        UnsupportedError: on a client of Spark Connect alone, or in a catalog of its own.
        InvalidArgumentError: there are partitions that the catalog does not know.
        TableNotFoundError: the given one, where it is of another format.
    """
    text = identifiers.sql(name)
    if not names.in_metastore(spark, name):
        what = f"a clone of {text}, which is no Delta table,"
        raise UnsupportedError(f"{what} is not supported here: write parquet.`/path`", path=text, what=what)
    entry = parquet.entry(spark, name)
    if entry is None or entry.format != "parquet":
        kind = "" if entry is None else entry.format
        raise error.named("DELTA_CLONE_UNSUPPORTED_SOURCE", name=text, format=kind)
    parquet.check_folders(spark, name, text)
    return entry


def _of_table(spark: Any, ref: TableRef, statement: Clone, target: str) -> TableRef:
    at: dict[str, Any] = {}
    if statement.version is not None:
        at = {"version": statement.version}
    elif statement.timestamp is not None:
        at = {"timestamp": moment(spark, ref.path, statement.timestamp)}
    table = Table(ref.path, storage_options=storage(spark, {}), **at)
    return clone_table(ref, table, target, replaces=statement.replaces, properties=statement.properties)


def _of_files(spark: Any, files: parquet.Entry, statement: Clone, target: str) -> TableRef:
    settings = Settings.of(spark, "clone")

    def make(path: str) -> int:
        def run(conversion: _core.Convert) -> str:
            options: _core._CloneOptions = {
                "properties": dict(statement.properties or {}),
                "replace": statement.replaces,
                "user_metadata": settings.user_metadata,
                "source_name": files.plain_name if files.name else None,
            }
            conversion.clone_to(path, settings.store, options)
            return ConvertRun(spark)(conversion)

        done = maintain.convert(
            files.path,
            files.partition_by,
            configuration=files.own_properties,
            storage_options=settings.store,
            _run=run,
        )
        return done.version

    return made_at(TableRef(spark, files.path), target, make)


def _place(spark: Any, name: list[str], location: str) -> str:
    """The location of a clone by a name that the catalog does not know yet.

    Raises:
        InvalidArgumentError: the name is a path, exists, or the location is not absolute.
    """
    place, text = placed(spark, location), identifiers.sql(name)
    if identifiers.path_of(name) is not None:
        error = InvalidArgumentError.of("LOCATION", f"{text} is a location already")
        raise error.named("DELTA_CLONE_AMBIGUOUS_TARGET", externalLocation=location, targetIdentifier=text)
    if not identifiers.is_absolute(place):
        raise InvalidArgumentError.of("LOCATION", f"`{location}` is not an absolute path")
    if spark.catalog.tableExists(text):
        raise InvalidArgumentError.of(
            "LOCATION", f"{text} exists, and its location cannot change: leave LOCATION out"
        )
    return place


def _is_there(spark: Any, name: list[str]) -> bool:
    if identifiers.path_of(name) is None:
        return bool(spark.catalog.tableExists(identifiers.sql(name)))
    try:
        Table(ref_of(spark, name).path, storage_options=storage(spark, {}))
    except TableNotFoundError:
        return False
    return True
