"""Tables that are made and replaced: by `writeTo`, `saveAsTable`, the builder; their places, and their properties."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from playing import Area
from pyspark.sql import functions as f
from pyspark.sql.types import StructType

if TYPE_CHECKING:
    from collections.abc import Callable

    from playing import Player

AREA = Area("tables_made")

PLAIN, DELTA = "dataSkippingNumIndexedCols", "delta.deletedFileRetentionDuration"
OPTIONS = {PLAIN: "33", DELTA: "interval 2 weeks"}
ROWS = "SELECT 1L AS id, 'a' AS data"


def properties(p: Player, of: str = "{t}") -> None:
    found = p.sql(f"DESCRIBE DETAIL {of}").first().properties
    p.tell(dict(sorted(found.items())))


def place(p: Player, by: str) -> str:
    return p.name if by == "name" else p.text("{t}")


# -- which settings of a write become properties

BY = ("path", "name")


@AREA.grid(
    {f"{by}, {mode}": (by, mode) for by in BY for mode in ("create", "overwrite", "append")}, long=True
)
def options_of_save(p: Player, case: tuple[str, str]) -> None:
    by, mode = case
    writer = p.spark.range(2).write.format("delta").options(**OPTIONS)
    writer = writer if mode == "create" else writer.mode(mode)
    if by == "path":
        writer.save(p.path)
    else:
        writer.saveAsTable(p.name)
    properties(p, place(p, by))


KINDS = ("create", "replace", "createOrReplace of none", "createOrReplace of one")


@AREA.grid({f"{by}, {kind}": (by, kind) for by in BY for kind in KINDS}, long=True)
def options_of_write_to(p: Player, case: tuple[str, str]) -> None:
    by, kind = case
    name = place(p, by)
    if kind in ("replace", "createOrReplace of one"):
        p.spark.range(3).writeTo(name).using("delta").create()
    writer = p.spark.range(2).writeTo(name).using("delta").options(**OPTIONS)
    getattr(writer, kind.split(" ", maxsplit=1)[0])()
    properties(p, name)


@AREA.grid({f"{by}, {mode}": (by, mode) for by in BY for mode in ("append", "complete")}, long=True)
def options_of_a_stream(p: Player, case: tuple[str, str]) -> None:
    by, mode = case
    p.sql("CREATE TABLE {u} (id INT) USING delta", "INSERT INTO {u} VALUES (1)")
    rows = p.spark.readStream.format("delta").load(f"{p.at}/u")
    rows = rows.groupBy().count() if mode == "complete" else rows
    writer = rows.writeStream.format("delta").outputMode(mode).options(**OPTIONS)
    writer = writer.option("checkpointLocation", f"{p.at}/checkpoint").trigger(availableNow=True)
    query = writer.start(p.path) if by == "path" else writer.toTable(p.name)
    query.awaitTermination()
    properties(p, place(p, by))


@AREA.grid({f"{by}, {kind}": (by, kind) for by in BY for kind in KINDS if (by, kind) != ("path", KINDS[3])})
def properties_of_the_builder(p: Player, case: tuple[str, str]) -> None:
    by, kind = case
    if kind in ("replace", "createOrReplace of one"):
        p.sql(f"CREATE TABLE {place(p, by)} (bar STRING) USING delta")
    builder = getattr(p.tables, kind.split(" ", maxsplit=1)[0])(p.spark).addColumn("foo", "STRING")
    for name, value in OPTIONS.items():
        builder = builder.property(name, value)
    (builder.location(p.path) if by == "path" else builder.tableName(p.name)).execute()
    properties(p, place(p, by))


GIVEN = {
    "options": f"OPTIONS ('{PLAIN}' = 33, '{DELTA}' = 'interval 2 weeks')",
    "properties": "TBLPROPERTIES ('logRetentionDuration' = 'interval 60 days', 'delta.checkpointInterval' = 20)",
}
GIVEN["both"] = f"{GIVEN['options']} {{place}} {GIVEN['properties']}"


@AREA.grid(
    {
        f"{by}, {given}, {kind}{', AS' if query else ''}": (by, given, kind, query)
        for by in BY
        for given in GIVEN
        for kind in KINDS
        for query in (False, True)
        # that one stores each option twice
        if not (given != "properties" and kind == "create" and not query)
    },
    long=True,
)
def settings_of_statements(p: Player, case: tuple[str, str, str, bool]) -> None:
    by, given, kind, query = case
    where = "LOCATION '{at}/t'" if by == "path" else ""
    if kind in ("replace", "createOrReplace of one"):
        p.sql(f"CREATE TABLE {{name}} (ID INT) USING delta {where}")
    clause = {"create": "CREATE", "replace": "REPLACE"}.get(kind, "CREATE OR REPLACE")
    text = GIVEN[given] if given == "both" else f"{GIVEN[given]} {{place}}"
    if given == "properties":
        text = f"{{place}} {GIVEN[given]}"
    text = text.replace("{place}", where)
    columns, rows = ("", "AS SELECT 1 AS id") if query else ("(id INT)", "")
    p.attempt(f"{clause} TABLE {{name}} {columns} USING delta {text} {rows}")
    properties(p, "{name}")


@AREA.situation()
def options_are_not_properties_of_the_catalog(p: Player) -> None:
    options = {"mergeSchema": "true", "delta.appendOnly": "true"}
    p.spark.range(2).write.format("delta").option("path", p.path).options(**options).saveAsTable(p.name)
    properties(p, "{name}")
    found = p.sql("SHOW TBLPROPERTIES {name}").collect()
    p.tell(sorted(row.key for row in found if row.key in (*options, "key")))
    p.end()
    writer = p.spark.range(2).writeTo(p.name).using("delta").option("path", f"{p.at}/u").options(**options)
    writer.tableProperty("key", "value").create()
    properties(p, "{name}")
    found = p.sql("SHOW TBLPROPERTIES {name}").collect()
    p.tell(sorted(row.key for row in found if row.key in (*options, "key")))
    p.rows("SELECT * FROM {name}")


# -- writeTo

TRANSFORMS: dict[str, Callable[[], Any]] = {
    "years": lambda: f.years("ts"),
    "months": lambda: f.months("ts"),
    "days": lambda: f.days("ts"),
    "hours": lambda: f.hours("ts"),
    "bucket": lambda: f.bucket(4, "id"),
}


@AREA.grid(TRANSFORMS)
def partitions_by_transforms(p: Player, transform: Callable[[], Any]) -> None:
    rows = p.sql("SELECT 1L AS id, TIMESTAMP '2019-06-01 10:00:00' AS ts")
    p.attempt(lambda: rows.writeTo(p.name).using("delta").partitionedBy(transform()).create())


@AREA.situation()
def rows_of_a_frame_without_rows(p: Player) -> None:
    none = p.sql(ROWS).where("false")
    none.writeTo(p.name).using("delta").create()
    p.rows("SELECT * FROM {name}")
    p.schema("SELECT * FROM {name}")
    p.commit("{name}")
    p.sql(ROWS).writeTo(p.name).append()
    p.sql("SELECT 2L AS id, 'b' AS data, true AS even").where("false").writeTo(p.name).using(
        "delta"
    ).replace()
    p.rows("SELECT * FROM {name}")
    p.schema("SELECT * FROM {name}")
    p.commit("{name}")


OVERWRITTEN: dict[str, Callable[[Any], Any]] = {
    "a column joins": lambda df: df.withColumn("id2", f.col("id") + 1).writeTo,
    "no partitions": lambda df: df.writeTo,
}


@AREA.grid(
    {f"{kind}, {what}": (kind, what) for kind in ("replace", "createOrReplace") for what in OVERWRITTEN}
)
def the_schema_is_not_to_be_overwritten(p: Player, case: tuple[str, str]) -> None:
    kind, what = case
    p.sql("CREATE TABLE {name} (id BIGINT, data STRING) USING delta PARTITIONED BY (id)")
    p.sql("INSERT INTO {name} VALUES (1, 'a')")
    writer = OVERWRITTEN[what](p.sql(ROWS))(p.name).using("delta").option("overwriteSchema", "false")
    writer = writer.partitionedBy(f.col("id")) if what == "a column joins" else writer
    p.attempt(getattr(writer, kind))
    p.rows("SELECT * FROM {name}")


NARROW: dict[str, Callable[[Player, Any], Any]] = {
    "saveAsTable append": lambda p, df: df.write.mode("append").format("delta").saveAsTable(p.name),
    "append": lambda p, df: df.writeTo(p.name).append(),
    "overwrite": lambda p, df: df.writeTo(p.name).overwrite(f.col("p") == 1),
    "overwritePartitions": lambda p, df: df.writeTo(p.name).overwritePartitions(),
    "insertInto": lambda p, df: df.write.insertInto(p.name),
}


@AREA.grid(NARROW)
def narrower_values_are_cast(p: Player, write: Callable[[Player, Any], Any]) -> None:
    p.sql("CREATE TABLE {name} (id BIGINT, p INT) USING delta PARTITIONED BY (p)")
    p.attempt(lambda: write(p, p.sql("SELECT 1 AS id, 1 AS p")))
    p.rows("SELECT * FROM {name}")
    p.schema("SELECT * FROM {name}")


@AREA.situation(
    differs="a value of a narrower type is cast, as for append and `writeTo`: the table keeps its type"
)
def an_overwrite_by_save_as_table_casts(p: Player) -> None:
    p.sql("CREATE TABLE {name} (id BIGINT, p INT) USING delta PARTITIONED BY (p)")
    rows = p.sql("SELECT 1 AS id, 1 AS p")
    p.attempt(lambda: rows.write.mode("overwrite").format("delta").saveAsTable(p.name))
    p.schema("SELECT * FROM {name}")


@AREA.situation()
def columns_are_left_out(p: Player) -> None:
    p.sql("CREATE TABLE {name} (c1 INT, c2 INT, c3 INT) USING delta PARTITIONED BY (c3)")
    p.sql("SELECT 0 AS c1, 10 AS c3").writeTo(p.name).append()
    p.sql("SELECT 1 AS c1, 11 AS c3").writeTo(p.name).overwrite(f.col("c3") == 11)
    p.rows("SELECT * FROM {name}")
    p.sql("SELECT 2 AS c1, 10 AS c3").writeTo(p.name).overwritePartitions()
    p.rows("SELECT * FROM {name}")


# -- rows without a partition column of the table

LACKING: dict[str, Callable[[Player, Any], Any]] = {
    "append": lambda p, df: df.write.format("delta").mode("append").save(p.path),
    "overwrite": lambda p, df: df.write.format("delta").mode("overwrite").save(p.path),
    "dynamic": lambda p, df: (
        df.write.format("delta").mode("overwrite").option("partitionOverwriteMode", "dynamic").save(p.path)
    ),
    "replaceWhere": lambda p, df: (
        df.write.format("delta").mode("overwrite").option("replaceWhere", "id = 1").save(p.path)
    ),
    "mergeSchema": lambda p, df: (
        df.write.format("delta").mode("append").option("mergeSchema", "true").save(p.path)
    ),
    "overwriteSchema": lambda p, df: (
        df.write.format("delta").mode("overwrite").option("overwriteSchema", "true").save(p.path)
    ),
    "saveAsTable append": lambda p, df: df.write.format("delta").mode("append").saveAsTable(p.text("{t}")),
    "saveAsTable overwrite": lambda p, df: (
        df.write.format("delta").mode("overwrite").saveAsTable(p.text("{t}"))
    ),
    "writeTo": lambda p, df: df.writeTo(p.text("{t}")).append(),
    "only partition columns": lambda p, df: (
        p.sql("SELECT 1 AS p, 2 AS q").write.format("delta").mode("append").save(p.path)
    ),
    "in other case": lambda p, df: (
        p.sql("SELECT 7 AS ID, 1 AS P, 2 AS Q").write.format("delta").mode("append").save(p.path)
    ),
    "INSERT": lambda p, df: p.sql("INSERT INTO {t} (id, p) VALUES (7, 1)"),
}


@AREA.grid(
    LACKING,
    "CREATE TABLE {t} (id INT, n INT, p INT, q INT) USING delta PARTITIONED BY (p, q)",
    "INSERT INTO {t} VALUES (1, 1, 1, 1)",
)
def rows_without_a_partition_column(p: Player, write: Callable[[Player, Any], Any]) -> None:
    p.attempt(lambda: write(p, p.sql("SELECT 7 AS id, 1 AS p")))
    p.rows()


@AREA.situation()
def a_stream_without_a_partition_column(p: Player) -> None:
    p.sql(
        "CREATE TABLE {u} (id INT, p INT) USING delta PARTITIONED BY (p)",
        "CREATE TABLE {t} (id INT) USING delta",
    )
    p.sql("INSERT INTO {t} VALUES (1)")
    p.attempt(p.stream)
    p.rows("SELECT * FROM {u}")


@AREA.grid(
    {"a generated one": "GENERATED ALWAYS AS (id + 1)", "one with a default": "DEFAULT 7"},
    long=True,
)
def a_partition_column_that_the_table_fills(p: Player, how: str) -> None:
    feature = "TBLPROPERTIES ('delta.feature.allowColumnDefaults' = 'supported')"
    p.sql(f"CREATE TABLE {{t}} (id INT, p INT {how}) USING delta PARTITIONED BY (p) {feature}")
    p.attempt(lambda: p.write("SELECT 1 AS id"))
    p.rows()


# -- places and names


@AREA.situation()
def another_place(p: Player) -> None:
    """`saveAsTable` of a table that is there, with a path of its own."""

    def save(rows: str, mode: str, path: str | None) -> None:
        writer = p.sql(rows).write.format("delta").mode(mode)
        (writer if path is None else writer.option("path", path)).saveAsTable(p.name)

    save(ROWS, "overwrite", p.path)
    p.attempt(lambda: save("SELECT 2L AS id, 'b' AS data", "append", None))
    p.attempt(lambda: save("SELECT 3L AS id, 'c' AS data", "append", p.path))
    p.attempt(lambda: save("SELECT 4L AS id, 'd' AS data", "overwrite", f"{p.at}/u"))
    p.tell(Path(p.at, "u").exists())
    p.rows("SELECT * FROM {name}")


@AREA.situation()
def an_overwrite_keeps_the_place(p: Player) -> None:
    p.sql("CREATE TABLE {name} USING delta LOCATION '{at}/t' AS SELECT 1 AS a")
    rows = p.sql("SELECT 2 AS a, 'key' AS b")
    rows.write.mode("overwrite").option("overwriteSchema", "true").format("delta").saveAsTable(p.name)
    p.commit()
    p.rows()
    p.rows("SELECT * FROM {name}")


@AREA.grid({"blank": "a b", "colon": "a:b", "percent": "a%b", "hash": "a#b", "escaped": "a%3Ab"})
def names_of_places(p: Player, folder: str) -> None:
    where = f"{p.at}/{folder}"
    p.attempt(
        f"CREATE TABLE {{name}} (a STRING, b STRING) USING delta PARTITIONED BY (b) LOCATION '{where}'",
        "INSERT INTO {name} SELECT '1', '2'",
        "INSERT INTO {name} SELECT '1', '2017-03-03 12:13%3A14'",
        "DELETE FROM {name} WHERE b = '2'",
    )
    p.answers("SELECT * FROM {name}")
    p.tell(Path(where, "_delta_log").exists())
    if Path(where).is_dir():
        p.tell(sorted(entry.name for entry in Path(where).iterdir() if entry.name[0] not in "._"))


@AREA.situation()
def lengths_at_the_same_place(p: Player) -> None:
    p.sql("CREATE TABLE {name} (id STRING, c VARCHAR(12)) USING delta LOCATION '{at}/t'")
    p.sql("INSERT INTO {name} VALUES ('1', 'RED')")
    p.attempt("CREATE TABLE {name}_2 (id STRING, c VARCHAR(12)) USING delta LOCATION '{at}/t'")
    p.rows("SELECT * FROM {name}_2")
    p.sql("DROP TABLE {name}_2")


@AREA.situation()
def versions_of_the_protocol_are_not_compared(p: Player) -> None:
    versions = "'delta.minReaderVersion' = '2', 'delta.minWriterVersion' = '5'"
    text = f"TBLPROPERTIES ('delta.columnMapping.mode' = 'name', {versions})"
    for name in ("{name}", "{name}_2"):
        p.attempt(f"CREATE TABLE {name} (id INT, val STRING) USING delta LOCATION '{{at}}/t' {text}")
    p.tell(p.sql("DESCRIBE HISTORY {t}").count())
    p.sql("DROP TABLE {name}_2")


@AREA.situation()
def two_places(p: Player) -> None:
    p.attempt("CREATE TABLE {t} (id BIGINT) USING delta LOCATION '{at}/u'")
    p.attempt("CREATE TABLE {t} (id BIGINT) USING delta LOCATION '{at}/t'")
    p.tell([Path(p.at, name, "_delta_log").exists() for name in "tu"])


SPECIAL = {"backquote": "a``b", "dot": "x.x", "colon": "a:b", "percent": "a%b", "umlaut": "ä", "hash": "#a"}


@AREA.grid(
    {f"{name}, {by}": (text, by) for name, text in SPECIAL.items() for by in ("data", "partition")}, long=True
)
def names_of_columns(p: Player, case: tuple[str, str]) -> None:
    name, by = case
    parts = "" if by == "data" else f"PARTITIONED BY (`{name}`)"
    p.sql(f"CREATE TABLE {{name}} (`{name}` INT, n INT) USING delta {parts}")
    p.attempt(f"INSERT INTO {{name}} (n, `{name}`) VALUES (2, 1)")
    rows = p.sql("SELECT * FROM {name}")
    p.attempt(lambda: rows.write.format("delta").mode("append").saveAsTable(p.name))
    p.attempt(f"UPDATE {{name}} SET n = 3 WHERE `{name}` = 1")
    p.rows("SELECT * FROM {name}")


@AREA.situation()
def columns_that_differ_by_case(p: Player) -> None:
    p.conf("spark.sql.caseSensitive", "true")
    p.attempt(
        "CREATE TABLE {name} USING delta LOCATION '{at}/t' AS SELECT 1 AS a, 2 AS A",
        "CREATE TABLE {name} (a STRING, b STRING) USING delta PARTITIONED BY (a, a) LOCATION '{at}/t'",
    )
    p.tell(Path(p.path, "_delta_log").exists())


# -- the builder and LIKE


@AREA.situation()
def what_the_builder_refuses(p: Player) -> None:
    def made(**how: Any) -> Callable[[], Any]:
        def make() -> Any:
            builder = p.tables.create(p.spark).addColumn("c1", "INT")
            for name, value in how.items():
                builder = getattr(builder, name)(value)
            return builder.execute()

        return make

    p.attempt(
        made(tableName=p.name, partitionedBy="c2"),
        made(tableName=p.text("parquet.`{at}/p`"), location=p.path),
        made(tableName=p.name, clusterBy="c1", partitionedBy="c1"),
        made(tableName=p.name, clusterBy="c2"),
        made(tableName=p.text("{t}"), location=f"{p.at}/u"),
        made(tableName=p.text("{t}"), location=p.path),
    )
    p.tell([Path(p.at, name, "_delta_log").exists() for name in "tup"])


@AREA.grid({"CREATE": "create", "ALTER": "alter", "builder": "builder"})
def cases_of_properties(p: Player, how: str) -> None:
    text = "TBLPROPERTIES ('delta.appendOnly' = 'true', 'Foo' = 'Bar', 'foo' = 'Bar')"
    if how == "create":
        p.sql(f"CREATE TABLE {{t}} (id INT) USING delta {text}")
    elif how == "alter":
        p.sql("CREATE TABLE {t} (id INT) USING delta", f"ALTER TABLE {{t}} SET {text}")
    else:
        builder = p.tables.create(p.spark).location(p.path).addColumn("id", "INT")
        builder = builder.property("delta.appendOnly", "true").property("Foo", "Bar").property("foo", "Bar")
        builder.execute()
    properties(p)


@AREA.situation()
def in_a_database_that_is_called_delta(p: Player) -> None:
    p.sql("CREATE DATABASE IF NOT EXISTS delta")
    name = f"delta.{p.name}"
    try:
        p.sql(
            f"CREATE TABLE {name} (id INT, s STRUCT<a: INT>) USING delta",
            f"INSERT INTO {name} SELECT 1, struct(2)",
        )
        p.rows(f"SELECT * FROM {name}")
        p.answers(f"DESCRIBE {name} id", f"SHOW COLUMNS IN {name}", f"SELECT * FROM delta.`{p.at}/none`")
        p.attempt(f"ALTER TABLE {name} SET TBLPROPERTIES ('k' = 'v')", f"DESCRIBE {name} none")
        p.sql("CREATE TABLE {t} (id INT) USING delta", "INSERT INTO {t} VALUES (5)")
        p.rows("SELECT * FROM {t}")
    finally:
        p.sql(f"DROP TABLE IF EXISTS {name}", "DROP DATABASE delta")


# -- tables without columns


@AREA.situation()
def what_has_no_columns(p: Player) -> None:
    empty = p.spark.createDataFrame([], StructType([]))
    empty.createOrReplaceTempView("empty_frame")
    p.attempt(
        "CREATE OR REPLACE TABLE {name} USING delta",
        "CREATE TABLE {name} USING delta AS SELECT * FROM empty_frame",
        lambda: empty.write.format("delta").saveAsTable(p.name),
        lambda: empty.writeTo(p.name).using("delta").create(),
        lambda: p.tables.createOrReplace(p.spark).tableName(p.name).execute(),
        lambda: p.tables.replace(p.spark).tableName(p.name).execute(),
    )
    p.sql("DROP VIEW empty_frame")


@AREA.situation(differs="a table without columns cannot be read by anyone: it is refused where it is made")
def a_table_without_columns(p: Player) -> None:
    p.attempt(
        "CREATE TABLE {name} USING delta",
        "SELECT * FROM {name}",
        "INSERT INTO {name} VALUES (1, 2)",
        "OPTIMIZE {name}",
        "ALTER TABLE {name} ADD COLUMN (id BIGINT)",
        "INSERT INTO {name} VALUES (1)",
    )


# -- what differs of settings


@AREA.grid(
    {"options": GIVEN["options"], "both": GIVEN["both"].replace("{place}", "")},
    differs="options of CREATE TABLE are the catalog's alone",
)
def options_of_create(p: Player, given: str) -> None:
    p.sql(f"CREATE TABLE {{name}} (id INT) USING delta {given}")
    properties(p, "{name}")


@AREA.situation(differs="a table is replaced by path as by name")
def the_builder_replaces_other_columns_by_path(p: Player) -> None:
    p.sql("CREATE TABLE {t} (bar STRING) USING delta")
    builder = p.tables.createOrReplace(p.spark).addColumn("foo", "STRING").location(p.path)
    p.attempt(builder.execute)
    p.tell(p.read().columns)
