"""A process of its own that gives secrets at every door of a session, and prints what can be printed.

Its argument is a file of JSON: `secrets` (names of options and their values, in which `DOOR` stands for the place where
they were given), `folder`, `settings` and, for a session of Spark Connect, `url`. What it prints is searched, too.
"""

from __future__ import annotations

import functools
import http.server
import json
import shutil
import sys
import threading
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any

import deltaic
from deltaic.tables import DeltaTable

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession

GIVEN = json.loads(Path(sys.argv[1]).read_text())
FOLDER = Path(GIVEN["folder"])


def secrets(door: str, only: str = "") -> dict[str, str]:
    return {n: v.replace("DOOR", door) for n, v in GIVEN["secrets"].items() if n.startswith(only)}


def in_sql(door: str) -> str:
    return ", ".join(f"'{name}' = '{value}'" for name, value in secrets(door).items())


def path(name: str) -> str:
    return str(FOLDER / "tables" / name)


def show(df: Any) -> Any:
    for mode in ("extended", "formatted"):
        df.explain(mode)
    print(df)
    if "url" not in GIVEN:
        run = df._jdf.queryExecution()
        print(run.analyzed().toJSON(), run.executedPlan().toJSON(), df._jdf.toString())
    df.collect()
    return df


def refused(run: Callable[[], Any]) -> None:
    """An error, as who sees it sees it."""
    try:
        run()
    except Exception:  # noqa: BLE001  (of each kind)
        traceback.print_exc()
    else:
        message = "a command that must fail did not"
        raise AssertionError(message)


def without_deltaic(spark: SparkSession) -> None:
    """What Spark shows by itself: by this the search is seen to find something."""
    spark.range(1).write.format("parquet").options(**secrets("without")).save(path("parquet"))
    stream = spark.readStream.schema("id LONG").options(**secrets("plainStream", "the-users-own"))
    stream.parquet(path("parquet")).explain(extended=True)


def writers(spark: SparkSession) -> None:
    rows = spark.range(5).selectExpr("id", "id % 2 AS p")
    for route in ("direct", "arrow", "driver"):
        given = secrets("append") | {"deltaicRoute": route}
        rows.write.format("delta").options(**given).mode("append").partitionBy("p").save(path("t"))
    over = rows.where("p = 1").write.format("delta").options(**secrets("overwrite")).mode("overwrite")
    over.option("replaceWhere", "p = 1").save(path("t"))
    rows.writeTo(f"delta.`{path('t')}`").options(**secrets("writeTo")).append()
    rows.writeTo("made").using("delta").options(**secrets("writeToCreate")).create()
    rows.write.format("delta").options(**secrets("saveAsTable")).saveAsTable("saved")
    rows.write.format("delta").options(**secrets("saveAsTable")).mode("append").saveAsTable("saved")
    for name, value in secrets("conf", "fs.").items():
        spark.conf.set(name, value)
    show(spark.sql(f"INSERT INTO saved SELECT * FROM delta.`{path('t')}`"))
    for name in secrets("conf", "fs."):
        spark.conf.unset(name)


def readers(spark: SparkSession) -> None:
    df = spark.read.format("delta").options(**secrets("load")).load(path("t"))
    show(df.where("p = 0"))
    show(spark.read.options(**secrets("table")).table(f"delta.`{path('t')}`"))
    df.createOrReplaceTempView("seen")
    show(spark.table("seen"))


def statements(spark: SparkSession) -> None:
    run = spark.sql
    # the parsed plan of these is their text: it is what was typed
    run(f"CREATE TABLE c (id LONG, p LONG) USING delta OPTIONS ({in_sql('create')})").collect()
    run(f"CREATE TABLE ct USING delta OPTIONS ({in_sql('createAs')}) AS SELECT 1L AS id, 2L AS p").collect()
    run(f"CREATE TABLE cp USING delta OPTIONS ({in_sql('located')}) LOCATION '{path('t')}'").collect()
    run(f"REPLACE TABLE ct USING delta OPTIONS ({in_sql('replace')}) AS SELECT 1L AS id, 2L AS p").collect()
    show(run(f"INSERT INTO c WITH ({in_sql('insert')}) VALUES (1L, 2L), (2L, 3L)"))
    show(run(f"SELECT * FROM delta.`{path('t')}` WITH ({in_sql('select')}) WHERE p = 0"))
    run(f"CREATE TEMPORARY VIEW v USING delta OPTIONS (path '{path('t')}', {in_sql('view')})")
    show(run("SELECT * FROM v"))
    for table in ("c", "ct", "cp", "saved", "made"):
        run(f"DESCRIBE TABLE EXTENDED {table}").show(1000, truncate=False)
        run(f"SHOW TBLPROPERTIES {table}").show(1000, truncate=False)
        run(f"SHOW CREATE TABLE {table}").show(1000, truncate=False)
    show(run("UPDATE c SET p = 3 WHERE id = 1"))
    show(run("DELETE FROM saved WHERE id = 1"))
    show(run("INSERT OVERWRITE c SELECT * FROM ct"))
    merge = "MERGE INTO c USING (SELECT DISTINCT * FROM v) s ON c.id = s.id AND c.p = s.p"
    show(run(f"{merge} WHEN NOT MATCHED THEN INSERT *"))
    for statement in ("DESCRIBE DETAIL cp", "DESCRIBE HISTORY cp", "OPTIMIZE c", "VACUUM c"):
        run(statement).show(1000, truncate=False)


