"""Column mapping: turning it on, renamed and dropped columns, and what replaces a table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from playing import FEED, Area

if TYPE_CHECKING:
    from playing import Player

AREA = Area("column_mapping")

BY_NAME = "TBLPROPERTIES ('delta.columnMapping.mode' = 'name')"
MODES = ("name", "id")


def _ids(p: Player) -> None:
    """Tells the ids of the newest schema, the properties of the mapping, and which columns have a name of their own."""
    for commit in sorted(Path(p.path, "_delta_log").glob("*.json"), reverse=True):
        for line in commit.read_text().splitlines():
            if "metaData" in json.loads(line):
                metadata = json.loads(line)["metaData"]
                configuration = metadata["configuration"]
                mapping = {k: v for k, v in configuration.items() if k.startswith("delta.columnMapping")}
                p.tell([_fields(json.loads(metadata["schemaString"])), mapping])
                return


def _fields(schema: Any) -> list[Any]:
    reported = []
    for field in schema["fields"]:
        of = field["metadata"]
        physical = of.get("delta.columnMapping.physicalName")
        inner = field["type"] if isinstance(field["type"], dict) else {}
        nested = _fields(inner) if "fields" in inner else None
        reported.append([field["name"], of.get("delta.columnMapping.id"), physical == field["name"], nested])
    return reported


# -- turning it on and off


@AREA.grid({mode: mode for mode in MODES})
def a_new_table(p: Player, mode: str) -> None:
    p.sql(f"""CREATE TABLE {{t}} (a INT, s STRUCT<x: INT, y: STRUCT<z: INT>>, l ARRAY<STRUCT<x: INT>>) USING delta
        TBLPROPERTIES ('delta.columnMapping.mode' = '{mode}')""")
    p.sql("INSERT INTO {t} SELECT 1, named_struct('x', 2, 'y', named_struct('z', 3)), array(struct(4))")
    _ids(p)
    p.detail()
    p.schema()
    p.rows()


CHANGES = {
    "none to name": ("none", "name"),
    "none to id": ("none", "id"),
    "name to id": ("name", "id"),
    "id to name": ("id", "name"),
    "name to name": ("name", "name"),
}


@AREA.grid(CHANGES, long=True)
def another_mode(p: Player, case: tuple[str, str]) -> None:
    p.sql(
        f"CREATE TABLE {{t}} (a INT, b STRING) USING delta TBLPROPERTIES ('delta.columnMapping.mode' = '{case[0]}')"
    )
    p.sql("INSERT INTO {t} VALUES (1, 'x')")
    p.attempt(f"ALTER TABLE {{t}} SET TBLPROPERTIES ('delta.columnMapping.mode' = '{case[1]}')")
    p.attempt("INSERT INTO {t} VALUES (2, 'y')")
    p.rows()


@AREA.situation()
def a_mode_is_no_mode(p: Player) -> None:
    p.attempt("CREATE TABLE {t} (a INT) USING delta TBLPROPERTIES ('delta.columnMapping.mode' = 'perhaps')")


@AREA.situation()
def names_with_dots_do_not_stand_in_the_way(p: Player) -> None:
    p.sql("CREATE TABLE {t} (`a.b` INT, c INT) USING delta", "INSERT INTO {t} VALUES (1, 2)")
    p.sql("ALTER TABLE {t} SET TBLPROPERTIES ('delta.columnMapping.mode' = 'name')")
    p.attempt("ALTER TABLE {t} RENAME COLUMN c TO `c.d`", "INSERT INTO {t} VALUES (3, 4)")
    p.attempt("ALTER TABLE {t} RENAME COLUMN `a.b` TO `x y`")
    p.rows("SELECT * FROM {t} WHERE `x y` > 1")
    p.rows("SELECT `x y` FROM {t} WHERE `c.d` = 2")
    p.schema()


@AREA.situation()
def the_default_of_the_session(p: Player) -> None:
    p.conf("spark.databricks.delta.properties.defaults.columnMapping.mode", "name")
    p.attempt("CREATE TABLE {t} (`a b` INT) USING delta", lambda: p.write("SELECT 1 AS `a b`"))
    p.rows()
    _ids(p)


# -- rename and drop

SHAPES = {
    "a column": ("c INT", "c", "1"),
    "a field": ("c STRUCT<x: INT, y: INT>", "c.x", "struct(1, 2)"),
    "a field of elements": ("c ARRAY<STRUCT<x: INT, y: INT>>", "c.element.x", "array(struct(1, 2))"),
    "a field of values": ("c MAP<INT, STRUCT<x: INT, y: INT>>", "c.value.x", "map(3, struct(1, 2))"),
    "a field of elements of elements": (
        "c ARRAY<ARRAY<STRUCT<x: INT, y: INT>>>",
        "c.element.element.x",
        "array(array(struct(1, 2)))",
    ),
    "an element": ("c ARRAY<INT>", "c.element", "array(1)"),
    "a key": ("c MAP<INT, INT>", "c.key", "map(1, 2)"),
    "a value": ("c MAP<INT, INT>", "c.value", "map(1, 2)"),
    "the only field": ("c STRUCT<x: INT>", "c.x", "struct(1)"),
    "none": ("c INT", "zzz", "1"),
    "no field": ("c STRUCT<x: INT>", "c.zzz", "struct(1)"),
    "a field of none": ("c INT", "c.x", "1"),
}


@AREA.grid(
    {f"{what}, {shape}": (what, *case) for shape, case in SHAPES.items() for what in ("RENAME", "DROP")},
    long=True,
)
def columns_are_renamed_and_dropped(p: Player, case: tuple[str, str, str, str]) -> None:
    what, column, path, value = case
    p.sql(
        f"CREATE TABLE {{t}} ({column}, k INT) USING delta {BY_NAME}", f"INSERT INTO {{t}} SELECT {value}, 1"
    )
    p.attempt(
        f"ALTER TABLE {{t}} RENAME COLUMN {path} TO z"
        if what == "RENAME"
        else f"ALTER TABLE {{t}} DROP COLUMN {path}"
    )
    p.schema()
    p.rows()


RENAMES = {
    "to one that is there": "RENAME COLUMN a TO b",
    "to one that is there, in other case": "RENAME COLUMN a TO B",
    "to itself": "RENAME COLUMN a TO a",
    "to itself, in other case": "RENAME COLUMN a TO A",
    "of the partition column": "RENAME COLUMN p TO q",
    "to a name with a blank": "RENAME COLUMN a TO `a b`",
    "to one of the change feed": "RENAME COLUMN a TO _change_type",
    "drop if exists": "DROP COLUMN IF EXISTS zzz",
}


@AREA.grid(
    RENAMES,
    f"CREATE TABLE {{t}} (a INT, b INT, p INT) USING delta PARTITIONED BY (p) {BY_NAME}",
    "INSERT INTO {t} VALUES (1, 2, 3)",
    long=True,
)
def odd_changes_of_columns(p: Player, change: str) -> None:
    p.attempt(f"ALTER TABLE {{t}} {change}")
    p.schema()
    p.rows()


@AREA.situation()
def a_column_comes_again_empty(p: Player) -> None:
    p.sql(
        f"CREATE TABLE {{t}} (a INT, b INT) USING delta {BY_NAME}",
        "INSERT INTO {t} VALUES (1, 2)",
        "ALTER TABLE {t} DROP COLUMN b",
        "ALTER TABLE {t} ADD COLUMN b INT",
        "INSERT INTO {t} VALUES (3, 4)",
    )
    p.rows()
    p.rows("SELECT a FROM {t} WHERE b IS NULL")
    p.rows(p.read(versionAsOf=1))
    _ids(p)


@AREA.situation()
def names_change_hands(p: Player) -> None:
    p.sql(
        f"CREATE TABLE {{t}} (a INT, b INT, p INT) USING delta PARTITIONED BY (p) {BY_NAME}",
        "INSERT INTO {t} VALUES (1, 10, 0), (2, 20, 1)",
        "ALTER TABLE {t} RENAME COLUMN a TO c",
        "ALTER TABLE {t} RENAME COLUMN b TO a",
        "ALTER TABLE {t} RENAME COLUMN c TO b",
    )
    p.rows("SELECT * FROM {t} WHERE a = 10")
    p.rows("SELECT * FROM {t} WHERE b = 2 OR a = 1")
    p.sql("DELETE FROM {t} WHERE a = 10", "INSERT INTO {t} VALUES (30, 3, 0)")
    p.rows()
    p.conf("spark.sql.sources.partitionOverwriteMode", "dynamic")
    p.sql("INSERT OVERWRITE {t} VALUES (40, 4, 1)")
    p.rows()
    p.sql("ALTER TABLE {t} RENAME COLUMN p TO q")
    p.attempt("INSERT OVERWRITE {t} VALUES (50, 5, 1)", "OPTIMIZE {t} WHERE q = 1")
    p.rows("SELECT * FROM {t} WHERE q = 1")


# -- evolution, replacing, restoring


@AREA.grid({mode: mode for mode in MODES}, long=True)
def columns_join(p: Player, mode: str) -> None:
    p.sql(
        f"CREATE TABLE {{t}} (a INT, s STRUCT<x: INT>) USING delta TBLPROPERTIES "
        f"('delta.columnMapping.mode' = '{mode}')"
    )
    p.write("SELECT 1 AS a, named_struct('x', 1, 'y', 2) AS s, 3 AS `n m`", mergeSchema="true")
    p.sql("ALTER TABLE {t} ADD COLUMN s.z INT")
    _ids(p)
    p.rows()


OVERWRITES = {
    "the same": "SELECT 5 AS a, 'x' AS b",
    "another type": "SELECT 5 AS a, 6 AS b",
    "one less, one more": "SELECT 5 AS a, 6 AS c",
    "in other case": "SELECT 5 AS A, 'x' AS B",
}


@AREA.grid({f"{name}, {mode}": (sql, mode) for name, sql in OVERWRITES.items() for mode in MODES}, long=True)
def the_schema_is_overwritten(p: Player, case: tuple[str, str]) -> None:
    rows, mode = case
    p.sql(
        f"CREATE TABLE {{t}} (a INT, b STRING) USING delta TBLPROPERTIES ('delta.columnMapping.mode' = '{mode}')"
    )
    p.sql("INSERT INTO {t} VALUES (1, 'x')")
    p.write(rows, mode="overwrite", overwriteSchema="true")
    _ids(p)
    p.rows()
    p.rows(p.read(versionAsOf=1))


REPLACES = {
    "another mode": "(a INT, b STRING) USING delta TBLPROPERTIES ('delta.columnMapping.mode' = 'id')",
    "no mode": "(a INT, b STRING) USING delta",
}


@AREA.grid(
    REPLACES,
    f"CREATE TABLE {{t}} (a INT, b STRING) USING delta {BY_NAME}",
    "INSERT INTO {t} VALUES (1, 'x')",
    "ALTER TABLE {t} RENAME COLUMN a TO z",
    "ALTER TABLE {t} RENAME COLUMN z TO a",
    long=True,
)
def replaced(p: Player, definition: str) -> None:
    p.sql("CREATE TABLE {name} USING delta LOCATION '{at}/t'")
    p.attempt(f"CREATE OR REPLACE TABLE {{name}} {definition} LOCATION '{{at}}/t'")
    _ids(p)
    p.rows()
    p.rows(p.read(versionAsOf=1))


KEPT = {
    "the same": "(a INT, b STRING) USING delta {}",
    "another type": "(a STRING, b STRING) USING delta {}",
    "one goes": "(a INT) USING delta {}",
    "one joins, first": "(n INT, a INT, b STRING) USING delta {}",
    "another case": "(A INT, B STRING) USING delta {}",
    "NOT NULL": "(a INT NOT NULL, b STRING) USING delta {}",
    "AS SELECT": "USING delta {} AS SELECT 5 AS a, 'y' AS b",
}


@AREA.grid(
    {f"{name}, {mode}": (definition, mode) for name, definition in KEPT.items() for mode in ("name", "id")},
    long=True,
)
def replaced_by_a_table_of_the_same_mode(p: Player, case: tuple[str, str]) -> None:
    definition, mode = case
    mapped = f"TBLPROPERTIES ('delta.columnMapping.mode' = '{mode}')"
    p.sql(
        f"CREATE TABLE {{t}} (a INT, b STRING, c INT) USING delta {mapped}",
        "INSERT INTO {t} VALUES (1, 'x', 2)",
    )
    p.sql("CREATE TABLE {name} USING delta LOCATION '{at}/t'")
    rest, _, query = definition.format(mapped).partition(" AS S")
    where = "LOCATION '{at}/t'" + (f" AS S{query}" if query else "")
    p.attempt(f"CREATE OR REPLACE TABLE {{name}} {rest} {where}")
    _ids(p)
    p.rows()
    p.rows(p.read(versionAsOf=1))


ODD = {
    "an unknown column": "ALTER TABLE {t} DROP COLUMN zzz",
    "a rename to the same": "ALTER TABLE {t} RENAME COLUMN a TO a",
    "a rename to another case": "ALTER TABLE {t} RENAME COLUMN a TO A",
    "a rename to one that is there": "ALTER TABLE {t} RENAME COLUMN a TO B",
    "a rename of the change feed": "ALTER TABLE {t} RENAME COLUMN a TO _change_type",
}


@AREA.grid(
    ODD,
    f"CREATE TABLE {{t}} (a INT, b STRING, c INT) USING delta {BY_NAME}",
    "INSERT INTO {t} VALUES (1, 'x', 2)",
)
def odd_changes(p: Player, statement: str) -> None:
    p.attempt(statement)
    p.schema()


@AREA.situation()
def names_with_dots_and_statistics(p: Player) -> None:
    p.sql(f"CREATE TABLE {{t}} (a INT, `b.c` INT, s STRUCT<`x.y`: INT>) USING delta {BY_NAME}")
    p.sql("INSERT INTO {t} VALUES (1, 2, struct(3))", "INSERT INTO {t} VALUES (10, 20, struct(30))")
    p.sql("ALTER TABLE {t} RENAME COLUMN a TO `a.,;{}()b`")
    for condition in ("`b.c` > 5", "s.`x.y` > 5", "`a.,;{}()b` < 5", "`b.c` IS NULL"):
        p.rows(f"SELECT * FROM {{t}} WHERE {condition}")
    p.attempt("DELETE FROM {t} WHERE `b.c` = 2", "UPDATE {t} SET `a.,;{}()b` = 5 WHERE s.`x.y` = 30")
    p.rows()


@AREA.situation()
def restored_to_before_changes(p: Player) -> None:
    p.sql(
        f"CREATE TABLE {{t}} (a INT, b INT) USING delta {BY_NAME}",
        "INSERT INTO {t} VALUES (1, 2)",
        "ALTER TABLE {t} RENAME COLUMN a TO z",
        "ALTER TABLE {t} DROP COLUMN b",
        "ALTER TABLE {t} ADD COLUMN c INT",
        "INSERT INTO {t} VALUES (3, 4)",
        "RESTORE TABLE {t} TO VERSION AS OF 1",
    )
    p.rows()
    _ids(p)
    p.sql("ALTER TABLE {t} ADD COLUMN d INT", "INSERT INTO {t} VALUES (5, 6, 7)")
    p.rows()
    _ids(p)


@AREA.situation()
def restored_to_before_the_mapping(p: Player) -> None:
    p.sql(
        "CREATE TABLE {t} (a INT, b INT) USING delta",
        "INSERT INTO {t} VALUES (1, 2)",
        "ALTER TABLE {t} SET TBLPROPERTIES ('delta.columnMapping.mode' = 'name')",
        "ALTER TABLE {t} RENAME COLUMN a TO z",
        "INSERT INTO {t} VALUES (3, 4)",
    )
    p.attempt("RESTORE TABLE {t} TO VERSION AS OF 1", "INSERT INTO {t} VALUES (5, 6)")
    p.rows()
    _ids(p)


@AREA.situation()
def the_feature_is_dropped(p: Player) -> None:
    p.sql(f"CREATE TABLE {{t}} (a INT, b INT) USING delta {BY_NAME}", "INSERT INTO {t} VALUES (1, 2)")
    p.sql("ALTER TABLE {t} RENAME COLUMN a TO `a b`")
    p.attempt("ALTER TABLE {t} DROP FEATURE columnMapping")
    p.sql("ALTER TABLE {t} RENAME COLUMN `a b` TO z")
    p.attempt("ALTER TABLE {t} DROP FEATURE columnMapping", "INSERT INTO {t} VALUES (3, 4)")
    p.rows()
    p.detail()


@AREA.situation()
def what_is_streamed_shows_no_ids(p: Player) -> None:
    p.sql(f"CREATE TABLE {{t}} (a INT) USING delta {BY_NAME}", "INSERT INTO {t} VALUES (1)")
    seen: list[Any] = []
    rows = p.spark.readStream.format("delta").load(p.path)
    p.tell([[c.name, c.metadata] for c in rows.schema])
    query = rows.writeStream.foreachBatch(
        lambda df, _: seen.append([[c.name, c.metadata] for c in df.schema])
    )
    query.option("checkpointLocation", f"{p.at}/seen").trigger(availableNow=True).start().awaitTermination()
    p.tell(seen)
    p.stream()
    p.schema("SELECT * FROM {u}")


@AREA.situation()
def the_feed_over_a_rename(p: Player) -> None:
    p.sql(
        (
            f"CREATE TABLE {{t}} (a INT) USING delta TBLPROPERTIES ('delta.columnMapping.mode' = 'name', "
            f"'{FEED}' = 'true')"
        ),
        "INSERT INTO {t} VALUES (1)",
        "ALTER TABLE {t} RENAME COLUMN a TO z",
        "INSERT INTO {t} VALUES (2)",
    )
    p.attempt(
        lambda: p.read(readChangeFeed="true", startingVersion=1, endingVersion=1),
        lambda: p.read(readChangeFeed="true", startingVersion=3, endingVersion=3),
        lambda: p.read(readChangeFeed="true", startingVersion=1, endingVersion=3),
    )


@AREA.situation()
def a_table_at_the_same_place(p: Player) -> None:
    p.sql(
        f"CREATE TABLE {{name}} (a INT, b INT) USING delta LOCATION '{p.path}' {BY_NAME}",
        "INSERT INTO {t} VALUES (1, 2)",
    )
    p.sql("ALTER TABLE {name} RENAME COLUMN a TO z", "DROP TABLE {name}")
    p.attempt(
        f"CREATE TABLE {{name}} USING delta LOCATION '{p.path}'",
        "ALTER TABLE {name} ADD COLUMN c INT",
        "INSERT INTO {name} VALUES (3, 4, 5)",
    )
    p.rows()
    _ids(p)
