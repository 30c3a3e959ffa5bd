"""What tests do, once, with deltaic or with delta-spark, so that its JVM has loaded the classes that they need.

The arguments are a folder and, for delta-spark, its JARs and its warehouse.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from pyspark import SparkContext

HERE = Path(__file__).parent


def delta_spark(jars: str, warehouse: str) -> tuple[Any, Any]:
    sys.path.insert(0, str(HERE / "interop"))
    sys.path.insert(0, str(HERE / "behaviours"))
    from delta.tables import DeltaTable
    from delta_spark import session

    return session(jars, warehouse), DeltaTable


def own(folder: Path) -> tuple[Any, Any]:
    from small_session import session

    from deltaic.tables import DeltaTable

    return session("local[2]", {"spark.sql.warehouse.dir": (folder / "warehouse").as_uri()}), DeltaTable


def work(spark: Any, tables: Any, folder: Path) -> None:
    path = f"{folder}/table"
    rows = spark.range(8).selectExpr("id", "id % 2 AS part", "CAST(id AS STRING) AS name")
    rows.write.format("delta").partitionBy("part").save(path)
    spark.createDataFrame([(9, 1, "i")], "id long, part long, name string").write.format("delta").mode(
        "append"
    ).save(path)
    table = tables.forPath(spark, path)
    table.delete("id = 1")
    table.update("id = 2", {"name": "'x'"})
    source = spark.range(2, 12).selectExpr("id", "id % 2 AS part", "'y' AS name").alias("s")
    merge = table.alias("t").merge(source, "s.id = t.id")
    merge.whenMatchedUpdateAll().whenNotMatchedInsertAll().execute()
    table.history().collect()
    spark.sql(f"CREATE TABLE warm USING delta AS SELECT * FROM delta.`{path}` WHERE id > 3")
    spark.sql("INSERT INTO warm VALUES (20, 0, 'z')")
    spark.sql("ALTER TABLE warm ADD COLUMN more INT")
    spark.sql("SELECT part, count(*), max(name) FROM warm GROUP BY part ORDER BY part").collect()
    spark.sql("OPTIMIZE warm")
    stream = spark.readStream.format("delta").load(path).writeStream.format("delta")
    stream = stream.option("checkpointLocation", f"{folder}/checkpoint").trigger(availableNow=True)
    stream.start(f"{folder}/copy").awaitTermination()


def main() -> None:
    folder, *peer = sys.argv[1:]
    spark, tables = delta_spark(*peer) if peer else own(Path(folder))
    try:
        work(spark, tables, Path(folder))
    finally:
        process = SparkContext._gateway.proc
        spark.stop()
        # its JVM ends with its input, and writes the archive then
        process.stdin.close()
        process.wait()


if __name__ == "__main__":
    main()
