"""Statements between the commits by which another writer enables row tracking, or drops it."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from playing import VECTORS, Area

from areas.races import race, versions
from areas.row_tracking import KEPT, ON, enable, mark

if TYPE_CHECKING:
    from playing import Player

AREA = Area("conflicts_backfill")


def start(vectors: str, tracked: str = "false") -> tuple[Any, ...]:
    """A file of three rows in each of four partitions."""
    return (
        (
            "CREATE TABLE {t} (id BIGINT, p INT) USING delta PARTITIONED BY (p) "
            f"TBLPROPERTIES ('{VECTORS}' = '{vectors}', '{ON}' = '{tracked}')"
        ),
        "INSERT INTO {t} SELECT id, id % 4 FROM range(0, 12, 1, 1)",
    )


def in_two_batches(p: Player) -> None:
    """Row tracking enabled in four commits: the feature, ids of two partitions, ids of the others, the property."""
    enable(p)
    log = Path(p.path, "_delta_log")
    *_, upgraded, ids, enabled = versions(p.path)
    commit = p.actions(ids)
    first = [a for a in commit if "add" not in a or int(a["add"]["partitionValues"]["p"]) < 2]
    second = [a for a in commit if "add" not in a or int(a["add"]["partitionValues"]["p"]) >= 2]
    for action in second:
        if "add" in action:
            action["add"]["defaultRowCommitVersion"] = ids + 1
    assert upgraded == ids - 1
    texts = {ids: first, ids + 1: second, ids + 2: p.actions(enabled)}
    for known in log.glob("*.crc"):
        known.unlink()
    for version, actions in texts.items():
        text = "".join(json.dumps(a) + "\n" for a in actions)
        (log / f"{version:020}.json").write_text(text, encoding="utf-8")


MERGE = (
    "MERGE INTO {t} t USING (SELECT win(id) AS id, CAST(id % 4 AS INT) AS p FROM range(5, 15, 1, 1)) s "
    "ON t.id = s.id "
)
FIRST: dict[str, Any] = {
    "INSERT": "INSERT INTO {t} SELECT win(id), 1 FROM range(20, 22, 1, 1)",
    "DELETE": "DELETE FROM {t} WHERE id IN (1, 2) AND win(id) = id",
    "UPDATE": "UPDATE {t} SET id = id + 1000 WHERE id IN (1, 2) AND win(id) = id",
    "MERGE": MERGE
    + "WHEN MATCHED AND t.p IN (1, 2) THEN UPDATE SET * WHEN NOT MATCHED AND s.p IN (1, 2) THEN INSERT *",
    "MERGE by source": MERGE + "WHEN NOT MATCHED AND s.p IN (1, 2) THEN INSERT * "
    "WHEN NOT MATCHED BY SOURCE AND t.p IN (1, 2) THEN DELETE",
}
# without vectors delta-spark finds the files of a DELETE or UPDATE by the name of the file that is read, which Spark
# does not know beside a function of Python
WHOLE = [name for name in FIRST if name not in ("DELETE", "UPDATE")]
# how many of the four commits are there when the statement begins, and when it commits
ORDERS = {
    "the feature": (0, 1),
    "the feature and a batch": (0, 2),
    "all": (0, 4),
    "a batch after the feature": (1, 2),
    "all after the feature": (1, 4),
}


def reported(p: Player, *, finished: bool) -> None:
    """Tells the rows, whether the newest commit says that ids were kept, and whether files have ids of their own."""
    p.rows()
    info = next(a["commitInfo"] for a in p.actions() if "commitInfo" in a)
    p.tell([info["operation"], info.get("tags", {}).get("delta.rowTracking.preserved")])
    live: dict[str, Any] = {}
    for version in versions(p.path):
        actions = p.actions(version)
        for action in actions:
            live.pop(action.get("remove", {}).get("path"), None)
        live |= {a["add"]["path"]: a["add"] for a in actions if "add" in a}
    given = sorted(
        (add["baseRowId"], add["baseRowId"] + json.loads(add["stats"])["numRecords"])
        for add in live.values()
        if "baseRowId" in add
    )
    p.tell(all(first[1] <= second[0] for first, second in pairwise(given)))
    if finished:
        p.tell(len(given) == len(live) and all("defaultRowCommitVersion" in add for add in live.values()))


@AREA.family(
    {
        f"{order}, {how}": (begin, end, vectors)
        for order, (begin, end) in ORDERS.items()
        for how, vectors in {"files": "false", "vectors": "true"}.items()
    },
    quick={"all after the feature, files", "the feature and a batch, vectors"},
)
def enabled_in_four_commits(p: Player, case: tuple[int, int, str]) -> None:
    begin, end, vectors = case
    for name in p.each(FIRST if vectors == "true" else WHOLE):
        race(p, start(vectors), in_two_batches, FIRST[name], begin, end)
        reported(p, finished=end == 4)


@AREA.situation(differs="rows keep the ids that the enablement gave them; there the file gets new ones")
def ids_of_a_file_that_both_commit(p: Player) -> None:
    made = (start("true")[0], "INSERT INTO {t} SELECT id, 0 FROM range(0, 4, 1, 1)")
    race(p, made, f"ALTER TABLE {{t}} SET TBLPROPERTIES ('{ON}' = 'true')", FIRST["DELETE"])
    p.rows(KEPT)
    mark(p)


DROP = "ALTER TABLE {t} DROP FEATURE rowTracking"


DROPS = {
    f"{step}, {how}": (begin, end, vectors)
    for step, (begin, end) in {"the end": (2, 3), "the clearing": (1, 2)}.items()
    for how, vectors in {"files": "false", "vectors": "true"}.items()
}


@AREA.family(DROPS, quick={"the end, vectors", "the clearing, files"})
def dropped_under_statements(p: Player, case: tuple[int, int, str]) -> None:
    begin, end, vectors = case
    for name in p.each(n for n in (FIRST if vectors == "true" else WHOLE) if " " not in n):
        race(p, start(vectors, "true"), DROP, FIRST[name], begin, end)
        p.rows()
        p.tell([v - versions(p.path)[0] for v in versions(p.path)])
        p.attempt(DROP)
        p.rows()
        p.tell([a["add"].get("baseRowId") for a in p.actions() if "add" in a])
