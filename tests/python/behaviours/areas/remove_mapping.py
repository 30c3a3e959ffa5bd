"""Column mapping that is taken away by its property, and the change feed over that."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playing import FEED, VECTORS, Area

if TYPE_CHECKING:
    from playing import Player

AREA = Area("remove_mapping")

MODE = "delta.columnMapping.mode"
SET = f"ALTER TABLE {{t}} SET TBLPROPERTIES ('{MODE}' = 'none')"
UNSET = f"ALTER TABLE {{t}} UNSET TBLPROPERTIES ('{MODE}')"


def _is_plain(p: Player) -> None:
    """Tells whether the schema of the log has a mapping, and the properties."""
    schema = next(a["metaData"] for a in p.actions() if "metaData" in a)["schemaString"]
    p.tell(["columnMapping" in schema, p.sql("DESCRIBE DETAIL {t}").first().properties])


def _files(p: Player) -> None:
    """Tells whether the commit changes data, and what files are partitioned by."""
    files = [a for a in p.actions() if "add" in a or "remove" in a]
    p.tell(sorted({(next(iter(a)), next(iter(a.values()))["dataChange"]) for a in files}))
    p.tell(sorted(sorted(a["add"]["partitionValues"].items()) for a in files if "add" in a))


MADE = {
    "of one partition": ("p INT", "PARTITIONED BY (p)", ""),
    "of two partitions": ("p INT, q INT", "PARTITIONED BY (p, q)", ""),
    "by id": ("p INT", "", "id"),
    "with vectors": ("p INT", "", "vectors"),
    "with tracked rows": ("p INT", "", "tracked"),
    "with a feed": ("p INT", "", "feed"),
}


@AREA.grid({f"{name}, {how}": (*case, how) for name, case in MADE.items() for how in ("SET", "UNSET")})
def the_way_back(p: Player, case: tuple[str, str, str, str]) -> None:
    columns, parts, more, how = case
    mode = "id" if more == "id" else "name"
    properties = {
        "vectors": f", '{VECTORS}' = 'true'",
        "tracked": ", 'delta.enableRowTracking' = 'true'",
        "feed": f", '{FEED}' = 'true'",
    }.get(more, "")
    p.sql(f"""CREATE TABLE {{t}} (a INT, b INT, {columns}) USING delta {parts}
        TBLPROPERTIES ('{MODE}' = '{mode}'{properties})""")
    values = "1, 2, 3, 4" if "q" in columns else "1, 2, 3"
    p.sql(
        f"INSERT INTO {{t}} VALUES ({values})",
        f"INSERT INTO {{t}} SELECT * FROM VALUES ({values}), ({values})",
    )
    p.sql("ALTER TABLE {t} RENAME COLUMN b TO c", "ALTER TABLE {t} ADD COLUMN n INT")
    if more == "vectors":
        p.sql("INSERT INTO {t} VALUES (7, 7, 7, 7)", "DELETE FROM {t} WHERE a = 7")
    if more == "tracked":
        p.rows(p.read().select("a", "_metadata.row_id", "_metadata.row_commit_version"))
    p.attempt(SET if how == "SET" else UNSET)
    p.commit(metrics=False)
    _is_plain(p)
    _files(p)
    p.rows()
    if more == "tracked":
        p.rows(p.read().select("a", "_metadata.row_id", "_metadata.row_commit_version"))
    if more == "feed":
        p.changes()
    p.attempt(f"INSERT INTO {{t}} VALUES ({values}, 9)", "ALTER TABLE {t} RENAME COLUMN c TO d")
    p.rows()


@AREA.situation()
def rules_stay(p: Player) -> None:
    p.sql(
        f"""CREATE TABLE {{t}} (a INT NOT NULL, g INT GENERATED ALWAYS AS (a * 2)) USING delta
        TBLPROPERTIES ('{MODE}' = 'name')""",
        "ALTER TABLE {t} ADD CONSTRAINT c CHECK (a < 10)",
        "INSERT INTO {t} (a) VALUES (1)",
        SET,
    )
    p.attempt(
        "INSERT INTO {t} (a) VALUES (2)",
        "INSERT INTO {t} VALUES (3, 7)",
        "INSERT INTO {t} (a) VALUES (10)",
    )
    p.rows()
    p.logged_schema()


@AREA.situation()
def a_dropped_column_comes_again_empty(p: Player) -> None:
    p.sql("CREATE TABLE {t} (a INT, b INT) USING delta", "INSERT INTO {t} VALUES (1, 2)")
    p.sql(
        f"ALTER TABLE {{t}} SET TBLPROPERTIES ('{MODE}' = 'name')",
        "ALTER TABLE {t} DROP COLUMN b",
        SET,
        "ALTER TABLE {t} ADD COLUMN b INT",
    )
    p.rows()
    p.rows(p.read(versionAsOf=1))


OTHERS = {
    "SET with another": f"ALTER TABLE {{t}} SET TBLPROPERTIES ('{MODE}' = 'none', 'x' = '2')",
    "SET with a wrong one": f"ALTER TABLE {{t}} SET TBLPROPERTIES ('{MODE}' = 'none', 'location' = '2')",
    "UNSET with another": f"ALTER TABLE {{t}} UNSET TBLPROPERTIES ('{MODE}', 'x')",
    "UNSET, if exists": f"ALTER TABLE {{t}} UNSET TBLPROPERTIES IF EXISTS ('{MODE}', 'zzz')",
}


@AREA.grid(
    OTHERS,
    f"CREATE TABLE {{t}} (a INT) USING delta TBLPROPERTIES ('{MODE}' = 'name', 'x' = '1', 'y' = '1')",
    "INSERT INTO {t} VALUES (1)",
    long=True,
)
def with_other_properties(p: Player, statement: str) -> None:
    p.attempt(statement)
    if "location" not in statement:
        p.tell(p.sql("DESCRIBE DETAIL {t}").first().properties)
    p.rows()


@AREA.grid({"SET": SET, "UNSET": UNSET})
def names_that_need_it(p: Player, statement: str) -> None:
    p.sql(
        f"CREATE TABLE {{t}} (a INT, `b()` INT, s STRUCT<`c d`: INT>) USING delta TBLPROPERTIES ('{MODE}' = 'name')"
    )
    p.attempt(statement)
    p.tell(p.sql("DESCRIBE DETAIL {t}").first().properties.get(MODE))


@AREA.situation()
def a_table_without_it(p: Player) -> None:
    p.sql(
        f"CREATE TABLE {{t}} (a INT) USING delta TBLPROPERTIES ('{MODE}' = 'none')",
        "INSERT INTO {t} VALUES (1)",
    )
    p.attempt(SET, UNSET)
    p.tell(p.sql("DESCRIBE DETAIL {t}").first().properties)
    p.rows()


# -- change feeds: each phase of the table has a first and a last append, and ranges lie between these

CHANGES = {"renamed": "ALTER TABLE {t} RENAME COLUMN b TO c", "dropped": "ALTER TABLE {t} DROP COLUMN b"}


def _ranges(p: Player, phases: int) -> None:
    """Tells of ranges whether they can be read: from the first append of a phase to the last one of another."""
    # a phase is a change of the table and two appends; the first one is its creation
    for first in range(phases):
        for last in range(first, phases):
            start, end = 3 * first + 1, 3 * last + 2
            p.tell([first, last])
            p.attempt(
                lambda s=start, e=end: p.read(readChangeFeed="true", startingVersion=s, endingVersion=e)
            )


@AREA.grid(CHANGES, long=True)
def the_feed_over_the_way_back(p: Player, change: str) -> None:
    row = "INSERT INTO {t} SELECT * FROM {t} LIMIT 1"
    mapped = f"ALTER TABLE {{t}} SET TBLPROPERTIES ('{MODE}' = 'name')"
    p.sql(f"CREATE TABLE {{t}} (a INT, b INT, d INT) USING delta TBLPROPERTIES ('{FEED}' = 'true')")
    p.sql("INSERT INTO {t} VALUES (1, 2, 3)", row)
    for statement in (mapped, change, SET):
        p.sql(statement, row, row)
    _ranges(p, 4)
    p.sql(mapped, row, row)
    _ranges(p, 5)
    p.rows(p.read(readChangeFeed="true", startingVersion=10, endingVersion=11).drop("_commit_timestamp"))
