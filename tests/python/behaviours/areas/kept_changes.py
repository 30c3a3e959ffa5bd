"""Kept DataFrames, views and queries of the change data feed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playing import FEED, VECTORS, Area

if TYPE_CHECKING:
    from playing import Player

AREA = Area("kept_changes")


def fed(p: Player, columns: str, more: str = "") -> None:
    """A table with the feed."""
    given = f"'{FEED}' = 'true', '{VECTORS}' = 'false'{more}"
    p.sql(f"CREATE TABLE {{t}} ({columns}) USING delta TBLPROPERTIES ({given})")


@AREA.family({"no end": {}, "an end": {"endingVersion": 1}, "an end to come": {"endingVersion": 3}})
def a_kept_frame(p: Player, end: dict[str, int]) -> None:
    fed(p, "id INT")
    p.sql("INSERT INTO {t} VALUES (1), (2)")
    kept = p.read(readChangeFeed="true", startingVersion=0, **end).drop("_commit_timestamp")
    p.rows(kept)
    p.sql("DELETE FROM {t} WHERE id = 1")
    p.rows(kept)
    p.sql("INSERT INTO {t} VALUES (3)", "INSERT INTO {t} VALUES (4)")
    p.rows(kept)
    p.rows(kept.groupBy("_change_type").count())


@AREA.family({"no end": {}, "an end": {"endingVersion": 1}})
def a_kept_frame_and_a_new_column(p: Player, end: dict[str, int]) -> None:
    fed(p, "id INT")
    p.sql("INSERT INTO {t} VALUES (1), (2)")
    kept = p.read(readChangeFeed="true", startingVersion=0, **end).drop("_commit_timestamp")
    p.rows(kept)
    p.sql("ALTER TABLE {t} ADD COLUMN name STRING", "INSERT INTO {t} VALUES (3, 'c')")
    p.rows(kept)
    p.tell(kept.columns)
    p.changes(0, **end)


@AREA.situation()
def a_kept_query_of_the_function(p: Player) -> None:
    fed(p, "id INT")
    p.sql("INSERT INTO {t} VALUES (1)")
    open_ended = p.sql("SELECT id, _change_type, _commit_version FROM table_changes_by_path('{at}/t', 0)")
    closed = p.sql("SELECT id, _change_type, _commit_version FROM table_changes_by_path('{at}/t', 0, 1)")
    p.sql("UPDATE {t} SET id = 2")
    p.rows(open_ended)
    p.rows(closed)


@AREA.situation()
def a_view_of_changes(p: Player) -> None:
    fed(p, "id INT")
    p.read(readChangeFeed="true", startingVersion=0).createOrReplaceTempView(p.name)
    p.rows("SELECT count(*) FROM {name}")
    p.sql("INSERT INTO {t} VALUES (1), (2)", "DELETE FROM {t} WHERE id = 1")
    p.rows("SELECT _change_type, count(*) FROM {name} GROUP BY 1")


@AREA.situation()
def a_kept_frame_that_begins_after_the_newest(p: Player) -> None:
    p.conf("spark.databricks.delta.changeDataFeed.timestampOutOfRange.enabled", "true")
    fed(p, "id INT")
    kept = p.read(readChangeFeed="true", startingVersion=1).drop("_commit_timestamp")
    p.rows(kept)
    p.sql("INSERT INTO {t} VALUES (1)")
    p.rows(kept)


@AREA.situation()
def the_changes_of_a_table_go_into_it(p: Player) -> None:
    fed(p, "id INT")
    p.sql("INSERT INTO {t} VALUES (1), (2)")
    kept = p.read(readChangeFeed="true", startingVersion=0)
    p.sql("INSERT INTO {t} VALUES (3)")
    p.write(kept.selectExpr("id * 10 AS id"))
    p.rows()
    p.commit()
    kept.createOrReplaceTempView(p.name)
    p.sql("""MERGE INTO {t} AS t USING (SELECT DISTINCT id FROM {name}) AS s ON t.id = s.id AND s.id < 10
        WHEN MATCHED THEN UPDATE SET id = -s.id""")
    p.rows()
