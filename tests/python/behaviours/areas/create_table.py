"""CREATE TABLE: columns, properties, places and names."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from playing import Area

if TYPE_CHECKING:
    from playing import Player

AREA = Area("create_table")


def home(p: Player) -> Path:
    """The folder of the table of the catalog."""
    row = p.sql("DESCRIBE DETAIL {name}").first()
    return Path(row.location.removeprefix("file:"))


@AREA.family(
    {
        "CREATE OR REPLACE": "CREATE OR REPLACE TABLE {name} (id INT, more INT) USING delta",
        "CREATE OR REPLACE AS": "CREATE OR REPLACE TABLE {name} USING delta AS SELECT 1 AS id",
    }
)
def a_name_whose_folder_is_gone(p: Player, statement: str) -> None:
    p.sql("CREATE TABLE {name} (id INT) USING delta", "INSERT INTO {name} VALUES (7)")
    place = home(p)
    shutil.rmtree(place)
    p.attempt(statement)
    p.tell(Path(place, "_delta_log").exists())


PLACE = " USING delta LOCATION '{at}/t' "


@AREA.family(
    {
        "the same": "TBLPROPERTIES ('k' = 'v')",
        "none": "",
        "another value": "TBLPROPERTIES ('k' = 'w')",
        "another one": "TBLPROPERTIES ('k' = 'v', 'l' = 'w')",
        "the feed": "TBLPROPERTIES ('k' = 'v', 'delta.enableChangeDataFeed' = 'true')",
        "versions": "TBLPROPERTIES ('k' = 'v', 'delta.minReaderVersion' = '1', 'delta.minWriterVersion' = '2')",
        "higher versions": "TBLPROPERTIES ('k' = 'v', 'delta.minReaderVersion' = '3', 'delta.minWriterVersion' = '7')",
        "a feature": "TBLPROPERTIES ('k' = 'v', 'delta.feature.deletionVectors' = 'supported')",
    }
)
def a_name_for_a_table_with_properties(p: Player, clause: str) -> None:
    p.sql("CREATE TABLE {t} (id INT) USING delta TBLPROPERTIES ('k' = 'v')")
    p.attempt("CREATE TABLE {name} (id INT)" + PLACE + clause)
    p.tell(p.sql("DESCRIBE HISTORY {t}").count())
    p.detail()


NAMES = {
    "backquote": "a``b",
    "dot": "x.x",
    "comma": "a,b",
    "colon": "a:b",
    "percent": "a%b",
    "umlaut": "ä",
    "quote": "a'b",
    "at": "a@b",
    "hash": "#a",
}


TEXTS = {
    "varchar": "VARCHAR(5)",
    "a longer varchar": "VARCHAR(6)",
    "char": "CHAR(5)",
    "string": "STRING",
}


@AREA.grid(
    {f"{ours} over {theirs}": (TEXTS[theirs], TEXTS[ours]) for theirs in TEXTS for ours in TEXTS}
    | {
        "a struct of others": ("STRUCT<x: VARCHAR(5)>", "STRUCT<x: VARCHAR(6)>"),
        "an array of others": ("ARRAY<VARCHAR(5)>", "ARRAY<STRING>"),
        "a comment": ("INT COMMENT 'one'", "INT COMMENT 'other'"),
        "no comment": ("INT COMMENT 'one'", "INT"),
        "a comment more": ("INT", "INT COMMENT 'one'"),
        "NOT NULL": ("INT NOT NULL", "INT"),
        "NOT NULL more": ("INT", "INT NOT NULL"),
        "a default": ("INT DEFAULT 1", "INT DEFAULT 2"),
        "no default": ("INT DEFAULT 1", "INT"),
        "a field that may not be null": ("STRUCT<x: INT NOT NULL>", "STRUCT<x: INT>"),
    }
)
def columns_at_a_place(p: Player, case: tuple[str, str]) -> None:
    """What a name may say of the columns of a table that is there: by SQL and by the builder."""
    theirs, ours = case
    defaults = (
        " TBLPROPERTIES ('delta.feature.allowColumnDefaults' = 'supported')" if "DEFAULT" in theirs else ""
    )
    p.sql(f"CREATE TABLE {{t}} (c {theirs}) USING delta{defaults}")
    p.attempt(f"CREATE TABLE {{name}} (c {ours}) USING delta LOCATION '{{at}}/t'{defaults}")
    p.sql("DROP TABLE IF EXISTS {name}")
    if " " not in ours:
        builder = p.tables.createIfNotExists(p.spark).tableName(p.name).location(p.path)
        p.attempt(lambda: builder.addColumn("c", ours).execute())
    p.schema()


KEPT = {
    "vectors": "'delta.enableDeletionVectors' = 'true'",
    "no vectors": "'delta.enableDeletionVectors' = 'false'",
    "a policy": "'delta.checkpointPolicy' = 'v2'",
    "all of them, and others": "'delta.enableDeletionVectors' = 'true', 'delta.checkpointPolicy' = 'v2', "
    "'delta.enableRowTracking' = 'true', 'delta.enableChangeDataFeed' = 'true', 'k' = 'v'",
}
OTHERS = "'delta.enableDeletionVectors' = 'false', 'delta.checkpointPolicy' = 'classic'"


@AREA.family(
    {
        "CREATE OR REPLACE": "CREATE OR REPLACE TABLE {name} (id INT, more INT) USING delta",
        "REPLACE AS": "REPLACE TABLE {name} USING delta AS SELECT 1 AS id",
        "others": f"CREATE OR REPLACE TABLE {{name}} (id INT) USING delta TBLPROPERTIES ({OTHERS})",
        "a session with others": "session",
        "a frame": "writeTo",
        "the builder": "builder",
    }
)
def what_a_replaced_table_keeps(p: Player, statement: str) -> None:
    """Vectors, V2 checkpoints and row ids stay on where nothing says otherwise; the feed and the rest go."""
    default = "spark.databricks.delta.properties.defaults.enableDeletionVectors"

    def replace_with_a_default() -> None:
        p.conf(default, "false")
        p.sql("REPLACE TABLE {name} (id INT) USING delta")

    ways = {
        "session": replace_with_a_default,
        "writeTo": lambda: p.spark.sql("SELECT 1 AS id").writeTo(p.name).using("delta").createOrReplace(),
        "builder": lambda: p.tables.replace(p.spark).tableName(p.name).addColumn("id", "INT").execute(),
    }
    way = ways.get(statement, statement)
    for properties in KEPT.values():
        p.sql("DROP TABLE IF EXISTS {name}")
        p.sql(f"CREATE TABLE {{name}} (id INT) USING delta TBLPROPERTIES ({properties})")
        p.sql("INSERT INTO {name} VALUES (1), (2)")
        p.attempt(way)
        p.spark.conf.unset(default)
        rows = p.sql("SHOW TBLPROPERTIES {name}").collect()
        p.tell({row.key: row.value for row in rows if "materialized" not in row.key})
        p.attempt("INSERT INTO {name} (id) VALUES (3)")
        p.attempt("DELETE FROM {name} WHERE id = 3")


@AREA.situation()
def features_that_are_not_there_to_be_dropped(p: Player) -> None:
    versions = "'delta.minReaderVersion' = '3', 'delta.minWriterVersion' = '7'"
    p.sql(f"CREATE TABLE {{t}} (id INT) USING delta TBLPROPERTIES ({versions})")
    for feature in (
        "appendOnly",
        "invariants",
        "changeDataFeed",
        "clustering",
        "deletionVectors",
        "variantType",
        "x",
    ):
        p.attempt(f"ALTER TABLE {{t}} DROP FEATURE {feature}")


@AREA.grid({"parquet": "parquet", "csv": "csv"})
def a_table_of_another_format_is_not_replaced(p: Player, kind: str) -> None:
    p.sql(f"CREATE TABLE {{name}} (a INT) USING {kind}")
    p.attempt(
        "REPLACE TABLE {name} (b INT) USING delta",
        "CREATE OR REPLACE TABLE {name} (b INT) USING delta",
        "REPLACE TABLE {name} USING delta AS SELECT 1 AS b",
        "CREATE OR REPLACE TABLE {name} USING delta AS SELECT 1 AS b",
        lambda: p.sql("SELECT 1 AS b").writeTo(p.name).using("delta").replace(),
        lambda: p.sql("SELECT 1 AS b").writeTo(p.name).using("delta").createOrReplace(),
    )
    p.rows("DESCRIBE {name}")
