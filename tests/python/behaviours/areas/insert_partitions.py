"""INSERT with PARTITION clauses in both modes of overwriting, and what becomes of partition values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playing import Area

if TYPE_CHECKING:
    from playing import Player

AREA = Area("insert_partitions")

_MODE = "spark.sql.sources.partitionOverwriteMode"
_ZONE = "spark.sql.session.timeZone"
_MADE = (
    "CREATE TABLE {t} (id INT, data STRING, a INT, b INT) USING delta PARTITIONED BY (a, b)",
    "INSERT INTO {t} VALUES (1, 'v', 1, 1), (2, 'v', 1, 2), (3, 'v', 2, 2), (4, 'v', 2, 1)",
)
_CLAUSES = {
    "none": "OVERWRITE {t} SELECT 9, 'n', 1, 1",
    "both dynamic": "OVERWRITE {t} PARTITION (a, b) SELECT 9, 'n', 1, 1",
    "two values": "OVERWRITE {t} PARTITION (a = 1, b = 2) SELECT 9, 'n'",
    "a value and a column": "OVERWRITE {t} PARTITION (a = 1, b) SELECT 9, 'n', 2",
    "in another order": "OVERWRITE {t} PARTITION (b = 2, a) SELECT 9, 'n', 1",
    "one left out": "OVERWRITE {t} PARTITION (a = 1) SELECT 9, 'n', 2",
    "the first left out": "OVERWRITE {t} PARTITION (b = 2) SELECT 9, 'n', 1",
    "a list": "OVERWRITE {t} PARTITION (a = 1) (data, id, b) SELECT 'n', 9, 2",
    "a list with a dynamic column": "OVERWRITE {t} PARTITION (a = 1, b) (b, id, data) SELECT 2, 9, 'n'",
    "a list without a column": "OVERWRITE {t} PARTITION (a = 1) (id, b) SELECT 9, 2",
    "no rows": "OVERWRITE {t} PARTITION (a = 1) SELECT 9, 'n', 2 WHERE false",
    "append": "INTO {t} PARTITION (a = 1, b = 2) SELECT 9, 'n'",
    "append to a new one": "INTO {t} PARTITION (a = 7) SELECT 9, 'n', 2",
    "a value that is cast": "OVERWRITE {t} PARTITION (a = '1', b = '2') SELECT 9, 'n'",
    "a value that is none": "OVERWRITE {t} PARTITION (a = 'x', b = 2) SELECT 9, 'n'",
    "null": "OVERWRITE {t} PARTITION (a = NULL, b = 2) SELECT 9, 'n'",
    "in the list as well": "OVERWRITE {t} PARTITION (a = 1) (a, id, data, b) SELECT 1, 9, 'n', 2",
    "no partition column": "INTO {t} PARTITION (id = 1) SELECT 'n', 1, 2",
    "no partition column, dynamic": "INTO {t} PARTITION (data) SELECT 9, 'n', 1, 2",
    "too few columns": "OVERWRITE {t} PARTITION (a = 1) SELECT 9, 'n'",
    "too many columns": "OVERWRITE {t} PARTITION (a = 1) SELECT 9, 'n', 2, 3",
}


def _clauses(mode: str) -> None:
    def overwrite(p: Player, statement: str) -> None:
        p.conf(_MODE, mode)
        p.attempt(f"INSERT {statement}")
        p.rows()

    overwrite.__name__ = f"clauses_{mode}"
    AREA.grid(_CLAUSES, *_MADE, long=mode == "static")(overwrite)


_clauses("static")
_clauses("dynamic")


@AREA.grid(
    {
        f"{clause}, {mode}": (clause, mode)
        for clause in (
            "(`a.b` = 1, `c.d` = 2) SELECT 9",
            "(`a.b` = 1, `c.d`) SELECT 9, 2",
            "(`c.d` = 2, `a.b`) SELECT 9, 1",
            "(`a.b` = 1) SELECT 9, 2",
        )
        for mode in ("static", "dynamic")
    },
    "CREATE TABLE {t} (id INT, `a.b` INT, `c.d` INT) USING delta PARTITIONED BY (`a.b`, `c.d`)",
    "INSERT INTO {t} VALUES (1, 1, 1), (2, 1, 2), (3, 2, 2)",
)
def names_with_dots(p: Player, case: tuple[str, str]) -> None:
    clause, mode = case
    p.conf(_MODE, mode)
    p.attempt(f"INSERT OVERWRITE {{t}} PARTITION {clause}")
    p.rows()


@AREA.situation("the text stays that text; delta-spark stores null")
def the_name_of_null(p: Player) -> None:
    """The name of Hive's partition of nulls as a value."""
    p.sql("CREATE TABLE {t} (part STRING, data STRING) USING delta PARTITIONED BY (part)")
    p.attempt(
        "INSERT INTO {t} VALUES ('__HIVE_DEFAULT_PARTITION__', 'a')",
        "INSERT INTO {t} PARTITION (part = '__HIVE_DEFAULT_PARTITION__') SELECT 'b'",
    )
    p.rows()


