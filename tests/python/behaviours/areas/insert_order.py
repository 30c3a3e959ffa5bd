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
_IN_ARRAY = (
    "a INT, s STRUCT<l: ARRAY<STRUCT<x: INT, y: INT>>>",
    '[{"a": 1, "s": {"l": [{"x": 2, "y": 3}]}}]',
)
_IN_MAP = (
    "a INT, s STRUCT<m: MAP<STRING, STRUCT<x: INT, y: INT>>>",
    '[{"a": 1, "s": {"m": {"k": {"x": 2, "y": 3}}}}]',
)
_DEEP = ("a INT, s ARRAY<MAP<STRING, STRUCT<x: INT, y: INT>>>", '[{"a": 1, "s": [{"k": {"x": 2, "y": 3}}]}]')
_TURNED = '[{"a": 1, "c": 4, "b": 5}]'
_OTHER = '[{"a": 1, "s": {"y": 5, "x": 4}}]'
_OTHER_ARRAY = '[{"a": 1, "s": {"l": [{"y": 5, "x": 4}]}}]'
_OTHER_MAP = '[{"a": 1, "s": {"m": {"k": {"y": 5, "x": 4}}}}]'
_OTHER_DEEP = '[{"a": 1, "s": [{"k": {"y": 5, "x": 4}}]}]'
_CASES = {
    "columns": Case(*_COLUMNS, "a INT, c INT, b INT", _TURNED),
    "columns and a cast": Case(*_COLUMNS, "a LONG, c INT, b INT", _TURNED),
    "fields": Case(*_STRUCT, "a INT, s STRUCT<y: INT, x: INT>", _OTHER),
    "fields and a cast": Case(*_STRUCT, "a LONG, s STRUCT<y: INT, x: INT>", _OTHER),
    "fields, a null struct": Case(*_STRUCT, "a INT, s STRUCT<y: INT, x: INT>", '[{"a": 1, "s": null}]'),
    "fields with casts": Case(*_STRUCT, "a INT, s STRUCT<y: LONG, x: INT>", _OTHER),
    "array": Case(*_IN_ARRAY, "a INT, s STRUCT<l: ARRAY<STRUCT<y: INT, x: INT>>>", _OTHER_ARRAY),
    "array and a cast": Case(*_IN_ARRAY, "a INT, s STRUCT<l: ARRAY<STRUCT<y: LONG, x: INT>>>", _OTHER_ARRAY),
    "map": Case(*_IN_MAP, "a INT, s STRUCT<m: MAP<STRING, STRUCT<y: INT, x: INT>>>", _OTHER_MAP),
    "map and a cast": Case(*_IN_MAP, "a INT, s STRUCT<m: MAP<STRING, STRUCT<y: LONG, x: INT>>>", _OTHER_MAP),
    "array of maps": Case(*_DEEP, "a INT, s ARRAY<MAP<STRING, STRUCT<y: INT, x: INT>>>", _OTHER_DEEP),
    "array of maps and a cast": Case(
        *_DEEP, "a INT, s ARRAY<MAP<STRING, STRUCT<y: LONG, x: INT>>>", _OTHER_DEEP
    ),
}
_BY_PLACE = "BY NAME goes by name; delta-spark gives fields places where a value is cast"
_DIFFERS = {
    f"{name}, sql": _BY_PLACE
    for name in (
        "fields and a cast",
        "fields with casts",
        "array and a cast",
        "map and a cast",
        "array of maps and a cast",
    )
} | {
    "array of maps and a cast, frames": "a stream goes by name; delta-spark gives fields in maps in arrays places"
}
_QUICK = {
    "columns and a cast, sql",
    "columns and a cast, frames",
    "fields, sql",
    "fields, frames",
    "array, frames",
    "array of maps, frames",
}


@AREA.family(by_door(_CASES), _DIFFERS, quick=_QUICK)
def order(p: Player, case: tuple[str, Case]) -> None:
    """Columns and fields in another order than the table's, with values of other types and without."""
    play_kinds(p, *case)
