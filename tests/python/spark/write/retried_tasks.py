"""Writes a table while the first attempt of each task fails at its end, on a Spark that tries again.

`python retried_tasks.py PATH ROUTE`
"""

import sys

from pyspark import TaskContext
from pyspark.sql import SparkSession

import deltaic


def main() -> None:
    path, route = sys.argv[1:]
    settings = {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "1g",
        "spark.log.level": "OFF",
        "spark.ui.enabled": "false",
    }
    builder = SparkSession.builder.master("local[2,3]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    spark = deltaic.enable(builder.getOrCreate())

    def fail_once(batches):
        yield from batches
        if TaskContext.get().attemptNumber() == 0:
            raise RuntimeError("the first attempt fails after its last row")

    rows = spark.range(0, 1000, 1, 4).selectExpr("id", "id % 3 AS p").mapInArrow(fail_once, "id long, p long")
    for mode in ("append", "overwrite"):
        deltaic.save(rows, path, mode=mode, partition_by="p", deltaicRoute=route, maxRecordsPerFile="50")
    spark.stop()


main()
