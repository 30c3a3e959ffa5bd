"""Steps that change a table of `checked_tables`, each with the rows that it must leave and where a fault can hit it."""

from __future__ import annotations

from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import checked_tables as tables
import faults
import pyarrow as pa
from checked_tables import ROWS, row
from pyspark.sql import functions as F  # noqa: N812 (its usual name)

import deltaic
from deltaic.exceptions import InvariantViolationError
from deltaic.spark import save as save_module
from deltaic.spark.dml import operation
from deltaic.tables import DeltaTable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

VECTORS = {"delta.enableDeletionVectors": "true"}
FEED = {"delta.enableChangeDataFeed": "true"}
POSITIVE = {"delta.constraints.positive": "v >= 0"}

_OLD = {n: row(n) for n in range(ROWS)}


@dataclass
class Step:
    """One change of a table."""

    act: Callable[[Any, Path, Callable[[], None]], None]
    """Given the session, the table and what strikes while it reads, searches or computes."""
    leaves: list[tables.Row]
    properties: dict[str, str] = field(default_factory=dict)
    writes: int = 0
    """How often it writes rows after it has looked for some: a fault can hit each of these."""
    by: bool = True
    changes: dict[str, int] = field(default_factory=dict)
    """Rows of the change data feed by kind."""
    versions: int = 1


def new_rows(spark: Any, first: int, count: int, value: str = "n") -> Any:
    """Rows of a frame in four tasks."""
    p = "element_at(array('a', 'b', 'c'), CAST(n % 3 AS int) + 1) AS p"
    return spark.range(first, first + count, 1, 4).selectExpr("id AS n").selectExpr("n", p, f"{value} AS v")


def _saved(route: str, mode: str) -> Callable[[Any, Path, Callable[[], None]], None]:
    def act(spark: Any, path: Path, strike: Callable[[], None]) -> None:
        rows = faults.in_batches(new_rows(spark, ROWS, 200), strike)
        deltaic.save(rows, str(path), mode=mode, deltaicRoute=route, maxRecordsPerFile="20")

    return act


def _insert(spark: Any, path: Path, strike: Callable[[], None]) -> None:
    faults.in_batches(new_rows(spark, ROWS, 200), strike).createOrReplaceTempView("given")
    spark.sql(f"INSERT INTO delta.`{path}` SELECT * FROM given")


def _breaks_a_rule(spark: Any, path: Path, strike: Callable[[], None]) -> None:
    rows = faults.in_batches(new_rows(spark, ROWS, 200, "IF(n = 399, -1, n)"), strike)
    try:
        deltaic.save(rows, str(path), mode="append", maxRecordsPerFile="20")
    except InvariantViolationError:
        return
    raise AssertionError("a row that breaks a constraint was written")


def _delete(spark: Any, path: Path, strike: Callable[[], None]) -> None:
    found = (F.col("n") % 4 == 0) & faults.always(strike)("n")
    DeltaTable.forPath(spark, str(path)).delete(found)


def _update(spark: Any, path: Path, strike: Callable[[], None]) -> None:
    found = (F.col("n") % 4 == 0) & faults.always(strike)("n")
    DeltaTable.forPath(spark, str(path)).update(found, {"v": F.col("v") + 1000})


def _merge(spark: Any, path: Path, source: Any, matched: Any = None) -> None:
    into = DeltaTable.forPath(spark, str(path)).alias("t")
    merge = into.merge(source.alias("s"), "t.n = s.n")
    merge = merge.whenMatchedDelete("s.n % 2 = 0")
    merge = merge.whenMatchedUpdate(matched, set={"v": "s.v"})
    merge.whenNotMatchedInsertAll().execute()


def _merge_source(spark: Any, path: Path, strike: Callable[[], None]) -> None:
    _merge(spark, path, faults.in_batches(new_rows(spark, 100, 200, "n + 1000"), strike))


def _merge_matches(spark: Any, path: Path, strike: Callable[[], None]) -> None:
    """The source is computed by then, and executors hold its rows."""
    _merge(spark, path, new_rows(spark, 100, 200, "n + 1000"), faults.always(strike)("t.n"))


def _upsert(spark: Any, path: Path, strike: Callable[[], None]) -> None:
    rows = faults.in_batches(new_rows(spark, 100, 200, "n + 1000"), strike)
    deltaic.upsert(rows, str(path), "n")


def _merge_random(spark: Any, path: Path, strike: Callable[[], None]) -> None:
    """Each key is one of the table, which none is twice: all match, whichever are drawn."""
    keys = faults.random_in_tasks(spark.range(0, ROWS, 50, 4), strike)
    source = keys.selectExpr("n", "'new' AS p", "n AS v")
    into = DeltaTable.forPath(spark, str(path)).alias("t")
    merge = into.merge(source.alias("s"), "t.n = s.n").whenMatchedUpdate(set={"v": "t.v"})
    merge.whenNotMatchedInsertAll().execute()


