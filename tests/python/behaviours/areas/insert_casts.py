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


_MERGE = "spark.databricks.delta.schema.autoMerge.enabled"
_MAPPED = "TBLPROPERTIES ('delta.columnMapping.mode' = 'name')"
# the statements that make the table, the rows, and settings
_MORE: dict[str, tuple[tuple[str, ...], str, dict[str, str]]] = {
    "a partition column": (
        ("CREATE TABLE {u} (day DATE, value INT) USING delta PARTITIONED BY (day)",),
        "SELECT TIMESTAMP'2024-07-27 00:00:00' AS day, CAST(2 AS DECIMAL(4, 1)) AS value",
        {},
    ),
    "beside a new column": (
        ("CREATE TABLE {u} (a DECIMAL(6, 3)) USING delta", "INSERT INTO {u} VALUES (123)"),
        "SELECT 678L AS a, 'abc' AS b",
        {_MERGE: "true"},
    ),
    "a name in another case": (
        ("CREATE TABLE {u} (value BIGINT) USING delta", "INSERT INTO {u} VALUES (17)"),
        "SELECT 23 AS VALUE",
        {"spark.sql.caseSensitive": "false"},
    ),
    "a name in another case that tells": (
        ("CREATE TABLE {u} (value BIGINT) USING delta", "INSERT INTO {u} VALUES (17)"),
        "SELECT 23 AS VALUE",
        {"spark.sql.caseSensitive": "true"},
    ),
    "a name in another case beside a new column": (
        ("CREATE TABLE {u} (a INT) USING delta", "INSERT INTO {u} VALUES (17)"),
        "SELECT 21 AS A, 22L AS b",
        {"spark.sql.caseSensitive": "true", _MERGE: "true"},
    ),
    "a column that is missing": (
        (
            "CREATE TABLE {u} (a TIMESTAMP, b STRING) USING delta",
            "INSERT INTO {u} VALUES (TIMESTAMP'2024-07-28 12:00:00', 'abc')",
        ),
        "SELECT DATE'2024-07-29' AS a",
        {},
    ),
    "a column that had another name": (
        (
            f"CREATE TABLE {{u}} (a INT, b BIGINT) USING delta {_MAPPED}",
            "INSERT INTO {u} VALUES (1, 100)",
            "ALTER TABLE {u} DROP COLUMN a",
            "ALTER TABLE {u} RENAME COLUMN b TO a",
        ),
        "SELECT '17' AS a",
        {},
    ),
}


@AREA.family(_MORE, quick={"beside a new column", "a column that had another name"})
def more_streams(p: Player, case: tuple[tuple[str, ...], str, dict[str, str]]) -> None:
    """Casts of a stream's rows beside what else a batch may have."""
    made, rows, settings = case
    p.sql(*made)
    p.write(rows)
    for name, value in settings.items():
        p.conf(name, value)
    p.attempt(p.stream)
    p.schema("SELECT * FROM {u}")
    p.rows("SELECT * FROM {u}")


@AREA.situation(long=True)
def a_new_schema_of_a_complete_stream(p: Player) -> None:
    """A query that starts again, with `overwriteSchema` in complete mode, gives columns new types and names."""
    for value, kind, name in ((10, "INT", "c"), (20, "BIGINT", "d")):
        p.write(f"SELECT {value}L AS value")
        rows = p.spark.readStream.format("delta").load(p.path).selectExpr("CAST(value AS DECIMAL(6, 3)) AS a")
        counted = rows.groupBy("a").count().selectExpr("*", f"CAST(count AS {kind}) AS b", f"'x' AS {name}")
        p.attempt(lambda counted=counted: p.stream(rows=counted, mode="complete", overwriteSchema="true"))
        p.schema("SELECT * FROM {u}")
        p.rows("SELECT * FROM {u}")
