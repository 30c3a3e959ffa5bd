"""Which changes are asked for: versions, times, options, and arguments of the functions."""

from __future__ import annotations

import os
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from playing import FEED, Area

if TYPE_CHECKING:
    from collections.abc import Callable

    from playing import Player

AREA = Area("changes_ranges")
LENIENT = "spark.databricks.delta.changeDataFeed.timestampOutOfRange.enabled"
DAY = 86_400
# 2024-01-01 12:00:00 UTC
NOON = 1_704_110_400
LOG = "_delta_log"


def reported(p: Player, rows: Callable[[], Any]) -> None:
    """Tells the rows, or the condition of the error."""
    found: list[list[str]] = []
    p.attempt(lambda: found.append(p.list_rows(rows().drop("_commit_timestamp"))))
    if found:
        p.tell(found[0])


def option_ranges(p: Player, *ranges: dict[str, Any]) -> None:
    for options in ranges:
        reported(p, lambda o=options: p.read(**{"readChangeFeed": "true", **o}))


def four_versions(p: Player, table: str = "{t}") -> None:
    """Version n was committed at noon of day n + 1 of January 2024; versions 1 to 3 insert, delete, insert."""
    # delta-spark reads no version that is older than the retention of files
    kept = ("delta.deletedFileRetentionDuration", "delta.logRetentionDuration")
    more = ", ".join(f"'{name}' = 'interval 5000 weeks'" for name in kept)
    p.sql(f"CREATE TABLE {table} (id INT) USING delta TBLPROPERTIES ('{FEED}' = 'true', {more})")
    p.sql(
        f"INSERT INTO {table} VALUES (1), (2)",
        f"DELETE FROM {table} WHERE id = 1",
        f"INSERT INTO {table} VALUES (3)",
    )
    if table == "{t}":
        committed(p, *(NOON + n * DAY for n in range(4)))


def committed(p: Player, *seconds: float) -> None:
    """When the versions from 0 on were committed."""
    for version, at in enumerate(seconds):
        os.utime(Path(p.path, LOG, f"{version:020}.json"), (at, at))


# -- options

_VERSIONS = {
    "there": ((0, 3), (1, 1), (1, 2), (3, 3), (0, None), (2, None), (3, None)),
    "not there": ((2, 1), (4, None), (4, 4), (0, 9), (9, 9)),
}


@AREA.situation()
def versions(p: Player) -> None:
    four_versions(p)
    for start, end in chain(*_VERSIONS.values()):
        option_ranges(p, {"startingVersion": start} | ({} if end is None else {"endingVersion": end}))


@AREA.situation(long=True)
def versions_out_of_range(p: Player) -> None:
    p.conf(LENIENT, "true")
    four_versions(p)
    for start, end in ((4, None), (4, 5), (9, 9), (0, 9), (2, 1)):
        option_ranges(p, {"startingVersion": start} | ({} if end is None else {"endingVersion": end}))


_TIMES_OUT: tuple[tuple[Any, Any], ...] = (
    ("2020-01-01", None),
    ("2020-01-01", "2024-01-02 12:00:00"),
    ("2020-01-01", "2020-01-02"),
    ("2024-01-04 12:00:01", None),
    ("2024-01-02", "2030-01-01"),
    ("2030-01-01", "2031-01-01"),
)
_TIMES: dict[str, tuple[tuple[Any, Any], ...]] = {
    "within": (
        ("2024-01-02 12:00:00", "2024-01-03 12:00:00"),
        ("2024-01-04 12:00:00", None),
        ("2024-01-01 18:00:00", "2024-01-03 18:00:00"),
        ("2024-01-02 13:00:00", "2024-01-02 14:00:00"),
        ("2024-01-02", "2024-01-03"),
        ("2024-01-02", "2024-01-02"),
        ("2024-01", None),
        ("2024-01-02 12:00:00.000", "2024-01-02 12:00:00.001"),
        ("2024-01-02 12:00:00.001", None),
    ),
    "out of range": _TIMES_OUT,
    "other forms": (
        ("2024-01-02T12:00:00Z", None),
        ("2024-01-02 13:00:00 +0100", None),
        ("2024-01-02 13:00:00+01:00", None),
        ("2024/01/02", None),
        ("1704196800", None),
        ("today", None),
        ("x", None),
        ("", None),
    ),
}


@AREA.situation()
def times(p: Player) -> None:
    four_versions(p)
    for start, end in chain(*_TIMES.values()):
        option_ranges(p, {"startingTimestamp": start} | ({} if end is None else {"endingTimestamp": end}))


