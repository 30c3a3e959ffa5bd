"""The builder of OPTIMIZE."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any

from deltaic import columns
from deltaic.exceptions import InvalidExpressionError, UnsupportedError
from deltaic.spark.maintenance import result_frames
from deltaic.spark.maintenance.chosen_partitions import chosen_partitions
from deltaic.spark.maintenance.result_rows import hadoop_path
from deltaic.spark.session import local_frames
from deltaic.spark.session.after_commit import committed_at
from deltaic.spark.session.on_server import carried_out_by_server
from deltaic.spark.session.optimize_tasks import OptimizeRun
from deltaic.spark.session.pyspark_errors import all_raise_pyspark_errors
from deltaic.spark.session.settings import (
    Settings,
    checks_zorder_statistics,
    optimize_rules,
    storage,
    user_metadata,
)
from deltaic.spark.session.time_zone import TIME_ZONE, in_utc
from deltaic.table import Table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from deltaic.spark.session.table_ref import TableRef
    from deltaic.table.maintain import CurveStats, OptimizeResult

_INDEXED_COLUMNS = "delta.dataSkippingNumIndexedCols"


@all_raise_pyspark_errors
class DeltaOptimizeBuilder:
    """Which files are rewritten, and how. Nothing happens before a method that begins with `execute`.

    Made by `DeltaTable.optimize`. The core reads and writes the files in this process, without a Spark job, or in
    Spark's tasks where they are more than `spark.deltaic.optimize.clusterBytes`.

    Example:
        >>> table.optimize().where("day = '2026-11-18'").executeCompaction().show()  # doctest: +SKIP
    """

    def __init__(self, ref: TableRef) -> None:
        self._ref = ref
        self._where: list[str] = []

    def where(self, partitionFilter: str) -> DeltaOptimizeBuilder:  # noqa: N803 (the name of delta-spark)
        """Looks only at the partitions for which the condition is true; called again, at those for which all are."""
        columns.check_text("Partition filter", partitionFilter)
        self._where.append(partitionFilter)
        return self

    @carried_out_by_server
    def executeCompaction(self) -> DataFrame:  # noqa: N802 (the name of delta-spark)
        """Compacts small files and leaves deleted rows out; no row changes, and rows keep their row ids.

        Appends and, with deletion vectors, row-level deletes may land meanwhile. Where there is nothing to do,
        nothing is committed.

        Returns:
            One row: `path`, and `metrics` with the files added and removed, their sizes and the files considered.

        Raises:
            InvalidArgumentError: the condition is not on partition columns.
            CommitConflictError: other writers rewrote the files again and again. Nothing was changed.
        """
        return self._execute({})

    @carried_out_by_server
    def executeZOrderBy(  # noqa: N802 (the name of delta-spark)
        self, *cols: str | list[str] | tuple[str, ...]
    ) -> DataFrame:
        """Puts all rows of the partitions into the Z-order of columns: conditions on any of them then read few files.

        No row changes, and rows keep their row ids. Appends may land meanwhile. Every file of the partitions is written
        again. Columns must have statistics unless `spark.databricks.delta.optimize.zorder.checkStatsCollection.enabled`
        is false.

        Args:
            *cols: Names of columns, such as `a` or `s.x`, or one list of them; none compacts, as with delta-spark.

        Returns:
            One row, as `executeCompaction`, with `zOrderStats`.

        Raises:
            InvalidArgumentError: a column does not exist, is a partition column, or has no statistics; the table is
                clustered; the condition is not on partition columns.
            CommitConflictError: other writers rewrote the files again and again. Nothing was changed.
        """
        names = columns.names(cols, "Z-order column")
        check = checks_zorder_statistics(self._ref.spark)
        return self._execute({"zorder_by": names, "check_statistics": check})

    def _execute(self, how: dict[str, Any]) -> DataFrame:
        return local_frames.frame(
            self._ref.spark, result_frames.OPTIMIZE, [optimized(self._ref, self._where, **how)]
        )


def optimized(ref: TableRef, where: list[str], **how: Any) -> dict[str, Any]:
    """Lays out the files of the partitions for which all conditions are true; the row that is answered.

    Args:
        ref: The table.
        where: Conditions on partition columns.
        **how: As of `deltaic.Table.optimize`.
    """
    said = user_metadata(ref.spark, "optimize")
    table = Table(ref.path, storage_options=storage(ref.spark, ref.storage_options))
    started = time.time_ns()
    run = OptimizeRun(ref.spark)
    how = {"user_metadata": said, "_run": run, **optimize_rules(ref.spark), **how}
    files = Settings.of(ref.spark, "optimize").files()
    zone = ref.spark.conf.get(TIME_ZONE)
    try:
        text = _all([in_utc(zone, condition, ref.path, ref.storage_options) for condition in where])
        done = table.optimize(text, _files=files, **how)
    except (UnsupportedError, InvalidExpressionError) as error:
        text = _all(where)
        if text is None:
            raise
        done = table.optimize(text, _files=files, _partitions=chosen_partitions(ref, text, error), **how)
    committed_at(ref.spark, table.uri, done.version)
    metrics = {
        **_metrics(done, table, run.tasks),
        "startTimeMs": started // 1_000_000,
        "endTimeMs": time.time_ns() // 1_000_000,
    }
    return {"path": hadoop_path(table.uri), "metrics": metrics}


def _all(conditions: list[str]) -> str | None:
    return " AND ".join(f"({text})" for text in conditions) or None


def _metrics(done: OptimizeResult, table: Table, tasks: int) -> dict[str, Any]:
    number = len(table.schema)
    curve = done.zorder or done.clustering
    vectors = {
        "numDeletionVectorsRemoved": done.removed_vectors,
        "numDeletionVectorRowsRemoved": done.deleted_rows,
    }
    return {
        "numFilesAdded": done.added_files,
        "numFilesRemoved": done.removed_files,
        "filesAdded": _sizes(done.min_file_size, done.max_file_size, done.added_files, done.added_bytes),
        "filesRemoved": _sizes(
            done.min_removed_size, done.max_removed_size, done.removed_files, done.removed_bytes
        ),
        "partitionsOptimized": done.partitions,
        "zOrderStats": done.zorder and _zorder_stats(done.zorder),
        "clusteringStats": done.clustering and _clustering_stats(done.clustering),
        "numBins": done.added_files if curve is None else curve.new_cubes,
        "numBatches": 1,
        "totalConsideredFiles": done.considered_files,
        "totalFilesSkipped": max(done.considered_files - done.removed_files, 0),
        "preserveInsertionOrder": False,
        "numFilesSkippedToReduceWriteAmplification": 0,
        "numBytesSkippedToReduceWriteAmplification": 0,
        "totalClusterParallelism": os.cpu_count() or 1,
        "totalScheduledTasks": tasks,
        "autoCompactParallelismStats": None,
        "deletionVectorStats": vectors if done.removed_vectors else None,
        "numTableColumns": number,
        "numTableColumnsWithStats": min(int(table.properties.get(_INDEXED_COLUMNS, "32")), number),
    }


def _zorder_stats(stats: CurveStats) -> dict[str, Any]:
    """Every file of the partitions was rewritten, regardless of its origin."""
    return {
        "strategyName": "all",
        "inputCubeFiles": {"num": stats.cube_files, "size": stats.cube_bytes},
        "inputOtherFiles": {"num": stats.other_files, "size": stats.other_bytes},
        "inputNumCubes": stats.cubes,
        "mergedFiles": {"num": stats.merged_files, "size": stats.merged_bytes},
        "numOutputCubes": stats.new_cubes,
        "mergedNumCubes": None,
    }


def _clustering_stats(stats: CurveStats) -> dict[str, Any]:
    return {
        "inputZCubeFiles": {"numFiles": stats.cube_files, "size": stats.cube_bytes},
        "inputOtherFiles": {"numFiles": stats.other_files, "size": stats.other_bytes},
        "inputNumZCubes": stats.cubes,
        "mergedFiles": {"numFiles": stats.merged_files, "size": stats.merged_bytes},
        "numOutputZCubes": stats.new_cubes,
    }


def _sizes(smallest: int, largest: int, files: int, total: int) -> dict[str, Any]:
    return {
        "min": smallest if files else None,
        "max": largest if files else None,
        "avg": total / files if files else 0.0,
        "totalFiles": files,
        "totalSize": total,
    }
