"""INSERT: values of other types than the table's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playing import Area

if TYPE_CHECKING:
    from playing import Player

AREA = Area("insert_casts")

# a table, its first rows, and rows of another type that a stream brings
_STREAMED = {
    "a struct": ("s STRUCT<a: INT>", "SELECT named_struct('a', 17)", "SELECT named_struct('a', -12L) AS s"),
}


@AREA.family(_STREAMED)
def streams(p: Player, case: tuple[str, str, str]) -> None:
    """What a stream brings is cast to the types of the table."""
    columns, before, rows = case
    p.sql(f"CREATE TABLE {{u}} ({columns}) USING delta", f"INSERT INTO {{u}} {before}")
    p.write(rows)
    p.attempt(p.stream)
    p.schema("SELECT * FROM {u}")
    p.rows("SELECT * FROM {u}")
