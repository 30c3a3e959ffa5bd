#!/usr/bin/env python3
"""The same work through Spark on deltaic and on delta-spark, side by side: seconds, and how many times faster.

    python benches/peers/spark.py [--scale 1] [--repeat 2] [--only WORK …] [--spark-python PYTHON]
        [--jars FOLDER --delta-package FOLDER]

Two processes of one Python, one with the JARs of delta-spark and one without, work in turn. The JARs and the Python
package are those that the tests in tests/python/interop fetch, unless others are given. See benches/README.md.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "deltaic" / "peers"
ENGINES = ("deltaic", "delta-spark")
# what is done, and how many times as fast as delta-spark it shall be
WORK = {
    "append": 1.5,
    "append partitioned": 1.6,
    "append rows": 10,
    "append wide": None,
    "merge wide": None,
    "delete": 3,
    "update": 2.5,
    "merge": 1.8,
    "merge by rewrite": 1.5,
    "optimize": 5,
    "count": 5,
    "micro-batches": 6,
    "micro-batches unwritten": None,
    "stream start": 5,
    "scan": None,
    "scan deleted": None,
}
# how many times the seconds of Spark's own reader of the same files a scan shall take at most
OF_PARQUET = {"scan": 1, "scan deleted": 2}
# the JVM compiles what a commit runs through for some hundred commits, of either engine
LEAST_REPEATS = {
    "append rows": 8,
    "append wide": 4,
    "merge wide": 4,
    "micro-batches": 4,
    "micro-batches unwritten": 4,
}
# file systems limit the links of a file
LINKS = 50_000
COMMITS = 100
# the size at which everything is done once before it is measured
WARM = 0.001


class Process:
    """An engine, by request and answer."""

    def __init__(
        self, name: str, folder: Path, options: argparse.Namespace, program: str = "spark_engine.py"
    ) -> None:
        folder.mkdir()
        python = options.spark_python
        environment = {**os.environ, "PYSPARK_PYTHON": python, "PYSPARK_DRIVER_PYTHON": python}
        environment["SPARK_LOCAL_IP"] = "127.0.0.1"
        # it may be another PySpark than that of this Python
        environment.pop("SPARK_HOME", None)
        if name == "delta-spark":
            environment["PYTHONPATH"] = str(options.delta_package)
        command = [python, str(Path(__file__).with_name(program)), name, str(folder)]
        jars = ":".join(sorted(map(str, options.jars.glob("*.jar"))))
        self._name = name
        self._process = subprocess.Popen(
            [*command, options.memory, jars],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )

    def ask(self, what: str, given: Any) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({what: given}) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit(f"{self._name} has failed: {what} {given}")
        return json.loads(line)

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(timeout=60)


def many_files(folder: Path, files: int, values: int = 1) -> None:
    """A table of files of one row, added by a hundred commits, with a checkpoint of the ninetieth.

    `id` takes so many values, from 1 on, each in as many files as the others. The files are links to a few, and the log
    names them by absolute paths: a copy of the log is a table of its own.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    import deltaic

    deltaic.write(folder, pa.schema([("id", pa.int64())]).empty_table())
    data = folder / "data"
    data.mkdir()
    written = 0
    for version in range(1, COMMITS + 1):
        lines = []
        while written < files * version // COMMITS:
            value = 1 + written % values
            source = data / f"source-{value}-{written // LINKS}"
            if not source.exists():
                pq.write_table(pa.table({"id": [value]}), source)
            bounds = {"minValues": {"id": value}, "maxValues": {"id": value}}
            stats = json.dumps({"numRecords": 1, **bounds, "nullCount": {"id": 0}})
            file = data / f"{written}.parquet"
            file.hardlink_to(source)
            add = {"path": file.as_uri(), "partitionValues": {}, "size": source.stat().st_size}
            add |= {"modificationTime": 1, "dataChange": True, "stats": stats}
            lines.append(json.dumps({"add": add}) + "\n")
            written += 1
        (folder / "_delta_log" / f"{version:020}.json").write_text("".join(lines))
        if version == COMMITS * 9 // 10:
            deltaic.Table(folder).checkpoint()


