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


@AREA.situation()
def shredded_variants(p: Player) -> None:
    """By the property, on a new table and on one that is there: the feature, the rows, and what ends it."""
    rows = 'SELECT id, parse_json(\'{{"a": \' || id || \', "b": "x"}}\') AS v FROM range({}, {})'
    p.sql(
        "CREATE TABLE {t} (id LONG, v VARIANT) USING delta TBLPROPERTIES ('delta.enableVariantShredding' = 'true')"
    )
    p.detail()
    p.write(rows.format(0, 3))
    p.sql("CREATE TABLE {u} (id LONG, v VARIANT) USING delta", f"INSERT INTO {{u}} {rows.format(0, 3)}")
    p.attempt(
        "ALTER TABLE {u} SET TBLPROPERTIES ('delta.enableVariantShredding' = 'true')",
        f"INSERT INTO {{u}} {rows.format(3, 3000)}",
        "DELETE FROM {u} WHERE id % 3 = 1",
        "UPDATE {u} SET v = parse_json('[1]') WHERE id = 2",
        "OPTIMIZE {u}",
        "ALTER TABLE {u} UNSET TBLPROPERTIES ('delta.enableVariantShredding')",
        f"INSERT INTO {{u}} {rows.format(3000, 3003)}",
    )
    p.detail("{u}")
    for table in ("{t}", "{u}"):
        p.rows(f"SELECT count(*), min(to_json(v)), max(to_json(v)) FROM {table}")
    p.attempt("ALTER TABLE {t} DROP FEATURE `variantShredding-preview`")
    p.sql("CREATE TABLE delta.`{at}/none` (id LONG) USING delta")
    p.attempt("ALTER TABLE delta.`{at}/none` SET TBLPROPERTIES ('delta.enableVariantShredding' = 'true')")
    p.detail("delta.`{at}/none`")
