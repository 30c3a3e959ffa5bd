"""What the README shows, and SQL and streams, on a file system of Hadoop with its settings alone.

    python hadoop.py JARS BASE STEP...

The settings come as JSON in the variable `HADOOP`. Each step prints its name when it has held; an exception ends the
process.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

import pyarrow as pa
import pytest
import servers
import small_session
import steps
from pyspark.sql import functions

import deltaic
from deltaic.exceptions import StorageError
from deltaic.tables import DeltaTable, IdentityGenerator

_, JARS, BASE, *STEPS = sys.argv
HADOOP: dict[str, str] = json.loads(os.environ["HADOOP"])


def session() -> Any:
    own = {"spark.jars": JARS, "spark.sql.warehouse.dir": f"{BASE}/warehouse"}
    return small_session.session("local[2]", {**own, **small_session.hadoops(HADOOP)})


def the_tour(spark: Any) -> None:
    place = f"{BASE}/orders"
    orders = spark.range(1000).selectExpr(
        "id", "IF(id % 2 = 0, 'DE', 'FR') AS country", "id * 1.5D AS amount"
    )
    orders.write.format("delta").partitionBy("country").save(place)
    orders.withColumn("id", orders.id + 1000).write.format("delta").mode("append").save(place)
    read = spark.read.format("delta")
    assert read.load(place).where("country = 'DE' AND id >= 1500").count() == 250
    assert read.option("versionAsOf", 0).load(place).count() == 1000
    french = spark.read.format("delta").load(place).where("country = 'FR'")
    french.write.format("delta").mode("overwrite").option("replaceWhere", "country = 'FR'").save(place)
    delta = DeltaTable.forPath(spark, place)
    delta.update("id < 10", {"amount": "amount * 2"})
    delta.delete("country = 'DE' AND id < 4")
    assert delta.toDF().count() == 1998
    late = spark.sql("SELECT 10L AS id, 'DE' AS country, 9.5D AS amount UNION ALL SELECT 5000, 'IT', 1.0")
    merge = delta.alias("t").merge(late.alias("s"), "t.id = s.id AND t.country = s.country")
    merge.whenMatchedUpdateAll().whenNotMatchedInsertAll().execute()
    assert deltaic.upsert(late, place, ["id", "country"]).updated_rows == 2
    assert delta.toDF().count() == 1999
    assert delta.history(1).first().operation == "MERGE"
    assert delta.detail().first().location == place
    people = DeltaTable.createIfNotExists(spark).location(f"{BASE}/people")
    people = people.addColumn("name", "STRING", nullable=False)
    people.addColumn("key", "BIGINT", generatedAlwaysAs=IdentityGenerator()).execute()


def statements(spark: Any) -> None:
    place = f"{BASE}/statements"
    spark.sql(f"CREATE TABLE named (id BIGINT, p STRING) USING delta PARTITIONED BY (p) LOCATION '{place}'")
    spark.sql("INSERT INTO named VALUES (1, 'a'), (2, 'b')")
    spark.sql("UPDATE named SET id = 5 WHERE id = 1")
    spark.sql("DELETE FROM named WHERE id = 2")
    spark.sql(
        "MERGE INTO named USING (SELECT 5L AS id, 'z' AS p UNION ALL SELECT 6L, 'y') s ON named.id = s.id "
        "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
    )
    rows = [tuple(row) for row in spark.sql(f"SELECT * FROM delta.`{place}` ORDER BY id").collect()]
    assert rows == [(5, "z"), (6, "y")]
    assert spark.sql(f"DESCRIBE HISTORY delta.`{place}`").count() == 5
    spark.sql("ALTER TABLE named ADD COLUMN more INT")
    spark.sql("OPTIMIZE named")
    spark.sql("VACUUM named")
    spark.sql("RESTORE TABLE named TO VERSION AS OF 1")
    assert spark.table("named").count() == 2
    spark.sql(f"CREATE TABLE delta.`{BASE}/clone` SHALLOW CLONE named")
    assert spark.read.format("delta").load(f"{BASE}/clone").count() == 2
    # another writer
    deltaic.write(place, pa.table({"id": [9], "p": ["q"]}), storage_options=HADOOP, mode="append")
    assert spark.table("named").count() == 3


def tables_of_the_warehouse(spark: Any) -> None:
    steps.tables_of_the_warehouse(spark, f"{BASE}/warehouse", HADOOP)


def streams(spark: Any) -> None:
    steps.streams(spark, BASE, BASE)


def every_route(spark: Any) -> None:
    steps.every_route(spark, BASE)


def every_scheme(spark: Any) -> None:
    for scheme in ("s3", "s3n"):
        place = f"{scheme}://{servers.BUCKET}/{scheme}"
        for route in ("direct", "driver"):
            write = spark.range(10).write.format("delta").mode("append").option("deltaicRoute", route)
            write.save(place)
        spark.sql(f"DELETE FROM delta.`{place}` WHERE id = 3")
        assert spark.read.format("delta").load(place).count() == 18
        # the same table by the name that Hadoop has
        assert spark.read.format("delta").load(f"{BASE}/{scheme}").count() == 18


def other_names(spark: Any) -> None:
    # the settings of one read and write, in a session that has wrong ones
    hadoop = spark.sparkContext._jsc.hadoopConfiguration()
    for name, value in HADOOP.items():
        hadoop.set(name.replace("fs.s3a.", "fs.s3a.bucket.other."), value)
    hadoop.set("fs.s3a.secret.key", "wrong")
    hadoop.set("fs.s3a.impl.disable.cache", "true")
    place = f"{BASE}/options"
    with pytest.raises(StorageError, match="SignatureDoesNotMatch"):
        spark.range(5).write.format("delta").save(place)
    endpoint, secret = HADOOP["fs.s3a.endpoint"], HADOOP["fs.s3a.secret.key"]
    own = {
        "aws_access_key_id": HADOOP["fs.s3a.access.key"],
        "aws_secret_access_key": secret,
        "aws_endpoint": endpoint,
        "aws_region": HADOOP["fs.s3a.endpoint.region"],
        "aws_allow_http": "true",
    }
    for options in ({"fs.s3a.secret.key": secret}, own):
        write = spark.range(5).write.format("delta").mode("append").options(**options)
        write.option("deltaicRoute", "direct").save(place)
        read = spark.read.format("delta").options(**options).load(place)
        assert read.where("id >= 0").count() > 0
        assert secret not in read._jdf.queryExecution().toString()
        table = DeltaTable.forPath(spark, place, options)
        table.delete("id = 0")
        # files that Spark reads for a command
        table.update(functions.expr("id % 7 = 1 AND abs(id) > 0"), {"id": functions.expr("id + 0")})
        stream = spark.readStream.format("delta").options(**options).load(place).writeStream
        stream = stream.trigger(availableNow=True).format("memory").queryName("read")
        stream.start().awaitTermination()
        assert spark.table("read").count() == read.count()
    # options of a write that Hadoop names reach the log, too
    for route in ("direct", "arrow", "driver"):
        given = {"fs.s3a.secret.key": secret, "deltaicRoute": route}
        deltaic.save(spark.range(5), f"{BASE}/saved", mode="append", **given)
    assert spark.read.format("delta").options(**own).load(f"{BASE}/saved").count() == 15
    # another session's setting goes before Hadoop's
    hadoop.set("fs.s3a.secret.key", "wrong")
    session = spark.newSession()
    session.conf.set("fs.s3a.secret.key", secret)
    assert session.read.format("delta").load(place).count() == 8


def main() -> None:
    spark = session()
    for name in STEPS:
        globals()[name](spark)
        print(name, flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
