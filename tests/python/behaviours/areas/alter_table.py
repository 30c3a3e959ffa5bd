"""ALTER TABLE: properties, place, and columns; SHOW COLUMNS."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playing import Area

if TYPE_CHECKING:
    from playing import Player

AREA = Area("alter_table")

DEEP = """CREATE TABLE {t} (v INT COMMENT 'of v', s STRUCT<x: INT, y: STRING COMMENT 'of y', i: STRUCT<z: INT>>,
    l ARRAY<STRUCT<x: INT, y: INT>>,
    m MAP<STRUCT<k: INT, j: INT>, STRUCT<x: INT, y: INT>>, n MAP<STRING, INT>, o ARRAY<ARRAY<STRUCT<x: INT>>>,
    r STRUCT<a: STRUCT<x: INT> NOT NULL, b: INT NOT NULL> NOT NULL) USING delta"""
ROW = """INSERT INTO {t} SELECT 1, named_struct('x', 1, 'y', 'a', 'i', named_struct('z', 1)),
    array(named_struct('x', 1, 'y', 2)),
    map(named_struct('k', 1, 'j', 2), named_struct('x', 3, 'y', 4)), map('a', 1), array(array(named_struct('x', 1))),
    named_struct('a', named_struct('x', 1), 'b', 2)"""

# -- columns

ADDS = {
    "first": "n2 INT FIRST",
    "after": "n2 INT AFTER v",
    "after, in other case": "n2 INT AFTER V",
    "after none": "n2 INT AFTER zzz",
    "two": "n2 INT FIRST, n3 STRING AFTER n2",
    "a struct, not null within": "n2 STRUCT<a: INT NOT NULL>",
    "there, in other case": "V INT",
    "twice": "n2 INT, n2 INT",
    "a field": "s.n2 INT",
    "a field, first": "s.n2 INT FIRST",
    "a field, after": "s.n2 INT AFTER x",
    "a field, after none": "s.n2 INT AFTER zzz",
    "a field that is there": "s.x INT",
    "a field that is there, in other case": "s.X INT",
    "a deep field": "s.i.n2 INT FIRST",
    "into an element": "l.element.n2 INT",
    "into an element, after": "l.element.n2 INT AFTER x",
    "into an element, without the step": "l.n2 INT",
    "into a key": "m.key.n2 INT",
    "into a value": "m.value.n2 INT FIRST",
    "into a map": "m.n2 INT",
    "into elements of elements": "o.element.element.n2 INT",
    "into no struct": "v.n2 INT",
    "into a value that is no struct": "n.value.n2 INT",
    "into none": "zzz.n2 INT",
    "an element": "l.element INT",
    "a key": "m.key INT",
    "a dotted name": "`n.2` INT",
    "a name with a comma": "`n,2` INT",
    "of the change feed": "_change_type STRING",
}


@AREA.grid(ADDS, DEEP, ROW, long=True)
def add_columns(p: Player, columns: str) -> None:
    p.attempt(f"ALTER TABLE {{t}} ADD COLUMNS ({columns})")
    p.schema()


CHANGES = {
    "a comment of a field": "s.y COMMENT 'x'",
    "a comment of a deep field": "s.i.z COMMENT 'x'",
    "a comment of an array": "l COMMENT 'x'",
    "a comment of an element": "l.element COMMENT 'x'",
    "a comment of a field of elements": "l.element.x COMMENT 'x'",
    "a comment of a key": "m.key COMMENT 'x'",
    "a comment of a value": "m.value COMMENT 'x'",
    "a comment of a field of keys": "m.key.k COMMENT 'x'",
    "a comment of no field": "s.zzz COMMENT 'x'",
    "first": "n FIRST",
    "after": "v AFTER s",
    "after itself": "v AFTER v",
    "after the last": "v AFTER r",
    "after none": "v AFTER zzz",
    "a field, first": "s.y FIRST",
    "a field, after": "s.x AFTER i",
    "a field, after a column": "s.x AFTER v",
    "a field of elements": "l.element.y FIRST",
    "a field of keys": "m.key.j FIRST",
    "a field of values": "m.value.x AFTER y",
    "another type": "v TYPE BIGINT",
    "a text": "v TYPE STRING",
    "the same type": "v TYPE INT",
    "a narrower type": "v TYPE BYTE",
    "a field of another type": "s.x TYPE BIGINT",
    "an element of another type": "l.element TYPE INT",
    "a value of another type": "n.value TYPE BIGINT",
    "a key of another type": "n.key TYPE INT",
    "a struct": "s TYPE STRUCT<x: INT>",
    "an array": "l TYPE ARRAY<INT>",
    "the type void": "v TYPE VOID",
    "a field, not null": "s.x SET NOT NULL",
    "a struct, null": "r DROP NOT NULL",
    "a struct within, null": "r.a DROP NOT NULL",
    "a field, null": "r.b DROP NOT NULL",
    "a value, null": "m.value DROP NOT NULL",
    "a value, not null": "m.value SET NOT NULL",
    "an element, null": "l.element DROP NOT NULL",
    "an element, not null": "l.element SET NOT NULL",
    "a default": "v SET DEFAULT 5",
}


@AREA.grid(CHANGES, DEEP, ROW, long=True)
def alter_column(p: Player, change: str) -> None:
    p.attempt(f"ALTER TABLE {{t}} ALTER COLUMN {change}")
    p.schema()


@AREA.grid(
    {
        "renamed": "CHANGE COLUMN v w INT",
        "the same": "CHANGE COLUMN v v INT",
        "a comment": "CHANGE COLUMN v v INT COMMENT 'x'",
        "a type": "CHANGE COLUMN v v BIGINT",
        "a place": "CHANGE COLUMN v v INT AFTER s",
        "both": "CHANGE COLUMN v v INT COMMENT 'x' FIRST",
    },
    DEEP,
)
def change_column(p: Player, change: str) -> None:
    p.attempt(f"ALTER TABLE {{t}} {change}")
    p.schema()


REPLACED = {
    "the same": "v INT, s STRUCT<x: INT, y: STRING>",
    "one more": "v INT, s STRUCT<x: INT, y: STRING>, n INT",
    "in another order": "s STRUCT<x: INT, y: STRING>, v INT",
    "a field more": "v INT, s STRUCT<x: INT, y: STRING, z: INT>",
    "a comment": "v INT COMMENT 'x', s STRUCT<x: INT, y: STRING>",
    "not null": "v INT NOT NULL, s STRUCT<x: INT, y: STRING>",
    "in other case": "V INT, S STRUCT<X: INT, y: STRING>",
    "twice": "v INT, V INT, s STRUCT<x: INT, y: STRING>",
}


@AREA.grid(
    REPLACED,
    "CREATE TABLE {t} (v INT, s STRUCT<x: INT, y: STRING>) USING delta",
    "INSERT INTO {t} SELECT 1, struct(1, 'a')",
    long=True,
)
def replace_columns(p: Player, columns: str) -> None:
    p.attempt(f"ALTER TABLE {{t}} REPLACE COLUMNS ({columns})")
    p.schema()
    p.rows()


LOST = {
    "another name": "w INT, s STRUCT<x: INT, y: STRING>, l ARRAY<INT>",
    "a wider type": "v BIGINT, s STRUCT<x: INT, y: STRING>, l ARRAY<INT>",
    "another type": "v STRING, s STRUCT<x: INT, y: STRING>, l ARRAY<INT>",
    "no struct": "v INT, s STRING, l ARRAY<INT>",
    "another name of a field": "v INT, s STRUCT<x: INT, z: STRING>, l ARRAY<INT>",
    "a field less": "v INT, s STRUCT<x: INT>, l ARRAY<INT>",
    "a column less": "v INT, l ARRAY<INT>",
    "other elements": "v INT, s STRUCT<x: INT, y: STRING>, l ARRAY<STRING>",
    "not null": "v INT NOT NULL, s STRUCT<x: INT, y: STRING>, l ARRAY<INT>",
}


@AREA.grid(LOST, "CREATE TABLE {t} (v INT, s STRUCT<x: INT, y: STRING>, l ARRAY<INT>) USING delta")
def replace_columns_that_would_be_lost(p: Player, columns: str) -> None:
    p.attempt(f"ALTER TABLE {{t}} REPLACE COLUMNS ({columns})")
    p.schema()


MOVES = {
    "a partition column, first": "p FIRST",
    "a partition column, after": "p AFTER a",
    "a partition column's comment": "p COMMENT 'x'",
    "after the partition column": "a AFTER p",
    "its type": "p TYPE BIGINT",
}


@AREA.grid(
    MOVES,
    "CREATE TABLE {t} (a INT, b INT, p INT) USING delta PARTITIONED BY (p)",
    "INSERT INTO {t} VALUES (1, 2, 3)",
    long=True,
)
def partitioned_tables(p: Player, change: str) -> None:
    p.attempt(f"ALTER TABLE {{t}} ALTER COLUMN {change}", "INSERT INTO {t} (a, b, p) VALUES (4, 5, 6)")
    p.rows()
    p.tell(p.sql("DESCRIBE DETAIL {t}").first().partitionColumns)


# -- CHAR and VARCHAR

TEXTS = {
    "CHAR to STRING": ("CHAR(4)", "STRING"),
    "CHAR to VARCHAR": ("CHAR(4)", "VARCHAR(8)"),
    "CHAR to a shorter VARCHAR": ("CHAR(4)", "VARCHAR(3)"),
    "CHAR to a longer CHAR": ("CHAR(4)", "CHAR(8)"),
    "VARCHAR to STRING": ("VARCHAR(4)", "STRING"),
    "VARCHAR to a longer one": ("VARCHAR(4)", "VARCHAR(8)"),
    "VARCHAR to a shorter one": ("VARCHAR(4)", "VARCHAR(3)"),
    "VARCHAR to CHAR": ("VARCHAR(4)", "CHAR(4)"),
    "STRING to VARCHAR": ("STRING", "VARCHAR(4)"),
}
WITHIN = {
    "a column": ("c {}", "c", "{}"),
    "a field": ("c STRUCT<f: {}>", "c.f", "struct({})"),
    "an element": ("c ARRAY<{}>", "c.element", "array({})"),
    "a value": ("c MAP<STRING, {}>", "c.value", "map('k', {})"),
}


@AREA.grid(
    {
        f"{name}, {place}": (*texts, *at)
        for name, texts in TEXTS.items()
        for place, at in WITHIN.items()
        if place == "a column" or name in ("CHAR to STRING", "VARCHAR to a longer one")
    },
    long=True,
)
def lengths_of_texts(p: Player, case: tuple[str, str, str, str, str]) -> None:
    old, new, column, path, value = case
    p.sql(f"CREATE TABLE {{t}} ({column.format(old)}) USING delta")
    p.attempt(
        f"ALTER TABLE {{t}} ALTER COLUMN {path} TYPE {new}",
        *(f"INSERT INTO {{t}} SELECT {value.format(repr('x' * n))}" for n in (6, 10)),
    )
    p.rows()
    p.logged_schema()


NESTED = """CREATE TABLE {t} (a INT, s STRUCT<x: STRING, z: INT>, l ARRAY<STRUCT<m: STRING>>,
    k MAP<STRING, STRUCT<v: STRING>>) USING delta"""
# columns that are added, and values of which the first fits and the others do not
ADDED_TEXTS = {
    "a field": ("s.n VARCHAR(2)", "named_struct('x', 'long', 'z', 1, 'n', {}) AS s", "'ab'", "'abc'"),
    "a first field": (
        "s.n CHAR(3) FIRST",
        "named_struct('n', {}, 'x', 'long', 'z', 1) AS s",
        "'ab'",
        "'abcd'",
    ),
    "into an element": (
        "l.element.n CHAR(3)",
        "array(named_struct('m', 'x', 'n', {})) AS l",
        "'ab'",
        "'abcd'",
    ),
    "into a value": (
        "k.value.n VARCHAR(3)",
        "map('k', named_struct('v', 'x', 'n', {})) AS k",
        "'abc'",
        "'abcd'",
    ),
    "within a field": (
        "s.n STRUCT<q: VARCHAR(3), r: INT>",
        "named_struct('x', 'long', 'z', 1, 'n', named_struct('q', {}, 'r', 1)) AS s",
        "'abc'",
        "'abcd'",
    ),
    "two": (
        "s.n VARCHAR(2), s.o CHAR(3)",
        "named_struct('x', 'a', 'z', 1, 'n', {}) AS s",
        "'ab', 'o', 'a'",
        "'abc', 'o', 'a'",
        "'ab', 'o', 'abcd'",
    ),
}


@AREA.grid(ADDED_TEXTS, NESTED, long=True)
def lengths_of_texts_that_are_added_within_columns(p: Player, case: tuple[str, ...]) -> None:
    columns, rows, *values = case
    p.sql(f"ALTER TABLE {{t}} ADD COLUMNS ({columns})")
    p.attempt(*(f"INSERT INTO {{t}} BY NAME SELECT 2 AS a, {rows.format(value)}" for value in values))
    p.rows()
    p.logged_schema()


@AREA.situation(
    differs="delta-spark forgets the lengths of the other fields when one with a length joins them"
)
def lengths_of_texts_beside_one_that_is_added(p: Player) -> None:
    p.sql("CREATE TABLE {t} (s STRUCT<x: VARCHAR(3), y: CHAR(4)>) USING delta")
    p.sql("ALTER TABLE {t} ADD COLUMN s.n VARCHAR(2)")
    p.attempt("INSERT INTO {t} SELECT named_struct('x', 'abcd', 'y', 'c', 'n', 'ab')")
    p.rows()
    p.logged_schema()


@AREA.grid(
    {
        "one that changes": "REPLACE COLUMNS (v VARCHAR(9), w STRING, s STRUCT<x: STRING>)",
        "one that joins": "REPLACE COLUMNS (v STRING, w VARCHAR(9), s STRUCT<x: STRING>)",
        "one within a column that changes": "REPLACE COLUMNS (v STRING, w STRING, s STRUCT<x: VARCHAR(9)>)",
        "none": "REPLACE COLUMNS (v STRING, w STRING, s STRUCT<x: STRING>)",
    },
    "CREATE TABLE {t} (v VARCHAR(3), w STRING, s STRUCT<x: VARCHAR(3)>) USING delta",
    long=True,
)
def lengths_of_texts_of_replaced_columns(p: Player, statement: str) -> None:
    p.attempt(f"ALTER TABLE {{t}} {statement}", "INSERT INTO {t} VALUES ('abcd', 'w', struct('x'))")
    p.rows()
    p.logged_schema()


@AREA.situation()
def comments_keep_lengths(p: Player) -> None:
    p.sql("CREATE TABLE {t} (c CHAR(4), v VARCHAR(4), s STRUCT<c: CHAR(4)>) USING delta")
    p.sql(
        "ALTER TABLE {t} ALTER COLUMN c COMMENT 'x'",
        "ALTER TABLE {t} ALTER COLUMN v COMMENT 'y'",
        "ALTER TABLE {t} ALTER COLUMN v FIRST",
    )
    p.attempt(
        "INSERT INTO {t} (c) VALUES ('12345')",
        "INSERT INTO {t} (v) VALUES ('12345')",
        "INSERT INTO {t} (s) SELECT struct('12345')",
    )
    p.logged_schema()


# -- properties

PROPERTIES = {
    "a known one in other case": "SET TBLPROPERTIES ('DELTA.appendonly' = 'true')",
    "an interval": "SET TBLPROPERTIES ('delta.logRetentionDuration' = 'interval 2 weeks')",
    "an interval without the word": "SET TBLPROPERTIES ('delta.logRetentionDuration' = '2 weeks')",
    "both, right": (
        "SET TBLPROPERTIES ('delta.logRetentionDuration' = 'interval 2 days', "
        "'delta.deletedFileRetentionDuration' = 'interval 1 days')"
    ),
    "both, equal by other units": (
        "SET TBLPROPERTIES ('delta.logRetentionDuration' = 'interval 2 days', "
        "'delta.deletedFileRetentionDuration' = 'interval 48 hours')"
    ),
    "unset": "UNSET TBLPROPERTIES ('x')",
    "unset in other case": "UNSET TBLPROPERTIES ('X')",
    "unset of none, if exists": "UNSET TBLPROPERTIES IF EXISTS ('zzz', 'x')",
    "unset of a known one": "UNSET TBLPROPERTIES ('delta.checkpointInterval')",
    "unset of a known one in other case": "UNSET TBLPROPERTIES ('DELTA.CHECKPOINTINTERVAL')",
    "a comment": "SET TBLPROPERTIES ('comment' = 'of the table')",
    "a comment unset": "UNSET TBLPROPERTIES ('comment')",
    "a location": "SET TBLPROPERTIES ('location' = 'x')",
    "a provider": "SET TBLPROPERTIES ('provider' = 'parquet')",
    "an owner": "SET TBLPROPERTIES ('owner' = 'me')",
    "external": "SET TBLPROPERTIES ('external' = 'true')",
    "random prefixes": "SET TBLPROPERTIES ('delta.randomizeFilePrefixes' = 'true')",
    "an empty name": "SET TBLPROPERTIES ('' = 'x')",
    "an empty value": "SET TBLPROPERTIES ('a' = '')",
    "an isolation level": "SET TBLPROPERTIES ('delta.isolationLevel' = 'Serializable')",
}


@AREA.grid(
    PROPERTIES,
    "CREATE TABLE {t} (a INT) USING delta COMMENT 'old' TBLPROPERTIES ('x' = 'y', 'delta.checkpointInterval' = '7')",
    long=True,
)
def properties(p: Player, statement: str) -> None:
    p.attempt(f"ALTER TABLE {{t}} {statement}")
    row = p.sql("DESCRIBE DETAIL {t}").first()
    p.tell([row.properties, row.description])


@AREA.situation()
def random_prefixes_come_and_go(p: Player) -> None:
    p.sql("CREATE TABLE {t} (a INT, p INT) USING delta PARTITIONED BY (p)", "INSERT INTO {t} VALUES (1, 1)")
    p.sql(
        "ALTER TABLE {t} SET TBLPROPERTIES ('delta.randomizeFilePrefixes' = 'true', 'delta.randomPrefixLength' = '3')"
    )
    p.sql("INSERT INTO {t} VALUES (2, 1)")
    p.tell([len(a["add"]["path"].split("/")[0]) for a in p.actions() if "add" in a])
    p.sql(
        "ALTER TABLE {t} UNSET TBLPROPERTIES ('delta.randomizeFilePrefixes')", "INSERT INTO {t} VALUES (3, 1)"
    )
    p.tell([a["add"]["path"].split("/")[0] for a in p.actions() if "add" in a])
    p.rows("SELECT * FROM {t} WHERE p = 1")


VIEWED = {
    "ADD COLUMN": "ALTER TABLE v ADD COLUMN n INT",
    "ALTER COLUMN": "ALTER TABLE v ALTER COLUMN a COMMENT 'x'",
    "SET TBLPROPERTIES": "ALTER TABLE v SET TBLPROPERTIES ('a' = 'b')",
    "CLUSTER BY": "ALTER TABLE v CLUSTER BY (a)",
    "REPLACE COLUMNS": "ALTER TABLE v REPLACE COLUMNS (a INT)",
    "SHOW COLUMNS": "SHOW COLUMNS IN v",
}


@AREA.situation()
def temporary_views(p: Player) -> None:
    p.sql("CREATE TABLE {t} (a INT) USING delta", "CREATE OR REPLACE TEMPORARY VIEW v AS SELECT * FROM {t}")
    try:
        for name, statement in VIEWED.items():
            p.tell({"case": name})
            p.attempt(statement)
    finally:
        p.sql("DROP VIEW v")


SHOWN = {
    "by path": "SHOW COLUMNS IN {t}",
    "by name": "SHOW COLUMNS IN {name}",
    "in its database": "SHOW COLUMNS IN {name} IN default",
    "in its database, in other case": "SHOW COLUMNS IN {name} IN DEFAULT",
    "in another database": "SHOW COLUMNS IN default.{name} IN zzz",
    "in the same database": "SHOW COLUMNS IN default.{name} IN default",
    "of nothing": "SHOW COLUMNS IN nothing_there",
    "of Parquet": "SHOW COLUMNS IN parquet.`{at}/p`",
}


@AREA.situation()
def show_columns(p: Player) -> None:
    p.sql(f"CREATE TABLE {{name}} (a INT, B STRUCT<c: INT>) USING delta LOCATION '{p.path}'")
    p.spark.range(1).write.parquet(f"{p.at}/p")
    for name, statement in SHOWN.items():
        p.tell({"case": name})
        p.attempt(statement)
    p.rows(SHOWN["by path"])
    p.rows(SHOWN["in its database"])


# -- what overtakes a command

OVERTAKEN = {
    "a column of the frame is dropped": ("ALTER TABLE {t} DROP COLUMN v",),
    "it is dropped and comes again": ("ALTER TABLE {t} DROP COLUMN v", "ALTER TABLE {t} ADD COLUMN v INT"),
    "it is dropped, another gets its name": (
        "ALTER TABLE {t} DROP COLUMN v",
        "ALTER TABLE {t} RENAME COLUMN w TO v",
    ),
    "a column joins": ("ALTER TABLE {t} ADD COLUMN n INT",),
}


@AREA.grid(
    {
        f"{what}, {name}": (sql, what)
        for name, sql in OVERTAKEN.items()
        for what in ("an append", "a read", "a merge source")
    },
    "CREATE TABLE {t} (v INT, w INT) USING delta TBLPROPERTIES ('delta.columnMapping.mode' = 'name')",
    "INSERT INTO {t} VALUES (1, 2)",
    long=True,
)
def frames_that_are_overtaken(p: Player, case: tuple[tuple[str, ...], str]) -> None:
    statements, what = case
    p.sql("CREATE TABLE {u} (v INT, w INT) USING delta")
    kept = p.read()
    p.sql(*statements)
    if what == "an append":
        p.attempt(lambda: kept.write.format("delta").mode("append").save(f"{p.at}/u"))
    elif what == "a read":
        p.attempt(lambda: kept)
    else:
        p.attempt(
            lambda: (
                p.table(f"{p.at}/u")
                .alias("t")
                .merge(kept.alias("s"), "t.v = s.v")
                .whenNotMatchedInsertAll()
                .execute()
            )
        )
    p.rows("SELECT * FROM {u}")


# -- values that properties cannot have, and what is about folders

WRONG_VALUES = {
    "an interval without a unit": "'delta.logRetentionDuration' = '30'",
    "a mapping mode": "'delta.columnMapping.mode' = 'other'",
    "the highest id": "'delta.columnMapping.maxColumnId' = '5'",
    "a column of row tracking": "'delta.rowTracking.materializedRowIdColumnName' = 'x'",
}


@AREA.grid(WRONG_VALUES, "CREATE TABLE {t} (a INT) USING delta")
def values_that_properties_cannot_have(p: Player, value: str) -> None:
    p.attempt(
        f"ALTER TABLE {{t}} SET TBLPROPERTIES ({value})",
        f"CREATE TABLE {{u}} (a INT) USING delta TBLPROPERTIES ({value})",
    )


WRONG_AT_FIRST = {
    "an interval of months": "'delta.deletedFileRetentionDuration' = 'interval 2 months'",
    "an isolation level": "'delta.isolationLevel' = 'SnapshotIsolation'",
}


@AREA.grid(WRONG_AT_FIRST)
def values_that_new_tables_cannot_have(p: Player, value: str) -> None:
    p.attempt(f"CREATE TABLE {{u}} (a INT) USING delta TBLPROPERTIES ({value})")


FOLDERS = {
    "SET LOCATION": "ALTER TABLE {t} SET LOCATION '{at}/u'",
    "ADD PARTITION": "ALTER TABLE {t} ADD PARTITION (k = 5)",
    "DROP PARTITION": "ALTER TABLE {t} DROP PARTITION (k = 1)",
    "RENAME PARTITION": "ALTER TABLE {t} PARTITION (k = 1) RENAME TO PARTITION (k = 2)",
    "RECOVER PARTITIONS": "ALTER TABLE {t} RECOVER PARTITIONS",
    "TRUNCATE PARTITION": "TRUNCATE TABLE {t} PARTITION (k = 1)",
    "MSCK": "MSCK REPAIR TABLE {t}",
    "SET SERDE": "ALTER TABLE {t} SET SERDE 'x'",
    "ANALYZE": "ANALYZE TABLE {t} COMPUTE STATISTICS",
    "ANALYZE COLUMNS": "ANALYZE TABLE {t} COMPUTE STATISTICS FOR ALL COLUMNS",
    "LOAD DATA": "LOAD DATA INPATH '{at}/x' INTO TABLE {t}",
}


@AREA.grid(
    FOLDERS, "CREATE TABLE {t} (a INT, k INT) USING delta PARTITIONED BY (k)", "INSERT INTO {t} VALUES (1, 1)"
)
def what_is_about_folders(p: Player, statement: str) -> None:
    """By path, and by name."""
    p.attempt(statement)
    p.rows()
    if "LOCATION" not in statement:
        p.sql("CREATE TABLE {name} USING delta LOCATION '{at}/t'")
        p.attempt(statement.replace("{t}", "{name}"))
        p.rows()
