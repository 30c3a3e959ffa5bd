"""`demo`: a local Spark creates a table, appends to it, reads it with a filter, and reads its first version."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
import warnings
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from deltaic.cli import output
from deltaic.exceptions import TableAlreadyExistsError, UnsupportedError
from deltaic.table import Table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame, SparkSession

_COUNTRIES = ("AT", "CH", "DE", "ES", "FR", "IT", "NL", "PL")
_MONTHS = ("2026-01", "2026-02", "2026-03")
_FILTER = "country = 'DE' AND order_date >= '2026-03-16'"


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


@click.command(short_help="See it work: a local Spark creates, appends to and reads a table.")
@click.option(
    "--rows", type=click.IntRange(min=1000), default=300_000, show_default=True, help="Number of orders."
)
@click.option(
    "--keep", type=click.Path(path_type=Path), help="Keep the table in this folder, which must not exist."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON for machines.")
def demo(*, rows: int, keep: Path | None, as_json: bool) -> None:
    """Create a table of orders with a local Spark, append to it, read it with a filter, read its first version.

    The demo has its own data and, with the extra `spark`, its own Java. It removes what it created.
    """
    steps, history = run_demo(rows, keep)
    if as_json:
        output.print_json({"steps": [vars(step) for step in steps], "history": history})
        return
    shown = output.console()
    grid = output.grid(
        "step", "rows", "files", "pruned", "seconds", right=["rows", "files", "pruned", "seconds"]
    )
    for step in steps:
        counts = ("" if n is None else f"{n:,}" for n in (step.rows, step.files, step.pruned))
        grid.add_row(step.name, *counts, f"{step.seconds:.2f}")
    shown.print(grid)
    shown.print()
    commits = output.grid("version", "timestamp", "operation", "rows", right=["version", "rows"])
    for commit in history:
        metrics = commit["operationMetrics"] or {}
        cells = (commit["timestamp"], commit["operation"], metrics.get("numOutputRows"))
        commits.add_row(str(commit["version"]), *map(output.cell, cells))
    shown.print(commits)
    if keep is not None:
        shown.print(f'\nThe table is in {keep}. Try: python -m deltaic files {keep} --where "{_FILTER}"')


def run_demo(rows: int, keep: Path | None = None) -> tuple[list[Step], list[dict[str, Any]]]:
    """Runs the demo and gives its steps and the history of the table, which lies in `keep` or is removed.

    Raises:
        UnsupportedError: PySpark or a Java that it runs on is missing.
        TableAlreadyExistsError: `keep` exists.
    """
    if keep is not None and keep.exists():
        raise TableAlreadyExistsError(f"{keep} exists; the demo makes a new folder", path=str(keep))
    folder = Path(tempfile.mkdtemp(prefix="deltaic-demo-"))
    path = str(keep or folder / "orders")
    steps: list[Step] = []
    try:
        with _quiet(folder / "spark.log"):
            with _timed(steps, "start a local Spark and enable deltaic"):
                spark = _local_spark(folder)
            try:
                _write(spark, path, rows, steps)
                _read(spark, path, steps)
            finally:
                spark.stop()
        _read_without_spark(path, steps)
        return steps, Table(path).history()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _quiet(log: Path) -> Iterator[None]:
    """What Spark's JVM and PySpark warn of, as at every start, is shown only where the demo fails."""
    shown = os.dup(2)
    with warnings.catch_warnings(), log.open("wb") as file:
        warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
        # the JVM writes into the file itself; progress and errors of this process go where they went
        own, sys.stderr = sys.stderr, os.fdopen(os.dup(shown), "w", closefd=True)
        os.dup2(file.fileno(), 2)
        try:
            yield
        except BaseException:
            own.write(log.read_text(errors="replace"))
            raise
        finally:
            os.dup2(shown, 2)
            os.close(shown)
            sys.stderr.close()
            sys.stderr = own


def _local_spark(folder: Path) -> SparkSession:
    try:
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise UnsupportedError("the demo needs PySpark. Run: pip install 'deltaic[spark]'") from error
    import deltaic
    from deltaic.spark.java import ensure_java

    ensure_java()
    builder = SparkSession.builder.master("local[*]").appName("deltaic demo")
    settings = {
        # the demo works without a network, whatever this machine calls itself
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.log.level": "ERROR",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.warehouse.dir": (folder / "warehouse").as_uri(),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    for key, value in settings.items():
        builder = builder.config(key, value)
    session: SparkSession = deltaic.enable(builder.getOrCreate())
    return session


def _orders(spark: SparkSession, month: str, first: int, count: int) -> DataFrame:
    """One month of orders: the same ones in every run."""
    countries = ", ".join(f"'{c}'" for c in _COUNTRIES)
    return (
        spark.range(first, first + count)
        .selectExpr(
            "id AS order_id",
            f"date_add(DATE'{month}-01', CAST((id - {first}) * 28 DIV {count} AS INT)) AS order_date",
            f"element_at(array({countries}), CAST(1 + pmod(xxhash64(id), {len(_COUNTRIES)}) AS INT)) AS country",
            "pmod(xxhash64(id, 'customer'), 5000) AS customer_id",
            "CAST(pmod(xxhash64(id, 'amount'), 100000) / 100 + 1 AS DECIMAL(10, 2)) AS amount",
            "IF(id % 10 = 0, NULL, concat('order ', id)) AS note",
        )
        .repartition(len(_COUNTRIES), "country")
        .sortWithinPartitions("order_date")
    )


def _write(spark: SparkSession, path: str, rows: int, steps: list[Step]) -> None:
    files = 0
    for n, month in enumerate(_MONTHS):
        first, end = rows * n // len(_MONTHS), rows * (n + 1) // len(_MONTHS)
        what = f"create, partitioned by country: {month}" if n == 0 else f"append: {month}"
        with _timed(steps, what) as step:
            frame = _orders(spark, month, first, end - first)
            frame.write.format("delta").mode("append").partitionBy("country").save(path)
        total = Table(path).totals().files
        step.rows, step.files, files = end - first, total - files, total


def _read(spark: SparkSession, path: str, steps: list[Step]) -> None:
    total = Table(path).totals().files
    with _timed(steps, "read all of it") as step:
        step.rows = spark.read.format("delta").load(path).count()
    step.files, step.pruned = total, 0
    with _timed(steps, f"read where {_FILTER}") as step:
        found = spark.read.format("delta").load(path).where(_FILTER)
        step.rows = found.selectExpr("count(amount)").first()[0]
    step.files = Table(path).totals(_FILTER).files
    step.pruned = total - step.files
    with _timed(steps, "travel back to version 0") as step:
        step.rows = spark.read.format("delta").option("versionAsOf", 0).load(path).count()
    step.files = Table(path, version=0).totals().files


def _read_without_spark(path: str, steps: list[Step]) -> None:
    with _timed(steps, "the same filter from Python, without Spark") as step:
        table = Table(path)
        step.rows = _count(table.to_arrow(columns=["order_id"], where=_FILTER))
    step.files = table.totals(_FILTER).files
    step.pruned = table.totals().files - step.files


def _count(rows: Any) -> int:
    import pyarrow as pa

    return sum(batch.num_rows for batch in pa.RecordBatchReader.from_stream(rows))


@contextmanager
def _timed(steps: list[Step], name: str) -> Iterator[Step]:
    step = Step(name)
    started = time.perf_counter()
    with output.progress(name):
        yield step
    step.seconds = time.perf_counter() - started
    steps.append(step)
