"""CREATE TABLE … SHALLOW CLONE of Parquet files, by path and by a name of the catalog."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playing import Area

if TYPE_CHECKING:
    from playing import Player

AREA = Area("clone_parquet")


def named(p: Player, more: str = "", rows: str = "(1, 2), (3, NULL)") -> None:
    """A Parquet table of the catalog."""
    p.sql(
        f"CREATE TABLE {{name}} (id INT COMMENT 'a b', p INT) USING parquet {more}",
        f"INSERT INTO {{name}} SELECT /*+ COALESCE(1) */ * FROM VALUES {rows}",
    )


def parquet(p: Player, by: tuple[str, ...] = ()) -> None:
    """Parquet files that the catalog does not know."""
    rows = p.sql("SELECT 1 AS id, 2 AS p UNION ALL SELECT 3, 4").coalesce(1).write
    (rows.partitionBy(*by) if by else rows).parquet(f"{p.at}/x")


def state(p: Player, table: str = "{t}") -> None:
    """Tells rows, columns, partitions, properties, and the commit."""
    p.rows(f"SELECT * FROM {table}")
    p.tell([list(row) for row in p.sql(f"DESCRIBE TABLE {table}").collect() if not row[0].startswith("#")])
    detail = p.sql(f"DESCRIBE DETAIL {table}").first()
    p.tell([detail.format, detail.partitionColumns, detail.properties, detail.numFiles])
    p.commit(table)


MADE = {
    "without partitions": "",
    "with partitions": "PARTITIONED BY (p)",
    "with properties": "COMMENT 'c' TBLPROPERTIES ('a' = 'b', 'delta.appendOnly' = 'true')",
    "external": "PARTITIONED BY (p) LOCATION '{at}/x'",
}


@AREA.family(MADE)
def by_name(p: Player, made: str) -> None:
    named(p, made)
    p.attempt("CREATE TABLE {t} SHALLOW CLONE {name}")
    state(p)
    p.rows("SELECT * FROM {name}")


@AREA.situation()
def by_path(p: Player) -> None:
    parquet(p)
    p.attempt("CREATE TABLE {t} SHALLOW CLONE parquet.`{at}/x`")
    state(p)


@AREA.situation()
def by_path_of_folders_that_are_partitions(p: Player) -> None:
    parquet(p, ("p",))
    p.attempt("CREATE TABLE {name} SHALLOW CLONE parquet.`{at}/x`")
    p.tell(p.spark.catalog.tableExists(p.name))


@AREA.situation()
def to_a_name(p: Player) -> None:
    parquet(p)
    p.attempt("CREATE TABLE {name} SHALLOW CLONE parquet.`{at}/x`")
    state(p, "{name}")
    p.attempt("DROP TABLE {name}", "CREATE TABLE {name} SHALLOW CLONE parquet.`{at}/x`")
    p.rows("SELECT * FROM {name}")
    p.attempt(
        "CREATE TABLE {name} SHALLOW CLONE parquet.`{at}/x`",
        "CREATE TABLE IF NOT EXISTS {name} SHALLOW CLONE parquet.`{at}/x`",
    )


@AREA.situation()
def to_a_name_with_a_location(p: Player) -> None:
    parquet(p)
    p.attempt("CREATE TABLE {name} SHALLOW CLONE parquet.`{at}/x` LOCATION '{at}/y'", "DROP TABLE {name}")
    p.rows("SELECT * FROM delta.`{at}/y`")


@AREA.situation()
def with_other_properties(p: Player) -> None:
    named(p, "TBLPROPERTIES ('a' = 'b', 'c' = 'd')")
    properties = "'a' = 'z', 'delta.enableDeletionVectors' = 'true'"
    p.attempt(f"CREATE TABLE {{t}} SHALLOW CLONE {{name}} TBLPROPERTIES ({properties})")
    p.tell(p.sql("DESCRIBE DETAIL {t}").first().properties)
    p.attempt("CREATE TABLE {u} SHALLOW CLONE {name} TBLPROPERTIES ('delta.columnMapping.mode' = 'name')")


@AREA.situation()
def what_is_written_to_one_is_not_in_the_other(p: Player) -> None:
    named(p, "PARTITIONED BY (p)", "(1, 2), (3, 4)")
    p.sql("CREATE TABLE {t} SHALLOW CLONE {name}")
    p.sql("INSERT INTO {name} VALUES (7, 8)", "INSERT INTO {t} VALUES (9, 10)")
    p.sql("UPDATE {t} SET id = 5 WHERE id = 1", "DELETE FROM {t} WHERE p = 4")
    p.conf("spark.databricks.delta.retentionDurationCheck.enabled", "false")
    p.sql("OPTIMIZE {t}").collect()
    p.sql("VACUUM {t} RETAIN 0 HOURS").collect()
    p.rows("SELECT * FROM {t}")
    p.rows("SELECT * FROM {name}")


@AREA.situation()
def onto_tables(p: Player) -> None:
    named(p)
    p.attempt("REPLACE TABLE {t} SHALLOW CLONE {name}", "CREATE OR REPLACE TABLE {t} SHALLOW CLONE {name}")
    p.rows()
    p.attempt("CREATE TABLE {t} SHALLOW CLONE {name}")
    p.sql("CREATE TABLE {u} (other STRING) USING delta")
    p.attempt("REPLACE TABLE {u} SHALLOW CLONE {name}")
    state(p, "{u}")


@AREA.situation()
def what_cannot_be_cloned(p: Player) -> None:
    p.sql("CREATE TABLE {name} (id INT) USING csv")
    p.attempt("CREATE TABLE {t} SHALLOW CLONE {name}")
    p.sql("DROP TABLE {name}", "CREATE VIEW {name} AS SELECT 1 AS id")
    p.attempt("CREATE TABLE {t} SHALLOW CLONE {name}")
    p.sql("DROP VIEW {name}")
    p.attempt("CREATE TABLE {t} SHALLOW CLONE {name}")
    named(p)
    p.attempt(
        "CREATE TABLE {t} SHALLOW CLONE {name} VERSION AS OF 0",
        "CREATE TABLE {t} SHALLOW CLONE {name} TIMESTAMP AS OF '2020-01-01'",
    )


@AREA.situation()
def a_clone_that_came_back_to_an_older_version(p: Player) -> None:
    mapped = "TBLPROPERTIES ('delta.columnMapping.mode' = 'name')"
    p.sql(f"CREATE TABLE {{t}} (id INT, q INT) USING delta {mapped}", "ALTER TABLE {t} DROP COLUMN q")
    p.sql("CREATE TABLE {u} SHALLOW CLONE {t}")
    p.attempt("CREATE OR REPLACE TABLE {u} SHALLOW CLONE {t} VERSION AS OF 0")
    p.rows("SELECT * FROM {u}")
    p.tell(p.sql("SELECT * FROM {u}").columns)
    p.attempt("INSERT INTO {u} VALUES (1, 2)", "ALTER TABLE {u} ADD COLUMN z INT")
    p.rows("SELECT * FROM {u}")
