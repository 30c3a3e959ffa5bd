"""OPTIMIZE and auto-compaction of much: the core plans and commits here, and Spark's tasks rewrite the files.

A bin is rewritten by one task. Rows along a curve that are more than the limit are divided: tasks choose rows of the
files, the core divides the curve into a range for each new file, tasks read the files and hand the rows of each range
to one task, through Spark's shuffle and in Arrow's own form, and this task sorts and writes them. Memory of a task is
bounded, however many rows there are.
"""

from __future__ import annotations

import uuid
import warnings
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from deltaic import _core
from deltaic.exceptions import DeltaWarning
from deltaic.spark.session import tasks
from deltaic.spark.session.kind import is_connect
from deltaic.spark.session.settings import cluster_bytes, task_memory
from deltaic.spark.session.worker_errors import PackageNotOnServerError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_ANSWER = pa.schema([("answer", pa.string())])
_SAMPLE = pa.schema([("bin", pa.int64()), ("rows", pa.int64()), ("chosen", pa.binary())])
_ROWS = pa.schema([("key", pa.int32()), ("range", pa.int32()), ("rows", pa.binary())])
# a sort holds its rows about three times, and reading and writing need memory, too
_SHARE_OF_SORT = 8


class Rewrite:
    """Rewrites a bin; pickled to the executors, as the others here."""

    def __init__(self, document: str) -> None:
        self.document = document

    def __call__(self, work: str) -> Iterator[pa.RecordBatch]:
        """One row: the answer for the commit."""
        yield _answer(_core.OptimizeTask(self.document).run(work))


class Sample:
    """Chooses rows of a part of a bin."""

    def __init__(self, document: str) -> None:
        self.document = document

    def __call__(self, work: str) -> Iterator[pa.RecordBatch]:
        """One row: the chosen ones."""
        yield pa.RecordBatch.from_pylist([_core.OptimizeTask(self.document).sample(work)], _SAMPLE)


class Spread:
    """Reads a part of a bin."""

    def __init__(self, document: str, ranges: str, keys: list[int]) -> None:
        """`keys` sends each range to a partition of its own."""
        self.document = document
        self.ranges = ranges
        self.keys = keys

    def __call__(self, work: str) -> Iterator[pa.RecordBatch]:
        """Rows of ranges; a range comes more than once."""
        for some in _core.OptimizeTask(self.document, self.ranges).spread(work):
            yield pa.RecordBatch.from_pylist([{"key": self.keys[some["range"]], **some}], _ROWS)


class Gather:
    """Sorts and writes the rows of ranges."""

    def __init__(self, document: str, ranges: str) -> None:
        self.document = document
        self.ranges = ranges

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """One row for each range: the answer for the commit."""
        with tasks.facts_in_errors():
            task = _core.OptimizeTask(self.document, self.ranges)
            gathered: dict[int, _core.OptimizeGather] = {}
            for batch in batches:
                numbers, parts = batch.column("range").to_pylist(), batch.column("rows")
                for number, rows in zip(numbers, parts, strict=True):
                    if number not in gathered:
                        gathered[number] = task.gather(number)
                    gathered[number].push(rows.as_py())
            for gather in gathered.values():
                yield _answer(gather.finish())


class OptimizeRun:
    """Runs an optimize in this process or, where it rewrites much, in Spark's tasks."""

    def __init__(self, spark: Any, name: str = "OPTIMIZE") -> None:
        """`name` is what it is called in messages."""
        self.spark = spark
        self.name = name
        self.tasks = 0
        """Tasks that rewrote files; 0 where this process did."""

    def __call__(self, optimize: _core.Optimize) -> str:
        """What it did, as JSON.

        Raises:
            DeltaError: as `deltaic.Table.optimize`.
        """
        limit = cluster_bytes(self.spark)
        while True:
            found = optimize.plan()
            if found == 0 or found < limit or not tasks.are_possible(self.spark):
                tasks.tell_route(self.name, f"{found} bytes in this process")
                return optimize.run(tasks.DRIVER)
            try:
                # two calls: the files of a failed job are deleted, those of a commit are the core's
                answers = self._answers(optimize, limit)
            except PackageNotOnServerError as error:
                self.tasks = 0
                tasks.swept(optimize.discard)
                tasks.told_lacking(self.spark, self.name, error)
                return optimize.run(tasks.DRIVER)
            except BaseException:
                tasks.swept(optimize.discard)
                raise
            tasks.tell_route(self.name, f"{found} bytes in {self.tasks} tasks")
            done = optimize.commit(answers)
            if done is not None:
                return done

    def _answers(self, optimize: _core.Optimize, limit: int) -> list[str]:
        document = optimize.task(max(1, task_memory(self.spark) // _SHARE_OF_SORT))
        # on Spark Connect nothing bounds how many rows a task is handed at once: one task sorts by itself there
        works = optimize.works(None if is_connect(self.spark) else limit)
        self.tasks = len(works["whole"])
        answers: list[str] = []
        if works["whole"]:
            rewritten = tasks.frame(self.spark, works["whole"], Rewrite(document), "answer string")
            answers += tasks.answers(rewritten, _tag()).column("answer").to_pylist()
        if works["samples"]:
            answers += self._divided(optimize, document, works["samples"])
        return answers

    def _divided(self, optimize: _core.Optimize, document: str, samples: list[str]) -> list[str]:
        chosen = tasks.frame(self.spark, samples, Sample(document), "bin long, rows long, chosen binary")
        ranges = optimize.divide(tasks.answers(chosen, _tag()).to_pylist())
        count = ranges["count"]
        if count == 0:
            return []
        self.tasks += count
        session = tasks.of_few_rows(self.spark)
        spread = Spread(document, ranges["document"], _keys(session, count))
        rows = tasks.frame(session, ranges["parts"], spread, "key int, range int, rows binary")
        gather = Gather(document, ranges["document"])
        gathered = rows.repartition(count, "key").mapInArrow(gather, "answer string")
        answers: list[str] = tasks.answers(gathered, _tag()).column("answer").to_pylist()
        return answers


def compacted(spark: Any, version: int | None, compaction: _core.Optimize | None) -> None:
    """Does the compaction that a commit has left, if any. A failure is a warning: it does not undo the commit."""
    if compaction is None:
        return
    try:
        OptimizeRun(spark, "auto-compaction")(compaction)
    except Exception as error:  # noqa: BLE001 whatever it is, the commit is done
        warnings.warn(
            f"version {version} is committed; the compaction after it failed, and the next one tries again: {error}",
            DeltaWarning,
            stacklevel=2,
        )


def _keys(session: Any, count: int) -> list[int]:
    """A number for each partition of a shuffle that goes there.

    Spark takes the hash of a number to choose one; partitions by the number itself are younger than the oldest
    Spark that is supported.
    """
    hashed = f"pmod(hash(CAST(id AS INT)), {count})"
    found = session.range(40 * count).selectExpr("CAST(id AS INT)", hashed).collect()
    of = {partition: number for number, partition in found}
    # where a partition has none, its range shares that of another
    return [of.get(partition, partition) for partition in range(count)]


def _answer(answer: str) -> pa.RecordBatch:
    return pa.RecordBatch.from_pydict({"answer": [answer]}, _ANSWER)


def _tag() -> str:
    return f"deltaic-optimize-{uuid.uuid4()}"