@AREA.situation(long=True)
def times_out_of_range(p: Player) -> None:
    p.conf(LENIENT, "true")
    four_versions(p)
    for start, end in _TIMES_OUT:
        option_ranges(p, {"startingTimestamp": start} | ({} if end is None else {"endingTimestamp": end}))


@AREA.situation()
def versions_and_times_together(p: Player) -> None:
    four_versions(p)
    noon = "2024-01-03 12:00:00"
    option_ranges(
        p,
        {"startingVersion": 1, "endingTimestamp": noon},
        {"startingTimestamp": noon, "endingVersion": 3},
        {"startingTimestamp": noon, "endingVersion": 1},
        {"startingVersion": 1, "startingTimestamp": noon},
        {"startingVersion": 1, "endingVersion": 2, "endingTimestamp": noon},
        {"endingVersion": 2},
        {"endingTimestamp": noon},
        {},
    )


@AREA.situation()
def two_bounds_of_one_end(p: Player) -> None:
    """By name it is an error; by path, as above, the version counts."""
    p.sql(
        f"CREATE TABLE {{name}} (id INT) USING delta LOCATION '{{at}}/t' TBLPROPERTIES ('{FEED}' = 'true')",
        "INSERT INTO {name} VALUES (1)",
    )
    for options in (
        {"startingVersion": "1", "startingTimestamp": "2024-01-01"},
        {"STARTINGVERSION": "1", "startingtimestamp": "no time"},
        {"startingVersion": "1", "endingVersion": "1", "endingTimestamp": "2024-01-01"},
        {"startingVersion": "1"},
    ):
        asked = {"readChangeFeed": "true", **options}
        reported(p, lambda o=asked: p.spark.read.format("delta").options(**o).table(p.name))
        reported(p, lambda o=asked: p.spark.read.options(**o).table(p.name))


@AREA.situation()
def times_that_go_back(p: Player) -> None:
    """A commit that counts as made before the one before it counts as made after it."""
    four_versions(p)
    committed(p, NOON, NOON + 3 * DAY, NOON + DAY, NOON + 4 * DAY)
    option_ranges(
        p,
        {"startingTimestamp": "2024-01-02 12:00:00", "endingTimestamp": "2024-01-04 12:00:00"},
        {"startingTimestamp": "2024-01-04 12:00:00.001"},
        {"startingTimestamp": "2024-01-03 12:00:00", "endingVersion": 2},
    )
    p.rows(
        p.read(readChangeFeed="true", startingVersion=0)
        .select("_commit_version", "_commit_timestamp")
        .distinct()
    )


@AREA.situation()
def the_hour_that_comes_twice(p: Player) -> None:
    p.conf("spark.sql.session.timeZone", "America/Los_Angeles")
    four_versions(p)
    # 01:42:44 -0700, 01:42:44 -0800, and an hour before and after
    first = 1_667_724_164
    committed(p, first - 3600, first, first + 3600, first + 7200)
    option_ranges(
        p,
        {"startingTimestamp": "2022-11-06 01:42:44 -0700"},
        {"startingTimestamp": "2022-11-06 01:42:44 -0800"},
        {"startingTimestamp": "2022-11-06 01:42:44"},
        {"startingVersion": 0, "endingTimestamp": "2022-11-06 01:42:44 -0700"},
        {"startingVersion": 0, "endingTimestamp": "2022-11-06 01:42:44 -0800"},
    )
    p.rows(
        p.read(readChangeFeed="true", startingVersion=0).selectExpr(
            "_commit_version", "unix_millis(_commit_timestamp)"
        )
    )


@AREA.situation()
def options_in_any_case(p: Player) -> None:
    four_versions(p)
    for options in (
        {"READCHANGEFEED": "TRUE", "STARTINGVERSION": 2, "ENDINGVERSION": 2},
        {"readchangefeed": "true", "startingtimestamp": "2024-01-03 12:00:00"},
        {"readChangeData": "true", "startingVersion": 3},
        {"readChangeFeed": "false", "startingVersion": 3},
        {"startingVersion": 3},
        {"startingVersion": 1, "endingVersion": 2},
        {"startingTimestamp": "2024-01-03 12:00:00"},
    ):
        reported(p, lambda o=options: p.read(**o))


