"""Jobs whose driver is killed at a named point, and the same jobs run again: run by `test_lost_driver`.

python lost_driver.py URL FOLDER JOB POINT   # the process and its JVM end by SIGKILL
python lost_driver.py URL FOLDER again       # runs every job again on the tables that are there
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import checked_tables as tables
import cluster
import faults
import pyarrow as pa
import steps

import deltaic
from deltaic.spark import save as save_module
from deltaic.spark.dml import operation
from deltaic.spark.write import transaction

if TYPE_CHECKING:
    from collections.abc import Callable

_TXN = {"txnAppId": "job", "txnVersion": "1"}


def _append(spark: Any, path: Path) -> None:
    rows = steps.new_rows(spark, tables.ROWS, 200)
    deltaic.save(rows, str(path), mode="append", deltaicRoute="direct", maxRecordsPerFile="20", **_TXN)


def _upsert(spark: Any, path: Path) -> None:
    deltaic.upsert(steps.new_rows(spark, 100, 200, "n + 1000"), str(path), "n", app_transaction=("job", 1))


def _stream(spark: Any, path: Path) -> None:
    source = path.with_name(f"{path.name} source")
    if not source.exists():
        n, p, v = zip(*(tables.row(n) for n in range(tables.ROWS, tables.ROWS + 200)), strict=True)
        deltaic.write(source, pa.table({"n": n, "p": p, "v": v}))
    query = spark.readStream.format("delta").load(str(source)).writeStream.format("delta")
    query = query.option("checkpointLocation", f"{path} checkpoint").trigger(availableNow=True)
    query.start(str(path)).awaitTermination()


JOBS: dict[str, Callable[[Any, Path], None]] = {"append": _append, "upsert": _upsert, "stream": _stream}
LEAVES = {
    "append": steps.STEPS["append direct"].leaves,
    "upsert": steps.STEPS["upsert"].leaves,
    "stream": steps.STEPS["append direct"].leaves,
}
POINTS = ("before the files", "among the files", "before the commit", "after the commit")


def _die(*_: Any, **__: Any) -> NoReturn:
    os.killpg(0, signal.SIGKILL)
    time.sleep(60)
    raise AssertionError("a process that is killed ends")


def _arm(point: str, path: Path) -> None:
    """This process and its JVM are killed when they come to the point."""
    if point == "before the files":
        operation.write_rows = save_module.write_rows = _die
    elif point == "among the files":
        original, group = operation.write_rows, os.getpgid(0)

        def kill() -> None:
            import os
            import signal

            os.killpg(group, signal.SIGKILL)

        def write_rows(df: Any, *given: Any, **named: Any) -> Any:
            return original(faults.in_batches(df, kill), *given, **named)

        operation.write_rows = save_module.write_rows = write_rows
    elif point == "before the commit":
        transaction.commit = _die  # type: ignore[assignment]
        operation.Operation.commit = _die  # type: ignore[assignment, method-assign]
    else:
        # of a session of its own, as it must not be killed itself
        next_commit = path / "_delta_log" / f"{tables.PARTS:020}.json"
        program = (
            "import os, signal, sys\n"
            "while not os.path.exists(sys.argv[1]): pass\n"
            "os.killpg(int(sys.argv[2]), signal.SIGKILL)"
        )
        command = [sys.executable, "-S", "-c", program, str(next_commit), str(os.getpgid(0))]
        subprocess.Popen(command, start_new_session=True)


def table_of(folder: Path, job: str, point: str) -> Path:
    return folder / f"{job} {point}"


def main(url: str, folder: Path, *given: str) -> None:
    spark = cluster.session(url, **{"spark.sql.shuffle.partitions": "2"})
    if given != ("again",):
        job, point = given
        path = table_of(folder, job, point)
        # a checkpoint with each commit: there is work left after the put
        tables.make(path, **{"delta.checkpointInterval": "1"})
        _arm(point, path)
        JOBS[job](spark, path)
        return
    reported = {}
    for job, run in JOBS.items():
        for point in POINTS:
            path = table_of(folder, job, point)
            if path.exists():
                run(spark, path)
                run(spark, path)
                reported[f"{job} {point}"] = tables.check(path, LEAVES[job], 1)
    print(json.dumps(reported))
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), *sys.argv[3:])
