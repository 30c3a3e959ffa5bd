# ruff: noqa: E501 (a statement reads best in one line)
"""What an UPDATE sets: fields, structs, lists, names, and values that cannot be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from playing import FEED, Area

if TYPE_CHECKING:
    from playing import Player

AREA = Area("update_rows")

DEEP = (
    "CREATE TABLE {t} (a STRUCT<c: STRUCT<d: STRING, e: STRING, l: ARRAY<INT>>, g: INT>, z INT, list ARRAY<INT>) USING delta",
    "INSERT INTO {t} VALUES (named_struct('c', named_struct('d', 'one', 'e', 'str', 'l', array(1, 11)), 'g', 1), 10, array(1)), (named_struct('c', named_struct('d', 'two', 'e', 'str2', 'l', array(2, 22)), 'g', 2), 20, array(2, 22))",
)
BY_NAME = "named_struct('g', 20, 'c', named_struct('l', array(9), 'e', 'str0', 'd', 'new'))"
SETS = {
    "a field": ("a.c.d = 'RANDOM'", "z = 10"),
    "a field of no row": ("a.c.d = 'RANDOM'", "z = 30"),
    "fields of several depths": ("a.c.d = 'x', a.c.e = 'y', a.g = -2, z = -20", "z = 20"),
    "fields to null": ("a.c = NULL, a.g = NULL", "a.c.d = 'two'"),
    "the struct to null": ("a = NULL", "a.c.d = 'two'"),
    "a struct in a struct": ("a.c = named_struct('d', 'X', 'e', 'Y', 'l', array(5))", "a.g = 2"),
    "a text for a number": ("a.g = '-1', z = '30'", "z = 10"),
    "a list beside": ("a.c.d = 'Z', a.g = -2", "z = 20"),
    "a list in a struct": ("a.c.l = array(-1, -11), a.g = -1", "z = 10"),
    "a list": ("list = array(-1, -11, -111)", "z = 10"),
    "by the names of fields": (f"a = {BY_NAME}", "a.g = 2"),
    "by the names of fields, deep": ("a.c = named_struct('e', 'str0', 'l', array(7), 'd', 'new')", "a.g = 2"),
    "a text for a struct": ("a.c = 'RANDOM2'", "z = 10"),
    "a field that is not there": ("a.c.z = 'RANDOM2'", "true"),
    "a struct and its field": ("a.c = named_struct('d', 'rand', 'e', 'str', 'l', array(7)), a.c.d = 'RANDOM2'", "true"),
    "a struct and a field of a field": (f"a = {BY_NAME}, a.c.d = 'RANDOM2'", "true"),
    "a column twice": ("z = 30, z = 40", "true"),
    "a field twice": ("a.c.d = 'rand', a.c.d = 'RANDOM2'", "true"),
    "a field of a list": ("list.x = 1", "true"),
    "a column that is not there": ("nothing = 1", "z = 10"),
    "a number that is too large": ("z = 99999999999", "z = 10"),
}  # fmt: skip


@AREA.grid(SETS, *DEEP)
def fields(p: Player, case: tuple[str, str]) -> None:
    p.attempt("UPDATE {t} SET " + case[0] + " WHERE " + case[1])
    p.rows()


BY_THE_TABLE: dict[str, Any] = {
    "fields of several depths": {"a.c.d": "'x'", "a.c.e": "'y'", "a.g": "-2", "z": "-20"},
    "fields to null": {"a.c": "NULL", "a.g": "NULL"},
    "a text for a number": {"a.g": "'-1'", "z": "'30'"},
    "a list in a struct": {"a.c.l": "array(-1, -11)"},
    "a text for a struct": {"a.c": "'RANDOM2'"},
    "a struct and its field": {"a.c": "named_struct('d', 'rand', 'e', 'str', 'l', array(7))", "a.c.d": "'x'"},
    "a column that is not there": {"nothing": "1"},
}


@AREA.grid(BY_THE_TABLE, *DEEP)
def fields_by_the_table(p: Player, values: dict[str, str]) -> None:
    p.attempt(lambda: p.table().update("z = 10", values))
    p.rows()


@AREA.situation(differs="fields of structs go by their names, as by SQL")
def fields_in_another_order_by_the_table(p: Player) -> None:
    p.sql(*DEEP)
    fields_by_the_table(p, {"a": BY_NAME})


@AREA.grid(
    {
        "a field of a map": "m.b = -1",
        "a field of a list of structs": "l.b = array(-1)",
        "a value of a map by a key": "m['b'] = -1",
        "a field of a map's struct": "n.k.b = 1",
        "a map": "m = map('x', 5)",
        "a list of structs": "l = array(named_struct('c', 3, 'b', 2), named_struct('b', 4, 'c', 5))",
    },
    "CREATE TABLE {t} (m MAP<STRING, INT>, l ARRAY<STRUCT<b: INT, c: INT>>, n MAP<STRING, STRUCT<b: INT, c: INT>>) USING delta",
    "INSERT INTO {t} VALUES (map('b', 1), array(named_struct('b', 1, 'c', 2)), map('k', named_struct('b', 1, 'c', 2)))",
)
def fields_of_maps_and_lists(p: Player, values: str) -> None:
    p.attempt("UPDATE {t} SET " + values)
    p.rows()


LISTS = "CREATE TABLE {t} USING delta AS SELECT 1 AS a, 2 AS b, 3 AS c, array(3, 4) AS d, array(3) AS one"


@AREA.grid(
    {
        "a window as the value": ("row_number() OVER (ORDER BY c)", "a = 1"),
        "an aggregate as the value": ("max(c)", "a = 1"),
        "a generator as the value": ("explode(d)", "a = 1"),
        "a generator in the condition": ("4", "explode(d) > 1"),
        "a subquery of several rows as the value": ("(SELECT explode(d) FROM {t})", "a = 1"),
        "a subquery of one row as the value": ("(SELECT explode(one) FROM {t})", "a = 1"),
    },
    LISTS,
)
def values_that_cannot_be(p: Player, case: tuple[str, str]) -> None:
    value, condition = map(p.text, case)
    p.attempt(f"UPDATE {{t}} SET b = {value} WHERE {condition}")
    p.attempt(lambda: p.table().update(condition, {"b": value}))
    p.rows("SELECT a, b, c FROM {t}")


@AREA.grid(
    {
        "a window in the condition": ("4", "row_number() OVER (ORDER BY c) > 1"),
        "an aggregate in the condition": ("4", "b > max(c)"),
    },
    LISTS,
    differs="Spark refuses the condition of the filter that it is, by that condition",
)
def conditions_of_windows_and_aggregates(p: Player, case: tuple[str, str]) -> None:
    values_that_cannot_be(p, case)


@AREA.grid(
    {
        "less than one value": "key < (SELECT max(c) FROM one)",
        "exists": "EXISTS (SELECT max(c) FROM one)",
        "not exists": "NOT EXISTS (SELECT max(c) FROM one)",
        "in": "key IN (SELECT max(c) FROM one)",
        "not in": "key NOT IN (SELECT max(c) FROM one)",
        "several rows": "key = (SELECT c FROM one)",
    },
    "CREATE TABLE {t} USING delta AS SELECT * FROM VALUES (2, 2), (1, 4), (1, 1), (0, 3) AS v(key, value)",
    differs="conditions of UPDATE may have subqueries of any kind",
)
def subqueries_in_the_condition(p: Player, condition: str) -> None:
    p.sql("CREATE OR REPLACE TEMPORARY VIEW one AS SELECT * FROM VALUES (2), (1) AS v(c)")
    p.attempt(f"UPDATE {{t}} SET key = 1 WHERE {condition}")
    p.rows()


@AREA.family({"": "", "partitioned": "PARTITIONED BY (key)"})
def conditions_that_cast(p: Player, by: str) -> None:
    p.sql(
        f"CREATE TABLE {{t}} USING delta {by} AS SELECT * FROM VALUES (99, 2), (100, 4), (101, 3) AS v(key, value)"
    )
    p.answers("UPDATE {t} SET value = -3 WHERE CAST(key AS LONG) * CAST('1.0' AS DECIMAL(38, 18)) > 100")
    p.rows()
    p.answers(
        "UPDATE {t} SET value = key + CAST(value AS DOUBLE), key = CAST(key AS DOUBLE) + 1 WHERE key >= 100",
        "UPDATE {t} SET value = key, key = NULL + 1D WHERE key >= 101",
        "DELETE FROM {t} WHERE CAST(key AS LONG) * CAST('1.0' AS DECIMAL(38, 18)) < 100",
    )
    p.rows()


@AREA.situation()
def names_with_qualifiers(p: Player) -> None:
    p.sql(
        "CREATE TABLE {name} (a STRUCT<`b.1`: INT, `c.e`: STRING>, d INT) USING delta",
        "INSERT INTO {name} VALUES (named_struct('b.1', 1, 'c.e', 'random'), 1), (named_struct('b.1', 3, 'c.e', 'string'), 2)",
    )
    for values in (
        "`default`.`{name}`.a.`b.1` = -1, {name}.a.`c.e` = 'RANDOM'",
        "spark_catalog.default.{name}.d = 7",
        "`a`.`b.1` = 5, `d` = 6",
        "other.a.`b.1` = 8",
        "`a.b.1` = 9",
    ):
        p.attempt(f"UPDATE {{name}} SET {values} WHERE d = 1")
        p.rows("SELECT * FROM {name}")


@AREA.situation()
def case_of_names(p: Player) -> None:
    p.sql(
        "CREATE TABLE {t} (s INT, t STRING) USING delta PARTITIONED BY (s)", "INSERT INTO {t} VALUES (0, 'a')"
    )
    p.attempt(
        "UPDATE {t} SET column_doesnt_exist = 'San Francisco' WHERE t = 'a'",
        "UPDATE {t} SET S = 1, T = 'b' WHERE T = 'a'",
        "UPDATE {t} SET S = 1, s = 'b' WHERE s = 1",
    )
    p.rows()
    p.conf("spark.sql.caseSensitive", "true")
    p.attempt(
        "UPDATE {t} SET S = 1 WHERE t = 'b'",
        "UPDATE {t} SET S = 1, s = 'b' WHERE s = 1",
        "UPDATE {t} SET s = 1 WHERE T = 'b'",
        "DELETE FROM {t} WHERE T = 'b'",
    )
    p.attempt(
        lambda: p.table().update("t = 'b'", {"S": "1"}),
        lambda: p.table().update("T = 'b'", {"s": "2"}),
        lambda: p.table().delete("T = 'b'"),
    )
    p.rows()


@AREA.situation()
def the_partition_becomes_null(p: Player) -> None:
    p.sql(
        f"CREATE TABLE {{t}} (key INT, part INT, value INT) USING delta PARTITIONED BY (part) TBLPROPERTIES ('{FEED}' = 'true')"
    )
    p.sql("INSERT INTO {t} VALUES (0, 0, 0), (1, 1, 1)", "INSERT INTO {t} VALUES (4, 4, 4)")
    p.answers("UPDATE {t} SET part = NULL WHERE part = 4")
    p.rows()
    p.changes(2)
    p.answers("UPDATE {t} SET part = 9 WHERE part IS NULL")
    p.changes()


@AREA.situation()
def a_part_by_the_feed(p: Player) -> None:
    p.conf("spark.databricks.delta.properties.defaults.enableChangeDataFeed", "true")
    p.write(
        "SELECT * FROM VALUES (1, 1, 1), (2, 2, 0), (3, 3, 1), (4, 4, 0) AS v(key, value, part)", by=("part",)
    )
    p.answers("UPDATE {t} SET value = -1 WHERE part = 1")
    p.changes()
