"""Tables that are made by DataFrames and by name: APIs, places, names, and what becomes a property."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from playing import Area
from pyspark.sql import functions as F  # noqa: N812 (its usual name)

if TYPE_CHECKING:
    from collections.abc import Callable

    from playing import Player

AREA = Area("saved_tables")

AT = "CREATE TABLE {name} (id BIGINT, n INT) USING delta LOCATION '{at}/t'"


def saved(p: Player, rows: str, mode: str, **options: Any) -> None:
    p.sql(rows).write.format("delta").mode(mode).options(**options).saveAsTable(p.name)


@AREA.situation(long=True)
def what_is_no_table_of_ours(p: Player) -> None:
    """A view, a Parquet table, no path."""
    rows = "SELECT 2L AS id"
    p.sql("CREATE VIEW {name} AS SELECT 1L AS id")
    doors: tuple[Callable[[], Any], ...] = (
        lambda: saved(p, rows, "append"),
        lambda: saved(p, rows, "overwrite"),
        lambda: p.sql(rows).write.insertInto(p.name),
        lambda: p.sql(rows).writeTo(p.name).append(),
    )
    p.attempt(*doors)
    p.end()
    p.sql("CREATE TABLE {name} (id BIGINT) USING parquet LOCATION '{at}/parquet'")
    p.attempt(*doors[:2])
    p.attempt(lambda: p.sql(rows).write.format("delta").save())


@AREA.situation(long=True)
def folders_at_random(p: Player) -> None:
    """`delta.randomizeFilePrefixes`, with partitions and without."""
    for by in p.each(("", "PARTITIONED BY (n)")):
        p.sql(
            f"CREATE TABLE {{t}} (id INT, n INT) USING delta {by} TBLPROPERTIES"
            " ('delta.randomizeFilePrefixes' = 'true', 'delta.randomPrefixLength' = '3')"
        )
        p.sql("INSERT INTO {t} VALUES (1, 1), (2, 2)")
        p.tell(sorted({len(a["add"]["path"].split("/")[0]) for a in p.actions() if "add" in a}))
        p.sql("DELETE FROM {t} WHERE id = 1")
        p.attempt("VACUUM {t}")
        p.rows()


@AREA.situation(long=True)
def descriptions_of_a_column(p: Player) -> None:
    p.sql("CREATE TABLE {name} (a INT COMMENT 'the a', s STRUCT<b: INT>) USING delta LOCATION '{at}/t'")
    p.answers("DESCRIBE {name} a", "DESCRIBE {name} s.b", "DESCRIBE {name} x", "SHOW COLUMNS IN {name}")
    p.answers("DESCRIBE {t}", "DESCRIBE {t} a", "SHOW COLUMNS IN {t}", "SHOW TBLPROPERTIES {t}")


@AREA.situation(long=True)
def another_name(p: Player) -> None:
    """A frame of a name that is no more."""
    p.sql(AT, "INSERT INTO {name} VALUES (1, 1)")
    frame = p.spark.table(p.name)
    p.sql("ALTER TABLE {name} RENAME TO {name}_2")
    p.answers(lambda: frame, "SELECT * FROM {name}_2", "SELECT * FROM {name}")
    p.sql("DROP TABLE {name}_2")
    p.answers("SELECT * FROM {name}_2", "SELECT * FROM {t}")


# -- a table that is replaced, with the word that its schema stays or goes

REPLACES = {
    "the same columns": ("SELECT 2L AS id, 2 AS n", ()),
    "another partitioning": ("SELECT 2L AS id, 2 AS n", ("n",)),
    "another type": ("SELECT 2 AS id, 2 AS n", ()),
    "other columns": ("SELECT 2L AS other", ()),
}
KINDS = {
    "a table": "CREATE TABLE {name} (id BIGINT, n INT) USING delta LOCATION '{at}/t'",
    "partitions": "CREATE TABLE {name} (id BIGINT, n INT) USING delta PARTITIONED BY (n) LOCATION '{at}/t'",
    "a path": "CREATE TABLE {t} (id BIGINT, n INT) USING delta",
    "nothing": None,
    "no path": None,
}


@AREA.family(
    {
        f"{method}, {said}, {kind}": (method, said, kind)
        for method in ("replace", "createOrReplace")
        for said in ("false", "true")
        for kind in KINDS
    },
    quick={
        f"{method}, false, {kind}"
        for method in ("replace", "createOrReplace")
        for kind in ("a table", "nothing")
    },
)
def the_schema_of_a_table_that_is_replaced(p: Player, case: tuple[str, str, str]) -> None:
    """`overwriteSchema` of `writeTo`."""
    method, said, kind = case
    table = "{t}" if "path" in kind else "{name}"
    for name, (rows, by) in REPLACES.items():
        p.tell({"case": name})
        one = p.beside()
        made = KINDS[kind]
        if made is not None:
            one.sql(made, f"INSERT INTO {table} VALUES (1, 1)")
        writer = one.sql(rows).writeTo(one.text(table)).using("delta").option("overwriteSchema", said)
        writer = writer.partitionedBy(*by) if by else writer
        one.attempt(getattr(writer, method))
        one.answers(f"SELECT * FROM {table}")
        if "rows" in one.reported[-1]:
            one.schema(f"SELECT * FROM {table}")
            last = one.sql(f"DESCRIBE HISTORY {table}").first()
            one.tell(
                [last.version, last.operation, one.sql(f"DESCRIBE DETAIL {table}").first().partitionColumns]
            )
        one.end()


@AREA.situation()
def a_table_that_an_overwrite_makes_keeps_its_schema(p: Player) -> None:
    """`overwriteSchema` = false of `saveAsTable`, of nothing and of what is there, and of OPTIONS."""
    for rows in ("SELECT 2L AS id, 2 AS n", "SELECT 3L AS id, 3 AS n", "SELECT 4L AS other"):
        p.attempt(lambda rows=rows: saved(p, rows, "overwrite", overwriteSchema="false"))
        p.answers("SELECT * FROM {name}")
    for clause in ("REPLACE", "CREATE OR REPLACE"):
        p.attempt(
            f"{clause} TABLE {{name}} USING delta OPTIONS ('overwriteSchema' = 'false') AS SELECT 5L AS id"
        )
        p.answers("SELECT * FROM {name}")


# -- values and names that do not fit


NARROWER: dict[str, Callable[[Player, str], Any]] = {
    "saveAsTable, append": lambda p, rows: saved(p, rows, "append"),
    "writeTo, append": lambda p, rows: p.sql(rows).writeTo(p.name).append(),
    "writeTo, overwritePartitions": lambda p, rows: p.sql(rows).writeTo(p.name).overwritePartitions(),
}
NOT_FITTED: dict[str, Callable[[Player, str], Any]] = {
    "saveAsTable, overwrite": lambda p, rows: saved(p, rows, "overwrite"),
    "save, overwrite": lambda p, rows: p.write(rows, mode="overwrite"),
}


def stored(p: Player, doors: dict[str, Callable[[Player, str], Any]], *columns: str) -> None:
    p.sql("CREATE TABLE {name} (id BIGINT, x DOUBLE) USING delta LOCATION '{at}/t'")
    for name, door in doors.items():
        for rows in columns:
            p.tell([name, rows])
            p.attempt(lambda door=door, rows=rows: door(p, f"SELECT {rows}"))
            p.rows("SELECT * FROM {name}")
    p.schema("SELECT * FROM {name}")


@AREA.situation(long=True)
def values_of_a_narrower_type(p: Player) -> None:
    stored(p, NARROWER, "CAST(2 AS INT) AS id, 1D AS x", "2L AS id, CAST(1 AS FLOAT) AS x")


@AREA.situation(differs="values that fit into a wider type of the table are stored", long=True)
def an_overwrite_with_a_narrower_type(p: Player) -> None:
    stored(p, NOT_FITTED, "CAST(2 AS INT) AS id, 1D AS x", "2L AS id, CAST(1 AS FLOAT) AS x")


@AREA.situation(long=True)
def an_overwrite_with_a_type_that_does_not_fit(p: Player) -> None:
    stored(p, NOT_FITTED, "'2' AS id, 1D AS x", "2L AS id, true AS x", "2L AS id, array(1D) AS x")


@AREA.situation()
def a_table_without_columns(p: Player) -> None:
    p.attempt("CREATE TABLE {t} USING delta")
    p.attempt("INSERT INTO {t} VALUES (1)", "UPDATE {t} SET id = 1", "DELETE FROM {t}", "OPTIMIZE {t}")
    p.attempt("SELECT * FROM {t}", "SELECT count(*) FROM {t}", "SELECT 1 FROM {t}", "TRUNCATE TABLE {t}")
    p.attempt(lambda: p.table().toDF().count(), lambda: p.stream(), "DESCRIBE {t}", "SHOW COLUMNS IN {t}")
    p.attempt(lambda: p.write("SELECT 1L AS id"), "ALTER TABLE {t} ADD COLUMN id BIGINT")
    p.answers("SELECT * FROM {t}")


MERGE = "INTO {t} t USING (SELECT 1 AS id, 'a' AS b) s ON false WHEN NOT MATCHED THEN INSERT *"
FIRST_COLUMNS: dict[str, Callable[[Player], Any] | str] = {
    "ADD COLUMNS": "ALTER TABLE {t} ADD COLUMNS (id INT, b STRING)",
    "merge, evolving": f"MERGE WITH SCHEMA EVOLUTION {MERGE}",
    "merge": f"MERGE {MERGE}",
    "append": lambda p: p.write("SELECT 1 AS id"),
    "append, mergeSchema": lambda p: p.write("SELECT 1 AS id", mergeSchema="true"),
    "overwrite": lambda p: p.write("SELECT 1 AS id", mode="overwrite"),
    "overwrite, overwriteSchema": lambda p: p.write(
        "SELECT 1 AS id", mode="overwrite", overwriteSchema="true"
    ),
    "INSERT": "INSERT INTO {t} SELECT 1 AS id",
    "replaced by rows": "CREATE OR REPLACE TABLE {t} USING delta AS SELECT 1 AS id",
}


@AREA.grid(FIRST_COLUMNS, "CREATE TABLE {t} USING delta TBLPROPERTIES ('k' = 'v')")
def columns_that_come_later(p: Player, given: Callable[[Player], Any] | str) -> None:
    p.attempt(given if isinstance(given, str) else lambda: given(p))
    p.attempt("SELECT * FROM {t}")
    p.schema()


@AREA.situation(differs="a table without columns is replaced as any other", long=True)
def a_replacement_that_has_columns(p: Player) -> None:
    p.sql("CREATE TABLE {t} USING delta")
    p.attempt("CREATE OR REPLACE TABLE {t} (id INT) USING delta")
    p.schema()


@AREA.situation(long=True)
def a_name_without_columns(p: Player) -> None:
    """By each of the ways to make a table."""
    builders = (p.tables.create, p.tables.createIfNotExists, p.tables.createOrReplace, p.tables.replace)
    for builder in builders:
        p.attempt(lambda builder=builder: builder(p.spark).location(f"{p.at}/{builder.__name__}").execute())
    for builder in builders:
        p.attempt(lambda builder=builder: builder(p.spark).tableName(p.name).execute())
    p.attempt("CREATE TABLE IF NOT EXISTS {name} USING delta", "REPLACE TABLE {name} USING delta")
    p.attempt("CREATE TABLE {name} USING delta", "CREATE OR REPLACE TABLE {u} USING delta")
    p.attempt("CREATE TABLE {t} USING delta PARTITIONED BY (id)")
    p.attempt("CREATE TABLE {t} USING delta LOCATION '{at}/elsewhere'")


@AREA.situation(long=True)
def rows_without_columns(p: Player) -> None:
    none = p.spark.range(1).select()
    p.attempt(lambda: p.write(none), lambda: none.write.format("delta").saveAsTable(p.name))
    p.attempt(lambda: none.writeTo(p.name).using("delta").create())
    p.sql("CREATE TABLE {t} (id INT) USING delta", "INSERT INTO {t} VALUES (7)")
    p.attempt(lambda: p.write(none, mode="overwrite", overwriteSchema="true"))
    p.rows()


@AREA.situation(long=True)
def rows_without_columns_for_a_table(p: Player) -> None:
    none = p.spark.range(1).select()
    p.sql("CREATE TABLE {t} (id INT) USING delta", "INSERT INTO {t} VALUES (7)")
    p.attempt(lambda: p.write(none), lambda: p.write(none, mergeSchema="true"))
    p.rows()
    p.attempt(lambda: p.write(none, mode="overwrite"))
    p.rows()


# -- types that the protocol does not have

COLLATED = "s STRING COLLATE UTF8_LCASE"
UNSUPPORTED: dict[str, Callable[[Player], Any] | str] = {
    "CREATE": f"CREATE TABLE {{u}} ({COLLATED}) USING delta",
    "CREATE, nested": f"CREATE TABLE {{u}} (a ARRAY<STRUCT<{COLLATED.replace(' ', ': ', 1)}>>) USING delta",
    "CREATE, interval": "CREATE TABLE {u} (i INTERVAL DAY TO SECOND) USING delta",
    "AS SELECT": "CREATE TABLE {u} USING delta AS SELECT 'a' COLLATE UTF8_LCASE AS s",
    "ADD COLUMN": f"ALTER TABLE {{t}} ADD COLUMN {COLLATED}",
    "ADD COLUMN, interval": "ALTER TABLE {t} ADD COLUMN i INTERVAL YEAR TO MONTH",
    "save": lambda p: p.write("SELECT 'a' COLLATE UTF8_LCASE AS s", path=f"{p.at}/u"),
    "mergeSchema": lambda p: p.write("SELECT 'a' COLLATE UTF8_LCASE AS s", mergeSchema="true"),
    "INSERT": "INSERT INTO {t} SELECT 'a' COLLATE UTF8_LCASE AS t",
}


@AREA.grid(UNSUPPORTED, "CREATE TABLE {t} (t STRING) USING delta")
def columns_of_unsupported_types(p: Player, given: Callable[[Player], Any] | str) -> None:
    p.attempt(given if isinstance(given, str) else lambda: given(p))
    p.schema()
    p.rows()


@AREA.situation(differs="text is stored as text, as by INSERT", long=True)
def collated_rows_of_a_frame(p: Player) -> None:
    p.sql("CREATE TABLE {t} (t STRING) USING delta")
    p.attempt(lambda: p.write("SELECT 'a' COLLATE UTF8_LCASE AS t"))
    p.rows()


# -- variants, among which are nulls

LITERALS = "SELECT 1 AS id, parse_json('{\"a\": 1}') AS v UNION ALL SELECT 2, NULL"
ROWS_OF_VARIANTS: dict[str, Callable[[Player], Any] | str] = {
    "INSERT": f"INSERT INTO {{t}} {LITERALS}",
    "VALUES": "INSERT INTO {t} VALUES (1, NULL), (2, parse_json('[1]'))",
    "nulls alone": "INSERT INTO {t} VALUES (1, NULL)",
    "append": lambda p: p.write(LITERALS),
    "some tasks": lambda p: p.write(
        p.spark.range(100).selectExpr("CAST(id AS INT) AS id", "IF(id % 2 = 0, parse_json('1'), NULL) AS v")
    ),
    "UPDATE": "UPDATE {t} SET v = NULL WHERE id = 7",
    "MERGE": f"MERGE INTO {{t}} t USING ({LITERALS}) s ON t.id = s.id + 5 WHEN MATCHED THEN UPDATE SET v = s.v"
    " WHEN NOT MATCHED THEN INSERT *",
}


@AREA.grid(
    ROWS_OF_VARIANTS,
    "CREATE TABLE {t} (id INT, v VARIANT) USING delta",
    "INSERT INTO {t} SELECT 7, parse_json('{}')",
)
def nulls_among_variants(p: Player, given: Callable[[Player], Any] | str) -> None:
    p.attempt(given if isinstance(given, str) else lambda: given(p))
    p.rows("SELECT id, to_json(v) AS v FROM {t}")


# -- what statements show


@AREA.situation(long=True)
def what_the_catalog_says_of_a_place(p: Player) -> None:
    """Whether the files are its own, by DESCRIBE."""
    for place in p.each(("", "LOCATION '{at}/there'")):
        p.sql(f"CREATE TABLE {{name}} (id INT) USING delta {place}")
        described = p.sql("DESCRIBE EXTENDED {name}").collect()
        p.tell([list(r)[:2] for r in described if r[0] in ("Type", "Is_managed_location")])
        p.sql("DROP TABLE {name}")


@AREA.situation(long=True)
def what_the_catalog_lists(p: Player) -> None:
    """By SHOW TABLE EXTENDED, of which tools read columns and comments."""

    def listed() -> None:
        (row,) = p.sql("SHOW TABLE EXTENDED LIKE '{name}'").collect()
        kept = ("Type:", "Provider:", "Comment:", "Schema:", " |--")
        p.tell([line for line in row.information.splitlines() if line.startswith(kept)])

    p.sql("CREATE TABLE {name} (id INT) USING delta COMMENT 'of it'")
    listed()
    p.sql("CREATE OR REPLACE TABLE {name} USING delta COMMENT 'other' AS SELECT 1 AS id, 'x' AS s")
    listed()
    p.sql("REPLACE TABLE {name} (a STRUCT<b: INT>) USING delta")
    listed()
    p.sql("ALTER TABLE {name} ADD COLUMN z INT")
    p.sql("INSERT INTO {name} VALUES (NULL, 1)")
    p.rows("SELECT * FROM {name}")
    listed()
    p.sql("SELECT 2L AS id").write.format("delta").mode("overwrite").option(
        "overwriteSchema", "true"
    ).saveAsTable(p.name)
    listed()


@AREA.situation(long=True)
def partitions_that_are_not_there(p: Player) -> None:
    p.sql("CREATE TABLE {t} (id INT, k STRING) USING delta")
    p.sql("CREATE TABLE {u} (id INT, k STRING) USING delta PARTITIONED BY (k)")
    p.attempt("SHOW PARTITIONS {t}", "SHOW PARTITIONS {u} PARTITION (id = 1)")


TWICE = {
    "CREATE": "CREATE TABLE {t} (a INT, A INT) USING delta",
    "CREATE OR REPLACE": "CREATE OR REPLACE TABLE {t} (a INT, A INT) USING delta",
    "AS SELECT": "CREATE TABLE {t} USING delta AS SELECT 1 AS a, 2 AS A",
    "CREATE OR REPLACE AS SELECT": "CREATE OR REPLACE TABLE {t} USING delta AS SELECT 1 AS a, 2 AS A",
    "nested": "CREATE TABLE {t} (s STRUCT<a: INT, A: INT>) USING delta",
}


@AREA.family(
    {sensitive: sensitive for sensitive in ("true", "false")},
    dict.fromkeys(
        ("true", "false"), "the condition: names that are there twice are ….DATA in deltaic, or have none"
    ),
    quick=(),
)
def columns_of_one_name(p: Player, sensitive: str) -> None:
    """`a` and `A`, by `spark.sql.caseSensitive`."""
    p.conf("spark.sql.caseSensitive", sensitive)
    p.attempt(*TWICE.values())
    p.attempt(lambda: p.write("SELECT 1 AS a, 2 AS A"))
    p.sql("CREATE TABLE {t} (a INT) USING delta")
    p.attempt(
        "ALTER TABLE {t} ADD COLUMN A INT",
        lambda: p.write("SELECT 1 AS a, 2 AS A", mergeSchema="true"),
        lambda: p.write("SELECT 1 AS a, 2 AS A", mode="overwrite", overwriteSchema="true"),
        "REPLACE TABLE {t} (a INT, A INT) USING delta",
    )
    p.schema()


GIVEN = {
    "delta.checkpointInterval": "11",
    "DELTA.appendonly": "false",
    "owner": "me",
    "logRetentionDuration": "interval 1 day",
}
NEW: dict[str, Any] = {
    **{
        mode: lambda p, df, mode=mode: df.write.format("delta").mode(mode).options(**GIVEN).save(p.path)
        for mode in ("append", "overwrite", "ignore")
    },
    "saveAsTable": lambda p, df: df.write.format("delta").options(**GIVEN).saveAsTable(p.name),
    "saveAsTable with a path": lambda p, df: (
        df.write.format("delta").mode("overwrite").options(**GIVEN).option("path", p.path).saveAsTable(p.name)
    ),
    "create": lambda p, df: df.writeTo(p.name).using("delta").options(**GIVEN).create(),
    "createOrReplace": lambda p, df: (
        df.writeTo(p.name)
        .using("delta")
        .options(**GIVEN)
        .tableProperty("delta.checkpointInterval", "12")
        .createOrReplace()
    ),
}


@AREA.grid(NEW)
def options_that_become_properties(p: Player, route: Callable[..., Any]) -> None:
    p.attempt(lambda: route(p, p.sql("SELECT 1 AS id")))
    by_name = p.spark.catalog.tableExists(p.name)
    p.detail("{name}" if by_name else "{t}")
    if by_name:
        p.answers("SHOW TBLPROPERTIES {name}")
        p.sql("DROP TABLE {name}")


@AREA.situation()
def layouts_that_no_table_has(p: Player) -> None:
    """Partitions by transforms, buckets, sorted files."""
    df = p.sql("SELECT 1 AS id, timestamp'2020-01-02 03:04:05' AS t")
    parts = [F.years("t"), F.months("t"), F.days("t"), F.hours("t"), F.bucket(4, "id")]
    p.attempt(*(lambda by=by: df.writeTo(p.name).using("delta").partitionedBy(by).create() for by in parts))
    p.attempt(lambda: df.writeTo(p.name).using("delta").partitionedBy(F.days("t")).createOrReplace())
    columns = "CREATE TABLE {name} (id INT, t TIMESTAMP) USING delta"
    p.attempt(f"{columns} PARTITIONED BY (months(t))", f"{columns} PARTITIONED BY (bucket(4, id))")
    p.attempt(f"{columns} CLUSTERED BY (id) INTO 4 BUCKETS")
    p.attempt(lambda: df.write.format("delta").bucketBy(2, "id").saveAsTable(p.name))
    p.attempt(lambda: df.write.format("delta").sortBy("id").saveAsTable(p.name))
    p.tell(p.spark.catalog.tableExists(p.name))


@AREA.situation()
def frames_without_rows_by_name(p: Player) -> None:
    empty = p.sql("SELECT 1 AS id WHERE false")
    empty.writeTo(p.name).using("delta").create()
    empty.writeTo(p.name).using("delta").createOrReplace()
    empty.writeTo(p.name).using("delta").replace()
    p.rows("SELECT * FROM {name}")
    p.schema("SELECT * FROM {name}")
    p.commit("{name}")


@AREA.situation()
def another_place_than_that_of_the_table(p: Player) -> None:
    p.sql(AT)
    for mode in ("append", "overwrite"):
        p.attempt(lambda mode=mode: saved(p, "SELECT 1L AS id, 2 AS n", mode, path=f"{p.at}/other"))
        p.attempt(lambda mode=mode: saved(p, "SELECT 1L AS id, 2 AS n", mode, path=p.path))
    p.rows()
