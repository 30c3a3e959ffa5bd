"""One list of steps on a local table and on S3 in a session without any JAR: `python without_jars.py MASTER FOLDER`.

Spark reads local tables by its own scan, and those on S3 by the core, for Hadoop has no file system for them. The
answers must be equal. The settings come as JSON in the variable `HADOOP`, and those of the server in `SERVER`. Each
step prints its name when it has held; an exception ends the process.
"""

from __future__ import annotations

import json
import os
import site
import sys
import time
import venv
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import servers
import small_session
from pyspark.sql import functions
from pyspark.sql.types import VariantVal

import deltaic
from deltaic.exceptions import DataFileError, InvalidArgumentError, UnsupportedError
from deltaic.spark.session.worker_errors import PackageNotOnServerError
from deltaic.tables import DeltaTable

HADOOP: dict[str, str] = json.loads(os.environ["HADOOP"])
SERVER: dict[str, str] = json.loads(os.environ["SERVER"])
# a folder of its own: other tests write to the bucket, too
FOLDER = f"{servers.BUCKET}/without-jars"
PLACE = f"s3://{FOLDER}"
_HIDES = """import sys
class Hides:
    def find_spec(self, name, *_):
        if name.partition(".")[0] == "deltaic":
            raise ModuleNotFoundError(f"No module named {{name!r}}")
sys.meta_path.insert(0, Hides())
sys.path += {}
"""
# kinds of tables; the last one only on a cluster
KINDS = {
    "vectors": "'delta.columnMapping.mode' = 'name', 'delta.enableDeletionVectors' = 'true'",
    "tracked": "'delta.enableRowTracking' = 'true', 'delta.enableChangeDataFeed' = 'true'",
    "ids": "'delta.columnMapping.mode' = 'id'",
}


def session(master: str, folder: Path) -> Any:
    own = {
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": folder.joinpath("events").as_uri(),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
    }
    return small_session.session(master, {**own, **small_session.hadoops(HADOOP)})


def rows(df: Any) -> list[Any]:
    """The rows, in an order of their own."""
    return sorted(map(repr, df.collect()))


class Place:
    """Where a list of steps is played: tables, and what must be local to Spark."""

    def __init__(self, base: str, local: Path) -> None:
        self.base, self.local = base, local
        self.name = local.name

    def __call__(self, table: str) -> str:
        return f"{self.base}/{table}"


def the_tour(spark: Any, at: Place) -> Any:
    place = at("orders")
    orders = spark.range(1000).selectExpr(
        "id", "IF(id % 2 = 0, 'DE', 'FR') AS country", "id * 1.5D AS amount"
    )
    orders.write.format("delta").partitionBy("country").save(place)
    orders.withColumn("id", orders.id + 1000).write.format("delta").mode("append").save(place)
    read = spark.read.format("delta")
    answers: list[Any] = [read.load(place).where("country = 'DE' AND id >= 1500").count()]
    answers.append(read.option("versionAsOf", 0).load(place).count())
    french = spark.read.format("delta").load(place).where("country = 'FR'")
    french.write.format("delta").mode("overwrite").option("replaceWhere", "country = 'FR'").save(place)
    delta = DeltaTable.forPath(spark, place)
    delta.update("id < 10", {"amount": "amount * 2"})
    delta.delete("country = 'DE' AND id < 4")
    answers.append(delta.toDF().count())
    late = spark.sql("SELECT 10L AS id, 'DE' AS country, 9.5D AS amount UNION ALL SELECT 5000, 'IT', 1.0")
    merge = delta.alias("t").merge(late.alias("s"), "t.id = s.id AND t.country = s.country")
    merge.whenMatchedUpdateAll().whenNotMatchedInsertAll().execute()
    answers.append(deltaic.upsert(late, place, ["id", "country"]).updated_rows)
    by_country = delta.toDF().groupBy("country").agg(functions.sum("amount"), functions.count("*"))
    answers += [rows(by_country), delta.history(1).first().operation]
    assert delta.detail().first().location == (place if "://" in place else f"file:{place}")
    return answers


