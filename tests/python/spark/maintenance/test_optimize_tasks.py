"""OPTIMIZE in Spark's tasks: it leaves the same table as in one process, whatever happens to a task."""

from __future__ import annotations

import json
import shutil
import sys
import warnings
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import deltaic
from deltaic.spark.session import optimize_tasks
from deltaic.tables import DeltaTable

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import SparkSession

LIMIT = "spark.deltaic.optimize.clusterBytes"
COLUMN_MAPPING = {"delta.columnMapping.mode": "name"}
VECTORS = {"delta.enableDeletionVectors": "true"}
ROW_TRACKING = {"delta.enableRowTracking": "true"}


def _rows(first: int, count: int) -> pa.Table:
    numbers = range(first, first + count)
    return pa.table(
        {
            "p": ["xy"[n % 2] for n in numbers],
            "a": pa.array([n * 7919 % 10007 if n % 9 else None for n in numbers], pa.int64()),
            "s": pa.array(
                [{"day": f"2026-{n * 31 % 12 + 1:02}", "n": n} for n in numbers],
                pa.struct([("day", pa.string()), ("n", pa.int32())]),
            ),
        }
    )


def _table(
    path: Path, properties: dict[str, str], by: str | None, cluster_by: list[str | list[str]] | None = None
) -> None:
    for part in range(4):
        deltaic.write(
            path,
            _rows(part * 400, 400),
            mode="append",
            partition_by=by,
            configuration=properties if part == 0 else None,
        )
        if part == 0 and cluster_by:
            deltaic.Table(path).cluster_by(cluster_by)
    if VECTORS.items() <= properties.items():
        deltaic.Table(path).delete("s.n % 7 = 3")


def _commit(path: Path) -> list[dict[str, Any]]:
    log = path / "_delta_log" / f"{deltaic.Table(path).version:020}.json"
    return [json.loads(line) for line in log.read_text().splitlines()]


def _adds(path: Path) -> list[dict[str, Any]]:
    """The new files without what differs from run to run: their names, and names of cubes."""
    found = []
    for action in _commit(path):
        if (add := action.get("add")) is not None:
            tags = {key: value for key, value in (add.get("tags") or {}).items() if key != "ZCUBE_ID"}
            kept = {k: v for k, v in add.items() if k not in ("path", "modificationTime", "tags", "stats")}
            found.append(kept | {"tags": tags, "stats": json.loads(add["stats"])})
    return sorted(found, key=json.dumps)


def _shown(path: Path) -> dict[str, Any]:
    newest = deltaic.Table(path).history(1)[0]
    metrics = {k: v for k, v in newest["operationMetrics"].items() if "Time" not in k}
    return {"operation": newest["operation"], "parameters": newest["operationParameters"], "metrics": metrics}


def _content(spark: SparkSession, path: Path, *, row_ids: bool) -> list[str]:
    df = spark.read.format("delta").load(str(path))
    columns = ["*", "_metadata.row_id", "_metadata.row_commit_version"] if row_ids else ["*"]
    return sorted(map(str, df.select(*columns).collect()))


def _files(path: Path) -> set[str]:
    return {str(file.relative_to(path)) for file in path.rglob("*.parquet") if "_delta_log" not in file.parts}


@pytest.fixture
def both(
    spark: SparkSession, setting: Callable[[str, str], None], tmp_path: Path
) -> Callable[[Path, Callable[[DeltaTable], Any]], tuple[Path, Path, Any, Any]]:
    """Runs an optimize on a table in one process, and on a copy of it in tasks."""

    def run(path: Path, optimize: Callable[[DeltaTable], Any]) -> tuple[Path, Path, Any, Any]:
        copy = tmp_path / "by tasks"
        shutil.copytree(path, copy)
        here = optimize(DeltaTable.forPath(spark, str(path))).first().metrics
        setting(LIMIT, "1")
        tasks = optimize(DeltaTable.forPath(spark, str(copy))).first().metrics
        assert (here.totalScheduledTasks, tasks.totalScheduledTasks > 0) == (0, True)
        routes = [deltaic.Table(place).history(1)[0]["route"] for place in (path, copy)]
        assert routes == ["driver", "tasks"]
        return path, copy, here, tasks

    return run


def _metrics(row: Any) -> dict[str, Any]:
    own = ("startTimeMs", "endTimeMs", "totalScheduledTasks")
    return {key: value for key, value in row.asDict(recursive=True).items() if key not in own}


