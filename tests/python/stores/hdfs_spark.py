"""What the README shows, and SQL and streams, where HDFS is the default file system: `python hdfs_spark.py`.

The settings come as JSON in the variable `HADOOP`. Each step prints its name when it has held; an exception ends the
process.
"""

from __future__ import annotations

import json
import os
import tempfile
from typing import Any

import pyarrow as pa
import small_session
import steps

import deltaic
from deltaic.tables import DeltaTable

HADOOP: dict[str, str] = json.loads(os.environ["HADOOP"])
DEFAULT = HADOOP["fs.defaultFS"]


def session() -> Any:
    own = {"spark.sql.warehouse.dir": "/warehouse"}
    return small_session.session("local[2]", {**own, **small_session.hadoops(HADOOP)})


def folder(df: Any) -> str:
    return str(df.inputFiles()[0]).rpartition("/")[0]


def paths_mean_what_they_mean_to_spark(spark: Any) -> None:
    for number, path in enumerate(["/a b/t", "relative", "hdfs:///t", f"{DEFAULT}/t"]):
        rows = spark.range(number + 1)
        rows.write.parquet(f"{path}-{number}-parquet")
        rows.write.format("delta").save(f"{path}-{number}-delta")
        of_spark = folder(spark.read.parquet(f"{path}-{number}-parquet"))
        ours = spark.read.format("delta").load(f"{path}-{number}-delta")
        assert ours.count() == number + 1
        assert folder(ours) == of_spark.replace("-parquet", "-delta")


def the_tour(spark: Any) -> None:
    place = "/orders"
    orders = spark.range(1000).selectExpr(
        "id", "IF(id % 2 = 0, 'DE', 'FR') AS country", "id * 1.5D AS amount"
    )
    orders.write.format("delta").partitionBy("country").save(place)
    orders.withColumn("id", orders.id + 1000).write.format("delta").mode("append").save(place)
    read = spark.read.format("delta")
    assert read.load(place).where("country = 'DE' AND id >= 1500").count() == 250
    assert read.load(f"{place}/country=DE").count() == 1000
    assert read.option("versionAsOf", 0).load(place).count() == 1000
    french = spark.read.format("delta").load(place).where("country = 'FR'")
    french.write.format("delta").mode("overwrite").option("replaceWhere", "country = 'FR'").save(place)
    assert DeltaTable.isDeltaTable(spark, place)
    assert not DeltaTable.isDeltaTable(spark, "/no/table")
    delta = DeltaTable.forPath(spark, place)
    delta.update("id < 10", {"amount": "amount * 2"})
    delta.delete("country = 'DE' AND id < 4")
    late = spark.sql("SELECT 10L AS id, 'DE' AS country, 9.5D AS amount UNION ALL SELECT 5000, 'IT', 1.0")
    merge = delta.alias("t").merge(late.alias("s"), "t.id = s.id AND t.country = s.country")
    merge.whenMatchedUpdateAll().whenNotMatchedInsertAll().execute()
    assert deltaic.upsert(late, place, ["id", "country"]).updated_rows == 2
    assert delta.toDF().count() == 1999
    assert delta.history(1).first().operation == "MERGE"
    assert delta.detail().first().location == f"{DEFAULT}{place}"
    delta.optimize().executeCompaction()
    delta.vacuum()


def statements(spark: Any) -> None:
    place = "/statements"
    spark.sql(f"CREATE TABLE named (id BIGINT, p STRING) USING delta PARTITIONED BY (p) LOCATION '{place}'")
    spark.sql("INSERT INTO named VALUES (1, 'a'), (2, 'b')")
    spark.sql(f"UPDATE delta.`{place}` SET id = 5 WHERE id = 1")
    spark.sql("DELETE FROM named WHERE id = 2")
    spark.sql(
        f"MERGE INTO delta.`hdfs://{place}` t USING (SELECT 5L AS id, 'z' AS p UNION ALL SELECT 6L, 'y') s "
        "ON t.id = s.id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
    )
    rows = [tuple(row) for row in spark.sql(f"SELECT * FROM delta.`{place}` ORDER BY id").collect()]
    assert rows == [(5, "z"), (6, "y")]
    assert spark.sql(f"DESCRIBE HISTORY delta.`{place}`").count() == 5
    spark.sql("ALTER TABLE named ADD COLUMN more INT")
    spark.sql(f"OPTIMIZE delta.`{place}`")
    spark.sql(f"VACUUM '{place}'")
    spark.sql("RESTORE TABLE named TO VERSION AS OF 1")
    spark.sql("CREATE TABLE delta.`/clone` SHALLOW CLONE named")
    assert spark.read.format("delta").load("/clone").count() == 2
    spark.range(3).write.parquet("/bare")
    spark.sql("CONVERT TO DELTA parquet.`/bare`")
    assert spark.read.format("delta").load("/bare").count() == 3
    # another writer, by another spelling
    deltaic.write(
        f"{DEFAULT}{place}", pa.table({"id": [9], "p": ["q"]}), storage_options=HADOOP, mode="append"
    )
    assert spark.table("named").count() == 3


def tables_of_the_warehouse(spark: Any) -> None:
    steps.tables_of_the_warehouse(spark, f"{DEFAULT}/warehouse", HADOOP)


def streams(spark: Any) -> None:
    steps.streams(spark, "", "hdfs://")


def every_route(spark: Any) -> None:
    steps.every_route(spark, "")


def one_table_by_every_spelling(spark: Any) -> None:
    spellings = ["/one", "hdfs:///one", "hdfs:/one", f"{DEFAULT}/one"]
    spark.range(1).write.format("delta").save("/one")
    frames = [spark.read.format("delta").load(path) for path in spellings]
    cached = frames[3].cache()
    assert cached.count() == 1
    for number, path in enumerate(spellings):
        spark.range(1).write.format("delta").mode("append").save(path)
        assert [frame.count() for frame in [*frames, cached]] == [number + 2] * 5
    # what is read by one spelling is in the read set of a write by another
    read = frames[1].where("id = 0")
    read.write.format("delta").mode("overwrite").save("/one")
    assert cached.count() == 5


def local_tables_stay_local(spark: Any) -> None:
    with tempfile.TemporaryDirectory(prefix="a b ") as base:
        for place in (f"file:{base}/t", f"file:{base}/u"):
            spark.range(3).write.format("delta").save(place)
            DeltaTable.forPath(spark, place).delete("id = 0")
            assert spark.read.format("delta").load(place).count() == 2
            assert spark.sql(f"SELECT * FROM delta.`{place}`").count() == 2
        spark.sql(f"CREATE TABLE here USING delta LOCATION 'file:{base}/t'")
        spark.sql("INSERT INTO here VALUES (9)")
        assert spark.table("here").count() == DeltaTable.forName(spark, "here").toDF().count() == 3
        assert deltaic.Table(f"{base}/t").version == 2


def main() -> None:
    spark = session()
    for step in (
        paths_mean_what_they_mean_to_spark,
        the_tour,
        statements,
        tables_of_the_warehouse,
        streams,
        every_route,
        one_table_by_every_spelling,
        local_tables_stay_local,
    ):
        step(spark)
        print(step.__name__, flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
