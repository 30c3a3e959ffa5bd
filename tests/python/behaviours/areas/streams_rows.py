"""A stream of a table whose rows are removed or changed: what ends it, and what comes under which option."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from playing import VECTORS, Area

from areas.streaming import reader, run

if TYPE_CHECKING:
    from playing import Player

AREA = Area("streams_rows")

DELETES, CHANGES, SKIPS = {"ignoreDeletes": "true"}, {"ignoreChanges": "true"}, {"skipChangeCommits": "true"}
OPTIONS: dict[str, dict[str, str]] = {
    "none": {},
    "ignoreDeletes": DELETES,
    "ignoreChanges": CHANGES,
    "skipChangeCommits": SKIPS,
}
TOGETHER: dict[str, dict[str, str]] = {
    "ignoreFileDeletion": {"ignoreFileDeletion": "true"},
    "deletes and changes": {**DELETES, **CHANGES},
    "changes and commits": {**CHANGES, **SKIPS},
    "deletes and commits": {**DELETES, **SKIPS},
    "all": {**DELETES, **CHANGES, **SKIPS},
    "none of them": {"ignoreDeletes": "false", "ignoreChanges": "false", "skipChangeCommits": "false"},
}


def rows(first: int, end: int) -> str:
    """A statement that adds a file with these rows."""
    return f"INSERT INTO {{t}} SELECT /*+ COALESCE(1) */ CAST(id AS INT) FROM range({first}, {end})"


WHOLE_FILES = (
    "CREATE TABLE {t} (id INT) USING delta",
    rows(0, 3),
    "DELETE FROM {t}",
    rows(3, 5),
    "INSERT OVERWRITE {t} SELECT /*+ COALESCE(1) */ CAST(id AS INT) FROM range(5, 8)",
    rows(8, 10),
)


@AREA.grid(OPTIONS, *WHOLE_FILES)
def files_that_are_removed_and_replaced(p: Player, options: dict[str, str]) -> None:
    run(p, startingVersion=0, maxFilesPerTrigger=1, **options)


@AREA.grid(TOGETHER, *WHOLE_FILES, long=True)
def files_that_are_removed_and_replaced_with(p: Player, options: dict[str, str]) -> None:
    run(p, startingVersion=0, maxFilesPerTrigger=1, **options)


def deleted(first: str, vectors: str) -> tuple[str, ...]:
    """A table of two files, then a statement and a delete of some rows."""
    made = f"CREATE TABLE {{t}} (id INT) USING delta TBLPROPERTIES ('{VECTORS}' = '{vectors}')"
    return made, rows(0, 3), rows(3, 6), first, "DELETE FROM {t} WHERE id = 4"


def in_one_batch(p: Player, options: dict[str, str]) -> None:
    """All of it within one batch, and what is left at the end as the start of a query."""
    run(p, startingVersion=0, **options)


@AREA.grid(OPTIONS, *deleted("DELETE FROM {t} WHERE id = 3", "true"))
def two_deletes_with_vectors(p: Player, options: dict[str, str]) -> None:
    in_one_batch(p, options)


@AREA.grid(OPTIONS, *deleted(rows(6, 8), "true"), long=True)
def an_insert_and_a_delete_with_vectors(p: Player, options: dict[str, str]) -> None:
    in_one_batch(p, options)


@AREA.grid(OPTIONS, *deleted("DELETE FROM {t} WHERE id = 3", "false"), long=True)
def two_deletes(p: Player, options: dict[str, str]) -> None:
    in_one_batch(p, options)


CHANGING: dict[str, Any] = {
    "update": "UPDATE {t} SET id = 10 WHERE id = 1",
    "update of all": "UPDATE {t} SET id = id + 10",
    "merge": (
        "MERGE INTO {t} USING (SELECT 1 AS id UNION ALL SELECT 20 AS id) AS s ON {t}.id = s.id"
        " WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT (id) VALUES (s.id)"
    ),
    "merge that inserts": (
        "MERGE INTO {t} USING (SELECT 20 AS id) AS s ON {t}.id = s.id"
        " WHEN NOT MATCHED THEN INSERT (id) VALUES (s.id)"
    ),
    "optimize": "OPTIMIZE {t}",
    "restore": "RESTORE {t} TO VERSION AS OF 1",
    "truncate": "TRUNCATE TABLE {t}",
}


@AREA.grid(
    CHANGING,
    f"CREATE TABLE {{t}} (id INT) USING delta TBLPROPERTIES ('{VECTORS}' = 'true')",
    rows(0, 3),
    rows(3, 6),
    long=True,
)
def a_commit_of(p: Player, statement: str) -> None:
    """Under no option, one after the other in a checkpoint of its own, and under the one that passes over it."""
    # the name of the table in a condition
    p.sql(statement.replace("MERGE INTO {t}", "MERGE INTO {t} AS t").replace("{t}.id", "t.id"))
    run(p, startingVersion=0)
    run(p, at="ignoring", startingVersion=0, ignoreChanges="true")
    run(p, at="skipping", startingVersion=0, skipChangeCommits="true")


@AREA.situation()
def values_beside_vectors(p: Player) -> None:
    """Nulls, arrays, structs and variants keep to their rows where others are deleted, also by two vectors."""
    made = "CREATE TABLE {t} (id INT, s STRING, n INT, a ARRAY<INT>, v VARIANT) USING delta TBLPROPERTIES"
    p.sql(f"{made} ('{VECTORS}' = 'true')")
    p.sql(
        "INSERT INTO {t} SELECT /*+ COALESCE(1) */ CAST(id AS INT), IF(id % 3 = 0, NULL, 's' || id),"
        " IF(id % 4 = 1, NULL, CAST(id AS INT)), array(CAST(id * 10 AS INT), NULL),"
        " parse_json('{\"row\":' || id || '}') FROM range(10)"
    )
    p.sql("DELETE FROM {t} WHERE id % 2 = 0", "DELETE FROM {t} WHERE id = 5")
    columns = ("id", "s", "n", "a[0] AS a0", "a[1] AS a1", "variant_get(v, '$.row', 'long') AS row")
    run(p, lambda: reader(p).selectExpr(*columns))
    p.sql(
        "INSERT INTO {t} VALUES (NULL, 'x', NULL, NULL, parse_json('[1, 2]')), (12, NULL, 1, array(3, 4), NULL)"
    )
    run(p, lambda: reader(p).selectExpr("id", "s", "n", "a[0]", "CAST(v AS STRING)"))


@AREA.situation(long=True)
def deletes_between_two_runs(p: Player) -> None:
    """A query without an option stops at them for good; with one it goes on."""
    p.sql("CREATE TABLE {t} (id INT) USING delta", rows(0, 3))
    run(p)
    p.sql("DELETE FROM {t}", rows(3, 5))
    run(p)
    run(p)
    run(p, ignoreDeletes="true")
    p.sql("UPDATE {t} SET id = 9 WHERE id = 3")
    run(p, ignoreDeletes="true")
    run(p, ignoreChanges="true")
