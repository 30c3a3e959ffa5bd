"""Streams into a table whose columns may become wider."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from playing import Area
from pyspark.sql.functions import expr

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


# what a query does with the column that becomes wider
SHAPES = {
    "all": ("*", None),
    "a filter": ("*", "v > 0"),
    "a filter on another": ("id", "id > 0"),
    "a projection": ("id, v + 1 AS w", None),
    "a cast": ("id, CAST(v AS STRING) AS v", None),
    "without it": ("id", None),
    "distinct": ("*", "distinct"),
    "without duplicates": ("*", "duplicates"),
    "a sum": ("*", "sum"),
    "a key": ("*", "key"),
}
WIDENED = {
    **{name: ("INT", "BIGINT", shape) for name, shape in SHAPES.items()},
    **{f"{name}, of fractions": ("FLOAT", "DOUBLE", SHAPES[name]) for name in ("all", "a projection")},
}


@AREA.family(WIDENED, quick=("all", "a key"))
def a_source_that_becomes_wider(p: Player, case: tuple[str, str, tuple[str, str | None]]) -> None:
    """Five runs of one query: before, after, where the session allows it, and over a RESTORE."""
    before, after, (columns, how) = case
    p.conf("spark.sql.shuffle.partitions", "1")
    p.sql(f"CREATE TABLE {{t}} (id INT, v {before}) USING delta TBLPROPERTIES ({WIDENS})")
    p.sql("INSERT INTO {t} VALUES (1, 1), (2, 2)")

    def run(**options: str) -> None:
        rows = p.spark.readStream.format("delta").options(**options).load(p.path)
        if how == "distinct":
            rows = rows.distinct()
        elif how == "duplicates":
            rows = rows.dropDuplicates(["v"])
        elif how in ("sum", "key"):
            rows = rows.groupBy("id").agg(expr("sum(v) AS v")) if how == "sum" else rows.groupBy("v").count()
        else:
            rows = (rows if how is None else rows.where(how)).selectExpr(*columns.split(", "))
        mode = "complete" if how in ("sum", "key") else "append"
        p.stream(rows=rows, mode=mode, mergeSchema="true")

    p.attempt(run)
    p.sql(f"ALTER TABLE {{t}} ALTER COLUMN v TYPE {after}", "INSERT INTO {t} VALUES (3, 3000)")
    p.attempt(run, run)
    p.conf("spark.databricks.delta.streaming.allowSourceColumnTypeChange", "always")
    p.attempt(run, run)
    p.rows(p.read(f"{p.at}/u"))
    p.attempt(lambda: run(schemaTrackingLocation=f"{p.at}/checkpoint/schemas"))
    p.attempt("RESTORE TABLE {t} TO VERSION AS OF 1", run, run)
    p.rows(p.read(f"{p.at}/u"))
    p.schema(p.read(f"{p.at}/u"))
