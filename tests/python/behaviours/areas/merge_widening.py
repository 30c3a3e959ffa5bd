"""Merges that widen types, where the table has `delta.enableTypeWidening`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playing import Area

if TYPE_CHECKING:
    from playing import Player

AREA = Area("merge_widening")


def begin(p: Player, column: str, value: str) -> None:
    p.sql(
        f"CREATE TABLE {{t}} (k INT, {column}) USING delta TBLPROPERTIES ('delta.enableTypeWidening' = 'true')"
    )
    p.sql(f"INSERT INTO {{t}} VALUES (1, {value}), (2, {value})")


AROUND = {
    "struct": ("STRUCT<a: SMALLINT>", "named_struct('a', 1)", "named_struct('a', 70000)"),
    "struct with a new field": (
        "STRUCT<a: SMALLINT>",
        "named_struct('a', 1)",
        "named_struct('n', 5L, 'a', 70000)",
    ),
    "array": ("ARRAY<SMALLINT>", "array(1)", "array(70000)"),
    "array of structs": (
        "ARRAY<STRUCT<a: SMALLINT>>",
        "array(named_struct('a', 1))",
        "array(named_struct('a', 70000))",
    ),
    "map value": ("MAP<STRING, SMALLINT>", "map('k', 1)", "map('k', 70000)"),
    "map key": ("MAP<SMALLINT, STRING>", "map(1, 'v')", "map(70000, 'v')"),
    "map of structs": (
        "MAP<STRING, STRUCT<a: SMALLINT>>",
        "map('k', named_struct('a', 1))",
        "map('k', named_struct('a', 70000))",
    ),
}


@AREA.situation()
def within(p: Player) -> None:
    """Fields, elements, keys and values become wider, too."""
    columns = ", ".join(f"c{n} {data_type}" for n, (data_type, _, _) in enumerate(AROUND.values()))
    begin(p, columns, ", ".join(ours for _, ours, _ in AROUND.values()))
    theirs = ", ".join(f"{value} AS c{n}" for n, (_, _, value) in enumerate(AROUND.values()))
    source = f"SELECT k, {theirs} FROM VALUES (1), (3) AS v(k)"
    clauses = "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
    p.attempt(f"MERGE WITH SCHEMA EVOLUTION INTO {{t}} AS t USING ({source}) AS s ON s.k = t.k {clauses}")
    p.rows()
    p.schema()
