"""The rows of a DataFrame into data files, by the route that its plan and size call for. Nothing is committed."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from pyspark.sql.types import VariantType

from deltaic.exceptions import DeltaError, InvalidArgumentError
from deltaic.identifiers import quoted
from deltaic.spark.session import python_workers
from deltaic.spark.session.hadoop_files import has_file_system, without_file_system
from deltaic.spark.session.kind import functions, is_connect, is_local
from deltaic.spark.session.types import arrow_takes, has
from deltaic.spark.write.routes import arrow, direct, driver
from deltaic.spark.write.row_errors import raise_known
from deltaic.spark.write.row_rules import RowRules, table_rows, task_count
from deltaic.spark.write.write_columns import WriteColumn

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from deltaic.spark.stream.batch import StreamBatch
    from deltaic.spark.write.options import WriteOptions


def write_rows(
    df: Any,
    plan: Any,
    path: str,
    folder: str,
    options: WriteOptions,
    *,
    at_most: int | None = None,
    batch: StreamBatch | None = None,
) -> list[str]:
    """Writes the rows into data files below `folder`; their `add` actions. Nothing is committed.

    `at_most` is how many rows there can be, if that is known: of few the driver writes one file, without a job that
    writes. Those of a `batch` that may be small are fetched first.

    Raises:
        DeltaError: as `save`.
    """
    columns, rules = WriteColumn.all_of(plan.columns), RowRules.of(plan.rules)
    with _known(path, columns, rules, options.replace_where):
        if batch is not None and batch.few and options.route == "auto" and not plan.unfollowed:
            adds = driver.write_few(_on_driver(df, columns, rules, path), plan, folder)
            if adds is not None:
                return adds
            batch.starts_again()
        route = options.route if options.route != "auto" else _route(df, plan, at_most)
        return _write(df, plan, columns, rules, folder, options, route)


def rows_for_core(df: Any, plan: Any, path: str) -> Any:
    """The rows of a small DataFrame as the table has them, in an Arrow table.

    Raises:
        DeltaError: as `save`.
    """
    columns, rules = WriteColumn.all_of(plan.columns), RowRules.of(plan.rules)
    with _known(path, columns, rules, None):
        return driver.rows(_on_driver(df, columns, rules, path))


@contextmanager
def _known(path: str, columns: list[WriteColumn], rules: RowRules, replaced: str | None) -> Iterator[None]:
    """An error of Spark for a row that the table refuses is raised as its own class."""
    try:
        yield
    except DeltaError:
        raise
    except Exception as error:
        raise_known(error, path, columns, rules, replaced)
        raise


def _write(
    df: Any,
    plan: Any,
    columns: list[WriteColumn],
    rules: RowRules,
    folder: str,
    options: WriteOptions,
    route: str,
) -> list[str]:
    if route != "driver" and is_connect(df):
        route = "arrow"
    path = plan.root
    if route == "direct":
        if not plan.direct:
            reason = "`direct` cannot rearrange or check nested fields, which this write needs: leave the option out"
            raise InvalidArgumentError.of("deltaicRoute", reason)
        if not has_file_system(df.sparkSession, path):
            reason = without_file_system(df.sparkSession, path)
            raise InvalidArgumentError.of(
                "deltaicRoute", f"`direct` writes by Hadoop. {reason}, or leave it out"
            )
        tasks = task_count(df) if rules.identities else 1
        rows = table_rows(df, columns, rules, path, tasks=tasks, within=options.within)
        rows = _gathered(rows, plan, [c.name for c in columns if c.partition])
        return direct.write(rows, plan, columns, folder, options)
    # another condition is checked by the core, which writes
    within = options.within if options.replaced_by_spark else None
    if route == "driver":
        return driver.write(_on_driver(df, columns, rules, path, within), plan, folder)
    guarded = bool(rules) or within is not None
    if guarded:
        tasks = task_count(df) if rules.identities else 1
        df = table_rows(df, columns, rules, path, tasks=tasks, within=within)
    named = [c.name if guarded else c.source for c in columns if c.partition]
    df = _gathered(df, plan, [name for name in named if name is not None])
    return arrow.write(df, plan, folder)


def _on_driver(
    df: Any, columns: list[WriteColumn], rules: RowRules, path: str, within: str | None = None
) -> Any:
    """The rows of a small DataFrame as the table has them."""
    if not rules and within is None:
        return df
    # one task counts without gaps
    df = df.coalesce(1) if rules.identities else df
    return table_rows(df, columns, rules, path, tasks=1, within=within)


def _gathered(rows: Any, plan: Any, partition_by: Sequence[str]) -> Any:
    """The rows, those of a partition in few tasks if writes are optimized: Spark sizes tasks."""
    if not plan.optimize_write:
        return rows
    F = functions(rows)  # noqa: N806 (its usual name)
    return rows.hint("rebalance", *(F.col(quoted(name)) for name in partition_by))


def _route(df: Any, plan: Any, at_most: int | None) -> str:
    """The route by plan and size: rows that are known to be few are not worth a job."""
    if is_connect(df):
        # the server plans; the client knows only that a frame is its own local data
        here = type(getattr(df, "_plan", None)).__name__ == "LocalRelation"
        return "driver" if here and not has(df.schema, VariantType) else "arrow"
    by_spark = plan.direct and has_file_system(df.sparkSession, plan.root)
    if driver.small(df, at_most) and not (plan.unfollowed and by_spark):
        return "driver"
    # rows that need more than a rename are rearranged by the core, and Spark writes only where Hadoop does
    if not by_spark:
        return "arrow"
    # the core cannot apply the settings of the write for its files
    if plan.unfollowed:
        return "direct"
    # Spark's writer sorts the rows of each task by partition, the core does not. Where executors are other machines,
    # they may lack deltaic.
    takes = plan.partition_columns and is_local(df) and arrow.is_possible() and arrow_takes(df.schema)
    if takes and python_workers.fit(df):
        return "arrow"
    return "direct"
