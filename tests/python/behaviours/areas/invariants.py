"""NOT NULL and invariants: rows that are refused at each depth, by batches and streams."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playing import Area
from pyspark.sql.types import StructType

if TYPE_CHECKING:
    from playing import Player

AREA = Area("invariants")

# conditions by functions that Spark replaces by others, the type, and a value that breaks them
REPLACED = {
    "assert_true": ("assert_true(value < 2) IS NOT NULL", "INT", "1", "5"),
    "date_part": ("date_part('YEAR', value) < 2000", "DATE", "DATE '1999-01-01'", "DATE '2001-01-01'"),
    "decode": ("decode(encode(value, 'utf-8'), 'utf-8') = 'abc'", "STRING", "'abc'", "'a'"),
    "extract": ("extract(YEAR FROM value) < 2000", "DATE", "DATE '1999-01-01'", "DATE '2001-01-01'"),
    "ifnull": ("ifnull(value, 1) = 1", "INT", "1", "2"),
    "left": ("left(value, 1) = 'a'", "STRING", "'a'", "'b'"),
    "right": ("right(value, 1) = 'a'", "STRING", "'a'", "'b'"),
    "nullif": ("nullif(value, 1) = 2", "INT", "2", "1"),
    "nvl": ("nvl(value, 1) = 1", "INT", "1", "2"),
    "nvl2": ("nvl2(value, 1, 2) = 2", "INT", "NULL", "2"),
    "to_date": ("to_date(value) = DATE '2001-01-01'", "STRING", "'2001-01-01'", "'2002-01-01'"),
    "to_timestamp": (
        "to_timestamp(value) = TIMESTAMP '2001-01-01'",
        "STRING",
        "'2001-01-01 00:00:00'",
        "'2002-01-01 00:00:00'",
    ),
    "AND": ("value < 3 AND value > 0", "INT", "1", "5"),
    "IN": ("value IN ('a', 'b', 'c')", "STRING", "'a'", "'d'"),
}


@AREA.grid(REPLACED, long=True)
def functions_that_spark_replaces(p: Player, case: tuple[str, str, str, str]) -> None:
    condition, kind, right, wrong = case
    p.sql(f"CREATE TABLE {{t}} (value {kind}) USING delta")
    p.attempt(
        f"ALTER TABLE {{t}} ADD CONSTRAINT c CHECK ({condition})",
        f"INSERT INTO {{t}} VALUES ({right})",
        f"INSERT INTO {{t}} VALUES ({wrong})",
    )
    p.rows()


ROWS = {
    "null": ("key STRING NOT NULL, value INT", "SELECT CAST(NULL AS STRING) AS key, 1 AS value"),
    "no column": ("key STRING NOT NULL, value INT", "SELECT 1 AS value"),
    "null in a struct": (
        "top STRUCT<key: STRING NOT NULL, value: INT> NOT NULL",
        "SELECT named_struct('key', CAST(NULL AS STRING), 'value', 1) AS top",
    ),
    "a null struct that must not be": (
        "top STRUCT<key: STRING, value: INT> NOT NULL",
        "SELECT CAST(NULL AS STRUCT<key: STRING, value: INT>) AS top",
    ),
    "null in a struct of a struct": (
        "top STRUCT<s: STRUCT<key: STRING NOT NULL>>",
        "SELECT named_struct('s', named_struct('key', CAST(NULL AS STRING))) AS top",
    ),
    "right": ("key STRING NOT NULL, value INT", "SELECT 'a' AS key, 1 AS value"),
    "no rows": ("key STRING NOT NULL, value INT", "SELECT 'a' AS key, 1 AS value WHERE false"),
}


@AREA.grid(ROWS, long=True)
def rows_of_columns_that_must_not_be_null(p: Player, case: tuple[str, str]) -> None:
    columns, rows = case
    p.sql(f"CREATE TABLE {{t}} ({columns}) USING delta")
    p.attempt(lambda: p.write(rows))
    p.rows()


STREAMED = {name: case for name, case in ROWS.items() if name not in ("no rows", "no column")}


@AREA.grid(STREAMED, long=True)
def rows_of_streams_that_must_not_be_null(p: Player, case: tuple[str, str]) -> None:
    columns, rows = case
    p.write(rows)
    p.sql(f"CREATE TABLE {{u}} ({columns}) USING delta")
    p.attempt(p.stream)
    p.rows("SELECT * FROM {u}")


WITHIN = {
    "an array": "ARRAY<STRUCT<x: INT NOT NULL>>",
    "keys of a map": "MAP<STRUCT<x: INT NOT NULL>, INT>",
    "values of a map": "MAP<INT, STRUCT<x: INT NOT NULL>>",
    "an array of arrays": "ARRAY<ARRAY<STRUCT<x: INT NOT NULL>>>",
}


@AREA.grid(WITHIN)
def unenforced_within(p: Player, kind: str) -> None:
    """Where the session lets such tables be."""
    p.conf("spark.databricks.delta.constraints.allowUnenforcedNotNull.enabled", "true")
    p.attempt(f"CREATE TABLE {{t}} (a {kind}) USING delta")


@AREA.grid(
    {
        "one": ("p STRING NOT NULL", "p", "''"),
        "the first of two": ("p STRING NOT NULL, q STRING", "p, q", "'', 'a'"),
        "the second of two": ("p STRING NOT NULL, q STRING", "p, q", "'a', ''"),
        "both": ("p STRING NOT NULL, q STRING NOT NULL", "p, q", "'a', ''"),
        "a null": ("p STRING NOT NULL", "p", "CAST(NULL AS STRING)"),
    },
    long=True,
)
def empty_texts_of_partition_columns(p: Player, case: tuple[str, str, str]) -> None:
    columns, by, values = case
    p.sql(f"CREATE TABLE {{t}} (id INT, {columns}) USING delta PARTITIONED BY ({by})")
    p.attempt(f"INSERT INTO {{t}} SELECT 1, {values}")
    p.rows()


@AREA.grid(
    WITHIN,
    differs="NOT NULL holds in arrays and maps, too: such a table is made, and its rows are checked",
)
def not_null_within(p: Player, kind: str) -> None:
    p.attempt(f"CREATE TABLE {{t}} (a {kind}) USING delta")


@AREA.situation(differs="rows without columns are no rows of the table: nothing changes")
def a_frame_without_columns(p: Player) -> None:
    p.sql("CREATE TABLE {t} (value INT) USING delta")
    p.attempt(lambda: p.write(p.spark.createDataFrame([], StructType([]))))
    p.tell(p.sql("DESCRIBE HISTORY {t}").count())


@AREA.situation()
def a_frame_without_columns_where_one_must_not_be_null(p: Player) -> None:
    p.sql("CREATE TABLE {t} (key STRING NOT NULL, value INT) USING delta")
    p.attempt(lambda: p.write(p.spark.createDataFrame([], StructType([]))))
    p.rows()


@AREA.situation(differs="a struct that is null has no fields that could be null, as the protocol says")
def a_null_struct_with_fields_that_must_not_be(p: Player) -> None:
    p.sql("CREATE TABLE {t} (id INT, s STRUCT<x: INT NOT NULL>) USING delta")
    p.attempt("INSERT INTO {t} SELECT 1, NULL")
    p.rows()
