"""Works of a command as tasks of Spark: each runs code of the core in a Python worker, and answers by Arrow."""

from __future__ import annotations

import logging
import time
import uuid
import warnings
from contextlib import contextmanager, nullcontext
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from deltaic import _core
from deltaic.exceptions import DeltaError, DeltaWarning
from deltaic.spark.session import python_workers
from deltaic.spark.session.kind import is_connect, is_local
from deltaic.spark.session.task_ends import ended_after_failure
from deltaic.spark.session.worker_errors import (
    PackageNotOnServerError,
    error_of_worker,
    explain_missing_import,
    with_facts_in_text,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

_ANSWER = pa.schema([("answer", pa.string())])
_SWEEPS, _BETWEEN_SWEEPS = 3, 0.5
DRIVER, SPARK = "driver", "spark"
"""Who read and wrote files, as the history has it: this process, or Spark; works of tasks are the core's own word."""
_LOG = logging.getLogger("deltaic.route")
# tasks of one job; where there are more works, a task does several
_MOST_TASKS = 10_000
# applications whose workers cannot import deltaic
_LACKING: set[str] = set()


class CoreTask:
    """The one answer of a task of the core to a work; pickled to the executors."""

    def __init__(self, task: str, document: str) -> None:
        """`task` is the class in `_core`, and `document` what it is made of."""
        self.task = task
        self.document = document

    def __call__(self, work: str) -> Iterator[pa.RecordBatch]:
        """One row: the answer."""
        task = getattr(_core, self.task)(self.document)
        yield pa.RecordBatch.from_pydict({"answer": [task.run(work)]}, _ANSWER)


class Works:
    """What the tasks of a job do; pickled to the executors."""

    def __init__(self, works: Sequence[str], do: Callable[[str], Iterator[pa.RecordBatch]]) -> None:
        """A task does those of `works` whose numbers it is given."""
        self.works = works
        self.do = do

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The answers, in the order of the works."""
        with facts_in_errors():
            for batch in batches:
                for number in batch.column(0).to_pylist():
                    yield from self.do(self.works[number])


@contextmanager
def facts_in_errors() -> Iterator[None]:
    """Within it, an error of deltaic is raised with its facts in its text, for the driver."""
    try:
        yield
    except DeltaError as error:
        raise with_facts_in_text(error) from None


def frame(
    session: Any, works: Sequence[str], do: Callable[[str], Iterator[pa.RecordBatch]], schema: str
) -> Any:
    """A DataFrame of the answers, one task a work."""
    tasks = max(1, min(len(works), _MOST_TASKS))
    return session.range(0, len(works), 1, tasks).mapInArrow(Works(works, do), schema)


def answers(df: Any, tag: str) -> pa.Table:
    """Runs the job of a DataFrame. When it raises an error, the tasks have ended. `tag` names the jobs.

    Raises:
        DeltaError: what a task raised.
        PackageNotOnServerError: where the workers cannot import deltaic.
    """
    try:
        with nullcontext() if is_connect(df) else ended_after_failure(df, tag):
            return df.toArrow()
    except Exception as error:
        if (of_worker := error_of_worker(str(error))) is not None:
            raise of_worker from error
        explain_missing_import(error, None if is_connect(df) else python_workers.python_of(df))
        raise


def answered(session: Any, works: Sequence[str], do: CoreTask, what: str) -> list[str]:
    """The answers to works, without a job where there is none. `what` names it.

    Raises:
        DeltaError, PackageNotOnServerError: as `answers`.
    """
    if not works:
        return []
    df = frame(session, works, do, "answer string")
    found: list[str] = answers(df, f"deltaic-{what}-{uuid.uuid4()}").column("answer").to_pylist()
    return found


def swept(delete: Callable[[], None]) -> None:
    """Deletes what a failed job wrote, again and again for a while.

    The Python worker of a task that was stopped may be closing its file still.
    """
    delete()
    for _ in range(_SWEEPS):
        time.sleep(_BETWEEN_SWEEPS)
        delete()


def are_possible(spark: Any) -> bool:
    """Whether tasks may run code of deltaic, as far as is known without one."""
    if find_spec("pandas") is None or _application(spark) in _LACKING:
        return False
    return is_connect(spark) or not is_local(spark) or python_workers.fit(spark)


def told_lacking(spark: Any, what: str, error: PackageNotOnServerError) -> None:
    """Warns, once an application, that a command works in this process because workers lack deltaic."""
    _LACKING.add(_application(spark))
    warnings.warn(
        f"{what} works in this process instead of Spark's tasks: {error}", DeltaWarning, stacklevel=2
    )


def tell_route(what: str, route: str) -> None:
    """Says by `logging` where a command works."""
    _LOG.info("%s: %s", what, route)


def of_few_rows(spark: Any) -> Any:
    """A session of the same application in which tasks are handed few rows at a time, which may be large."""
    session = spark.newSession()
    session.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "2")
    session.conf.set("spark.sql.adaptive.enabled", "false")
    return session


def _application(spark: Any) -> str:
    return str(spark.session_id if is_connect(spark) else spark.sparkContext.applicationId)
