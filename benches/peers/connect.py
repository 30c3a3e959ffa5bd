#!/usr/bin/env python3
"""What Spark Connect costs: to switch deltaic on, to plan, and to read, through each door beside a classic session.

    python benches/peers/connect.py [--rows 3000000] [--repeat 7] [--sessions 10]

Each door is a process of its own, with a server of its own but for the classic session, and all have the same settings
and the same tables. The doors take turns, one query after the other. See benches/README.md.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).resolve().parents[2]
TESTS = ROOT / "tests" / "python"
sys.path[:0] = [str(TESTS), str(TESTS / "spark")]

if TYPE_CHECKING:
    from collections.abc import Callable

DOORS = ("classic", "admin", "client", "fallback")
# a query whose answer is one number, of a table `t`
QUERIES = {
    "one column of all rows": ("plain", "SELECT sum(b) FROM t"),
    "a partition": ("plain", "SELECT sum(b) FROM t WHERE p = 3"),
    "a range of ids": ("plain", "SELECT sum(b) FROM t WHERE id BETWEEN 1000 AND 2000"),
    "a range of ids, column mapping and deletion vectors": (
        "mapped",
        "SELECT sum(b) FROM t WHERE id BETWEEN 1000 AND 2000",
    ),
}
_FILES, _PARTITIONS, _WARM = 8, 8, 2


def make(folder: Path, rows: int) -> None:
    """The tables: `plain` has partitions, `mapped` has column mapping by id and deletion vectors."""
    import numpy as np
    import pyarrow as pa

    import deltaic

    mapped = {"delta.columnMapping.mode": "id", "delta.enableDeletionVectors": "true"}
    each = rows // _FILES
    for number in range(_FILES):
        n = np.arange(number * each, (number + 1) * each)
        text = pa.array(n % 1000).cast(pa.string())
        data = pa.table(
            {"id": n, "a": n * 7919 % 10007, "b": n / 3.0, "c": text, "p": number % _PARTITIONS + 0 * n}
        )
        deltaic.write(folder / "plain", data, partition_by=["p"])
        deltaic.write(folder / "mapped", data, configuration=mapped)
    deltaic.Table(folder / "mapped").delete("id % 1000 = 7")
    deltaic.write(folder / "small", pa.table({"id": [1, 2, 3]}))


def session(door: str, folder: Path, stack: ExitStack) -> tuple[Callable[[], Any], Any]:
    """What makes a new session through a door, not enabled, and the first one, enabled."""
    import small_session
    from connect_server import connect_server
    from pyspark.sql.connect.session import SparkSession

    import deltaic

    if door == "classic":
        spark = small_session.session("local[2]", small_session.COMPILED)
        return spark.newSession, spark
    more = dict(small_session.COMPILED)
    if door == "fallback":
        more["spark.deltaic.connect.clientDoor"] = "false"
    if door == "admin":
        command = [sys.executable, "-W", "ignore", "-m", "deltaic", "connect-conf"]
        told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        more |= dict(line.split(None, 1) for line in told.splitlines())
    (folder / door).mkdir()
    url = stack.enter_context(connect_server(folder / door, str(ROOT / "python"), more=more))

    def new() -> Any:
        return SparkSession.builder.remote(url).create()

    return new, deltaic.enable(new())


def milliseconds(work: Callable[[], Any]) -> float:
    begin = time.perf_counter()
    work()
    return (time.perf_counter() - begin) * 1000


def program(door: str, folder: Path, repeat: int, sessions: int) -> None:
    """Measures when a line of the input asks for it, and prints milliseconds."""
    import deltaic

    if door == "fallback":
        warnings.simplefilter("ignore")
    with ExitStack() as stack:
        new, spark = session(door, folder, stack)

        def frame(name: str) -> Any:
            return spark.read.format("delta").load(str(folder / name))

        def switched_on() -> list[float]:
            took = []
            for _ in range(sessions):
                other = new()
                _ = other.range(1).schema  # the server has made the session
                took.append(milliseconds(partial(deltaic.enable, other)))
                if door != "classic":
                    other.stop()
            return took

        def planned() -> list[float]:
            return [milliseconds(lambda: frame("small").schema) for _ in range(5 * repeat)]

        def read(query: str) -> list[float]:
            name, text = QUERIES[query]

            def run() -> Any:
                frame(name).createOrReplaceTempView("t")
                return spark.sql(text).first()[0]

            return [milliseconds(run) for _ in range(repeat)]

        def pruned(query: str) -> list[float]:
            name, text = QUERIES[query]
            where = text.partition(" WHERE ")[2] or None

            def run() -> Any:
                return deltaic.read(spark, str(folder / name), where=where).selectExpr("sum(b)").first()[0]

            return [milliseconds(run) for _ in range(repeat)]

        print("ready", flush=True)
        for line in sys.stdin:
            what, _, query = line.strip().partition(" ")
            if what == "end":
                break
            took = {"enable": switched_on, "plan": planned}.get(what)
            answer = took() if took else {"read": read, "pruned": pruned}[what](query)
            print(json.dumps(answer), flush=True)
        spark.stop()


class Door:
    """The process of a door."""

    def __init__(self, name: str, folder: Path, given: argparse.Namespace) -> None:
        path = os.pathsep.join([str(ROOT / "python"), str(TESTS), str(TESTS / "spark")])
        variables = {"PYTHONPATH": path, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
        command = [
            sys.executable,
            __file__,
            "--program",
            name,
            str(folder),
            str(given.repeat),
            str(given.sessions),
        ]
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self._process = subprocess.Popen(command, env=os.environ | variables, text=True, **pipes)
        self._answer("ready")

    def ask(self, what: str) -> list[float]:
        """Milliseconds, after a warm-up."""
        self._process.stdin.write(f"{what}\n")  # type: ignore[union-attr]
        self._process.stdin.flush()  # type: ignore[union-attr]
        found: list[float] = json.loads(self._answer("["))
        return found

    def end(self) -> None:
        self._process.communicate("end\n", timeout=120)

    def _answer(self, begins: str) -> str:
        for line in self._process.stdout:  # type: ignore[union-attr]
            if line.startswith(begins):
                return line
        raise RuntimeError(f"a door ended with {self._process.wait()}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=3_000_000)
    parser.add_argument("--repeat", type=int, default=7)
    parser.add_argument("--sessions", type=int, default=10)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="deltaic-bench-") as text:
        folder = Path(text)
        make(folder, given.rows)
        doors = {name: Door(name, folder, given) for name in DOORS}
        print("| milliseconds, median |", " | ".join(DOORS), "| fallback, `deltaic.read` |")
        print("|---|" + "---|" * (len(DOORS) + 1))
        for what, shown in (
            ("enable", "`enable` of a session more"),
            ("plan", "the schema of a small table"),
        ):
            row(shown, [doors[name].ask(what) for name in DOORS])
        for query in QUERIES:
            for _ in range(_WARM):
                for door in doors.values():
                    door.ask(f"read {query}")
            doors["fallback"].ask(f"pruned {query}")
            took = [doors[name].ask(f"read {query}") for name in DOORS]
            row(query, [*took, doors["fallback"].ask(f"pruned {query}")])
        for door in doors.values():
            door.end()


def row(name: str, took: list[list[float]]) -> None:
    """A line of the table: the median, and how many times that of the first column."""
    base = statistics.median(took[0])
    cells = [f"{statistics.median(found):.0f} ({statistics.median(found) / base:.1f})" for found in took]
    print(f"| {name} | " + " | ".join([*cells, *[""] * (len(DOORS) + 1 - len(cells))]) + " |", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--program"]:
        program(sys.argv[2], Path(sys.argv[3]), int(sys.argv[4]), int(sys.argv[5]))
    else:
        main()
