"""Writers of several engines do random transactions on tables at the same time; each history is checked.

    python tests/python/histories/play.py [--engines deltaic,deltaic,table,delta-spark] [--transactions 2000] [--seed N]
        [--level Serializable|WriteSerializable] [--tables 8] [--kinds counter,rewrite] [--without MUTATION]
        [--folder DIR] [--store]

With `--store` the tables are on versitygw, a server that speaks S3, behind a network that loses and tears requests and
answers: for the engines that need no Spark, `table` and `deltalake`.

The transactions are those that are begun, of all writers on all tables. The tables differ in isolation level, deletion
vectors and partitioning. delta-spark comes from where the tests of `interop` have it.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import follower
from history import History
from history_writer import Asked
from journal import attempts
from mutations import MUTATIONS
from operations import APPENDED, SHARED, WEIGHTS
from places import Place, faulty_store
from plain_engines import arrow
from report import reported

import deltaic
from deltaic.spark.java import ensure_java

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from typing_extensions import Self

HERE = Path(__file__).parent
KINDS = {
    "deltaic": [kind for kind in WEIGHTS if kind != "checkpoint"],
    # what reads the table before it writes needs an engine for queries
    "table": ["append", "delete", "update", "replace range", "optimize", "vacuum", "checkpoint"],
    # its claims lack what subqueries of UPDATE read, and it refuses subqueries of DELETE
    "delta-spark": [kind for kind in WEIGHTS if kind not in ("checkpoint", "counter", "delete top")],
    "deltalake": ["append", "delete"],
}
PLAIN = {"table", "deltalake"}
"""Those that need no Spark."""
ON_A_STORE = "table,table,table,deltalake"
SPEED = {"deltaic": 4, "table": 8, "deltalake": 4, "delta-spark": 1}
"""How many transactions the writers do in the same time, so that none waits for long."""
RETENTION_HOURS = 60 / 3600
"""Of a vacuum: longer than any transaction takes, else its files could be gone before it commits."""
TRIES = 8


@dataclass(frozen=True)
class Kind:
    """What a table is like."""

    level: str
    vectors: bool
    partitioned: bool

    def __str__(self) -> str:
        words = [self.level, "vectors" if self.vectors else "rewrites"]
        return ", ".join([*words, "partitions"] if self.partitioned else words)


LEVELS = ("Serializable", "WriteSerializable")
KINDS_OF_TABLES = [
    Kind(level, vectors, partitioned)
    for vectors, partitioned, level in itertools.product((False, True), (False, True), LEVELS)
]


class Writers:
    """Processes, one for each engine that is named, which write to one table after the other."""

    def __init__(self, engines: Sequence[str], folder: Path, place: Place | None = None) -> None:
        if not set(engines) <= PLAIN:
            assert place is None, "Spark writes to folders"
            ensure_java()
        self.folder, self.place = folder, place or Place(folder)
        self.engines = {f"{engine}-{number}": engine for number, engine in enumerate(engines)}
        self._processes: dict[str, subprocess.Popen[str]] = {}
        self._tables = 0
        for name, engine in self.engines.items():
            self._start(name, engine)

    def _start(self, name: str, engine: str) -> None:
        python, packages, more = sys.executable, [str(Path(deltaic.__file__).parents[1])], []
        if engine == "delta-spark":
            sys.path.insert(0, str(HERE.parent))
            import peers

            with peers.alone():
                python, packages = peers.python(), [str(peers.package()), str(HERE.parent / "interop")]
                more = [os.pathsep.join(peers.jars()), (self.folder / name).as_uri()]
        environment = {**os.environ, "PYSPARK_PYTHON": python, "PYSPARK_DRIVER_PYTHON": python}
        environment |= {"PYTHONPATH": os.pathsep.join(packages), "SPARK_LOCAL_IP": "127.0.0.1"}
        environment.pop("SPARK_HOME", None)
        with (self.folder / f"{name}.err").open("w") as errors:
            self._processes[name] = subprocess.Popen(
                [python, str(HERE / "history_writer.py"), name, engine, *more],
                stdin=subprocess.PIPE,
                stdout=errors,
                stderr=errors,
                text=True,
                env=environment,
                # it is ended with its JVM
                start_new_session=True,
            )

    def play(
        self,
        kind: Kind,
        transactions: int,
        seed: int,
        *,
        kinds: Sequence[str] = tuple(WEIGHTS),
        without: str | None = None,
        seconds: float = 900,
    ) -> History:
        """A new table, and so many transactions on it by all writers together.

        Args:
            kind: What the table is like.
            transactions: How many are begun.
            seed: Of the table and of the operations.
            kinds: Of operations.
            without: One of `mutations`, by which deltaic on Spark is wrong meanwhile.
            seconds: Afterwards none is begun.

        Raises:
            RuntimeError: a writer has ended, or they do not come to an end.
        """
        self._tables += 1
        folder = self.folder / f"{self._tables}"
        folder.mkdir()
        uri, path = self.place.table(f"{self._tables}/table")
        make(uri, self.place.options, kind, seed)
        does = {
            name: [one for one in KINDS[engine] if one in kinds]
            for name, engine in self.engines.items()
            # it does not write deletion vectors
            if not (kind.vectors and engine == "deltalake")
        }
        writing = {name: self.engines[name] for name, some in does.items() if some}
        journals = {name: folder / f"{name}.jsonl" for name in writing}
        shares = split(transactions, [SPEED[engine] for engine in writing.values()])
        for number, (name, engine) in enumerate(writing.items()):
            given = (
                uri,
                str(path),
                self.place.options_of(engine),
                str(journals[name]),
                shares[number],
                SPEED[engine],
                seed,
                does[name],
            )
            limits = (RETENTION_HOURS, seconds, TRIES, str(folder), len(writing))
            limits += (without if engine == "deltaic" else None,)
            stdin = self._processes[name].stdin
            assert stdin is not None
            stdin.write(json.dumps(asdict(Asked(*given, *limits))) + "\n")
            stdin.flush()
        table = follower.Follower(path)
        # a session has to start, and the last transactions to end
        end = time.monotonic() + seconds + 300
        while not all(Path(f"{journal}.done").exists() for journal in journals.values()):
            table.follow()
            self._check(time.monotonic() > end)
            time.sleep(0.1)
        table.follow()
        found = [one for journal in journals.values() for one in attempts(journal)]
        check_readers(uri, self.place.straight, table)
        return History(table.versions, found, kind.level)

    def _check(self, late: bool) -> None:  # noqa: FBT001
        ended = [name for name, process in self._processes.items() if process.poll() is not None]
        if ended or late:
            name = (ended or list(self._processes))[0]
            said = (self.folder / f"{name}.err").read_text()[-3000:]
            raise RuntimeError(f"{'ended: ' + ', '.join(ended) if ended else 'too slow'}\n{said}")

    def close(self, patience: float = 20) -> None:
        """Ends all processes, with their JVMs; those that are at work after so many seconds, too."""
        for process in self._processes.values():
            assert process.stdin is not None
            process.stdin.close()
        end = time.monotonic() + patience
        for process in self._processes.values():
            with suppress(subprocess.TimeoutExpired):
                process.wait(timeout=max(0, end - time.monotonic()))
            # what is left of it, its JVM first of all
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, error: type[BaseException] | None, *_: object) -> None:
        self.close(20 if error is None else 0)


def split(whole: int, weights: Sequence[int]) -> list[int]:
    """A number in parts by weights, which sum to it."""
    upto = [round(whole * part / sum(weights)) for part in itertools.accumulate(weights, initial=0)]
    return [end - begin for begin, end in itertools.pairwise(upto)]


def make(uri: str, options: dict[str, str], kind: Kind, seed: int) -> None:
    """A table with some of the ids."""
    dice = random.Random(seed)
    rows = arrow([[id_, dice.randint(0, 9)] for id_ in range(0, SHARED + APPENDED, 2)])
    properties = {"delta.isolationLevel": kind.level}
    if kind.vectors:
        properties["delta.enableDeletionVectors"] = "true"
    by = "p" if kind.partitioned else None
    deltaic.write(uri, rows, partition_by=by, configuration=properties, storage_options=options)


def check_readers(uri: str, options: dict[str, str], table: follower.Follower) -> None:
    """Checks that deltaic and `deltalake` read the last version as the follower does, and that the table is whole."""
    import deltalake
    import pyarrow as pa

    theirs = deltalake.QueryBuilder().register("t", deltalake.DeltaTable(uri, storage_options=options))
    ours = deltaic.Table(uri, storage_options=options).to_arrow()
    for rows in (ours, theirs.execute("SELECT p, id, n FROM t").read_all()):
        columns = pa.table(rows).select(["p", "id", "n"]).to_pylist()
        assert Counter(tuple(row.values()) for row in columns) == table.versions[-1].rows, uri
    report = deltaic.verify(uri, deep=True, storage_options=options)
    assert report.ok, "\n".join(map(str, report.findings))


def play_all(given: argparse.Namespace, folder: Path) -> Iterator[tuple[str, History]]:
    """The histories, by names of their tables."""
    tables = [kind for kind in KINDS_OF_TABLES if given.level in (None, kind.level)]
    each = given.transactions // given.tables
    with _place(given, folder) as place, Writers(given.engines.split(","), folder, place) as writers:
        for number in range(given.tables):
            kind = tables[number % len(tables)]
            seed = given.seed * 1000 + number
            yield (
                f"{number + 1} ({kind})",
                writers.play(kind, each, seed, kinds=given.kinds.split(","), without=given.without),
            )
        if place is not None and place.network is not None:
            faults = place.network.faults.most_common()
            print(
                f"{len(place.network.requests)} requests, faults: " + ", ".join(f"{n} {f}" for f, n in faults)
            )


def _place(given: argparse.Namespace, folder: Path) -> AbstractContextManager[Place | None]:
    return faulty_store(folder, given.seed) if given.store else nullcontext()


def main() -> int:
    """Plays and tells; 1 where there are anomalies."""
    asks = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asks.add_argument("--engines")
    asks.add_argument("--store", action="store_true")
    asks.add_argument("--transactions", type=int, default=2000)
    asks.add_argument("--tables", type=int, default=len(KINDS_OF_TABLES))
    asks.add_argument("--seed", type=int, default=random.randrange(10**6))
    asks.add_argument("--level", choices=LEVELS)
    asks.add_argument("--kinds", default=",".join(WEIGHTS))
    asks.add_argument("--without", choices=MUTATIONS)
    asks.add_argument("--folder", type=Path)
    given = asks.parse_args()
    given.engines = given.engines or (ON_A_STORE if given.store else "deltaic,deltaic,table,delta-spark")
    # whoever ends this ends the writers
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended"))
    print(f"seed {given.seed}", flush=True)
    with tempfile.TemporaryDirectory() as scratch:
        folder = given.folder or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        return reported(play_all(given, folder))


if __name__ == "__main__":
    sys.exit(main())
