#!/usr/bin/env python3
"""What a store that is far away costs, on deltaic and deltalake: each request waits before it reaches a server of S3.

    python benches/peers/latency.py [--delay 0.03] [--files 100000] [--commits 20] [--writers 16] [--appends 5]
        [--kernel]

The server is versitygw, as the tests of stores build it, behind a relay. Each measure is a process of its own, except
that the second of a pair shows what a process has kept. See benches/README.md.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

STORES = Path(__file__).resolve().parents[2] / "tests" / "python" / "stores"
sys.path[:0] = [str(STORES), str(STORES.parent)]

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = STORES.parents[2]
ENGINES = ("deltaic", "deltalake")


def timed(work: Callable[[], Any]) -> float:
    begin = time.perf_counter()
    work()
    return round((time.perf_counter() - begin) * 1000)


def engine(name: str, uri: str, options: dict[str, str]) -> tuple[Callable[[], Any], Callable, Callable]:
    """To open the table, to count its files, and to append a row."""
    import pyarrow

    def rows(n: int) -> Any:
        return pyarrow.table({"id": pyarrow.array([n], pyarrow.int64())})

    if name == "deltaic":
        import deltaic

        return (
            lambda: deltaic.Table(uri, storage_options=options),
            lambda table: table.totals().files,
            lambda n: deltaic.write(uri, rows(n), storage_options=options),
        )
    from deltalake import DeltaTable, write_deltalake

    return (
        lambda: DeltaTable(uri, storage_options=options),
        lambda table: len(table.file_uris()),
        lambda n: write_deltalake(uri, rows(n), mode="append", storage_options=options),
    )


def work(name: str, kind: str, uri: str, options: dict[str, str], argument: list[int]) -> Any:
    """One measure, in a process of its own; the milliseconds of its parts."""
    opened, listed, append = engine(name, uri, options)
    if kind == "open":
        return [timed(opened), timed(opened)]
    if kind == "list":
        return [timed(lambda: listed(opened())), timed(lambda: listed(opened()))]
    if kind == "optimize":
        table = opened()
        return timed(table.optimize if name == "deltaic" else table.optimize.compact)
    first, count, pause = argument
    took, failed, started = [], [], time.time()
    for n in range(first, first + count):
        begin = time.perf_counter()
        try:
            append(n)
            took.append((n, round((time.perf_counter() - begin) * 1000)))
        except Exception as error:  # noqa: BLE001 failures are what is counted
            failed.append(type(error).__name__)
        if pause:
            time.sleep(max(0.0, pause - (time.perf_counter() - begin)))
    return {"took": took, "failed": failed, "started": started, "ended": time.time()}


def start(name: str, kind: str, uri: str, options: dict[str, str], *argument: int) -> subprocess.Popen[str]:
    asked = json.dumps([name, kind, uri, options, argument])
    me = [sys.executable, str(Path(__file__).resolve()), "--work", asked]
    return subprocess.Popen(me, stdout=subprocess.PIPE, text=True)


def answer(process: subprocess.Popen[str]) -> Any:
    said, _ = process.communicate()
    if process.returncode:
        raise SystemExit("a process has failed")
    return json.loads(said.splitlines()[-1])


def kernel() -> Path:
    """The program of delta_kernel, built."""
    target = ROOT / "target" / "peers" / "build"
    build = ["cargo", "build", "--release", "--quiet", "--target-dir", str(target)]
    subprocess.run(build, cwd=ROOT / "benches" / "peers" / "kernel", check=True)
    return target / "release" / "peer-kernel"


def of_kernel(program: Path, uri: str, mode: str, options: dict[str, str]) -> list[int]:
    """Milliseconds of the first and the second time with one engine of delta_kernel."""
    lines = "\n".join(f"{key}={value}" for key, value in options.items())
    environment = {**os.environ, "STORE_OPTIONS": lines, "RUNS": "2"}
    said = subprocess.run(
        [program, uri, mode], env=environment, stdout=subprocess.PIPE, text=True, check=True
    )
    took: list[int] = json.loads(said.stdout)["ms"]
    return took


def large_table(folder: Path, files: int) -> None:
    """A table of so many files, none of which exists, with a checkpoint."""
    import deltaic

    deltaic.create(folder, "id BIGINT")
    stats = json.dumps(
        {"numRecords": 1, "minValues": {"id": 1}, "maxValues": {"id": 9}, "nullCount": {"id": 0}}
    )
    add = {"partitionValues": {}, "size": 1000, "modificationTime": 0, "dataChange": True, "stats": stats}
    with (folder / "_delta_log" / f"{1:020}.json").open("w") as commit:
        for n in range(files):
            commit.write(json.dumps({"add": {"path": f"part-{n:08}.parquet", **add}}) + "\n")
    deltaic.Table(folder).checkpoint()


def many_files(folder: Path, files: int) -> None:
    """A table of so many files of 5,000 rows, about 400 KB each: more than is read at once."""
    import numpy as np
    import pyarrow

    import deltaic

    draw = np.random.default_rng(7)
    for _ in range(files):
        columns = {f"c{n}": draw.random(5_000) for n in range(10)}
        deltaic.write(folder, pyarrow.table(columns))


def left(folder: Path, done: list[int]) -> dict[str, int]:
    """Acknowledged rows that are missing or there twice, by the commits alone."""
    commits = sorted((folder / "_delta_log").glob("*.json"))
    actions = [json.loads(line) for commit in commits for line in commit.read_text().splitlines()]
    found = [json.loads(a["add"]["stats"])["minValues"]["id"] for a in actions if "add" in a]
    return {"lost": len(set(done) - set(found)), "doubled": len(found) - len(set(found))}


def spread(took: list[float]) -> dict[str, float]:
    ordered = sorted(took)
    return {
        "p50 ms": statistics.median(ordered),
        "p99 ms": ordered[min(len(ordered) - 1, len(ordered) * 99 // 100)],
    }


def measure(options: argparse.Namespace, folder: Path) -> list[dict[str, Any]]:
    import servers
    import waves

    import deltaic

    found = []
    program = kernel() if options.kernel else None
    with servers.versitygw(folder / "server") as s3, waves.delayed(s3.endpoint, options.delay) as relay:
        data = folder / "server" / "data" / servers.BUCKET
        large_table(folder / "large", options.files)
        shutil.copytree(folder / "large", data / "large")
        store = {**s3.options, "aws_endpoint": relay.endpoint}
        for name in ENGINES:
            uri = f"s3://{servers.BUCKET}/{name}"
            import pyarrow

            deltaic.write(
                uri, pyarrow.table({"id": pyarrow.array([-1], pyarrow.int64())}), storage_options=s3.options
            )
            opens = answer(start(name, "open", uri, store))
            lists = answer(start(name, "list", f"s3://{servers.BUCKET}/large", store))
            alone = answer(start(name, "append", uri, store, 0, options.commits, 1))
            small = f"s3://{servers.BUCKET}/{name}-small"
            many_files(data / f"{name}-small", options.small_files)
            optimized = answer(start(name, "optimize", small, store))
            processes = [
                start(name, "append", uri, store, 1000 * (writer + 1), options.appends, 0)
                for writer in range(options.writers)
            ]
            many = [answer(process) for process in processes]
            # what a process imports is no part of it
            seconds = max(one["ended"] for one in many) - min(one["started"] for one in many)
            done = [n for one in many for n, _ in one["took"]]
            found.append(
                {
                    "engine": name,
                    "open ms": opens,
                    f"list {options.files} ms": lists,
                    f"optimize {options.small_files} ms": optimized,
                    "one a second": spread([ms for _, ms in alone["took"]]),
                    "writers": {
                        "commits/s": round(len(done) / seconds, 1),
                        **spread([ms for one in many for _, ms in one["took"]]),
                        "failed": sum(len(one["failed"]) for one in many),
                        **left(data / name, [*done, *(n for n, _ in alone["took"])]),
                    },
                }
            )
        if program:
            # it reads only: the table that deltaic has appended to
            found.append(
                {
                    "engine": "delta_kernel",
                    "open ms": of_kernel(program, f"s3://{servers.BUCKET}/deltaic", "snap", store),
                    f"list {options.files} ms": of_kernel(
                        program, f"s3://{servers.BUCKET}/large", "list", store
                    ),
                }
            )
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--delay", type=float, default=0.03, help="seconds before each request")
    parser.add_argument("--files", type=int, default=100_000)
    parser.add_argument("--small-files", type=int, default=100, help="that an optimize joins")
    parser.add_argument("--commits", type=int, default=20, help="of one process, one a second")
    parser.add_argument("--writers", type=int, default=16)
    parser.add_argument("--appends", type=int, default=5, help="of each writer")
    parser.add_argument(
        "--kernel", action="store_true", help="also delta_kernel, to open and to list; it is built first"
    )
    parser.add_argument("--work", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        print(json.dumps(work(*json.loads(options.work))))
        return
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "server").mkdir()
        for row in measure(options, Path(folder)):
            print(json.dumps(row))


if __name__ == "__main__":
    main()
