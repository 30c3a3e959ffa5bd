"""Streams into a table whose columns may become wider."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from playing import Area

if TYPE_CHECKING:
    from playing import Player

AREA = Area("widening_streams")

AUTO_MERGE = "spark.databricks.delta.schema.autoMerge.enabled"
WIDENS = "'delta.enableTypeWidening' = 'true'"


def _streamed(p: Player, rows: str, **options: Any) -> None:
    """Streams the rows of a query into the table."""
    p.write(rows, path=f"{p.at}/source")
    source = p.spark.readStream.format("delta").load(f"{p.at}/source")
    p.attempt(lambda: p.stream(to=p.path, rows=source, **options))
    p.schema()
    p.rows()


# the columns, their first row, and the rows that come
WIDER = {
    "an integer": ("value SHORT", "17", "SELECT 2147483647 AS value"),
    "a double": ("value SHORT", "17", "SELECT 2.5D AS value"),
    "a decimal": ("value INT", "17", "SELECT CAST(567 AS DECIMAL(20, 0)) AS value"),
    "a narrower one": ("value INT", "2147483647", "SELECT CAST(17 AS SHORT) AS value"),
    "and a column joins": ("a SHORT", "17", "SELECT 12 AS a, CAST(3456 AS DECIMAL(10, 2)) AS b"),
    "and a column is missing": ("a SHORT, b LONG", "17, 45", "SELECT 12 AS a"),
}


@AREA.grid(WIDER)
def wider_rows(p: Player, case: tuple[str, str, str]) -> None:
    columns, row, rows = case
    p.conf(AUTO_MERGE, "true")
    p.sql(
        f"CREATE TABLE {{t}} ({columns}) USING delta TBLPROPERTIES ({WIDENS})",
        f"INSERT INTO {{t}} SELECT {row}",
    )
    _streamed(p, rows)


NOT = {
    "no evolution": ("false", WIDENS, {}),
    "evolution by option": ("false", WIDENS, {"mergeSchema": "true"}),
    "no widening": ("true", "'delta.enableTypeWidening' = 'false'", {}),
}


@AREA.grid(NOT, long=True)
def where_it_may_not(p: Player, case: tuple[str, str, dict[str, str]]) -> None:
    setting, property_, options = case
    p.conf(AUTO_MERGE, setting)
    p.sql(
        f"CREATE TABLE {{t}} (value SHORT) USING delta TBLPROPERTIES ({property_})",
        "INSERT INTO {t} VALUES (17)",
    )
    _streamed(p, "SELECT 53 AS value", **options)


@AREA.situation(long=True)
def after_a_rename_and_a_drop(p: Player) -> None:
    p.conf(AUTO_MERGE, "true")
    p.sql(
        f"""CREATE TABLE {{t}} (a SHORT, b DECIMAL(10, 0)) USING delta TBLPROPERTIES ({WIDENS},
        'delta.columnMapping.mode' = 'name')""",
        "INSERT INTO {t} VALUES (17, 45)",
        "ALTER TABLE {t} DROP COLUMN b",
        "ALTER TABLE {t} RENAME COLUMN a TO c",
    )
    _streamed(p, "SELECT 70000 AS c")


@AREA.situation(long=True)
def what_is_streamed_shows_no_changes(p: Player) -> None:
    p.sql(f"CREATE TABLE {{t}} (a SHORT) USING delta TBLPROPERTIES ({WIDENS})", "INSERT INTO {t} VALUES (1)")
    p.sql("ALTER TABLE {t} ALTER COLUMN a TYPE INT", "INSERT INTO {t} VALUES (70000)")
    p.schema(p.spark.readStream.format("delta").load(p.path))
    p.schema(p.read())
