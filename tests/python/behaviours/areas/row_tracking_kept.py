"""Which statements keep row ids and commit versions: compactions, changes and merges."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from playing import FEED, VECTORS, Area

from areas.row_tracking import KEPT, ON, columns, create, enable, log, mark

if TYPE_CHECKING:
    from playing import Player

AREA = Area("row_tracking_kept")


def preserved(p: Player) -> None:
    """Tells the newest commit that is not a backfill, and whether it says that ids were kept."""
    info = next(a["commitInfo"] for a in p.actions() if "commitInfo" in a)
    p.tell([info["operation"], info.get("tags", {}).get("delta.rowTracking.preserved")])


def rows(p: Player) -> list[str]:
    """Rows by a value that stays, with their ids and versions."""
    return p.list_rows("SELECT v, _metadata.row_id, _metadata.row_commit_version FROM {t}")


# -- compactions


def table(tracked: str = "true", by: str = "", **properties: str) -> tuple[str, ...]:
    """Three commits of ten rows each."""
    given = {ON: tracked, VECTORS: "false", **properties}
    listed = ", ".join(f"'{k}' = '{v}'" for k, v in given.items())
    return (
        f"CREATE TABLE {{t}} (k BIGINT, v BIGINT, w BIGINT) USING delta {by} TBLPROPERTIES ({listed})",
        *(f"INSERT INTO {{t}} SELECT id % 2, id, id FROM range({n}, {n + 10}, 1, 1)" for n in (0, 10, 20)),
    )


BY = "PARTITIONED BY (k)"
MOVE = "UPDATE {t} SET w = w + 1 WHERE v % 10 < 5"


def optimize(p: Player, where: str) -> None:
    p.sql(f"OPTIMIZE {{t}} {where}")


def curve(p: Player, where: str) -> None:
    p.sql(f"OPTIMIZE {{t}} {where} ZORDER BY (v)")


def auto(p: Player, where: str) -> None:
    p.conf("spark.databricks.delta.autoCompact.enabled", "true")
    p.conf("spark.databricks.delta.autoCompact.minNumFiles", "2")
    p.sql("INSERT INTO {t} VALUES (1, 100, 100)")


def purge(p: Player, where: str) -> None:
    p.sql(f"ALTER TABLE {{t}} SET TBLPROPERTIES ('{VECTORS}' = 'true')", "DELETE FROM {t} WHERE v % 10 = 3")
    p.sql(f"REORG TABLE {{t}} {where} APPLY (PURGE)")
    preserved(p)
    again = p.sql(f"REORG TABLE {{t}} {where} APPLY (PURGE)").select("metrics.*").first()
    p.tell([again.numFilesAdded, again.numFilesRemoved])


HOW = {"optimize": optimize, "curve": curve, "auto": auto, "purge": purge}


def compacted(p: Player, case: tuple[Any, str]) -> None:
    how, where = case
    before = set(rows(p))
    how(p, where)
    after = set(rows(p))
    p.tell([len(before - after), len(after - before)])
    p.rows("SELECT count(*), count(DISTINCT _metadata.row_id) FROM {t}")
    preserved(p)


EVERY = {name: (how, "") for name, how in HOW.items()}


@AREA.grid(EVERY, *table())
def compactions(p: Player, case: tuple[Any, str]) -> None:
    compacted(p, case)


@AREA.grid(EVERY, *table(), MOVE)
def compactions_of_rows_that_moved(p: Player, case: tuple[Any, str]) -> None:
    compacted(p, case)


WHERE = EVERY | {f"{name}, where": (how, "WHERE k = 1") for name, how in HOW.items() if how is not auto}


@AREA.grid(WHERE, *table(by=BY))
def compactions_of_partitions(p: Player, case: tuple[Any, str]) -> None:
    compacted(p, case)


@AREA.grid(WHERE, *table(by=BY), MOVE)
def compactions_of_partitions_of_rows_that_moved(p: Player, case: tuple[Any, str]) -> None:
    compacted(p, case)


LATER = (*table("false"), f"ALTER TABLE {{t}} SET TBLPROPERTIES ('{ON}' = 'true')")


@AREA.grid(EVERY, *LATER)
def compactions_of_a_table_that_got_ids_later(p: Player, case: tuple[Any, str]) -> None:
    compacted(p, case)


MAPPED = {"delta.columnMapping.mode": "name"}


@AREA.grid(EVERY, *table(**MAPPED), MOVE)
def compactions_with_column_mapping(p: Player, case: tuple[Any, str]) -> None:
    compacted(p, case)


# -- without row tracking


MERGE = (
    "MERGE INTO {t} t USING (SELECT id AS k, id AS v, id * 100 AS w FROM range(8, 34, 1, 1)) s ON t.v = s.v "
)
BOTH = MERGE + "WHEN MATCHED THEN UPDATE SET w = s.w WHEN NOT MATCHED THEN INSERT *"
CHANGES = {
    "delete": "DELETE FROM {t} WHERE v < 3",
    "update": "UPDATE {t} SET w = 0 WHERE v < 3",
    "merge": BOTH,
}


@AREA.grid({**HOW, **CHANGES}, *table("false"))
def without_row_tracking_nothing_is_kept(p: Player, case: Any) -> None:
    if isinstance(case, str):
        p.sql(case)
    else:
        case(p, "")
    preserved(p)


# -- changes


SQL = {
    "delete": ("DELETE FROM {t} WHERE v < 3",),
    "deletes": ("DELETE FROM {t} WHERE v % 20 = 0", "DELETE FROM {t} WHERE v % 20 = 1"),
    "delete of a file": ("DELETE FROM {t} WHERE v < 10",),
    "update": ("UPDATE {t} SET w = 0 WHERE v < 3",),
    "updates": ("UPDATE {t} SET w = 0 WHERE v < 3", "UPDATE {t} SET w = 1 WHERE v IN (1, 25)"),
    "update of a file": ("UPDATE {t} SET w = 0 WHERE v < 10",),
    "update of all": ("UPDATE {t} SET w = 0",),
    "update of k": ("UPDATE {t} SET k = 2 WHERE v < 10",),
    "merge, update": (MERGE + "WHEN MATCHED THEN UPDATE SET w = s.w",),
    "merge, delete": (MERGE + "WHEN MATCHED THEN DELETE",),
    "merge, by source": (
        MERGE + "WHEN NOT MATCHED BY SOURCE AND t.v % 2 = 0 THEN DELETE "
        "WHEN NOT MATCHED BY SOURCE THEN UPDATE SET w = 1",
    ),
    "merge, all": (
        MERGE + "WHEN MATCHED AND s.v % 2 = 0 THEN UPDATE SET w = s.w WHEN MATCHED THEN DELETE "
        "WHEN NOT MATCHED THEN INSERT * WHEN NOT MATCHED BY SOURCE THEN DELETE",
    ),
    "merge of itself": (
        "MERGE INTO {t} t USING (SELECT v, w + 1 AS w FROM {t}) s ON t.v = s.v WHEN MATCHED THEN UPDATE SET w = s.w",
    ),
    "merges": tuple(
        f"MERGE INTO {{t}} t USING (SELECT {v} AS v) s ON t.v = s.v WHEN MATCHED THEN UPDATE SET w = {-v} "
        f"WHEN NOT MATCHED THEN INSERT (k, v, w) VALUES (1, {v}, {-v})"
        for v in (28, 29, 30, 31)
    ),
}
TWICE = "INSERT INTO {t} SELECT k, v + 1000, w FROM {t}"
SEVERAL = (
    "MERGE INTO {t} t USING (SELECT id AS v FROM range(8, 12, 1, 1)) s ON t.v % 1000 = s.v WHEN MATCHED THEN "
)
SQL |= {
    "merge, several matches, update": (TWICE, SEVERAL + "UPDATE SET w = 5"),
    "merge, several matches, delete": (TWICE, SEVERAL + "DELETE"),
}


def kept(p: Player, statements: tuple[str, ...]) -> None:
    """Tells which rows keep their id, and the version of each row."""
    before = {r.v: r for r in p.sql(KEPT.replace("*", "v")).collect()}
    highest = max(r.row_id for r in before.values())
    p.sql(*statements)
    found = []
    for row in p.sql(KEPT.replace("*", "v, w")).collect():
        known = before.get(row.v)
        same = row.row_id == known.row_id if known else row.row_id > highest
        found.append([row.v, row.w, "known" if known else "new", same, row.row_commit_version])
    p.tell(sorted(found))
    preserved(p)


@AREA.grid(SQL, *table(), long=True)
def changes(p: Player, case: tuple[str, ...]) -> None:
    kept(p, case)


@AREA.grid(SQL, *table(**{VECTORS: "true", FEED: "true"}), long=True)
def changes_with_vectors_and_the_feed(p: Player, case: tuple[str, ...]) -> None:
    kept(p, case)


GATHERED = {name: SQL[name] for name in ("delete", "update", "merge, all")}


@AREA.grid(GATHERED, *table(by=BY, **{"delta.autoOptimize.optimizeWrite": "true"}))
def changes_with_optimized_writes(p: Player, case: tuple[str, ...]) -> None:
    kept(p, case)


@AREA.grid(GATHERED, *table(**{"delta.autoOptimize.optimizeWrite": "true"}))
def changes_with_optimized_writes_and_no_partitions(p: Player, case: tuple[str, ...]) -> None:
    kept(p, case)


@AREA.situation()
def a_merge_through_a_view(p: Player) -> None:
    p.sql(*table(), "CREATE OR REPLACE TEMP VIEW {name} AS SELECT * FROM {t}")
    kept(p, (BOTH.replace("{t}", "{name}"),))


@AREA.situation()
def a_merge_that_brings_a_field(p: Player) -> None:
    p.conf("spark.databricks.delta.schema.autoMerge.enabled", "true")
    create(p, "v INT, x STRUCT<a: INT, c: INT>")
    p.sql("INSERT INTO {t} VALUES (0, struct(1, 10)), (1, struct(2, 2000))")
    p.sql(
        "MERGE INTO {t} t USING (SELECT 0 AS v, named_struct('a', 10, 'b', 100, 'c', 1000) AS x) s ON t.v = s.v "
        "WHEN MATCHED THEN UPDATE SET *"
    )
    p.rows(KEPT)
    p.schema()
    preserved(p)


# -- files whose columns of ids hold null


def add_file(p: Player, ids: str, versions: str) -> None:
    """Adds a file of 100 rows whose columns of ids and versions hold what expressions of `v` say."""
    version_name, id_name = columns(p)
    p.sql(
        f"SELECT id AS v, CAST({ids} AS BIGINT) AS `{id_name}`, CAST({versions} AS BIGINT) AS `{version_name}` "
        "FROM (SELECT id, id AS v FROM range(0, 100, 1, 1))"
    ).write.parquet(f"{p.at}/raw")
    (file,) = Path(p.at, "raw").glob("*.parquet")
    file.rename(Path(p.path, "added.parquet"))
    add = {
        "path": "added.parquet",
        "partitionValues": {},
        "size": Path(p.path, "added.parquet").stat().st_size,
        "modificationTime": 1,
        "dataChange": True,
        "stats": '{"numRecords":100}',
        "baseRowId": 0,
        "defaultRowCommitVersion": 1,
    }
    domain = {
        "domain": "delta.rowTracking",
        "configuration": '{"rowIdHighWaterMark":99}',
        "removed": False,
    }
    commit(p, 1, {"domainMetadata": domain}, {"add": add})


def commit(p: Player, version: int, *actions: dict[str, Any]) -> None:
    """A commit of another writer."""
    info = {"commitInfo": {"timestamp": 1, "operation": "WRITE", "operationParameters": {}}}
    text = "".join(json.dumps(a) + "\n" for a in (info, *actions))
    Path(p.path, f"_delta_log/{version:020}.json").write_text(text, encoding="utf-8")


FILES = {
    "all null": ("NULL", "NULL"),
    "no nulls": ("v + 10", "v + 100"),
    "mixed": ("IF(v % 2 = 0, v + 200, NULL)", "IF(v % 3 = 0, v + 100, NULL)"),
    "mixed, few values": ("IF(v % 2 = 0, v + 1000 + v % 2, NULL)", "IF(v % 3 = 0, 2000, NULL)"),
}


@AREA.family(FILES)
def columns_of_ids_that_hold_null(p: Player, case: tuple[str, str]) -> None:
    create(p, "v BIGINT")
    add_file(p, *case)
    p.rows("SELECT * FROM {t} WHERE v < 3")
    p.rows("SELECT count(*), sum(_metadata.row_id), sum(_metadata.row_commit_version) FROM {t}")
    for condition in ("row_id >= 50", "row_id = 1", "row_id < 100", "row_commit_version <= 100"):
        p.rows(KEPT + f" WHERE _metadata.{condition}")
    p.rows(KEPT + " WHERE _metadata.row_id <= 100 AND _metadata.row_commit_version <= 100 AND v > 90")


# -- the door of columns


@AREA.situation()
def the_columns_of_files_cannot_be_written(p: Player) -> None:
    create(p, "v BIGINT")
    p.sql("INSERT INTO {t} VALUES (1)")
    for name in columns(p):
        p.attempt(f"INSERT INTO {{t}} (v, `{name}`) VALUES (1, 2)")
    for name in ("_metadata.row_id", "_metadata.row_commit_version"):
        p.attempt(f"INSERT INTO {{t}} (v, {name}) VALUES (1, 2)")
        p.attempt(f"INSERT INTO {{t}} (v, `{name}`) VALUES (1, 2)")
    p.rows(KEPT)


@AREA.situation()
def types_of_the_fields(p: Player) -> None:
    create(p, "v BIGINT")
    p.sql("INSERT INTO {t} VALUES (1)")
    of = p.sql("SELECT _metadata.row_id, _metadata.row_commit_version FROM {t}")
    p.tell([[c.name, c.dataType.simpleString(), c.nullable] for c in of.schema])


@AREA.situation()
def columns_of_the_users_with_dots(p: Player) -> None:
    create(p, "`_metadata.row_id` BIGINT, `_metadata.row_commit_version` BIGINT")
    p.sql(
        "INSERT INTO {t} VALUES (5, 6), (7, 8)",
        "UPDATE {t} SET `_metadata.row_id` = 9 WHERE `_metadata.row_id` = 5",
    )
    p.rows(
        "SELECT `_metadata.row_id`, `_metadata.row_commit_version`, _metadata.row_id, "
        "_metadata.row_commit_version FROM {t}"
    )


@AREA.situation()
def highest_ids(p: Player) -> None:
    """What a table that got its ids later has."""
    p.sql(*LATER)
    mark(p)
    p.tell(sorted({d["domain"] for d in log(p, "domainMetadata")}))
    enable(p)
    mark(p)
