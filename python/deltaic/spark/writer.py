"""Writing a DataFrame to a table: checked before a job starts, written once, committed by put-if-absent."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

from deltaic import _core
from deltaic.exceptions import CommitStateUnknownError, DeltaError, InvalidArgumentError
from deltaic.spark.failures import raise_known
from deltaic.spark.frame import WriteColumn, is_connect
from deltaic.spark.options import WriteOptions, save_mode
from deltaic.spark.routes import arrow, direct, driver

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
    """Creates the table at `path` from the rows of `df`, or appends them; returns the new version.

    All or nothing: until the commit, and after any failure, the table is as it was. `None` is returned
    where there was
    nothing to do: mode `ignore` and a table that exists, an append of no rows, a txnVersion that is already
    recorded.

    Raises:
        TableAlreadyExistsError: in mode `errorifexists`.
        SchemaMismatchError: when the frame or a value in it does not fit the table.
        PackageNotOnServerError: when a Python worker of Spark cannot import deltaic.
        UnsupportedError: for a mode, option or type that is not supported, by its name.
        CommitConflictError: when another writer changed what the checks relied on.
        CommitStateUnknownError: when nobody can tell whether the commit landed; no file was removed.
    """
    del spark  # the frame knows its session
    given = WriteOptions.parse(path, options or {})
    plan = make_plan(
        path,
        save_mode(path, mode),
        df.schema.json(),
        partition_by or given.partition_by,
        given,
        df.sparkSession.version,
        storage_options,
    )
    if plan.skip:
        return None
    columns = WriteColumn.all_of(plan.columns)
    folder = str(uuid.uuid4())
    try:
        adds = _write(df, plan, columns, folder, given)
    except DeltaError:
        raise
    except Exception as error:
        raise_known(error, path, columns)
        raise
    return commit(plan, adds, folder)


def make_plan(
    path: str,
    mode: str,
    schema: str,
    partition_by: Sequence[str] | None,
    options: WriteOptions,
    spark_version: str,
    storage_options: Mapping[str, str] | None,
) -> Any:
    """Every check of the core that needs no data. `schema` is the JSON of the frame's."""
    txn = None
    if options.txn_app_id is not None and options.txn_version is not None:
        txn = (options.txn_app_id, options.txn_version)
    return _core.WritePlan(
        path,
        mode,
        schema,
        None if partition_by is None else list(partition_by),
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


def _write(df: Any, plan: Any, columns: list[WriteColumn], folder: str, options: WriteOptions) -> list[str]:
    route = options.route if options.route != "auto" else _route(df, plan)
    if route == "driver":
        return driver.write(df, plan)
    if route == "arrow" or is_connect(df):
        return arrow.write(df, plan, folder)
    if not plan.direct:
        reason = (
            "`direct` cannot rearrange or check nested fields, which this write needs: leave the option out"
        )
        raise InvalidArgumentError(f"deltaicRoute: {reason}", argument="deltaicRoute", reason=reason)
    return direct.write(df, plan, columns, folder, options)


def _route(df: Any, plan: Any) -> str:
    """The route by plan and size: what is known to be small is not worth a job."""
    if is_connect(df):
        # the server plans; the client knows only that a frame is its own local data
        return "driver" if type(getattr(df, "_plan", None)).__name__ == "LocalRelation" else "arrow"
    if direct.small(df, _FEW_ROWS):
        return "driver"
    # rows that need more than a rename are rearranged by the core
    return "direct" if plan.direct else "arrow"