@pytest.mark.parametrize(
    ("properties", "by", "cluster_by", "optimize"),
    [
        pytest.param({}, "p", None, lambda t: t.optimize().executeCompaction(), id="partitions"),
        pytest.param(
            VECTORS | ROW_TRACKING | COLUMN_MAPPING,
            "p",
            None,
            lambda t: t.optimize().where("p = 'x'").executeCompaction(),
            id="vectors, row ids, names",
        ),
        pytest.param(
            VECTORS | ROW_TRACKING,
            "p",
            None,
            lambda t: t.optimize().executeZOrderBy("a", "s.day"),
            id="Z-order",
        ),
        pytest.param(
            ROW_TRACKING,
            None,
            ["a", ["s", "day"]],
            lambda t: t.optimize().executeCompaction(),
            id="clustered",
        ),
    ],
)
def test_tasks_leave_the_same_table(
    spark: SparkSession, both: Any, tmp_path: Path, properties: Any, by: Any, cluster_by: Any, optimize: Any
) -> None:
    _table(tmp_path / "t", properties, by, cluster_by)
    before = _content(spark, tmp_path / "t", row_ids=ROW_TRACKING.items() <= properties.items())
    here, tasks, first, second = both(tmp_path / "t", optimize)
    assert _adds(here) == _adds(tasks) != []
    assert _shown(here) == _shown(tasks)
    assert _metrics(first) == _metrics(second)
    for path in (here, tasks):
        assert _content(spark, path, row_ids=ROW_TRACKING.items() <= properties.items()) == before
        assert deltaic.Table(path).verify(deep=True).findings == []


def test_a_purge_by_tasks(spark: SparkSession, both: Any, tmp_path: Path) -> None:
    _table(tmp_path / "t", VECTORS, "p")
    here, tasks, first, second = both(
        tmp_path / "t",
        lambda t: spark.sql(f"REORG TABLE delta.`{t.detail().first().location}` APPLY (PURGE)"),
    )
    assert (_adds(here), _shown(here), _metrics(first)) == (_adds(tasks), _shown(tasks), _metrics(second))
    assert second.deletionVectorStats.numDeletionVectorsRemoved > 0


@pytest.mark.parametrize("clustered", [False, True], ids=["Z-order", "clustered"])
def test_a_curve_is_divided_among_tasks(
    spark: SparkSession, setting: Callable[[str, str], None], both: Any, tmp_path: Path, clustered: Any
) -> None:
    _table(
        tmp_path / "t",
        VECTORS | ROW_TRACKING,
        None if clustered else "p",
        ["a", ["s", "n"]] if clustered else None,
    )
    before = _content(spark, tmp_path / "t", row_ids=True)
    # files of about a third of a partition; what a task sorts at once are some rows
    size = deltaic.Table(tmp_path / "t").totals().bytes
    setting("spark.databricks.delta.optimize.maxFileSize", str(size // 6))
    setting("spark.deltaic.optimize.taskMemory", "64k")

    def optimize(table: DeltaTable) -> Any:
        return (
            table.optimize().executeCompaction()
            if clustered
            else table.optimize().executeZOrderBy("a", "s.n")
        )

    here, tasks, first, second = both(tmp_path / "t", optimize)
    assert _content(spark, here, row_ids=True) == _content(spark, tasks, row_ids=True) == before
    assert deltaic.Table(tasks).verify(deep=True).findings == []
    assert first.numFilesAdded == second.numFilesAdded >= 5
    assert _shown(here)["parameters"] == _shown(tasks)["parameters"]
    # ranges are cut by a sample, which has all of these rows: files hold as many, but for equal keys
    rows = [[add["stats"]["numRecords"] for add in _adds(path)] for path in (here, tasks)]
    assert sum(rows[0]) == sum(rows[1])
    assert max(rows[1]) <= max(rows[0]) * 1.1
    # and each has a part of the curve: a condition reads as few of them
    for column in ("a",):
        found = [
            sum(
                add["stats"]["minValues"][column] <= 5000 <= add["stats"]["maxValues"][column]
                for add in _adds(path)
            )
            for path in (here, tasks)
        ]
        assert found[1] <= found[0] + 1
    if clustered:
        assert len({add["tags"]["ZCUBE_ID"] for action in _commit(tasks) if (add := action.get("add"))}) == 1


@pytest.fixture
def conflicting(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], None]], None]:
    """Has another writer commit while the tasks of the next optimize run."""

    def arrange(commit: Callable[[], None]) -> None:
        answers, done = optimize_tasks.tasks.answers, []

        def interrupted(df: Any, tag: str) -> Any:
            found = answers(df, tag)
            if not done:
                done.append(tag)
                commit()
            return found

        monkeypatch.setattr(optimize_tasks.tasks, "answers", interrupted)

    return arrange


def test_an_append_and_a_delete_by_vectors_may_land_meanwhile(
    spark: SparkSession, setting: Callable[[str, str], None], conflicting: Any, tmp_path: Path
) -> None:
    path = tmp_path / "t"
    _table(path, VECTORS, None)
    setting(LIMIT, "1")

    def others() -> None:
        deltaic.write(path, _rows(5000, 10), mode="append")
        assert deltaic.Table(path).delete("s.n = 100").deleted_rows == 1

    conflicting(others)
    before = deltaic.Table(path).version
    done = DeltaTable.forPath(spark, str(path)).optimize().executeCompaction().first().metrics
    assert deltaic.Table(path).version == before + 3
    assert done.numFilesAdded == 1
    numbers = {row.n for row in spark.read.format("delta").load(str(path)).select("s.n").collect()}
    assert numbers == {n for n in range(1600) if n % 7 != 3 and n != 100} | set(range(5000, 5010))


