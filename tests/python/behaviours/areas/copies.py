"""Copies of tables: clones with other properties and row ids, and restores beside vectors."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from playing import FEED, VECTORS, Area
from pyspark.sql import functions as f

if TYPE_CHECKING:
    from playing import Player

AREA = Area("copies")

TRACKED = "delta.enableRowTracking"


def row_ids(p: Player, of: str = "u") -> None:
    """Tells of each file whether it has a first row id, and of the table whether rows are tracked."""
    adds = [a["add"] for a in p.actions(path=f"{p.at}/{of}") if "add" in a]
    p.tell([len(adds), all("baseRowId" in add for add in adds), any("baseRowId" in add for add in adds)])
    row = p.sql(f"DESCRIBE DETAIL delta.`{{at}}/{of}`").first()
    p.tell(["rowTracking" in row.tableFeatures, row.properties.get(TRACKED)])


def made(p: Player, of: str, *, tracked: bool, rows: bool) -> None:
    p.sql(f"CREATE TABLE {of} (id INT) USING delta TBLPROPERTIES ('{TRACKED}' = '{str(tracked).lower()}')")
    if rows:
        p.sql(f"INSERT INTO {of} SELECT /*+ COALESCE(1) */ explode(sequence(1, 4))")


# -- row ids of clones: whether the source is tracked and has rows, whether the target is, and the properties

FEATURE = "'delta.feature.rowTracking' = 'supported'"
CLONED: dict[str, tuple[bool, bool, bool | None, str]] = {
    "the feature": (False, True, None, FEATURE),
    "the feature, onto an empty one": (False, True, False, FEATURE),
    "of tracked rows": (True, True, None, ""),
    "of tracked rows, onto an empty one": (True, True, False, ""),
    "of no rows": (False, False, None, ""),
    "of no tracked rows": (True, False, None, ""),
    "of no rows, onto an empty one": (False, False, False, ""),
    "of no tracked rows, onto an empty one": (True, False, False, ""),
    "of no rows, by a property": (False, False, None, f"'{TRACKED}' = true"),
    "of no rows, onto an empty one, by a property": (False, False, False, f"'{TRACKED}' = true"),
    "by a property, onto an empty one": (False, True, False, f"'{TRACKED}' = true"),
    "turned off": (True, True, True, f"'{TRACKED}' = false"),
}


def cloned(p: Player, case: tuple[bool, bool, bool | None, str]) -> None:
    tracked, rows, target, properties = case
    made(p, "{t}", tracked=tracked, rows=rows)
    if target is not None:
        made(p, "{u}", tracked=target, rows=False)
    p.attempt(
        "CREATE OR REPLACE TABLE {u} SHALLOW CLONE {t}"
        + (f" TBLPROPERTIES ({properties})" if properties else "")
    )
    row_ids(p)
    p.rows("SELECT * FROM {u}")


@AREA.grid(CLONED, long=True)
def row_ids_of_clones(p: Player, case: tuple[bool, bool, bool | None, str]) -> None:
    cloned(p, case)


@AREA.situation()
def row_ids_of_a_clone_onto_a_tracked_table(p: Player) -> None:
    cloned(p, (False, True, True, ""))


@AREA.situation()
def a_clone_onto_rows_that_are_tracked(p: Player) -> None:
    made(p, "{t}", tracked=False, rows=True)
    made(p, "{u}", tracked=True, rows=True)
    p.attempt("CREATE OR REPLACE TABLE {u} SHALLOW CLONE {t}")


@AREA.grid({"tracked": "yes", "not tracked": "no"})
def a_table_without_rows_that_is_its_own_source(p: Player, tracked: str) -> None:
    made(p, "{u}", tracked=tracked == "yes", rows=False)
    p.attempt("CREATE OR REPLACE TABLE {u} SHALLOW CLONE {u}")
    row_ids(p)


# -- properties of clones

GIVEN = {
    "the feed": f"'{FEED}' = 'true'",
    "vectors": f"'{VECTORS}' = 'true'",
    "the highest id": "'delta.columnMapping.maxColumnId' = '123'",
    "a mode": "'delta.columnMapping.mode' = 'id'",
    "one of the user": "'abc' = '123'",
}


@AREA.grid(
    GIVEN,
    "CREATE TABLE {t} (id INT, p INT) USING delta PARTITIONED BY (p) TBLPROPERTIES ('k' = 'v')",
    "INSERT INTO {t} VALUES (1, 1)",
)
def properties_of_clones(p: Player, properties: str) -> None:
    p.attempt(f"CREATE TABLE {{name}} SHALLOW CLONE {{t}} TBLPROPERTIES ({properties})")
    if properties == GIVEN["the highest id"] or "mode" in properties:
        return
    p.detail("{name}")
    p.tell(sorted(r.key for r in p.sql("SHOW TBLPROPERTIES {name}").collect() if r.key in ("abc", "k")))
    # a clone by name keeps its folder, where another situation may make a table
    place = p.sql("DESCRIBE DETAIL {name}").first().location
    p.sql("DROP TABLE {name}")
    shutil.rmtree(place.removeprefix("file:"), ignore_errors=True)


@AREA.situation()
def vectors_are_turned_off(p: Player) -> None:
    p.sql(
        f"CREATE TABLE {{t}} (id INT) USING delta TBLPROPERTIES ('{VECTORS}' = 'true')",
        "INSERT INTO {t} SELECT /*+ COALESCE(1) */ explode(sequence(1, 10))",
        "DELETE FROM {t} WHERE id = 1",
    )
    p.attempt(f"CREATE TABLE {{u}} SHALLOW CLONE {{t}} TBLPROPERTIES ('{VECTORS}' = 'false')")
    p.attempt(
        f"CREATE TABLE delta.`{{at}}/v` SHALLOW CLONE {{t}} VERSION AS OF 1 TBLPROPERTIES ('{VECTORS}' = 'false')"
    )


# -- statements that clone

STATEMENTS = {
    "REPLACE IF NOT EXISTS": "REPLACE TABLE IF NOT EXISTS {u} SHALLOW CLONE {t}",
    "CREATE OR REPLACE IF NOT EXISTS": "CREATE OR REPLACE TABLE IF NOT EXISTS {u} SHALLOW CLONE {t}",
    "IF NOT EXISTS by name": "CREATE TABLE IF NOT EXISTS {name} SHALLOW CLONE {t}",
    "CREATE OR REPLACE of none": "CREATE OR REPLACE TABLE {u} SHALLOW CLONE {t}",
    "a name that is not there": "CREATE TABLE {u} SHALLOW CLONE not_exists",
    "a version of one": "CREATE TABLE {u} SHALLOW CLONE not_exists VERSION AS OF 0",
    "a place and another": "CREATE TABLE {u} SHALLOW CLONE {t} LOCATION '{at}/v'",
    "a name and a place": "CREATE TABLE {name}_2 SHALLOW CLONE {t} LOCATION '{at}/v'",
}


@AREA.grid(STATEMENTS, "CREATE TABLE {t} (id INT) USING delta", "INSERT INTO {t} VALUES (1)")
def statements_that_clone(p: Player, statement: str) -> None:
    p.sql(
        "CREATE TABLE {name} USING parquet LOCATION '{at}/p' TBLPROPERTIES ('abc' = 'def') AS SELECT 7 AS x"
    )
    p.attempt(statement)
    p.rows("SELECT * FROM {name}")
    p.tell([Path(p.at, name, "_delta_log").exists() for name in "uv"])
    p.sql("DROP TABLE IF EXISTS {name}_2")


@AREA.grid(
    {"RESTORE": "RESTORE TABLE {name} TO VERSION AS OF 0", "CLONE": "CREATE TABLE {u} SHALLOW CLONE {name}"},
    "CREATE TABLE {t} (id INT) USING delta",
)
def views(p: Player, statement: str) -> None:
    p.sql("CREATE TEMPORARY VIEW {name} AS SELECT * FROM range(2)")
    p.attempt(statement)
    p.sql("DROP VIEW {name}", "CREATE VIEW {name} AS SELECT * FROM {t}")
    p.attempt(statement, "RESTORE TABLE not_exists TO VERSION AS OF 0")


# -- restores beside vectors

RESTORED = {
    "to none": (True, ["id > 5"], 1),
    "to some": (True, ["id > 7", "id > 5"], 2),
    "before they were turned on": (False, ["id > 5"], 1),
}


@AREA.grid(RESTORED)
def restored_beside_vectors(p: Player, case: tuple[bool, list[str], int]) -> None:
    on, deleted, version = case
    p.sql(
        f"CREATE TABLE {{t}} (id INT) USING delta TBLPROPERTIES ('{VECTORS}' = '{str(on).lower()}')",
        "INSERT INTO {t} SELECT /*+ COALESCE(1) */ explode(sequence(1, 10))",
    )
    if not on:
        p.sql(f"ALTER TABLE {{t}} SET TBLPROPERTIES ('{VECTORS}' = 'true')")
    for condition in deleted:
        p.sql(f"DELETE FROM {{t}} WHERE {condition}")
    before = p.sql("DESCRIBE HISTORY {t} LIMIT 1").first().version
    stamp = p.sql("DESCRIBE HISTORY {t}").where(f.col("version") == version).first().timestamp
    for to in (f"VERSION AS OF {version}", f"TIMESTAMP AS OF '{stamp}'"):
        p.sql(f"RESTORE TABLE {{t}} TO {to}")
        p.rows()
        p.tell(sorted("deletionVector" in a["add"] for a in p.actions() if "add" in a))
        p.detail()
        p.rows(p.read(versionAsOf=before))
        p.sql(f"RESTORE TABLE {{t}} TO VERSION AS OF {before}")
        p.rows()


@AREA.grid({"a version": "VERSION AS OF 2", "a time": "TIMESTAMP AS OF '{time}'"})
def restored_to_the_newest_version(p: Player, to: str) -> None:
    p.sql(
        "CREATE TABLE {t} (id INT) USING delta",
        "INSERT INTO {t} VALUES (1)",
        "DELETE FROM {t} WHERE id = 1",
    )
    time = p.sql("DESCRIBE HISTORY {t} LIMIT 1").first().timestamp
    restored = p.sql(f"RESTORE TABLE {{t}} TO {to.replace('{time}', str(time))}")
    p.tell([restored.count(), p.newest()])
    p.sql("RESTORE TABLE {t} TO VERSION AS OF 1")
    p.tell(p.sql("RESTORE TABLE {t} TO VERSION AS OF 3").count())
    # another version of the same rows
    p.tell([p.sql("RESTORE TABLE {t} TO VERSION AS OF 1").count(), p.newest()])
    p.rows()


@AREA.situation()
def the_feed_of_restores_beside_vectors(p: Player) -> None:
    p.sql(
        f"CREATE TABLE {{t}} (id INT) USING delta TBLPROPERTIES ('{FEED}' = 'true', '{VECTORS}' = 'true')",
        "INSERT INTO {t} SELECT /*+ COALESCE(1) */ explode(sequence(0, 9))",
        "INSERT INTO {t} VALUES (12)",
        "DELETE FROM {t} WHERE id < 1",
        "UPDATE {t} SET id = 14 WHERE id > 11",
    )
    for version in (3, 2, 1):
        p.sql(f"RESTORE TABLE {{t}} TO VERSION AS OF {version}")
        p.changes()
        p.rows()
