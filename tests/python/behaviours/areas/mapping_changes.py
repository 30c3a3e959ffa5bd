"""Changes of tables with column mapping, by name and by id: columns that join and move, writes, and properties."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from playing import Area
from pyspark.sql.types import IntegerType, StringType, StructType

if TYPE_CHECKING:
    from playing import Player

AREA = Area("mapping_changes")

MODE, HIGHEST = "delta.columnMapping.mode", "delta.columnMapping.maxColumnId"
ID, PHYSICAL = "delta.columnMapping.id", "delta.columnMapping.physicalName"
MODES = ("name", "id")


def ids(p: Player) -> None:
    """Tells names and ids of the columns in the newest metadata, and the highest id."""

    def told(schema: Any) -> list[Any]:
        inner = ((f, f["type"] if isinstance(f["type"], dict) else {}) for f in schema["fields"])
        return [
            [f["name"], f["metadata"].get(ID), told(kind) if "fields" in kind else None] for f, kind in inner
        ]

    for version in range(p.sql("DESCRIBE HISTORY {t} LIMIT 1").first().version, -1, -1):
        for action in p.actions(version):
            if "metaData" in action:
                metadata = action["metaData"]
                p.tell([told(json.loads(metadata["schemaString"])), metadata["configuration"].get(HIGHEST)])
                return


CHANGED = {
    "a column joins": ["ADD COLUMN n INT FIRST", "ADD COLUMNS (m INT AFTER a, k STRING)"],
    "a field joins": ["ADD COLUMN s.z INT FIRST", "ADD COLUMN s.w STRUCT<v: INT>"],
    "columns move": ["ALTER COLUMN b FIRST", "ALTER COLUMN a AFTER s"],
    "a field moves": ["ALTER COLUMN s.y FIRST"],
    "a comment": ["ALTER COLUMN a COMMENT 'the a'"],
}


@AREA.grid({f"{what}, {mode}": (what, mode) for what in CHANGED for mode in MODES}, long=True)
def columns_change(p: Player, case: tuple[str, str]) -> None:
    what, mode = case
    p.sql(
        "CREATE TABLE {t} (a INT, s STRUCT<x: INT, y: INT>, b STRING) USING delta "
        f"TBLPROPERTIES ('{MODE}' = '{mode}')",
        "INSERT INTO {t} SELECT 1, named_struct('x', 2, 'y', 3), 'b'",
    )
    for change in CHANGED[what]:
        p.attempt(f"ALTER TABLE {{t}} {change}")
    ids(p)
    p.schema()
    p.rows()


@AREA.grid({mode: mode for mode in MODES})
def rows_are_written_and_merged(p: Player, mode: str) -> None:
    mapped = f"TBLPROPERTIES ('{MODE}' = '{mode}')"
    p.sql(f"CREATE TABLE {{t}} (id INT, p INT, v STRING) USING delta PARTITIONED BY (p) {mapped}")
    p.sql("INSERT INTO {t} VALUES (1, 0, 'a'), (2, 1, 'b')", "ALTER TABLE {t} RENAME COLUMN v TO w")
    p.write("SELECT 3 AS id, 0 AS p, 'c' AS w")
    p.sql(
        "MERGE INTO {t} USING (SELECT 1 AS k UNION ALL SELECT 9) ON id = k WHEN MATCHED THEN UPDATE SET w = 'm' "
        "WHEN NOT MATCHED THEN INSERT (id, p, w) VALUES (k, 1, 'n')"
    )
    p.rows()
    p.attempt(lambda: p.write("SELECT 5 AS id, 0 AS p, 'r' AS w", mode="overwrite", replaceWhere="p = 0"))
    p.attempt(lambda: p.write("SELECT 6 AS id, 1 AS p, 'r' AS w", mode="overwrite", replaceWhere="p = 0"))
    p.attempt(
        lambda: p.write(
            "SELECT 7 AS id, 1 AS p, 'r' AS w", mode="overwrite", replaceWhere="w = 'r' AND p = 1"
        )
    )
    p.rows()


@AREA.grid({mode: mode for mode in MODES})
def files_have_ids(p: Player, mode: str) -> None:
    import pyarrow.parquet as pq

    p.sql(
        f"CREATE TABLE {{t}} (a INT, s STRUCT<x: INT>) USING delta TBLPROPERTIES ('{MODE}' = '{mode}')",
        "INSERT INTO {t} SELECT 1, named_struct('x', 2)",
    )
    (file,) = [a["add"]["path"] for a in p.actions() if "add" in a]
    schema = pq.ParquetFile(f"{p.path}/{file}").schema_arrow
    p.tell(
        [
            int(f.metadata[b"PARQUET:field_id"])
            for f in (schema.field(0), schema.field(1), schema.field(1).type[0])
        ]
    )


# -- properties


@AREA.grid(
    {
        "CREATE": f"CREATE TABLE {{u}} (a INT) USING delta TBLPROPERTIES ('{MODE}' = 'name', '{HIGHEST}' = '100')",
        "ALTER": f"ALTER TABLE {{t}} SET TBLPROPERTIES ('{HIGHEST}' = '100')",
        "UNSET": f"ALTER TABLE {{t}} UNSET TBLPROPERTIES ('{HIGHEST}')",
    },
    f"CREATE TABLE {{t}} (a INT) USING delta TBLPROPERTIES ('{MODE}' = 'name')",
)
def the_highest_id_by_hand(p: Player, statement: str) -> None:
    p.attempt(statement)


@AREA.situation()
def the_highest_id_as_an_option(p: Player) -> None:
    p.attempt(lambda: p.write("SELECT 1 AS a", **{MODE: "name", HIGHEST: "100"}))


@AREA.situation()
def a_mode_that_is_none(p: Player) -> None:
    p.attempt(lambda: p.write("SELECT 1 AS a", **{MODE: "perhaps"}))
    p.attempt(f"CREATE TABLE {{t}} (a INT) USING delta TBLPROPERTIES ('{MODE}' = 'null')")


@AREA.grid({mode: mode for mode in MODES})
def a_conversion_by_the_default_of_the_session(p: Player, mode: str) -> None:
    p.sql("SELECT 1 AS id").coalesce(1).write.parquet(p.path)
    p.conf("spark.databricks.delta.properties.defaults.columnMapping.mode", mode)
    p.attempt("CONVERT TO DELTA parquet.`{at}/t`")


@AREA.grid(
    {
        "in one statement": [("2", "5", "name")],
        "the protocol first": [("2", "5", None), (None, None, "name")],
        "the mode alone": [(None, None, "name")],
    }
)
def a_table_is_mapped_later(p: Player, steps: list[tuple[str | None, str | None, str | None]]) -> None:
    p.sql("CREATE TABLE {t} (a INT, b INT) USING delta", "INSERT INTO {t} VALUES (1, 2)")
    for reader, writer, mode in steps:
        given = {"delta.minReaderVersion": reader, "delta.minWriterVersion": writer, MODE: mode}
        text = ", ".join(f"'{key}' = '{value}'" for key, value in given.items() if value)
        p.attempt(f"ALTER TABLE {{t}} SET TBLPROPERTIES ({text})")
    p.detail()
    p.attempt("ALTER TABLE {t} RENAME COLUMN b TO `c d`", "INSERT INTO {t} VALUES (3, 4)")
    ids(p)
    p.rows()


# -- schemas with ids of their own


def fields(*of: tuple[str, int, str]) -> StructType:
    schema = StructType()
    for name, number, physical in of:
        schema = schema.add(name, IntegerType(), nullable=True, metadata={ID: number, PHYSICAL: physical})
    return schema


GIVEN = {
    "one id twice": fields(("a", 1, "x"), ("b", 1, "y")),
    "one physical name twice": fields(("a", 1, "x"), ("b", 2, "x")),
}


@AREA.grid({f"{what}, {mode}": (schema, mode) for what, schema in GIVEN.items() for mode in MODES})
def columns_that_cannot_be_told_apart(p: Player, case: tuple[StructType, str]) -> None:
    schema, mode = case
    builder = p.tables.create(p.spark).location(p.path).addColumns(schema).property(MODE, mode)
    p.attempt(builder.execute)


@AREA.situation()
def ids_of_a_frame_are_not_taken(p: Player) -> None:
    rows = p.spark.createDataFrame([(1, "x")], fields(("a", 7, "seven")).add("b", StringType()))
    p.write(rows, **{MODE: "name"})
    ids(p)
    p.write(rows, path=f"{p.at}/plain")
    for action in p.actions(0, f"{p.at}/plain"):
        if "metaData" in action:
            p.tell(json.loads(action["metaData"]["schemaString"]))
    p.rows()
