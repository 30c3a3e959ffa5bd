"""INSERT: rows that give void columns a type, by each kind of INSERT."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playing import Area

from areas.insert_kinds import Case, by_door, play_kinds

if TYPE_CHECKING:
    from playing import Player

AREA = Area("insert_void")

_VOID = ("a INT, i INT, v VOID", '[{"a": 1, "i": 1, "v": null}]')
_IN_STRUCT = ("a INT, i INT, v STRUCT<x: INT, y: VOID>", '[{"a": 1, "i": 1, "v": {"x": 1, "y": null}}]')


def _given(kind: str, value: str) -> tuple[str, str]:
    return f"a INT, i INT, v {kind}", f'[{{"a": 1, "i": 2, "v": {value}}}]'


_CASES = {
    name: Case(*table, *_given(*given), evolves=True)
    for name, table, given in (
        ("int", _VOID, ("INT", "2")),
        ("struct", _VOID, ("STRUCT<x: INT>", '{"x": 2}')),
        ("array", _VOID, ("ARRAY<STRUCT<x: INT>>", '[{"x": 2}]')),
        ("map", _VOID, ("MAP<STRING, STRUCT<x: INT>>", '{"key": {"x": 2}}')),
        ("field, int", _IN_STRUCT, ("STRUCT<x: INT, y: INT>", '{"x": 2, "y": 2}')),
        ("field, struct", _IN_STRUCT, ("STRUCT<x: INT, y: STRUCT<f1: INT>>", '{"x": 2, "y": {"f1": 2}}')),
        (
            "field, struct with void",
            _IN_STRUCT,
            ("STRUCT<x: INT, y: STRUCT<f1: INT, f2: VOID>>", '{"x": 2, "y": {"f1": 2, "f2": null}}'),
        ),
        ("field, array", _IN_STRUCT, ("STRUCT<x: INT, y: ARRAY<INT>>", '{"x": 2, "y": [2]}')),
        ("field, map", _IN_STRUCT, ("STRUCT<x: INT, y: MAP<STRING, INT>>", '{"x": 2, "y": {"key": 2}}')),
    )
} | {"int, not evolving": Case(*_VOID, *_given("INT", "2"))}


@AREA.family(by_door(_CASES), quick={"int, sql", "field, struct with void, frames"})
def void(p: Player, case: tuple[str, Case]) -> None:
    """A void column or field gets the type of the rows where the schema may evolve."""
    play_kinds(p, *case)
