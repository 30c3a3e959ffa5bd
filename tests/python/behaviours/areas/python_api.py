"""`DeltaTable` in Python: how tables are named and opened, sessions and threads, and what a deleted folder leaves."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from playing import FEED, Area, condition_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from playing import Player

AREA = Area("python_api")

AUTO = "spark.databricks.delta.schema.autoMerge.enabled"


# -- opening


@AREA.situation()
def views_are_no_tables(p: Player) -> None:
    p.sql("CREATE TABLE {t} (a INT) USING delta", "INSERT INTO {t} VALUES (1)")
    p.sql(
        "CREATE OR REPLACE TEMPORARY VIEW of_api AS SELECT * FROM {t}",
        "CREATE VIEW {name} AS SELECT * FROM {t}",
    )
    try:
        p.attempt(
            lambda: p.tables.forName(p.spark, "of_api"),
            lambda: p.tables.forName(p.spark, p.name),
            lambda: p.tables.forName(p.spark, f"default.{p.name}"),
        )
    finally:
        p.sql("DROP VIEW of_api")


@AREA.situation(long=True)
def names_with_catalog_and_dots(p: Player) -> None:
    p.sql(f"CREATE TABLE {{name}} USING delta LOCATION '{p.path}' AS SELECT 1 AS a")
    for name in (
        p.name,
        f"default.{p.name}",
        f"spark_catalog.default.{p.name}",
        f"`{p.name}`",
        f"`default`.`{p.name}`",
        f"`default.{p.name}`",
        f"default.`{p.name}.x`",
        f"other.{p.name}",
        f"delta.`{p.path}`",
        f"delta.`{p.at}/none`",
        f"parquet.`{p.path}`",
    ):
        p.tell({"case": name.replace(p.name, "<name>")})
        p.attempt(lambda name=name: p.tables.forName(p.spark, name).toDF())


@AREA.situation()
def a_database_called_delta(p: Player) -> None:
    """Its tables go before paths."""
    p.sql("CREATE TABLE {t} USING delta AS SELECT 7 AS a")
    p.sql("CREATE DATABASE delta")
    try:
        p.sql(f"CREATE TABLE delta.in_it USING delta LOCATION '{p.at}/v' AS SELECT 1 AS a")
        p.rows("SELECT * FROM delta.in_it")
        p.rows("SELECT * FROM delta.`in_it`")
        p.rows(p.tables.forName(p.spark, "delta.in_it").toDF())
        p.rows("SELECT * FROM {t}")
        p.rows(p.tables.forName(p.spark, f"delta.`{p.path}`").toDF())
        p.attempt("INSERT INTO delta.in_it VALUES (2)", "SELECT * FROM delta.not_in_it", "DELETE FROM {t}")
        p.rows("SELECT * FROM delta.in_it")
        p.rows()
    finally:
        p.sql("DROP DATABASE delta CASCADE")


@AREA.situation()
def what_is_a_table(p: Player) -> None:
    Path(p.at, "empty_log", "_delta_log").mkdir(parents=True)
    Path(p.at, "empty").mkdir()
    p.spark.range(1).write.parquet(f"{p.at}/parquet")
    p.sql("CREATE TABLE {t} (a INT, p INT) USING delta PARTITIONED BY (p)", "INSERT INTO {t} VALUES (1, 2)")
    for folder in ("empty_log", "empty", "parquet", "none", "t", "t/p=2"):
        p.tell([folder, p.tables.isDeltaTable(p.spark, f"{p.at}/{folder}")])
    p.attempt(
        lambda: p.read(f"{p.at}/empty_log"),
        "INSERT INTO delta.`{at}/empty_log` VALUES (1)",
    )


# -- sessions and threads


def _merge(target: Any, source: Any) -> None:
    merge = target.alias("t").merge(source.alias("s"), "t.a = s.a")
    merge.whenMatchedUpdateAll().whenNotMatchedInsertAll().execute()


@AREA.grid(
    {"the setting is the target's": "target", "the setting is the source's": "source"},
    "CREATE TABLE {t} (a INT) USING delta",
    "INSERT INTO {t} VALUES (1)",
    long=True,
)
def a_merge_of_two_sessions(p: Player, whose: str) -> None:
    other = p.spark.newSession()
    source = other.sql("SELECT 1 AS a, 2 AS n UNION ALL SELECT 3, 4")
    if whose == "target":
        p.conf(AUTO, "true")
    else:
        other.conf.set(AUTO, "true")
    p.attempt(lambda: _merge(p.table(), source))
    p.schema()
    p.rows()


@AREA.situation()
def a_merge_in_a_thread(p: Player) -> None:
    """It sees the settings of its session."""
    p.sql("CREATE TABLE {t} (a INT) USING delta", "INSERT INTO {t} VALUES (1)")
    p.conf(AUTO, "true")
    source = p.sql("SELECT 1 AS a, 2 AS n UNION ALL SELECT 3, 4")
    with ThreadPoolExecutor(1) as pool:
        pool.submit(_merge, p.table(), source).result()
    p.schema()
    p.rows()


@AREA.situation()
def the_builder_without_a_session(p: Player) -> None:
    p.tables.create().location(p.path).addColumn("a", "INT").execute()
    p.tables.createIfNotExists().location(p.path).addColumn("b", "INT").execute()
    p.schema()
    p.tables.replace().location(p.path).addColumn("c", "INT").execute()


# -- features


@AREA.grid(
    {
        "a writer feature": ("appendOnly", True),
        "a writer feature, kept": ("changeDataFeed", False),
        "another writer feature": ("changeDataFeed", True),
        "vacuumProtocolCheck": ("vacuumProtocolCheck", True),
        "what is not there": ("deletionVectors", True),
        "no name": (5, False),
        "no truth": ("changeDataFeed", "yes"),
    },
    "CREATE TABLE {t} (a INT) USING delta TBLPROPERTIES ('delta.feature.appendOnly' = 'supported', "
    "'delta.feature.changeDataFeed' = 'supported', 'delta.feature.vacuumProtocolCheck' = 'supported')",
    long=True,
)
def drop_feature_support(p: Player, case: tuple[Any, Any]) -> None:
    p.attempt(lambda: p.table().dropFeatureSupport(*case))
    p.tell(sorted(p.sql("DESCRIBE DETAIL {t}").first().tableFeatures))


@AREA.grid(
    {
        "versions": f"'delta.minReaderVersion' = '1', 'delta.minWriterVersion' = '7', '{FEED}' = 'true'",
        "both versions": f"'delta.minReaderVersion' = '3', 'delta.minWriterVersion' = '7', '{FEED}' = 'true'",
        "off": f"'delta.minReaderVersion' = '3', 'delta.minWriterVersion' = '7', '{FEED}' = 'false'",
    },
    "CREATE TABLE {t} (a INT) USING delta",
    long=True,
)
def the_feed_and_the_protocol_at_once(p: Player, properties: str) -> None:
    p.attempt(f"ALTER TABLE {{t}} SET TBLPROPERTIES ({properties})")
    p.detail()


# -- merges that the tests of delta-rs play


@AREA.situation()
def a_partition_value_with_a_space(p: Player) -> None:
    """Merged twice, the second time changes nothing."""
    p.sql(
        "CREATE TABLE {t} (a INT, p STRING) USING delta PARTITIONED BY (p)",
        "INSERT INTO {t} VALUES (1, 'x y')",
    )
    for _ in range(2):
        p.sql("""MERGE INTO {t} AS t USING (SELECT 1 AS a, 'x y' AS p UNION ALL SELECT 2, 'z / %') AS s
            ON t.a = s.a AND t.p = s.p WHEN NOT MATCHED THEN INSERT *""")
        p.rows()


@AREA.situation()
def keys_of_other_precision(p: Player) -> None:
    p.sql(
        "CREATE TABLE {t} (k DECIMAL(10, 2), v INT) USING delta",
        "INSERT INTO {t} VALUES (1.50, 1), (2.25, 2)",
    )
    p.sql("""MERGE INTO {t} AS t USING (SELECT CAST(1.5 AS DECIMAL(6, 1)) AS k UNION ALL SELECT 2.25001) AS s
        ON t.k = s.k WHEN MATCHED THEN UPDATE SET v = 100""")
    p.rows()


@AREA.situation()
def lists_with_nulls_stay(p: Player) -> None:
    p.sql("CREATE TABLE {t} (k INT, l ARRAY<INT>) USING delta")
    p.sql("INSERT INTO {t} VALUES (1, array(1, NULL, 3)), (2, array()), (3, NULL), (4, array(NULL))")
    p.sql("UPDATE {t} SET k = k + 10 WHERE k IN (1, 4)")
    p.sql("MERGE INTO {t} USING (SELECT 2 AS j) ON k = j WHEN MATCHED THEN UPDATE SET k = 12")
    p.rows()
    p.rows("SELECT k FROM {t} WHERE l IS NULL")
    p.rows("SELECT k FROM {t} WHERE l IS NOT NULL")
    p.rows("SELECT k FROM {t} WHERE get(l, 0) IS NULL")


@AREA.situation()
def a_column_that_must_not_be_null_in_other_case(p: Player) -> None:
    p.sql("CREATE TABLE {t} (aKey INT, someValue INT NOT NULL) USING delta", "INSERT INTO {t} VALUES (1, 1)")
    p.attempt(
        """MERGE INTO {t} AS t USING (SELECT 2 AS akey, 5 AS SOMEVALUE) AS s ON t.aKey = s.akey
        WHEN NOT MATCHED THEN INSERT *""",
    )
    p.rows()


@AREA.situation()
def a_constraint_on_a_list(p: Player) -> None:
    p.sql("CREATE TABLE {t} (a ARRAY<STRING>) USING delta")
    p.attempt(
        "ALTER TABLE {t} ADD CONSTRAINT c CHECK (array_contains(a, 'a'))",
        "INSERT INTO {t} VALUES (array('a', 'b'))",
        "INSERT INTO {t} VALUES (array('b'))",
        "INSERT INTO {t} VALUES (array('b', NULL))",
    )
    p.rows()


@AREA.situation()
def constants_that_are_cast_where_rows_are_replaced(p: Player) -> None:
    p.sql("CREATE TABLE {t} (a INT, d DATE) USING delta", "INSERT INTO {t} VALUES (1, DATE '2024-01-01')")
    p.attempt(
        lambda: p.write("SELECT 1 AS a, DATE '2024-01-02' AS d", mode="overwrite", replaceWhere="a = '1'"),
        lambda: p.write(
            "SELECT 2 AS a, DATE '2024-01-02' AS d", mode="overwrite", replaceWhere="d = '2024-01-02'"
        ),
        lambda: p.write("SELECT 3 AS a, DATE '2024-01-03' AS d", mode="overwrite", replaceWhere="a > 2.5"),
    )
    p.rows()


SETTING_NOTHING: dict[str, Callable[[Any], Any]] = {
    "an update before an insert": lambda m: m.whenMatchedUpdate(set={}).whenNotMatchedInsertAll(),
    "an update before a delete": lambda m: m.whenMatchedUpdate(set={}).whenMatchedDelete(),
    "an update alone": lambda m: m.whenMatchedUpdate(set={}),
    "an update with a condition": lambda m: m.whenMatchedUpdate("s.id = 2", {}).whenMatchedUpdateAll(),
    "an insert": lambda m: m.whenNotMatchedInsert(values={}),
    "an insert with a condition": lambda m: m.whenNotMatchedInsert("s.id = 4", {}).whenNotMatchedInsertAll(),
    "by source": lambda m: m.whenNotMatchedBySourceUpdate(set={}).whenMatchedDelete(),
    "by source with a condition": lambda m: m.whenNotMatchedBySourceUpdate(
        "t.id = 0", {}
    ).whenNotMatchedBySourceDelete(),
    "None": lambda m: m.whenMatchedUpdate(),
    "None for new rows": lambda m: m.whenNotMatchedInsert("s.id = 4"),
    "None by source": lambda m: m.whenNotMatchedBySourceUpdate("t.id = 0"),
    "a number": lambda m: m.whenNotMatchedInsert(values={"v": 5}),
}


@AREA.grid(SETTING_NOTHING, "CREATE TABLE {t} USING delta AS SELECT id, 'old' AS v FROM range(4)")
def merges_that_set_nothing(p: Player, clauses: Callable[[Any], Any]) -> None:
    source = p.sql("SELECT id, 'new' AS v FROM range(2, 6)").alias("s")
    try:
        clauses(p.table().alias("t").merge(source, "s.id = t.id")).execute()
    except Exception as error:  # noqa: BLE001 the error is the answer
        p.tell(condition_of(error) or str(error))
    p.rows()
    metrics = p.sql("DESCRIBE HISTORY {t} LIMIT 1").first().operationMetrics
    p.tell({name: metrics.get(f"numTargetRows{name}") for name in ("Updated", "Inserted", "Deleted")})
