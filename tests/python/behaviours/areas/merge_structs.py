# ruff: noqa: E501 (a statement reads best in one line)
"""Merges of structs, in arrays and maps, with other fields on both sides, and null on either."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playing import Area

if TYPE_CHECKING:
    from playing import Player

AREA = Area("merge_structs")

CLAUSES = {
    "stars": "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *",
    "by name": "WHEN MATCHED THEN UPDATE SET value = s.value "
    "WHEN NOT MATCHED THEN INSERT (key, value) VALUES (s.key, s.value)",
}


def clauses_for(how: str, names: list[str]) -> str:
    if how == "stars":
        return CLAUSES[how]
    listed, theirs = ", ".join(["key", *names]), ", ".join(f"s.{n}" for n in ["key", *names])
    setting = ", ".join(f"{n} = s.{n}" for n in names)
    return f"WHEN MATCHED THEN UPDATE SET {setting} WHEN NOT MATCHED THEN INSERT ({listed}) VALUES ({theirs})"


# by JSON: values, nulls within, null, for a source and a table of other fields
SHAPES = {
    "struct": (
        "STRUCT<x: INT, y: INT>", ['{"x":1,"y":2}', '{"x":null,"y":null}', "null"],
        "STRUCT<y: INT, z: INT>", ['{"y":5,"z":6}', '{"y":null,"z":null}', "null"],
    ),
    "struct without fields of its own": (
        "STRUCT<x: INT, y: INT>", ['{"x":1,"y":2}', '{"x":null,"y":null}', "null"],
        "STRUCT<y: INT>", ['{"y":5}', '{"y":null}', "null"],
    ),
    "struct with more of its own": (
        "STRUCT<y: INT>", ['{"y":2}', '{"y":null}', "null"],
        "STRUCT<z: INT, y: INT, w: INT>", ['{"y":5,"z":6,"w":7}', '{"y":null,"z":null,"w":null}', "null"],
    ),
    "same fields": (
        "STRUCT<y: INT, x: BIGINT>", ['{"x":1,"y":2}', '{"x":null,"y":null}', "null"],
        "STRUCT<x: INT, y: INT>", ['{"y":5,"x":6}', '{"y":null,"x":null}', "null"],
    ),
    "struct in a struct": (
        "STRUCT<x: INT, y: STRUCT<d: INT, e: INT>>",
        ['{"x":1,"y":{"d":2,"e":3}}', '{"x":1,"y":{"d":null,"e":null}}', '{"x":1,"y":null}', "null"],
        "STRUCT<y: STRUCT<e: INT, f: INT>, z: INT>",
        ['{"y":{"e":5,"f":6},"z":7}', '{"y":{"e":null,"f":null},"z":7}', '{"y":null,"z":7}', "null"],
    ),
    "array": (
        "ARRAY<STRUCT<x: INT, y: INT>>", ['[{"x":1,"y":2}]', '[{"x":null,"y":null}]', "[null]", "[]", "null"],
        "ARRAY<STRUCT<y: INT, z: INT>>", ['[{"y":5,"z":6}]', '[{"y":null,"z":null}]', "[null]", "null"],
    ),
    "array in a struct": (
        "STRUCT<x: INT, y: ARRAY<STRUCT<d: INT, e: INT>>>",
        ['{"x":1,"y":[{"d":2,"e":3}]}', '{"x":1,"y":[null]}', '{"x":1,"y":null}', "null"],
        "STRUCT<y: ARRAY<STRUCT<e: INT, f: INT>>, z: INT>",
        ['{"y":[{"e":5,"f":6}],"z":7}', '{"y":[null],"z":7}', '{"y":null,"z":7}', "null"],
    ),
    "map": (
        "MAP<STRING, STRUCT<x: INT, y: INT>>",
        ['{"k":{"x":1,"y":2}}', '{"k":{"x":null,"y":null}}', '{"k":null}', "{}", "null"],
        "MAP<STRING, STRUCT<y: INT, z: INT>>",
        ['{"l":{"y":5,"z":6}}', '{"k":{"y":null,"z":null}}', '{"k":null}', "null"],
    ),
    "map in a struct": (
        "STRUCT<x: INT, y: MAP<STRING, STRUCT<d: INT, e: INT>>>",
        ['{"x":1,"y":{"k":{"d":2,"e":3}}}', '{"x":1,"y":{"k":null}}', '{"x":1,"y":null}', "null"],
        "STRUCT<y: MAP<STRING, STRUCT<e: INT, f: INT>>, z: INT>",
        ['{"y":{"l":{"e":5,"f":6}},"z":7}', '{"y":{"k":null},"z":7}', '{"y":null,"z":7}', "null"],
    ),
}  # fmt: skip
COLUMNS = {shape: f"c{n}" for n, shape in enumerate(SHAPES)}
ACTIONS = {
    "stars, evolution": None,
    "by name, evolution": list(COLUMNS.values()),
    "fields, evolution": [f"{COLUMNS[shape]}.y" for shape in SHAPES if SHAPES[shape][0].startswith("STRUCT")],
}


def states(column: int, *, of_source: bool) -> str:
    """Every state of a column for every one of the other side, by key; 5 is the most that there are."""
    data_type, found = list(SHAPES.values())[column][:2] if of_source else list(SHAPES.values())[column][2:]
    parts = [f"WHEN {n} THEN '{{\"c\":{text}}}'" for n, text in enumerate(found)]
    by = "key DIV 5" if of_source else "key % 5"
    return f"from_json(CASE ({by}) % {len(found)} {' '.join(parts)} END, 'c {data_type}').c AS c{column}"


@AREA.family(ACTIONS)
def nulls(p: Player, names: list[str] | None) -> None:
    """Each state of the source's column for each of the table's, and new rows of each."""
    ours = ", ".join(states(n, of_source=False) for n in range(len(SHAPES)))
    theirs = ", ".join(states(n, of_source=True) for n in range(len(SHAPES)))
    p.sql(
        f"CREATE TABLE {{t}} USING delta AS SELECT CAST(id AS INT) AS key, {ours} FROM (SELECT id, id AS key FROM range(25))"
    )
    if names is None:
        clauses = CLAUSES["stars"]
    elif "." in names[0]:
        clauses = "WHEN MATCHED THEN UPDATE SET " + ", ".join(f"{n} = s.{n}" for n in names)
    else:
        clauses = clauses_for("by name", names)
    source = f"SELECT CAST(id AS INT) AS key, {theirs} FROM (SELECT id, id AS key FROM range(50))"
    p.sql(f"MERGE WITH SCHEMA EVOLUTION INTO {{t}} AS t USING ({source}) AS s ON s.key = t.key {clauses}")
    for column in COLUMNS.values():
        p.rows(f"SELECT key, {column} FROM {{t}}")
    p.schema()
