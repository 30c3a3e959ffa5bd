"""A delta-spark in a process of its own: it runs on another Python, PySpark and class path than the tests.

One request a line on stdin, one answer a line on stdout, both JSON: `{"sql": text}` runs a statement, which with
`"answer": true` answers with its schema and rows,
`{"read": path, "options": {...}, "where": condition, "into": folder}` writes the rows of a table as Parquet,
`{"write": path, "query": text, "mode": mode, "options": {...}, "by": [...]}` writes the rows of a query with a
DataFrameWriter, `{"table": path, "calls": [[method, argument …], …]}` calls one method after the other, beginning
with the `DeltaTable` of the path, and answers with schema and rows of the DataFrame at the end,
`{"stream": path, "to": path, "checkpoint": folder, "options": {...}}` streams what is there into another table.
`{"step": [statement …], "at": folder, "options": {...}}` answers with what `tracked_streams.step` tells.
"""

import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[1] / "behaviours"))

from areas.tracked_streams import step
from error_situations import reported
from pyspark.sql import SparkSession
from small_session import LONG_LIVED


def session(jars: str, warehouse: str) -> SparkSession:
    return (
        SparkSession.builder.master("local[2]")
        .config("spark.driver.extraClassPath", jars)
        .config("spark.sql.extensions", "io.delta.sql.DeltaSparkSessionExtension")
        .config("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.memory", "2g")
        .config(map=LONG_LIVED)
        .config("spark.log.level", "ERROR")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.shuffle.partitions", "2")
        # delta-spark replays a log in 50 tasks by default
        .config("spark.databricks.delta.snapshotPartitions", "2")
        # its queries over a few rows take less time than Janino does to compile them
        .config("spark.sql.codegen.wholeStage", "false")
        .config("spark.sql.codegen.factoryMode", "NO_CODEGEN")
        # a table is read in one test only: what delta-spark and Spark keep of thousands of them fills the memory
        .config("spark.databricks.delta.delta.log.cacheSize", "20")
        .config("spark.sql.ui.explainMode", "simple")
        .config("spark.sql.ui.retainedExecutions", "10")
        .config("spark.ui.retainedJobs", "10")
        .config("spark.ui.retainedStages", "10")
        # its own store of local logs writes a commit over that of another process that was faster
        .config("spark.delta.logStore.file.impl", "io.delta.storage.HDFSLogStore")
        .config("spark.sql.sources.parallelPartitionDiscovery.parallelism", "2")
        .config("spark.sql.parquet.outputTimestampType", "TIMESTAMP_MICROS")
        .config("spark.sql.warehouse.dir", warehouse)
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .getOrCreate()
    )


def main() -> None:
    # Spark prints to file descriptor 1 as it likes: the answers get one of their own
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    spark = session(*sys.argv[1:])
    for line in sys.stdin:
        request = json.loads(line)
        answer = {}
        try:
            if "sql" in request:
                found = spark.sql(request["sql"])
                if request.get("answer"):
                    rows = [json.dumps(row.asDict(recursive=True), default=str) for row in found.collect()]
                    answer = {"schema": found.schema.jsonValue(), "rows": rows}
            elif "write" in request:
                writer = spark.sql(request["query"]).write.format("delta").mode(request["mode"])
                writer = writer.options(**request["options"])
                if request["by"]:
                    writer = writer.partitionBy(*request["by"])
                writer.save(request["write"])
            elif "stream" in request:
                rows = spark.readStream.format("delta").options(**request["options"]).load(request["stream"])
                query = rows.writeStream.format("delta").option("checkpointLocation", request["checkpoint"])
                query.trigger(availableNow=True).start(request["to"]).awaitTermination()
            elif "step" in request:
                answer = {"reported": step(spark, request["at"], request["step"], request["options"])}
            elif "table" in request:
                from delta.tables import DeltaTable

                found = DeltaTable.forPath(spark, request["table"])
                for method, *arguments in request["calls"]:
                    found = getattr(found, method)(*arguments)
                answer = {"schema": found.schema.jsonValue(), "rows": found.toJSON().collect()}
            else:
                frame = (
                    spark.read.format("delta")
                    .options(**request["options"])
                    .load(request["read"])
                    .where(request["where"])
                )
                frame.coalesce(1).write.mode("overwrite").parquet(request["into"])
        except Exception as error:  # noqa: BLE001 the tests get every error
            answer = reported(error)
        print(json.dumps(answer), file=answers, flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
