"""Row tracking: who gives row ids and commit versions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from playing import VECTORS, Area

if TYPE_CHECKING:
    from playing import Player

AREA = Area("row_tracking")

ON = "delta.enableRowTracking"
KEPT = "SELECT *, _metadata.row_id, _metadata.row_commit_version FROM {t}"


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
def convert_gives_ids(p: Player) -> None:
    p.sql(rows(0, 3)).write.parquet(p.path)
    p.conf("spark.databricks.delta.properties.defaults.enableRowTracking", "true")
    p.sql("CONVERT TO DELTA parquet.`{at}/t`")
    p.rows(KEPT)
    mark(p)
    p.tell(len(columns(p)))
    p.sql("UPDATE {t} SET id = 9 WHERE id = 1")
    p.rows(KEPT)
