"""Row tracking of clones, of replaced and converted tables, and where it is suspended or enabled beside others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from playing import FEED, VECTORS, Area

from areas.row_tracking import KEPT, ON, columns, create, enable, given, insert, log, mark, rows
from areas.row_tracking_changes import steps

if TYPE_CHECKING:
    from playing import Player

AREA = Area("row_tracking_tables")

FEATURE = "delta.feature.rowTracking"
DEFAULT = "spark.databricks.delta.properties.defaults.enableRowTracking"
COUNTS = "SELECT count(*), count(_metadata.row_id), count(DISTINCT _metadata.row_id) FROM {t}"


def state(p: Player, path: str | None = None) -> None:
    """Tells whether row tracking is supported and enabled, the highest id, and the ids of files."""
    protocol = log(p, "protocol", path)[-1]
    configuration = log(p, "metaData", path)[-1]["configuration"]
    p.tell(["rowTracking" in protocol.get("writerFeatures", []), configuration.get(ON)])
    mark(p, path)
    adds = [a["add"] for a in p.actions(path=path) if "add" in a]
    p.tell(sorted([a.get("baseRowId"), a.get("defaultRowCommitVersion")] for a in adds))


# -- clones


def source(p: Player, *, tracked: bool, filled: bool) -> str:
    of = f"{p.at}/s_{tracked}_{filled}"
    create(p, of=f"delta.`{of}`", **{ON: str(tracked).lower()})
    if filled:
        p.sql(f"INSERT INTO delta.`{of}` {rows(0, 10)}")
    return of


SOURCES = {
    f"{'with' if tracked else 'without'} ids, {'rows' if filled else 'empty'}": (tracked, filled)
    for tracked in (True, False)
    for filled in (True, False)
}
TARGETS: dict[str, Any] = {"absent": None, "empty": "false", "empty with ids": "true"}
CLAUSES = {
    "": "",
    "on": f"TBLPROPERTIES ('{ON}' = 'true')",
    "off": f"TBLPROPERTIES ('{ON}' = 'false')",
    "supported": f"TBLPROPERTIES ('{FEATURE}' = 'supported')",
}


# the clauses of the targets: what a target has without a clause, and what a clause makes of it
CLONED = {"absent": ("", "on", "supported"), "empty": ("", "on", "supported"), "empty with ids": ("", "off")}


@AREA.family(SOURCES)
def clones(p: Player, case: tuple[bool, bool]) -> None:
    tracked, filled = case
    of = source(p, tracked=tracked, filled=filled)
    for name in p.each(f"{t}, {c}" for t in TARGETS for c in CLONED[t]):
        target, clause = name.split(", ")
        if TARGETS[target]:
            create(p, **{ON: TARGETS[target]})
        p.attempt(f"CREATE OR REPLACE TABLE {{t}} SHALLOW CLONE delta.`{of}` {CLAUSES[clause]}")
        state(p)


@AREA.situation()
def a_clone_onto_rows(p: Player) -> None:
    of = source(p, tracked=False, filled=True)
    for tracked in p.each(("false", "true")):
        create(p, **{ON: tracked})
        insert(p, 0, 2)
        p.attempt(f"CREATE OR REPLACE TABLE {{t}} SHALLOW CLONE delta.`{of}`")
        state(p)


@AREA.family({"with ids": "true", "without ids": "false"})
def a_clone_of_itself_while_empty(p: Player, tracked: str) -> None:
    create(p, **{ON: tracked})
    p.attempt("CREATE OR REPLACE TABLE {t} SHALLOW CLONE {t}")
    state(p)


@AREA.situation()
def clones_by_the_default_of_the_session(p: Player) -> None:
    of, bare = source(p, tracked=True, filled=True), source(p, tracked=False, filled=True)
    for name in p.each(("false", "true")):
        p.conf(DEFAULT, name)
        p.sql(f"CREATE TABLE {{t}} SHALLOW CLONE delta.`{of}`")
        state(p)
        p.path += "b"
        p.sql(f"CREATE TABLE {{t}} SHALLOW CLONE delta.`{bare}`")
        state(p)


@AREA.situation()
def rows_of_a_clone_that_change(p: Player) -> None:
    of = source(p, tracked=True, filled=True)
    p.sql(f"CREATE TABLE {{t}} SHALLOW CLONE delta.`{of}`", "UPDATE {t} SET id = 100 WHERE id = 3")
    p.rows(KEPT)
    insert(p, 20, 22)
    p.rows(KEPT + " WHERE id >= 20")
    mark(p)


# -- tables that are replaced


REPLACED = {
    "create or replace by a table with ids": ("CREATE OR REPLACE", "SELECT * FROM {u}", "true"),
    "replace by a table with ids": ("REPLACE", "SELECT * FROM {u}", "true"),
    "replace without the default": ("REPLACE", "SELECT * FROM {u}", "false"),
    "create or replace without the default": ("CREATE OR REPLACE", "SELECT * FROM {u}", "false"),
}


@AREA.situation()
def a_table_with_ids_is_replaced(p: Player) -> None:
    p.sql(f"CREATE TABLE {{u}} USING delta TBLPROPERTIES ('{ON}' = 'true') AS {rows(0, 5)}")
    for name, (how, query, default) in REPLACED.items():
        p.tell({"case": name})
        p.conf(DEFAULT, "true")
        p.sql("DROP TABLE IF EXISTS {name}", f"CREATE TABLE {{name}} USING delta AS {rows(0, 100)}")
        path = p.sql("DESCRIBE DETAIL {name}").first().location.removeprefix("file:")
        before = columns(p, path)
        p.conf(DEFAULT, default)
        p.sql(f"{how} TABLE {{name}} USING delta AS {query}")
        state(p, path)
        p.tell([len(before), columns(p, path) == before])
        p.answers(KEPT.replace("{t}", "{name}"))


@AREA.situation()
def a_table_without_ids_is_replaced(p: Player) -> None:
    p.sql(f"CREATE TABLE {{u}} USING delta TBLPROPERTIES ('{ON}' = 'true') AS {rows(0, 5)}")
    for how, clause, default in (
        ("REPLACE", "supported", "true"),
        ("CREATE OR REPLACE", "on", "true"),
        ("CREATE OR REPLACE", "on", "false"),
        ("REPLACE", "", "true"),
        ("CREATE OR REPLACE", "", "false"),
    ):
        p.tell({"case": f"{how}, {clause}, {default}"})
        p.conf(DEFAULT, "false")
        p.sql("DROP TABLE IF EXISTS {name}", f"CREATE TABLE {{name}} USING delta AS {rows(0, 100)}")
        path = p.sql("DESCRIBE DETAIL {name}").first().location.removeprefix("file:")
        p.conf(DEFAULT, default)
        p.sql(f"{how} TABLE {{name}} USING delta {CLAUSES[clause]} AS SELECT * FROM {{u}}")
        state(p, path)
        p.answers(KEPT.replace("{t}", "{name}"))


# -- converted tables


COUNTED = "the numbers of rows come from the files"


@AREA.family(
    {"clause": (" NO STATISTICS", "true"), "setting": ("", "false")},
    {"clause": COUNTED, "setting": COUNTED},
)
def converted_without_statistics(p: Player, case: tuple[str, str]) -> None:
    clause, collected = case
    p.sql(rows(0, 3)).write.parquet(p.path)
    p.conf(DEFAULT, "true")
    p.conf("spark.databricks.delta.stats.collect", collected)
    p.attempt(f"CONVERT TO DELTA parquet.`{p.path}`{clause}")


# -- column mapping goes


@AREA.family({"files": "false", "vectors": "true"})
def column_mapping_is_dropped(p: Player, vectors: str) -> None:
    create(p, "id BIGINT, v BIGINT", **{"delta.columnMapping.mode": "name", VECTORS: vectors})
    for first in (0, 5):
        p.sql(f"INSERT INTO {{t}} SELECT id, id + 1 FROM range({first}, {first + 5}, 1, 1)")
    for _ in range(2):
        p.sql("ALTER TABLE {t} DROP FEATURE columnMapping")
        p.rows(KEPT)
        mark(p)
        p.sql("ALTER TABLE {t} SET TBLPROPERTIES ('delta.columnMapping.mode' = 'name')")
        p.sql("UPDATE {t} SET v = -1 WHERE id % 5 = 0")


# -- suspended


@AREA.family({"files": "false", "vectors": "true"})
def suspended_and_back(p: Player, vectors: str) -> None:
    create(p, **{VECTORS: vectors})
    insert(p, 0, 10)
    p.sql("UPDATE {t} SET id = 200 WHERE id = 2", "DELETE FROM {t} WHERE id = 4")
    p.rows(KEPT + " WHERE id = 200")
    mark(p)
    p.sql(f"ALTER TABLE {{t}} SET TBLPROPERTIES ('{ON}' = 'false', 'delta.rowTrackingSuspended' = 'true')")
    insert(p, 10, 15)
    given(p)
    p.sql("UPDATE {t} SET id = 300 WHERE id = 200")
    given(p)
    p.sql("DELETE FROM {t} WHERE id = 12")
    given(p)
    mark(p)
    p.attempt(f"ALTER TABLE {{t}} SET TBLPROPERTIES ('{ON}' = 'true')")
    p.sql("ALTER TABLE {t} SET TBLPROPERTIES ('delta.rowTrackingSuspended' = 'false')")
    enable(p)
    p.rows(COUNTS)
    p.rows("SELECT id FROM {t} WHERE id = 300 AND _metadata.row_id > 2")
    p.rows("SELECT count(*) FROM {t} WHERE _metadata.base_row_id IS NULL")


# -- enabled beside others


OTHERS = {
    "vectors": f"'{VECTORS}' = 'true'",
    "column mapping": "'delta.columnMapping.mode' = 'name'",
    "a key": "'foo' = 'bar'",
}


@AREA.family({"older": ("1", "2"), "features": ("3", "7")})
def enabled_with_another_property(p: Player, versions: tuple[str, str]) -> None:
    for name in p.each(OTHERS):
        old = {"delta.minReaderVersion": versions[0], "delta.minWriterVersion": versions[1]}
        create(p, **{ON: "", VECTORS: "" if versions[0] == "1" else "false", **old})
        insert(p, 0, 3)
        p.attempt(f"ALTER TABLE {{t}} SET TBLPROPERTIES ({OTHERS[name]}, '{ON}' = 'true')")
        steps(p, 2)
        p.rows(KEPT)
        p.tell(sorted(p.sql("DESCRIBE DETAIL {t}").first().tableFeatures))


@AREA.situation()
def enabled_with_a_property_that_fails(p: Player) -> None:
    create(p, **{ON: ""})
    insert(p, 0, 3)
    p.attempt(f"ALTER TABLE {{t}} SET TBLPROPERTIES ('delta.columnMapping.mode' = 'id', '{ON}' = 'true')")
    p.rows()
    enable(p)
    p.rows(KEPT)


@AREA.situation()
def enabled_with_versions(p: Player) -> None:
    create(p, **{ON: "", VECTORS: "", "delta.minReaderVersion": "1", "delta.minWriterVersion": "2"})
    insert(p, 0, 3)
    p.attempt(f"ALTER TABLE {{t}} SET TBLPROPERTIES ('delta.minWriterVersion' = '5', '{ON}' = 'true')")
    p.detail()
    p.answers(KEPT)


# -- streams


@AREA.family({"files": "none", "mapping": "name"})
def a_stream_of_changes_of_ids_is_refused(p: Player, mode: str) -> None:
    create(p, **{FEED: "true", "delta.columnMapping.mode": mode})
    insert(p, 0, 2)
    p.sql("UPDATE {t} SET id = 7 WHERE id = 1")
    feed = p.spark.readStream.format("delta").option("readChangeFeed", "true").option("startingVersion", "0")
    p.stream(rows=feed.load(p.path).selectExpr("id", "_change_type AS c"))
    p.rows(p.read(f"{p.at}/u"))
    ids = feed.load(p.path).selectExpr
    p.attempt(lambda: p.stream(to=f"{p.at}/v", rows=ids("id", "_metadata.row_id"), x="1"))
