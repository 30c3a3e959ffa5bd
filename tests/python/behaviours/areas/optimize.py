"""OPTIMIZE, Z-order, REORG and auto-compaction."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playing import Area

if TYPE_CHECKING:
    from playing import Player

AREA = Area("optimize")
MAPPED = "'delta.columnMapping.mode' = 'name'"


def files(p: Player) -> int:
    """Tells how many files the table has."""
    found = p.sql("DESCRIBE DETAIL {t}").first().numFiles
    p.tell({"files": found})
    return int(found)


def small_files(p: Player, number: int = 4, by: tuple[str, ...] = (), **options: str) -> None:
    """Commits of two rows each: `id`, `n`, and `p`, which is 0 or 1."""
    p.sql(
        f"CREATE TABLE {{t}} (id INT, n INT, p INT) USING delta {f'PARTITIONED BY ({by[0]})' if by else ''}"
        + (f" TBLPROPERTIES ({', '.join(f'{k!r} = {v!r}' for k, v in options.items())})" if options else "")
    )
    for i in range(number):
        p.sql(f"INSERT INTO {{t}} VALUES ({2 * i}, {i}, {i % 2}), ({2 * i + 1}, {i}, {i % 2})")


@AREA.situation()
def files_that_still_have_a_dropped_column_are_purged(p: Player) -> None:
    small_files(p, 3, **{"delta.columnMapping.mode": "name"})
    p.sql("ALTER TABLE {t} DROP COLUMN n", "REORG TABLE {t} APPLY (PURGE)")
    files(p)
    p.commit()
    names = {
        len(p.spark.read.parquet(f"{p.path}/{a['add']['path']}").columns) for a in p.actions() if "add" in a
    }
    p.tell(sorted(names))
    p.rows()
    p.sql("REORG TABLE {t} APPLY (PURGE)")
    p.commit()


@AREA.situation()
def a_dropped_field_of_a_struct_is_purged(p: Player) -> None:
    p.sql(f"CREATE TABLE {{t}} (id INT, s STRUCT<a: INT, b: INT>) USING delta TBLPROPERTIES ({MAPPED})")
    p.sql("INSERT INTO {t} VALUES (1, named_struct('a', 1, 'b', 2))", "ALTER TABLE {t} DROP COLUMN s.b")
    p.sql("REORG TABLE {t} APPLY (PURGE)")
    p.commit()
    p.tell(len([a for a in p.actions() if "add" in a]))
    p.rows()


@AREA.situation()
def a_dropped_field_in_arrays_and_maps_is_purged(p: Player) -> None:
    p.sql(
        "CREATE TABLE {t} (id INT, l ARRAY<STRUCT<a: INT, b: INT>>, m MAP<STRING, STRUCT<a: INT, b: INT>>) "
        f"USING delta TBLPROPERTIES ({MAPPED})",
        "INSERT INTO {t} VALUES (1, array(named_struct('a', 1, 'b', 2)), map('k', named_struct('a', 1, 'b', 2)))",
        "ALTER TABLE {t} DROP COLUMN l.element.b",
        "REORG TABLE {t} APPLY (PURGE)",
    )
    p.commit()
    p.sql("ALTER TABLE {t} DROP COLUMN m.value.b", "REORG TABLE {t} APPLY (PURGE)")
    p.commit()
    p.rows()


AUTO = "delta.autoOptimize.autoCompact"