def tables(spark: SparkSession) -> None:
    target = DeltaTable.forPath(spark, path("t"), secrets("forPath"))
    print(target, vars(target))
    show(target.toDF())
    target.update("id = 1", {"p": "p + 1"})
    target.delete("id = 2")
    source = spark.range(3).selectExpr("id", "id AS p").alias("s")
    merge = target.alias("t").merge(source, "s.id = t.id AND s.p = t.p")
    merge.whenMatchedUpdateAll().whenNotMatchedInsertAll().execute()
    target.history().show(1000, truncate=False)
    target.detail().show(1000, truncate=False)
    target.optimize().executeCompaction()
    target.clone(path("clone"), isShallow=True)


def streams(spark: SparkSession) -> None:
    given = spark.readStream.format("delta").options(**secrets("readStream")).load(path("t"))
    given.explain(extended=True)
    out = given.writeStream.format("delta").options(**secrets("writeStream"))
    query = out.option("checkpointLocation", path("checkpoint")).trigger(availableNow=True).start(path("out"))
    query.awaitTermination()
    query.explain(extended=True)
    print(query.lastProgress, query.status)


def core(_: SparkSession) -> None:
    given = secrets("core")
    table = deltaic.Table(path("t"), storage_options=given)
    print(table, repr(table), table.history(), table.detail())
    deltaic.write(path("plain"), table.to_arrow(), storage_options=given)
    table.update()
    deltaic.Table(path("plain"), storage_options=given).shallow_clone(path("plain-clone"))


class Refusing(http.server.BaseHTTPRequestHandler):
    """A store that knows nobody."""

    def answer(self) -> None:
        self.send_response(403)
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_GET = do_HEAD = do_PUT = do_POST = answer  # noqa: N815  (http.server's names)

    def log_message(self, *_: Any) -> None:
        """The test looks through what Spark and deltaic say."""


def failures(spark: SparkSession) -> None:
    load = spark.read.format("delta").options(**secrets("failedRead"))
    save = spark.range(3).write.format("delta").options(**secrets("failedWrite"))
    refused(lambda: load.load(path("nowhere")).collect())
    refused(lambda: load.option("versionAsOf", 10**6).load(path("t")).collect())
    refused(lambda: save.mode("append").option("replaceWhere", "nothing").save(path("t")))
    wrong = spark.range(1).selectExpr("'a' AS id").write.format("delta").options(**secrets("failedWrite"))
    refused(lambda: wrong.mode("append").save(path("t")))


def stores(spark: SparkSession) -> None:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Refusing)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}"
    s3 = secrets("s3", "aws_") | {"aws_endpoint": url, "allow_http": "true", "aws_region": "r"}
    azure = {
        "azure_storage_account_name": "a",
        "azure_storage_sas_key": f"sv=1&sig={secrets('sas')['azure_storage_sas_key']}",
        "azure_storage_endpoint": url,
        "allow_http": "true",
    }
    for place, given in (("s3://b/t", s3), ("az://c/t", azure)):
        read = spark.read.format("delta").options(**given)
        refused(functools.partial(deltaic.Table, place, storage_options=given))
        refused(functools.partial(read.load, place))
        refused(functools.partial(spark.range(1).write.format("delta").options(**given).save, place))
        refused(functools.partial(DeltaTable.forPath, spark, place, given))
    user = GIVEN["secrets"]["token"].replace("DOOR", "url")
    refused(lambda: spark.read.format("delta").load(f"s3://{user}:{user}@b/t"))
    refused(lambda: spark.range(1).write.format("delta").save(f"s3://{user}:{user}@b/t"))
    server.shutdown()


def by_connect(spark: Any) -> None:
    deltaic.enable(spark)
    rows = spark.range(5).selectExpr("id", "id % 2 AS p")
    rows.write.format("delta").options(**secrets("asked")).mode("append").save(path("t"))
    deltaic.save(rows, path("t"), mode="append", storage_options=secrets("save"))
    show(spark.read.format("delta").options(**secrets("asked")).load(path("t")))
    show(deltaic.read(spark, path("t"), where="id > 1"))
    deltaic.sql(spark, f"DELETE FROM delta.`{path('t')}` WHERE id = 1").collect()
    tables(spark)
    refused(lambda: spark.read.format("delta").options(**secrets("asked")).load(path("nowhere")).collect())


def main() -> None:
    from pyspark.sql import SparkSession

    if "url" in GIVEN:
        spark = SparkSession.builder.remote(GIVEN["url"]).getOrCreate()
        by_connect(spark)
        spark.stop()
        return
    builder = SparkSession.builder.master("local[2]")
    for name, value in GIVEN["settings"].items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    without_deltaic(spark)
    deltaic.enable(spark)
    for door in (writers, readers, statements, tables, streams, core, failures, stores):
        door(spark)
        if door is writers:
            # what a session makes later, too
            spark = spark.newSession()
    # Spark removes them when it stops
    shutil.copytree(FOLDER / "temporary", FOLDER / "left")
    spark.stop()


if __name__ == "__main__":
    main()