NO_BOUNDS: dict[str, dict[str, Any]] = {
    "text": {"startingVersion": "x"},
    "fraction": {"startingVersion": "1.5"},
    "nothing": {"startingVersion": ""},
    "latest": {"startingVersion": "latest"},
    "text as an end": {"startingVersion": 0, "endingVersion": "x"},
    "no switch": {"readChangeFeed": "yes", "startingVersion": 0},
}


@AREA.situation()
def bounds_that_are_none(p: Player) -> None:
    four_versions(p)
    for name, options in NO_BOUNDS.items():
        p.tell({"case": name})
        reported(p, lambda options=options: p.read(**{"readChangeFeed": "true", **options}))


@AREA.situation(long=True)
def instants_in_each_zone(p: Player) -> None:
    """`_commit_timestamp` is the same instant, whatever zone shows it."""
    four_versions(p)
    for zone in ("UTC", "Asia/Tokyo", "America/Los_Angeles"):
        p.conf("spark.sql.session.timeZone", zone)
        feed = p.read(readChangeFeed="true", startingVersion=0)
        p.rows(
            feed.selectExpr("_commit_version", "unix_millis(_commit_timestamp)", "string(_commit_timestamp)")
        )


# -- functions

_FUNCTIONS = {
    "other types": (
        "table_changes(1, 1)",
        "table_changes('{name}', 1.5)",
        "table_changes('{name}', 1, 2.5)",
        "table_changes('{name}', true)",
        "table_changes('{name}', array(1))",
        "table_changes_by_path(1, 1)",
    ),
    "null as version": (
        "table_changes('{name}', NULL)",
        "table_changes('{name}', NULL, NULL)",
        "table_changes('{name}', 1, NULL)",
        "table_changes('{name}', NULL, 1)",
        "table_changes('{name}', CAST(null AS INT))",
        "table_changes('{name}', 1, CAST(null AS INT))",
        "table_changes('{name}', CAST(null AS STRING))",
        "table_changes('{name}', 1, CAST(null AS STRING))",
        "table_changes(NULL, 1)",
    ),
    "subqueries and aggregates": (
        "table_changes('{name}', (SELECT 1))",
        "table_changes('{name}', 1, (SELECT max(id) FROM {t}))",
        "table_changes('{name}', MAX(1))",
        "table_changes('{name}', 1, MAX(2))",
    ),
    "columns": ("table_changes('{name}', id)", "table_changes('{name}', 1, other)", "table_changes(id, 1)"),
    "not there": (
        "table_changes('no_such_table', 1)",
        "table_changes('a b', 1)",
        "table_changes_by_path('{at}/nothing', 1)",
    ),
    "computed": (
        "table_changes('{name}', to_timestamp('2024-01-03'))",
        "table_changes('{name}', timestamp'2024-01-04' - INTERVAL 1 DAY)",
        "table_changes('{name}', to_timestamp('2024-01-03'), timestamp'2024-01-02' + INTERVAL 36 HOURS)",
        "table_changes('{name}', now() - INTERVAL 1 DAY)",
        "table_changes('{name}', now() - INTERVAL '100' YEAR, string(date_sub('2024-01-04', 1)))",
        "table_changes('{name}', nvl(NULL, 1), try_subtract(3, 1))",
        "table_changes('{name}', left('2024-01-03 and more', 10))",
        "table_changes('{name}', 1 + 1)",
        "table_changes('{name}', dateadd(DAY, 1, timestamp'2024-01-02'))",
    ),
    "ranges": (
        "table_changes('{name}', 2, 1)",
        "table_changes('{name}', 9)",
        "table_changes('{name}', 1, 9)",
        "table_changes('{name}', '2024-13-01')",
        "table_changes('{name}', 'x')",
        "table_changes('{name}', '1')",
    ),
}


_KINDS = {
    "what is no argument": ("other types", "subqueries and aggregates", "columns"),
    "null, and what is not there": ("null as version", "not there", "ranges"),
    "constants that are computed": ("computed",),
}


@AREA.family(_KINDS)
def functions(p: Player, kinds: tuple[str, ...]) -> None:
    four_versions(p)
    p.sql("CREATE TABLE {name} USING delta LOCATION '{at}/t'")
    for call in chain(*(_FUNCTIONS[kind] for kind in kinds)):
        reported(p, lambda c=call: p.sql(f"SELECT * FROM {c}"))


@AREA.situation()
def functions_of_another_format(p: Player) -> None:
    p.sql("CREATE TABLE {name} (id INT) USING parquet LOCATION '{at}/p'")
    reported(p, lambda: p.sql("SELECT * FROM table_changes('{name}', 1)"))
