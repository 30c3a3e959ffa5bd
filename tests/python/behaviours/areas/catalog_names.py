"""Names of the catalog: in a database called `delta`, and names that own their files; paths where nothing is."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from playing import Area

if TYPE_CHECKING:
    from playing import Player

AREA = Area("catalog_names")


# -- a database called `delta`: its tables have names that look like paths


@AREA.situation()
def a_database_called_delta(p: Player) -> None:
    p.sql(f"CREATE DATABASE delta LOCATION '{p.at}/d'")
    try:
        p.sql("CREATE TABLE delta.t (id INT, s STRUCT<a: INT>) USING delta")
        p.sql("ALTER TABLE delta.t SET TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')")
        p.attempt(
            "INSERT INTO delta.t VALUES (1, struct(1))",
            "UPDATE delta.t SET id = 2",
            "MERGE INTO delta.t USING (SELECT 7 AS id) AS s ON t.id = s.id WHEN MATCHED THEN DELETE",
            "DELETE FROM delta.t WHERE id = 2",
            "OPTIMIZE delta.t",
            "OPTIMIZE delta.t ZORDER BY (id)",
            "VACUUM delta.t",
            "VACUUM delta.t DRY RUN",
            "REORG TABLE delta.t APPLY (PURGE)",
            "GENERATE symlink_format_manifest FOR TABLE delta.t",
            "ALTER TABLE delta.t ADD CONSTRAINT c CHECK (id > 0)",
            "ALTER TABLE delta.t DROP CONSTRAINT c",
            "ALTER TABLE delta.t ADD COLUMN x INT",
            "RESTORE TABLE delta.t TO VERSION AS OF 2",
        )
        p.answers(
            "SELECT * FROM delta.t",
            "SELECT id, _change_type FROM table_changes('delta.t', 2, 3)",
            "SELECT * FROM delta.t VERSION AS OF 2",
            "SELECT version, operation FROM (DESCRIBE HISTORY delta.t) WHERE version < 3",
            "DESCRIBE delta.t s.a",
            "SHOW COLUMNS IN delta.t",
        )
        p.attempt(
            "DESCRIBE HISTORY delta.t", "DESCRIBE DETAIL delta.t", "CREATE TABLE {t} SHALLOW CLONE delta.t"
        )
        p.rows()
        p.rows(p.tables.forName(p.spark, "delta.t").toDF())
        p.spark.table("delta.t").write.format("delta").mode("append").saveAsTable("delta.t")
        p.spark.table("delta.t").write.insertInto("delta.t")
        p.answers("SELECT * FROM delta.t", "SELECT count(*) FROM delta.`{at}/d/t`")
        p.attempt(
            "SELECT * FROM delta.nothing",
            "OPTIMIZE delta.nothing",
            "VACUUM delta.nothing",
            "DESCRIBE HISTORY delta.nothing",
            "DESCRIBE DETAIL delta.nothing",
            "RESTORE TABLE delta.nothing TO VERSION AS OF 0",
            "INSERT INTO delta.nothing VALUES (1)",
            "ALTER TABLE delta.nothing DROP CONSTRAINT c",
        )
    finally:
        p.sql("DROP DATABASE delta CASCADE")


# -- paths where nothing is

STATEMENTS = (
    "OPTIMIZE {}",
    "VACUUM {}",
    "VACUUM {} DRY RUN",
    "DESCRIBE HISTORY {}",
)
PLACES = {
    "a path": "delta.`{at}/nothing`",
    "a path in quotes": "'{at}/nothing'",
    "a name like a path": "delta.`nothing`",
    "a folder of others": "delta.`{at}/x`",
    "a folder of others in quotes": "'{at}/x'",
}


@AREA.family(PLACES)
def statements_where_nothing_is(p: Player, place: str) -> None:
    p.sql("SELECT 1 AS id").write.parquet(f"{p.at}/x")
    p.attempt(*(statement.replace("{}", place) for statement in STATEMENTS))


# -- details of what is no table of ours

OTHERS = {
    "Parquet": "USING parquet PARTITIONED BY (p) COMMENT 'c' TBLPROPERTIES ('a' = 'b')",
    "CSV": "USING csv",
    "a location": "USING json LOCATION '{at}/x'",
}


@AREA.family(OTHERS)
def details_of_other_formats(p: Player, made: str) -> None:
    """As programs ask whether a table is one of Delta."""
    p.sql(f"CREATE TABLE {{name}} (id INT, p INT) {made}")
    row = p.sql("DESCRIBE DETAIL {name}").first().asDict()
    row["createdAt"] = row["createdAt"] is not None
    row["location"] = row["location"].rpartition("/")[2]
    p.tell(row)


@AREA.situation()
def details_of_a_folder_in_quotes(p: Player) -> None:
    p.sql("SELECT 1 AS id").write.parquet(f"{p.at}/x")
    p.tell(p.sql("DESCRIBE DETAIL '{at}/x'").first().asDict())
    p.attempt("DESCRIBE DETAIL delta.`{at}/x`", "DESCRIBE DETAIL parquet.`{at}/x`")


# -- names that own their files

Made = Callable[["Player"], Any]


def builder(mode: str) -> Made:
    return lambda p: getattr(p.tables, mode)(p.spark).tableName(p.name).addColumn("id", "INT").execute()


def clone(p: Player) -> None:
    p.sql("CREATE TABLE {name} SHALLOW CLONE {u}")


def clone_by_method(p: Player) -> None:
    p.table(f"{p.at}/u").clone(p.name, isShallow=True)


OWNING: dict[str, Made] = {
    "create": builder("create"),
    "createIfNotExists": builder("createIfNotExists"),
    "createOrReplace": builder("createOrReplace"),
    "clone": clone,
    "clone by the method": clone_by_method,
    "CREATE TABLE": lambda p: p.sql("CREATE TABLE {name} (id INT) USING delta"),
    "CREATE TABLE AS SELECT": lambda p: p.sql("CREATE TABLE {name} USING delta AS SELECT 1 AS id"),
    "saveAsTable": lambda p: p.sql("SELECT 1 AS id").write.format("delta").saveAsTable(p.name),
    "writeTo": lambda p: p.sql("SELECT 1 AS id").writeTo(p.name).using("delta").create(),
}


def place(p: Player) -> Path:
    """Where the catalog puts a table of the situation's name."""
    warehouse = p.spark.conf.get("spark.sql.warehouse.dir").removeprefix("file:")
    return Path(warehouse.replace("///", "/"), p.name)


