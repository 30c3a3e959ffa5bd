"""The changes of a table as a stream."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from playing import FEED, VECTORS, Area

from areas.streaming import reader, run

if TYPE_CHECKING:
    from playing import Player

AREA = Area("streams_changes")

FED = f"'{FEED}' = 'true'"
VECTORED = f"{FED}, '{VECTORS}' = 'true'"
CHANGES = {"readChangeFeed": "true"}
KINDS = {"files": FED, "vectors": VECTORED}


def made(p: Player, properties: str, by: str = "") -> None:
    """Two files of two rows in version 1: 0 and 2, 1 and 3; with `by` one for each `part`."""
    p.sql(f"CREATE TABLE {{t}} (id INT, part INT) USING delta {by} TBLPROPERTIES ({properties})")
    rows = "SELECT /*+ COALESCE(1) */ CAST(id AS INT), CAST(id % 2 AS INT) FROM range(4)"
    p.sql(f"INSERT INTO {{t}} {rows}" if by else f"INSERT INTO {{t}} {rows} WHERE id % 2 = 0")
    if not by:
        p.sql(f"INSERT INTO {{t}} {rows} WHERE id % 2 = 1")


@AREA.situation()
def the_feed_comes_later(p: Player) -> None:
    """What is there comes as inserts of the newest version; a start before the feed is an error."""
    p.sql("CREATE TABLE {t} (id INT) USING delta", "INSERT INTO {t} VALUES (1), (9)")
    p.sql("DELETE FROM {t} WHERE id = 9", "INSERT INTO {t} VALUES (2)")
    run(p, at="too early", **CHANGES)
    p.sql(f"ALTER TABLE {{t}} SET TBLPROPERTIES ({FED})")
    run(p, **CHANGES)
    p.sql("DELETE FROM {t} WHERE id = 1")
    run(p, **CHANGES)
    run(p, at="c1", startingVersion=1, **CHANGES)
    run(p, at="c2", startingVersion=4, **CHANGES)
    run(p, at="c3", startingVersion=5, **CHANGES)


@AREA.situation(long=True)
def the_feed_goes(p: Player) -> None:
    p.sql(f"CREATE TABLE {{t}} (id INT) USING delta TBLPROPERTIES ({FED})", "INSERT INTO {t} VALUES (1)")
    run(p, **CHANGES)
    p.sql(f"ALTER TABLE {{t}} SET TBLPROPERTIES ('{FEED}' = 'false')", "UPDATE {t} SET id = 2")
    run(p, **CHANGES)


@AREA.family(KINDS, quick={"vectors"})
def each_kind_of_commit(p: Player, properties: str) -> None:
    """With a restart after each, from the start again, and from commits of removals and of change files."""
    made(p, properties, "PARTITIONED BY (part)")
    run(p, startingVersion=0, **CHANGES)
    p.sql("UPDATE {t} SET id = id + 10 WHERE id < 2", "DELETE FROM {t} WHERE id = 3")
    run(p, startingVersion=0, **CHANGES)
    p.sql("DELETE FROM {t} WHERE part = 0", "OPTIMIZE {t}")
    run(p, startingVersion=0, **CHANGES)
    run(p, startingVersion=0, **CHANGES)
    run(p, at="removals", startingVersion=4, **CHANGES)
    run(p, at="change files", startingVersion=2, **CHANGES)
    p.sql("INSERT INTO {t} VALUES (7, 7)")
    run(p, at="removals", startingVersion=4, **CHANGES)
    run(p, lambda: reader(p, startingVersion=0, **CHANGES).select("id", "_change_type"), at="pruned")
    run(p, lambda: reader(p, startingVersion=0, **CHANGES).select("part", "_commit_version"), at="pruned too")


@AREA.situation()
def a_merge_without_effect(p: Player) -> None:
    made(p, FED)
    p.sql(
        "MERGE INTO {t} AS t USING (SELECT 1 AS k) AS s ON t.id = s.k"
        " WHEN MATCHED AND s.k = 10 THEN UPDATE SET part = 5"
        " WHEN NOT MATCHED AND s.k = 11 THEN INSERT (id, part) VALUES (s.k, 1)"
    )
    run(p, startingVersion=2, **CHANGES)
    p.sql("DELETE FROM {t} WHERE id > 100", "UPDATE {t} SET id = 5 WHERE id > 100")
    run(p, startingVersion=2, **CHANGES)


@AREA.family(KINDS, quick=())
def what_newly_goes(p: Player, properties: str) -> None:
    """One delete after another in the same file, over several files, and of all that is left."""
    made(p, properties)
    p.sql("DELETE FROM {t} WHERE id = 0", "INSERT INTO {t} VALUES (20, 20), (21, 21)")
    p.sql("DELETE FROM {t} WHERE id IN (1, 20)", "DELETE FROM {t} WHERE id IN (2, 3)", "DELETE FROM {t}")
    run(p, startingVersion=0, **CHANGES)
    run(p, at="one by one", together=True, startingVersion=0, maxFilesPerTrigger=1, **CHANGES)
    run(p, at="by bytes", together=True, startingVersion=0, maxBytesPerTrigger="1b", **CHANGES)
    run(p, at="later", startingVersion=4, **CHANGES)


LIMITS: dict[str, dict[str, Any]] = {
    "a file": {"maxFilesPerTrigger": 1},
    "three files": {"maxFilesPerTrigger": 3},
    "a byte": {"maxBytesPerTrigger": "1b"},
}
LIMITED = (
    f"CREATE TABLE {{t}} (id INT, part INT, n INT) USING delta PARTITIONED BY (part) TBLPROPERTIES ({FED})",
    "INSERT INTO {t} VALUES (0, 0, 0), (1, 1, 0), (2, 0, 0), (3, 1, 0)",
    "INSERT INTO {t} VALUES (4, -1, 0)",
    "DELETE FROM {t} WHERE part = -1",
    "UPDATE {t} SET n = 1 WHERE id < 2",
    "UPDATE {t} SET n = 2 WHERE id > 1",
    "INSERT INTO {t} VALUES (10, 0, 2)",
)


@AREA.grid(LIMITS, *LIMITED)
def a_limit_over(p: Player, options: dict[str, Any]) -> None:
    """Commits of files, of removals and of change files: both images of an update come in one batch."""
    run(p, together=True, startingVersion=0, **options, **CHANGES)
    run(p, at="from the table", together=True, **options, **CHANGES)


SAID: dict[str, dict[str, str]] = {
    "ignoreDeletes": {"ignoreDeletes": "true"},
    "ignoreChanges": {"ignoreChanges": "true"},
    "ignoreFileDeletion": {"ignoreFileDeletion": "true"},
    "skipChangeCommits": {"skipChangeCommits": "true"},
    "all": {"ignoreDeletes": "true", "ignoreChanges": "true", "skipChangeCommits": "true"},
    "no switch": {"skipChangeCommits": "x"},
}


@AREA.grid(SAID, *LIMITED, long=True)
def options_of_rows(p: Player, options: dict[str, str]) -> None:
    """They have no effect on changes, with a start and without one."""
    run(p, startingVersion=0, **options, **CHANGES)
    run(p, at="from the table", **options, **CHANGES)


@AREA.situation(differs="a pattern that hides changes is refused", long=True)
def a_pattern_of_files(p: Player) -> None:
    p.sql(*LIMITED)
    run(p, startingVersion=0, excludeRegex="part=0", **CHANGES)


@AREA.situation(long=True)
def another_schema(p: Player) -> None:
    """Ends the stream; a comment does not."""
    p.sql(f"CREATE TABLE {{t}} (id INT) USING delta TBLPROPERTIES ({FED})", "INSERT INTO {t} VALUES (1)")
    run(p, startingVersion=0, **CHANGES)
    p.sql("ALTER TABLE {t} ALTER COLUMN id COMMENT 'the id'", "INSERT INTO {t} VALUES (2)")
    run(p, startingVersion=0, **CHANGES)
    before = reader(p, startingVersion=0, **CHANGES)
    p.sql("ALTER TABLE {t} ADD COLUMN a INT", "INSERT INTO {t} VALUES (3, 3)")
    run(p, before.drop("_commit_timestamp"), startingVersion=0)
    run(p, startingVersion=0, **CHANGES)
    run(p, at="from the start", startingVersion=0, **CHANGES)


@AREA.situation(long=True)
def with_column_mapping(p: Player) -> None:
    made(p, f"{FED}, 'delta.columnMapping.mode' = 'name'")
    p.sql("ALTER TABLE {t} RENAME COLUMN part TO q", "UPDATE {t} SET q = 5 WHERE id = 1")
    run(p, startingVersion=3, **CHANGES)
    run(p, at="the table", **CHANGES)
    run(p, at="before it", startingVersion=1, **CHANGES)


@AREA.situation(
    "a query that found nothing keeps its start in the checkpoint, and misses nothing after it", long=True
)
def latest(p: Player) -> None:
    """Of changes and of rows: what is there is not given."""
    made(p, FED)
    for at, options in (("changes", CHANGES), ("rows", {})):
        run(p, at=at, startingVersion="latest", **options)
        p.sql("INSERT INTO {t} VALUES (7, 7)")
        run(p, at=at, startingVersion="latest", **options)


@AREA.situation(long=True)
def a_filter_of_what_happened(p: Player) -> None:
    made(p, FED)
    p.sql("UPDATE {t} SET part = 7 WHERE id = 1", "DELETE FROM {t} WHERE id = 2")
    given = {"startingVersion": 0, **CHANGES}
    run(p, lambda: reader(p, **given).where("_change_type = 'delete'").drop("_commit_timestamp"))
    run(p, lambda: reader(p, **given).where("_change_type = 'insert' AND id > 1").select("id"), at="c1")
    run(p, lambda: reader(p, **given).where("_commit_version = 3").select("id", "_change_type"), at="c2")
    run(p, lambda: reader(p, **given).groupBy("_change_type").count(), at="c3", mode="complete")
