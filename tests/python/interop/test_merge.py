"""The same merges by deltaic and by delta-spark: same rows, changes and metrics; each reads the other's."""

from __future__ import annotations

import re
import shutil
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from dml_tables import last_commit, write_parts

import deltaic
from deltaic.tables import DeltaMergeBuilder, DeltaTable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from deltaic.table import Merge

_FEED = {"delta.enableChangeDataFeed": "true"}
KINDS: dict[str, dict[str, str]] = {
    "rewrite": _FEED,
    "vectors": {**_FEED, "delta.enableDeletionVectors": "true", "delta.enableRowTracking": "true"},
}
# the source, what delta-spark runs, and what deltaic runs
STEPS: list[tuple[str, str, Callable[[DeltaMergeBuilder], DeltaMergeBuilder]]] = [
    (
        "SELECT id * 7 AS id, 'b' AS p, CAST(id AS int) AS n, named_struct('b', 'y', 'a', -1) AS s FROM range(12)",
        "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *",
        lambda m: m.whenMatchedUpdateAll().whenNotMatchedInsertAll(),
    ),
    (
        "SELECT id FROM range(55, 90)",
        "WHEN NOT MATCHED AND s.id % 2 = 0 THEN INSERT (id, p) VALUES (s.id, 'a')",
        lambda m: m.whenNotMatchedInsert("s.id % 2 = 0", {"id": "s.id", "p": "'a'"}),
    ),
    (
        "SELECT id * 5 AS id FROM range(7) UNION ALL SELECT 5L AS id",
        "WHEN MATCHED THEN DELETE",
        lambda m: m.whenMatchedDelete(),
    ),
    (
        "SELECT id FROM range(20, 80)",
        "WHEN NOT MATCHED BY SOURCE AND t.id < 10 THEN DELETE WHEN NOT MATCHED BY SOURCE THEN UPDATE SET n = -t.n",
        lambda m: m.whenNotMatchedBySourceDelete("t.id < 10").whenNotMatchedBySourceUpdate(set={"n": "-t.n"}),
    ),
    (
        "SELECT id, CAST(id AS int) AS k FROM range(40, 46)",
        "WHEN MATCHED AND s.k > 43 THEN DELETE WHEN MATCHED AND s.k > 41 THEN UPDATE SET s.a = t.n, n = s.k",
        lambda m: m.whenMatchedDelete("s.k > 43").whenMatchedUpdate("s.k > 41", {"s.a": "t.n", "n": "s.k"}),
    ),
    (
        "SELECT id, 'c' AS p, named_struct('a', 1, 'c', 2L) AS s, 'new' AS more FROM range(75, 100)",
        "EVOLVE WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *",
        lambda m: m.withSchemaEvolution().whenMatchedUpdateAll().whenNotMatchedInsertAll(),
    ),
]


class CoreMerge:
    """A merge without Spark, by the names that delta-spark has for its clauses."""

    def __init__(self, merge: Merge) -> None:
        self._merge = merge
        self.execute = merge.execute

    def __getattr__(self, name: str) -> Callable[..., CoreMerge]:
        method = re.sub("[A-Z]", lambda found: f"_{found[0].lower()}", name)

        def clause(condition: str | None = None, values: Any = None, **more: Any) -> CoreMerge:
            given = [v for v in (values, *more.values()) if v is not None]
            return CoreMerge(getattr(self._merge, method)(*given, condition))

        return (lambda: self) if method == "with_schema_evolution" else clause


def _metrics(path: Path, *, all_files: bool) -> dict[str, int]:
    """But for what depends on time, bytes, and how many files a writer makes of rows."""
    depends = ["Ms", "BytesAdded", "BytesRemoved", "FilesAdded"]
    if not all_files:
        # delta-spark rewrites files of which no row changes
        depends += ["FilesRemoved", "RowsCopied", "OutputRows"]
    found = last_commit(str(path))[0]["operationMetrics"]
    return {k: int(v) for k, v in found.items() if not k.endswith(tuple(depends))}


def _changes(path: Path, columns: list[str]) -> list[str]:
    """The rows of the change files of the newest commit."""
    from urllib.parse import unquote

    import pyarrow.parquet as pq

    rows = []
    for file in (action["cdc"]["path"] for action in last_commit(str(path))[1] if "cdc" in action):
        rows += pq.ParquetFile(path / unquote(file)).read().select(columns).to_pylist()
    return sorted(map(repr, rows))


@contextmanager
def by_tasks(spark: Any) -> Iterator[None]:
    """Within it, tasks of Spark merge what the driver alone could."""
    spark.conf.set("spark.deltaic.dml.clusterBytes", "0")
    try:
        yield
    finally:
        spark.conf.unset("spark.deltaic.dml.clusterBytes")


ENGINES = ["spark", "tasks", "core"]


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_merges_do_the_same(
    spark: Any, delta_spark: Any, same: Any, kind: str, tmp_path: Path
) -> None:
    theirs = tmp_path / "theirs"
    write_parts(theirs, KINDS[kind])
    for step, (source, clauses, build) in enumerate(STEPS):
        # the same files: how rows are spread over them decides which are touched and copied
        copies = {engine: shutil.copytree(theirs, tmp_path / f"{engine}-{step}") for engine in ENGINES}
        evolving = clauses.startswith("EVOLVE ")
        delta_spark.sql(
            f"MERGE {'WITH SCHEMA EVOLUTION ' if evolving else ''}INTO delta.`{theirs}` AS t USING ({source}) AS s"
            f" ON t.id = s.id {clauses.removeprefix('EVOLVE ')}"
        )
        expected = delta_spark.read(theirs)
        same(pa.table(deltaic.Table(str(theirs)).to_arrow()), expected)
        all_files = kind == "vectors" or "SOURCE" not in clauses
        for engine, ours in copies.items():
            with by_tasks(spark) if engine == "tasks" else nullcontext():
                _merge(engine, spark, ours, spark.sql(source), build, evolving=evolving)
            case = (engine, clauses)
            same(delta_spark.read(ours), expected)
            same(pa.table(deltaic.Table(str(ours)).to_arrow()), expected)
            columns = ["id", "p", "n", "s", "_change_type"]
            assert _changes(ours, columns) == _changes(theirs, columns), case
            assert _metrics(ours, all_files=all_files) == _metrics(theirs, all_files=all_files), case
            parameters = [last_commit(str(path))[0]["operationParameters"].keys() for path in (ours, theirs)]
            assert parameters[0] == parameters[1], case
            assert deltaic.Table(str(ours)).verify(deep=True).findings == [], case
        # the next step merges into what one of ours has made, each of them in its turn
        theirs = shutil.copytree(copies[ENGINES[step % len(ENGINES)]], tmp_path / f"theirs-{step}")


def _merge(
    engine: str,
    spark: Any,
    path: Path,
    rows: Any,
    build: Callable[[DeltaMergeBuilder], DeltaMergeBuilder],
    *,
    evolving: bool,
) -> None:
    if engine != "core":
        merge: Any = DeltaTable.forPath(spark, str(path)).alias("t").merge(rows.alias("s"), "t.id = s.id")
    else:
        names = {"source_alias": "s", "target_alias": "t"}
        core = deltaic.Table(str(path)).merge(
            rows.toArrow(), "t.id = s.id", with_schema_evolution=evolving, **names
        )
        merge = CoreMerge(core)
    build(merge).execute()
