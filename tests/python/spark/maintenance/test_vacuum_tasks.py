"""VACUUM in Spark's tasks: it deletes the same files as in one process."""

from __future__ import annotations

import logging
import shutil
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import deltaic
from deltaic.tables import DeltaTable

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import SparkSession


def _files(path: Path) -> set[str]:
    return {
        str(file.relative_to(path))
        for file in path.rglob("*")
        if file.is_file() and "_delta_log" not in file.parts
    }


def _history(path: Path) -> list[tuple[str, dict[str, Any], dict[str, Any]]]:
    newest = deltaic.Table(path).history(2)
    return [(c["operation"], c["operationParameters"], c["operationMetrics"]) for c in newest]


def _routes(path: Path) -> list[str | None]:
    return [commit["route"] for commit in deltaic.Table(path).history(2)]


@pytest.mark.parametrize("dry", [False, True], ids=["delete", "dry run"])
def test_tasks_delete_the_same_files(
    spark: SparkSession,
    setting: Callable[[str, str], None],
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    dry: Any,
) -> None:
    here, tasks = tmp_path / "here", tmp_path / "tasks"
    for n in range(5):
        rows = pa.table({"p": ["x", "y"], "n": [n, n]})
        deltaic.write(here, rows, mode="overwrite" if n else "append", partition_by="p")
    (here / "p=x" / "orphan.parquet").write_bytes(b"of a writer that failed")
    (here / "_hidden").write_bytes(b"of somebody else")
    shutil.copytree(here, tasks)
    setting("spark.databricks.delta.retentionDurationCheck.enabled", "false")
    found = {}
    for path, limit in ((here, "1000000"), (tasks, "1")):
        setting("spark.deltaic.vacuum.clusterFiles", limit)
        with caplog.at_level(logging.INFO, "deltaic.route"):
            caplog.clear()
            statement = f"VACUUM delta.`{path}` RETAIN 0 HOURS{' DRY RUN' if dry else ''}"
            listed = [row.path.rpartition("/")[2] for row in spark.sql(statement).collect()]
        by_tasks = any("in tasks" in record.message for record in caplog.records)
        assert by_tasks is (limit == "1" and not dry)
        assert dry or _routes(path) == ["tasks" if by_tasks else "driver"] * 2
        found[path] = (_files(path), sorted(listed) if dry else [], _history(path))
    assert found[here] == found[tasks]
    assert len(found[here][0]) == (12 if dry else 3)
    assert spark.read.format("delta").load(str(tasks)).count() == 2


def test_a_vacuum_of_a_table_of_the_builder(
    spark: SparkSession, setting: Callable[[str, str], None], tmp_path: Path
) -> None:
    path = tmp_path / "t"
    for n in range(3):
        deltaic.write(path, pa.table({"n": [n]}), mode="overwrite" if n else "append")
    setting("spark.databricks.delta.retentionDurationCheck.enabled", "false")
    setting("spark.deltaic.vacuum.clusterFiles", "1")
    DeltaTable.forPath(spark, str(path)).vacuum(0)
    assert len(_files(path)) == 1
    assert [c["operation"] for c in deltaic.Table(path).history(2)] == ["VACUUM END", "VACUUM START"]
