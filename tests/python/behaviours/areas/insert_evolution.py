"""INSERT: columns and fields that the table lacks, by each kind of INSERT."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from playing import Area

from areas.insert_kinds import Case, by_door, evolving_and_not, play_kinds

if TYPE_CHECKING:
    from playing import Player

AREA = Area("insert_evolution")

# a list of columns names those of the table
_LISTS = frozenset({"INTO list", "OVERWRITE list", "PARTITION list"})
_COLUMNS = ("a INT, b INT", '[{"a": 1, "b": 2}]')
_STRUCT = ("a INT, s STRUCT<x: INT>", '[{"a": 1, "s": {"x": 2}}]')
_FIELD = Case(*_STRUCT, "a INT, s STRUCT<x: INT, y: INT>", '[{"a": 1, "s": {"x": 4, "y": 5}}]')
_MORE = '[{"a": 1, "b": 4, "c": 5}]'
_CAST = Case(*_COLUMNS, "a INT, b LONG, c INT", _MORE, without=_LISTS)
_CASES = {
    "column and a cast, evolving": replace(_CAST, evolves=True, without=_LISTS | {"PARTITION"}),
    "column and a cast": _CAST,
    **evolving_and_not(
        {
            "column": Case(*_COLUMNS, "a INT, b INT, c INT", _MORE, without=_LISTS),
            "field": _FIELD,
            "field and a cast": replace(_FIELD, given="a INT, s STRUCT<x: LONG, y: INT>"),
        }
    ),
    "field, a null struct": replace(_FIELD, rows='[{"a": 1, "s": null}]', evolves=True),
}
_AGAINST_SETTING = {
    f"field by option, the session says {says}": replace(
        _FIELD, evolves=True, setting=says, doors=("frames",)
    )
    for says in (False, True)
}


_QUICK = {"column and a cast, sql", "column and a cast, evolving, sql", "field, evolving, frames"}


@AREA.family(by_door(_CASES | _AGAINST_SETTING), quick=_QUICK)
def evolution(p: Player, case: tuple[str, Case]) -> None:
    """Columns that only the rows have join where the schema may evolve, beside values of other types."""
    play_kinds(p, *case)