def statements(spark: Any, at: Place) -> Any:
    answers: list[Any] = []
    kinds = [*KINDS.items()]
    for kind, properties in kinds if "cluster" in spark.sparkContext.master else kinds[:-1]:
        name, place = f"{at.name}_{kind}", at(kind)
        spark.sql(
            f"CREATE TABLE {name} (id BIGINT, p STRING, s STRUCT<a: INT, b: ARRAY<STRING>>) USING delta "
            f"PARTITIONED BY (p) LOCATION '{place}' TBLPROPERTIES ({properties})"
        )
        spark.sql(
            f"INSERT INTO {name} SELECT id, IF(id % 3 = 0, 'x y', NULL), named_struct('a', int(id), 'b', "
            "array(string(id), NULL)) FROM range(0, 300, 1, 3)"
        )
        # conditions for which Spark must find the rows
        spark.sql(f"UPDATE {name} SET s.a = s.a + 1000, id = -id WHERE abs(id) % 50 = 7")
        spark.sql(f"DELETE FROM {name} WHERE hash(id) % 10 = 3")
        spark.sql(f"DELETE FROM {name} WHERE id >= 100 AND id <= 110")
        spark.sql(
            f"MERGE INTO {name} t USING (SELECT id, 'new' AS p FROM range(290, 310)) s ON t.id = s.id "
            "WHEN MATCHED AND s.id % 2 = 0 THEN DELETE WHEN MATCHED THEN UPDATE SET p = s.p "
            "WHEN NOT MATCHED THEN INSERT (id, p) VALUES (s.id, s.p) "
            "WHEN NOT MATCHED BY SOURCE AND t.id = 5 THEN UPDATE SET p = 'alone'"
        )
        table = spark.table(name)
        answers.append(rows(table))
        answers.append(rows(table.where("p IS NULL AND id > 250").select("s.a", "id")))
        answers.append(table.where("s.a > 1000 OR p = 'new'").count())
        answers.append(
            rows(spark.sql(f"SELECT id, s.b[0] FROM delta.`{place}` VERSION AS OF 1 WHERE id < 9"))
        )
        fields = "_metadata.row_index >= 0, _metadata.file_size > 0, _metadata.file_path LIKE '%.parquet'"
        more = ""
        if kind == "tracked":
            # ids of rows that the merge inserts follow the order of files, which is that of tasks
            more = ", IF(id < 290, _metadata.row_id, NULL) AS row_id, _metadata.row_commit_version"
            ids = spark.sql(f"SELECT _metadata.row_id AS row_id FROM {name}")
            assert ids.distinct().count() == ids.count() == table.count()
        answers.append(rows(spark.sql(f"SELECT id, {fields}{more} FROM {name}")))
        recent = "_metadata.file_modification_time > timestamp '2020-01-01'"
        answers.append(spark.sql(f"SELECT * FROM {name} WHERE {recent}").count())
        joined = f"SELECT t.id, u.p FROM {name} t JOIN {name} u ON t.id = u.id AND t.p = u.p WHERE u.id = 3"
        answers.append(rows(spark.sql(joined)))
        answers.append(rows(spark.sql(f"SELECT id FROM {name} WHERE id = (SELECT max(id) FROM {name})")))
        answers.append(rows(spark.sql(f"DESCRIBE HISTORY {name}").select("version", "operation")))
    return answers


def maintenance(spark: Any, at: Place) -> Any:
    name, place = f"{at.name}_vectors", at("vectors")
    answers: list[Any] = []
    spark.sql(f"OPTIMIZE {name} WHERE p = 'new'")
    spark.sql(f"OPTIMIZE {name}")
    answers.append(rows(spark.table(name)))
    spark.sql(f"ALTER TABLE {name} ADD COLUMN more INT")
    spark.sql(f"VACUUM {name}")
    spark.sql(f"RESTORE TABLE {name} TO VERSION AS OF 1")
    answers.append(rows(spark.table(name)))
    spark.sql(f"CREATE TABLE delta.`{at('clone')}` SHALLOW CLONE {name}")
    spark.sql(f"DELETE FROM delta.`{at('clone')}` WHERE hash(id) % 2 = 0")
    answers.append(rows(spark.read.format("delta").load(at("clone"))))
    # another writer, and what Spark has cached
    cached = spark.table(name).cache()
    before = cached.count()
    new = pa.table({"id": pa.array([9], pa.int64()), "p": ["q"]})
    storage = HADOOP if "://" in place else {}
    deltaic.write(place, new, storage_options=storage, mode="append")
    spark.sql(f"INSERT INTO {name} (id, p) VALUES (10, 'q')")
    answers.append(spark.table(name).where("p = 'q'").count())
    assert before + 2 == spark.table(name).count()
    cached.unpersist()
    return answers


