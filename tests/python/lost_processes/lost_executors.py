"""Steps on a cluster where a fault hits a task of each: run by `test_lost_executors`.

    python lost_executors.py URL FOLDER FAULT SETTINGS STEP…

A step may have the number of the write that is hit, after a colon. The name of a group is all of its steps, with each
of their writes.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import cluster
import steps

GROUPS = {
    "writes": ("append", "overwrite", "insert", "constraint"),
    "changes": ("delete", "update"),
    "merges": ("merge", "upsert"),
    "streams": ("stream",),
}
"""By the first words of steps."""


def of_group(group: str) -> list[str]:
    """Each step, where it reads, and at each of its writes."""
    chosen = {name: step for name, step in steps.STEPS.items() if name.split()[0] in GROUPS[group]}
    return [*chosen, *(f"{name}:{write}" for name, step in chosen.items() for write in range(step.writes))]


def main(url: str, folder: Path, fault: str, settings: str, given: list[str]) -> None:
    given = [name for each in given for name in (of_group(each) if each in GROUPS else [each])]
    # many files and tasks of few rows, which the tasks of Spark rewrite
    small = {
        "spark.deltaic.dml.clusterBytes": "0",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "20",
        "spark.sql.shuffle.partitions": "2",
    }
    spark = cluster.session(url, **{**small, **json.loads(settings)})
    reported = {}
    for number, each in enumerate(given):
        name, _, write = each.partition(":")
        begun = time.monotonic()
        try:
            found = steps.play(spark, name, folder / f"t{number}", fault, int(write) if write else None)
        except Exception as error:  # noqa: BLE001 (the next step is played, too)
            found = {"wrong": [f"{type(error).__name__}: {error}"[:3000]]}
        # also those that have ended, and without the driver
        executors = spark.sparkContext._jsc.sc().statusStore().executorList(False).size() - 1
        reported[each] = {**found, "executors": executors, "seconds": round(time.monotonic() - begun, 1)}
        print(each, reported[each], file=sys.stderr, flush=True)
    print(json.dumps(reported))
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), sys.argv[3], sys.argv[4], sys.argv[5:])
