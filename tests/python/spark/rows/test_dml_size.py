"""Changes of rows by the core in this process, and by Spark's tasks: bytes decide, and nothing else differs."""

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

CHANGES: dict[str, Callable[[SparkSession, DeltaTable], Any]] = {
    "delete": lambda spark, table: table.delete("n % 5 = 1"),
    "update": lambda spark, table: table.update("n % 5 = 1", {"s": "concat(s, '!')"}),
    "merge": lambda spark, table: (
        table.alias("t")
        .merge(spark.range(90, 110).alias("u"), "t.n = u.id")
        .whenMatchedUpdate(set={"s": "'merged'"})
        .whenNotMatchedInsert(values={"n": "u.id", "s": "'new'"})
        .execute()
    ),
}


@pytest.mark.parametrize(
    ("change", "vectors"), [("delete", "true"), ("delete", "false"), ("update", "true"), ("merge", "false")]
)
def test_both_ways_leave_the_same_table(
    spark: SparkSession,
    setting: Callable[[str, str], None],
    caplog: pytest.LogCaptureFixture,
    tmp_path: Path,
    change: str,
    vectors: str,
) -> None:
    here, tasks = tmp_path / "here", tmp_path / "tasks"
    for part in range(2):
        rows = pa.table({"n": range(part * 50, part * 50 + 50), "s": [f"{n}" for n in range(50)]})
        properties = {"delta.enableDeletionVectors": vectors, "delta.enableRowTracking": "true"}
        deltaic.write(here, rows, mode="append", configuration=None if part else properties)
    shutil.copytree(here, tasks)
    found = {}
    for path, limit in ((here, "1g"), (tasks, "0")):
        setting("spark.deltaic.dml.clusterBytes", limit)
        with caplog.at_level(logging.INFO, "deltaic.route"):
            caplog.clear()
            CHANGES[change](spark, DeltaTable.forPath(spark, str(path)))
            told = [r.message for r in caplog.records]
        assert {text.rpartition(": ")[2] for text in told} == {
            "in this process" if limit == "1g" else "in tasks"
        }
        newest = deltaic.Table(path).history(1)[0]
        by = "driver" if limit == "1g" else "spark"
        assert newest["route"] == by
        metrics = {
            k: v for k, v in newest["operationMetrics"].items() if "Time" not in k and "Bytes" not in k
        }
        df = spark.read.format("delta").load(str(path)).select("*", "_metadata.row_id")
        found[path] = (sorted(map(str, df.collect())), newest["operation"], metrics)
        assert deltaic.Table(path).verify(deep=True).findings == []
    if change == "merge":
        # new rows get their ids in the order of their files
        found = {
            path: ([row.partition(", row_id")[0] for row in rows], *rest)
            for path, (rows, *rest) in found.items()
        }
    if vectors == "false":
        # a task writes one file, and this process one for each that it read
        for _, _, metrics in found.values():
            metrics.pop("numAddedFiles", None)
            metrics.pop("numTargetFilesAdded", None)
    assert found[here] == found[tasks]


def test_a_limit_that_is_none_is_refused(
    spark: SparkSession, setting: Callable[[str, str], None], tmp_path: Path
) -> None:
    deltaic.write(tmp_path / "t", pa.table({"n": [1]}))
    setting("spark.deltaic.dml.clusterBytes", "many")
    with pytest.raises(deltaic.exceptions.InvalidArgumentError, match=r"clusterBytes.*many"):
        DeltaTable.forPath(spark, str(tmp_path / "t")).delete("n = 1")