def every_write(spark: Any, at: Place) -> Any:
    place, name = at("modes"), f"{at.name}_modes"
    answers: list[Any] = []
    many = spark.range(0, 5000, 1, 3).selectExpr("id", "id % 4 AS p")
    for mode in ("error", "ignore", "append", "overwrite"):
        many.write.format("delta").partitionBy("p").mode(mode).save(place)
        answers.append(spark.read.format("delta").load(place).count())
    few = spark.sql("SELECT 1L AS id, 1L AS p")
    write = few.write.format("delta").mode("overwrite")
    write.option("partitionOverwriteMode", "dynamic").save(place)
    few.selectExpr("id", "p", "'m' AS more").write.format("delta").mode("append").option(
        "mergeSchema", "true"
    ).save(place)
    answers.append(rows(spark.read.format("delta").load(place).groupBy("p", "more").count()))
    for route in ("driver", "arrow"):
        many.write.format("delta").option("deltaicRoute", route).save(at(route))
        answers.append(spark.read.format("delta").load(at(route)).agg(functions.sum("id")).first()[0])
    many.write.format("delta").option("path", at("named")).saveAsTable(name)
    many.repartition(2).writeTo(name).append()
    many.write.insertInto(name)
    many.where("p = 1").writeTo(name).overwrite(functions.col("p") == 1)
    spark.sql(f"INSERT OVERWRITE {name} SELECT * FROM {name} WHERE p > 0")
    answers.append(rows(spark.table(name).groupBy("p").count()))
    spark.sql(f"CREATE TABLE {name}2 USING delta LOCATION '{at('as')}' AS SELECT * FROM {name} WHERE id < 9")
    spark.sql(f"CREATE OR REPLACE TABLE {name}2 USING delta LOCATION '{at('as')}' AS SELECT id FROM {name}2")
    answers.append(rows(spark.table(f"{name}2")))
    spark.sql(f"TRUNCATE TABLE {name}2")
    answers.append(spark.table(f"{name}2").count())
    spark.sql(f"ALTER TABLE {name} ADD CONSTRAINT positive CHECK (id >= 0)")
    with pytest.raises(deltaic.exceptions.InvariantViolationError, match="positive"):
        many.selectExpr("id - 10 AS id", "p").write.format("delta").mode("append").save(at("named"))
    return answers


def every_type(spark: Any, at: Place) -> Any:
    place = at("types")
    df = spark.sql(
        "SELECT id, tinyint(id) b, smallint(id) s, int(id) i, float(id) / 3 f, double(id) / 7 d, id % 2 = 0 t, "
        "decimal(id) / 3 AS n, string(id) AS x, binary(string(id)) AS z, "
        "date '2020-01-01' + int(id) AS day, timestamp '1960-01-01 00:00:00.000001' + make_dt_interval(id) AS at, "
        "timestamp_ntz '2024-05-05 05:05:05.123456' AS ntz, map(string(id), id) AS m, "
        "array(named_struct('k', id, 'l', NULL::INT)) AS a, NULL::STRING AS nothing, "
        "named_struct('dotted.name', id) AS `o.p` FROM range(20)"
    )
    df.write.format("delta").partitionBy("day", "at", "x").option("deltaicRoute", "arrow").save(place)
    table = spark.read.format("delta").load(place)
    answers = [table.schema.json(), rows(table), rows(table.where("at > '1960-01-05' AND f > 1 AND n > 2"))]
    answers.append(rows(table.select("`o.p`.`dotted.name`", "a.k", "m", "at")))
    spark.sql("SELECT parse_json('{\"a\": ' || id || '}') AS v FROM range(3)").write.format("delta").save(
        at("variant")
    )
    variants = spark.read.format("delta").load(at("variant"))
    assert isinstance(variants.first().v, VariantVal)
    answers.append(rows(variants.selectExpr("variant_get(v, '$.a', 'int') AS a")))
    spark.sql(f"CREATE TABLE delta.`{at('chars')}` (c CHAR(5), v VARCHAR(5), u STRING) USING delta")
    spark.sql(f"INSERT INTO delta.`{at('chars')}` VALUES ('a', 'b', 'C')")
    chars = spark.read.format("delta").load(at("chars"))
    answers += [rows(chars), chars.where("u COLLATE UNICODE_CI = 'c'").count(), chars.schema.json()]
    return answers


