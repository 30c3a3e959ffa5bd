"""INSERT: the order of columns and of the fields of structs, by each kind of INSERT."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playing import Area

from areas.insert_kinds import Case, by_door, play_kinds

if TYPE_CHECKING:
    from playing import Player

AREA = Area("insert_order")

_COLUMNS = ("a INT, b INT, c INT", '[{"a": 1, "b": 2, "c": 3}]')
_STRUCT = ("a INT, s STRUCT<x: INT, y: INT>", '[{"a": 1, "s": {"x": 2, "y": 3}}]')
_OTHER = '[{"a": 1, "s": {"y": 5, "x": 4}}]'
_CASES = {
    "columns": Case(*_COLUMNS, "a INT, c INT, b INT", '[{"a": 1, "c": 4, "b": 5}]'),
    "fields": Case(*_STRUCT, "a INT, s STRUCT<y: INT, x: INT>", _OTHER),
    "fields and a cast": Case(*_STRUCT, "a LONG, s STRUCT<y: INT, x: INT>", _OTHER, doors=("frames",)),
}


@AREA.family(by_door(_CASES))
def order(p: Player, case: tuple[str, Case]) -> None:
    """Columns and fields in another order than the table's, with values of other types and without."""
    play_kinds(p, *case)
