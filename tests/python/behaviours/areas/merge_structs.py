# ruff: noqa: E501 (a statement reads best in one line)
"""Merges of structs, in arrays and maps, with other fields on both sides, and null on either."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playing import Area

if TYPE_CHECKING:
    from playing import Player

AREA = Area("merge_structs")

# what a column is around a struct `{e}`, and what is read of it
AROUND = {
    "plain": ("{e}", "plain"),
    "within": ("named_struct('n', {e}, 'k', 1)", "within"),
    "list": ("array({e})", "list"),
    "list_within": ("named_struct('l', array({e}), 'k', 1)", "list_within"),
    "lists": ("array(array({e}))", "lists"),
    "map_value": ("map('k', {e})", "map_value"),
    "map_key": ("map({e}, 'v')", "map_entries(map_key)"),
    "map_both": ("map({e}, {e})", "map_entries(map_both)"),
    "maps": ("map('k', map('l', {e}))", "maps"),
    "list_in_map": ("map('k', array({e}))", "list_in_map"),
    "list_as_key": ("map(array({e}), 'v')", "map_entries(list_as_key)"),
    "map_within": ("named_struct('m', map('k', {e}), 'k', 1)", "map_within"),
}
TABLE = "named_struct('a', 1, 'b', 2)"
CLAUSES = {
    "stars": "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *",
    "by name": "WHEN MATCHED THEN UPDATE SET value = s.value "
    "WHEN NOT MATCHED THEN INSERT (key, value) VALUES (s.key, s.value)",
}
ELEMENT = "named_struct('b', 20, 'a', 10)"
GRID = {
    "another order, stars, evolution": ("stars", "WITH SCHEMA EVOLUTION "),
    "another order, stars, as it is": ("stars", ""),
    "another order, by name, evolution": ("by name", "WITH SCHEMA EVOLUTION "),
}
BY_NAME = "fields of structs in arrays of arrays go by name: delta-spark takes them by position, and values change places"


def columns(element: str) -> str:
    return ", ".join(f"{sql.replace('{e}', element)} AS {name}" for name, (sql, _) in AROUND.items())


def clauses_for(how: str, names: list[str]) -> str:
    if how == "stars":
        return CLAUSES[how]
    listed, theirs = ", ".join(["key", *names]), ", ".join(f"s.{n}" for n in ["key", *names])
    setting = ", ".join(f"{n} = s.{n}" for n in names)
    return f"WHEN MATCHED THEN UPDATE SET {setting} WHEN NOT MATCHED THEN INSERT ({listed}) VALUES ({theirs})"


@AREA.family(GRID, differs=dict.fromkeys(GRID, BY_NAME))
def other_fields(p: Player, case: tuple[str, str]) -> None:
    """A row that is updated, one that stays and a new one: structs in all that there is, in another order."""
    how, evolution = case
    p.sql(
        f"CREATE TABLE {{t}} USING delta AS SELECT 1 AS key, {columns(TABLE)} UNION ALL SELECT 3, {columns(TABLE)}"
    )
    source = f"SELECT 1 AS key, {columns(ELEMENT)} UNION ALL SELECT 2, {columns(ELEMENT)}"
    clauses = clauses_for(how, list(AROUND))
    p.sql(f"MERGE {evolution}INTO {{t}} AS t USING ({source}) AS s ON s.key = t.key {clauses}")
    for _, read in AROUND.values():
        p.rows(f"SELECT key, {read} FROM {{t}}")
    p.schema()


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
