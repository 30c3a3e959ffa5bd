"""INSERT: columns and fields that the table lacks, by each kind of INSERT."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playing import Area

from areas.insert_kinds import Case, by_door, play_kinds

if TYPE_CHECKING:
    from playing import Player

AREA = Area("insert_evolution")

# a list of columns names those of the table; deltaic refuses PARTITION with columns that join
_WITHOUT = frozenset({"INTO list", "OVERWRITE list", "PARTITION list", "PARTITION"})
_CASES = {
    "column and a cast, evolving": Case(
        "a INT, b INT",
        '[{"a": 1, "b": 2}]',
        "a INT, b LONG, c INT",
        '[{"a": 1, "b": 4, "c": 5}]',
        evolves=True,
        without=_WITHOUT,
    ),
}


@AREA.family(by_door(_CASES))
def evolution(p: Player, case: tuple[str, Case]) -> None:
    """Columns that only the rows have join where the schema may evolve, beside values of other types."""
    play_kinds(p, *case)
