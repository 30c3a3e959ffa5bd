"""Writing a DataFrame to a table: checked before a job starts, written once, committed by put-if-absent."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

from deltaic import _core
from deltaic.exceptions import CommitStateUnknownError, DeltaError, InvalidArgumentError
from deltaic.predicates import from_sql
from deltaic.spark.failures import raise_known
from deltaic.spark.frame import WriteColumn, is_connect
from deltaic.spark.options import WriteOptions, save_mode
from deltaic.spark.routes import arrow, direct, driver
from deltaic.spark.rules import RowRules, table_rows, task_count

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# rows that come to the driver without a second thought
_FEW_ROWS = 1000


def save(
    spark: Any,
    df: Any,
    path: str,
    mode: str | None,
    partition_by: Sequence[str] | None,
    options: Mapping[str, str] | None,
    storage_options: Mapping[str, str] | None = None,
) -> int | None:
    """Writes the rows of `df` into the table at `path`, which is created where there is none.

    All or nothing: until the commit, and after any failure, the table is as it was. Returns the new version,
    or `None` where there was nothing to do: mode `ignore` and a table that exists, an append of no rows, a
    txnVersion that is already recorded.

    Raises:
        TableAlreadyExistsError: in mode `errorifexists`.
        SchemaMismatchError: when the frame or a value in it does not fit the table.
        InvariantViolationError: when a row breaks a rule of the table: it names the rule and the row.
        ReplaceWhereMismatchError: when a row is not among those that the overwrite replaces.
        InvalidExpressionError: when Spark cannot resolve a rule of the table.
        PackageNotOnServerError: when a Python worker of Spark cannot import deltaic.
        UnsupportedError: for a mode, option or type that is not supported, by its name.
        CommitConflictError: when another writer changed what the write relied on.
        CommitStateUnknownError: when nobody can tell whether the commit landed; no file was removed.
    """
    del spark  # the frame knows its session
    given = WriteOptions.parse(path, options or {}).in_session(df.sparkSession.conf)
    plan = make_plan(
        path,
        save_mode(path, mode),
        df.schema.json(),
        partition_by or given.partition_by,
        given,
        df.sparkSession.version,
        storage_options,
        rules_held=True,
    )
    if plan.skip:
        return None
    folder = str(uuid.uuid4())
    return commit(plan, write_rows(df, plan, path, folder, given), folder)


def write_rows(df: Any, plan: Any, path: str, folder: str, options: WriteOptions) -> list[str]:
    """Writes the rows into data files below `folder`; their `add` actions. Nothing is committed.

    Raises:
        DeltaError: as `save`.
    """
    columns, rules = WriteColumn.all_of(plan.columns), RowRules.of(plan.rules)
    try:
        return _write(df, plan, columns, rules, folder, options)
    except DeltaError:
        raise
    except Exception as error:
        raise_known(error, path, columns, rules, options.replace_where)
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
) -> Any:
    """Every check of the core that needs no data. `schema` is the JSON of the frame's.

    With `rules_held` the rows that come will be those of `rules.table_rows`; otherwise the core fills and checks
    them, as far as it knows the expressions.
    """
    txn = None
    if options.txn_app_id is not None and options.txn_version is not None:
        txn = (options.txn_app_id, options.txn_version)
    where = options.replace_where
    return _core.WritePlan(
        path,
        mode,
        schema,
        None if partition_by is None else list(partition_by),
        replace_where=None if where is None else (from_sql(where), where),
        dynamic_partitions=mode == "overwrite" and options.dynamic_partitions is True,
        merge_schema=options.merge_schema is True,
        overwrite_schema=options.overwrite_schema,
        data_change=options.data_change,
        rules_held=rules_held,
        user_metadata=options.user_metadata,
        txn=txn,
        compression=options.compression,
        max_records_per_file=options.max_records_per_file,
        configuration=options.configuration,
        engine=f"Apache-Spark/{spark_version}",
        storage_options=None if storage_options is None else dict(storage_options),
    )


def commit(plan: Any, adds: list[str], folder: str) -> int | None:
    """Commits the files. They are removed when the commit is known not to have happened, and only then."""
    try:
        version: int | None = plan.commit(adds)
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
            raise InvalidArgumentError(f"deltaicRoute: {reason}", argument="deltaicRoute", reason=reason)
        tasks = task_count(df) if rules.identities else 1
        rows = table_rows(df, columns, rules, path, tasks=tasks, within=options.replace_where)
        return direct.write(rows, plan, columns, folder, options)
    if route == "driver":
        if rules:
            # one task counts without gaps
            df = table_rows(df.coalesce(1), columns, rules, path, tasks=1)
        return driver.write(df, plan, folder)
    if rules:
        tasks = task_count(df) if rules.identities else 1
        df = table_rows(df, columns, rules, path, tasks=tasks)
    return arrow.write(df, plan, folder)


def _route(df: Any, plan: Any) -> str:
    """The route by plan and size: what is known to be small is not worth a job."""
    if is_connect(df):
        # the server plans; the client knows only that a frame is its own local data
        return "driver" if type(getattr(df, "_plan", None)).__name__ == "LocalRelation" else "arrow"
    if direct.small(df, _FEW_ROWS):
        return "driver"
    # rows that need more than a rename are rearranged by the core
    return "direct" if plan.direct else "arrow"
