"""INSERT: values of other types than the table's, by each kind of INSERT."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from playing import Area

from areas.insert_kinds import Case, by_door, play_kinds

if TYPE_CHECKING:
    from playing import Player

AREA = Area("insert_casts_kinds")

_CASES = {
    "columns": Case("a LONG, b INT", '[{"a": 1, "b": 2}]', "a INT, b LONG", '[{"a": 1, "b": 4}]'),
    "in arrays": Case(
        "a INT, l ARRAY<STRUCT<x: LONG, y: INT>>",
        '[{"a": 1, "l": [{"x": 1, "y": 2}]}]',
        "a INT, l ARRAY<STRUCT<x: INT, y: LONG>>",
        '[{"a": 1, "l": [{"x": 3, "y": 4}]}]',
    ),
    "in maps": Case(
        "a INT, m MAP<STRING, STRUCT<x: LONG, y: INT>>",
        '[{"a": 1, "m": {"k": {"x": 1, "y": 2}}}]',
        "a INT, m MAP<STRING, STRUCT<x: INT, y: LONG>>",
        '[{"a": 1, "m": {"k": {"x": 3, "y": 4}}}]',
    ),
}
# by SQL the session says whether schemas merge; writers say here that they do not, which counts more
_BY_SETTING = {
    f"{name}, the session merges, {door}": (door, replace(case, evolves=door == "sql", setting=True))
    for name, case in _CASES.items()
    for door in case.doors
}
_ALONE = {
    "a null struct": Case(
        "a LONG, s STRUCT<x: INT, y: INT>",
        '[{"a": 1, "s": {"x": 2, "y": 3}}]',
        "a INT, s STRUCT<y: INT, x: INT>",
        '[{"a": 1, "s": null}]',
    ),
    "dots": Case(
        "`s.a` LONG, s STRUCT<x: LONG, y: INT>",
        '[{"s.a": 1, "s": {"x": 2, "y": 3}}]',
        "`s.a` INT, s STRUCT<x: INT, y: INT>",
        '[{"s.a": 1, "s": {"x": 4, "y": 5}}]',
        key="`s.a`",
    ),
}
_QUICK = {"columns, frames", "in arrays, sql", "dots, sql"}
_STORED = "`save` stores values that fit into a wider type of the table, which delta-spark refuses"
_DIFFERS = {"a null struct, frames": _STORED, "dots, frames": _STORED}


@AREA.family(by_door(_CASES) | _BY_SETTING | by_door(_ALONE), _DIFFERS, quick=_QUICK)
def casts(p: Player, case: tuple[str, Case]) -> None:
    """Values are cast to the table's types, but by `save` and an overwriting `saveAsTable`, which refuse."""
    play_kinds(p, *case)


@AREA.situation()
def an_upcast_by_strict(p: Player) -> None:
    """Under STRICT a value that fits into the column's type is stored."""
    p.sql("CREATE TABLE {t} (a INT, b DOUBLE) USING delta", "INSERT INTO {t} VALUES (1, 2.0D)")
    p.conf("spark.sql.storeAssignmentPolicy", "STRICT")
    p.attempt(lambda: p.sql("SELECT 1 AS a, 3 AS b").writeTo(p.text("{t}")).overwrite(_all()))
    p.rows()


def _all() -> object:
    from pyspark.sql import functions

    return functions.lit(True)


@AREA.family({f"{a}, {b}": (a, b) for a in ("nulls", "no nulls") for b in ("nulls", "no nulls") if a != b})
def arrays_with(p: Player, case: tuple[str, str]) -> None:
    """Fields in arrays go by name, and are cast, whether the table's elements or the rows' may be null."""
    from pyspark.sql import types as t

    table, rows = (which == "nulls" for which in case)
    ints, longs = t.IntegerType(), t.LongType()
    fields = t.StructType([t.StructField("x", ints), t.StructField("y", ints)])
    turned = t.StructType([t.StructField("y", longs), t.StructField("x", ints)])
    of_table = t.StructType([t.StructField("a", ints), t.StructField("l", t.ArrayType(fields, table))])
    of_rows = t.StructType([t.StructField("a", ints), t.StructField("l", t.ArrayType(turned, rows))])
    p.write(p.spark.createDataFrame([], of_table))
    given = p.spark.createDataFrame([(1, [(5, 4)])], of_rows)
    p.attempt(lambda: given.writeTo(p.text("{t}")).append())
    p.rows()
