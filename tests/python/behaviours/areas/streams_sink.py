"""A table as the sink of a stream: modes, history, restarts, and what a batch may be."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from playing import Area
from pyspark.sql import functions

from areas.streaming import into, reader, uncommit

if TYPE_CHECKING:
    from playing import Player

AREA = Area("streams_sink")


def history(p: Player, table: str = "{u}") -> None:
    """Tells of every commit what the history says of it, of metrics their names, rows, and whether there are files."""
    for row in p.sql(f"DESCRIBE HISTORY {table}").orderBy("version").collect():
        counted = {
            name: min(int(value), 1) if "Files" in name else value
            for name, value in (row.operationMetrics or {}).items()
            if "Bytes" not in name
        }
        p.tell(
            [
                row.version,
                row.operation,
                row.operationParameters,
                row.isBlindAppend,
                row.userMetadata,
                counted,
            ]
        )


@AREA.situation()
def options_that_are_no_properties(p: Player) -> None:
    """Of a table that a stream makes, or writes to."""
    p.conf("spark.databricks.delta.properties.defaults.checkpointInterval", "7")
    p.sql("CREATE TABLE {t} (id INT) USING delta", "INSERT INTO {t} VALUES (1)")
    given = {"delta.appendOnly": "true", "delta.nosuch": "x"}
    p.attempt(lambda: p.stream(**given))
    p.detail("{u}")
    p.sql("INSERT INTO {t} VALUES (2)")
    p.attempt(lambda: p.stream(**given))
    p.detail("{u}")
    p.rows("SELECT * FROM {u}")


@AREA.situation()
def append(p: Player) -> None:
    """Each batch is a commit; what was committed is skipped after a restart, whatever the checkpoint knows."""
    p.sql("CREATE TABLE {t} (id INT) USING delta", "INSERT INTO {t} VALUES (1)", "INSERT INTO {t} VALUES (2)")
    once = {"maxFilesPerTrigger": "1"}
    into(p, "id", of=reader(p, **once), userMetadata="mine")
    p.sql("INSERT INTO {t} VALUES (3)")
    into(p, "id", of=reader(p, **once))
    into(p, "id", of=reader(p, **once))
    uncommit(p, 2)
    into(p, "id", of=reader(p, **once))
    p.rows("SELECT * FROM {u}")
    history(p)
    p.tell([a["txn"]["version"] for v in range(3) for a in p.actions(v, f"{p.at}/u") if "txn" in a])


@AREA.situation()
def complete(p: Player) -> None:
    p.sql("CREATE TABLE {t} (id INT) USING delta", "INSERT INTO {t} VALUES (1)")
    p.sql("CREATE TABLE {u} (n BIGINT) USING delta", "INSERT INTO {u} VALUES (7)")
    for _ in range(2):
        into(p, of=reader(p).groupBy().count().withColumnRenamed("count", "n"), mode="complete")
        p.rows("SELECT * FROM {u}")
        p.sql("INSERT INTO {t} VALUES (2), (3)")
    history(p)


@AREA.situation(long=True)
def what_cannot_start(p: Player) -> None:
    p.sql("CREATE TABLE {t} (id INT, n INT) USING delta", "INSERT INTO {t} VALUES (1, 2)")
    into(p, mode="update")
    writer = reader(p).writeStream.format("delta").option("checkpointLocation", f"{p.at}/c")
    p.attempt(lambda: writer.start())
    into(p, by=("id", "n"), at="c2")
    into(p, by=("other",), at="c3")


@AREA.situation()
def partitions(p: Player) -> None:
    """Values with spaces, slashes and nothing; another partitioning, in a stream and beside it."""
    p.sql("CREATE TABLE {t} (id INT, p STRING) USING delta")
    p.sql("INSERT INTO {t} VALUES (1, 'hello world'), (2, 'a/b'), (3, NULL), (4, '%20'), (5, 'a=b')")
    into(p, by=("p",))
    p.rows("SELECT * FROM {u} WHERE p = 'a/b' OR p = '%20'")
    p.rows("SELECT * FROM {u} WHERE p = 'hello world' OR p IS NULL")
    p.schema("SELECT * FROM {u}")
    p.detail("{u}")
    p.sql("INSERT INTO {t} VALUES (6, 'x')")
    into(p)
    p.sql("INSERT INTO {t} VALUES (7, 'y')")
    into(p, by=("id",))
    rows = "SELECT 8 AS id, 'z' AS p"
    p.attempt(
        lambda: p.write(rows, path=f"{p.at}/u", by=("p", "id")),
        lambda: p.write("SELECT 'x' AS id, 'z' AS p", path=f"{p.at}/u", by=("p",)),
    )
    p.rows("SELECT * FROM {u}")


@AREA.situation(long=True)
def a_watermark(p: Player) -> None:
    from pyspark.sql.functions import window

    p.sql("CREATE TABLE {t} (s BIGINT) USING delta")
    for seconds in ("(100)", "(104), (123)", "(140)"):
        p.sql(f"INSERT INTO {{t}} VALUES {seconds}")
        timed = reader(p).selectExpr("timestamp_seconds(s) AS at").withWatermark("at", "10 seconds")
        counted = timed.groupBy(window("at", "5 seconds")).count()
        into(p, of=counted.selectExpr("unix_seconds(window.start) AS start", "count"))
        p.answers("SELECT * FROM {u}")


def joined(p: Player) -> Any:
    return reader(p).join(p.read(f"{p.at}/u"), "id").select("id", "n")


@AREA.situation()
def what_reads_the_table_that_it_writes(p: Player) -> None:
    """Is no blind append: a join, and the table as the source."""
    p.sql("CREATE TABLE {t} (id INT) USING delta", "INSERT INTO {t} VALUES (1)")
    p.sql("CREATE TABLE {u} (id INT, n INT) USING delta", "INSERT INTO {u} VALUES (1, 1), (2, 2)")
    into(p, "id", "0 AS n", at="c0")
    into(p, of=joined(p), at="c1")
    into(p, "id", "n + 10 AS n", of=reader(p, f"{p.at}/u"), at="c3")
    p.rows("SELECT * FROM {u}")
    history(p)


@AREA.situation(
    "a subquery reads the table, too, as a join does, and rows of an old version are the same whoever commits",
    long=True,
)
def a_subquery_and_an_old_version(p: Player) -> None:
    p.sql("CREATE TABLE {t} (id INT) USING delta", "INSERT INTO {t} VALUES (1)")
    p.sql("CREATE TABLE {u} (id INT, n INT) USING delta", "INSERT INTO {u} VALUES (1, 1), (2, 2)")
    within = p.text("id IN (SELECT id FROM {u} WHERE n = 1)")
    into(p, of=reader(p).selectExpr("id", "5 AS n").where(within), at="c1")
    p.commit("{u}", metrics=False)
    other = p.read(f"{p.at}/u", versionAsOf=1).withColumnRenamed("id", "x")
    into(p, of=reader(p).join(other.where("n = 1")).select("id", "n"), at="c2")
    p.commit("{u}", metrics=False)
    p.rows("SELECT * FROM {u}")


def of_its_source(p: Player) -> Any:
    return reader(p, f"{p.at}/u").where("n < 10")


def plain(p: Player) -> Any:
    return reader(p).selectExpr("id", "0 AS n")


RACES: dict[str, Any] = {
    "joins, against an insert": (joined, "INSERT INTO {u} VALUES (1, 2)"),
    "joins, against a delete": (joined, "DELETE FROM {u} WHERE n = 1"),
    "is its own source": (of_its_source, "INSERT INTO {u} VALUES (1, 2)"),
    "reads another table": (plain, "INSERT INTO {u} VALUES (1, 2)"),
}


@AREA.family(RACES, quick={"joins, against an insert"})
def a_race(p: Player, case: Any) -> None:
    """While a batch of the query is computed, another writer commits. Then the query is started again."""
    rows, other = case
    p.sql("CREATE TABLE {t} (id INT) USING delta", "INSERT INTO {t} VALUES (1)")
    p.sql(
        "CREATE TABLE {u} (id INT, n INT) USING delta TBLPROPERTIES ('delta.isolationLevel' = 'Serializable')"
    )
    p.sql("INSERT INTO {u} VALUES (1, 1)")
    begun, may_end = Path(p.at, "begun"), Path(p.at, "may_end")
    from pyspark.sql.functions import udf

    names = str(begun), str(may_end)

    # hints of types would make PySpark warn
    def waits(n):
        import time
        from pathlib import Path

        Path(names[0]).touch()
        end = time.monotonic() + 100
        while not Path(names[1]).exists() and time.monotonic() < end:
            time.sleep(0.02)
        return n + 100

    def start() -> Any:
        found = rows(p).withColumn("n", udf(waits, "int")("n"))
        writer = found.writeStream.format("delta").option("checkpointLocation", f"{p.at}/c")
        return writer.trigger(availableNow=True).start(f"{p.at}/u")

    query = start()
    while not begun.exists() and query.isActive:
        time.sleep(0.02)
    p.sql(other)
    may_end.touch()
    p.attempt(query.awaitTermination)
    p.rows("SELECT * FROM {u}")
    p.attempt(lambda: start().awaitTermination())
    p.rows("SELECT * FROM {u}")
    p.commit("{u}", metrics=False)


@AREA.situation()
def nullness_of_the_source(p: Player) -> None:
    """Is not trusted: the columns of a new table are nullable at every depth."""
    Path(p.at, "json").mkdir()
    Path(p.at, "json", "a.json").write_text('{"s": "ss", "b": {"s": "ss"}}\n')
    from pyspark.sql.types import IntegerType, StringType, StructType

    struct = StructType().add("s", StringType()).add("i", IntegerType(), nullable=False)
    fields = StructType().add("s", StringType()).add("b", struct).add("c", IntegerType(), nullable=False)
    into(p, of=p.spark.readStream.schema(fields).json(f"{p.at}/json"))
    p.rows("SELECT * FROM {u}")
    p.schema("SELECT * FROM {u}")


CHANGED = {
    "renamed": ("id AS b", "RENAME COLUMN a TO b"),
    "dropped": ("id", "DROP COLUMN a"),
}
CHANGED_CASES = {
    f"{name}, {merges}": (*CHANGED[name], merges) for name in CHANGED for merges in ("false", "true")
}


@AREA.family(CHANGED_CASES, quick={"renamed, true"})
def a_column_of_the_sink_is(p: Player, case: Any) -> None:
    """Under a query that still has it: it fails until it has not, or brings the column back."""
    fitting, change, merges = case
    p.conf("spark.databricks.delta.schema.autoMerge.enabled", merges)
    p.sql("CREATE TABLE {t} (id INT) USING delta", "INSERT INTO {t} VALUES (1)")
    made = "CREATE TABLE {u} (id INT, a INT) USING delta TBLPROPERTIES ('delta.columnMapping.mode' = 'name')"
    p.sql(made)
    own = ("id", "id AS a")
    into(p, *own)
    p.sql(f"ALTER TABLE {{u}} {change}", "INSERT INTO {t} VALUES (2)")
    into(p, *own)
    if merges == "false":
        into(p, *own)
        into(p, *dict.fromkeys(("id", fitting)))
    p.rows("SELECT * FROM {u}")
    p.schema("SELECT * FROM {u}")


@AREA.situation()
def tables_by_name(p: Player) -> None:
    """`toTable` makes a managed table, one at a path, takes what is there, and no view."""
    p.sql("CREATE TABLE {t} (id INT) USING delta", "INSERT INTO {t} VALUES (1)")
    p.end()
    into(p, name=p.name, at="c1")
    p.rows("SELECT * FROM {name}")
    p.commit("{name}", metrics=False)
    p.sql("INSERT INTO {t} VALUES (2)")
    into(p, name=p.name, at="c1")
    p.rows("SELECT * FROM {name}")
    p.end()
    into(p, name=p.name, at="c2", path=f"{p.at}/external")
    p.rows("SELECT * FROM delta.`{at}/external`")
    p.end()
    into(p, name=p.name, at="c3", path=f"{p.at}/external")
    p.rows("SELECT * FROM {name}")
    p.end()
    p.sql("CREATE VIEW {name} AS SELECT 1 AS id")
    into(p, name=p.name, at="c4")


@AREA.situation(long=True)
def names_of_something_else(p: Player) -> None:
    """Other columns, other partitions, Parquet by name and at the path, a schema that is not there."""
    p.sql("CREATE TABLE {t} (id INT) USING delta", "INSERT INTO {t} VALUES (1)")
    p.sql("CREATE TABLE {u} (other INT) USING delta")
    into(p, name=p.name, at="c1", path=f"{p.at}/u")
    p.sql("CREATE TABLE delta.`{at}/v` (id INT, k STRING) USING delta")
    into(p, "id", "'x' AS k", name=p.name, at="c2", path=f"{p.at}/v", by=("k",))
    p.spark.range(1).write.parquet(f"{p.at}/parquet")
    into(p, name=p.name, at="c3", path=f"{p.at}/parquet")
    p.sql("CREATE TABLE {name} (id INT) USING parquet LOCATION '{at}/files'")
    into(p, name=p.name, at="c4")
    into(p, name=f"nowhere_at_all.{p.name}", at="c5")


@AREA.situation(long=True)
def complete_with_another_schema(p: Player) -> None:
    p.sql("CREATE TABLE {t} (id INT) USING delta", "INSERT INTO {t} VALUES (10)")
    for columns in (("CAST(count AS INT) AS b", "'11' AS c"), ("count AS b", "'21' AS d")):
        counted = reader(p).selectExpr("CAST(id AS DECIMAL(6, 3)) AS a").groupBy("a").count()
        into(p, "a", "count", *columns, of=counted, mode="complete", overwriteSchema="true")
        p.rows("SELECT * FROM {u}")
        p.schema("SELECT * FROM {u}")
        p.sql("INSERT INTO {t} VALUES (20)")


@AREA.situation(long=True)
def a_generated_void_column(p: Player) -> None:
    p.sql("CREATE TABLE {t} (id INT) USING delta", "INSERT INTO {t} VALUES (1)")
    builder = p.tables.create(p.spark).location(f"{p.at}/u").addColumn("id", "INT")
    p.attempt(lambda: builder.addColumn("v", "VOID", generatedAlwaysAs="null").execute())
    into(p)
    into(p, "id", "null AS v")


@AREA.situation(long=True)
def empty_batches(p: Player) -> None:
    """A batch without rows is a commit; a source without rows is no batch."""
    p.sql("CREATE TABLE {t} (id INT) USING delta")
    into(p)
    p.attempt("SELECT * FROM {u}")
    p.sql("INSERT INTO {t} VALUES (1)")
    into(p, of=reader(p).where("id > 5"))
    p.schema("SELECT * FROM {u}")
    p.sql("INSERT INTO {t} VALUES (9)")
    into(p, of=reader(p).where("id > 5"))
    p.rows("SELECT * FROM {u}")
    history(p)


@AREA.situation()
def other_columns_of_a_complete_result(p: Player) -> None:
    """Counts of a stream, each time all of them, into a table without such a column; by options, and by the setting."""
    p.sql("CREATE TABLE {t} (id INT) USING delta", "INSERT INTO {t} VALUES (1), (1), (2)")
    merged = {"mergeSchema": "true"}
    replaced = {"overwriteSchema": "true"}

    def result(column: str, value: str, **options: str) -> None:
        counted = reader(p).groupBy("id").agg(functions.expr(value).alias(column))
        stream = counted.writeStream.format("delta").outputMode("complete").options(**options)
        place = f"{p.at}/of {column} {sorted(options)}"
        stream.option("checkpointLocation", place).trigger(availableNow=True).start(
            f"{p.at}/u"
        ).awaitTermination()

    p.sql("CREATE TABLE {u} (id INT, n BIGINT) USING delta")
    for options in ({}, merged, replaced, merged | replaced):
        for column, value in {"n": "count(*)", "m": "count(*)", "N": "CAST(count(*) AS STRING)"}.items():
            p.tell([sorted(options), column])
            p.attempt(lambda c=column, v=value, o=options: result(c, v, **o))
            p.rows("SELECT * FROM {u}")
            p.schema(p.read(f"{p.at}/u"))
    p.conf("spark.databricks.delta.schema.autoMerge.enabled", "true")
    p.attempt(lambda: result("more", "count(*)"))
    p.rows("SELECT * FROM {u}")
