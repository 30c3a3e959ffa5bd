#!/usr/bin/env python3
"""How long Spark plans queries of a table of 1,000,000 files, until the partitions of the scan are known.

    python benches/peers/planning.py LOG [--memory 2g] [--jars FOLDER]

LOG is a table that `run.py` has made below target/peers; it needs no data files. With `--jars`, the JARs of
delta-spark, the same is asked of delta-spark. Each line is a query of its own frame, in order, in one session.
"""

import argparse
import time
from collections.abc import Callable
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from spark_engine import session

# days that `LogGen` gives files, and a thousandth of the ids
DAYS = ("2001-06-24", "2001-06-25", "2001-06-26")
FIRST, IDS = 500_000_000, 1_000_000


def partitions(df: DataFrame) -> int:
    return df._jdf.queryExecution().toRdd().getNumPartitions()  # noqa: SLF001 (nothing public asks)


def show(what: str, ask: Callable[[], int]) -> None:
    begin = time.perf_counter()
    found = ask()
    print(f"{what:32} {time.perf_counter() - begin:8.3f} s {found:9} partitions", flush=True)


def warm(spark: SparkSession, folder: Path) -> None:
    """The same on a small table, so that classes are loaded."""
    if not folder.exists():
        rows = spark.range(10).selectExpr("id", f"DATE '{DAYS[0]}' AS date")
        rows.write.format("delta").partitionBy("date").save(str(folder))
    for _ in range(3):
        rows = spark.read.format("delta").load(str(folder)).where(f"id > 3 AND date = '{DAYS[0]}'")
        partitions(rows)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("log", type=Path)
    parser.add_argument("--memory", default="2g", help="of the driver's JVM")
    parser.add_argument("--jars", type=Path)
    options = parser.parse_args()
    engine = "delta-spark" if options.jars else "deltaic"
    jars = ":".join(sorted(map(str, options.jars.glob("*.jar")))) if options.jars else ""
    spark = session(engine, options.memory, jars)
    warm(spark, options.log.with_name("planning-warm"))

    def read() -> DataFrame:
        return spark.read.format("delta").load(str(options.log))

    show("open", lambda: len(read().columns))
    for day in (DAYS[0], *DAYS):
        show(f"partition {day}", lambda day=day: partitions(read().where(f"date = '{day}'")))
    for n in range(4):
        low = FIRST + n * IDS
        where = f"id >= {low} AND id < {low + IDS}"
        show(f"ids from {low}", lambda where=where: partitions(read().where(where)))
    for what in ("all", "all, again"):
        show(what, lambda: partitions(read()))
    spark.stop()


if __name__ == "__main__":
    main()