# the zone of the writer, its values, the zone of the reader, and what is asked for
_ZONES = {
    "utc, elsewhere": (
        "UTC",
        (
            "2024-06-15T04:00:00UTC",
            "2024-06-15T4:00:00UTC+8",
            "2024-06-15T5:00:00 UTC+01:00",
            "2024-06-16T5:00:00.123456UTC",
            "1903-12-28T5:00:00",
        ),
        "GMT-8",
        ("2024-06-15T4:00:00UTC+8", "2024-06-14T20:00:00UTC-08", "1903-12-27T21:00:00UTC-08"),
    ),
    "two zones": (
        "America/Los_Angeles",
        ("2025-11-26T12:00:00", "2025-11-27T4:00:00UTC+8", "2025-11-28T5:00:00 UTC+01:00"),
        "Europe/Berlin",
        ("2025-11-26T21:00:00", "2025-11-28T5:00:00"),
    ),
    "one zone": (
        "GMT-8",
        ("2024-06-15 04:00:00UTC", "2024-06-15T4:00:00UTC+8", "2024-06-15T5:00:00 UTC+01:00"),
        "GMT-8",
        ("2024-06-15T04:00:00UTC", "2024-06-14T20:00:00UTC"),
    ),
    "digits": (
        "GMT-8",
        tuple(f"2025-11-26 04:00:00.{'123456'[:n]}" for n in range(1, 7)),
        "GMT-8",
        tuple(f"2025-11-26 04:00:00.{'123456'[:n]}" for n in range(1, 7)),
    ),
}


@AREA.family(_ZONES, quick={"two zones"})
def times(p: Player, case: tuple[str, tuple[str, ...], str, tuple[str, ...]]) -> None:
    """Times as partition values are instants in the log, and found under any zone, as those of a column beside them."""
    written, values, read, asked = case
    p.conf(_ZONE, written)
    p.sql("CREATE TABLE {t} (data INT, ts TIMESTAMP, v TIMESTAMP) USING delta PARTITIONED BY (ts)")
    rows = ", ".join(f"({n}, TIMESTAMP'{at}', TIMESTAMP'{at}')" for n, at in enumerate(values))
    p.sql(f"INSERT INTO {{t}} VALUES {rows}")
    p.tell(sorted({action["add"]["partitionValues"]["ts"] for action in p.actions() if "add" in action}))
    p.conf(_ZONE, read)
    for at in asked:
        p.rows(f"SELECT data FROM {{t}} WHERE ts = TIMESTAMP'{at}' AND v = TIMESTAMP'{at}'")
    p.rows("SELECT count(DISTINCT ts) FROM {t}")


@AREA.situation()
def times_without_zone(p: Player) -> None:
    """Times without zone are the same text under any zone."""
    p.conf(_ZONE, "GMT-8")
    p.sql("CREATE TABLE {t} (data INT, ts TIMESTAMP_NTZ) USING delta PARTITIONED BY (ts)")
    p.sql("INSERT INTO {t} VALUES (1, TIMESTAMP'2024-06-15T4:00:00'), (2, TIMESTAMP'1903-12-28T5:00:00')")
    p.tell(sorted(a["add"]["partitionValues"]["ts"] for a in p.actions() if "add" in a))
    p.conf(_ZONE, "UTC-03:00")
    p.rows("SELECT data FROM {t} WHERE ts = TIMESTAMP'2024-06-15T4:00:00'")
    p.rows("SELECT data FROM {t} WHERE ts = TIMESTAMP'1903-12-28T05:00:00'")


