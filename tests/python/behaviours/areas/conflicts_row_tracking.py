"""Statements under which another writer enables row tracking, step by step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from playing import VECTORS, Area

from areas.races import race
from areas.row_tracking import ON, enable

if TYPE_CHECKING:
    from playing import Player

AREA = Area("conflicts_row_tracking")


def start(vectors: str, tracked: str = "false") -> tuple[str, ...]:
    """Two files of three rows each."""
    return (
        (
            "CREATE TABLE {t} (id BIGINT) USING delta TBLPROPERTIES "
            f"('delta.isolationLevel' = 'Serializable', '{VECTORS}' = '{vectors}', '{ON}' = '{tracked}')"
        ),
        "INSERT INTO {t} SELECT id FROM range(0, 3, 1, 1)",
        "INSERT INTO {t} SELECT id FROM range(10, 13, 1, 1)",
    )


ENABLE = f"ALTER TABLE {{t}} SET TBLPROPERTIES ('{ON}' = 'true')"
MERGE = "MERGE INTO {t} t USING (SELECT win(id) AS id FROM range(1, 4, 1, 1)) s ON t.id = s.id "
FIRST: dict[str, Any] = {
    "INSERT": "INSERT INTO {t} SELECT win(id) FROM range(20, 22, 1, 1)",
    "DELETE": "DELETE FROM {t} WHERE id = 1 AND win(id) = 1",
    "UPDATE": "UPDATE {t} SET id = -id WHERE id = 1 AND win(id) = 1",
    "MERGE": MERGE + "WHEN MATCHED THEN UPDATE SET id = -s.id WHEN NOT MATCHED THEN INSERT *",
    "MERGE by source": MERGE + "WHEN NOT MATCHED BY SOURCE THEN DELETE",
}


def reported(p: Player) -> None:
    """Tells the rows, and whether the newest commit says that ids were kept."""
    p.rows()
    info = next(a["commitInfo"] for a in p.actions() if "commitInfo" in a)
    p.tell([info["operation"], info.get("tags", {}).get("delta.rowTracking.preserved")])


@AREA.family(
    {"all of it, files": (0, 3, "files"), "the feature and ids, vectors": (0, 2, "vectors")},
    quick={"all of it, files"},
)
def enabled_under_statements(p: Player, case: tuple[int, int, str]) -> None:
    begin, end, how = case
    for name in p.each(FIRST):
        race(p, start("true" if how == "vectors" else "false"), ENABLE, FIRST[name], begin, end)
        reported(p)
        enable(p)
        p.rows("SELECT count(*), count(_metadata.row_id), count(DISTINCT _metadata.row_id) FROM {t}")
