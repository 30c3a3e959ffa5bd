"""Writes with schema evolution under CHECK constraints and generated columns, which were computed with other types."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playing import Area

if TYPE_CHECKING:
    from playing import Player

AREA = Area("rule_evolution")

WIDENS = "TBLPROPERTIES ('delta.enableTypeWidening' = 'true')"

# a condition, columns, and a row
RULED = {
    "its column": ("a > 0", "a INT, b INT", "2L AS a, 1 AS b"),
    "another column": ("a > 0", "a INT, b INT", "2 AS a, 1L AS b"),
    "its field": ("s.x > 0", "s STRUCT<x: INT, y: INT>", "named_struct('x', 1L, 'y', 1) AS s"),
    "another field": ("s.x > 0", "s STRUCT<x: INT, y: INT>", "named_struct('x', 1, 'y', 1L) AS s"),
    "its struct": ("s IS NOT NULL", "s STRUCT<x: INT, y: INT>", "named_struct('x', 1, 'y', 1L) AS s"),
    "a field joins its struct": ("s IS NOT NULL", "s STRUCT<x: INT>", "named_struct('x', 1, 'z', 1) AS s"),
    "a field joins the struct of its field": (
        "s.x > 0",
        "s STRUCT<x: INT>",
        "named_struct('x', 1, 'z', 1) AS s",
    ),
    "an element": ("size(l) > 0", "l ARRAY<INT>", "array(1L) AS l"),
    "its element": ("l[0] > 0", "l ARRAY<INT>", "array(1L) AS l"),
    "a value of its map": ("m['x'] > 0", "m MAP<STRING, INT>", "map('x', 1L) AS m"),
    "a field joins the elements": (
        "l[0].x > 0",
        "l ARRAY<STRUCT<x: INT>>",
        "array(named_struct('x', 1, 'z', 2)) AS l",
    ),
    "a column joins": ("a > 0", "a INT", "1 AS a, 'x' AS n"),
    "a decimal": ("a > 0", "a DECIMAL(6, 2)", "CAST(1 AS DECIMAL(10, 2)) AS a"),
    "a date": ("a > DATE '2020-01-01'", "a DATE", "DATE '2024-01-01' AS a"),
}


@AREA.family(RULED)
def an_append_under_a_constraint(p: Player, case: tuple[str, str, str]) -> None:
    condition, columns, row = case
    p.sql(f"CREATE TABLE {{t}} ({columns}) USING delta {WIDENS}")
    p.sql(f"ALTER TABLE {{t}} ADD CONSTRAINT c CHECK ({condition})")
    p.attempt(lambda: p.write(f"SELECT {row}", mergeSchema="true"))
    p.schema()
    p.rows()


# columns, and a row
EVOLVED = {
    "its source": ("a INT, g INT GENERATED ALWAYS AS (hash(a))", "5000000000L AS a"),
    "its source, that fits": ("a INT, g INT GENERATED ALWAYS AS (a * 2)", "5L AS a"),
    "itself": ("a INT, g INT GENERATED ALWAYS AS (a * 2)", "5 AS a, 10L AS g"),
    "another column": ("a INT, b INT, g INT GENERATED ALWAYS AS (a * 2)", "5 AS a, 5000000000L AS b"),
    "its field": (
        "s STRUCT<x: INT, y: INT>, g INT GENERATED ALWAYS AS (hash(s.x))",
        "named_struct('x', 5000000000L, 'y', 1) AS s",
    ),
    "another field": (
        "s STRUCT<x: INT, y: INT>, g INT GENERATED ALWAYS AS (hash(s.x))",
        "named_struct('x', 1, 'y', 5000000000L) AS s",
    ),
    "its struct": (
        "s STRUCT<x: INT, y: INT>, g INT GENERATED ALWAYS AS (hash(s))",
        "named_struct('x', 1, 'y', 5000000000L) AS s",
    ),
    "a field joins its struct": (
        "s STRUCT<x: INT>, g INT GENERATED ALWAYS AS (hash(s))",
        "named_struct('x', 1, 'z', 5) AS s",
    ),
    "a field joins the struct of its field": (
        "s STRUCT<x: INT>, g INT GENERATED ALWAYS AS (hash(s.x))",
        "named_struct('x', 1, 'z', 5) AS s",
    ),
    "a column joins": ("a INT, g INT GENERATED ALWAYS AS (a * 2)", "5 AS a, 1 AS n"),
}


@AREA.family(EVOLVED)
def an_append_under_a_generated_column(p: Player, case: tuple[str, str]) -> None:
    columns, row = case
    p.sql(f"CREATE TABLE {{t}} ({columns}) USING delta {WIDENS}")
    p.attempt(lambda: p.write(f"SELECT {row}", mergeSchema="true"))
    p.schema()
    p.rows()


SMALL = {
    f"{old} to {new}": (old, new)
    for old, new in (
        ("BYTE", "SHORT"),
        ("BYTE", "INT"),
        ("SHORT", "BYTE"),
        ("SHORT", "INT"),
    )
}


@AREA.family(SMALL)
def an_append_of_other_integers(p: Player, case: tuple[str, str]) -> None:
    """Without type widening."""
    old, new = case
    p.sql(f"CREATE TABLE {{t}} (a {old}) USING delta")
    p.attempt(lambda: p.write(f"SELECT CAST(7 AS {new}) AS a", mergeSchema="true"))
    p.schema()
    p.rows()
