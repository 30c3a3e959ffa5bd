"""Steps on a cluster some of whose workers cannot import deltaic: run by `test_lacking_workers`.

python lacking_workers.py URL FOLDER
"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import checked_tables as tables
import cluster
import steps

import deltaic
from deltaic.exceptions import DeltaWarning
from deltaic.spark.session.worker_errors import PackageNotOnServerError
from deltaic.tables import DeltaTable

if TYPE_CHECKING:
    from collections.abc import Callable


def _plain(spark: Any, path: Path) -> None:
    assert spark.read.format("delta").load(str(path)).count() == tables.ROWS
    steps.new_rows(spark, tables.ROWS, 200).write.format("delta").mode("append").save(str(path))


def _upsert(spark: Any, path: Path) -> None:
    deltaic.upsert(steps.new_rows(spark, 100, 200, "n + 1000"), str(path), "n")


def _delete(spark: Any, path: Path) -> None:
    DeltaTable.forPath(spark, str(path)).delete("n % 4 = 0")


def _optimize(spark: Any, path: Path) -> None:
    DeltaTable.forPath(spark, str(path)).optimize().executeCompaction()


def _by_arrow(spark: Any, path: Path) -> None:
    rows = steps.new_rows(spark, tables.ROWS, 200)
    deltaic.save(rows, str(path), mode="append", deltaicRoute="arrow")


_FIRST = [tables.row(n) for n in range(tables.ROWS)]
STEPS: dict[str, tuple[Callable[[Any, Path], None], list[tables.Row]]] = {
    "plain": (_plain, steps.STEPS["append direct"].leaves),
    "upsert": (_upsert, steps.STEPS["upsert"].leaves),
    "delete": (_delete, steps.STEPS["delete rewriting"].leaves),
    "optimize": (_optimize, _FIRST),
    "arrow": (_by_arrow, steps.STEPS["append arrow"].leaves),
}


def main(url: str, folder: Path) -> None:
    in_tasks = {
        "spark.deltaic.dml.clusterBytes": "0",
        "spark.deltaic.optimize.clusterBytes": "1",
        "spark.sql.shuffle.partitions": "2",
    }
    spark = cluster.session(url, **in_tasks)
    reported = {}
    for name, (act, leaves) in STEPS.items():
        path, refused = folder / name, None
        tables.make(path)
        before = tables.written(path)
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            try:
                act(spark, path)
            except PackageNotOnServerError as error:
                refused = str(error)
        left = len(tables.written(path) - before)
        found = tables.check(path, _FIRST if refused else leaves, 0 if refused else 1)
        said = [str(each.message) for each in warned if issubclass(each.category, DeltaWarning)]
        reported[name] = {**found, "refused": refused, "left": left, "warned": said}
        print(name, reported[name], file=sys.stderr, flush=True)
    print(json.dumps(reported))
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
