"""Conditions that only Spark evaluates: of overwrites (`replaceWhere`), of OPTIMIZE and of REORG."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from playing import Area

if TYPE_CHECKING:
    from playing import Player

AREA = Area("spark_conditions")
METRICS = (
    "numFiles",
    "numRemovedFiles",
    "numOutputRows",
    "numDeletedRows",
    "numCopiedRows",
    "numAddedChangeFiles",
)
PROPERTIES = ("delta.enableDeletionVectors", "delta.enableChangeDataFeed", "delta.enableRowTracking")


def make(p: Player, *on: str, by: str = "") -> None:
    """The ids 0 to 11 two hours apart, and `p`, which is `x`, `y` or null."""
    given = ", ".join(f"'{name}' = '{str(name in on).lower()}'" for name in PROPERTIES)
    p.sql(
        "CREATE TABLE {t} (id INT, p STRING, ts TIMESTAMP, a ARRAY<INT>) USING delta "
        f"{f'PARTITIONED BY ({by})' if by else ''} TBLPROPERTIES ({given})",
        "INSERT INTO {t} SELECT CAST(id AS INT), element_at(array('x', 'y', NULL), CAST(id % 3 + 1 AS INT)), "
        "TIMESTAMP '2024-01-01 20:30:00' + make_interval(0, 0, 0, 0, CAST(id AS INT) * 2), "
        "array(CAST(id AS INT), 2) FROM range(0, 12, 1, 1)",
    )


def replaced(p: Player, where: str, *rows: tuple[int, str, str], **options: str) -> None:
    """Overwrites the rows of a condition, and tells what became of the table."""
    listed = ", ".join(f"({i}, '{part}', TIMESTAMP '{at}', array(1, {i}))" for i, part, at in rows)
    new = p.spark.sql(f"SELECT * FROM VALUES {listed} AS t (id, p, ts, a)").coalesce(1)
    given = {"replaceWhere": where, **options}
    p.attempt(lambda: new.write.format("delta").mode("overwrite").options(**given).save(p.path))
    p.rows()
    done = p.sql("DESCRIBE HISTORY {t} LIMIT 1").first()
    measured = {name: done.operationMetrics.get(name) for name in METRICS}
    p.tell([done.operation, done.operationParameters.get("predicate"), measured])


NEW = (102, "x", "2024-01-02 23:10:00")
CONDITIONS: dict[str, Any] = {
    "a day of another time zone": ("Europe/Berlin", "to_date(ts) = '2024-01-02'", [NEW]),
    "an hour of another time zone": ("America/Los_Angeles", "hour(ts) = 23", [NEW]),
    "a formatted time": ("UTC", "date_format(ts, 'yyyy-MM-dd') = '2024-01-02'", [NEW]),
    "a function on a partition": ("UTC", "hash(p) IS NOT NULL AND p = 'x'", [NEW]),
    "a lambda": ("UTC", "exists(a, x -> x > 9)", [(12, "y", "2024-01-02 23:10:00")]),
    "text that is like it": ("Europe/Berlin", "p ILIKE 'X%'", [NEW]),
    "the time of the session": ("Asia/Tokyo", "ts < now() AND id > 5", [NEW]),
}


@AREA.family(
    {
        f"{name}, {how}": (case, how)
        for name, case in CONDITIONS.items()
        for how in ("rows", "vectors", "partitions")
    }
)
def rows_of_a_condition(p: Player, given: tuple[tuple[str, str, list[tuple[int, str, str]]], str]) -> None:
    (zone, where, rows), how = given
    p.conf("spark.sql.session.timeZone", zone)
    on = {"rows": ("delta.enableChangeDataFeed",), "vectors": PROPERTIES, "partitions": ()}[how]
    make(p, *on, by="p" if how == "partitions" else "")
    replaced(p, where, *rows)


@AREA.situation()
def changes_of_an_overwrite(p: Player) -> None:
    make(p, "delta.enableChangeDataFeed")
    replaced(p, "exists(a, x -> x > 9)", (12, "y", "2024-01-02 23:10:00"))
    p.rows("SELECT id, p, _change_type FROM table_changes('{t}', 2)")


@AREA.situation()
def ids_of_rows_that_stay(p: Player) -> None:
    make(p, "delta.enableRowTracking")
    replaced(p, "exists(a, x -> x > 9)", (12, "y", "2024-01-02 23:10:00"))
    p.rows("SELECT id, _metadata.row_id FROM {t} WHERE id < 12")


@AREA.situation()
def columns_that_join(p: Player) -> None:
    make(p)
    new = p.spark.sql("SELECT 12 AS id, 'x' AS p, array(12) AS a, 'new' AS more")
    writer = new.write.format("delta").mode("overwrite").option("replaceWhere", "exists(a, x -> x > 9)")
    p.attempt(lambda: writer.save(p.path))
    p.attempt(lambda: writer.option("mergeSchema", "true").save(p.path))
    p.rows()


REFUSED = {
    "a subquery": "hash(id) > 0 AND id IN (SELECT 1)",
    "random": "rand() < 2",
    "an unknown column": "hash(nope) > 0",
    "an unknown function": "nope(id) > 0",
    "a number": "hash(id)",
    "a generator": "explode(a) > 1",
}


@AREA.family(REFUSED)
def what_is_no_condition(p: Player, where: str) -> None:
    make(p)
    replaced(p, where, NEW)


PARTITIONS = {
    "the day of the session": "d >= current_date() - INTERVAL 4000 DAYS",
    "a function": "hash(p) IS NOT NULL AND p = 'x'",
    "a pattern": "p LIKE ANY ('x%', 'z')",
    "a lambda": "exists(array(p), x -> x = 'y')",
    "nulls": "p <=> NULL AND hash(d) IS NOT NULL",
    "none": "p = current_user()",
    "random": "rand() < 2",
    "an unknown function": "nope(p) = 1",
    "another column": "hash(id) = 1",
    "an unknown column": "hash(nope) = 1",
    "a subquery": "hash(p) IN (SELECT 1)",
    "an aggregate": "sum(hash(p)) > 1",
    "a number": "hash(p)",
    "a text that is no number": "hash(p) = CAST(p AS INT)",
}


def files(p: Player) -> None:
    """Tells what the last commit did to the files, and how many the table has."""
    done = p.sql("DESCRIBE HISTORY {t} LIMIT 1").first()
    p.tell([done.operation, done.operationMetrics.get("numRemovedFiles")])
    p.tell(p.sql("DESCRIBE DETAIL {t}").first().numFiles)
    p.rows()


WAYS = {
    **{f"{name}, OPTIMIZE": (where, "OPTIMIZE") for name, where in PARTITIONS.items()},
    **{
        f"{name}, builder": (PARTITIONS[name], "builder")
        for name in ("a lambda", "another column", "a subquery")
    },
    **{
        f"{name}, REORG": (PARTITIONS[name], "REORG") for name in ("a pattern", "random", "an unknown column")
    },
}


@AREA.family(WAYS)
def partitions_of_a_condition(p: Player, given: tuple[str, str]) -> None:
    where, how = given
    p.conf("spark.sql.session.timeZone", "Europe/Berlin")
    p.sql("CREATE TABLE {t} (id INT, p STRING, d DATE) USING delta PARTITIONED BY (p, d)")
    for i in range(2):
        rows = f"({i}, 'x', DATE '2024-01-01'), ({i}, 'y', DATE '2024-01-02'), ({i}, NULL, DATE '2024-01-02')"
        p.sql(f"INSERT INTO {{t}} VALUES {rows}")
    if how == "REORG":
        p.sql("ALTER TABLE {t} SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')")
        p.sql("INSERT INTO {t} SELECT /*+ COALESCE(1) */ id, p, d FROM {t}", "DELETE FROM {t} WHERE id = 1")
        p.attempt(f"REORG TABLE {{t}} WHERE {where} APPLY (PURGE)")
    elif how == "builder":
        p.attempt(lambda: p.table().optimize().where(where).executeCompaction())
    else:
        p.attempt(f"OPTIMIZE {{t}} WHERE {where}")
    files(p)
