# ruff: noqa: E501 (a statement reads best in one line)
"""DELETE, UPDATE and MERGE through temporary views, into what is no Delta table, and by names that are none."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from playing import Area

if TYPE_CHECKING:
    from playing import Player

AREA = Area("changes_through_views")

TABLE = "CREATE TABLE {t} USING delta AS SELECT * FROM VALUES (0, 3), (1, 2) AS v(key, value)"
SOURCE = "(SELECT * FROM VALUES (1, 2), (3, 4) AS v(a, b)) AS src"
MERGE = f"MERGE INTO {{name}} AS v USING {SOURCE} ON {{on}} WHEN MATCHED THEN UPDATE SET v.value = src.b + 1 WHEN NOT MATCHED THEN INSERT (v.key, v.value) VALUES (src.a, src.b)"
WHERE = "WHERE key >= 1 AND value < 3"
CHANGES = {
    "delete": f"DELETE FROM {{name}} {WHERE}",
    "update": f"UPDATE {{name}} SET value = key + value, key = key + 1 {WHERE}",
    "merge": MERGE.replace("{on}", "src.a = v.key AND src.b = v.value"),
    "merge by one column": MERGE.replace("{on}", "src.a = v.key"),
}
VIEWS = {
    "all columns": "SELECT * FROM {t}",
    "two aliases": "SELECT * FROM (SELECT * FROM {t} AS t1) AS t2",
}


def through(p: Player, view: str, *names: str) -> None:
    """Each change, or these, through a view by SQL and through one of a DataFrame."""
    for kind in ("SQL", "DataFrame"):
        for name, change in CHANGES.items():
            if names and name not in names:
                continue
            p.tell([kind, name])
            p.beside().play(lambda p, kind=kind, change=change: changed(p, view, kind, change))


def changed(p: Player, view: str, kind: str, change: str) -> None:
    if kind == "SQL":
        p.sql(f"CREATE TEMPORARY VIEW {{name}} AS {view}")
    else:
        p.sql(view).createOrReplaceTempView(p.name)
    p.answers(change)
    p.answers("SELECT * FROM {name}")
    p.rows()


@AREA.grid(VIEWS, TABLE)
def views(p: Player, view: str) -> None:
    through(p, view)


@AREA.situation()
def a_view_without_a_column(p: Player) -> None:
    p.sql(TABLE)
    through(p, "SELECT key FROM {t}", "delete", "update", "merge")


@AREA.situation()
def a_view_with_a_computed_column(p: Player) -> None:
    p.sql(TABLE)
    through(p, "SELECT key, value, 1 FROM {t}", "merge", "merge by one column")


@AREA.situation(differs="names that change places are refused: which column is the right one is not guessed")
def a_view_in_which_names_change_places(p: Player) -> None:
    p.sql(TABLE)
    through(p, "SELECT value AS key, key AS value FROM {t}")


@AREA.situation()
def a_view_of_some_rows(p: Player) -> None:
    p.sql(TABLE)
    through(p, "SELECT * FROM {t} WHERE value <> 0")


@AREA.grid(
    {
        "by SQL": lambda p: p.sql("CREATE TEMPORARY VIEW {name} AS SELECT * FROM {t}"),
        "of a DataFrame": lambda p: p.read().createOrReplaceTempView(p.name),
        "of a DataFrame with an alias": lambda p: p.read().alias("name").createOrReplaceTempView(p.name),
    },
    "CREATE TABLE {t} USING delta AS SELECT * FROM VALUES (0, 0), (1, 1) AS v(key, value)",
)
def stars_through_a_view(p: Player, make: object) -> None:
    make(p)  # type: ignore[operator]
    p.answers(
        "MERGE INTO {name} USING (SELECT * FROM VALUES (10, 1), (20, 2) AS v(value, key)) AS src ON src.key = {name}.key WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
    )
    p.answers("SELECT * FROM {name}")


@AREA.situation()
def a_field_through_a_view(p: Player) -> None:
    """Its struct stays, with the one field set."""
    p.sql(
        "CREATE TABLE {t} USING delta AS SELECT 'A' AS key, named_struct('a', named_struct('x', 2)) AS value"
    )
    source = "(SELECT 'A' AS key, named_struct('a', named_struct('x', 1)) AS value) AS s"
    for kind in ("SQL", "DataFrame"):
        p.tell(kind)
        change = f"MERGE INTO {{name}} AS t USING {source} ON s.key = t.key WHEN MATCHED THEN UPDATE SET value.a.x = s.value.a.x WHEN NOT MATCHED THEN INSERT (key, value) VALUES (s.key, s.value)"
        p.beside().play(lambda p, kind=kind, change=change: changed(p, "SELECT * FROM {t}", kind, change))


STATEMENTS = {
    "delete": "DELETE FROM {of}",
    "update": "UPDATE {of} SET key1 = 3",
    "merge": "MERGE INTO {of} AS t USING (SELECT 1 AS k) AS s ON s.k = t.key1 WHEN MATCHED THEN DELETE",
}
PARQUET = "SELECT * FROM VALUES (1, 1), (0, 3), (1, 5) AS v(key1, value)"


@AREA.situation()
def parquet_by_path(p: Player) -> None:
    p.sql(PARQUET).write.parquet(p.path)
    for name, statement in STATEMENTS.items():
        p.tell(name)
        p.attempt(statement.replace("{of}", "{t}"))
        p.tell(Path(p.path, "_delta_log").exists())
    p.tell("by the path of a DeltaTable")
    p.attempt(lambda: p.table().delete(), lambda: p.table().update(set={"key1": "3"}))


@AREA.situation()
def parquet_by_name(p: Player) -> None:
    p.sql(f"CREATE TABLE {{name}} USING parquet AS {PARQUET}")
    for name, statement in STATEMENTS.items():
        p.tell(name)
        p.attempt(statement.replace("{of}", "{name}"))
    p.tell("by the name of a DeltaTable")
    p.attempt(lambda: p.tables.forName(p.spark, p.name).delete())
    p.rows("SELECT * FROM {name}")


PATHS = [
    "tar get>",
    "tar get*",
    "tar get=",
    "tar get#",
    "sou rce~",
    "sou rce(",
    "sou rce^",
    "sou rce@",
    "a%20b",
    "a+b,c;d",
]


@AREA.situation()
def paths_with_odd_characters(p: Player) -> None:
    """Source and table are below such a folder, and each change finds its rows."""
    for number, name in enumerate(PATHS):
        p.tell(name)
        p.path = f"{p.at}/{name}"
        source = f"{p.at}/{PATHS[number - 1]} of"
        p.write("SELECT id * 2 AS id FROM range(3)", path=source)
        p.write("SELECT id FROM range(5)")
        clause = [
            "WHEN MATCHED THEN DELETE",
            "WHEN MATCHED THEN UPDATE SET id = t.id * 10",
            "WHEN NOT MATCHED BY SOURCE THEN DELETE",
            "WHEN NOT MATCHED BY SOURCE THEN UPDATE SET id = t.id * 10",
        ][number % 4]
        p.attempt(f"MERGE INTO {{t}} AS t USING delta.`{source}` AS s ON t.id = s.id {clause}")
        p.rows()


@AREA.situation()
def views_that_are_no_table(p: Player) -> None:
    """One of the catalog, and one that groups."""
    p.sql("CREATE TABLE {t} USING delta AS SELECT id AS k, id AS v FROM range(3)")
    p.sql("CREATE VIEW {name} AS SELECT * FROM {t}")
    grouped = f"groups_of_{p.name}"
    p.sql(f"CREATE TEMPORARY VIEW {grouped} AS SELECT k, count(*) AS v FROM {{t}} GROUP BY k")
    for view in ("{name}", grouped):
        p.attempt(
            f"DELETE FROM {view} WHERE k = 1",
            f"UPDATE {view} SET v = 7 WHERE k = 1",
            f"MERGE INTO {view} t USING (SELECT 1 AS n) s ON t.k = s.n WHEN MATCHED THEN DELETE",
        )
    p.spark.catalog.dropTempView(grouped)
    p.rows()


@AREA.situation(long=True)
def what_is_not_deterministic(p: Player) -> None:
    p.sql("CREATE TABLE {t} USING delta AS SELECT id AS k, id AS v FROM range(3)")
    p.attempt("DELETE FROM {t} WHERE rand() > 0.5", "UPDATE {t} SET v = rand() WHERE k = 1")
    p.rows()
