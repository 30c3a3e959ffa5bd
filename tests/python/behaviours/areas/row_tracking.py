"""Row tracking: who gives row ids and commit versions, what keeps them, and how they are enabled and taken away."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from playing import FEED, VECTORS, Area

if TYPE_CHECKING:
    from playing import Player

AREA = Area("row_tracking")

ON = "delta.enableRowTracking"
KEPT = "SELECT *, _metadata.row_id, _metadata.row_commit_version FROM {t}"
MOVED = {"rewrite": "false", "vectors": "true"}


def create(p: Player, columns: str = "id BIGINT", of: str = "{t}", **properties: str) -> None:
    given = {ON: "true", VECTORS: "false", **{k.replace("__", "."): v for k, v in properties.items()}}
    listed = ", ".join(f"'{k}' = '{v}'" for k, v in given.items() if v)
    p.sql(f"CREATE TABLE {of} ({columns}) USING delta" + (f" TBLPROPERTIES ({listed})" if listed else ""))


def rows(first: int, end: int) -> str:
    """Rows of one file."""
    return f"SELECT id FROM range({first}, {end}, 1, 1)"


def insert(p: Player, first: int, end: int) -> None:
    p.sql(f"INSERT INTO {{t}} {rows(first, end)}")


def enable(p: Player) -> None:
    p.sql(f"ALTER TABLE {{t}} SET TBLPROPERTIES ('{ON}' = 'true')")


def log(p: Player, kind: str, path: str | None = None) -> list[Any]:
    """The actions of a kind, of all commits."""
    commits = sorted(int(c.stem) for c in Path(path or p.path, "_delta_log").glob("*.json"))
    return [a[kind] for version in commits for a in p.actions(version, path) if kind in a]


def mark(p: Player, path: str | None = None) -> None:
    """Tells the highest row id."""
    marks = [json.loads(d["configuration"]) for d in log(p, "domainMetadata", path) if not d["removed"]]
    p.tell(marks[-1]["rowIdHighWaterMark"] if marks else None)


def given(p: Player) -> None:
    """Tells the ids of the files of the newest commit."""
    adds = [a["add"] for a in p.actions() if "add" in a]
    p.tell(sorted([a.get("baseRowId"), a.get("defaultRowCommitVersion")] for a in adds))


def columns(p: Player, path: str | None = None) -> list[str]:
    """The names of the columns that keep ids and versions."""
    found = log(p, "metaData", path)[-1]["configuration"]
    return [v for k, v in sorted(found.items()) if k.startswith("delta.rowTracking.materialized")]


# -- ids are given


@AREA.situation()
def an_empty_table_begins_at_0(p: Player) -> None:
    create(p)
    mark(p)
    insert(p, 0, 3)
    mark(p)
    given(p)
    insert(p, 5, 6)
    p.rows(KEPT)


@AREA.situation()
def the_feature_alone_gives_ids_that_cannot_be_read(p: Player) -> None:
    create(p, **{ON: "", "delta.feature.rowTracking": "supported"})
    insert(p, 0, 3)
    given(p)
    mark(p)
    p.attempt(KEPT, "SELECT _metadata.base_row_id FROM {t}")
    p.rows()


@AREA.situation()
def turned_off_rows_are_read_as_ever(p: Player) -> None:
    create(p)
    insert(p, 0, 3)
    p.sql("DELETE FROM {t} WHERE id = 1", f"ALTER TABLE {{t}} SET TBLPROPERTIES ('{ON}' = 'false')")
    p.rows()
    p.attempt(KEPT, "SELECT _metadata.row_commit_version FROM {t}")
    insert(p, 5, 6)
    given(p)
    p.sql("UPDATE {t} SET id = 9 WHERE id = 5")
    given(p)
    p.rows()


@AREA.situation()
def without_row_tracking_there_is_none(p: Player) -> None:
    create(p, **{ON: ""})
    insert(p, 0, 3)
    given(p)
    p.attempt(KEPT)
    p.sql("UPDATE {t} SET id = 9 WHERE id = 0")
    given(p)


@AREA.situation()
def false_or_another_property_gives_no_ids(p: Player) -> None:
    create(p, **{ON: ""})
    insert(p, 0, 3)
    p.sql(f"ALTER TABLE {{t}} SET TBLPROPERTIES ('{ON}' = 'false')")
    p.sql("ALTER TABLE {t} SET TBLPROPERTIES ('delta.appendOnly' = 'false')")
    p.tell([sorted(a) for a in p.actions()])
    p.detail()
    insert(p, 3, 4)
    given(p)


@AREA.situation()
def a_checkpoint_keeps_the_highest_id_and_the_versions(p: Player) -> None:
    create(p, **{"delta.checkpointInterval": "3"})
    for first in (0, 10, 20):
        insert(p, first, first + 2)
    for version in (0, 1, 2):
        Path(p.path, f"_delta_log/{version:020}.json").unlink()
    p.rows(KEPT)
    insert(p, 30, 31)
    p.rows(KEPT + " WHERE id >= 20")
    mark(p)


@AREA.situation()
def restore_keeps_the_highest_id(p: Player) -> None:
    create(p)
    insert(p, 0, 10)
    before = columns(p)
    for _ in range(2):
        insert(p, 10, 20)
        p.sql("RESTORE TABLE {t} TO VERSION AS OF 1")
        mark(p)
        given(p)
    p.rows(KEPT)
    insert(p, 40, 41)
    p.rows(KEPT + " WHERE id = 40")
    p.tell(columns(p) == before)


@AREA.situation()
def restore_brings_files_back_with_their_ids(p: Player) -> None:
    create(p)
    insert(p, 0, 2)
    insert(p, 2, 4)
    p.sql(
        "UPDATE {t} SET id = id + 10 WHERE id = 2", "DELETE FROM {t}", "RESTORE TABLE {t} TO VERSION AS OF 3"
    )
    p.rows(KEPT)
    p.sql("RESTORE TABLE {t} TO VERSION AS OF 2")
    p.rows(KEPT)
    mark(p)


@AREA.family({"property": f"TBLPROPERTIES ('{ON}' = 'true')", "default": ""})
def created_as_select(p: Player, clause: str) -> None:
    if not clause:
        p.conf("spark.databricks.delta.properties.defaults.enableRowTracking", "true")
    p.sql(f"CREATE TABLE {{t}} USING delta {clause} AS {rows(0, 2)}")
    p.rows(KEPT)
    mark(p)
    p.detail()


@AREA.situation()
def convert_gives_ids(p: Player) -> None:
    p.sql(rows(0, 3)).write.parquet(p.path)
    p.conf("spark.databricks.delta.properties.defaults.enableRowTracking", "true")
    p.sql("CONVERT TO DELTA parquet.`{at}/t`")
    p.rows(KEPT)
    mark(p)
    p.tell(len(columns(p)))
    p.sql("UPDATE {t} SET id = 9 WHERE id = 1")
    p.rows(KEPT)


# -- ids are read


@AREA.situation()
def in_subqueries(p: Player) -> None:
    create(p)
    insert(p, 100, 110)
    insert(p, 0, 5)
    p.rows("SELECT id FROM {t} WHERE id IN (SELECT _metadata.row_id FROM {t})")
    p.rows("SELECT id FROM {t} WHERE id IN (SELECT id FROM {t} WHERE _metadata.row_id % 5 = 0)")
    p.rows("SELECT id FROM {t} WHERE id IN (SELECT id FROM {t} WHERE _metadata.base_row_id = 10)")
    p.rows("SELECT _metadata.row_id FROM {t} WHERE _metadata.base_row_id = 10")
    p.rows("SELECT m.row_id FROM (SELECT _metadata AS m FROM {t} WHERE id < 3)")
    p.rows("SELECT count(*), max(_metadata.row_id) FROM {t} WHERE _metadata.row_commit_version = 2")


@AREA.situation()
def filters_on_ids_of_rows_that_moved_and_of_others(p: Player) -> None:
    create(p)
    insert(p, 0, 100)
    p.sql("UPDATE {t} SET id = id + 1000 WHERE id % 2 = 0")
    insert(p, 200, 210)
    p.sql("OPTIMIZE {t}")
    for condition in ("row_id >= 98", "row_id = 0", "row_id < 2", "row_commit_version = 3", "row_id IS NULL"):
        p.rows(f"{KEPT} WHERE _metadata.{condition}")


@AREA.situation()
def columns_of_the_users_that_have_the_names(p: Player) -> None:
    create(p, "id BIGINT, row_id STRING, row_commit_version STRING, base_row_id STRING")
    p.sql("INSERT INTO {t} VALUES (1, 'a', 'b', 'c')", "UPDATE {t} SET row_id = 'x'")
    p.rows(KEPT)
    p.rows("SELECT row_id, base_row_id, _metadata.base_row_id FROM {t}")
    p.rows(KEPT + " WHERE row_id = 'x' AND _metadata.row_id = 0")


@AREA.situation()
def a_column_of_the_user_s_that_is_named_metadata(p: Player) -> None:
    create(p, "id BIGINT, _metadata STRUCT<row_id: STRING>")
    p.sql("INSERT INTO {t} VALUES (1, struct('a'))", "INSERT INTO {t} VALUES (2, struct('b'))")
    p.sql("UPDATE {t} SET id = 3 WHERE id = 2")
    p.rows("SELECT id, _metadata.row_id FROM {t}")
    df = p.read()
    p.rows(df.select("id", df.metadataColumn("_metadata").getField("row_id")))


@AREA.family(MOVED)
def files_have_the_columns_only_where_rows_moved(p: Player, vectors: str) -> None:
    create(p, **{VECTORS: vectors})
    insert(p, 0, 3)

    def reported() -> None:
        new = [a["add"]["path"] for a in p.actions() if "add" in a]
        p.tell(sorted({tuple(p.spark.read.parquet(f"{p.path}/{f}").columns) for f in new}))

    reported()
    p.sql("UPDATE {t} SET id = 9 WHERE id = 1")
    reported()
    insert(p, 20, 21)
    reported()
    p.sql("OPTIMIZE {t}")
    reported()


@AREA.situation()
def names_of_files_columns_are_taken(p: Player) -> None:
    create(p, **{"delta.columnMapping.mode": "name"})
    insert(p, 0, 2)
    for name in columns(p):
        p.attempt(f"ALTER TABLE {{t}} ADD COLUMNS (`{name}` BIGINT)")
        p.attempt(f"ALTER TABLE {{t}} RENAME COLUMN id TO `{name}`")
    p.rows(KEPT)


@AREA.situation()
def a_stream_of_ids_is_refused(p: Player) -> None:
    create(p, **{FEED: "true", "delta.columnMapping.mode": "name"})
    insert(p, 0, 2)
    stream = p.spark.readStream.format("delta").load(p.path)
    p.stream(rows=stream.selectExpr("id"))
    p.rows(p.read(f"{p.at}/u"))
    p.attempt(lambda: p.stream(to=f"{p.at}/v", rows=stream.selectExpr("id", "_metadata.row_id"), x="1"))