def kind(p: Player) -> str:
    facts = p.sql("DESCRIBE TABLE EXTENDED {name}").collect()
    return next(row[1] for row in facts if row[0] == "Type")


@AREA.family(OWNING)
def a_dropped_name_can_be_made_again(p: Player, make: Made) -> None:
    p.sql("CREATE TABLE {u} USING delta AS SELECT 5 AS id")
    for _ in range(2):
        p.attempt(lambda: make(p))
        p.attempt("INSERT INTO {name} VALUES (9)")
        p.rows("SELECT * FROM {name}")
        p.tell([kind(p), place(p).exists()])
        p.sql("DROP TABLE {name}")
        p.tell(place(p).exists())
    p.rows("SELECT * FROM {u}")


@AREA.family(OWNING)
def a_place_with_a_table_of_another_one(p: Player, make: Made) -> None:
    p.sql("CREATE TABLE {u} USING delta AS SELECT 5 AS id")
    p.write("SELECT 1 AS other", path=str(place(p)))
    try:
        p.attempt(lambda: make(p))
        p.rows(p.read(str(place(p))))
    finally:
        p.sql("DROP TABLE IF EXISTS {name}")
        shutil.rmtree(place(p), ignore_errors=True)


@AREA.situation()
def a_name_with_a_location_owns_nothing(p: Player) -> None:
    made = p.tables.create(p.spark).tableName(p.name).location(p.path).addColumn("id", "INT")
    p.attempt(made.execute)
    p.tell(kind(p))
    p.sql("INSERT INTO {name} VALUES (1)", "DROP TABLE {name}")
    p.rows()


REPLACED: dict[str, Made] = {
    "replace": builder("replace"),
    "createOrReplace": builder("createOrReplace"),
    "REPLACE TABLE": lambda p: p.sql("REPLACE TABLE {name} (id INT) USING delta"),
    "CREATE OR REPLACE TABLE AS SELECT": lambda p: p.sql(
        "CREATE OR REPLACE TABLE {name} USING delta AS SELECT 1 AS id"
    ),
    "writeTo": lambda p: p.sql("SELECT 1 AS id").writeTo(p.name).using("delta").createOrReplace(),
}


@AREA.family(REPLACED)
def the_history_of_a_replaced_name(p: Player, make: Made) -> None:
    """Whether the name owns the files, before and after."""
    for location in ("", " LOCATION '{at}/t'"):
        p.sql("CREATE TABLE {name} (id INT) USING delta" + location)
        p.attempt(lambda: make(p))
        p.commit("{name}")
        p.tell(kind(p))
        p.sql("DROP TABLE {name}")


@AREA.situation()
def tables_in_place_of_a_view(p: Player) -> None:
    p.sql("CREATE VIEW {name} AS SELECT 1 AS id")
    p.attempt(
        "CREATE TABLE {name} (id INT) USING delta",
        "CREATE TABLE IF NOT EXISTS {name} (id INT) USING delta",
        "CREATE OR REPLACE TABLE {name} (id INT) USING delta",
        "REPLACE TABLE {name} (id INT) USING delta",
        "CREATE OR REPLACE TABLE {name} USING delta AS SELECT 2 AS id",
        lambda: p.sql("SELECT 2 AS id").writeTo(p.name).using("delta").createOrReplace(),
        lambda: p.sql("SELECT 2 AS id").writeTo(p.name).using("delta").replace(),
    )
    p.rows("SELECT * FROM {name}")
    p.sql("DROP VIEW {name}")
