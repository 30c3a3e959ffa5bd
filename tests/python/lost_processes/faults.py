"""What goes wrong in one task of a job, once: functions over the batches of a frame, and over values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


def once(kind: str, mark: str) -> Callable[[], None]:
    """What the first process that calls it does: it makes the file `mark`. A later attempt makes `mark`.again.

    `kill`: its executor ends by SIGKILL. `slow`: it takes seconds. `none`: nothing.
    """

    # pickled by value, with its imports: executors do not have this module
    def strike() -> None:
        import os
        import signal
        import time
        from pathlib import Path

        from pyspark import TaskContext

        task = TaskContext.get()
        if task is not None and task.attemptNumber() > 0:
            Path(f"{mark}.again").touch()
        if kind == "none":
            return
        try:
            os.close(os.open(mark, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return
        if kind == "slow":
            time.sleep(8)
            return
        # the executor started the daemon that started this process
        process = os.getppid()
        while b"CoarseGrainedExecutorBackend" not in Path(f"/proc/{process}/cmdline").read_bytes():
            process = int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
        os.kill(process, signal.SIGKILL)
        os._exit(1)

    return strike


def in_batches(df: Any, strike: Callable[[], None]) -> Any:
    """The same rows, of which a task strikes when it has handed on its last batch."""

    def through(batches: Any) -> Any:
        some = False
        for batch in batches:
            some = some or batch.num_rows > 0
            yield batch
        if some:
            strike()

    return df.mapInArrow(through, df.schema)


def always(strike: Callable[[], None]) -> Any:
    """A function of SQL that is true of every value."""
    from pyspark.sql import functions as F  # noqa: N812 (its usual name)

    def true(value: int) -> bool:
        if value is not None and value % 10 == 4:
            strike()
        return True

    return F.udf(true, "boolean")


def random_in_tasks(df: Any, strike: Callable[[], None]) -> Any:
    """Frame of the column `n`: each task gives another number of its fifty, and the third strikes when it has."""

    def through(batches: Any) -> Any:
        import random

        import pyarrow as pa
        from pyspark import TaskContext

        for batch in batches:
            first = batch.column(0)[0].as_py()
            yield pa.RecordBatch.from_pydict({"n": pa.array([first + random.randrange(50)], pa.int64())})
        if TaskContext.get().partitionId() == 2:
            strike()

    return df.mapInArrow(through, "n long")
