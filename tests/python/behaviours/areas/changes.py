"""The change data feed: what commands record, names of columns, and what may not be there."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

from playing import FEED, VECTORS, Area

if TYPE_CHECKING:
    from playing import Player

AREA = Area("changes")
WAYS = {"rewrite": "false", "vectors": "true"}
"""How rows go: with their files, or by deletion vectors."""


def fed(p: Player, columns: str, *, vectors: str = "false", by: str = "", more: str = "") -> None:
    """A table with the feed."""
    parts = f"PARTITIONED BY ({by})" if by else ""
    given = f"'{FEED}' = 'true', '{VECTORS}' = '{vectors}'{more}"
    p.sql(f"CREATE TABLE {{t}} ({columns}) USING delta {parts} TBLPROPERTIES ({given})")


# -- a range in other queries


@AREA.situation()
def changes_are_joined_and_subtracted(p: Player) -> None:
    fed(p, "id INT, part INT", by="part")
    p.sql("INSERT INTO {t} VALUES (1, 0), (2, 0), (3, 1)", "DELETE FROM {t} WHERE id = 2")
    p.sql("INSERT INTO {t} VALUES (4, 1)")
    every = p.read(readChangeFeed="true", startingVersion=0)
    first = p.read(readChangeFeed="true", startingVersion=0, endingVersion=1)
    p.rows(every.exceptAll(first).drop("_commit_timestamp"))
    p.rows(every.alias("a").join(p.read().alias("b"), "id").selectExpr("id", "_change_type", "b.part"))
    p.rows(every.where("part = 1 AND _change_type = 'insert'").select("id", "_commit_version"))
    p.rows("SELECT id FROM {t} WHERE id IN (SELECT id + 2 FROM table_changes_by_path('{at}/t', 2))")


@AREA.situation()
def changes_are_not_of_one_version(p: Player) -> None:
    fed(p, "id INT")
    p.sql("INSERT INTO {t} VALUES (1)")
    for at in ({"versionAsOf": 1}, {"timestampAsOf": "2020-01-01"}):
        p.answers(lambda at=at: p.read(readChangeFeed="true", startingVersion=0, **at))


# -- names of columns


@AREA.situation()
def columns_with_dots_and_backquotes(p: Player) -> None:
    """With names that only backquotes can hold, in the columns and in a struct."""
    more = ", 'delta.columnMapping.mode' = 'name'"
    fed(p, "`id.num` INT, `id.num``s` INT, s STRUCT<`field.one`: INT, two: STRING>, `a b` INT", more=more)
    p.sql("INSERT INTO {t} VALUES (1, 10, named_struct('field.one', 100, 'two', 'x'), 5)")
    p.sql("INSERT INTO {t} VALUES (2, 20, named_struct('field.one', 200, 'two', 'y'), 6)")
    p.sql("DELETE FROM {t} WHERE `id.num``s` = 20")
    p.changes(1)
    feed = p.read(readChangeFeed="true", startingVersion=1)
    p.rows(feed.where("`id.num` > 1").selectExpr("`id.num``s`", "s.`field.one`", "_change_type"))
    p.rows(feed.where("s.`field.one` = 100").selectExpr("`a b`", "_commit_version"))


# -- columns that the feed keeps for itself

THEIRS = ("_change_type", "_commit_version", "_commit_timestamp")


@AREA.family({name: name for name in THEIRS}, quick=["_change_type"])
def a_reserved_column_joins(p: Player, name: str) -> None:
    """By a write, an INSERT, a MERGE and ADD COLUMN, of a table with the feed."""
    fed(p, "id INT")
    p.attempt(lambda: p.write(f"SELECT 1 AS id, 'x' AS {name}", mergeSchema="true"))
    p.conf("spark.databricks.delta.schema.autoMerge.enabled", "true")
    p.attempt(f"INSERT INTO {{t}} BY NAME SELECT 1 AS id, 'x' AS {name}")
    p.attempt(f"""MERGE INTO {{t}} AS t USING (SELECT 1 AS id, 'x' AS {name}) AS s ON t.id = s.id
        WHEN NOT MATCHED THEN INSERT *""")
    p.attempt(f"ALTER TABLE {{t}} ADD COLUMN {name} STRING")
    p.rows("SELECT count(*) FROM {t}")
    p.tell(p.read().columns)


@AREA.family({name: name for name in THEIRS}, quick=["_change_type"])
def a_table_that_has_a_reserved_column(p: Player, name: str) -> None:
    """It is a table as any other until the feed is asked for."""
    p.sql(f"CREATE TABLE {{t}} (id INT, {name} STRING) USING delta")
    p.write(f"SELECT 1 AS id, 'x' AS {name}")
    p.rows()
    p.attempt(f"ALTER TABLE {{t}} SET TBLPROPERTIES ('{FEED}' = 'true')")
    p.sql(f"UPDATE {{t}} SET {name} = 'y'")
    p.rows()
    p.attempt(f"CREATE TABLE {{u}} USING delta TBLPROPERTIES ('{FEED}' = 'true') AS SELECT * FROM {{t}}")


# -- what commands record


@AREA.situation()
def a_dynamic_overwrite(p: Player) -> None:
    fed(p, "value STRING, part STRING", by="part")
    p.sql("INSERT INTO {t} VALUES ('a', 'x'), ('b', 'y'), ('c', 'x')")
    p.conf("spark.sql.sources.partitionOverwriteMode", "dynamic")
    p.write("SELECT * FROM VALUES ('a', 'x'), ('e', 'x') AS v(value, part)", mode="overwrite")
    p.changes()
    p.write("SELECT * FROM VALUES ('f', 'z'), ('g', 'z') AS v(value, part)", mode="overwrite")
    p.changes()
    p.rows()


@AREA.family({"a partition": "part = 'x'", "some rows": "value > 'a'"}, quick=["some rows"])
def replace_where(p: Player, where: str) -> None:
    fed(p, "value STRING, part STRING", by="part")
    p.sql("INSERT INTO {t} VALUES ('a', 'x'), ('b', 'y'), ('c', 'x')")
    p.write("SELECT 'e' AS value, 'x' AS part", mode="overwrite", replaceWhere=where)
    p.changes()
    p.rows()


@AREA.family(WAYS, quick=["rewrite"])
def an_update_of_a_partition_column_to_null(p: Player, vectors: str) -> None:
    fed(p, "id INT, part INT", by="part", vectors=vectors)
    p.sql("INSERT INTO {t} VALUES (1, 3), (2, 4), (3, 4)")
    p.sql("UPDATE {t} SET part = NULL WHERE part = 4")
    p.changes()
    p.sql("UPDATE {t} SET part = 5, id = 9 WHERE part IS NULL AND id = 2")
    p.changes()
    p.rows()


_EXISTS = (
    "EXISTS (SELECT * FROM {u} WHERE id < 100)",
    "NOT EXISTS (SELECT * FROM {u} WHERE id < 100)",
    "EXISTS (SELECT * FROM {u} AS u WHERE u.id = t.id)",
    "NOT EXISTS (SELECT * FROM {u} AS u WHERE u.id = t.id)",
    "EXISTS (SELECT * FROM {u} AS u WHERE u.id = t.id + 100)",
    "id > 1 AND EXISTS (SELECT * FROM {u} AS u WHERE u.id = t.id)",
)


@AREA.family(WAYS, quick=["vectors"])
def deletes_by_subqueries(p: Player, vectors: str) -> None:
    """Where a setting lets delta-spark take them."""
    p.conf("spark.databricks.delta.delete.allowExistsSubquery", "true")
    fed(p, "id INT, name STRING", vectors=vectors)
    p.sql("INSERT INTO {t} SELECT /*+ COALESCE(1) */ * FROM VALUES (1, 'a'), (2, 'b'), (3, 'c'), (4, NULL)")
    p.sql("CREATE TABLE {u} (id INT) USING delta", "INSERT INTO {u} VALUES (1), (3), (7)")
    for where in _EXISTS:
        p.attempt(f"DELETE FROM {{t}} AS t WHERE {where}")
        p.rows()
        if p.table().history(1).first().operation == "DELETE":
            p.changes()
            p.sql("RESTORE TABLE {t} TO VERSION AS OF 1")


@AREA.family(WAYS, quick=["vectors"])
def deletes_and_updates_one_after_another(p: Player, vectors: str) -> None:
    fed(p, "id INT, name STRING", vectors=vectors)
    p.sql("INSERT INTO {t} SELECT /*+ COALESCE(1) */ id, 'x' FROM range(8)")
    for statement in (
        "DELETE FROM {t} WHERE id = 1",
        "DELETE FROM {t} WHERE id IN (1, 2)",
        "UPDATE {t} SET name = 'y' WHERE id < 4",
        "UPDATE {t} SET name = 'z' WHERE name = 'y' AND id > 2",
        "DELETE FROM {t} WHERE name = 'y'",
        "DELETE FROM {t}",
    ):
        p.sql(statement)
        p.changes()
    p.rows(
        p.read(readChangeFeed="true", startingVersion=0).groupBy("_change_type", "_commit_version").count()
    )


_MERGES = {
    "deletes with inserts of equal rows": (
        "(1, 1), (2, 2)",
        "(1, 10), (1, 100), (3, 30), (3, 300), (3, 300)",
        "s.id = t.id",
        "WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT *",
    ),
    "deletes of equal rows": (
        "(1, 1), (1, 1), (2, 2)",
        "(1, 10), (1, 100)",
        "s.id = t.id",
        "WHEN MATCHED THEN DELETE",
    ),
    "a condition on the target alone": (
        "(1, 1), (1, 1), (2, 2), (3, -3)",
        "(7, 10), (8, 100)",
        "t.value > 0",
        "WHEN MATCHED THEN DELETE",
    ),
    "a condition on the source alone": (
        "(1, 1), (1, 1), (2, 2)",
        "(7, 1), (8, 0), (9, 5)",
        "s.value < 2",
        "WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT *",
    ),
    "no condition": (
        "(1, 1), (2, 2)",
        "(7, 1), (8, 0)",
        "true",
        "WHEN MATCHED THEN DELETE",
    ),
    "all clauses": (
        "(1, 1), (2, 2), (3, 3), (4, 4)",
        "(1, 10), (2, 20), (9, 90)",
        "s.id = t.id",
        """WHEN MATCHED AND s.id = 1 THEN UPDATE SET value = s.value WHEN MATCHED THEN DELETE
           WHEN NOT MATCHED THEN INSERT * WHEN NOT MATCHED BY SOURCE AND t.id = 3 THEN UPDATE SET value = 0
           WHEN NOT MATCHED BY SOURCE THEN DELETE""",
    ),
    "an update that changes nothing": (
        "(1, 1), (2, 2)",
        "(1, 1)",
        "s.id = t.id",
        "WHEN MATCHED THEN UPDATE SET *",
    ),
    "nothing matches": (
        "(1, 1), (2, 2)",
        "(7, 7)",
        "s.id = t.id",
        "WHEN MATCHED THEN UPDATE SET *",
    ),
    "inserts only": (
        "(1, 1), (2, 2)",
        "(1, 5), (7, 7), (7, 7)",
        "s.id = t.id",
        "WHEN NOT MATCHED THEN INSERT *",
    ),
}  # fmt: skip


@AREA.family(
    {f"{how}, {name}": (WAYS[how], _MERGES[name]) for how, name in product(WAYS, _MERGES)},
    quick=[
        "vectors, deletes with inserts of equal rows",
        "rewrite, all clauses",
        "rewrite, a condition on the target alone",
        "rewrite, a condition on the source alone",
    ],
)
def a_merge(p: Player, case: tuple[str, tuple[str, str, str, str]]) -> None:
    vectors, (target, source, on, clauses) = case
    fed(p, "id INT, value INT", vectors=vectors)
    p.sql(f"INSERT INTO {{t}} SELECT /*+ COALESCE(1) */ * FROM VALUES {target}")
    p.sql(
        f"MERGE INTO {{t}} AS t USING (SELECT * FROM VALUES {source} AS s(id, value)) AS s ON {on} {clauses}"
    )
    p.changes(2) if p.table().history(1).first().version == 2 else p.tell("no commit")
    p.rows()


@AREA.family(WAYS, quick=["rewrite"])
def a_merge_that_adds_a_column(p: Player, vectors: str) -> None:
    p.conf("spark.databricks.delta.schema.autoMerge.enabled", "true")
    fed(p, "id INT, value INT NOT NULL", vectors=vectors)
    p.sql("INSERT INTO {t} SELECT /*+ COALESCE(1) */ * FROM VALUES (1, 1), (2, 2), (3, 3)")
    p.sql("""MERGE INTO {t} AS t USING (SELECT * FROM VALUES (1, 10, 'x'), (7, 70, 'y') AS s(id, value, name)) AS s
        ON s.id = t.id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *
        WHEN NOT MATCHED BY SOURCE AND t.id = 3 THEN DELETE""")
    p.changes(0)
    p.schema()


@AREA.situation(long=True)
def a_merge_into_a_void_column(p: Player) -> None:
    p.conf("spark.databricks.delta.schema.autoMerge.enabled", "true")
    fed(p, "id INT, nothing VOID")
    p.sql("INSERT INTO {t} (id) VALUES (1), (2)")
    p.sql("""MERGE INTO {t} AS t USING (SELECT 1 AS id, 'x' AS nothing) AS s ON s.id = t.id
        WHEN MATCHED THEN UPDATE SET *""")
    p.changes()
    p.schema()


@AREA.family(WAYS, quick=["vectors"])
def a_copy_follows_by_the_feed(p: Player, vectors: str) -> None:
    """Changes of each version are merged into another table, which has the rows of the first then."""
    fed(p, "id INT, value INT", vectors=vectors)
    p.sql("CREATE TABLE {u} (id INT, value INT) USING delta")
    source = "(SELECT * FROM VALUES {} AS s(id, value)) AS s"
    both = "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
    no_update = "WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT *"
    statements = (
        "INSERT INTO {t} SELECT /*+ COALESCE(1) */ id, id FROM range(6)",
        f"MERGE INTO {{t}} AS t USING {source.format('(1, 10), (7, 70)')} ON s.id = t.id {both}",
        "DELETE FROM {t} WHERE id = 2",
        f"MERGE INTO {{t}} AS t USING {source.format('(3, 0), (8, 0)')} ON s.id = t.id {no_update}",
        "UPDATE {t} SET value = value + 1 WHERE id < 5",
    )
    for version, statement in enumerate(statements, 1):
        p.sql(statement)
        p.sql(f"""MERGE INTO {{u}} AS t USING (SELECT * FROM table_changes_by_path('{{at}}/t', {version}, {version})
            WHERE _change_type != 'update_preimage') AS s ON s.id = t.id
            WHEN MATCHED AND s._change_type = 'delete' THEN DELETE
            WHEN MATCHED THEN UPDATE SET value = s.value
            WHEN NOT MATCHED AND s._change_type != 'delete' THEN INSERT (id, value) VALUES (s.id, s.value)""")
        p.rows("SELECT * FROM {u}")
    p.rows("SELECT * FROM {u} EXCEPT ALL SELECT * FROM {t}")


# -- where it lies


@AREA.family(WAYS, quick=["rewrite"])
def folders(p: Player, vectors: str) -> None:
    """Change files are in a folder of their own, with partitions below it, and only where they are needed."""
    fed(p, "id INT, part INT", by="part", vectors=vectors)
    p.sql("INSERT INTO {t} SELECT /*+ COALESCE(1) */ id, id % 2 FROM range(8)")
    p.tell(_folders(p))
    p.sql("DELETE FROM {t} WHERE part = 0")
    p.tell(_folders(p))
    p.sql("DELETE FROM {t} WHERE id IN (1, 3)")
    p.tell(_folders(p))
    p.sql("UPDATE {t} SET part = 7 WHERE id = 5")
    p.tell(_folders(p))


# what an engine makes beforehand in the log
_OF_THE_LOG = ("_sidecars", "_staged_commits")


def _folders(p: Player) -> list[str]:
    found = Path(p.path).rglob("*")
    return sorted(str(f.relative_to(p.path)) for f in found if f.is_dir() and f.name not in _OF_THE_LOG)


@AREA.situation(long=True)
def the_feed_asks_for_its_feature(p: Player) -> None:
    p.sql("CREATE TABLE {t} (id INT) USING delta", f"ALTER TABLE {{t}} SET TBLPROPERTIES ('{FEED}' = 'true')")
    p.detail()


@AREA.situation()
def the_feed_is_switched_on_and_off(p: Player) -> None:
    """A range with a version without the feed is an error, whichever version that is."""
    fed(p, "id INT")
    p.sql("INSERT INTO {t} VALUES (1)", f"ALTER TABLE {{t}} SET TBLPROPERTIES ('{FEED}' = 'false')")
    p.sql("INSERT INTO {t} VALUES (2)", f"ALTER TABLE {{t}} SET TBLPROPERTIES ('{FEED}' = 'true')")
    p.sql("INSERT INTO {t} VALUES (3)")
    p.changes(0, endingVersion=1)
    for start, end in ((0, 2), (0, 5), (2, 2), (3, 3), (3, 5)):
        feed = {"readChangeFeed": "true", "startingVersion": start, "endingVersion": end}
        p.attempt(lambda options=feed: p.read(**options).collect())
    p.changes(4, endingVersion=5)
    p.changes(4)


@AREA.situation()
def what_is_no_change(p: Player) -> None:
    """OPTIMIZE and files that are only rearranged give nothing."""
    fed(p, "id INT")
    p.sql("INSERT INTO {t} VALUES (1)", "INSERT INTO {t} VALUES (2)", "OPTIMIZE {t}")
    p.changes()
    p.write("SELECT * FROM {t}", mode="overwrite", dataChange="false")
    p.changes()
    p.sql("RESTORE {t} TO VERSION AS OF 1")
    p.changes()
    p.changes(0)


@AREA.situation()
def a_restore_and_a_truncate(p: Player) -> None:
    fed(p, "id INT", vectors="true")
    p.sql("INSERT INTO {t} SELECT /*+ COALESCE(1) */ id FROM range(4)", "DELETE FROM {t} WHERE id = 1")
    p.sql("RESTORE {t} TO VERSION AS OF 1")
    p.changes()
    p.write("SELECT 9 AS id", mode="overwrite")
    p.changes()
    p.changes(0)
