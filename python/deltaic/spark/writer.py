"""Writing a DataFrame to a table: checked before a job starts, written once, committed by put-if-absent."""

from __future__ import annotations

import uuid
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from deltaic import _core
from deltaic.exceptions import CommitStateUnknownError, DeltaError, InvalidArgumentError
from deltaic.predicates import columns_of
from deltaic.spark import command_reads, workers
from deltaic.spark.as_sparks import raises_sparks
from deltaic.spark.committed import committed
from deltaic.spark.failures import raise_known
from deltaic.spark.frame import WriteColumn, arrow_takes, functions, is_connect, is_local, quoted
from deltaic.spark.options import WriteOptions, save_mode
from deltaic.spark.replay import replayed
from deltaic.spark.routes import arrow, direct, driver
from deltaic.spark.rules import RowRules, table_rows, task_count
from deltaic.spark.settings import Settings
from deltaic.spark.zoned import TIME_ZONE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from deltaic.spark.command_reads import StreamBatch
    from deltaic.spark.definition import Definition


@raises_sparks
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
        CommitStateUnknownError: when nobody can tell whether the commit landed; no file was removed.
    """
    del spark  # the frame knows its session
    given = (df.sparkSession, df, path, mode, partition_by, options, storage_options, definition)
    write = _save if batch is not None and batch.reads else replayed(_save)
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
    storage_options = settings.storage(storage_options)
    asked = WriteOptions.parse(path, options or {})
    given = asked.in_session(settings)
    if given.replace_where is not None:
        sensitive = str(session.conf.get("spark.sql.caseSensitive", "false")).lower() == "true"
        given = given.plain(case_sensitive=sensitive)
        given = given.zoned(session.conf.get(TIME_ZONE), path, storage_options)
    if definition is not None:
        given, partition_by = given.defining(definition), definition.partition_by
    replacing, mode = given.replacing, save_mode(path, mode)
    if replacing is not None:
        replacing.check(session, settings)
        if definition is not None:
            replacing.refuse_definition()
        if mode in ("append", "overwrite"):
            replacing.check_beside(given, mode)
    plan = make_plan(
        path,
        mode,
        df.schema.json(),
        partition_by or given.partition_by,
        given,
        session.version,
        storage_options,
        rules_held=True,
        definition=definition,
        batch=batch,
        saved_as_table=saved_as_table,
        whole_partitions=whole_partitions,
    )
    if given.replace_where is not None and not settings.replace_data_columns:
        _check_partitions_only(plan, given.replace_where)
    if replacing is not None and not plan.skip:
        # in other modes: only where there is no table
        replacing.check_beside(given, mode)
    version = None
    if not plan.skip and replacing is not None and mode == "overwrite":
        from deltaic.spark.dml.replace import replace_matches

        version = replace_matches(df, plan, path, replacing, given, storage_options)
    elif not plan.skip:
        folder = str(uuid.uuid4())
        rows = command_reads.bind(df, plan, storage_options)
        reads: Sequence[str | None] = () if batch is None else batch.reads
        if rows is not df:
            reads = [predicate for _, predicate in command_reads.scans_of(rows)]
        version = commit(plan, write_rows(rows, plan, path, folder, given), folder, reads)
        committed(session, plan.uri, version)
    if asked.txn_app_id is None:
        settings.end_txn(session)
    return version


def write_rows(df: Any, plan: Any, path: str, folder: str, options: WriteOptions) -> list[str]:
    """Writes the rows into data files below `folder`; their `add` actions. Nothing is committed.

    Raises:
        DeltaError: as `save`.
    """
    columns, rules = WriteColumn.all_of(plan.columns), RowRules.of(plan.rules)
    with _known(path, columns, rules, options.replace_where):
        return _write(df, plan, columns, rules, folder, options)


def held_rows(df: Any, plan: Any, path: str) -> Any:
    """The rows of a small DataFrame as the table has them, in an Arrow table.

    Raises:
        DeltaError: as `save`.
    """
    columns, rules = WriteColumn.all_of(plan.columns), RowRules.of(plan.rules)
    with _known(path, columns, rules, None):
        return driver.rows(_on_driver(df, columns, rules, path))


@contextmanager
def _known(path: str, columns: list[WriteColumn], rules: RowRules, replaced: str | None) -> Iterator[None]:
    """An error of Spark for a row that the table does not take is raised as what it is."""
    try:
        yield
    except DeltaError:
        raise
    except Exception as error:
        raise_known(error, path, columns, rules, replaced)
        raise


def make_plan(
    path: str,
    mode: str,
    schema: str,
    partition_by: Sequence[str] | None,
    options: WriteOptions,
    spark_version: str,
    storage_options: Mapping[str, str] | None,
    *,
    rules_held: bool,
    definition: Definition | None = None,
    batch: StreamBatch | None = None,
    saved_as_table: bool | None = None,
    whole_partitions: bool = True,
) -> Any:
    """Every check of the core that needs no data. `schema` is the JSON of the frame's.

    With `rules_held` the rows that come will be those of `rules.table_rows`; otherwise the core fills and checks
    them, as far as it knows the expressions.
    """
    txn = None
    if options.txn_app_id is not None and options.txn_version is not None:
        txn = (options.txn_app_id, options.txn_version)
    return _core.WritePlan(
        path,
        mode,
        schema,
        None if partition_by is None else list(partition_by),
        replace_where=options.replace_where,
        dynamic_partitions=mode == "overwrite" and options.dynamic_partitions is True,
        merge_schema=options.merge_schema is True,
        overwrite_schema=options.overwrite_schema,
        check_replaced=options.check_replaced,
        data_change=options.data_change,
        rules_held=rules_held,
        whole_partitions=whole_partitions,
        shown=options.shown,
        user_metadata=options.user_metadata,
        txn=txn,
        files=options.files,
        optimize_write=options.optimize_write,
        auto_compact=options.auto_compact,
        configuration=options.configuration,
        defaults=options.defaults,
        arbitrary_properties=options.arbitrary_properties,
        engine=f"Apache-Spark/{spark_version}",
        storage_options=dict(storage_options or {}),
        defines=None if definition is None else (definition.mode, definition.cluster_by, definition.managed),
        description=None if definition is None else definition.description,
        at_version=None if batch is None else batch.version,
        streams=batch is not None,
        saved_as_table=saved_as_table,
    )


def commit(plan: Any, adds: list[str], folder: str, reads: Sequence[str | None] = ()) -> int | None:
    """Commits the files. They are removed when the commit is known not to have happened, and only then.

    `reads` are the predicates of the scans of the table from which the rows come; none is every row.
    """
    try:
        version: int | None = plan.commit(adds, reads)
    except CommitStateUnknownError:
        raise
    except BaseException:
        plan.discard(folder, adds)
        raise
    return version


def _write(
    df: Any, plan: Any, columns: list[WriteColumn], rules: RowRules, folder: str, options: WriteOptions
) -> list[str]:
    route = options.route if options.route != "auto" else _route(df, plan)
    if route != "driver" and is_connect(df):
        route = "arrow"
    path = plan.root
    if route == "direct":
        if not plan.direct:
            reason = "`direct` cannot rearrange or check nested fields, which this write needs: leave the option out"
            raise InvalidArgumentError.of("deltaicRoute", reason)
        tasks = task_count(df) if rules.identities else 1
        within = options.replace_where if options.check_replaced else None
        rows = table_rows(df, columns, rules, path, tasks=tasks, within=within)
        rows = _gathered(rows, plan, [c.name for c in columns if c.partition])
        return direct.write(rows, plan, columns, folder, options)
    if route == "driver":
        return driver.write(_on_driver(df, columns, rules, path), plan, folder)
    if rules:
        tasks = task_count(df) if rules.identities else 1
        df = table_rows(df, columns, rules, path, tasks=tasks)
    named = [c.name if rules else c.source for c in columns if c.partition]
    df = _gathered(df, plan, [name for name in named if name is not None])
    return arrow.write(df, plan, folder)


def _on_driver(df: Any, columns: list[WriteColumn], rules: RowRules, path: str) -> Any:
    """The rows of a small DataFrame as the table has them."""
    if not rules:
        return df
    # one task counts without gaps
    return table_rows(df.coalesce(1) if rules.identities else df, columns, rules, path, tasks=1)


def _gathered(rows: Any, plan: Any, partition_by: Sequence[str]) -> Any:
    """The rows, those of a partition in few tasks where writes are optimized: Spark joins and splits tasks by size."""
    if not plan.optimize_write:
        return rows
    F = functions(rows)  # noqa: N806 (its usual name)
    return rows.hint("rebalance", *(F.col(quoted(name)) for name in partition_by))


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


def _route(df: Any, plan: Any) -> str:
    """The route by plan and size: what is known to be small is not worth a job."""
    if is_connect(df):
        # the server plans; the client knows only that a frame is its own local data
        return "driver" if type(getattr(df, "_plan", None)).__name__ == "LocalRelation" else "arrow"
    if driver.small(df) and not (plan.unfollowed and plan.direct):
        return "driver"
    # rows that need more than a rename are rearranged by the core
    if not plan.direct:
        return "arrow"
    # the core cannot follow what the write says of its files
    if plan.unfollowed:
        return "direct"
    # Spark's writer sorts the rows of each task by partition, the core does not. Where executors are other machines,
    # they may lack deltaic.
    takes = plan.partition_columns and is_local(df) and arrow.is_possible() and arrow_takes(df.schema)
    if takes and workers.fit(df):
        return "arrow"
    return "direct"