def changes(spark: Any, at: Place) -> Any:
    place = at("tracked")
    read = spark.read.format("delta").option("readChangeFeed", "true").option("startingVersion", 1)
    shown = "id", "p", "_change_type", "_commit_version"
    answers: list[Any] = [rows(read.load(place).select(*shown))]
    update = read.option("endingVersion", 2).load(place).where("_change_type LIKE 'update%' AND id < 0")
    answers.append(rows(update.select(*shown)))
    sql = f"SELECT id, _change_type FROM table_changes_by_path('{place}', 3) WHERE _commit_version = 3"
    answers.append(rows(spark.sql(sql)))
    stream = spark.readStream.format("delta").option("readChangeFeed", "true").load(place).writeStream
    checkpoint = at.local / "checkpoint-changes"
    stream = stream.trigger(availableNow=True).option("checkpointLocation", str(checkpoint))
    stream.format("memory").queryName(f"{at.name}_changes").start().awaitTermination()
    answers.append(rows(spark.table(f"{at.name}_changes").select(*shown[:3])))
    return answers


def streams(spark: Any, at: Place) -> Any:
    answers: list[Any] = []
    checkpoint = str(at.local / "checkpoint")
    for _ in range(2):
        spark.range(100).write.format("delta").mode("append").save(at("source"))
        source = spark.readStream.format("delta").option("maxFilesPerTrigger", 1).load(at("source"))
        query = (
            source.where("id % 3 = 0").writeStream.format("delta").option("checkpointLocation", checkpoint)
        )
        query = query.trigger(availableNow=True).start(at("sink"))
        query.awaitTermination()
        answers.append([p.numInputRows for p in query.recentProgress if p.numInputRows])
        answers.append(rows(spark.read.format("delta").load(at("sink"))))
    counts = spark.readStream.format("delta").load(at("source")).groupBy("id").count().writeStream
    counts = counts.outputMode("complete").option("checkpointLocation", f"{checkpoint}-complete")
    counts.trigger(availableNow=True).format("delta").start(at("counts")).awaitTermination()
    answers.append(rows(spark.read.format("delta").load(at("counts"))))
    merged: list[int] = []

    def merge(batch: Any, _: int) -> None:
        sink = DeltaTable.forPath(spark, at("sink")).alias("t")
        sink.merge(batch.dropDuplicates().alias("s"), "t.id = s.id").whenNotMatchedInsertAll().execute()
        merged.append(batch.count())

    query = spark.readStream.format("delta").load(at("source")).writeStream.foreachBatch(merge)
    query.option("checkpointLocation", f"{checkpoint}-merge").trigger(
        availableNow=True
    ).start().awaitTermination()
    answers += [merged, spark.read.format("delta").load(at("sink")).count()]
    return answers


COMPARED = (the_tour, statements, maintenance, every_write, every_type, changes, streams)


def only_what_is_needed(spark: Any, folder: Path) -> None:
    """Of files that a filter rules out nothing is asked, and a column that is not needed is not read."""
    place = f"{PLACE}/pruned"
    for part in range(4):
        wide = spark.range(part * 1000, part * 1000 + 1000).selectExpr("id", "repeat(uuid(), 40) AS wide")
        wide.coalesce(1).write.format("delta").mode("append").save(place)
    server = servers.S3(SERVER["endpoint"], log=Path(SERVER["log"]))

    def files(df: Any) -> int:
        before = len(server.requests("without-jars/pruned"))
        df.collect()
        time.sleep(0.3)
        asked = server.requests("without-jars/pruned")[before:]
        return len({path for _, path in asked if path.endswith(".parquet")})

    table = spark.read.format("delta").load(place)
    assert files(table.where("id >= 3500").select("id")) == 1
    assert files(table.where("id IN (5, 1005)")) == 2
    assert files(table.where("id > 9000")) == 0
    assert files(table.select("id")) == 4
    assert files(table.agg(functions.count("*"))) == 0
    plan = table.where("id >= 3500").select("id")._jdf.queryExecution().toString()
    physical = plan.partition("Physical Plan")[2]
    assert "DeltaScan" in physical, plan
    assert "wide" not in physical, plan


