"""A process that writes to tables that others write to as well.

    history_writer.py NAME ENGINE [JARS WAREHOUSE]

The engine is `deltaic` (on Spark), `table` (`deltaic.Table`), `deltalake`, or `delta-spark`, with its JARS in a process
of its Python. Each line of stdin is a table to write to, `Asked` as JSON. It draws operations and does each until it is
done, or has lost too many races, and tells all in a journal. When it is through, there is the file `<journal>.done`.
"""

from __future__ import annotations

import json
import random
import sys
import time
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import mutations
from journal import Journal
from operations import draw

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class Asked:
    """What a writer is asked to do to a table."""

    uri: str
    path: str
    """The folder in which its files are found."""
    options: dict[str, str]
    """Of its store."""
    journal: str
    transactions: int
    speed: int
    """How many of them others may expect while they do one."""
    seed: int
    kinds: list[str]
    retention_hours: float
    seconds: float
    """Longer than that it does not begin another transaction."""
    tries: int
    """How often it begins an operation that loses races."""
    gathering: str
    """A folder in which the writers tell each other how far they are."""
    writers: int
    without: str | None
    """One of `mutations`."""


def local_session() -> SparkSession:
    from pyspark.sql import SparkSession

    import deltaic

    settings = {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "800m",
        "spark.log.level": "OFF",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "1",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    builder = SparkSession.builder.master("local[1]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    return deltaic.enable(builder.getOrCreate())


def engine(name: str, given: list[str]) -> Callable[[Asked], Any]:
    """What makes the engine of a table."""
    if name in ("table", "deltalake"):
        import plain_engines

        plain = plain_engines.Table if name == "table" else plain_engines.Deltalake
        return lambda asked: plain(asked.uri, asked.options, asked.retention_hours)
    import spark_engine

    if name == "deltaic":
        spark = local_session()
        return lambda asked: spark_engine.Deltaic(spark, asked.path, asked.retention_hours)
    from delta_spark import session

    theirs = session(*given)
    theirs.sparkContext.setLogLevel("OFF")
    return lambda asked: spark_engine.DeltaSpark(theirs, asked.path, asked.retention_hours)


class Pace:
    """Keeps the writers of a table together: none begins a transaction before the others are close to it.

    Each has an empty file, whose name tells how far it is.
    """

    def __init__(self, name: str, folder: str, writers: int) -> None:
        self._own, self._folder, self._writers = name, Path(folder), writers
        self._file: Path | None = None

    def come_to(self, number: int) -> None:
        """Returns when all others have begun the one before the one before this one.

        Raises:
            TimeoutError: after five minutes.
        """
        self.tell(number)
        end = time.monotonic() + 300
        while True:
            reached = [int(file.suffix[1:]) for file in self._folder.glob("*.at.*")]
            if len(reached) >= self._writers and min(reached) >= number - 2:
                return
            if time.monotonic() > end:
                raise TimeoutError(f"the others do not come to {number}")
            time.sleep(0.01)

    def tell(self, number: int) -> None:
        """Tells how far this one is."""
        file = self._folder / f"{self._own}.at.{number}"
        file.touch() if self._file is None else self._file.rename(file)
        self._file = file


def write(name: str, of: str, make: Callable[[Asked], Any], asked: Asked) -> None:
    """Does the operations of one table."""
    acts = make(asked)
    with Path(asked.journal).open("w") as file:
        _write(name, acts, Journal(file, asked.path, name, of), asked)


def _write(name: str, acts: Any, journal: Journal, asked: Asked) -> None:
    dice = random.Random(f"{asked.seed} {name}")
    races = getattr(acts, "races", [])
    pace = Pace(name, asked.gathering, asked.writers)
    pace.come_to(0)
    end = time.monotonic() + asked.seconds
    for number in range(asked.transactions):
        if number % asked.speed == 0:
            pace.come_to(number // asked.speed)
        # the quick ones spread theirs
        time.sleep(dice.random() * 0.05 * (asked.speed - 1))
        operation = draw(dice, asked.kinds)
        for again in range(asked.tries):
            if time.monotonic() > end:
                break
            txn = f"{name}-{number}-{again}"
            document = journal.begin(txn, operation)
            try:
                acts.do(operation, document)
            except Exception as error:  # noqa: BLE001 whatever it is, the journal has it
                if type(error).__name__ == "CommitStateUnknownError":
                    journal.end(txn, "unknown", races, type(error).__name__)
                    break
                lost = acts.lost(error)
                if lost is None:
                    print(f"{txn} {operation}", file=sys.stderr)
                    traceback.print_exc()
                    journal.end(txn, "failed", races, f"{type(error).__name__}: {str(error)[:300]}")
                    break
                journal.end(txn, "lost", races, *lost)
                time.sleep(dice.random() / 10)
            else:
                journal.end(txn, "done", races)
                break
    pace.tell(10**9)


def main() -> None:
    name, of, *given = sys.argv[1:]
    make = engine(of, given)
    for line in sys.stdin:
        asked = Asked(**json.loads(line))
        with mutations.without(asked.without):
            write(name, of, make, asked)
        Path(f"{asked.journal}.done").touch()


if __name__ == "__main__":
    main()
