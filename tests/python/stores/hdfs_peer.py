"""Rows that delta-spark appends to a table, one a commit: `python hdfs_peer.py JARS WAREHOUSE TABLE FIRST COUNT`.

It prints a line when it begins. The settings of HDFS come as JSON in the variable `HADOOP`.
"""

from __future__ import annotations

import json
import os
import sys

from pyspark.sql import SparkSession


def main(jars: str, warehouse: str, table: str, first: int, count: int) -> None:
    settings = {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.extraClassPath": jars,
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "1g",
        "spark.databricks.delta.snapshotPartitions": "2",
        "spark.log.level": "ERROR",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.warehouse.dir": warehouse,
        "spark.ui.enabled": "false",
        **{f"spark.hadoop.{name}": value for name, value in json.loads(os.environ["HADOOP"]).items()},
    }
    builder = SparkSession.builder.master("local[1]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.read.format("delta").load(table).count()
    print("begins", flush=True)
    for number in range(first, first + count):
        spark.range(number, number + 1, 1, 1).write.format("delta").mode("append").save(table)
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:4], *map(int, sys.argv[4:]))
