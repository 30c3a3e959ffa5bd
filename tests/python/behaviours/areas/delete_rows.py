# ruff: noqa: E501 (a statement reads best in one line)
"""Which rows a DELETE takes by subqueries, times, odd conditions, and what its change data and its answer tell."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playing import FEED, VECTORS, Area

if TYPE_CHECKING:
    from playing import Player

AREA = Area("delete_rows")

EXISTS = "spark.databricks.delta.delete.allowExistsSubquery"
AB, WITH_NULL = "(3, 'a'), (1, 'b')", "(3, 'a'), (1, 'b'), (CAST(NULL AS INT), 'a')"
THREE, FOUR = "(1, 'a'), (2, 'b'), (3, 'c')", "(1, 'a'), (2, 'b'), (3, 'c'), (4, 'd')"
NULLS = "(CAST(NULL AS INT), 'a'), (1, 'b')"
NOBODY = "(100, 'x')"
# rows of the table, of two sources, and the condition
SUBQUERIES = {
    "exists": (AB, "(2, 'a'), (1, 'b')", "", "EXISTS (SELECT 1 FROM one WHERE t.c = one.c)"),
    "not exists": (AB, "(2, 'a'), (1, 'b')", "", "NOT EXISTS (SELECT 1 FROM one WHERE t.c = one.c)"),
    "exists, nulls": (WITH_NULL, NULLS, "", "EXISTS (SELECT * FROM one WHERE t.c = c)"),
    "not exists, nulls": (WITH_NULL, NULLS, "", "NOT EXISTS (SELECT c FROM one WHERE t.c = one.c)"),
    "exists, null-safe": (WITH_NULL, NULLS, "", "EXISTS (SELECT c FROM one WHERE t.c <=> one.c)"),
    "not exists, null-safe": (WITH_NULL, NULLS, "", "NOT EXISTS (SELECT c FROM one WHERE t.c <=> one.c)"),
    "exists, no match": (THREE, NOBODY, "", "EXISTS (SELECT 1 FROM one WHERE t.c = one.c)"),
    "not exists, no match": (THREE, NOBODY, "", "NOT EXISTS (SELECT 1 FROM one WHERE t.c = one.c)"),
    "exists, all match": (THREE, "(1, 'x'), (2, 'y'), (3, 'z')", "", "EXISTS (SELECT 1 FROM one WHERE t.c = one.c)"),
    "two equalities": (FOUR, "(1, 'a'), (2, 'x'), (3, 'c')", "", "EXISTS (SELECT 1 FROM one WHERE t.c = one.c AND t.t1 = one.s1)"),
    "beside another condition": ("(1, 'a'), (2, 'b'), (3, 'a'), (4, 'b')", "(1, 'x'), (3, 'y')", "", "EXISTS (SELECT 1 FROM one WHERE t.c = one.c) AND t1 = 'a'"),
    "or another condition": ("(1, 'a'), (2, 'b'), (3, 'a'), (4, 'b')", "(2, 'x')", "", "EXISTS (SELECT 1 FROM one WHERE t.c = one.c) OR t.c = 4"),
    "two": (FOUR, "(1, 'x'), (2, 'y')", "(2, 'y'), (3, 'z')", "EXISTS (SELECT 1 FROM one WHERE t.c = one.c) AND EXISTS (SELECT 1 FROM two WHERE t.c = two.c)"),
    "one and not the other": (FOUR, "(1, 'x'), (2, 'y')", "(2, 'y'), (3, 'z')", "EXISTS (SELECT 1 FROM one WHERE t.c = one.c) AND NOT EXISTS (SELECT 1 FROM two WHERE t.c = two.c)"),
    "exists, not correlated": (THREE, NOBODY, "", "EXISTS (SELECT 1 FROM one)"),
    "not exists, not correlated": (THREE, NOBODY, "", "NOT EXISTS (SELECT 1 FROM one)"),
    "not exists, an empty source": (THREE, "", "", "NOT EXISTS (SELECT 1 FROM one WHERE t.c = one.c)"),
    "exists, an empty source": (THREE, "", "", "EXISTS (SELECT 1 FROM one WHERE t.c = one.c)"),
    "within another": (THREE, "(1, 'a'), (2, 'b')", "(1, 'b')", "EXISTS (SELECT 1 FROM one WHERE t.c = one.c AND EXISTS (SELECT 1 FROM two WHERE one.c = two.c))"),
}  # fmt: skip


def views(p: Player, one: str, two: str) -> None:
    for name, rows in (("one", one), ("two", two)):
        of = f"VALUES {rows or NOBODY} AS v(c, s1) WHERE {bool(rows)}"
        p.sql(f"CREATE OR REPLACE TEMPORARY VIEW {name} AS SELECT * FROM {of}")


@AREA.family({"": "", "partitioned": "PARTITIONED BY (c)"}, quick=["partitioned"])
def rows_by_exists(p: Player, by: str) -> None:
    p.conf(EXISTS, "true")
    for number, (name, (rows, one, two, condition)) in enumerate(SUBQUERIES.items()):
        p.tell(name)
        p.path = f"{p.at}/t{number}"
        views(p, one, two)
        p.sql(f"CREATE TABLE {{t}} USING delta {by} AS SELECT * FROM VALUES {rows} AS v(c, t1)")
        p.attempt(f"DELETE FROM {{t}} AS t WHERE {condition}")
        p.rows()


@AREA.family({"": "", "partitioned": "PARTITIONED BY (c)"}, quick=[""])
def rows_of_many_files_by_exists(p: Player, by: str) -> None:
    p.conf(EXISTS, "true")
    views(p, "(3, 'x'), (7, 'y'), (15, 'z')", "")
    rows = p.spark.range(1, 21, 1, 4).selectExpr("CAST(id AS INT) AS c", "concat('v', id) AS t1")
    p.write(rows, by=("c",) if by else ())
    p.attempt("DELETE FROM {t} AS t WHERE EXISTS (SELECT 1 FROM one WHERE t.c = one.c)")
    p.rows("SELECT count(*), sum(c) FROM {t}")


RANGES = {
    "all rows": "EXISTS (SELECT 1 FROM src AS s WHERE s.src_id = id)",
    "two rows": "EXISTS (SELECT 1 FROM src AS s WHERE s.src_id = id AND (s.src_id = 3 OR s.src_id = 8))",
    "rows without a match": "NOT EXISTS (SELECT 1 FROM src AS s WHERE s.src_id = id AND s.src_id < 5)",
    "no row": "EXISTS (SELECT 1 FROM src AS s WHERE s.src_id = id AND s.src_id > 200)",
    "rows of a smaller source": "NOT EXISTS (SELECT 1 FROM src AS s WHERE s.src_id = id)",
}


def taken(p: Player, condition: str) -> None:
    p.conf(EXISTS, "true")
    p.sql(
        "CREATE OR REPLACE TEMPORARY VIEW src AS SELECT id AS src_id FROM range(8)"
        if "AND" not in condition
        else "CREATE OR REPLACE TEMPORARY VIEW src AS SELECT id AS src_id FROM range(100)"
    )
    p.attempt(f"DELETE FROM {{t}} WHERE {condition}")
    p.rows()
    if p.sql("DESCRIBE HISTORY {t} LIMIT 1").first().operation == "DELETE":
        p.changes()


@AREA.situation()
def changes_by_exists(p: Player) -> None:
    p.conf("spark.databricks.delta.properties.defaults.enableChangeDataFeed", "true")
    p.write(p.spark.range(0, 10, 1, 3))
    for name, condition in RANGES.items():
        p.tell(name)
        p.beside().play(lambda p, c=condition: taken(p, c))


@AREA.situation()
def changes_by_exists_of_files_with_vectors(p: Player) -> None:
    p.sql(
        f"CREATE TABLE {{t}} (id BIGINT) USING delta TBLPROPERTIES ('{FEED}' = 'true', '{VECTORS}' = 'true')"
    )
    p.write(p.spark.range(0, 12, 1, 1))
    p.sql("DELETE FROM {t} WHERE id >= 10")
    for name in ("two rows", "rows without a match", "rows of a smaller source"):
        for persistent in ("true", "false"):
            p.tell([name, persistent])

            def vectors(p: Player, name: str = name, persistent: str = persistent) -> None:
                p.conf("spark.databricks.delta.delete.deletionVectors.persistent", persistent)
                taken(p, RANGES[name])

            p.beside().play(vectors)


PAIRS = "CREATE TABLE {t} USING delta AS SELECT * FROM VALUES (2, 2), (1, 4), (1, 1), (0, 3) AS v(key, value)"


@AREA.grid(
    {
        "less than one value": "key < (SELECT max(c) FROM one)",
        "in": "key IN (SELECT max(c) FROM one)",
        "not in": "key NOT IN (SELECT max(c) FROM one)",
        "exists and in": "EXISTS (SELECT 1 FROM one WHERE key = c) AND key IN (SELECT c FROM one)",
        "exists": "EXISTS (SELECT 1 FROM one WHERE key = c)",
    },
    PAIRS,
    differs="conditions of DELETE may have subqueries of any kind",
)
def subqueries(p: Player, condition: str) -> None:
    views(p, "(2, 'a')", "")
    p.attempt(f"DELETE FROM {{t}} WHERE {condition}")
    p.rows()


LISTS = "CREATE TABLE {t} USING delta AS SELECT * FROM VALUES (2, 2, array(2)), (1, 4, array(4, 5)) AS v(key, value, list)"


@AREA.grid(
    {
        "a window": "row_number() OVER (ORDER BY value) > 1",
        "an aggregate": "key > max(value)",
        "a generator": "explode(list) > 1",
    },
    LISTS,
    differs="windows and aggregates have the conditions that Spark gives them in a WHERE",
)
def conditions_that_cannot_be(p: Player, condition: str) -> None:
    p.attempt(f"DELETE FROM {{t}} WHERE {condition}", lambda: p.table().delete(p.text(condition)))
    if p.reported[-1] == "done" or p.reported[-2] == "done":
        p.tell("it was done")
    p.rows()


@AREA.grid(
    {
        "a subquery of several rows": "key = (SELECT explode(list) FROM {t})",
        "a subquery of two columns": "key = (SELECT 1, 2)",
    },
    LISTS,
    differs="conditions of DELETE may have subqueries of any kind: these fail when they run",
)
def subqueries_that_cannot_be(p: Player, condition: str) -> None:
    conditions_that_cannot_be(p, condition)


@AREA.family({"": "", "partitioned": "PARTITIONED BY (key)"})
def times(p: Player, by: str) -> None:
    """Today and now in conditions, of data and of partition columns."""
    p.path = f"{p.at}/dates"
    p.sql(
        f"CREATE TABLE {{t}} USING delta {by} AS SELECT * FROM VALUES (date'1969-12-31', 2), (date'2099-12-31', 4) AS v(key, value)"
    )
    p.answers("DELETE FROM {t} WHERE CURRENT_DATE > key")
    p.rows()
    p.answers(
        "UPDATE {t} SET value = 5 WHERE CURRENT_DATE() < key", "DELETE FROM {t} WHERE CURRENT_DATE <= key"
    )
    p.rows()
    p.path = f"{p.at}/times"
    p.sql(
        f"CREATE TABLE {{t}} USING delta {by} AS SELECT * FROM VALUES (timestamp'2012-12-31 16:00:10.011', 2), (timestamp'2099-12-31 16:00:10.011', 4) AS v(key, value)"
    )
    p.answers("DELETE FROM {t} WHERE CURRENT_TIMESTAMP > key")
    p.rows()
    p.answers("UPDATE {t} SET value = 5 WHERE now() < key", "DELETE FROM {t} WHERE CURRENT_TIMESTAMP <= key")
    p.rows()


@AREA.situation(differs="files say how many rows they have, also where no statistics are collected")
def rows_that_nobody_counted(p: Player) -> None:
    """Whole files leave that have no statistics: delta-spark does not tell how many rows they had."""
    p.conf("spark.databricks.delta.stats.collect", "false")
    for number, (by, condition) in enumerate(
        [
            (("key",), "key = 1"),
            (("key",), "key >= 1"),
            ((), "true"),
            ((), ""),
            ((), "value > 2"),
            (("key",), "key = 1 AND value = 4"),
        ]
    ):
        p.tell([by, condition])
        p.path = f"{p.at}/t{number}"
        p.write("SELECT * FROM VALUES (2, 2), (1, 4), (1, 1), (0, 3) AS v(key, value)", by=by)
        p.answers(f"DELETE FROM {{t}} {'WHERE ' + condition if condition else ''}")
        metrics = p.sql("DESCRIBE HISTORY {t} LIMIT 1").first().operationMetrics
        p.tell([metrics.get("numDeletedRows"), metrics.get("numCopiedRows")])
        p.rows()


@AREA.situation()
def explained(p: Player) -> None:
    """It is not run."""
    p.sql(PAIRS)
    p.attempt(
        "EXPLAIN DELETE FROM {t} WHERE key = 2", "EXPLAIN UPDATE {t} SET key = 1, value = 2 WHERE key = 2"
    )
    p.rows()


@AREA.situation()
def partition_values_with_percents(p: Player) -> None:
    p.write("SELECT CAST(id AS INT) AS key, 'part%one' AS value FROM range(4)", by=("value",))
    p.answers(
        "UPDATE {t} SET value = 'part%two' WHERE value = 'part%one' AND key = 1",
        "DELETE FROM {t} WHERE value = 'part%one' AND key = 2",
    )
    p.rows()
    p.answers(
        "UPDATE {t} SET value = 'a%20b' WHERE value = 'part%one'", "DELETE FROM {t} WHERE value = 'part%two'"
    )
    p.rows()
