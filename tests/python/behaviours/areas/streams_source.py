"""A table as the source of a stream: where it begins, how it goes on, and its columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playing import Area

from areas.streaming import reader, run, take_away

if TYPE_CHECKING:
    from playing import Player

AREA = Area("streams_source")


def made(p: Player, versions: int = 3, more: str = "") -> None:
    """Version 0 has no rows, and each one after it the row of its number."""
    p.sql(f"CREATE TABLE {{t}} (id INT) USING delta {more}")
    for version in range(1, versions):
        p.sql(f"INSERT INTO {{t}} VALUES ({version})")


@AREA.situation()
def a_start_that_is_cleaned_up(p: Player) -> None:
    made(p, 4, "TBLPROPERTIES ('delta.checkpointInterval' = '3')")
    run(p, startingVersion=1)
    take_away(p, 0, 1, 2)
    p.sql("INSERT INTO {t} VALUES (4)")
    run(p, startingVersion=1)
    run(p, at="new", startingVersion=1)


@AREA.situation(long=True)
def a_start_before_columns_that_were_added(p: Player) -> None:
    made(p)
    p.sql("ALTER TABLE {t} ADD COLUMN name STRING", "INSERT INTO {t} VALUES (4, 'd')")
    run(p, startingVersion=1)
    run(p, at="new")


@AREA.situation()
def one_table_twice(p: Player) -> None:
    made(p)
    run(p, lambda: reader(p).union(reader(p)))
    p.sql("INSERT INTO {t} VALUES (3)")
    run(p, lambda: reader(p).union(reader(p)))


@AREA.situation()
def partition_columns(p: Player) -> None:
    """In the middle, several in another order, with values that a URL would escape; columns are pruned."""
    p.sql("CREATE TABLE {t} (p1 STRING, a INT, p2 INT, b STRING) USING delta PARTITIONED BY (p2, p1)")
    p.sql(
        "INSERT INTO {t} VALUES ('a b', 1, 2, 'x'), ('a/b', 2, NULL, 'y'), ('%20', 3, 4, 'z'), ('a%2Fb', 4, 4, NULL)"
    )
    run(p)
    run(p, reader(p).where("p1 = '%20' OR p2 IS NULL").select("b", "p1"), at="c1")
    run(p, reader(p).select("p2"), at="c2")


@AREA.situation(long=True)
def columns_that_were_added_before(p: Player) -> None:
    made(p)
    p.sql("ALTER TABLE {t} ADD COLUMN name STRING", "INSERT INTO {t} VALUES (9, 'x')")
    run(p)
