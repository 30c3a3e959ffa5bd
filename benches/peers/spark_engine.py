"""One engine of `spark.py` in a process of its own: deltaic, or delta-spark with its JARs, on the same PySpark.

Arguments: the engine, a folder of its own, the memory of its JVM, its JARs. One request a line on stdin, one answer a
line on stdout, both JSON: `{"sizes": {...}}` says how large tables are from then on, `{"prepare": work}` makes what the
work needs, `{"run": work}` does it and answers with the seconds it took, `{"check": work}` answers with what the table
has then. What is asked of the two engines differs in one import.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame

APPENDS = 100
COLUMNS = 1000
BATCHES = 40
BATCH_ROWS = 100
PARTITIONS = 50
VECTORS = "delta.enableDeletionVectors"
FIELDS = "id long, k int, ts timestamp, x double, d decimal(12,2), s string"
# `x` is exact in sums of any order
VALUES = (
    "id",
    f"CAST(pmod(hash(id), {PARTITIONS}) AS INT) AS k",
    "timestamp_seconds(1700000000 + id % 10000000) AS ts",
    "id / 8D AS x",
    "CAST(id % 1000000 / 100 AS DECIMAL(12,2)) AS d",
    "concat('name-', id % 1000000) AS s",
)


def session(engine: str, memory: str, jars: str) -> SparkSession:
    of_engine = {
        "spark.driver.extraClassPath": jars,
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        # it replays a log in 50 tasks unless told otherwise, which is slow on few cores
        "spark.databricks.delta.snapshotPartitions": str(os.cpu_count()),
    }
    common = {
        "spark.driver.memory": memory,
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "16",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "ERROR",
    }
    builder = SparkSession.builder.master("local[*]")
    for key, value in {**common, **(of_engine if engine == "delta-spark" else {})}.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    if engine == "deltaic":
        import deltaic

        deltaic.enable(spark)
    return spark


def all_of(df: DataFrame) -> None:
    """Reads every value. Not into the sink `noop`, from which delta-spark 4.4 reads no table with deletion vectors."""
    df.agg(F.bit_xor(F.xxhash64(*df.columns))).collect()


class Engine:
    """Makes tables and works on them. Tables that several runs need are made once, and copied for each."""

    def __init__(self, name: str, folder: Path, memory: str, jars: str) -> None:
        self.spark = session(name, memory, jars)
        self.folder = folder
        self.rows, self.small, self.files = 0, 0, 0
        if name == "deltaic":
            from deltaic.tables import DeltaTable
        else:
            from delta.tables import DeltaTable
        self._table: Callable[[SparkSession, str], Any] = DeltaTable.forPath
        self.path = folder / "table"

    def resize(self, rows: int, small: int, files: int) -> None:
        """Rows of a large table, files of 1000 rows of another, files of the one that is counted."""
        self.rows, self.small, self.files = rows, small, files

    def table(self) -> Any:
        return self._table(self.spark, str(self.path))

    def read(self) -> DataFrame:
        return self.spark.read.format("delta").load(str(self.path))

    def data(self, first: int, end: int, step: int = 1, tasks: int = 20) -> DataFrame:
        return self.spark.range(first, end, step, tasks).selectExpr(*VALUES)

    def write(self, df: DataFrame, path: Path, *, vectors: bool = False, by: tuple[str, ...] = ()) -> None:
        writer = df.write.format("delta").mode("append").option(VECTORS, str(vectors).lower())
        writer.partitionBy(*by).save(str(path))

    def fresh(self) -> None:
        """No table, at a path that no cache of an engine knows."""
        shutil.rmtree(self.path, ignore_errors=True)
        self.path = self.folder / f"table-{time.time_ns()}"

    def empty(self, *by: str) -> None:
        self.fresh()
        self.write(self.spark.createDataFrame([], FIELDS), self.path, by=by)

    def copy(self, master: Path) -> None:
        """Of a table: the log is copied, since engines may write into its files, data files are linked."""
        self.fresh()

        def log_or_link(source: str, target: str) -> None:
            if "_delta_log" in source:
                shutil.copy2(source, target)
            else:
                os.link(source, target)

        shutil.copytree(master, self.path, copy_function=log_or_link)

    def large(self, *, vectors: bool) -> None:
        master = self.folder / f"large-{'vectors' if vectors else 'plain'}-{self.rows}"
        if not master.exists():
            self.write(self.data(0, self.rows), master, vectors=vectors)
        self.copy(master)

    def wide(self, first: int, end: int) -> DataFrame:
        return self.spark.range(first, end, 1, 1).selectExpr(*(f"id + {n} AS c{n}" for n in range(COLUMNS)))

    def wide_table(self) -> None:
        """A thousand rows of many columns."""
        master = self.folder / "wide"
        if not master.exists():
            self.write(self.wide(0, 1000), master, vectors=True)
        self.copy(master)

    def many_small(self) -> None:
        master = self.folder / f"many-small-{self.small}"
        if not master.exists():
            self.write(self.data(0, self.small * 1000, tasks=self.small), master)
        self.copy(master)

    def many_files(self) -> None:
        """The log that `spark.py` made, whose files are named by absolute paths."""
        self.fresh()
        shutil.copytree(
            self.folder.parent / f"many-files-{self.files}" / "_delta_log", self.path / "_delta_log"
        )

    def batches(self) -> None:
        """A table of commits of a few rows each, in one file, that a stream reads one by one; and an empty one."""
        source = self.folder / "batches"
        if not source.exists():
            for n in range(BATCHES):
                self.write(self.data(n * BATCH_ROWS, (n + 1) * BATCH_ROWS, tasks=1), source)
        self.empty()

    def deleted(self) -> None:
        self.large(vectors=True)
        self.table().delete("id % 100 = 3")

    # what is measured

    def append(self) -> None:
        self.write(self.data(0, self.rows), self.path)

    def append_partitioned(self) -> None:
        self.write(self.data(0, self.rows), self.path, by=("k",))

    def append_rows(self) -> None:
        for n in range(APPENDS):
            self.write(self.data(n, n + 1, tasks=1), self.path)

    def append_wide(self) -> None:
        self.write(self.wide(1000, 1001), self.path)

    def merge_wide(self) -> None:
        """Of two rows, one of which is there."""
        builder = self.table().alias("t").merge(self.wide(999, 1001).alias("s"), "t.c0 = s.c0")
        builder.whenMatchedUpdateAll().whenNotMatchedInsertAll().execute()

    def delete(self) -> None:
        self.table().delete("id % 1000 = 7")

    def update(self) -> None:
        self.table().update("id % 1000 = 7", {"x": "x + 1"})

    def merge(self) -> None:
        """Of one row for each hundred of the table: half of them are there."""
        there = self.data(0, self.rows, 200, 4).withColumn("x", F.expr("x + 1"))
        source = there.unionByName(self.data(self.rows, self.rows + self.rows // 200, tasks=4))
        builder = self.table().alias("t").merge(source.alias("s"), "t.id = s.id")
        builder.whenMatchedUpdateAll().whenNotMatchedInsertAll().execute()

    def optimize(self) -> None:
        self.table().optimize().executeCompaction()

    def count(self) -> None:
        self.read().count()

    def micro_batches(self) -> None:
        """From one table into another, a commit a batch."""
        stream = self.stream(self.folder / "batches", 1).format("delta").outputMode("append")
        stream = stream.option("checkpointLocation", f"{self.path}-checkpoint").trigger(availableNow=True)
        stream.start(str(self.path)).awaitTermination()

    def micro_batches_unwritten(self) -> None:
        """What Spark takes for the batches of `micro_batches` without a table to write to."""
        stream = self.stream(self.folder / "batches", 1).format("noop").outputMode("append")
        stream = stream.option("checkpointLocation", f"{self.path}-checkpoint").trigger(availableNow=True)
        stream.start().awaitTermination()

    def stream_start(self) -> None:
        """Until the first batch of a few files is through."""
        query = self.stream(self.path, 10).format("noop").start()
        while not query.recentProgress:
            if (error := query.exception()) is not None:
                raise error
            time.sleep(0.005)
        query.stop()

    def stream(self, path: Path, files: int) -> Any:
        """A writer of the rows of a table, so many files a batch."""
        reader = self.spark.readStream.format("delta").option("maxFilesPerTrigger", files)
        return reader.load(str(path)).writeStream

    def scan(self) -> None:
        all_of(self.read())

    def scan_parquet(self) -> None:
        """The same files without the log."""
        files = [str(file) for file in self.path.rglob("*.parquet") if "_delta_log" not in file.parts]
        all_of(self.spark.read.parquet(*files))

    def facts(self) -> list[Any]:
        """What the table has in the end, which must be the same for both engines."""
        df = self.read()
        if "x" not in df.columns:
            return [df.count()]
        row = df.selectExpr("count(*)", "sum(id)", "sum(x)", "sum(k)", "sum(d)", "sum(length(s))").collect()[
            0
        ]
        return [str(value) for value in row]


# the preparation and the work
WORK: dict[str, tuple[Callable[[Engine], None], Callable[[Engine], None]]] = {
    "append": (Engine.empty, Engine.append),
    "append partitioned": (lambda e: e.empty("k"), Engine.append_partitioned),
    "append rows": (Engine.empty, Engine.append_rows),
    "append wide": (Engine.wide_table, Engine.append_wide),
    "merge wide": (Engine.wide_table, Engine.merge_wide),
    "delete": (lambda e: e.large(vectors=True), Engine.delete),
    "update": (lambda e: e.large(vectors=True), Engine.update),
    "merge": (lambda e: e.large(vectors=True), Engine.merge),
    "merge by rewrite": (lambda e: e.large(vectors=False), Engine.merge),
    "optimize": (Engine.many_small, Engine.optimize),
    "count": (Engine.many_files, Engine.count),
    "micro-batches": (Engine.batches, Engine.micro_batches),
    "micro-batches unwritten": (Engine.batches, Engine.micro_batches_unwritten),
    "stream start": (Engine.many_files, Engine.stream_start),
    "scan": (lambda e: e.large(vectors=True), Engine.scan),
    "scan parquet": (lambda e: e.large(vectors=True), Engine.scan_parquet),
    "scan deleted": (Engine.deleted, Engine.scan),
}


def answer(engine: Engine, what: str, given: Any) -> Any:
    if what == "sizes":
        engine.resize(**given)
    elif what == "prepare":
        WORK[given][0](engine)
        # what the preparation left to write is not part of the work
        os.sync()
    elif what == "run":
        begin = time.perf_counter()
        WORK[given][1](engine)
        return time.perf_counter() - begin
    else:
        return engine.facts()
    return None


def serve(engine: Callable[[str, Path, str, str], Any], answer: Callable[[Any, str, Any], Any]) -> None:
    """Makes the engine of the arguments, and answers its requests until there are no more."""
    # Spark prints to file descriptor 1 as it likes: the answers get one of their own
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    name, folder, memory, jars = sys.argv[1:]
    made = engine(name, Path(folder), memory, jars)
    for line in sys.stdin:
        ((what, given),) = json.loads(line).items()
        print(json.dumps(answer(made, what, given)), file=answers, flush=True)
    made.spark.stop()


if __name__ == "__main__":
    serve(Engine, answer)
