"""CLUSTER BY: the statements that set, change and take away clustering columns, and what copies and restores them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from playing import Area
from pyspark.sql.functions import expr, lit

if TYPE_CHECKING:
    from collections.abc import Callable

    from playing import Player

AREA = Area("clustering_statements")

PLACE = "USING delta LOCATION '{at}/t'"
PLAIN = "a INT, b STRING, ts TIMESTAMP"
NESTED = "a STRUCT<b: INT, c: STRING>, ts TIMESTAMP"


def columns(p: Player, of: str = "{t}") -> None:
    """Tells partitioning and clustering, and whether the table has the feature."""
    row = p.sql(f"DESCRIBE DETAIL {of}").first()
    p.tell([row.partitionColumns, row.clusteringColumns, "clustering" in row.tableFeatures])


# -- CREATE and REPLACE

FORMS = {
    "CREATE": ("", "CREATE TABLE {name} ({columns}) USING delta CLUSTER BY ({by})"),
    "CREATE AS": ("", "CREATE TABLE {name} USING delta CLUSTER BY ({by}) AS SELECT * FROM {u}"),
    "CREATE OR REPLACE": ("", "CREATE OR REPLACE TABLE {name} ({columns}) USING delta CLUSTER BY ({by})"),
    "CREATE OR REPLACE AS": (
        "",
        "CREATE OR REPLACE TABLE {name} USING delta CLUSTER BY ({by}) AS SELECT * FROM {u}",
    ),
    "REPLACE": (
        "CREATE TABLE {name} ({columns}) USING delta CLUSTER BY ({by})",
        "REPLACE TABLE {name} ({columns}) USING delta CLUSTER BY ({by})",
    ),
    "REPLACE AS": (
        "CREATE TABLE {name} ({columns}) USING delta CLUSTER BY ({by})",
        "REPLACE TABLE {name} USING delta CLUSTER BY ({by}) AS SELECT * FROM {u}",
    ),
    "REPLACE of one that is not clustered": (
        "CREATE TABLE {name} ({columns}) USING delta",
        "REPLACE TABLE {name} ({columns}) USING delta CLUSTER BY ({by})",
    ),
}


@AREA.grid(
    {
        f"{form}, {kind}": (*statements, defined, by)
        for form, statements in FORMS.items()
        for kind, defined, by in (("names", PLAIN, "a, b"), ("fields", NESTED, "a.b, ts"))
    },
    long=True,
)
def a_table_is_made(p: Player, case: tuple[str, str, str, str]) -> None:
    before, statement, defined, by = case
    p.sql(f"CREATE TABLE {{u}} ({defined}) USING delta")
    for text in (before, statement, statement):
        if text:
            p.attempt(text.replace("{columns}", defined).replace("{by}", by))
    columns(p, "{name}")


BEFORE = {
    "another column": "CREATE TABLE {name} (a INT) USING delta CLUSTER BY (a)",
    "partitions": "CREATE TABLE {name} USING delta PARTITIONED BY (i) AS SELECT 1 AS i, 'a' AS s",
}
AFTER = {
    "clustered": "{clause} TABLE {name} (i INT, s STRING) USING delta CLUSTER BY (i)",
    "clustered, AS": "{clause} TABLE {name} USING delta CLUSTER BY (i) AS SELECT * FROM {u}",
    "neither": "{clause} TABLE {name} (i INT, s STRING) USING delta",
    "neither, AS": "{clause} TABLE {name} USING delta AS SELECT * FROM {u}",
}


@AREA.grid(
    {
        f"{after}, {clause}, over {before}": (BEFORE[before], statement.replace("{clause}", clause))
        for before in BEFORE
        for after, statement in AFTER.items()
        for clause in ("REPLACE", "CREATE OR REPLACE")
    },
    long=True,
)
def a_table_is_replaced(p: Player, case: tuple[str, str]) -> None:
    p.sql("CREATE TABLE {u} (i INT, s STRING) USING delta", case[0])
    p.attempt(case[1])
    columns(p, "{name}")
    p.attempt("INSERT INTO {name} VALUES (1, 'x')")
    p.rows("SELECT * FROM {name}")


PARTITIONED = {
    "REPLACE": "REPLACE TABLE {name} (i INT, s STRING) USING delta PARTITIONED BY (i)",
    "CREATE OR REPLACE AS": "CREATE OR REPLACE TABLE {name} USING delta PARTITIONED BY (i) AS SELECT 1 AS i, 's' AS s",
}


@AREA.grid(PARTITIONED)
def no_partitions_for_a_clustered_table(p: Player, statement: str) -> None:
    p.sql(BEFORE["another column"])
    p.attempt(statement)
    columns(p, "{name}")


# -- what cannot be

FEW = "TBLPROPERTIES ('delta.dataSkippingNumIndexedCols' = '2')"
STATED = "col0 INT, col1 STRUCT<col11: INT, col12: STRING>, col2 INT"
LACKING = {
    "CREATE": f"CREATE TABLE {{name}} ({STATED}) USING delta CLUSTER BY ({{by}}) {FEW}",
    "CREATE AS": f"CREATE TABLE {{name}} USING delta CLUSTER BY ({{by}}) {FEW} AS SELECT * FROM {{u}}",
    "REPLACE": f"REPLACE TABLE {{name}} ({STATED}) USING delta CLUSTER BY ({{by}}) {FEW}",
    "REPLACE AS": f"REPLACE TABLE {{name}} USING delta CLUSTER BY ({{by}}) {FEW} AS SELECT * FROM {{u}}",
}


@AREA.grid(LACKING)
def columns_without_statistics(p: Player, statement: str) -> None:
    p.sql(f"CREATE TABLE {{u}} ({STATED}) USING delta {FEW}")
    if statement.startswith("REPLACE"):
        p.sql("CREATE TABLE {name} (x INT) USING delta")
    p.attempt(statement.replace("{by}", "col0, col1.col11, col1.col12, col2"))
    p.attempt(statement.replace("{by}", "col0, col1.col11"))
    columns(p, "{name}")


TYPES = {
    f"{name}, {clause}": (f"{clause} TABLE {{name}} ", by)
    for clause in ("CREATE", "REPLACE")
    for name, by in {
        "a struct": "a",
        "a boolean": "d",
        "a map": "e",
        "an array in a struct": "f.g",
        "a field": "a.b",
    }.items()
}


@AREA.grid(TYPES, long=True)
def types_of_columns(p: Player, case: tuple[str, str]) -> None:
    clause, by = case
    defined = "a STRUCT<b: INT, c: INT>, d BOOLEAN, e MAP<INT, INT>, f STRUCT<g: ARRAY<INT>>"
    p.sql(f"CREATE TABLE {{u}} ({defined}) USING delta")
    if clause.startswith("REPLACE"):
        p.sql("CREATE TABLE {name} (x INT) USING delta")
    p.attempt(f"{clause} ({defined}) USING delta CLUSTER BY ({by})")
    if clause.startswith("REPLACE"):
        p.attempt(f"{clause} USING delta CLUSTER BY ({by}) AS SELECT * FROM {{u}}")


WRONG = {
    "five columns": "CREATE TABLE {u} (a INT, b INT, c INT, d INT, e INT) USING delta CLUSTER BY (a, b, c, d, e)",
    "five columns, AS": "CREATE TABLE {u} USING delta CLUSTER BY (a, b, c, d, e) AS "
    "SELECT 1 AS a, 2 AS b, 3 AS c, 4 AS d, 5 AS e",
}
ABSENT = {
    "no column": "CREATE TABLE {u} (a INT) USING delta CLUSTER BY (zzz)",
    "no column, AS": "CREATE TABLE {u} USING delta CLUSTER BY (zzz) AS SELECT 1 AS a",
    "no column, REPLACE": "CREATE OR REPLACE TABLE {t} (a INT) USING delta CLUSTER BY (zzz)",
    "no field": "CREATE TABLE {u} (a STRUCT<b: INT>) USING delta CLUSTER BY (a.zzz)",
    "and partitions": "CREATE TABLE {u} (a INT, b INT) USING delta PARTITIONED BY (a) CLUSTER BY (b)",
}


@AREA.grid(
    ABSENT,
    "CREATE TABLE {t} (a INT, b INT) USING delta CLUSTER BY (a)",
    differs="the error says which column is not there, where delta-spark speaks of partitions by nested columns",
)
def columns_that_are_not_there(p: Player, statement: str) -> None:
    p.attempt(statement)


@AREA.grid(WRONG, "CREATE TABLE {t} (a INT, b INT) USING delta CLUSTER BY (a)")
def tables_that_cannot_be(p: Player, statement: str) -> None:
    p.attempt(statement)


# -- ALTER


@AREA.grid(
    {
        "NONE": "ALTER TABLE {t} CLUSTER BY NONE",
        "a column": "ALTER TABLE {t} CLUSTER BY (a)",
        "FULL": "OPTIMIZE {t} FULL",
    },
    "CREATE TABLE {t} (a INT) USING delta",
)
def a_table_that_is_not_clustered(p: Player, statement: str) -> None:
    p.attempt(statement)
    columns(p)
    p.commit()


@AREA.grid(
    {"a column": "ALTER TABLE {t} CLUSTER BY (a)", "NONE": "ALTER TABLE {t} CLUSTER BY NONE"},
    "CREATE TABLE {t} (a INT, b STRING) USING delta PARTITIONED BY (a)",
)
def a_table_with_partitions(p: Player, statement: str) -> None:
    p.attempt(statement)


@AREA.situation(differs="a clustering column does not lose its statistics by the first move either")
def statistics_that_go_away(p: Player) -> None:
    p.sql(f"CREATE TABLE {{t}} (c1 INT, c2 INT, c3 INT, c4 INT) USING delta CLUSTER BY (c1, c2) {FEW}")
    p.sql("INSERT INTO {t} VALUES (1, 2, 3, 4), (5, 6, 7, 8)")
    p.attempt(
        "ALTER TABLE {t} CLUSTER BY (c1, c3)",
        "ALTER TABLE {t} ALTER COLUMN c1 AFTER c3",
        "ALTER TABLE {t} ALTER COLUMN c2 AFTER c3",
    )
    p.tell(p.read().columns)


SPACED = (
    "`col1 a` INT, col2 INT, col3 STRUCT<col4: INT, `col5 b`: INT>, "
    "`col6 c` STRUCT<col7: INT, `col8 d.e`: INT>, `col9.f` INT, `,col1,a,` BIGINT"
)


@AREA.grid({"name": "name", "id": "id"}, long=True)
def names_with_blanks_dots_and_commas(p: Player, mode: str) -> None:
    mapped = f"TBLPROPERTIES ('delta.columnMapping.mode' = '{mode}')"
    p.sql(f"CREATE TABLE {{t}} ({SPACED}) USING delta CLUSTER BY (`col1 a`, `,col1,a,`) {mapped}")
    columns(p)
    for by in (
        "col2",
        "col3.`col5 b`, `col6 c`.col7",
        "col3.col4, `col6 c`.`col8 d.e`, `col1 a`",
        "`col9.f`",
        "`,col1,a,`, col2",
    ):
        p.attempt(f"ALTER TABLE {{t}} CLUSTER BY ({by})")
        columns(p)


# -- features and properties by hand

BY_HAND = {
    "ALTER": "ALTER TABLE {t} SET TBLPROPERTIES ('delta.feature.clustering' = 'supported')",
}


@AREA.grid(
    BY_HAND,
    "CREATE TABLE {t} (a INT) USING delta",
    differs="the feature alone changes nothing: CLUSTER BY says by which columns",
)
def the_feature_by_hand(p: Player, statement: str) -> None:
    p.attempt(statement)
    columns(p)


# -- OPTIMIZE

OPTIMIZED = {
    "WHERE": "OPTIMIZE {t} WHERE a > 0 AND b = 'foo'",
    "ZORDER BY": "OPTIMIZE {t} ZORDER BY (a)",
    "all": "OPTIMIZE {t}",
    "FULL": "OPTIMIZE {t} FULL",
}


@AREA.grid(
    OPTIMIZED,
    "CREATE TABLE {t} (a INT, b STRING) USING delta CLUSTER BY (a)",
    "INSERT INTO {t} VALUES (1, 'a')",
    "INSERT INTO {t} VALUES (2, 'b')",
)
def a_clustered_table_is_optimized(p: Player, statement: str) -> None:
    p.attempt(statement)
    p.sql("ALTER TABLE {t} CLUSTER BY NONE", "INSERT INTO {t} VALUES (3, 'c')")
    p.attempt("OPTIMIZE {t} FULL")
    for row in p.sql("OPTIMIZE {t}").collect():
        metrics = row.metrics.asDict()
        p.tell([metrics["numFilesAdded"], metrics["numFilesRemoved"], metrics["clusteringStats"] is None])
    p.rows()


# -- CLONE, RESTORE

RESTORED = {
    "not clustered": ("", "ALTER TABLE {t} CLUSTER BY (a)"),
    "another column": ("CLUSTER BY (a)", "ALTER TABLE {t} CLUSTER BY (b)"),
    "none": ("CLUSTER BY (a)", "ALTER TABLE {t} CLUSTER BY NONE"),
    "the same": ("CLUSTER BY (a)", "INSERT INTO {t} VALUES (1, 'x')"),
    "never clustered": ("", "INSERT INTO {t} VALUES (1, 'x')"),
    "none and again": ("CLUSTER BY (a)", "ALTER TABLE {t} CLUSTER BY NONE", "ALTER TABLE {t} CLUSTER BY (b)"),
}


@AREA.grid(RESTORED)
def a_table_is_restored(p: Player, case: tuple[str, ...]) -> None:
    made, *changes = case
    p.sql(f"CREATE TABLE {{t}} (a INT, b STRING) USING delta {made}", *changes)
    columns(p)
    p.attempt("RESTORE TABLE {t} TO VERSION AS OF 0")
    columns(p)
    p.rows()


@AREA.situation()
def a_table_is_cloned(p: Player) -> None:
    p.sql(
        "CREATE TABLE {t} (a INT, b INT) USING delta CLUSTER BY (a, b)",
        "INSERT INTO {t} VALUES (1, 2)",
        "OPTIMIZE {t}",
        "CREATE TABLE {u} SHALLOW CLONE {t}",
        "ALTER TABLE {t} CLUSTER BY NONE",
        "CREATE TABLE delta.`{at}/v` SHALLOW CLONE {t} VERSION AS OF 1",
        "CREATE TABLE delta.`{at}/w` SHALLOW CLONE {t}",
    )
    for of in ("{u}", "delta.`{at}/v`", "delta.`{at}/w`"):
        columns(p, of)
        p.rows(f"SELECT * FROM {of}")


# -- a name for a table that is there

NAMED = {
    "no columns": (True, ""),
    "not clustered": (True, "(a INT, b STRING)"),
    "another column": (True, "(a INT, b STRING) CLUSTER BY (b)"),
    "the same column": (True, "(a INT, b STRING) CLUSTER BY (a)"),
    "a table without": (False, "(a INT, b STRING) CLUSTER BY (a)"),
}


@AREA.grid(NAMED)
def a_name_for_a_table(p: Player, case: tuple[bool, str]) -> None:
    clustered, definition = case
    p.sql(f"CREATE TABLE {{t}} (a INT, b STRING) USING delta {'CLUSTER BY (a)' if clustered else ''}")
    defined, _, by = definition.partition(" CLUSTER")
    p.attempt(f"CREATE TABLE {{name}} {defined} {PLACE} {'CLUSTER' + by if by else ''}")
    columns(p)


@AREA.grid(
    {
        "other columns": "SELECT 2 AS x, 'y' AS y",
        "the same columns": "SELECT 2 AS a, 'y' AS b",
        "the column that it was clustered by": "SELECT 2 AS a",
    },
    "CREATE TABLE {t} (a INT, b STRING) USING delta CLUSTER BY (a)",
    "INSERT INTO {t} VALUES (1, 'x')",
)
def overwrites_of_the_columns(p: Player, rows: str) -> None:
    p.write(rows, mode="overwrite", overwriteSchema=True)
    columns(p)
    p.write(rows)
    p.rows()


# -- overwrites that say nothing of columns

OVERWRITES: dict[str, Callable[[Player], Any]] = {
    "save": lambda p: p.write("SELECT 2 AS a, 'y' AS b", mode="overwrite"),
    "saveAsTable": lambda p: (
        p.sql("SELECT 2 AS a, 'y' AS b").write.format("delta").mode("overwrite").saveAsTable(p.name)
    ),
    "insertInto": lambda p: p.sql("SELECT 2 AS a, 'y' AS b").write.insertInto(p.name, overwrite=True),
    "INSERT OVERWRITE": lambda p: p.sql("INSERT OVERWRITE {name} VALUES (2, 'y')"),
    "writeTo": lambda p: p.sql("SELECT 2 AS a, 'y' AS b").writeTo(p.name).overwrite(lit(True)),
    "overwritePartitions": lambda p: p.sql("SELECT 2 AS a, 'y' AS b").writeTo(p.name).overwritePartitions(),
}
KEEPS: dict[str, Callable[[Player], Any]] = {
    "replaceWhere": lambda p: p.write("SELECT 2 AS a, 'y' AS b", mode="overwrite", replaceWhere="a = 2"),
    "REPLACE WHERE": lambda p: p.sql("INSERT INTO {name} REPLACE WHERE a = 2 VALUES (2, 'y')"),
    "TRUNCATE": lambda p: p.sql("TRUNCATE TABLE {name}"),
    "DELETE": lambda p: p.sql("DELETE FROM {name}"),
    "append": lambda p: p.write("SELECT 2 AS a, 'y' AS b"),
    "a stream in complete mode": lambda p: p.stream(
        p.path,
        p.spark.readStream.format("delta").load(f"{p.at}/u").groupBy("b").agg(expr("max(a) AS a")),
        "complete",
    ),
}


def overwritten(p: Player, step: Callable[[Player], Any]) -> None:
    p.sql(
        f"CREATE TABLE {{name}} (a INT, b STRING) {PLACE} CLUSTER BY (a)",
        "INSERT INTO {name} VALUES (1, 'x')",
        "CREATE TABLE {u} USING delta AS SELECT * FROM {name}",
    )
    p.attempt(lambda: step(p) and None)
    columns(p, "{name}")
    p.rows("SELECT * FROM {name}")


@AREA.family(
    OVERWRITES,
    dict.fromkeys(
        OVERWRITES, "an overwrite of rows keeps the clustering, as it keeps partitions and properties"
    ),
    quick={"save", "INSERT OVERWRITE"},
)
def an_overwrite_of_the_rows(p: Player, step: Callable[[Player], Any]) -> None:
    overwritten(p, step)


@AREA.family(KEEPS, quick={"replaceWhere"})
def a_write_that_keeps_the_clustering(p: Player, step: Callable[[Player], Any]) -> None:
    overwritten(p, step)
