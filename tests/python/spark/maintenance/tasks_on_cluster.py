"""The same work of the core in one process and in tasks of a cluster: run by tests, which compare.

    python tasks_on_cluster.py URL ROOT STEP…

Tables are below ROOT, a folder or a URL of S3. For the latter the variable `HADOOP` has the settings of its store as
JSON, and `DATA` is the folder where the server keeps the objects. Each step is done twice. The file that `TOLD` names
gets what it left where this process did it, and where tasks did.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import cluster
import pyarrow as pa
import pyarrow.parquet as pq
import small_session

import deltaic
from deltaic.spark.session.settings import storage

if TYPE_CHECKING:
    from collections.abc import Callable

HADOOP: dict[str, str] = json.loads(os.environ.get("HADOOP", "{}"))
DATA = os.environ.get("DATA")
VACUUM = "spark.deltaic.vacuum.clusterFiles"
OPTIMIZE = "spark.deltaic.optimize.clusterBytes"
FOOTERS = "spark.deltaic.footers.clusterFiles"


class Told(logging.Handler):
    """What the routes tell."""

    def __init__(self) -> None:
        super().__init__()
        self.said: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.said.append(record.getMessage())


def rows(first: int, count: int) -> pa.Table:
    numbers = range(first, first + count)
    return pa.table({"n": numbers, "p": [["x y", "z/ä%", None][n % 3] for n in numbers]})


def content(spark: Any, uri: str) -> list[str]:
    return sorted(map(str, spark.read.format("delta").load(uri).collect()))


def newest(uri: str, options: dict[str, str], count: int = 1) -> list[Any]:
    """Operations, parameters and metrics without times, by the newest commits."""
    found = deltaic.Table(uri, storage_options=options).history(count)
    return [
        [
            commit["operation"],
            {k: v for k, v in commit["operationParameters"].items() if k != "predicate"},
            {k: v for k, v in (commit["operationMetrics"] or {}).items() if "Time" not in k},
        ]
        for commit in found
    ]


def folder_of(uri: str) -> Path:
    """Where the files of a table are on this machine."""
    return Path(uri) if DATA is None else Path(DATA) / uri.partition("://")[2]


def files(folder: Path) -> set[str]:
    """The files of a table outside of its log."""
    found = (file.relative_to(folder) for file in folder.rglob("*") if file.is_file())
    return {str(name) for name in found if "_delta_log" not in name.parts}


def vacuum(spark: Any, uri: str, limit: str) -> dict[str, Any]:
    """Removed files, orphans in folders and beside them, and what a vacuum leaves alone."""
    options = storage(spark, {})
    spark.conf.set(VACUUM, limit)
    for n in range(4):
        deltaic.write(
            uri,
            rows(n * 30, 30),
            mode="overwrite" if n else "append",
            partition_by="p",
            storage_options=options,
        )
    folder = folder_of(uri)
    for name in ("orphan.parquet", "p=x%20y/orphan 1.parquet", "a/b/deep.parquet", "_hidden/kept"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(b"of a writer that failed")
    # an object's time is precise to a second
    time.sleep(1.1)
    before = files(folder)
    text = f"VACUUM delta.`{uri}` RETAIN 0 HOURS"
    listed = sorted(
        row.path.partition(f"{uri}/")[2].rpartition("/")[0] for row in spark.sql(f"{text} DRY RUN").collect()
    )
    spark.sql(text)
    after = files(folder)
    assert after < before
    return {
        "listed": listed,
        "left": sorted(name.rpartition("/")[0] for name in after),
        "deleted": len(before - after),
        "content": content(spark, uri),
        "history": newest(uri, options, 2),
    }


def auto_compaction(spark: Any, uri: str, limit: str) -> dict[str, Any]:
    """An append and a delete of a table that asks for compactions."""
    options = storage(spark, {})
    spark.conf.set(OPTIMIZE, limit)
    spark.conf.set("spark.databricks.delta.autoCompact.minNumFiles", "4")
    for n in range(4):
        deltaic.write(uri, rows(n * 30, 30), mode="append", storage_options=options)
    deltaic.Table(uri, storage_options=options).set_properties({"delta.autoOptimize.autoCompact": "true"})
    spark.sql("SELECT id AS n, 'w' AS p FROM range(200, 230)").coalesce(1).write.format("delta").mode(
        "append"
    ).save(uri)
    table = deltaic.Table(uri, storage_options=options)
    found = pa.table(table.files(stats=True))
    return {
        "files": sorted(json.loads(stats)["numRecords"] for stats in found["stats"].to_pylist()),
        "content": content(spark, uri),
        "history": newest(uri, options, 2),
        "findings": len(deltaic.verify(uri, deep=True, storage_options=options).findings),
    }


def convert(spark: Any, uri: str, limit: str) -> dict[str, Any]:
    """600 files, some with a column that those before lack."""
    options = storage(spark, {})
    spark.conf.set(FOOTERS, limit)
    folder = folder_of(uri)
    for n in range(600):
        columns: dict[str, Any] = {"n": pa.array([n, n + 1], pa.int64())}
        if n % 300 > 290:
            columns[f"late{n // 300}"] = pa.array([f"{n}", None])
        (folder / f"p={n % 3}").mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.table(columns), folder / f"p={n % 3}" / f"{n:04}.parquet")
    spark.sql(f"CONVERT TO DELTA parquet.`{uri}` PARTITIONED BY (p INT)")
    table = deltaic.Table(uri, storage_options=options)
    return {
        "adds": sorted(
            (
                [a["path"], a["partition_values"], a["size"], json.loads(a["stats"])]
                for a in table.file_list(stats=True)
            ),
            key=json.dumps,
        ),
        "schema": str(table.schema),
        "history": newest(uri, options),
    }


def verify(spark: Any, uri: str, limit: str) -> dict[str, Any]:
    """A table with a file that is cut, one that is gone and one of other rows."""
    options = storage(spark, {})
    spark.conf.set(FOOTERS, limit)
    for n in range(6):
        deltaic.write(uri, rows(n * 30, 30 + n), mode="append", storage_options=options)
    deltaic.Table(uri, storage_options=options).delete("n = 3")
    listed = list(deltaic.Table(uri, storage_options=options).file_list(stats=True))
    names = {json.loads(file["stats"])["numRecords"]: folder_of(uri) / file["path"] for file in listed}
    # of the same size, so that only a look into it tells
    names[31].write_bytes(b"PAR1" + bytes(names[31].stat().st_size - 8) + b"PAR1")
    names[32].unlink()
    report = deltaic.verify(uri, deep=True, spark=spark)
    return {
        "findings": sorted(
            [f.kind, f.path.rpartition("/")[2][:5], f.found.rpartition(": ")[2]] for f in report.findings
        ),
        "files": report.files,
    }


STEPS: dict[str, Callable[[Any, str, str], dict[str, Any]]] = {
    "vacuum": vacuum,
    "auto-compaction": auto_compaction,
    "convert": convert,
    "verify": verify,
}


def main(url: str, root: str, *steps: str) -> None:
    settings = {
        "spark.databricks.delta.retentionDurationCheck.enabled": "false",
        **small_session.hadoops(HADOOP),
    }
    spark = cluster.session(url, **settings)
    logger, told = logging.getLogger("deltaic.route"), Told()
    logger.addHandler(told)
    logger.setLevel(logging.INFO)
    done: dict[str, Any] = {}
    for step in steps:
        for way, limit in (("here", "100000000"), ("tasks", "1")):
            told.said.clear()
            found = STEPS[step](spark, f"{root}/{step}-{way}", limit)
            done.setdefault(step, {})[way] = {"found": found, "said": list(told.said)}
    executors = spark.sparkContext._jsc.sc().getExecutorMemoryStatus().size() - 1
    Path(os.environ["TOLD"]).write_text(json.dumps({"executors": executors, "steps": done}))
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
