"""OPTIMIZE on a cluster where the first task of each kind loses its process: run by `test_optimize_on_cluster`."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import cluster
import pyarrow as pa

import deltaic
from deltaic.spark.session import optimize_tasks
from deltaic.tables import DeltaTable

if TYPE_CHECKING:
    from collections.abc import Iterator


class DiesOnce:
    """The work of a task. The process of the first one to have done something ends, and nobody hears of it."""

    def __init__(self, work: Any, mark: str) -> None:
        self.work = work
        self.mark = mark

    def __call__(self, given: Any) -> Iterator[pa.RecordBatch]:
        for answer in self.work(given):
            try:
                os.close(os.open(self.mark, os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                yield answer
            else:
                os._exit(1)


def _rows(first: int, count: int) -> pa.Table:
    numbers = range(first, first + count)
    return pa.table(
        {"n": numbers, "a": [n * 7919 % 10007 for n in numbers], "p": ["xy"[n % 2] for n in numbers]}
    )


def _content(spark: Any, path: Path) -> list[str]:
    df = spark.read.format("delta").load(str(path)).select("*", "_metadata.row_id")
    return sorted(map(str, df.collect()))


def main(url: str, folder: Path) -> None:
    spark = cluster.session(
        url, **{"spark.deltaic.optimize.clusterBytes": "1", "spark.sql.shuffle.partitions": "2"}
    )
    reported = {}
    for kind in ("none", "Rewrite", "Sample", "Spread", "Gather"):
        path, mark = folder / kind, folder / f"{kind} died"
        for part in range(4):
            tracked = {"delta.enableRowTracking": "true"} if part == 0 else None
            deltaic.write(
                path, _rows(part * 500, 500), mode="append", partition_by="p", configuration=tracked
            )
        before, size = _content(spark, path), deltaic.Table(path).totals().bytes
        original = getattr(optimize_tasks, kind, None)
        if original is not None:
            setattr(optimize_tasks, kind, lambda *given, of=original, at=mark: DiesOnce(of(*given), str(at)))
        compacts = kind in ("none", "Rewrite")
        spark.conf.set("spark.databricks.delta.optimize.maxFileSize", str(size if compacts else size // 6))
        optimize = DeltaTable.forPath(spark, str(path)).optimize()
        done = (optimize.executeCompaction() if compacts else optimize.executeZOrderBy("a", "n")).first()
        if original is not None:
            setattr(optimize_tasks, kind, original)
        named = pa.table(deltaic.Table(path).files())["path"].to_pylist()
        written = {
            str(file.relative_to(path)) for file in path.rglob("*.parquet") if "_delta_log" not in file.parts
        }
        reported[kind] = {
            "died": mark.exists(),
            "same": _content(spark, path) == before,
            "tasks": done.metrics.totalScheduledTasks,
            "findings": len(deltaic.Table(path).verify(deep=True).findings),
            # the eight files of before, and those of the table: an attempt that was lost left none
            "orphans": len(written) - len(named) - 8,
        }
    executors = spark.sparkContext._jsc.sc().getExecutorMemoryStatus().size() - 1
    print(json.dumps({"executors": executors, "kinds": reported}))
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
