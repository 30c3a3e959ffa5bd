"""Change feeds over column mapping that comes and goes: which ranges are read, and how others are refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from playing import FEED, Area

if TYPE_CHECKING:
    from playing import Player

AREA = Area("feed_over_mapping")

MODE = "delta.columnMapping.mode"
ON = f"ALTER TABLE {{t}} SET TBLPROPERTIES ('{MODE}' = 'name')"
OFF = f"ALTER TABLE {{t}} SET TBLPROPERTIES ('{MODE}' = 'none')"
ROW = "INSERT INTO {t} SELECT * FROM {t} LIMIT 1"
CHANGES = {"renamed": "ALTER TABLE {t} RENAME COLUMN b TO c", "dropped": "ALTER TABLE {t} DROP COLUMN b"}


def ranges(p: Player, phases: int) -> None:
    """Tells of each range from one phase to another what it has: a phase is a change of the table and two appends."""
    for first in range(phases):
        for last in range(first, phases):

            def read(first: int = first, last: int = last) -> Any:
                feed = p.read(
                    readChangeFeed="true", startingVersion=3 * first + 1, endingVersion=3 * last + 2
                )
                return feed.drop("_commit_timestamp", "_commit_version").distinct()

            p.tell([first, last])
            p.answers(read)


def made(p: Player, change: str) -> None:
    p.sql(f"CREATE TABLE {{t}} (a INT, b INT, d INT) USING delta TBLPROPERTIES ('{FEED}' = 'true')")
    p.sql("INSERT INTO {t} VALUES (1, 2, 3)", ROW)
    for statement in (ON, CHANGES[change], OFF):
        p.sql(statement, ROW, ROW)


@AREA.family({change: change for change in CHANGES}, quick={"renamed"})
def ranges_over_the_way_back(p: Player, change: str) -> None:
    made(p, change)
    ranges(p, 4)


@AREA.family({change: change for change in CHANGES}, quick={"dropped"})
def ranges_where_it_is_on_again(p: Player, change: str) -> None:
    made(p, change)
    p.sql(ON, ROW, ROW)
    ranges(p, 5)


@AREA.situation()
def a_range_without_an_end(p: Player) -> None:
    made(p, "renamed")
    for start in (1, 4, 7, 10):
        p.answers(
            lambda start=start: p.read(readChangeFeed="true", startingVersion=start).select("a").distinct()
        )