def test_a_rewrite_meanwhile_makes_it_start_again(
    spark: SparkSession, setting: Callable[[str, str], None], conflicting: Any, tmp_path: Path
) -> None:
    path = tmp_path / "t"
    _table(path, {}, None)
    setting(LIMIT, "1")
    conflicting(lambda: deltaic.Table(path).delete("s.n = 100"))
    DeltaTable.forPath(spark, str(path)).optimize().executeCompaction()
    table = deltaic.Table(path)
    assert table.totals().files == 1
    # what the first attempt wrote is gone: there is one file of tasks, and four and one of the writers
    assert len(_files(path)) == 6
    assert spark.read.format("delta").load(str(path)).count() == 1599


def test_what_a_failed_job_wrote_is_deleted(
    spark: SparkSession, setting: Callable[[str, str], None], tmp_path: Path
) -> None:
    path = tmp_path / "t"
    _table(path, {}, "p")
    setting(LIMIT, "1")
    # of the partition x only
    victim = next(file for file in path.rglob("*.parquet") if "p=x" in str(file))
    victim.write_bytes(b"PAR1 nothing PAR1")
    before = _files(path)
    with pytest.raises(deltaic.exceptions.DataFileError, match="part-"):
        DeltaTable.forPath(spark, str(path)).optimize().executeCompaction()
    assert _files(path) == before


def test_where_workers_lack_deltaic_this_process_does_the_work_and_warns_once(
    spark: SparkSession, setting: Callable[[str, str], None], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    absent = ModuleType("deltaic_absent")
    absent.Rewrite = type("Rewrite", (optimize_tasks.Rewrite,), {"__module__": absent.__name__})  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, absent.__name__, absent)
    monkeypatch.setattr(optimize_tasks, "Rewrite", absent.Rewrite)
    monkeypatch.setattr(optimize_tasks.tasks, "_LACKING", set())
    setting(LIMIT, "1")
    for path, expected in ((tmp_path / "first", 1), (tmp_path / "second", 0)):
        _table(path, {}, None)
        with warnings.catch_warnings(record=True) as reported:
            warnings.simplefilter("always")
            done = DeltaTable.forPath(spark, str(path)).optimize().executeCompaction().first().metrics
        found = [
            str(warning.message)
            for warning in reported
            if "OPTIMIZE works in this process" in str(warning.message)
        ]
        assert len(found) == expected
        assert all("deltaic_absent" in text for text in found)
        assert (done.totalScheduledTasks, deltaic.Table(path).totals().files) == (0, 1)
        assert len(_files(path)) == 5


@pytest.fixture
def compacting(setting: Callable[[str, str], None], tmp_path: Path) -> Path:
    """A table that asks for compactions after commits, and of which the next append of Spark starts one, in tasks."""
    path = tmp_path / "t"
    for part in range(3):
        deltaic.write(path, _rows(part * 400, 400), mode="append")
    deltaic.Table(path).set_properties({"delta.autoOptimize.autoCompact": "true"})
    setting("spark.databricks.delta.autoCompact.minNumFiles", "4")
    setting(LIMIT, "1")
    return path


def _append(spark: SparkSession, path: Path) -> None:
    rows = spark.createDataFrame(
        _rows(5000, 10).to_pylist(), "p STRING, a BIGINT, s STRUCT<day: STRING, n: INT>"
    )
    rows.coalesce(1).write.format("delta").mode("append").save(str(path))


def test_a_large_compaction_after_a_commit_runs_in_tasks(spark: SparkSession, compacting: Path) -> None:
    _append(spark, compacting)
    compaction, append = deltaic.Table(compacting).history(2)
    assert (compaction["operation"], compaction["route"]) == ("OPTIMIZE", "tasks")
    assert compaction["operationParameters"]["auto"] is True
    assert (append["operation"], append["route"]) == ("WRITE", None)
    assert deltaic.Table(compacting).totals().files == 1
    assert spark.read.format("delta").load(str(compacting)).count() == 1210


@pytest.mark.classic("warnings of a write by Spark are in the log of the server")
def test_a_compaction_in_tasks_that_fails_is_a_warning(spark: SparkSession, compacting: Path) -> None:
    victim = next(compacting.glob("*.parquet"))
    whole = victim.read_bytes()
    victim.write_bytes(b"PAR1 nothing PAR1")
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        _append(spark, compacting)
    said = [each for each in told if issubclass(each.category, deltaic.exceptions.DeltaWarning)]
    assert len(said) == 1
    assert "is committed; the compaction after it failed" in str(said[0].message)
    assert deltaic.Table(compacting).history(1)[0]["operation"] == "WRITE"
    victim.write_bytes(whole)
    # the next one tries again
    _append(spark, compacting)
    assert deltaic.Table(compacting).history(1)[0]["operation"] == "OPTIMIZE"
    assert spark.read.format("delta").load(str(compacting)).count() == 1220
