"""The Arrow route: `mapInArrow` to the writer of the core on the executors, which computes statistics too."""

from __future__ import annotations

from contextlib import nullcontext
from importlib.util import find_spec
from itertools import chain
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from deltaic import _core
from deltaic.exceptions import DeltaError
from deltaic.spark.session.kind import is_connect
from deltaic.spark.session.python_workers import python_of
from deltaic.spark.session.task_ends import ended_after_failure
from deltaic.spark.session.tasks import swept
from deltaic.spark.session.worker_errors import explain_missing_import, with_facts_in_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


class Task:
    """What one task does with its rows; pickled to the executors."""

    def __init__(self, plan: bytes, folder: str, names: Sequence[str] | None = None) -> None:
        """`names` are those of the columns, where the batches have others."""
        self.plan = plan
        self.folder = folder
        self.names = names

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """One row an `add` action of what was written."""
        try:
            adds = self.run(batches)
        except DeltaError as error:
            raise with_facts_in_text(error) from None
        yield pa.RecordBatch.from_arrays([pa.array(adds, pa.string())], names=["add"])

    def run(self, batches: Iterable[pa.RecordBatch]) -> list[str]:
        """Writes the batches and returns the `add` actions; nothing is written for no rows."""
        rows = iter(batches)
        if self.names is not None:
            rows = (batch.rename_columns(self.names) for batch in rows)
        first = next(rows, None)
        if first is None:
            return []
        reader = pa.RecordBatchReader.from_batches(first.schema, chain([first], rows))
        adds: list[str] = _core.WritePlan.from_bytes(self.plan).write(reader, self.folder)
        return adds


def is_possible() -> bool:
    """Whether this Python has what PySpark wants for functions over Arrow."""
    return find_spec("pandas") is not None


def write(df: Any, plan: Any, folder: str) -> list[str]:
    """Writes the rows below `folder` of the table; returns the `add` actions of the tasks that won.

    What a failed job wrote is deleted. A task that was repeated, or whose worker outlives its job by seconds,
    leaves at most files that the log never lists.
    """
    names = None
    if any("." in name or "`" in name for name in df.columns):
        # PySpark takes such names apart when it hands columns to a function of Python
        names = df.columns
        df = df.toDF(*(f"c{i}" for i in range(len(names))))
    task = Task(plan.to_bytes(), folder, names)
    try:
        with nullcontext() if is_connect(df) else ended_after_failure(df, folder):
            written = df.mapInArrow(task, "add string").toArrow()
    except BaseException as error:
        swept(lambda: plan.discard(folder, []))
        explain_missing_import(error, None if is_connect(df) else python_of(df))
        raise
    adds: list[str] = written.column("add").to_pylist()
    return adds
