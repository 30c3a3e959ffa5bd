"""DataFrames that are written to tables by each door: what is replaced, what the history says, and odd names."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from playing import FEED, Area
from pyspark.sql import functions

if TYPE_CHECKING:
    from collections.abc import Callable

    from playing import Player

AREA = Area("frames")

DYNAMIC = "spark.sql.sources.partitionOverwriteMode"
APP, VERSION = "spark.databricks.delta.write.txnAppId", "spark.databricks.delta.write.txnVersion"


@AREA.situation()
def null_partitions_in_a_dynamic_overwrite(p: Player) -> None:
    p.sql("CREATE TABLE {t} (a INT, p STRING) USING delta PARTITIONED BY (p)")
    p.sql("INSERT INTO {t} VALUES (1, NULL), (2, 'x')")
    p.write("SELECT 3 AS a, CAST(NULL AS STRING) AS p", "overwrite", partitionOverwriteMode="dynamic")
    p.rows()
    p.conf(DYNAMIC, "dynamic")
    p.sql("INSERT OVERWRITE {t} VALUES (4, NULL)")
    p.rows()
    p.write("SELECT 3 AS a, 'y' AS p WHERE false", "overwrite")
    p.rows()


@AREA.situation(long=True)
def names_that_were_exchanged(p: Player) -> None:
    """Partitions are replaced by the names that users see, whatever the files call them."""
    made = "CREATE TABLE {t} (n INT, a INT, b INT) USING delta PARTITIONED BY (a, b)"
    p.sql(
        f"{made} TBLPROPERTIES ('delta.columnMapping.mode' = 'name')",
        "INSERT INTO {t} VALUES (1, 1, 2), (2, 2, 1)",
    )
    for one, other in (("a", "c"), ("b", "a"), ("c", "b")):
        p.sql(f"ALTER TABLE {{t}} RENAME COLUMN {one} TO {other}")
    p.write("SELECT 9 AS n, 1 AS a, 2 AS b", "overwrite", partitionOverwriteMode="dynamic")
    p.rows("SELECT n, a, b FROM {t}")


@AREA.situation()
def replaced_as_a_whole(p: Player) -> None:
    """Though the session overwrites partitions."""
    p.conf(DYNAMIC, "dynamic")
    p.sql("CREATE TABLE {name} (a INT, p INT) USING delta PARTITIONED BY (p) LOCATION '{at}/t'")
    p.sql("INSERT INTO {name} VALUES (1, 1), (2, 2)")
    made = "REPLACE TABLE {name} USING delta PARTITIONED BY (p) LOCATION '{at}/t' AS SELECT"
    p.sql(f"CREATE OR {made} 3 AS a, 1 AS p")
    p.rows()
    p.sql("INSERT INTO {name} VALUES (2, 2)", f"{made} 4 AS a, 1 AS p")
    p.rows()
    p.sql("INSERT INTO {name} VALUES (2, 2)")
    p.sql("SELECT 5 AS a, 1 AS p").writeTo(p.name).using("delta").createOrReplace()
    p.rows()
    p.sql("INSERT INTO {name} VALUES (2, 2)")
    p.sql("SELECT 6 AS a, 1 AS p").writeTo(p.name).using("delta").replace()
    p.rows()


@AREA.situation()
def a_dynamic_overwrite_by_a_name(p: Player) -> None:
    p.sql("CREATE TABLE {name} (a INT, p INT) USING delta PARTITIONED BY (p) LOCATION '{at}/t'")
    p.sql("INSERT INTO {name} VALUES (1, 1), (2, 2)")
    rows = p.sql("SELECT 3 AS a, 1 AS p").write.format("delta").mode("overwrite")
    p.attempt(lambda: rows.option("partitionOverwriteMode", "dynamic").partitionBy("p").saveAsTable(p.name))
    p.rows()
    p.commit(metrics=False)
    p.sql("SELECT 4 AS a, 2 AS p").writeTo(p.name).overwritePartitions()
    p.rows()
    p.commit(metrics=False)


def by_name(p: Player, rows: str, mode: str, **options: str) -> None:
    p.sql(rows).write.format("delta").mode(mode).options(**options).saveAsTable(p.name)


ROW = "SELECT 2L AS id"
DOORS: dict[str, Callable[[Player], Any]] = {
    "INSERT": lambda p: p.sql("INSERT INTO {name} VALUES (2)"),
    "INSERT OVERWRITE": lambda p: p.sql("INSERT OVERWRITE {name} VALUES (3)"),
    "UPDATE": lambda p: p.sql("UPDATE {name} SET id = id + 10"),
    "DELETE": lambda p: p.sql("DELETE FROM {name} WHERE id > 10"),
    "save, append": lambda p: p.write(ROW),
    "save, overwrite": lambda p: p.write(ROW, "overwrite"),
    "saveAsTable, append": lambda p: by_name(p, ROW, "append"),
    "saveAsTable, overwrite": lambda p: by_name(p, ROW, "overwrite"),
    "writeTo, append": lambda p: p.sql(ROW).writeTo(p.name).append(),
    "writeTo, overwrite": lambda p: p.sql(ROW).writeTo(p.name).overwritePartitions(),
}


@AREA.situation()
def written_once(p: Player) -> None:
    """What an application has written is left out, by each door."""
    p.sql("CREATE TABLE {name} (id BIGINT) USING delta LOCATION '{at}/t'", "INSERT INTO {name} VALUES (1)")
    for number, (name, door) in enumerate(DOORS.items()):
        p.tell({"case": name})
        p.conf(APP, "app")
        for _ in range(2):
            p.conf(VERSION, number)
            p.attempt(lambda door=door: door(p))
        p.tell(p.sql("DESCRIBE HISTORY {t} LIMIT 1").first().version)
    p.rows()


TXNS: dict[str, dict[str, str]] = {
    "no version": {"txnAppId": "a"},
    "no application": {"txnVersion": "1"},
}


@AREA.grid(TXNS, "CREATE TABLE {t} (id BIGINT) USING delta", long=True)
def a_transaction_that_makes_no_sense(p: Player, options: dict[str, str]) -> None:
    p.attempt(lambda: p.write(ROW, **options))
    p.tell(p.sql("DESCRIBE HISTORY {t} LIMIT 1").first().version)


READS: dict[str, Callable[[Player], Any]] = {
    "save, itself": lambda p: p.write(p.read()),
    "save, another": lambda p: p.write(ROW),
    "saveAsTable, itself": lambda p: p.read().write.format("delta").mode("append").saveAsTable(p.name),
    "saveAsTable, another": lambda p: by_name(p, ROW, "append"),
    "writeTo, itself": lambda p: p.spark.table(p.name).writeTo(p.name).append(),
    "writeTo, another": lambda p: p.sql(ROW).writeTo(p.name).append(),
    "INSERT, itself": lambda p: p.sql("INSERT INTO {name} SELECT * FROM {name} WHERE id = 1"),
    "overwrite": lambda p: p.write(ROW, "overwrite"),
    "replace": lambda p: p.sql(
        "CREATE OR REPLACE TABLE {name} USING delta LOCATION '{at}/t' AS SELECT 7L AS id"
    ),
    "replace, itself": lambda p: p.spark.table(p.name).writeTo(p.name).using("delta").createOrReplace(),
}


@AREA.situation()
def blind_appends(p: Player) -> None:
    """Are those of frames that read nothing of their table."""
    p.sql("CREATE TABLE {name} (id BIGINT) USING delta LOCATION '{at}/t'", "INSERT INTO {name} VALUES (1)")
    for name, door in READS.items():
        door(p)
        p.tell([name, p.sql("DESCRIBE HISTORY {t} LIMIT 1").first().isBlindAppend])
    p.rows()


def reported(p: Player, step: Callable[[], Any] | str, table: str = "{t}") -> None:
    """Tells how a step ends, and the newest commit then."""
    p.attempt(step)
    p.commit(table, metrics=False)


@AREA.situation()
def flags_of_the_history(p: Player) -> None:
    """Of overwrites and definitions by each door."""
    p.sql("CREATE TABLE {name} (id BIGINT) USING delta LOCATION '{at}/t'")

    reported(p, lambda: by_name(p, ROW, "overwrite"))
    reported(p, lambda: by_name(p, "SELECT 1L AS id, 2 AS b", "overwrite", overwriteSchema="true"))
    new = p.sql("SELECT 1L AS id, 3 AS b")
    reported(p, lambda: new.writeTo(p.name).option("overwriteSchema", "true").append())
    reported(p, lambda: new.writeTo(p.name).using("delta").replace())
    reported(p, lambda: new.writeTo(p.name).using("delta").option("userMetadata", "mine").createOrReplace())
    reported(
        p, lambda: by_name(p, "SELECT 1L AS id, 2 AS b", "append", userMetadata="yours", mergeSchema="false")
    )
    reported(p, lambda: p.write(new, "overwrite", replaceWhere="id = 1", overwriteSchema="true"))
    reported(p, lambda: p.write(new, "overwrite", mergeSchema="true", overwriteSchema="true"))


@AREA.situation()
def flags_of_partitions_that_are_replaced(p: Player) -> None:
    """By each door, those of the rows and those of a condition, beside options of the schema."""
    p.sql("CREATE TABLE {name} (id INT, p STRING) USING delta PARTITIONED BY (p)")
    p.sql("INSERT INTO {name} VALUES (1, 'a'), (2, 'b')")
    row = "SELECT 5 AS id, 'a' AS p"

    def told(step: Callable[[], Any] | str) -> None:
        reported(p, step, "{name}")

    p.conf(DYNAMIC, "dynamic")
    told("INSERT OVERWRITE {name} SELECT 5, 'a'")
    told(lambda: by_name(p, row, "overwrite"))
    told(lambda: p.sql(row).write.format("delta").mode("overwrite").insertInto(p.name))
    told(lambda: p.sql(row).writeTo(p.name).overwritePartitions())
    told("INSERT OVERWRITE {name} PARTITION (p = 'a') SELECT 6")
    p.conf(DYNAMIC, "static")
    told(lambda: p.sql(row).writeTo(p.name).overwritePartitions())
    told(lambda: by_name(p, row, "overwrite", partitionOverwriteMode="dynamic", mergeSchema="true"))
    told(lambda: by_name(p, row, "overwrite", overwriteSchema="false", mergeSchema="false"))
    told(lambda: p.sql(row).writeTo(p.name).overwrite(functions.col("p") == "a"))
    told(lambda: by_name(p, row, "overwrite", replaceWhere="p = 'a'"))
    told(lambda: by_name(p, row, "overwrite", replaceWhere="p = 'a' AND id < 9"))
    told("INSERT INTO {name} REPLACE WHERE id = 5 SELECT 5, 'z'")
    told(lambda: p.sql(row).writeTo(p.name).options(userMetadata="mine", mergeSchema="true").append())
    p.rows("SELECT * FROM {name}")


@AREA.situation()
def flags_of_replaced_tables(p: Player) -> None:
    """What `replace`, `createOrReplace`, `saveAsTable` with a condition, and the session say of the schema."""
    p.sql("CREATE TABLE {name} (id BIGINT) USING delta LOCATION '{at}/t'")
    row = "SELECT 1L AS id, 3 AS b"

    def writer(**options: str) -> Any:
        return p.sql(row).writeTo(p.name).using("delta").options(**options)

    both = {"overwriteSchema": "true", "mergeSchema": "true"}
    for options in ({"overwriteSchema": "true"}, {"mergeSchema": "true"}, both, dict.fromkeys(both, "false")):
        reported(p, lambda o=options: writer(**o).createOrReplace())
        reported(p, lambda o=options: writer(**o).replace())
    reported(p, lambda: by_name(p, row, "overwrite", replaceWhere="id = 1"))
    reported(p, lambda: by_name(p, row, "overwrite", replaceWhere="id = 1", mergeSchema="true"))
    p.sql("DROP TABLE {name}")
    reported(p, lambda: writer(**both).create())
    p.conf("spark.databricks.delta.schema.autoMerge.enabled", "true")
    reported(p, lambda: writer().createOrReplace())
    reported(p, lambda: by_name(p, row, "overwrite"))
    reported(p, lambda: by_name(p, row, "append"))
    reported(
        p, lambda: p.sql("CREATE OR REPLACE TABLE {name} USING delta LOCATION '{at}/t' AS SELECT 7L AS id")
    )


REPLACED: dict[str, Callable[[Player], Any]] = {
    "by a partition": lambda p: p.write(
        "SELECT 2 AS id, 20 AS n, 'z' AS _change_type", "overwrite", replaceWhere="id = 2"
    ),
    "by data": lambda p: p.write(
        "SELECT 3 AS id, 21 AS n, 'z' AS _change_type", "overwrite", replaceWhere="n > 20"
    ),
}


@AREA.situation(long=True)
def a_column_called_as_one_of_the_feed(p: Player) -> None:
    p.sql("CREATE TABLE {t} (id INT, n INT, _change_type STRING) USING delta PARTITIONED BY (id)")
    p.sql("INSERT INTO {t} VALUES (1, 10, 'a'), (2, 20, 'b'), (3, 30, 'c')")
    for door in REPLACED.values():
        p.attempt(lambda door=door: door(p))
        p.rows()


@AREA.situation(long=True)
def the_feed_of_replace_where(p: Player) -> None:
    p.sql(
        f"CREATE TABLE {{t}} (id INT, n INT) USING delta PARTITIONED BY (id) TBLPROPERTIES ('{FEED}' = 'true')"
    )
    p.sql("INSERT INTO {t} SELECT /*+ COALESCE(1) */ * FROM VALUES (1, 10), (2, 20), (2, 30)")
    p.write("SELECT 2 AS id, 25 AS n", "overwrite", replaceWhere="id = 2")
    p.changes()
    p.write("SELECT 2 AS id, 11 AS n", "overwrite", replaceWhere="n < 22")
    p.changes()
    p.rows()


WHERES = {
    "column": ("`a.b` = 2", "SELECT 2 AS `a.b`, named_struct('b', 9) AS a, 0 AS k"),
    "field": ("a.b = 20", "SELECT 8 AS `a.b`, named_struct('b', 20) AS a, 0 AS k"),
    "subquery": ("k IN (SELECT 1)", "SELECT 8 AS `a.b`, named_struct('b', 20) AS a, 1 AS k"),
    "other case": ("K = 1", "SELECT 8 AS `a.b`, named_struct('b', 20) AS a, 1 AS k"),
}


@AREA.grid(
    WHERES,
    "CREATE TABLE {t} (`a.b` INT, a STRUCT<b: INT>, k INT) USING delta"
    " TBLPROPERTIES ('delta.columnMapping.mode' = 'name')",
    "INSERT INTO {t} VALUES (1, struct(10), 1), (2, struct(20), 2)",
    long=True,
)
def replace_where(p: Player, case: tuple[str, str]) -> None:
    condition, rows = case
    p.attempt(lambda: p.write(rows, "overwrite", replaceWhere=condition))
    p.rows()


@AREA.situation(long=True)
def replace_where_makes_a_table(p: Player) -> None:
    Path(p.path).mkdir()
    p.attempt(lambda: p.write(ROW, "overwrite", replaceWhere="id = 2"))
    p.rows()


@AREA.situation(long=True)
def a_folder_that_is_gone_or_moved(p: Player) -> None:
    p.sql("CREATE TABLE {t} (id BIGINT) USING delta", "INSERT INTO {t} VALUES (1)")
    shutil.move(p.path, f"{p.at}/moved")
    p.rows(p.read(f"{p.at}/moved"))
    p.attempt(lambda: p.read())
    p.write("SELECT 'x' AS other", path=f"{p.at}/moved", mergeSchema="true")
    p.rows(p.read(f"{p.at}/moved"))


ODD = ("partitionValues", "path", "add", "stats")


@AREA.situation(long=True)
def names_of_partition_columns(p: Player) -> None:
    for column in p.each(ODD):
        p.sql(
            f"CREATE TABLE {{t}} (id INT, `{column}` STRING) USING delta PARTITIONED BY (`{column}`)"
            " TBLPROPERTIES ('mine' = 'yes')"
        )
        p.sql("INSERT INTO {t} VALUES (1, 'x'), (2, 'y')")
        p.write(f"SELECT 3 AS id, 'y' AS `{column}`", "overwrite", partitionOverwriteMode="dynamic")
        p.rows(f"SELECT * FROM {{t}} WHERE `{column}` = 'y'")


@AREA.situation(long=True)
def commands_on_an_odd_folder(p: Player) -> None:
    p.path = f"{p.at}/a %3A b:c"
    p.write("SELECT 1L AS id UNION ALL SELECT 2L")
    p.sql("INSERT INTO {t} VALUES (3)", "UPDATE {t} SET id = 9 WHERE id = 1", "DELETE FROM {t} WHERE id = 2")
    p.sql("MERGE INTO {t} AS t USING (SELECT 5 AS id) AS s ON t.id = s.id WHEN NOT MATCHED THEN INSERT *")
    p.rows()
    p.attempt("OPTIMIZE {t}", "VACUUM {t}", "DESCRIBE DETAIL {t}", "RESTORE {t} TO VERSION AS OF 1")
    p.rows()
    p.tell([row.operation for row in p.sql("DESCRIBE HISTORY {t}").collect()])
    names = p.read().selectExpr("input_file_name() AS f", "_metadata.file_path AS g").collect()
    p.tell([row.f == row.g and row.f.startswith("file:/") for row in names])


@AREA.situation(long=True)
def case_that_counts(p: Player) -> None:
    """In a session with `spark.sql.caseSensitive`."""
    p.sql("CREATE TABLE {t} (Key INT, n INT) USING delta", "INSERT INTO {t} VALUES (1, 1), (2, 2)")
    p.conf("spark.sql.caseSensitive", "true")
    p.attempt(
        lambda: p.write("SELECT 2 AS Key, 5 AS n", "overwrite", replaceWhere="Key = 2"),
        lambda: p.write("SELECT 3 AS key, 5 AS n"),
        lambda: p.write("SELECT 3 AS key, 4 AS Key, 5 AS n", mergeSchema="true"),
        "DELETE FROM {t} WHERE key = 1",
        "UPDATE {t} SET N = 7",
        "SELECT key FROM {t}",
    )
    p.rows("SELECT * FROM {t}")


UPSERT = """USING (SELECT 5L AS id) AS s ON t.id = s.id
    WHEN MATCHED THEN UPDATE SET id = 6 WHEN NOT MATCHED THEN INSERT *"""


@AREA.situation()
def merged_once(p: Player) -> None:
    """What an application has merged is left out, and so are rows that would be changed now."""
    p.sql("CREATE TABLE {name} (id BIGINT) USING delta LOCATION '{at}/t'", "INSERT INTO {name} VALUES (1)")
    p.conf(APP, "app")
    for version in (3, 3, 2, 4):
        p.conf(VERSION, version)
        p.answers(f"MERGE INTO {{name}} AS t {UPSERT}")
        p.tell(p.sql("DESCRIBE HISTORY {t} LIMIT 1").first().version)
    for version in (5, 5):
        p.conf(VERSION, version)
        merge = p.table().alias("t").merge(p.sql("SELECT 6L AS id").alias("s"), "t.id = s.id")
        p.attempt(merge.whenMatchedUpdate(set={"id": "7"}).whenNotMatchedInsertAll().execute)
        p.tell(p.sql("DESCRIBE HISTORY {t} LIMIT 1").first().version)
    p.rows()
