#!/usr/bin/env python3
"""Many writers that append to one local table at once, on deltaic and its peers: commits per second and what was lost.

    python benches/peers/commits.py [--writers 20] [--appends 100] [--deltalake]
        [--jars FOLDER --spark-python PYTHON]

deltaic and `deltalake` are writers in processes of their own; the writers of delta-spark are threads of one process,
since a JVM for each would measure memory. Its JARs are those of tests/python/interop/pom.xml, and its Python has the
PySpark that they are built for. Time counts from when every writer is ready. See benches/README.md.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


def deltaic_appender(path: str) -> Callable[[int], None]:
    import pyarrow

    import deltaic

    return lambda n: deltaic.write(path, pyarrow.table({"id": [n]}))


def deltalake_appender(path: str) -> Callable[[int], None]:
    import pyarrow
    from deltalake import write_deltalake

    return lambda n: write_deltalake(path, pyarrow.table({"id": [n]}), mode="append")


def append_all(append: Callable[[int], None], writer: int, appends: int) -> dict[str, Any]:
    """Appends one row a commit; gives those that were acknowledged, and the failures by name."""
    done, failed = [], []
    for n in range(writer * appends, (writer + 1) * appends):
        try:
            append(n)
            done.append(n)
        except Exception as error:  # noqa: BLE001, PERF203 failures are what is counted
            failed.append(type(error).__name__)
    return {"done": done, "failed": failed}


def wait_for(start: Path) -> None:
    while not start.exists():
        time.sleep(0.01)


def writer(engine: str, path: str, number: int, appends: int, start: Path) -> dict[str, Any]:
    append = (deltaic_appender if engine == "deltaic" else deltalake_appender)(path)
    Path(f"{start}.{number}").touch()
    wait_for(start)
    return append_all(append, number, appends)


def spark_writers(jars: Path, path: str, writers: int, appends: int, start: Path) -> dict[str, Any]:
    from pyspark.sql import SparkSession

    settings = {
        "spark.driver.extraClassPath": ":".join(sorted(map(str, jars.glob("*.jar")))),
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "spark.databricks.delta.snapshotPartitions": "2",
        "spark.sql.shuffle.partitions": "2",
        "spark.driver.memory": "2g",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.log.level": "ERROR",
    }
    builder = SparkSession.builder.master("local[*]")
    for key, value in settings.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()

    def append(n: int) -> None:
        spark.range(n, n + 1, 1, 1).write.format("delta").mode("append").save(path)

    # what is compiled and loaded once is no cost of a commit
    spark.range(0).write.format("delta").save(f"{path}-warm")
    for number in range(writers):
        Path(f"{start}.{number}").touch()
    wait_for(start)
    with ThreadPoolExecutor(writers) as pool:
        each = list(pool.map(lambda w: append_all(append, w, appends), range(writers)))
    return {key: [item for one in each for item in one[key]] for key in ("done", "failed")}


def measure(engine: str, options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """One engine on a table of its own."""
    path, start = folder / engine, folder / f"{engine}.start"
    common = [str(path), str(options.writers), str(options.appends), str(start)]
    me = [str(Path(__file__).resolve()), "--writer", engine]
    if engine == "delta-spark":
        commands = [[options.spark_python, *me, "--jars", str(options.jars), *common]]
    else:
        commands = [[sys.executable, *me, "--number", str(n), *common] for n in range(options.writers)]
    processes = [subprocess.Popen(c, stdout=subprocess.PIPE, text=True) for c in commands]
    while len(list(folder.glob(f"{engine}.start.*"))) < options.writers:
        if any(p.poll() for p in processes):
            raise SystemExit(f"a writer of {engine} has failed")
        time.sleep(0.05)
    begin = time.perf_counter()
    start.touch()
    answers = [json.loads(p.communicate()[0].splitlines()[-1]) for p in processes]
    seconds = time.perf_counter() - begin
    done = sorted(n for answer in answers for n in answer["done"])
    failed = [name for answer in answers for name in answer["failed"]]
    return {
        "commits": len(done),
        "seconds": round(seconds, 2),
        "commits/s": round(len(done) / seconds, 1),
        "failed": {name: failed.count(name) for name in sorted(set(failed))},
        **left(path, done),
    }


def left(path: Path, done: list[int]) -> dict[str, Any]:
    """What is in the table of that which was acknowledged, told by a reader that measures nothing: the commits."""
    live: dict[str, int] = {}
    log = sorted(f for f in (path / "_delta_log").glob("*.json") if f.stem.isdigit())
    for commit in log:
        for line in commit.read_text().splitlines():
            action = json.loads(line)
            if "add" in action:
                live[action["add"]["path"]] = json.loads(action["add"]["stats"])["minValues"]["id"]
            elif "remove" in action:
                live.pop(action["remove"]["path"], None)
    there = [n for name, n in live.items() if (path / name).exists()]
    lost, twice = set(done) - set(there), len(there) - len(set(there))
    return {"versions": len(log), "files": len(live), "lost": len(lost), "twice": twice}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--writers", type=int, default=20)
    parser.add_argument("--appends", type=int, default=100)
    parser.add_argument("--deltalake", action="store_true", help="also the Python package deltalake")
    parser.add_argument("--jars", type=Path, help="folder of the JARs of delta-spark: measures it too")
    parser.add_argument("--spark-python", default=sys.executable, help="Python with the PySpark of the JARs")
    parser.add_argument("--json", action="store_true")
    for hidden in ("--writer", "--number"):
        parser.add_argument(hidden, help=argparse.SUPPRESS)
    parser.add_argument("common", nargs="*", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.writer:
        path, writers, appends, start = options.common
        if options.writer == "delta-spark":
            answer = spark_writers(options.jars, path, int(writers), int(appends), Path(start))
        else:
            answer = writer(options.writer, path, int(options.number), int(appends), Path(start))
        print(json.dumps(answer))
        return
    engines = ["deltaic"]
    engines += ["deltalake"] if options.deltalake else []
    engines += ["delta-spark"] if options.jars else []
    with tempfile.TemporaryDirectory() as folder:
        results = {engine: measure(engine, options, Path(folder)) for engine in engines}
    if options.json:
        print(json.dumps(results, indent=2))
        return
    heads = ("commits", "seconds", "commits/s", "versions", "files", "lost", "twice")
    print(f"{'engine':12}", *(f"{head:>9}" for head in heads), " failed")
    for engine, found in results.items():
        failed = ", ".join(f"{n} {name}" for name, n in found["failed"].items()) or "none"
        print(f"{engine:12}", *(f"{found[head]:9}" for head in heads), f" {failed}")


if __name__ == "__main__":
    main()
