"""Which of two transactions that begin at one version may both land: statements against commits of data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from playing import VECTORS, Area

from areas.races import newest, race

if TYPE_CHECKING:
    from playing import Player

AREA = Area("conflicts")

TABLE = "CREATE TABLE {t} (id BIGINT, p INT) USING delta PARTITIONED BY (p) TBLPROPERTIES "


def start(**properties: str) -> tuple[str, ...]:
    """A table of two files in partition 1, whose ids lie apart, and one file in partition 2."""
    given = {"delta.isolationLevel": "Serializable", VECTORS: "false", **properties}
    return (
        TABLE + "(" + ", ".join(f"'{k}' = '{v}'" for k, v in given.items()) + ")",
        "INSERT INTO {t} SELECT id, 1 FROM range(1, 4, 1, 1)",
        "INSERT INTO {t} SELECT id, IF(id < 20, 1, 2) FROM range(17, 23, 1, 1)",
    )


FILES = start()
WITH_VECTORS = start(**{VECTORS: "true"})


def overwrite(rows: str, **options: str) -> Any:
    return lambda p: p.write(rows, mode="overwrite", **options)


FIRST: dict[str, Any] = {
    "append": "INSERT INTO {t} SELECT win(id), 1 FROM range(100, 101, 1, 1)",
    "append of rows of partition 1": "INSERT INTO {t} SELECT win(id) + 100, 3 FROM {t} WHERE p = 1",
    "append of rows of all": "INSERT INTO {t} SELECT win(id) + 100, 3 FROM {t}",
    "delete of a row": "DELETE FROM {t} WHERE p = 1 AND id = 2 AND win(id) = 2",
    "update": "UPDATE {t} SET id = -id WHERE p = 1 AND id = 2 AND win(id) = 2",
    "merge": "MERGE INTO {t} t USING (SELECT win(id) AS id FROM range(2, 4, 1, 1)) s ON t.p = 1 AND t.id = s.id "
    "WHEN MATCHED THEN UPDATE SET id = -s.id WHEN NOT MATCHED THEN INSERT (id, p) VALUES (s.id, 1)",
    "overwrite": overwrite("SELECT win(id) AS id, 1 AS p FROM range(100, 101, 1, 1)"),
    "replaceWhere": overwrite(
        "SELECT win(id) AS id, 1 AS p FROM range(100, 101, 1, 1)", replaceWhere="p = 1"
    ),
    "dynamic overwrite": overwrite(
        "SELECT win(id) AS id, 1 AS p FROM range(100, 101, 1, 1)", partitionOverwriteMode="dynamic"
    ),
}
OTHERS: dict[str, Any] = {
    "append": "INSERT INTO {t} SELECT id, 1 FROM range(0, 5, 1, 1)",
    "append elsewhere": "INSERT INTO {t} SELECT id, 2 FROM range(0, 5, 1, 1)",
    "append of its own rows": "INSERT INTO {t} SELECT id, p FROM {t} WHERE id < 4",
    "delete of the row": "DELETE FROM {t} WHERE id = 2",
    "delete of a row beside": "DELETE FROM {t} WHERE id = 3",
    "delete of the other file": "DELETE FROM {t} WHERE id IN (17, 18, 19)",
    "delete elsewhere": "DELETE FROM {t} WHERE p = 2",
    "update": "UPDATE {t} SET id = 2 WHERE id = 3",
    "update elsewhere": "UPDATE {t} SET id = 2 WHERE id = 21",
    "overwrite": "INSERT OVERWRITE {t} SELECT id, 1 FROM range(0, 5, 1, 1)",
    "application": lambda p: p.write(
        "SELECT id, 2 AS p FROM range(0, 5, 1, 1)", txnAppId="a", txnVersion="1"
    ),
}


CASES = {f: (FILES, f) for f in FIRST} | {"overwrite, vectors": (WITH_VECTORS, "overwrite")}


# what the merge reads of that file is nothing, by its statistics
RULED_OUT = ("merge", "delete of the other file")


@AREA.family(CASES, quick={"merge"})
def of_data(p: Player, case: tuple[tuple[str, ...], str]) -> None:
    begun, first = case
    for name in p.each(n for n in OTHERS if (first, n) != RULED_OUT):
        race(p, begun, OTHERS[name], FIRST[first])
        p.rows()
        newest(p)


KEPT = "a compaction changes no rows: who read them has read nothing else"


@AREA.family(
    CASES,
    {"append of rows of partition 1": KEPT, "append of rows of all": KEPT},
    quick={"append of rows of all", "merge"},
)
def beside_a_compaction(p: Player, case: tuple[tuple[str, ...], str]) -> None:
    begun, first = case
    race(p, begun, "OPTIMIZE {t}", FIRST[first])
    p.rows()
    newest(p)


@AREA.situation(differs="statistics tell that the merge read nothing of the file")
def beside_a_file_that_statistics_rule_out(p: Player) -> None:
    first, other = RULED_OUT
    race(p, FILES, OTHERS[other], FIRST[first])
    p.rows()
    newest(p)
