"""The story of the tour: a table is created, appended to, read with a filter, and read at its first version."""

from __future__ import annotations

import shutil
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from deltaic.cli import output
from deltaic.cli.tour.arrow import Arrow
from deltaic.cli.tour.spark import Spark, quiet
from deltaic.exceptions import TableAlreadyExistsError
from deltaic.table import Table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from deltaic.cli.tour.engine import Engine

MONTHS = ("2026-01", "2026-02", "2026-03")
FILTER = "country = 'DE' AND order_date >= '2026-03-16'"


@dataclass
class Step:
    """What one step did."""

    name: str
    """In words."""
    rows: int | None = None
    """Rows written or read."""
    files: int | None = None
    """Files written or read."""
    pruned: int | None = None
    """Files that were not read."""
    seconds: float = 0.0
    """How long it took."""


@contextmanager
def told(rows: int, keep: Path | None, engine: str | None) -> Iterator[tuple[str, list[Step]]]:
    """Makes the table and reads it: its path, and the steps. It lies in `keep`, or is removed at the end.

    `engine` is `spark` or `arrow`; by default it is Spark where PySpark is installed.

    Raises:
        UnsupportedError: there is no Java that Spark runs on, or no pyarrow.
        TableAlreadyExistsError: `keep` exists.
    """
    if keep is not None and keep.exists():
        raise TableAlreadyExistsError(f"{keep} exists; the tour makes a new folder", path=str(keep))
    folder = Path(tempfile.mkdtemp(prefix="deltaic-tour-"))
    path = str(keep or folder / "orders")
    steps: list[Step] = []
    try:
        if engine == "spark" or (engine is None and find_spec("pyspark")):
            _by_spark(folder, path, rows, steps)
        else:
            _play(Arrow(), path, rows, steps)
        yield path, steps
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _by_spark(folder: Path, path: str, rows: int, steps: list[Step]) -> None:
    with quiet(folder / "spark.log"):
        with _timed(steps, "start a local Spark and enable deltaic"):
            spark = Spark(folder)
        try:
            _play(spark, path, rows, steps)
        finally:
            spark.stop()
    _read_where(Arrow(), path, steps, "the same filter from Python, without Spark")


def _play(engine: Engine, path: str, rows: int, steps: list[Step]) -> None:
    files = 0
    for n, month in enumerate(MONTHS):
        first, end = rows * n // len(MONTHS), rows * (n + 1) // len(MONTHS)
        what = f"create, partitioned by country: {month}" if n == 0 else f"append: {month}"
        with _timed(steps, what) as step:
            engine.append(path, month, first, end - first)
        total = Table(path).totals().files
        step.rows, step.files, files = end - first, total - files, total
    with _timed(steps, "read all of it") as step:
        step.rows = engine.count(path)
    step.files, step.pruned = files, 0
    _read_where(engine, path, steps, f"read where {FILTER}")
    with _timed(steps, "travel back to version 0") as step:
        step.rows = engine.count(path, version=0)
    step.files = Table(path, version=0).totals().files


def _read_where(engine: Engine, path: str, steps: list[Step], name: str) -> None:
    with _timed(steps, name) as step:
        step.rows = engine.count(path, FILTER)
    table = Table(path)
    step.files = table.totals(FILTER).files
    step.pruned = table.totals().files - step.files


@contextmanager
def _timed(steps: list[Step], name: str) -> Iterator[Step]:
    step = Step(name)
    started = time.perf_counter()
    with output.progress(name):
        yield step
    step.seconds = time.perf_counter() - started
    steps.append(step)
