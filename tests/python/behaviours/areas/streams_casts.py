"""Types of a stream's batches that are not those of the table: values are cast, or the table's types widen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playing import Area

from areas.streaming import into

if TYPE_CHECKING:
    from playing import Player

AREA = Area("streams_casts")

# one row: l = 1, s = 'abc', d = '2024-07-29'
MADE = (
    "CREATE TABLE {t} (l BIGINT, s STRING, d STRING) USING delta",
    "INSERT INTO {t} VALUES (1, 'abc', '2024-07-29')",
)
MERGES = "spark.databricks.delta.schema.autoMerge.enabled"
POLICY = "spark.sql.storeAssignmentPolicy"
LONGEST = "l + 9223372036854775806 AS value"

WIDE = "USING delta TBLPROPERTIES ('delta.enableTypeWidening' = 'true')"
NARROW = "USING delta TBLPROPERTIES ('delta.enableTypeWidening' = 'false')"
BOTH = {MERGES: "true"}

Case = tuple[str, tuple[str, ...], dict[str, str]]


def cast(p: Player, case: Case) -> None:
    """A table of the first columns gets a batch of the second ones, under settings."""
    columns, batch, settings = case
    p.sql(f"CREATE TABLE {{u}} {columns}")
    for name, value in settings.items():
        p.conf(name, value)
    into(p, *batch)
    p.rows("SELECT * FROM {u}")
    p.schema("SELECT * FROM {u}")


SHORT: dict[str, Case] = {
    "bigint for int": ("(value INT) USING delta", ("l + 22 AS value",), {}),
    "too great by ANSI": ("(value INT) USING delta", (LONGEST,), {POLICY: "ANSI"}),
    "too great by STRICT": ("(value INT) USING delta", (LONGEST,), {POLICY: "STRICT"}),
    "struct": ("(s STRUCT<a: INT>) USING delta", ("named_struct('a', l) AS s",), {}),
    "evolution": (
        "(a DECIMAL(6, 3)) USING delta",
        ("l + 677 AS a", "s AS b"),
        {MERGES: "true"},
    ),
}
LONG: dict[str, Case] = {
    "too great by LEGACY": ("(value INT) USING delta", (LONGEST,), {POLICY: "LEGACY"}),
    "decimal": ("(value DECIMAL(6, 2)) USING delta", ("CAST(l + 97.7654 AS DECIMAL(10, 4)) AS value",), {}),
    "int for bigint": ("(value BIGINT) USING delta", ("CAST(l AS INT) AS value",), {}),
    "int for bigint by STRICT": (
        "(value BIGINT) USING delta",
        ("CAST(l AS INT) AS value",),
        {POLICY: "STRICT"},
    ),
    "date for string": ("(value STRING) USING delta", ("CAST(d AS DATE) AS value",), {}),
    "string for date": ("(value DATE) USING delta", ("d AS value",), {}),
    "text for int": ("(value INT) USING delta", ("s AS value",), {}),
    "text for int by LEGACY": ("(value INT) USING delta", ("s AS value",), {POLICY: "LEGACY"}),
    "map": ("(m MAP<INT, INT>) USING delta", ("map(l, CAST(l + 2 AS STRING)) AS m",), {}),
    "array": ("(a ARRAY<INT>) USING delta", ("array(l, l + 1) AS a",), {}),
    "array of structs": (
        "(a ARRAY<STRUCT<x: INT, y: STRING>>) USING delta",
        ("array(named_struct('y', s, 'x', l)) AS a",),
        {},
    ),
    "array for struct": ("(s STRUCT<a: INT>) USING delta", ("array(l) AS s",), {}),
    "struct for int": ("(s INT) USING delta", ("named_struct('a', l) AS s",), {}),
    "fields in another order": (
        "(s STRUCT<a: INT, b: STRING>) USING delta",
        ("named_struct('b', s, 'a', l) AS s",),
        {},
    ),
    "a field that is missing": (
        "(s STRUCT<a: INT, b: STRING>) USING delta",
        ("named_struct('a', l) AS s",),
        {},
    ),
    "a field more": ("(s STRUCT<a: INT>) USING delta", ("named_struct('a', l, 'b', s) AS s",), {}),
    "a field more that joins": (
        "(s STRUCT<a: INT>) USING delta",
        ("named_struct('a', l, 'b', s) AS s",),
        {MERGES: "true"},
    ),
    "partition": (
        "(day DATE, value INT) USING delta PARTITIONED BY (day)",
        ("CAST(d AS TIMESTAMP) AS day", "CAST(l AS DECIMAL(4, 1)) AS value"),
        {},
    ),
    "other case": ("(value BIGINT) USING delta", ("CAST(l AS INT) AS VALUE",), {}),
    "other case, told apart": (
        "(value BIGINT) USING delta",
        ("CAST(l AS INT) AS VALUE",),
        {"spark.sql.caseSensitive": "true"},
    ),
    "other case and another column": (
        "(a INT) USING delta",
        ("CAST(l AS INT) AS A", "l AS b"),
        {"spark.sql.caseSensitive": "true", MERGES: "true"},
    ),
    "a column that is missing": ("(a TIMESTAMP, b STRING) USING delta", ("CAST(d AS DATE) AS a",), {}),
    "a column more": ("(a INT) USING delta", ("l AS a", "s AS b"), {}),
    "NOT NULL": ("(a INT NOT NULL) USING delta", ("nullif(l, 1) AS a",), {}),
    "a rule": ("(a INT, b INT GENERATED ALWAYS AS (a + 1)) USING delta", ("l AS a",), {}),
    "char": ("(a CHAR(5), b VARCHAR(2)) USING delta", ("s AS a", "s AS b"), {}),
}


@AREA.grid(SHORT, *MADE)
def a_batch_of(p: Player, case: Case) -> None:
    cast(p, case)


@AREA.grid(LONG, *MADE, long=True)
def a_batch_with(p: Player, case: Case) -> None:
    cast(p, case)


# a value of each kind, and the types of columns that get each of them
GIVEN = {
    "boolean": "l = 1",
    "int": "CAST(l AS INT)",
    "double": "CAST(l AS DOUBLE)",
    "decimal": "CAST(l AS DECIMAL(6, 2))",
    "number": "CAST(l AS STRING)",
    "binary": "CAST('1' AS BINARY)",
    "date": "CAST(d AS DATE)",
    "timestamp": "CAST(d AS TIMESTAMP)",
    "array": "array(CAST(l AS INT))",
}
STORED = (
    "BOOLEAN",
    "INT",
    "DOUBLE",
    "DECIMAL(8, 3)",
    "STRING",
    "BINARY",
    "DATE",
    "TIMESTAMP",
    "TIMESTAMP_NTZ",
    "ARRAY<BIGINT>",
    "STRUCT<x: INT>",
)

FLAG = "l = 1 AS a"
FLAGS: dict[str, Case] = {
    "for an int": ("(a INT) USING delta", (FLAG,), {}),
    "for an int by LEGACY": ("(a INT) USING delta", (FLAG,), {POLICY: "LEGACY"}),
    "for an int by STRICT": ("(a INT) USING delta", (FLAG,), {POLICY: "STRICT"}),
    "for an int, with evolution": ("(a INT) USING delta", (FLAG, "s AS b"), BOTH),
    "for an int that widens": (f"(a SMALLINT) {WIDE}", (FLAG,), BOTH),
    "for a text": ("(a STRING) USING delta", (FLAG,), {}),
    "as another column": ("(b INT) USING delta", (FLAG, "l AS b"), BOTH),
    "in a struct": ("(s STRUCT<a: INT>) USING delta", ("named_struct('a', l = 1) AS s",), {}),
    "in an array": ("(s ARRAY<INT>) USING delta", ("array(l = 1) AS s",), {}),
    "in a map": ("(s MAP<STRING, INT>) USING delta", ("map(s, l = 1) AS s",), {}),
    "as a key": ("(s MAP<INT, STRING>) USING delta", ("map(l = 1, s) AS s",), {}),
    "in structs of an array": (
        "(s ARRAY<STRUCT<a: INT, b: BIGINT>>) USING delta",
        ("array(named_struct('b', CAST(l AS INT), 'a', l = 1)) AS s",),
        {},
    ),
    "beside a value that is cast": ("(a INT, b INT) USING delta", (FLAG, "l AS b"), {}),
    "for a partition": ("(b INT, a INT) USING delta PARTITIONED BY (a)", (FLAG, "l AS b"), {}),
    "nothing of it": ("(a INT) USING delta", ("CAST(NULL AS BOOLEAN) AS a",), {}),
}


@AREA.grid(FLAGS, *MADE)
def a_flag(p: Player, case: Case) -> None:
    cast(p, case)


FEW = ("boolean", "number", "binary"), ("BOOLEAN", "INT", "STRING", "BINARY", "DATE")


@AREA.family(
    {"ANSI": ("ANSI", tuple(GIVEN), STORED), "LEGACY": ("LEGACY", *FEW), "STRICT": ("STRICT", *FEW)}, quick=()
)
def a_value_of_each_kind_by(p: Player, case: tuple[str, tuple[str, ...], tuple[str, ...]]) -> None:
    """Each kind of value goes into a column of each type."""
    p.sql(*MADE)
    policy, given, types = case
    p.conf(POLICY, policy)
    for name in given:
        for stored in types:
            p.tell({"case": f"{name} for {stored}"})
            one = p.beside()
            one.sql(f"CREATE TABLE {{u}} (value {stored}) USING delta")
            into(one, f"{GIVEN[name]} AS value")
            one.rows("SELECT * FROM {u}")
            one.end()


@AREA.situation(long=True)
def after_a_rename_and_a_drop(p: Player) -> None:
    p.sql(*MADE)
    into(p, "CAST(l AS INT) AS a", "l + 99 AS b")
    p.sql("ALTER TABLE {u} SET TBLPROPERTIES ('delta.columnMapping.mode' = 'name')")
    p.sql("ALTER TABLE {u} DROP COLUMN a", "ALTER TABLE {u} RENAME COLUMN b TO a")
    p.sql("INSERT INTO {t} VALUES (17, 'x', 'y')")
    into(p, "CAST(l AS STRING) AS a")
    p.rows("SELECT * FROM {u}")
    p.schema("SELECT * FROM {u}")
    p.tell([row.operation for row in p.sql("DESCRIBE HISTORY {u}").orderBy("version").collect()])


AUTOMATIC = "spark.databricks.delta.typeWidening.allowAutomaticWidening"
WIDENED: dict[str, Case] = {
    "with all": (f"(value SMALLINT) {WIDE}", ("CAST(l + 100000 AS INT) AS value",), BOTH),
    "without evolution": (f"(value SMALLINT) {WIDE}", ("CAST(l AS INT) AS value",), {}),
    "without the property": (f"(value SMALLINT) {NARROW}", ("CAST(l AS INT) AS value",), BOTH),
}
WIDENED_TOO: dict[str, Case] = {
    "always, to double": (
        f"(value SMALLINT) {WIDE}",
        ("CAST(l AS DOUBLE) AS value",),
        {**BOTH, AUTOMATIC: "always"},
    ),
    "to decimal": (f"(value INT) {WIDE}", ("CAST(l AS DECIMAL(20, 0)) AS value",), BOTH),
    "to a type that is not wider": (f"(value INT) {WIDE}", ("CAST(l AS SMALLINT) AS value",), BOTH),
    "beside a column more": (
        f"(a SMALLINT) {WIDE}",
        ("CAST(l AS INT) AS a", "CAST(l AS DECIMAL(10, 2)) AS b"),
        BOTH,
    ),
    "beside one that is missing": (f"(a SMALLINT, b BIGINT) {WIDE}", ("CAST(l AS INT) AS a",), BOTH),
    "within a struct": (f"(s STRUCT<a: INT>) {WIDE}", ("named_struct('a', l + 5000000000) AS s",), BOTH),
    "of a partition column": (
        "(a INT, p INT) USING delta PARTITIONED BY (p) TBLPROPERTIES ('delta.enableTypeWidening' = 'true')",
        ("CAST(l AS INT) AS a", "l + 5000000000 AS p"),
        BOTH,
    ),
    "too great, without evolution": (f"(value INT) {WIDE}", (LONGEST,), {}),
}


@AREA.grid(WIDENED, *MADE)
def a_type_widens(p: Player, case: Case) -> None:
    cast(p, case)


@AREA.grid(WIDENED_TOO, *MADE, long=True)
def a_type_widens_or_not(p: Player, case: Case) -> None:
    cast(p, case)


@AREA.situation(long=True)
def a_type_widens_after_a_rename(p: Player) -> None:
    p.sql(*MADE)
    p.sql(
        "CREATE TABLE {u} (a SMALLINT, b DECIMAL(10, 0)) USING delta TBLPROPERTIES"
        " ('delta.enableTypeWidening' = 'true', 'delta.columnMapping.mode' = 'name')"
    )
    p.sql("ALTER TABLE {u} DROP COLUMN b", "ALTER TABLE {u} RENAME COLUMN a TO c")
    p.conf(MERGES, "true")
    into(p, "CAST(l AS INT) AS c")
    p.rows("SELECT * FROM {u}")
    p.schema("SELECT * FROM {u}")
    into(p, "l AS c", at="other", mergeSchema="false")
    into(p, "l AS c", at="third", mergeSchema="true")
    p.schema("SELECT * FROM {u}")
