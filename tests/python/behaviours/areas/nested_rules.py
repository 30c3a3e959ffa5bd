"""Rules about fields and elements, where rows lack the column, have it without a type, or have other fields."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from playing import Area

if TYPE_CHECKING:
    from playing import Player

AREA = Area("nested_rules")

COLUMNS = "id BIGINT, s STRUCT<x: INT, y: STRING>, a ARRAY<INT>, m MAP<STRING, STRUCT<x: INT>>"
CHECKS = {
    "a field": "s.x IS NULL OR s.x < 10",
    "a field that must be there": "s.x < 10",
    "an element": "get(a, 0) IS NULL OR get(a, 0) < 10",
    "all elements": "coalesce(array_max(a) < 10, true)",
    "a value of a map": "m['k'].x IS NULL OR m['k'].x < 10",
}
# how `deltaic` writes the rows of a frame: the driver, the core in tasks, and Spark
ROUTES = ("driver", "arrow", "direct")


def _merge(source: str, clauses: str) -> str:
    return f"MERGE INTO {{t}} t USING ({source}) u ON t.id = u.id {clauses}"


STATEMENTS = (
    "INSERT INTO {t} (id) VALUES (1)",
    "INSERT INTO {t} (id, s, a, m) SELECT 2, NULL, NULL, NULL",
    "INSERT INTO {t} (id, s) VALUES (3, named_struct('x', 1, 'y', 'a'))",
    "INSERT INTO {t} (id, s) VALUES (4, named_struct('x', 11, 'y', 'a'))",
    "INSERT INTO {t} (id, a, m) VALUES (5, array(1), map('k', named_struct('x', 1)))",
    "INSERT INTO {t} (id, a, m) VALUES (6, array(11), map('k', named_struct('x', 11)))",
    "INSERT INTO {t} (id, a, m) SELECT 7, array(), map()",
    _merge("SELECT 8L AS id", "WHEN NOT MATCHED THEN INSERT (id) VALUES (u.id)"),
    _merge("SELECT 3L AS id", "WHEN MATCHED THEN UPDATE SET s.x = 9"),
    _merge("SELECT 3L AS id", "WHEN MATCHED THEN UPDATE SET s.x = 19"),
    "UPDATE {t} SET s = NULL, a = NULL, m = NULL WHERE id IN (3, 5)",
    "INSERT INTO {t} REPLACE WHERE id = 5 SELECT 5, NULL, NULL, NULL",
    "INSERT OVERWRITE {t} (id) VALUES (9)",
)


@AREA.family(CHECKS, quick=("a field", "a value of a map"))
def statements_that_leave_nested_columns_out(p: Player, check: str) -> None:
    p.sql(f"CREATE TABLE {{t}} ({COLUMNS}) USING delta")
    p.sql(f"ALTER TABLE {{t}} ADD CONSTRAINT c CHECK ({check})")
    for statement in STATEMENTS:
        p.attempt(statement)
        p.rows()


FRAMES = {
    "only the id": "SELECT 1L AS id",
    "fewer fields": "SELECT 3L AS id, named_struct('y', 'a') AS s",
    "fields in another order": "SELECT 4L AS id, named_struct('y', 'a', 'x', 4) AS s",
    "fields in another order, refused": "SELECT 5L AS id, named_struct('y', 'a', 'x', 14) AS s",
    "names in other case": "SELECT 6L AS ID, named_struct('X', 6, 'Y', 'a') AS S",
}


@AREA.grid(
    FRAMES,
    f"CREATE TABLE {{t}} ({COLUMNS}) USING delta TBLPROPERTIES ('delta.columnMapping.mode' = 'name')",
    "ALTER TABLE {t} ADD CONSTRAINT c CHECK (s.x IS NULL OR s.x < 10)",
)
def frames_without_what_a_check_is_about(p: Player, rows: str) -> None:
    # Spark cannot rearrange fields, and says so where it is told to write
    _by_each_route(p, rows, ROUTES if rows == FRAMES["only the id"] else ROUTES[:2])


UNTYPED = {
    "alone": "SELECT 2L AS id, NULL AS s, NULL AS a, NULL AS m",
    "beside a struct": "SELECT 3L AS id, named_struct('x', 3, 'y', 'a') AS s, NULL AS a, NULL AS m",
}


@AREA.grid(UNTYPED, f"CREATE TABLE {{t}} ({COLUMNS}) USING delta")
def frames_with_nulls_of_no_type(p: Player, rows: str) -> None:
    """A file that holds a nested column as one of no type is one that nobody can read."""
    _by_each_route(p, rows, ROUTES)


def _by_each_route(p: Player, rows: str, routes: tuple[str, ...]) -> None:
    p.attempt(*(functools.partial(p.write, rows, deltaicRoute=route) for route in routes))
    p.rows()


@AREA.situation()
def streams_without_what_a_check_is_about(p: Player) -> None:
    p.sql(f"CREATE TABLE {{u}} ({COLUMNS}) USING delta", "CREATE TABLE {t} (id BIGINT) USING delta")
    p.sql(
        "ALTER TABLE {u} ADD CONSTRAINT c CHECK (s.x IS NULL OR s.x < 10)", "INSERT INTO {t} VALUES (1), (2)"
    )
    p.attempt(p.stream)
    p.rows("SELECT * FROM {u}")


@AREA.situation()
def generated_columns_of_a_struct_that_rows_leave_out(p: Player) -> None:
    def make() -> None:
        builder = p.tables.create(p.spark).location(p.path).addColumn("id", "BIGINT")
        builder = builder.addColumn("s", "STRUCT<x: INT, y: STRING>").addColumn("n", "STRUCT<z: INT>")
        builder.addColumn("g", "INT", generatedAlwaysAs="s.x + 1").execute()

    p.attempt(
        make,
        "INSERT INTO {t} (id) VALUES (1)",
        "INSERT INTO {t} (id, s) SELECT 2, NULL",
        "INSERT INTO {t} (id, n) VALUES (3, named_struct('z', 1))",
        "INSERT INTO {t} (id, s) VALUES (4, named_struct('x', 4, 'y', 'a'))",
        "INSERT INTO {t} VALUES (5, NULL, NULL, NULL)",
        "INSERT INTO {t} VALUES (6, NULL, NULL, 7)",
        _merge("SELECT 7L AS id", "WHEN NOT MATCHED THEN INSERT (id) VALUES (u.id)"),
        lambda: p.sql("SELECT 10L AS id").writeTo(p.text("{t}")).append(),
        "UPDATE {t} SET s = NULL WHERE id = 4",
    )
    p.rows()


@AREA.situation()
def defaults_of_nested_columns_under_a_check(p: Player) -> None:
    p.sql(
        """CREATE TABLE {t} (id BIGINT, s STRUCT<x: INT, y: STRING> DEFAULT NULL, a ARRAY<INT> DEFAULT array(),
        n STRUCT<z: INT> DEFAULT named_struct('z', 2)) USING delta
        TBLPROPERTIES ('delta.feature.allowColumnDefaults' = 'supported')""",
        "ALTER TABLE {t} ADD CONSTRAINT c CHECK ((s.x IS NULL OR s.x < 10) AND size(a) < 3 AND n.z = 2)",
    )
    p.attempt(
        "INSERT INTO {t} (id) VALUES (1)",
        "INSERT INTO {t} VALUES (2, DEFAULT, DEFAULT, DEFAULT)",
        "INSERT INTO {t} VALUES (3, named_struct('x', 11, 'y', 'a'), array(1), DEFAULT)",
        "INSERT INTO {t} VALUES (4, named_struct('x', 1, 'y', 'a'), array(1, 2, 3), DEFAULT)",
        "UPDATE {t} SET s = DEFAULT, n = DEFAULT",
        _merge("SELECT 5L AS id", "WHEN NOT MATCHED THEN INSERT (id) VALUES (u.id)"),
    )
    p.rows()