@AREA.situation()
def an_instant_that_is_replaced(p: Player) -> None:
    """A partition that a clause names under another zone is the same one."""
    p.conf(_ZONE, "America/Los_Angeles")
    p.sql("CREATE TABLE {t} (data INT, ts TIMESTAMP) USING delta PARTITIONED BY (ts)")
    p.sql("INSERT INTO {t} PARTITION (ts = '2024-01-01 00:00:00') SELECT 1")
    p.sql("INSERT INTO {t} PARTITION (ts = '2024-01-01 00:00:00.5') SELECT 2")
    p.conf(_ZONE, "UTC")
    p.attempt("INSERT OVERWRITE {t} PARTITION (ts = '2024-01-01 08:00:00') SELECT 3")
    p.rows()
    p.conf(_MODE, "dynamic")
    p.attempt("INSERT OVERWRITE {t} PARTITION (ts) SELECT 4, TIMESTAMP'2024-01-01 08:00:00.5'")
    p.rows()


@AREA.grid(
    {
        "values": "INSERT INTO {t} VALUES (1, 'x')",
        "a query": "INSERT INTO {t} SELECT 2, 'y'",
        "columns": "INSERT INTO {t} (`a,b`, id) VALUES ('x', 3)",
        "a column": "INSERT INTO {t} (id) VALUES (3)",
        "by name": "INSERT INTO {t} BY NAME SELECT 'q' AS `a,b`, 4 AS id",
        "a value": "INSERT INTO {t} PARTITION (`a,b` = 'x') VALUES (5)",
        "dynamic": "INSERT INTO {t} PARTITION (`a,b`) VALUES (6, 'x')",
        "overwrite": "INSERT OVERWRITE {t} VALUES (7, 'x')",
        "overwrite of a value": "INSERT OVERWRITE {t} PARTITION (`a,b` = 'p') VALUES (8)",
        "replace where": "INSERT INTO {t} REPLACE WHERE `a,b` = 'p' VALUES (9, 'p')",
    },
    "CREATE TABLE {t} (id INT, `a,b` STRING) USING delta PARTITIONED BY (`a,b`) "
    "TBLPROPERTIES ('delta.columnMapping.mode' = 'name')",
    "INSERT INTO {t} VALUES (0, 'p')",
)
def a_column_with_a_comma(p: Player, statement: str) -> None:
    p.attempt(statement)
    p.rows()
    p.conf(_MODE, "dynamic")
    p.attempt(statement)
    p.rows("SELECT * FROM {t} WHERE `a,b` = 'x'")


@AREA.grid(
    {
        "values": "INSERT INTO {t} VALUES ('a', 1, array(), map(), NULL), ('b', 2, NULL, NULL, struct(array(), NULL))",
        "a query": "INSERT INTO {t} SELECT p, id + 2, array(), NULL, struct(NULL, map()) FROM {t}",
        "overwrite": "INSERT OVERWRITE {t} SELECT 'c', 3, array(), map(), struct(array(), map()) FROM range(2)",
        "update": "UPDATE {t} SET l = array(), m = map(), s = NULL",
        "merge": "MERGE INTO {t} t USING (SELECT * FROM VALUES ('a', 0, array(), map()), ('d', 9, NULL, NULL) "
        "AS u(p, id, l, m)) u "
        "ON t.id = u.id WHEN MATCHED THEN UPDATE SET l = u.l, m = u.m "
        "WHEN NOT MATCHED THEN INSERT (p, id, l, m) VALUES (u.p, u.id, u.l, u.m)",
    },
    "CREATE TABLE {t} (p STRING, id INT, l ARRAY<STRING>, m MAP<STRING, ARRAY<BINARY>>, "
    "s STRUCT<l: ARRAY<ARRAY<STRING>>, m: MAP<STRING, STRING>>) USING delta PARTITIONED BY (p)",
    "INSERT INTO {t} VALUES ('a', 0, array('x'), map('k', array(X'61')), NULL), ('b', 10, array(), map(), NULL)",
)
def no_elements(p: Player, statement: str) -> None:
    """All lists and maps of a write are empty or null."""
    p.attempt(statement)
    p.rows()
