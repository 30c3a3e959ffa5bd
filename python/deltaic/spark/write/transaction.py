"""The transaction of a write: its plan, with every check that needs no data, and its commit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from deltaic import _core
from deltaic.exceptions import CommitStateUnknownError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from deltaic.spark.stream.batch import StreamBatch
    from deltaic.spark.write.definition import Definition
    from deltaic.spark.write.options import WriteOptions


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

    With `rules_held` the rows that come will be those of `row_rules.table_rows`; otherwise the core fills and checks
    them, as far as it knows the expressions.
    """
    txn = None
    if options.txn_app_id is not None and options.txn_version is not None:
        txn = (options.txn_app_id, options.txn_version)
    defines: _core._WriteDefinition | None = None
    if definition is not None:
        defines = {
            "mode": definition.mode,
            "cluster_by": definition.cluster_by,
            "managed": definition.managed,
        }
    return _core.WritePlan(
        path,
        dict(storage_options or {}),
        schema,
        {
            "mode": mode,
            "partition_by": list(partition_by or ()),
            "replace_where": options.replace_where,
            "dynamic_partitions": mode == "overwrite" and options.dynamic_partitions is True,
            "merge_schema": options.merge_schema is True,
            "overwrite_schema": options.overwrite_schema,
            "check_replaced": options.check_replaced,
            "engine_replaces": options.replaced_by_spark,
            "data_change": options.data_change,
            "rules_held": rules_held,
            "whole_partitions": whole_partitions,
            "shown": options.shown,
            "user_metadata": options.user_metadata,
            "app_transaction": txn,
            "files": options.files,
            "optimize_write": options.optimize_write,
            "auto_compact": options.auto_compact,
            # options of a stream are no properties, as in delta-spark
            "configuration": {} if batch is not None else options.configuration,
            "defaults": options.defaults,
            "arbitrary_properties": options.arbitrary_properties,
            "engine": f"Apache-Spark/{spark_version}",
            "defines": defines,
            "description": None if definition is None else definition.description,
            "at_version": None if batch is None else batch.version,
            "streams": batch is not None,
            "saved_as_table": saved_as_table,
        },
    )


def commit(
    plan: _core.WritePlan,
    adds: list[str],
    folder: str,
    reads: Sequence[str | None] = (),
    left_from: int | None = None,
) -> tuple[int | None, _core.Optimize | None]:
    """Commits the files. They are removed when the commit is known not to have happened, and only then.

    `reads` are the predicates of the scans of the table from which the rows come; none is every row. Returns the
    version and, where a compaction after it joins at least `left_from` bytes, the compaction, which is to be done.
    """
    try:
        version, left = plan.commit(adds, reads, left_from)
    except CommitStateUnknownError:
        raise
    except BaseException:
        plan.discard(folder, adds)
        raise
    return version, left
