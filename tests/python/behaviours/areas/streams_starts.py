"""Where a stream of a table, or of its changes, begins, how much a batch takes, and what is gone."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from playing import FEED, Area

from areas.logs import put
from areas.streaming import log, reader, run, take_away

if TYPE_CHECKING:
    from playing import Player

AREA = Area("streams_starts")

# version 0 makes the table; those after it have the row of their number
MADE = (
    f"CREATE TABLE {{t}} (id INT) USING delta TBLPROPERTIES ('{FEED}' = 'true')",
    "INSERT INTO {t} VALUES (1)",
    "INSERT INTO {t} VALUES (2)",
    "INSERT INTO {t} VALUES (3)",
)
DAY = 86_400
FIRST = 1_704_067_200  # 2024-01-01


def date(p: Player) -> None:
    """Each version is a day after the one before; the first is of 2024-01-01."""
    for version in range(4):
        at = FIRST + version * DAY
        os.utime(log(p, version), (at, at))


def offsets(p: Player, at: str = "checkpoint") -> None:
    """Tells the offsets of a query with one source: version, index, and whether it is in its first version."""
    files = [f for f in Path(p.at, at, "offsets").glob("*") if f.name.isdigit()]
    for file in sorted(files, key=lambda f: int(f.name)):
        said = json.loads(file.read_text().splitlines()[-1])
        p.tell([said["reservoirVersion"], said["index"], said["isStartingVersion"]])


CHANGES = {"readChangeFeed": "true"}


def run_both(p: Player, **options: Any) -> None:
    """The stream of the table, and that of its changes."""
    run(p, **options)
    run(p, at="of changes", **options, **CHANGES)


TIMES = {
    "the first": "2024-01-01 00:00:00",
    "a date": "2024-01-02",
    "before all": "2020-01-01",
    "between": "2024-01-02 10:00:00",
    "the newest": "2024-01-04 00:00:00",
    "after the newest": "2024-01-04 00:00:01",
    "long after": "2030-01-01",
    "no time": "soon",
}


@AREA.grid(TIMES, *MADE)
def a_time(p: Player, time: str) -> None:
    date(p)
    run(p, startingTimestamp=time)


OF_CHANGES = {
    name: TIMES[name] for name in ("the first", "between", "the newest", "after the newest", "no time")
}


@AREA.grid(OF_CHANGES, *MADE, long=True)
def a_time_of_changes(p: Player, time: str) -> None:
    date(p)
    run(p, startingTimestamp=time, **CHANGES)


@AREA.grid({"after the newest": "2024-01-04 00:00:01", "long after": "2030-01-01"}, *MADE, long=True)
def a_time_of_changes_that_may_come_later(p: Player, time: str) -> None:
    date(p)
    p.conf("spark.databricks.delta.changeDataFeed.timestampOutOfRange.enabled", "true")
    run(p, startingTimestamp=time, **CHANGES)
    p.sql("INSERT INTO {t} VALUES (4)")
    run(p, startingTimestamp=time, **CHANGES)


STARTS: dict[str, dict[str, Any]] = {
    "0": {"startingVersion": 0},
    "2": {"startingVersion": 2},
    "the next": {"startingVersion": 4},
    "to come": {"startingVersion": 5},
    "negative": {"startingVersion": -1},
    "text": {"startingVersion": "first"},
    "two": {"startingVersion": 1, "startingTimestamp": "2024-01-01"},
    "time travel": {"versionAsOf": 1},
}
LATER = {"the next": 4, "the one after": 5, "long after": 9}
ENDS: dict[str, dict[str, Any]] = {
    "a version": {"startingVersion": 1, "endingVersion": 2},
    "a time": {"startingVersion": 1, "endingTimestamp": "2024-01-02"},
}


@AREA.grid(STARTS, *MADE)
def a_version(p: Player, options: dict[str, Any]) -> None:
    run_both(p, **options)


@AREA.grid(LATER, *MADE)
def a_version_that_may_come_later(p: Player, version: int) -> None:
    p.conf("spark.databricks.delta.changeDataFeed.timestampOutOfRange.enabled", "true")
    for row in (4, 5, 6):
        run_both(p, startingVersion=version)
        p.sql(f"INSERT INTO {{t}} VALUES ({row})")
    run_both(p, startingVersion=version)


@AREA.grid(
    ENDS,
    *MADE,
    differs="an option that would say nothing to the stream is refused by its name, not ignored",
)
def an_end(p: Player, options: dict[str, Any]) -> None:
    """Is an option of batches."""
    run_both(p, **options)


@AREA.situation(long=True)
def times_after_a_cleanup(p: Player) -> None:
    p.sql(*MADE)
    p.sql(
        "ALTER TABLE {t} SET TBLPROPERTIES ('delta.checkpointInterval' = '5')", "INSERT INTO {t} VALUES (4)"
    )
    date(p)
    take_away(p, 0, 1)
    run(p, at="c0", startingTimestamp="2024-01-01")
    run(p, at="c1", startingTimestamp="2024-01-03")
    run(p, at="c2", startingVersion=0)
    run(p, at="c3", startingVersion=2)


@AREA.situation(long=True)
def nothing_there(p: Player) -> None:
    """No folder, one with an empty log, a table without rows, a folder of something else."""
    run(p)
    Path(p.path, "_delta_log").mkdir(parents=True)
    run(p)
    p.path = f"{p.at}/other"
    p.spark.range(2).write.parquet(p.path)
    run(p)
    p.path = f"{p.at}/empty"
    p.sql("CREATE TABLE {t} (id INT) USING delta")
    run(p)
    run(p)
    p.sql("INSERT INTO {t} VALUES (1)")
    run(p, lambda: reader(p).where("id > 5"))
    run(p)


LIMITS: dict[str, dict[str, Any]] = {
    "one file": {"maxFilesPerTrigger": 1},
    "two files": {"maxFilesPerTrigger": 2},
    "a byte": {"maxBytesPerTrigger": "1b"},
    "much": {"maxBytesPerTrigger": "1g"},
    "two files and a byte": {"maxFilesPerTrigger": 2, "maxBytesPerTrigger": "1b"},
    "two files and much": {"maxFilesPerTrigger": 2, "maxBytesPerTrigger": "1g"},
}
WRONG: dict[str, dict[str, Any]] = {
    f"{value} {name}": {name: value}
    for name in ("maxFilesPerTrigger", "maxBytesPerTrigger")
    for value in ("0", "-1", "string")
} | {"a pattern": {"excludeRegex": "[abc"}}


@AREA.grid(LIMITS, *MADE)
def a_limit(p: Player, options: dict[str, Any]) -> None:
    run(p, **options)
    offsets(p)


@AREA.grid(
    {name: LIMITS[name] for name in ("two files", "a byte")}, *MADE, "UPDATE {t} SET id = id + 10", long=True
)
def a_limit_of_changes(p: Player, options: dict[str, Any]) -> None:
    run(p, together=True, startingVersion=1, **options, **CHANGES)


@AREA.grid(WRONG, *MADE, long=True)
def a_limit_that_makes_no_sense(p: Player, options: dict[str, Any]) -> None:
    run(p, **options)


@AREA.situation()
def a_limit_that_changes(p: Player) -> None:
    """After a restart, over checkpoints of the log; all at once by the trigger of one batch."""
    p.sql("CREATE TABLE {t} (id INT) USING delta TBLPROPERTIES ('delta.checkpointInterval' = '2')")
    p.sql("INSERT INTO {t} VALUES (1)", "INSERT INTO {t} VALUES (2)")
    run(p, maxFilesPerTrigger=1)
    p.sql("INSERT INTO {t} VALUES (3)", "INSERT INTO {t} VALUES (4)", "INSERT INTO {t} VALUES (5)")
    run(p, maxFilesPerTrigger=2)
    p.sql("INSERT INTO {t} VALUES (6)", "INSERT INTO {t} VALUES (7)")
    run(p, maxBytesPerTrigger="1b")
    offsets(p)
    run(p, at="new", once=True, maxFilesPerTrigger=1)


@AREA.situation()
def commits_without_files(p: Player) -> None:
    p.sql("CREATE TABLE {t} (id INT) USING delta", "INSERT INTO {t} VALUES (1)")
    run(p)
    empty = {
        "commitInfo": {"timestamp": FIRST * 1000, "operation": "Manual Update", "operationParameters": {}}
    }
    put(p.path, 2, empty)
    run(p)
    for version in (3, 4):
        put(p.path, version, empty)
    run(p, maxFilesPerTrigger=2)
    p.sql("INSERT INTO {t} VALUES (2)")
    run(p)
    run(p)
    offsets(p)


@AREA.situation()
def two_sources(p: Player) -> None:
    """Of which one has nothing new when the query starts again; then both have nothing."""
    for table in ("{t}", "{u}"):
        p.sql(f"CREATE TABLE {table} (id INT) USING delta", f"INSERT INTO {table} VALUES (1)")

    def both() -> Any:
        return reader(p).union(reader(p, f"{p.at}/u").selectExpr("id + 100"))

    run(p, both)
    p.sql("INSERT INTO {t} VALUES (2)")
    run(p, both)
    p.sql("INSERT INTO {u} VALUES (3)")
    run(p, both)
    run(p, both)


@AREA.situation(long=True)
def two_sources_of_changes(p: Player) -> None:
    for table in ("{t}", "{u}"):
        p.sql(f"CREATE TABLE {table} (id INT) USING delta TBLPROPERTIES ('{FEED}' = 'true')")
        p.sql(f"INSERT INTO {table} VALUES (1)")

    def both() -> Any:
        columns = ("id", "_change_type", "_commit_version")
        given = [
            reader(p, path, startingVersion=0, **CHANGES).select(*columns) for path in (p.path, f"{p.at}/u")
        ]
        return given[0].union(given[1])

    run(p, both)
    p.sql("UPDATE {t} SET id = 2")
    run(p, both)
    run(p, both)


@AREA.situation()
def the_next_is_gone(p: Player) -> None:
    p.sql("CREATE TABLE {t} (id INT) USING delta TBLPROPERTIES ('delta.checkpointInterval' = '4')")
    p.sql("INSERT INTO {t} VALUES (1)", "INSERT INTO {t} VALUES (2)")
    run(p, startingVersion=0)
    p.sql("INSERT INTO {t} VALUES (3)", "INSERT INTO {t} VALUES (4)", "INSERT INTO {t} VALUES (5)")
    take_away(p, 3)
    run(p, startingVersion=0)
    run(p, startingVersion=0, failOnDataLoss="false")


@AREA.situation(long=True)
def gone_in_the_middle(p: Player) -> None:
    p.sql("CREATE TABLE {t} (id INT) USING delta TBLPROPERTIES ('delta.checkpointInterval' = '4')")
    for value in (1, 2, 3, 4, 5):
        p.sql(f"INSERT INTO {{t}} VALUES ({value})")
    take_away(p, 2)
    run(p, at="c1", startingVersion=1)
    run(p, at="c2", startingVersion=1, failOnDataLoss="false")
    run(p, at="c3", startingVersion=3)
    run(p, at="c4")


@AREA.situation(long=True)
def cleaned_up_behind_it(p: Player) -> None:
    """The log of versions that it has read."""
    p.sql("CREATE TABLE {t} (id INT) USING delta TBLPROPERTIES ('delta.checkpointInterval' = '3')")
    p.sql("INSERT INTO {t} VALUES (1)", "INSERT INTO {t} VALUES (2)")
    run(p)
    p.sql("INSERT INTO {t} VALUES (3)")
    run(p)
    take_away(p, 0, 1, 2)
    run(p)
    p.sql("INSERT INTO {t} VALUES (4)")
    run(p)


FEATURE = {
    "protocol": {
        "minReaderVersion": 3,
        "minWriterVersion": 7,
        "readerFeatures": ["unheardOf"],
        "writerFeatures": ["unheardOf"],
    }
}
PLAIN = {"protocol": {"minReaderVersion": 1, "minWriterVersion": 4}}
WITHIN: dict[str, dict[str, Any]] = {
    "a version before it": {"startingVersion": 1},
    "a version that has it": {"startingVersion": 3},
    "a time that has it": {"startingTimestamp": "2024-01-04"},
    "a version after it": {"startingVersion": 5},
}


@AREA.grid(WITHIN, *MADE[:3], long=True)
def a_feature_that_is_dropped(p: Player, options: dict[str, Any]) -> None:
    """Versions 3 to 5 have a feature that nobody knows."""
    one = [a for a in p.actions(1) if "add" in a or "commitInfo" in a]
    put(p.path, 3, one[0], FEATURE)
    put(p.path, 4, one[0], {"add": {**one[-1]["add"], "path": "nowhere"}})
    put(p.path, 5, one[0], {"remove": {"path": "nowhere", "dataChange": True, "deletionTimestamp": 1}})
    put(p.path, 6, one[0], PLAIN)
    for version in range(7):
        at = FIRST + version * DAY
        os.utime(log(p, version), (at, at))
    run(p, ignoreDeletes="true", **options)


@AREA.situation()
def a_feature_that_comes(p: Player) -> None:
    """Under a query that began before it, and for one that begins."""
    p.sql(*MADE)
    run(p)
    put(p.path, 4, p.actions(1)[0], FEATURE)
    run(p)
    run(p, at="new")


@AREA.situation(long=True)
def row_ids(p: Player) -> None:
    p.sql(
        "CREATE TABLE {t} (id INT) USING delta TBLPROPERTIES"
        f" ('{FEED}' = 'true', 'delta.enableRowTracking' = 'true')",
        "INSERT INTO {t} VALUES (1)",
    )
    run(p, lambda: reader(p).select("id", "_metadata.row_id"))
    run(p, lambda: reader(p).select("id", "_metadata.row_commit_version"), at="c1")
    run(p, lambda: reader(p, **CHANGES).select("id", "_metadata.row_id"), at="c2")
    run(p, lambda: reader(p, startingVersion=0, **CHANGES).select("id", "_change_type"), at="c3")


@AREA.situation(long=True)
def columns_with_other_names_in_files(p: Player) -> None:
    """By id, and after RENAME of a data column and a partition column."""
    for mode in p.each(("name", "id")):
        p.sql(
            "CREATE TABLE {t} (p STRING, a INT, b INT) USING delta PARTITIONED BY (p)"
            f" TBLPROPERTIES ('delta.columnMapping.mode' = '{mode}')",
            "INSERT INTO {t} VALUES ('x y', 1, 2), ('%20', 3, 4)",
            "ALTER TABLE {t} RENAME COLUMN p TO q",
            "ALTER TABLE {t} RENAME COLUMN a TO c",
            "INSERT INTO {t} VALUES (NULL, 5, NULL)",
        )
        run(p, at=f"{mode}0")
        run(p, lambda: reader(p).where("q = '%20' OR q IS NULL").select("c", "q"), at=f"{mode}1")
