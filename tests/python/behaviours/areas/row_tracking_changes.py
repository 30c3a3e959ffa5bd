"""Rows keep their ids through statements; row tracking that comes later, is suspended, cloned, or taken away."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playing import Area

from areas.row_tracking import KEPT, ON, columns, create, enable, given, insert, log, mark

if TYPE_CHECKING:
    from playing import Player

AREA = Area("row_tracking_changes")


# -- rows keep their ids


@AREA.situation()
def after_all_rows_went_new_ones_have_new_ids(p: Player) -> None:
    create(p)
    insert(p, 0, 5000)
    p.sql("DELETE FROM {t}")
    insert(p, 0, 4)
    p.rows(KEPT)
    mark(p)


@AREA.situation()
def a_delete_of_a_twentieth_and_another(p: Player) -> None:
    create(p)
    insert(p, 0, 100)
    p.sql("DELETE FROM {t} WHERE id % 20 = 0", "DELETE FROM {t} WHERE id % 20 = 1")
    p.rows("SELECT count(*), bool_and(id = _metadata.row_id), max(_metadata.row_commit_version) FROM {t}")


@AREA.situation()
def optimize_says_its_isolation(p: Player) -> None:
    create(p, **{"delta.isolationLevel": "Serializable"})
    insert(p, 0, 2)
    insert(p, 2, 4)
    p.sql("OPTIMIZE {t}")
    p.tell([row.isolationLevel for row in p.sql("DESCRIBE HISTORY {t}").collect()])


# -- enabled later, taken away


def steps(p: Player, since: int) -> None:
    """Tells what the commits since a version have, by the kinds of their actions in order."""
    last = p.sql("DESCRIBE HISTORY {t} LIMIT 1").first().version
    reported = []
    for version in range(since, last + 1):
        kinds = [next(iter(a)) for a in p.actions(version)]
        of = [a["commitInfo"]["operation"] for a in p.actions(version) if "commitInfo" in a]
        reported.append([of, sorted(set(kinds))])
    p.tell(reported)


@AREA.situation()
def where_some_files_have_ids_the_others_get_them(p: Player) -> None:
    p.sql("CREATE TABLE {t} (id BIGINT) USING delta")
    insert(p, 0, 3)
    p.sql("ALTER TABLE {t} SET TBLPROPERTIES ('delta.feature.rowTracking' = 'supported')")
    insert(p, 10, 12)
    mark(p)
    enable(p)
    steps(p, 2)
    mark(p)
    p.rows(KEPT)


@AREA.situation()
def off_and_on_again_keeps_the_names(p: Player) -> None:
    create(p)
    insert(p, 0, 3)
    before = columns(p)
    p.sql(f"ALTER TABLE {{t}} SET TBLPROPERTIES ('{ON}' = 'false')")
    p.sql("UPDATE {t} SET id = 7 WHERE id = 1")
    enable(p)
    p.tell(columns(p) == before)
    p.rows("SELECT count(*), count(_metadata.row_id), count(DISTINCT _metadata.row_id) FROM {t}")
    p.sql("ALTER TABLE {t} UNSET TBLPROPERTIES ('delta.enableRowTracking')")
    p.tell(columns(p) == before)
    p.attempt(KEPT)


@AREA.situation()
def dropped_and_enabled_again(p: Player) -> None:
    create(p)
    insert(p, 0, 3)
    p.sql("UPDATE {t} SET id = 7 WHERE id = 1")
    before = columns(p)
    p.sql("ALTER TABLE {t} DROP FEATURE rowTracking")
    p.detail()
    p.tell(columns(p))
    p.rows()
    p.tell([d["removed"] for d in log(p, "domainMetadata")])
    insert(p, 9, 10)
    given(p)
    enable(p)
    p.tell([len(columns(p)), bool(set(columns(p)) & set(before))])
    p.rows("SELECT count(*), count(_metadata.row_id), count(DISTINCT _metadata.row_id) FROM {t}")


# -- clones
