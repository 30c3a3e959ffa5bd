"""OPTIMIZE and Z-order of a large table on a cluster of two executors, of one, and in one process.

    python benches/peers/cluster.py --gigabytes 4 --folder FOLDER

It needs the JVM and the packages of the tests. The figures are wall time, and the peak resident set of each Python
worker, as the operating system counts it: the executors are processes of this machine, of one core each.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "python"), str(ROOT / "python")]

import cluster  # noqa: E402
import numpy as np  # noqa: E402 (the paths come first)
import pyarrow as pa  # noqa: E402
import small_session  # noqa: E402

import deltaic  # noqa: E402

_ROWS_OF_FILE = 1 << 20
# an operation of 20 GB by one executor takes half an hour
_LONGEST = 3 * 3600


def write_table(path: Path, gigabytes: float, copies: int) -> None:
    """Files of about 26 MB whose rows are spread over all values; each is there `copies` times, by links."""
    draw = np.random.default_rng(7)
    number = 0
    while not number or deltaic.Table(path).totals().bytes * copies < gigabytes * (1 << 30):
        rows = pa.table(
            {
                "id": np.arange(number * _ROWS_OF_FILE, (number + 1) * _ROWS_OF_FILE),
                "x": draw.integers(0, 1 << 40, _ROWS_OF_FILE),
                "y": draw.integers(0, 1 << 40, _ROWS_OF_FILE),
                "v": draw.random(_ROWS_OF_FILE),
            }
        )
        deltaic.write(path, rows, mode="append")
        number += 1
    if copies > 1:
        link_copies(path, copies)


def link_copies(path: Path, copies: int) -> None:
    """Adds each file of a table as so many files in all, by one commit."""
    log = path / "_delta_log"
    commits = sorted(log.glob("*.json"))
    actions = [json.loads(line) for commit in commits for line in commit.read_text().splitlines()]
    lines = []
    for add in (action["add"] for action in actions if "add" in action):
        for copy in range(1, copies):
            name = f"copy-{copy}-{add['path']}"
            (path / name).hardlink_to(path / add["path"])
            lines.append(json.dumps({"add": {**add, "path": name}}) + "\n")
    (log / f"{len(commits):020}.json").write_text("".join(lines))


class Peaks(threading.Thread):
    """The largest resident set of the Python workers of executors."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.workers: dict[int, int] = {}
        self.ended = threading.Event()

    def run(self) -> None:
        while not self.ended.wait(0.5):
            for status in Path("/proc").glob("[0-9]*/status"):
                try:
                    command = (status.parent / "cmdline").read_bytes()
                    if b"pyspark" not in command or b"daemon" not in command:
                        continue
                    peak = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
                except (OSError, StopIteration):
                    continue
                self.workers[int(status.parent.name)] = int(peak.split()[1]) >> 10


def program(url: str, path: str, layout: str, memory: str, file_size: str) -> None:
    """One optimize on the cluster; prints what it took."""
    limit = "1" if url.startswith("spark:") else "1t"
    sizes = {
        **small_session.COMPILED,
        "spark.deltaic.optimize.clusterBytes": limit,
        "spark.deltaic.optimize.taskMemory": memory,
        "spark.databricks.delta.optimize.maxFileSize": file_size,
    }
    spark = cluster.session(url, **sizes)
    before = spark.read.format("delta").load(path).selectExpr("count(*)", "sum(hash(id, x, y, v))").first()
    peaks = Peaks()
    peaks.start()
    started = time.monotonic()
    order = "ZORDER BY (x, y)" if layout == "zorder" else ""
    done = spark.sql(f"OPTIMIZE delta.`{path}` {order}").first().metrics
    seconds = time.monotonic() - started
    peaks.ended.set()
    peaks.join()
    own = next(
        line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM")
    )
    after = spark.read.format("delta").load(path).selectExpr("count(*)", "sum(hash(id, x, y, v))").first()
    told = {
        "seconds": round(seconds, 1),
        "files": [done.numFilesRemoved, done.numFilesAdded],
        "tasks": done.totalScheduledTasks,
        "worker peaks MB": sorted(peaks.workers.values(), reverse=True)[:4],
        "driver peak MB": int(own.split()[1]) >> 10,
        "same rows": before == after,
    }
    print(json.dumps(told))
    spark.stop()


def measured(folder: Path, source: Path, layout: str, executors: int, sizes: list[str]) -> dict[str, Any]:
    """Of a copy of the table, whose files are links."""
    path = folder / f"{layout}-{executors}"
    shutil.rmtree(path, ignore_errors=True)
    subprocess.run(["cp", "-al", str(source), str(path)], check=True)
    arguments = ["--program", str(path), layout, *sizes]
    if not executors:
        text = cluster.run("local[2]", Path(__file__), *arguments, seconds=_LONGEST)
    else:
        with cluster.cluster(folder / f"cluster-{layout}-{executors}", workers=executors) as url:
            text = cluster.run(url, Path(__file__), *arguments, seconds=_LONGEST)
    shutil.rmtree(path)
    found: dict[str, Any] = json.loads(text.splitlines()[-1])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gigabytes", type=float, default=4)
    parser.add_argument("--copies", type=int, default=1, help="of each file, which take no more disk")
    parser.add_argument("--task-memory", default="1g", help="spark.deltaic.optimize.taskMemory")
    parser.add_argument(
        "--file-size", default=str(1 << 30), help="spark.databricks.delta.optimize.maxFileSize"
    )
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--layouts", nargs="*", default=["compact", "zorder"])
    parser.add_argument("--executors", nargs="*", type=int, default=[2, 1, 0])
    given = parser.parse_args()
    source = given.folder / "source"
    if not source.exists():
        write_table(source, given.gigabytes, given.copies)
    print(f"{deltaic.Table(source).totals()}", flush=True)
    for layout in given.layouts:
        for executors in given.executors:
            found = measured(given.folder, source, layout, executors, [given.task_memory, given.file_size])
            print(layout, executors, found, flush=True)


if __name__ == "__main__":
    if "--program" in sys.argv:
        program(sys.argv[1], *sys.argv[3:])
    else:
        main()
