"""INSERT: values of other types than the table's, and of streams."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playing import Area

if TYPE_CHECKING:
    from playing import Player

AREA = Area("insert_casts")

# a table, its first rows, and rows of another type that a stream brings
_STREAMED = {
    "a shorter integer": ("value INT", "SELECT 17", "SELECT 23L AS value"),
    "a decimal": ("value DECIMAL(6, 2)", "SELECT 1234.56", "SELECT CAST(98.7654 AS DECIMAL(10, 4)) AS value"),
    "a date": ("value STRING", "SELECT 'abc'", "SELECT DATE'2024-07-25' AS value"),
    "a struct": ("s STRUCT<a: INT>", "SELECT named_struct('a', 17)", "SELECT named_struct('a', -12L) AS s"),
    "a map": ("m MAP<INT, INT>", "SELECT map(17, 57)", "SELECT map(-12L, '3') AS m"),
    "an array": ("s STRUCT<a: INT>", "SELECT named_struct('a', 17)", "SELECT array(-12) AS s"),
}


@AREA.family(_STREAMED)
def streams(p: Player, case: tuple[str, str, str]) -> None:
    """What a stream brings is cast to the types of the table."""
    columns, before, rows = case
    p.sql(f"CREATE TABLE {{u}} ({columns}) USING delta", f"INSERT INTO {{u}} {before}")
    p.write(rows)
    p.attempt(p.stream)
    p.schema("SELECT * FROM {u}")
    p.rows("SELECT * FROM {u}")


@AREA.family({policy: policy for policy in ("ANSI", "LEGACY", "STRICT")})
def a_stream_by_policy(p: Player, policy: str) -> None:
    """`spark.sql.storeAssignmentPolicy` says what becomes of values that do not fit."""
    p.conf("spark.sql.storeAssignmentPolicy", policy)
    p.sql("CREATE TABLE {u} (value INT) USING delta")
    p.write("SELECT 3000000000 AS value")
    p.attempt(p.stream)
    p.rows("SELECT * FROM {u}")
