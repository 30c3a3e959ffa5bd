"""Writing a DataFrame to a table: checked before a job starts, written once, committed by put-if-absent."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

from deltaic.exceptions import InvalidArgumentError, InvalidExpressionError, UnsupportedError
from deltaic.predicates import columns_of
from deltaic.spark.dml.replace import replace_matches
from deltaic.spark.dml.replace_where import replace_where
from deltaic.spark.read import read_set
from deltaic.spark.session.after_commit import committed
from deltaic.spark.session.on_server import carried_out_by_server
from deltaic.spark.session.optimize_tasks import compacted
from deltaic.spark.session.pyspark_errors import raises_pyspark_errors
from deltaic.spark.session.settings import Settings, cluster_bytes
from deltaic.spark.session.time_zone import TIME_ZONE
from deltaic.spark.write import transaction
from deltaic.spark.write.options import WriteOptions, save_mode
from deltaic.spark.write.retry import retried
from deltaic.spark.write.routes import driver
from deltaic.spark.write.rows import write_rows
from deltaic.spark.write.write_columns import WriteColumn

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from deltaic.spark.stream.batch import StreamBatch
    from deltaic.spark.write.definition import Definition


@raises_pyspark_errors
@carried_out_by_server
def save(
    spark: Any,
    df: Any,
    path: str,
    mode: str | None,
    partition_by: Sequence[str] | None,
    options: Mapping[str, str] | None,
    storage_options: Mapping[str, str] | None = None,
    *,
    definition: Definition | None = None,
    batch: StreamBatch | None = None,
    saved_as_table: bool | None = None,
    whole_partitions: bool = True,
) -> int | None:
    """Writes the rows of `df` into the table at `path`, which is created where there is none.

    All or nothing: until the commit, and after any failure, the table is as it was. Returns the new version,
    or `None` where there was nothing to do: mode `ignore` and a table that exists, an append of no rows, a
    txnVersion that is already recorded. With a `definition` the write makes or replaces the table, as its mode says,
    and `mode` is not asked. With a `batch` the rows are those of a stream, and what it reads of the table cannot be
    read again here. `saved_as_table` says of an overwrite by `saveAsTable` whether a catalog owns the files. Rows that
    lack a partition column of the table are refused unless `whole_partitions` is false: it is null then.

    Raises:
        TableAlreadyExistsError: in mode `errorifexists`.
        SchemaMismatchError: when the frame or a value in it does not fit the table.
        InvariantViolationError: when a row breaks a rule of the table: it names the rule and the row.
        ReplaceWhereMismatchError: when a row is not among those that the overwrite replaces.
        InvalidExpressionError: when Spark cannot resolve a rule of the table.
        PackageNotOnServerError: when a Python worker of Spark cannot import deltaic.
        UnsupportedError: for a mode, option or type that is not supported, by its name.
        CommitConflictError: when another writer changed what the write relied on, again and again; once for a `batch`
            that reads the table.
        CommitStateUnknownError: it is unknown whether the commit landed; no file was removed.
    """
    del spark  # the frame knows its session
    given = (df.sparkSession, df, path, mode, partition_by, options, storage_options, definition)
    write = _save if batch is not None and batch.reads else retried(_save)
    return write(*given, batch=batch, saved_as_table=saved_as_table, whole_partitions=whole_partitions)


def _save(
    session: Any,
    df: Any,
    path: str,
    mode: str | None,
    partition_by: Sequence[str] | None,
    options: Mapping[str, str] | None,
    storage_options: Mapping[str, str] | None,
    definition: Definition | None,
    *,
    batch: StreamBatch | None,
    saved_as_table: bool | None,
    whole_partitions: bool,
) -> int | None:
    settings = Settings.of(session)
    asked = WriteOptions.parse(path, options or {}).partitioned(partition_by)
    storage_options = settings.storage({**asked.of_store, **(storage_options or {})})
    mode = save_mode(path, mode)
    given = asked.in_session(settings).of_mode(mode if definition is None else definition.mode)
    if given.replace_where is not None:
        sensitive = str(session.conf.get("spark.sql.caseSensitive", "false")).lower() == "true"
        given = given.plain(case_sensitive=sensitive)
    if definition is not None:
        given = given.defining(definition)
    replacing = given.replacing
    if replacing is not None:
        replacing.check(session, settings)
        if definition is not None:
            replacing.refuse_definition()
        if mode in ("append", "overwrite"):
            given.check_replacing(mode)
    plan, given = _planned(
        given,
        lambda options: transaction.make_plan(
            path,
            mode,
            df.schema.json(),
            options.partition_by,
            options,
            session.version,
            storage_options,
            rules_held=True,
            definition=definition,
            batch=batch,
            saved_as_table=saved_as_table,
            whole_partitions=whole_partitions,
        ),
        lambda options: options.zoned(session.conf.get(TIME_ZONE), path, storage_options),
        defines=definition is not None,
    )
    if given.replace_where is not None and not settings.replace_data_columns:
        _check_partitions_only(plan, given.replace_where)
    if replacing is not None and not plan.skip:
        # in other modes: only where there is no table
        given.check_replacing(mode)
    version = None
    if not plan.skip and replacing is not None and mode == "overwrite":
        version = replace_matches(df, plan, path, replacing, given, storage_options)
    elif not plan.skip and given.replaced_by_spark and plan.table() is not None:
        version = replace_where(df, plan, path, given, storage_options)
    elif not plan.skip:
        folder = str(uuid.uuid4())
        rows = read_set.bind(df, plan, storage_options)
        reads: Sequence[str | None] = () if batch is None else batch.reads
        if rows is not df:
            reads = [predicate for _, predicate in read_set.scans_of(rows)]
        adds = write_rows(rows, plan, path, folder, given, batch=batch)
        version, compaction = transaction.commit(plan, adds, folder, reads, cluster_bytes(session))
        compacted(session, version, compaction)
        committed(session, plan.uri, version)
        if batch is not None:
            batch.few = driver.have_few_rows(adds)
    if asked.txn_app_id is None:
        settings.end_txn(session)
    return version


def _planned(
    given: WriteOptions,
    make_plan: Callable[[WriteOptions], Any],
    zoned: Callable[[WriteOptions], WriteOptions],
    *,
    defines: bool,
) -> tuple[Any, WriteOptions]:
    """The plan, and the options by which it is made: Spark evaluates a condition that the core cannot."""
    if given.replace_where is None:
        return make_plan(given), given
    try:
        options = zoned(given)
        return make_plan(options), options
    except (UnsupportedError, InvalidExpressionError):
        if defines:
            raise
        options = given.by_spark()
        return make_plan(options), options


def _check_partitions_only(plan: Any, replaced: str) -> None:
    """Checks that the condition of an overwrite is on partition columns, where the session wants no other.

    Raises:
        InvalidArgumentError: it is not.
    """
    partitions = [c.name for c in WriteColumn.all_of(plan.columns) if c.partition]
    known, named = {name.lower() for name in partitions}, columns_of(replaced)
    others = [replaced] if named is None else [path[0] for path in named if path[0].lower() not in known]
    if not others:
        return
    setting = "spark.databricks.delta.replaceWhere.dataColumns.enabled"
    error = InvalidArgumentError.of(
        "replaceWhere", f"`{replaced}` is not on partition columns, and {setting} is false"
    )
    listed = ", ".join(partitions)
    raise error.named("DELTA_NON_PARTITION_COLUMN_REFERENCE", columnName=others[0], columnList=listed)
