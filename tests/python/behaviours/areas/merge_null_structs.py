# ruff: noqa: E501 (a statement reads best in one line)
"""Merges of structs that are null on either side: without evolution, by several clauses, and of structs within structs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playing import Area

from areas.merge_structs import SHAPES

if TYPE_CHECKING:
    from playing import Player

AREA = Area("merge_null_structs")

Y_Z = ["null", '{"y":null,"z":null}', '{"y":2,"z":3}']
DEEP = ['{"x":{"a":1,"b":2},"y":{"c":3,"d":4}}', '{"x":{"a":null,"b":null},"y":{"c":null,"d":null}}', '{"x":null,"y":null}', "null"]  # fmt: skip
DEEP_TYPE = "STRUCT<x: STRUCT<a: INT, b: INT>, y: STRUCT<c: INT, d: INT>>"
# as `SHAPES` of the other area: type and values of the source, then of the table
MORE = {
    "fields of the table only": (
        "STRUCT<x: INT, y: INT>", ['{"x":1,"y":1}', "null"],
        "STRUCT<y: INT, z: INT, w: INT>",
        ['{"y":2,"z":null,"w":null}', '{"y":2,"z":5,"w":null}', '{"y":2,"z":5,"w":6}', "null"],
    ),
    "another case": (
        "STRUCT<x: INT, y: INT>", ['{"x":1,"y":1}', "null"], "STRUCT<Y: INT>", ['{"Y":2}', '{"Y":null}', "null"],
    ),
    "within, fields on both sides": (
        DEEP_TYPE, DEEP, "STRUCT<y: STRUCT<d: INT, e: INT>, z: STRUCT<f: INT, g: INT>>",
        ['{"y":{"d":2,"e":3},"z":{"f":4,"g":5}}', '{"y":{"d":null,"e":null},"z":{"f":null,"g":null}}', '{"y":null,"z":null}', "null"],
    ),
    "within, one field of the table only": (
        DEEP_TYPE, DEEP, "STRUCT<y: STRUCT<d: INT, e: INT>>",
        ['{"y":{"d":2,"e":3}}', '{"y":{"d":null,"e":null}}', '{"y":null}', "null"],
    ),
    "within, no field of the table only": (
        DEEP_TYPE, DEEP, "STRUCT<y: STRUCT<d: INT>>", ['{"y":{"d":2}}', '{"y":{"d":null}}', '{"y":null}', "null"],
    ),
}  # fmt: skip
ALL = {**SHAPES, **MORE}
CLAUSES = {
    "update by stars": "WHEN MATCHED THEN UPDATE SET *",
    "update by name": "WHEN MATCHED THEN UPDATE SET t.col = s.col",
    "update a field": "WHEN MATCHED THEN UPDATE SET t.col.y = s.col.y",
    "insert by stars": "WHEN NOT MATCHED THEN INSERT *",
    "insert by name": "WHEN NOT MATCHED THEN INSERT (key, col) VALUES (s.key, s.col)",
}


def value(data_type: str, values: list[str], number: str) -> str:
    """A column with one of the values, by a number."""
    parts = [f"WHEN {n} THEN '{{\"c\":{text}}}'" for n, text in enumerate(values)]
    return f"from_json(CASE {number} {' '.join(parts)} END, 'c {data_type}').c"


def begin(p: Player, shape: str) -> str:
    """A table with every state of a column for every one of the source, which is recorded: also rows that are new."""
    theirs, values, ours, there = ALL[shape]
    width, height = len(values), len(there)
    p.sql(f"CREATE TABLE {{t}} USING delta AS SELECT CAST(id AS INT) AS key, {value(ours, there, f'id DIV {width}')} AS col "
          f"FROM range({width * height})")  # fmt: skip
    return f"SELECT CAST(id AS INT) AS key, {value(theirs, values, f'id % {width}')} AS col FROM range({width * (height + 1)})"


@AREA.family({shape: shape for shape in ALL}, quick={"same fields", "array"})
def without_evolution(p: Player, shape: str) -> None:
    """Fields must be the same; what each clause does where they are not, and where they are."""
    source = begin(p, shape)
    for name, clause in CLAUSES.items():
        if clause.endswith("col.y") and not ALL[shape][2].startswith("STRUCT"):
            continue
        p.tell({"case": name})
        p.beside().play(lambda p, clause=clause: merged(p, source, clause, ""))


@AREA.family({shape: shape for shape in MORE}, quick={"within, one field of the table only"})
def with_evolution(p: Player, shape: str) -> None:
    """Fields that only the table has stay, and where there are none a null struct comes over."""
    source = begin(p, shape)
    for name, clause in CLAUSES.items():
        p.tell({"case": name})
        p.beside().play(lambda p, clause=clause: merged(p, source, clause, "WITH SCHEMA EVOLUTION "))


def merged(p: Player, source: str, clauses: str, evolution: str) -> None:
    p.attempt(f"MERGE {evolution}INTO {{t}} AS t USING ({source}) AS s ON s.key = t.key {clauses}")
    p.rows()
    p.schema()


SOURCE = f"""SELECT CAST(id AS INT) AS key, {value("STRUCT<x: INT, y: INT>", ["null", '{"x":null,"y":null}', '{"x":5,"y":6}'], "id % 3")} AS col,
    {value("STRUCT<val: INT, val2: INT>", ["null", '{"val":null,"val2":null}', '{"val":7,"val2":8}'], "id DIV 3 % 3")} AS extra FROM range(45)"""
ROWS = f"""CREATE TABLE {{t}} USING delta AS SELECT CAST(id AS INT) AS key, {value("STRUCT<y: INT, z: INT>", Y_Z, "id DIV 9")} AS col FROM range(27)"""
EVEN, ODD = "WHEN MATCHED AND s.key % 2 = 0 THEN UPDATE SET", "WHEN MATCHED AND s.key % 2 = 1 THEN UPDATE SET"
SEVERAL = {
    "a struct, a new column": f"{EVEN} col = s.col {ODD} extra = s.extra",
    "a struct, a field of a new column": f"{EVEN} col = s.col {ODD} extra.val = s.extra.val",
    "a struct, stars": f"{EVEN} col = s.col {ODD} *",
    "a struct, an insert by name": f"{EVEN} col = s.col WHEN NOT MATCHED THEN INSERT (key, col, extra) VALUES (s.key, s.col, s.extra)",
    "a struct, an insert by stars": f"{EVEN} col = s.col WHEN NOT MATCHED THEN INSERT *",
}


@AREA.grid(SEVERAL, ROWS)
def several_clauses(p: Player, clauses: str) -> None:
    """One sets the struct whole, the other adds what it does not set."""
    merged(p, SOURCE, clauses, "WITH SCHEMA EVOLUTION ")


@AREA.grid(SEVERAL, ROWS)
def several_clauses_without_evolution(p: Player, clauses: str) -> None:
    merged(p, SOURCE, clauses, "")


@AREA.grid({"evolution": "WITH SCHEMA EVOLUTION ", "as it is": ""}, "CREATE TABLE {t} (key INT, col STRUCT<y: INT, z: INT> NOT NULL) USING delta",
           "INSERT INTO {t} VALUES (1, named_struct('y', 2, 'z', 2))")  # fmt: skip
def a_struct_that_must_not_be_null(p: Player, evolution: str) -> None:
    merged(
        p,
        "SELECT 1 AS key, CAST(NULL AS STRUCT<x: INT, y: INT>) AS col",
        CLAUSES["update by name"],
        evolution,
    )
