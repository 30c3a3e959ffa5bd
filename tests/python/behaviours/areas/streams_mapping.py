"""Column mapping that is switched on and taken away under a stream, with a log of schemas and without."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playing import FEED, Area

from areas.streaming import run

if TYPE_CHECKING:
    from playing import Player

AREA = Area("streams_mapping")

MODE = "delta.columnMapping.mode"
STATEMENTS = {
    "on": (f"ALTER TABLE {{t}} SET TBLPROPERTIES ('{MODE}' = 'name')",),
    "renamed": ("ALTER TABLE {t} RENAME COLUMN b TO c",),
    "dropped": ("ALTER TABLE {t} DROP COLUMN b",),
    "off": (
        f"ALTER TABLE {{t}} SET TBLPROPERTIES ('{MODE}' = 'none')",
        "INSERT INTO {t} SELECT * FROM {t} WHERE a = 1",
    ),
}
# the query begins at the bar
ORDERS = (
    "| on off",
    "on | off",
    "on off |",
    *(
        order.replace("changed", change)
        for change in ("renamed", "dropped")
        for order in (
            "| on changed off",
            "| on changed off on",
            "on | changed off",
            "on | changed off on",
            "on changed | off",
            "on changed | off on",
            "on changed off |",
            "on changed off | on",
        )
    ),
)
QUICK = ("on off |", "| on renamed off", "on renamed | off on")
# files have the same names before and after
SAME_NAMES = ("| on off", "on | off", "on dropped | off")
MADE = (
    f"CREATE TABLE {{t}} (a INT, b INT) USING delta TBLPROPERTIES ('{MODE}' = 'none', '{FEED}' = 'true')",
    "INSERT INTO {t} VALUES (1, 2)",
)


def play(p: Player, order: str) -> None:
    before, after = (part.split() for part in order.split("|"))
    for step in before:
        p.sql(*STATEMENTS[step])
    logged = {"schemaTrackingLocation": f"{p.at}/logged/s"}
    run(p, at="plain")
    run(p, at="logged", **logged)
    for step in after:
        p.sql(*STATEMENTS[step])
    run(p, at="plain", together=True)
    run(p, at="logged", **logged)


@AREA.grid({order: order for order in QUICK}, *MADE)
def under_a_query(p: Player, order: str) -> None:
    play(p, order)


@AREA.grid({order: order for order in ORDERS if order not in (*QUICK, *SAME_NAMES)}, *MADE, long=True)
def under_a_query_too(p: Player, order: str) -> None:
    play(p, order)


@AREA.grid(
    {order: order for order in SAME_NAMES},
    *MADE,
    differs="where the names in the files of all columns of the query stay, it goes on, and every row comes once",
    long=True,
)
def under_a_query_that_goes_on(p: Player, order: str) -> None:
    play(p, order)