def _stream_into(spark: Any, path: Path, strike: Callable[[], None]) -> None:
    """From a table of its own, twice, with new rows between."""
    source = path.with_name(f"{path.name} source")
    for run in range(2):
        n, p, v = zip(*(row(n) for n in range(ROWS + 100 * run, ROWS + 100 * run + 100)), strict=True)
        deltaic.write(source, pa.table({"n": n, "p": p, "v": v}))
        rows = spark.readStream.format("delta").load(str(source))
        query = faults.in_batches(rows, strike).writeStream.format("delta")
        query = query.option("checkpointLocation", f"{path} checkpoint").trigger(availableNow=True)
        query.start(str(path)).awaitTermination()


def _stream_upserts(spark: Any, path: Path, strike: Callable[[], None]) -> None:
    """The changes of a table of its own, by `foreachBatch`."""
    source = path.with_name(f"{path.name} source")
    n, p, v = zip(*(row(n, n + 1000) for n in range(100, 300)), strict=True)
    deltaic.write(source, pa.table({"n": n, "p": p, "v": v}))
    rows = faults.in_batches(spark.readStream.format("delta").load(str(source)), strike)
    query = rows.writeStream.foreachBatch(deltaic.upsert_batch(str(path), "n"))
    query = query.option("checkpointLocation", f"{path} checkpoint").trigger(availableNow=True)
    query.start().awaitTermination()


_APPENDED = [row(n) for n in range(ROWS + 200)]
_DELETED = [row(n) for n in _OLD if n % 4]
_UPDATED = [row(n, n if n % 4 else n + 1000) for n in _OLD]
_UPSERTED = [row(n, n if n < 100 else n + 1000) for n in range(300)]
_MERGED = [r for r in _UPSERTED if r[0] not in range(100, 200, 2)]
_OF_MERGE = {"delete": 50, "update_preimage": 50, "update_postimage": 50, "insert": 100}

STEPS: dict[str, Step] = {
    **{
        f"append {route}": Step(_saved(route, "append"), _APPENDED) for route in ("direct", "arrow", "driver")
    },
    **{
        f"overwrite {route}": Step(_saved(route, "overwrite"), _APPENDED[ROWS:])
        for route in ("direct", "arrow", "driver")
    },
    "append without partitions": Step(_saved("direct", "append"), _APPENDED, by=False),
    "insert": Step(_insert, _APPENDED),
    "constraint": Step(_breaks_a_rule, list(_OLD.values()), POSITIVE, versions=0),
    "delete vectors": Step(_delete, _DELETED, VECTORS),
    "delete rewriting": Step(_delete, _DELETED, writes=1),
    "delete feed": Step(_delete, _DELETED, FEED, writes=2, changes={"delete": 50}),
    "update vectors": Step(_update, _UPDATED, VECTORS, writes=1),
    "update feed": Step(
        _update, _UPDATED, FEED, writes=2, changes={"update_preimage": 50, "update_postimage": 50}
    ),
    "merge source": Step(_merge_source, _MERGED),
    "merge vectors": Step(_merge_matches, _MERGED, VECTORS, writes=2),
    "merge rewriting": Step(_merge_matches, _MERGED, writes=2),
    "merge feed": Step(_merge_matches, _MERGED, {**FEED, **VECTORS}, writes=3, changes=_OF_MERGE),
    "merge random": Step(_merge_random, list(_OLD.values()), VECTORS),
    "upsert": Step(_upsert, _UPSERTED, VECTORS, writes=2),
    "stream": Step(_stream_into, _APPENDED, versions=2),
    "stream of upserts": Step(_stream_upserts, _UPSERTED, VECTORS, writes=2),
}


@contextmanager
def striking_write(number: int, strike: Callable[[], None]) -> Iterator[list[int]]:
    """Within it, the rows of the write of this number strike when a task has handed on its last batch.

    Yields the numbers of the writes.
    """
    original, seen = operation.write_rows, list[int]()

    def write_rows(df: Any, *given: Any, **named: Any) -> Any:
        seen.append(len(seen))
        return original(faults.in_batches(df, strike) if seen[-1] == number else df, *given, **named)

    operation.write_rows = save_module.write_rows = write_rows
    try:
        yield seen
    finally:
        operation.write_rows = save_module.write_rows = original


def play(spark: Any, name: str, path: Path, kind: str, write: int | None = None) -> dict[str, Any]:
    """Plays a step where a fault hits what it looks for, or the `write` of this number; what is wrong then."""
    step = STEPS[name]
    tables.make(path, by=step.by, **step.properties)
    mark = path.with_name(f"{path.name} struck")
    strike, nothing = faults.once(kind, str(mark)), faults.once("none", str(mark))
    if write is None:
        step.act(spark, path, strike)
    else:
        with striking_write(write, strike) as seen:
            step.act(spark, path, nothing)
        if write not in seen:
            raise AssertionError(f"{name} writes {len(seen)} times")
    wrong = []
    if step.changes:
        # before a vacuum deletes them
        changes = deltaic.Table(path).changes(tables.PARTS)
        kinds = Counter(pa.table(changes).column("_change_type").to_pylist())
        if kinds != step.changes:
            wrong.append(f"changes {dict(kinds)} instead of {step.changes}")
    reported = tables.check(path, step.leaves, step.versions)
    wrong += reported["wrong"]
    if not step.versions and reported["orphans"]:
        wrong.append(f"{reported['orphans']} files of a step that failed")
    again = mark.with_name(f"{mark.name}.again").exists()
    return {**reported, "wrong": wrong, "struck": mark.exists(), "again": again}
