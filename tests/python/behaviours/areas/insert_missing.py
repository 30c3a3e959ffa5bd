"""INSERT: columns and fields that the rows lack, by each kind of INSERT."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playing import Area

from areas.insert_kinds import Case, by_door, evolving_and_not, play_kinds

if TYPE_CHECKING:
    from playing import Player

AREA = Area("insert_missing")

_STRUCT = ("a INT, s STRUCT<x: INT, y: INT>", '[{"a": 1, "s": {"x": 2, "y": 3}}]')
_ROW = '[{"a": 1, "b": 2, "c": 3}]'
_CASES = evolving_and_not(
    {
        "a column": Case("a INT, b INT, c INT", _ROW, "a INT, b INT", '[{"a": 1, "b": 4}]'),
        "a column beside a cast": Case("a LONG, b INT, c INT", _ROW, "a INT, b LONG", '[{"a": 1, "b": 4}]'),
        "a field": Case(*_STRUCT, "a INT, s STRUCT<y: INT>", '[{"a": 1, "s": {"y": 5}}]'),
        "a field beside a cast": Case(*_STRUCT, "a INT, s STRUCT<y: LONG>", '[{"a": 1, "s": {"y": 5}}]'),
    }
)
_QUICK = {"a column, sql", "a field, frames"}


@AREA.family(by_door(_CASES), quick=_QUICK)
def missing(p: Player, case: tuple[str, Case]) -> None:
    """What rows by name lack is null; by position, and for fields by all of SQL, it is an error."""
    play_kinds(p, *case)