def play(processes: dict[str, Process], work: str, repeat: int) -> dict[str, Any]:
    """Seconds of the best run of each engine; they take turns."""
    best: dict[str, Any] = {}
    for part in (work, "scan parquet") if work in OF_PARQUET else (work,):
        for _ in range(repeat):
            for name, process in processes.items():
                process.ask("prepare", part)
                key = name if part == work else f"Parquet of {name}"
                best[key] = min(process.ask("run", part), best.get(key, float("inf")))
        facts = {name: process.ask("check", part) for name, process in processes.items()}
        if len({json.dumps(found) for found in facts.values()}) > 1:
            raise SystemExit(f"{part}: the tables differ: {facts}")
        best["rows"] = int(facts["deltaic"][0])
    return best


def measure(options: argparse.Namespace, works: list[str], folder: Path) -> dict[str, Any]:
    processes = {engine: Process(engine, folder / engine, options) for engine in ENGINES}
    results: dict[str, Any] = {}
    try:
        # once at a small size: what is compiled and loaded once is no cost of the work
        warm, full = (min(WARM, options.scale), 1, {}), (options.scale, options.repeat, LEAST_REPEATS)
        for scale, repeat, least in (warm, full):
            sizes = {
                "rows": max(int(20_000_000 * scale), 1000) // 200 * 200,
                "small": max(int(2_000 * scale), 10),
                "files": max(int(100_000 * scale), COMMITS),
            }
            source = folder / f"many-files-{sizes['files']}"
            if {"count", "stream start"} & {*works} and not source.exists():
                many_files(source, sizes["files"])
            for process in processes.values():
                process.ask("sizes", sizes)
            for work in works:
                results[work] = play(processes, work, max(repeat, least.get(work, 1)))
                # a run takes long, and may end early
                print(f"scale {scale:g}: {work}: {json.dumps(results[work])}", file=sys.stderr, flush=True)
    finally:
        for process in processes.values():
            process.close()
    return results


def show(results: dict[str, Any]) -> None:
    heads = ("rows", *ENGINES, "ratio", "goal", "Parquet", "of it", "at most")
    print(f"{'work':24}", *(f"{head:>12}" for head in heads))
    for work, found in results.items():
        ours, theirs = (found[engine] for engine in ENGINES)
        texts = [str(found["rows"]), f"{ours:.2f} s", f"{theirs:.2f} s", f"{theirs / ours:.2f}x"]
        texts.append(f"{WORK[work]}x" if WORK[work] else "")
        if work in OF_PARQUET:
            parquet = found["Parquet of deltaic"]
            texts += [f"{parquet:.2f} s", f"{ours / parquet:.2f}x", f"{OF_PARQUET[work]}x"]
        print(f"{work:24}", *(f"{text:>12}" for text in texts))


def parsed(parser: argparse.ArgumentParser) -> argparse.Namespace:
    """The options of a bench, and those of every bench beside delta-spark."""
    parser.add_argument("--memory", default="4g", help="of each JVM")
    parser.add_argument("--spark-python", default=sys.executable, help="Python with the PySpark of the JARs")
    parser.add_argument("--jars", type=Path, default=CACHE / "jars-4.4.0")
    parser.add_argument("--delta-package", type=Path, default=CACHE / "delta-spark-4.4.0")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if not list(options.jars.glob("*.jar")) or not options.delta_package.exists():
        raise SystemExit(
            f"delta-spark is not in {options.jars} and {options.delta_package}: run the tests in"
            " tests/python/interop, which fetch it, or give --jars and --delta-package"
        )
    return options


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--scale", type=float, default=1, help="1 is 20 million rows")
    parser.add_argument("--repeat", type=int, default=2, help="the best run counts")
    parser.add_argument("--only", action="append", choices=[*WORK], help="one piece of work; may be repeated")
    parser.add_argument(
        "--folder", type=Path, help="where tables are made and deleted; about 10 GB at scale 1"
    )
    options = parsed(parser)
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        results = measure(options, options.only or [*WORK], Path(folder))
    if options.json:
        print(json.dumps(results, indent=2))
    else:
        show(results)


if __name__ == "__main__":
    main()
