"""One life of the driver of the soak: rows of a rate, upserted into a table, whose changes go into a second one.

`driver.py FOLDER ENGINE STEP JARS`. The engine is deltaic or delta-spark. With the step `on` it runs until it is
killed, with `end` it finishes what is begun, takes what is there, and ends.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

ROWS_OF_A_BATCH = 100
KEYS = 250
_SETTINGS = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.extraJavaOptions": "-XX:+UseSerialGC",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "1g",
    "spark.log.level": "ERROR",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "2",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
_OF_DELTA_SPARK = {
    "spark.databricks.delta.snapshotPartitions": "2",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
}


def session(engine: str, jars: str) -> SparkSession:
    """A session with the format `delta` of the engine."""
    builder = SparkSession.builder.master("local[2]")
    given = dict(_SETTINGS)
    if engine == "delta-spark":
        given |= {**_OF_DELTA_SPARK, "spark.driver.extraClassPath": jars}
    for name, value in given.items():
        builder = builder.config(name, value)
    spark: SparkSession = builder.getOrCreate()
    if engine == "deltaic":
        import deltaic

        deltaic.enable(spark)
    return spark


def upsert(engine: str, state: Path) -> Any:
    """What `foreachBatch` calls."""
    if engine == "deltaic":
        import deltaic

        return deltaic.upsert_batch(str(state), "key", order_by="value")
    from delta.tables import DeltaTable

    def run(batch: Any, _: int) -> None:
        latest = (
            batch.groupBy("key").agg({"value": "max"}).withColumnRenamed("max(value)", "value").alias("s")
        )
        merge = DeltaTable.forPath(batch.sparkSession, str(state)).alias("t").merge(latest, "t.key = s.key")
        merge.whenMatchedUpdateAll("s.value > t.value").whenNotMatchedInsertAll().execute()

    return run


def main(folder: Path, engine: str, step: str, jars: str) -> None:
    """Both queries."""
    spark = session(engine, jars)
    state, log = folder / "state", folder / "log"
    if not (state / "_delta_log").exists():
        nothing = spark.createDataFrame([], "key BIGINT, value BIGINT")
        feed = {"delta.enableChangeDataFeed": "true"}
        nothing.write.format("delta").options(**feed).mode("append").save(str(state))
    rate = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", str(ROWS_OF_A_BATCH)).load()
    upserts = (
        rate.selectExpr(f"value % {KEYS} AS key", "value")
        .writeStream.foreachBatch(upsert(engine, state))
        .option("checkpointLocation", str(folder / "checkpoints" / "state"))
    )
    changes = (
        spark.readStream.format("delta")
        .options(readChangeFeed="true", startingVersion="0", maxFilesPerTrigger="4")
        .load(str(state))
        .writeStream.format("delta")
        .option("checkpointLocation", str(folder / "checkpoints" / "log"))
    )
    if step == "on":
        upserts.start()
        changes.start(str(log))
        spark.streams.awaitAnyTermination()
        sys.exit("a query ended by itself")
    upserts.trigger(availableNow=True).start().awaitTermination()
    changes.trigger(availableNow=True).start(str(log)).awaitTermination()
    # a JVM that is waited for may wait for its cleaners
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
