"""Carrying statements out, in a session of either kind."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from deltaic import identifiers
from deltaic.exceptions import TableNotFoundError
from deltaic.spark.catalog import names, parquet
from deltaic.spark.catalog.constraints import add_constraint
from deltaic.spark.maintenance import result_frames, result_rows
from deltaic.spark.maintenance.inventory import inventory_files
from deltaic.spark.maintenance.manifest import generate
from deltaic.spark.maintenance.optimize import optimized
from deltaic.spark.maintenance.vacuum_tasks import VacuumRun
from deltaic.spark.session import local_frames
from deltaic.spark.session.after_commit import altered, committed_at
from deltaic.spark.session.kind import is_connect
from deltaic.spark.session.pyspark_errors import raises_pyspark_errors
from deltaic.spark.session.settings import (
    assumes_if_exists,
    checks_retention,
    checks_zorder_statistics,
    lowers_marks,
    moment,
    storage,
    user_metadata,
    vacuum_mode,
)
from deltaic.spark.statements.clone import clone
from deltaic.spark.statements.convert import convert
from deltaic.spark.statements.named import instead_of_table, is_quoted, ref_of, whole
from deltaic.spark.statements.queries import query
from deltaic.statements import model as S  # noqa: N812 (each is named once)
from deltaic.table import Table
from deltaic.times import from_millis

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType


def schema_of(statement: S.Statement) -> StructType:
    """The columns that a statement answers with, as those of delta-spark; none where it answers with nothing."""
    return _CARRIED_OUT[type(statement)][0]


@raises_pyspark_errors
def run(spark: Any, statement: S.Statement) -> DataFrame:
    """Carries a statement out, once, and gives its answer.

    Raises:
        TableNotFoundError: there is no table of this name.
        DeltaError: as the method of `DeltaTable` or `Table` that does the same.
    """
    schema, carry_out = _CARRIED_OUT[type(statement)]
    try:
        rows = carry_out(spark, statement)
    except TableNotFoundError as error:
        _tell_what_it_is(spark, statement, error)
        raise
    frame: DataFrame = local_frames.frame(spark, schema, rows)
    return frame


def _tell_what_it_is(spark: Any, statement: S.Statement, error: TableNotFoundError) -> None:
    """Gives an error the condition of what a name is instead of a table: nothing, a view, or of another format."""
    operation, text = _OPERATIONS.get(type(statement)), identifiers.sql(statement.name)
    if operation is None:
        return
    instead = instead_of_table(spark, statement.name)
    if instead is None:
        condition = _OF_PATHS.get(type(statement))
        if condition is not None and not _is_missing(spark, statement):
            error.named(condition, operation=operation)
    elif instead == "nothing":
        error.named("TABLE_OR_VIEW_NOT_FOUND", relationName=text)
    elif instead == "view":
        error.named("EXPECT_TABLE_NOT_VIEW.NO_ALTERNATIVE", viewName=text, operation=operation)
    elif isinstance(statement, S.Reorg):
        error.named("DELTA_NOT_A_DELTA_TABLE", tableName=text)
    elif isinstance(statement, S.SyncIdentity):
        error.named("DELTA_IDENTITY_COLUMNS_ALTER_NON_DELTA_FORMAT")
    else:
        error.named("DELTA_ONLY_OPERATION", operation=operation)


def _is_missing(spark: Any, statement: S.Statement) -> bool:
    """Whether it is an OPTIMIZE or VACUUM of delta.`/path`, and that is not even in a table."""
    path = None if is_quoted(statement.name) else identifiers.path_of(statement.name)
    if path is None or not isinstance(statement, S.Optimize | S.Vacuum):
        return False
    return not names.is_in_table(path, storage(spark, {}))


def _table(spark: Any, name: list[str]) -> Table:
    return Table(whole(spark, name).path, storage_options=storage(spark, {}))


def _optimize(spark: Any, statement: S.Optimize) -> list[dict[str, Any]]:
    check = checks_zorder_statistics(spark)
    how = {"zorder_by": statement.zorder_by, "check_statistics": check, "full": statement.full}
    return [optimized(whole(spark, statement.name), _conditions(statement), **how)]


def _reorg(spark: Any, statement: S.Reorg) -> list[dict[str, Any]]:
    return [optimized(whole(spark, statement.name), _conditions(statement), purge=True)]


def _conditions(statement: S.Optimize | S.Reorg) -> list[str]:
    return [] if statement.where is None else [statement.where]


def _vacuum(spark: Any, statement: S.Vacuum) -> list[dict[str, Any]]:
    # not a folder of a partition: as for delta-spark that is not a table here
    table = Table(ref_of(spark, statement.name).path, storage_options=storage(spark, {}))
    done = table.vacuum(
        statement.hours,
        mode="lite" if statement.lite else vacuum_mode(spark),
        dry_run=statement.dry_run,
        allow_short_retention=not checks_retention(spark),
        inventory=None if statement.inventory is None else _inventory(spark, statement.inventory, table.uri),
        user_metadata=user_metadata(spark, "vacuum"),
        _run=VacuumRun(spark, dry_run=statement.dry_run),
    )
    base = result_rows.hadoop_path(table.uri)
    if not statement.dry_run:
        committed_at(spark, table.uri, table.version)
        return [{"path": base}]
    return [{"path": result_rows.hadoop_path(file)} for file in done.files]


def _inventory(spark: Any, text: str, uri: str) -> list[tuple[str, int]]:
    rows = query(spark, text) if is_connect(spark) else spark.sql(text)
    return inventory_files(rows, uri)


def _restore(spark: Any, statement: S.Restore) -> list[dict[str, Any]]:
    try:
        table = _table(spark, statement.name)
    except TableNotFoundError as error:
        # as in delta-spark, where RESTORE looks for views and tables of Delta alone
        instead = instead_of_table(spark, statement.name)
        if instead == "view":
            error.named("DELTA_ONLY_OPERATION", operation="RESTORE")
        elif instead is not None:
            error.named("TABLE_OR_VIEW_NOT_FOUND", relationName=identifiers.sql(statement.name))
        raise
    at = None if statement.timestamp is None else moment(spark, table.uri, statement.timestamp)
    done = table.restore(statement.version, timestamp=at, user_metadata=user_metadata(spark, "restore"))
    committed_at(spark, table.uri, done.version)
    return result_rows.restored(done)


def _history(spark: Any, statement: S.History) -> list[dict[str, Any]]:
    return result_rows.history(_table(spark, statement.name), statement.limit)


def _detail(spark: Any, statement: S.Detail) -> list[dict[str, Any]]:
    try:
        ref = whole(spark, statement.name)
        return [result_rows.detail(Table(ref.path, storage_options=storage(spark, {})), ref.name)]
    except TableNotFoundError:
        if (other := _other_detail(spark, statement.name)) is None:
            raise
        return [{**dict.fromkeys(result_frames.DETAIL.names), "properties": {}, **other}]


def _other_detail(spark: Any, name: list[str]) -> dict[str, Any] | None:
    """What there is to say of a table of another format, and of a folder in quotes; None of what is neither."""
    if is_quoted(name):
        path = ref_of(spark, name).path
        return {"location": path} if names.has_files(path, storage(spark, {})) else None
    if not names.in_metastore(spark, name) or instead_of_table(spark, name) != "other":
        return None
    entry = parquet.entry(spark, name)
    if entry is None or entry.format == "view":
        return None
    return {
        "format": entry.format,
        "name": entry.plain_name,
        "description": entry.comment,
        "location": result_rows.hadoop_path(entry.path) if entry.path else None,
        "createdAt": from_millis(entry.created),
        "partitionColumns": list(entry.partition_by),
        "properties": entry.properties,
    }


def _convert(spark: Any, statement: S.Convert) -> list[dict[str, Any]]:
    convert(spark, statement.name, statement.partition_by, statistics=statement.statistics)
    return []


def _generate(spark: Any, statement: S.Generate) -> list[dict[str, Any]]:
    generate(_table(spark, statement.name), statement.mode)
    return []


def _sync_identity(spark: Any, statement: S.SyncIdentity) -> list[dict[str, Any]]:
    table, said = _table(spark, statement.name), user_metadata(spark, "alter")
    version = table.sync_identity(statement.column, allow_lower=lowers_marks(spark), user_metadata=said)
    altered(spark, table, version)
    return []


def _add_constraint(spark: Any, statement: S.AddConstraint) -> list[dict[str, Any]]:
    table, said = _table(spark, statement.name), user_metadata(spark, "alter")
    version = add_constraint(spark, table, statement.constraint, statement.expression, said)
    altered(spark, table, version)
    return []


def _drop_constraint(spark: Any, statement: S.DropConstraint) -> list[dict[str, Any]]:
    table, said = _table(spark, statement.name), user_metadata(spark, "alter")
    if_exists = statement.if_exists or assumes_if_exists(spark)
    version = table.drop_constraint(statement.constraint, if_exists=if_exists, user_metadata=said)
    altered(spark, table, version)
    return []


def _drop_feature(spark: Any, statement: S.DropFeature) -> list[dict[str, Any]]:
    table, said = _table(spark, statement.name), user_metadata(spark, "drop_feature")
    truncates = statement.truncate_history
    altered(
        spark, table, table.drop_feature(statement.feature, truncate_history=truncates, user_metadata=said)
    )
    return []


_CARRIED_OUT: dict[type[S.Statement], tuple[StructType, Callable[[Any, Any], list[dict[str, Any]]]]] = {
    S.Optimize: (result_frames.OPTIMIZE, _optimize),
    S.Reorg: (result_frames.OPTIMIZE, _reorg),
    S.Vacuum: (result_frames.PATHS, _vacuum),
    S.Restore: (result_frames.RESTORE, _restore),
    S.History: (result_frames.HISTORY, _history),
    S.Detail: (result_frames.DETAIL, _detail),
    S.Convert: (result_frames.NOTHING, _convert),
    S.Generate: (result_frames.NOTHING, _generate),
    S.Clone: (result_frames.CLONE, clone),
    S.AddConstraint: (result_frames.NOTHING, _add_constraint),
    S.SyncIdentity: (result_frames.NOTHING, _sync_identity),
    S.DropConstraint: (result_frames.NOTHING, _drop_constraint),
    S.DropFeature: (result_frames.NOTHING, _drop_feature),
}
# what errors of those whose name is no table of ours call them
_OPERATIONS: dict[type[S.Statement], str] = {
    S.Optimize: "OPTIMIZE",
    S.Reorg: "REORG",
    S.Vacuum: "VACUUM",
    S.History: "DESCRIBE HISTORY",
    S.Detail: "DESCRIBE DETAIL",
    S.Generate: "GENERATE",
    S.AddConstraint: "ALTER TABLE … ADD CONSTRAINT",
    S.SyncIdentity: "ALTER TABLE … ALTER COLUMN",
    S.DropConstraint: "ALTER TABLE … DROP CONSTRAINT",
    S.DropFeature: "ALTER TABLE … DROP FEATURE",
}
# the conditions where there is no table at the path, or at that of a name of ours; it is DELTA_MISSING_DELTA_TABLE of
# others, and where `_is_missing`
_OF_PATHS: dict[type[S.Statement], str] = {
    S.Optimize: "DELTA_TABLE_ONLY_OPERATION",
    S.Reorg: "DELTA_ONLY_OPERATION",
    S.Vacuum: "DELTA_TABLE_ONLY_OPERATION",
    S.History: "DELTA_TABLE_ONLY_OPERATION",
}
_BY_NAME = {kind.__name__: kind for kind in _CARRIED_OUT}


def is_ours(statement: S.Statement) -> bool:
    """Whether the statement can only be about a table of the session's own catalog, or by path.

    Statements that Spark knows, too, are left to the catalogs that are named beside it.
    """
    known_to_spark = isinstance(statement, S.AddConstraint | S.DropConstraint)
    return not known_to_spark or names.of_session(statement.name)


def to_json(statement: S.Statement) -> dict[str, Any]:
    """The form that goes through the JVM."""
    return {"kind": type(statement).__name__, **dataclasses.asdict(statement)}


def from_json(document: dict[str, Any]) -> S.Statement:
    """From `to_json`."""
    return _BY_NAME[document.pop("kind")](**document)
