"""Writes by DataFrame: modes, partitions, replaceWhere, options, applications, and what the history says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from playing import Area

if TYPE_CHECKING:
    from collections.abc import Callable

    from playing import Player

AREA = Area("writes")
DYNAMIC = {"partitionOverwriteMode": "dynamic"}


ROUTES: dict[str, Callable[..., object]] = {
    "saveAsTable": lambda p, df, o: (
        df.write.format("delta").mode("overwrite").options(**o).saveAsTable(p.name)
    ),
    "save": lambda p, df, o: df.write.format("delta").mode("overwrite").options(**o).save(p.path),
    "insertInto": lambda p, df, o: df.write.mode("overwrite").options(**o).insertInto(p.name),
    "overwritePartitions": lambda p, df, o: df.writeTo(p.name).options(**o).overwritePartitions(),
    "createOrReplace": lambda p, df, o: df.writeTo(p.name).using("delta").options(**o).createOrReplace(),
    "replace": lambda p, df, o: df.writeTo(p.name).using("delta").options(**o).replace(),
    "append": lambda p, df, o: df.writeTo(p.name).options(**o).append(),
    "saveAsTable append": lambda p, df, o: (
        df.write.format("delta").mode("append").options(**o).saveAsTable(p.name)
    ),
}


def named(p: Player) -> None:
    p.sql(
        "CREATE TABLE {name} (id INT, p INT) USING delta PARTITIONED BY (p) LOCATION '{at}/t'",
        "INSERT INTO {name} VALUES (1, 1), (2, 2)",
    )


def _where(
    condition: str, rows: str = "SELECT 9 AS id, 2 AS p", **options: str
) -> tuple[str, str, dict[str, str]]:
    return condition, rows, options


@AREA.family(
    {
        "a subquery": _where("id IN (SELECT 1)"),
        "without a change of data, by column": _where("id = 9", dataChange="false"),
    }
)
def replace_where(p: Player, case: tuple[str, str, dict[str, str]]) -> None:
    condition, rows, options = case
    p.sql(
        "CREATE TABLE {t} (id INT, p INT) USING delta PARTITIONED BY (p)",
        "INSERT INTO {t} VALUES (1, 1), (2, 2), (3, 2), (4, NULL)",
    )
    p.attempt(lambda: p.write(rows, "overwrite", replaceWhere=condition, **options))
    p.rows()
    p.commit()


@AREA.grid(
    {
        "append": ("append", {}),
        "ignore": ("ignore", {}),
        "error": ("error", {}),
        "append, dynamic": ("append", DYNAMIC),
        "overwrite, dynamic, without partitions": ("overwrite", DYNAMIC),
        "overwrite of a type that is no condition": ("overwrite", {"replaceWhere": "id"}),
    },
    "CREATE TABLE {t} (id INT, p INT) USING delta",
    "INSERT INTO {t} VALUES (1, 1), (2, 2)",
)
def replace_where_in_each_mode(p: Player, case: tuple[str, dict[str, str]]) -> None:
    """Only an overwrite replaces anything."""
    mode, options = case
    p.attempt(lambda: p.write("SELECT 9 AS id, 2 AS p", mode, **{"replaceWhere": "p = 2", **options}))
    p.rows()


@AREA.situation()
def replace_where_of_a_new_table(p: Player) -> None:
    for mode in ("append", "ignore", "error"):
        p.path = f"{p.at}/{mode}"
        p.attempt(lambda mode=mode: p.write("SELECT 9 AS id, 2 AS p", mode, replaceWhere="p = 1"))
        p.answers(p.read)
    rows = p.sql("SELECT 9 AS id, 2 AS p")
    for make in (
        lambda: rows.write.format("delta").mode("append").option("replaceWhere", "p = 1").saveAsTable(p.name),
        lambda: rows.writeTo(p.name).using("delta").option("replaceWhere", "p = 1").create(),
    ):
        p.attempt(make)
        p.rows("SELECT * FROM {name}")
        p.sql("DROP TABLE {name}")


GIVEN = {
    "delta.enableChangeDataFeed": "true",
    "delta.columnMapping.mode": "name",
    "delta.feature.variantType": "supported",
}


@AREA.grid({name: route for name, route in ROUTES.items() if "eplace" not in name})
def properties_of_a_table_that_exists(p: Player, route: Callable[..., object]) -> None:
    """The options of the first write are given to each later one: a table that exists stays as it is."""
    named(p)
    rows = p.sql("SELECT 3 AS id, 3 AS p")
    p.attempt(lambda: route(p, rows, GIVEN))
    p.rows()
    p.detail()


@AREA.family({"append": "append", "overwrite": "overwrite", "ignore": "ignore"})
def what_is_no_property(p: Player, mode: str) -> None:
    p.sql("CREATE TABLE {t} (id INT) USING delta TBLPROPERTIES ('delta.checkpointInterval' = '7')")
    for name, value in (
        ("delta.nosuch", "1"),
        ("delta.feature.nosuch", "supported"),
        ("delta.checkpointInterval", "11"),
        ("DELTA.appendonly", "false"),
    ):
        p.attempt(lambda option={name: value}: p.write("SELECT 1 AS id", mode, **option))
    p.rows()
    p.detail()


@AREA.situation()
def rows_that_are_only_rearranged(p: Player) -> None:
    """Such a write makes no table and changes no columns."""
    p.attempt(lambda: p.write("SELECT 1 AS id", dataChange="false"))
    p.write("SELECT 1 AS id")
    p.attempt(lambda: p.write("SELECT 1 AS id, 2 AS n", dataChange="false", mergeSchema="true"))
    p.attempt(lambda: p.write("SELECT 2 AS n", "overwrite", dataChange="false", overwriteSchema="true"))
    p.attempt(lambda: p.write("SELECT 1 AS id", "overwrite", dataChange="false"))
    p.rows()


@AREA.situation()
def a_dynamic_overwrite_that_the_session_forbids(p: Player) -> None:
    p.sql("CREATE TABLE {t} (id INT, p INT) USING delta PARTITIONED BY (p)")
    p.conf("spark.databricks.delta.dynamicPartitionOverwrite.enabled", "false")
    p.attempt(lambda: p.write("SELECT 1 AS id, 1 AS p", "overwrite", **DYNAMIC))
    p.rows()


SESSION = "spark.sql.sources.partitionOverwriteMode"
PARTITIONED = "PARTITIONED BY (p)"


def _other_columns(p: Player, partitioned: str, by: tuple[str, ...], given: dict[str, str]) -> None:
    """Overwrites by the option or, without one, in a session that has the partitions replaced."""
    p.sql(
        f"CREATE TABLE {{t}} (id INT, p INT) USING delta {partitioned}",
        "INSERT INTO {t} VALUES (1, 1), (2, 2)",
    )
    if not given:
        p.conf(SESSION, "dynamic")
    for rows in ("SELECT 3 AS id, 1 AS p, 'n' AS w", "SELECT 4 AS id, 1 AS p"):
        p.attempt(lambda r=rows: p.write(r, "overwrite", by=by, overwriteSchema="true", **given))
        p.rows()
        p.detail()


@AREA.grid(
    {
        "of the session": (PARTITIONED, (), {}),
        "of the session, with partitions": (PARTITIONED, ("p",), {}),
        "of the session, by other partitions": (PARTITIONED, ("id",), {}),
        "of the session, of a plain table": ("", (), {}),
        "of the session, of a plain table, with partitions": ("", ("p",), {}),
        "by option, with partitions": (PARTITIONED, ("p",), DYNAMIC),
        "by option, of a plain table": ("", (), DYNAMIC),
        "by option, of a plain table, with partitions": ("", ("p",), DYNAMIC),
    }
)
def a_dynamic_overwrite_with_other_columns(p: Player, case: tuple[str, tuple[str, ...], Any]) -> None:
    """With partition columns it is refused: files of partitions that stay would not fit the table."""
    _other_columns(p, *case)


@AREA.situation(differs="refused here: the other partitions would be lost")
def a_dynamic_overwrite_that_ends_the_partitions(p: Player) -> None:
    _other_columns(p, PARTITIONED, (), DYNAMIC)


AUTO = "spark.databricks.delta.schema.autoMerge.enabled"
ONE = {"replaceWhere": "p = 1"}


@AREA.grid(
    {
        "merged": ({"mergeSchema": "true"}, False),
        "merged by the setting": ({}, True),
        "not merged against the setting": ({"mergeSchema": "false"}, True),
        "merged into one partition": ({**ONE, "mergeSchema": "true"}, False),
        "merged into one partition by the setting": (ONE, True),
        "not merged into one partition against the setting": ({**ONE, "mergeSchema": "false"}, True),
        "overwritten in one partition": ({**ONE, "overwriteSchema": "true"}, False),
        "overwritten in one partition beside the setting": ({**ONE, "overwriteSchema": "true"}, True),
        "merged and overwritten": ({"mergeSchema": "true", "overwriteSchema": "true"}, False),
        "merged into the partitions of the rows": ({**DYNAMIC, "mergeSchema": "true"}, False),
    }
)
def columns_that_join_in_an_overwrite(p: Player, case: tuple[dict[str, str], bool]) -> None:
    options, auto = case
    p.sql(
        "CREATE TABLE {t} (id INT, p INT) USING delta PARTITIONED BY (p)",
        "INSERT INTO {t} VALUES (1, 1), (2, 2)",
    )
    p.conf(AUTO, str(auto).lower())
    p.attempt(lambda: p.write("SELECT 3 AS id, 1 AS p, 'n' AS w", "overwrite", **options))
    p.schema()
    p.rows()


@AREA.situation()
def names_in_a_session_that_heeds_case(p: Player) -> None:
    named(p)
    p.conf("spark.sql.caseSensitive", "true")
    p.attempt(
        "ALTER TABLE {name} ADD COLUMNS (z INT AFTER ID)",
        "ALTER TABLE {name} ADD COLUMNS (z INT AFTER id)",
        "INSERT INTO {name} BY NAME SELECT 1 AS ID, 2 AS z, 1 AS p",
        "SELECT ID FROM {name}",
        "UPDATE {name} SET ID = 3",
        "DELETE FROM {name} WHERE ID = 3",
        "INSERT INTO {name} BY NAME SELECT 5 AS id, 2 AS z, 3 AS p",
        lambda: p.write("SELECT 6 AS ID, 2 AS z, 3 AS P"),
        lambda: p.write("SELECT 7 AS id, 2 AS z, 1 AS p", "overwrite", replaceWhere="p = 1"),
    )
    p.rows("SELECT * FROM {name}")
    p.schema()


@AREA.grid(
    {
        "a condition and replaceWhere": (
            lambda w, f: w.overwrite(f.expr("p = 1")),
            {"replaceWhere": "id > 1"},
        ),
        "a condition and REPLACEWHERE": (
            lambda w, f: w.overwrite(f.expr("p = 1")),
            {"REPLACEWHERE": "id > 1"},
        ),
        "all rows and replaceWhere": (lambda w, f: w.overwrite(f.lit(True)), {"replaceWhere": "p = 1"}),
        "all rows and dynamic": (lambda w, f: w.overwrite(f.lit(True)), DYNAMIC),
        "partitions and static": (lambda w, _: w.overwritePartitions(), {"partitionOverwriteMode": "static"}),
        "partitions and STATIC": (lambda w, _: w.overwritePartitions(), {"PARTITIONOVERWRITEMODE": "static"}),
    }
)
def options_against_the_method(p: Player, case: tuple[Callable[..., Any], dict[str, str]]) -> None:
    """No option makes an overwrite replace other rows than the method says."""
    from pyspark.sql import functions as f

    method, options = case
    named(p)
    p.sql("INSERT INTO {name} VALUES (3, 1)")
    p.attempt(lambda: method(p.sql("SELECT 9 AS id, 1 AS p").writeTo(p.name).options(**options), f))
    p.rows("SELECT * FROM {name}")


READS = "spark.sql.parquet.datetimeRebaseModeInRead"
CALENDARS = {
    "reads as LEGACY": {READS: "LEGACY"},
    "reads by EXCEPTION": {READS: "EXCEPTION"},
    "writes as LEGACY": {"spark.sql.parquet.datetimeRebaseModeInWrite": "LEGACY"},
}


@AREA.family(CALENDARS, quick=("reads as LEGACY",))
def days_before_1582_in_a_session_of_another_calendar(p: Player, settings: dict[str, str]) -> None:
    for setting, value in settings.items():
        p.conf(setting, value)
    p.sql(
        "CREATE TABLE {t} (id INT, d DATE, at TIMESTAMP, s STRUCT<d: DATE>) USING delta "
        "TBLPROPERTIES ('delta.enableDeletionVectors' = 'false', 'delta.enableChangeDataFeed' = 'true')"
    )
    old = "DATE'0001-01-01' AS d, TIMESTAMP'1500-03-01 12:00:00' AS at, named_struct('d', DATE'1582-10-04') AS s"
    for number, route in enumerate(("driver", "arrow", "direct")):
        p.write(f"SELECT {number} AS id, {old}", deltaicRoute=route)
    p.rows()
    p.attempt(
        "INSERT INTO {t} SELECT id + 10, d, at, s FROM {t}",
        "UPDATE {t} SET id = 20 WHERE d = '0001-01-01' AND id = 1",
        f"MERGE INTO {{t}} t USING (SELECT 11 AS id, {old}) u ON t.id = u.id AND t.d = u.d "
        "WHEN MATCHED THEN UPDATE SET at = u.d WHEN NOT MATCHED THEN INSERT *",
        "OPTIMIZE {t}",
    )
    p.rows()
    p.rows("SELECT id FROM {t} WHERE d < '0002-01-01' AND s.d < '1582-10-05'")
    p.changes(1)