def no_secret_in_plans(spark: Any, folder: Path) -> None:
    own = {
        "aws_access_key_id": HADOOP["fs.s3a.access.key"],
        "aws_secret_access_key": HADOOP["fs.s3a.secret.key"],
    }
    read = spark.read.format("delta").options(**own).load(f"{PLACE}/orders").where("id > 3")
    assert read.count() > 0
    read.explain("formatted")
    read.explain("extended")
    assert HADOOP["fs.s3a.secret.key"] not in read._jdf.queryExecution().toString()


def refusals(spark: Any, folder: Path) -> None:
    """What needs Hadoop is refused by a sentence that names what to add, before anything is written."""
    jar = r"Hadoop has no file system for `s3` in this session: add org\.apache\.hadoop:hadoop-aws:3\.\d+\.\d+ to "
    with pytest.raises(InvalidArgumentError, match=jar):
        spark.range(5).write.format("delta").option("deltaicRoute", "direct").save(f"{PLACE}/refused")
    stream = spark.readStream.format("delta").load(f"{PLACE}/source").writeStream.format("delta")
    with pytest.raises(InvalidArgumentError, match=jar):
        stream.option("checkpointLocation", f"{PLACE}/checkpoint").start(f"{PLACE}/refused")
    read = spark.read.format("delta").load(f"{PLACE}/source")
    with pytest.raises(
        UnsupportedError, match=r"_metadata\.file_path, or add org\.apache\.hadoop:hadoop-aws:"
    ):
        read.select(functions.input_file_name().alias("f")).write.format("delta").save(f"{PLACE}/refused")
    with pytest.raises(deltaic.exceptions.TableNotFoundError):
        deltaic.Table(f"{PLACE}/refused", storage_options=HADOOP)


def errors_of_workers(spark: Any, folder: Path) -> None:
    place = f"{PLACE}/gone"
    spark.range(100).write.format("delta").option("deltaicRoute", "arrow").save(place)
    for file in Path(SERVER["data"]).joinpath(FOLDER, "gone").rglob("*.parquet"):
        if "_delta_log" not in file.parts:
            file.unlink()
    with pytest.raises(DataFileError, match="gone"):
        spark.read.format("delta").load(place).collect()
    # a Python without deltaic
    venv.create(folder / "bare", symlinks=True)
    hides = _HIDES.format(site.getsitepackages() + sys.path[1:])
    next((folder / "bare").rglob("site-packages")).joinpath("sitecustomize.py").write_text(hides)
    bare = str(folder / "bare/bin/python")
    known, spark.sparkContext.pythonExec = spark.sparkContext.pythonExec, bare
    try:
        with pytest.raises(PackageNotOnServerError, match="bare/bin/python"):
            spark.read.format("delta").load(f"{PLACE}/orders").collect()
    finally:
        spark.sparkContext.pythonExec = known


def main(master: str, folder: Path) -> None:
    folder.joinpath("events").mkdir()
    spark = session(master, folder)
    for step in COMPARED:
        begun = time.monotonic()
        here, there = (
            step(spark, Place(base, folder / name))
            for base, name in ((str(folder / "here"), "here"), (PLACE, "there"))
        )
        assert len(here) == len(there)
        for number, (one, other) in enumerate(zip(here, there, strict=True)):
            assert one == other, f"{step.__name__}, answer {number}:\n{one}\n{other}"
        print(step.__name__, flush=True)
        print(f"{step.__name__}: {time.monotonic() - begun:.1f} s", file=sys.stderr)
    for alone in (only_what_is_needed, no_secret_in_plans, refusals, errors_of_workers):
        alone(spark, folder)
        print(alone.__name__, flush=True)
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
