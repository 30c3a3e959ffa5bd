# ruff: noqa: E501 (a statement reads best in one line)
"""Merges that evolve the schema: which columns and fields join, and what rows have in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playing import Area

if TYPE_CHECKING:
    from playing import Player

AREA = Area("merge_evolution")

# the source's struct has `b` and `c` more, and lacks `z`
FIELDS = {
    "whole, evolution": "WHEN MATCHED THEN UPDATE SET value = s.value",
    "a field of both, evolution": "WHEN MATCHED THEN UPDATE SET value.a = s.value.a",
    "by source, evolution": "WHEN NOT MATCHED BY SOURCE THEN UPDATE SET value.b = 5",
}


@AREA.family(FIELDS)
def fields(p: Player, clauses: str) -> None:
    """Which fields of structs join."""
    p.sql("""CREATE TABLE {t} USING delta AS SELECT key, named_struct('a', key, 'z', -key, 'n', named_struct('x', key)) AS value
        FROM VALUES (1), (2), (3) AS v(key)""")
    source = """SELECT key, named_struct('b', key * 10, 'a', key * 100, 'n', named_struct('y', key + 1, 'x', key + 2, 'w', 0), 'c', 'c',
        'o', named_struct('p', 1, 'q', 2)) AS value FROM VALUES (1), (2), (4) AS v(key)"""
    p.attempt(f"MERGE WITH SCHEMA EVOLUTION INTO {{t}} AS t USING ({source}) AS s ON s.key = t.key {clauses}")
    p.rows()
    p.schema()
