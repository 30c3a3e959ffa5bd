"""deltaic in a session that has delta-spark too, in a process of its own; the answer is JSON on stdout.

Arguments: the JARs, the warehouse, the path of a table with the columns `id` and `p`, and a path to write to.
"""

import json
import os
import sys
import warnings

from delta.tables import DeltaTable as DeltaSparkTable
from pyspark.sql import SparkSession

import deltaic
from deltaic.tables import DeltaTable


def changed(spark: SparkSession, path: str) -> dict[str, object]:
    """Both change one table by their `DeltaTable`, in turns."""
    ours, theirs = DeltaTable.forPath(spark, path), DeltaSparkTable.forPath(spark, path)
    ours.update("id = 1", {"p": "11"})
    theirs.update("id = 2", {"p": "12"})
    ours.delete("id = 3")
    theirs.delete("id = 4")
    rows = spark.sql("SELECT 5L AS id, 15L AS p UNION ALL SELECT 50, 0").alias("s")
    for table in (ours, theirs):
        merge = table.alias("t").merge(rows, "t.id = s.id")
        merge.whenMatchedUpdate(set={"p": "t.p + s.p"}).whenNotMatchedInsertAll().execute()
    deltaic.upsert(spark.sql("SELECT 6L AS id, 16L AS p"), path, "id")
    history = theirs.history().select("operation", "engineInfo").collect()
    return {
        "rows": [sorted(tuple(r) for r in table.toDF().collect()) for table in (ours, theirs)],
        "operations": [(r.operation, "deltaic/" in r.engineInfo) for r in reversed(history)],
        "details": [table.detail().first().numFiles for table in (ours, theirs)],
    }


def main() -> None:
    # Spark prints to file descriptor 1 as it likes: the answer gets one of its own
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    jars, warehouse, path, target = sys.argv[1:]
    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.driver.extraClassPath", jars)
        .config("spark.sql.extensions", "io.delta.sql.DeltaSparkSessionExtension")
        .config("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog")
        .config("spark.databricks.delta.snapshotPartitions", "2")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.memory", "1g")
        .config("spark.log.level", "ERROR")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.warehouse.dir", warehouse)
        .config("spark.ui.enabled", "false")
        .getOrCreate()
    )
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        deltaic.enable(spark)
    answer: dict[str, object] = {"warnings": [str(w.message) for w in said]}
    for name in ("delta", "deltaic"):
        df = spark.read.format(name).load(path).where("p = 1 OR id < 3")
        answer[name] = {
            "rows": sorted(r.id for r in df.collect()),
            "plan": df._jdf.queryExecution().executedPlan().toString(),
        }
    # statements stay with delta-spark
    spark.sql(f"DELETE FROM delta.`{path}` WHERE id = 0")
    answer["after DELETE"] = sorted(r.id for r in spark.read.format("deltaic").load(path).collect())
    answer["changed"] = changed(spark, path)
    spark.range(5).write.format("deltaic").save(target)
    spark.range(5).write.format("deltaic").mode("append").save(target)
    answer["written"] = [spark.read.format(name).load(target).count() for name in ("delta", "deltaic")]
    answer["engines"] = [
        r.engineInfo for r in spark.sql(f"DESCRIBE HISTORY delta.`{target}`").select("engineInfo").collect()
    ]
    print(json.dumps(answer), file=answers, flush=True)
    spark.stop()


main()
