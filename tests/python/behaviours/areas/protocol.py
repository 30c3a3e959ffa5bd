"""Versions of a table at its creation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playing import Area

if TYPE_CHECKING:
    from playing import Player

AREA = Area("protocol")

VERSIONS = {
    f"{r}, {w}": (r, w) for r, w in ((1, 1), (1, 4), (1, 5), (1, 7), (2, 1), (2, 4), (2, 5), (2, 7), (3, 6))
}


@AREA.family({"nothing": (), **VERSIONS})
def created(p: Player, versions: tuple[int, ...]) -> None:
    names = ("delta.minReaderVersion", "delta.minWriterVersion")
    listed = ", ".join(f"'{name}' = '{version}'" for name, version in zip(names, versions, strict=False))
    p.attempt("CREATE TABLE {t} (id BIGINT) USING delta" + (f" TBLPROPERTIES ({listed})" if listed else ""))
    p.attempt(p.detail)
