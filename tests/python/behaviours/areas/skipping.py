"""Which files a condition leaves: those that each engine opens, and the rows that it finds in them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from playing import Area

from areas.logs import copy, forget_checksums, put

if TYPE_CHECKING:
    from playing import Player

AREA = Area("skipping")

LISTED = "delta.dataSkippingStatsColumns"
COUNT = "delta.dataSkippingNumIndexedCols"


def scans(plan: Any) -> list[Any]:
    """The scans of files of a plan, in its order."""
    name = plan.getClass().getSimpleName()
    if name == "AdaptiveSparkPlanExec":
        return scans(plan.executedPlan())
    if name == "FileSourceScanExec":
        return [plan]
    children = plan.children()
    return [scan for i in range(children.size()) for scan in scans(children.apply(i))]


def opened(p: Player, *conditions: str, of: str = "{t}") -> None:
    """Tells of each condition how many rows it finds, and of how many files.

    One query asks all: what a query costs is more than what its conditions cost. A condition that Spark folds
    has no scan in it, and is left to `folded`.
    """
    branches = (f"SELECT {n} AS n FROM {of} WHERE {condition}" for n, condition in enumerate(conditions))
    df = p.sql(" UNION ALL ".join(branches))
    found = [row.n for row in df.collect()]
    files = [
        scan.metrics().apply("numFiles").value() for scan in scans(df._jdf.queryExecution().executedPlan())
    ]
    if len(files) != len(conditions):
        raise ValueError(f"{len(files)} scans for {len(conditions)} conditions")
    for n, condition in enumerate(conditions):
        p.tell([condition[:60], found.count(n), files[n]])


def make(p: Player, columns: str, rows: str, *properties: str, by: str = "", of: str = "{t}") -> None:
    given = f" TBLPROPERTIES ({', '.join(properties)})" if properties else ""
    p.sql(f"CREATE TABLE {of} ({columns}) USING delta{by}{given}")
    p.sql(f"INSERT INTO {of} SELECT /*+ COALESCE(1) */ * FROM VALUES {rows}")


# -- one value, and many


@AREA.situation()
def comparisons_of_one_value(p: Player) -> None:
    make(p, "a INT", "(1)")
    for test in ("= 1", "<=> 1", ">= 1", "<= 1", "<= 2", ">= 0"):
        opened(p, f"a {test}")
    opened(p, "1 = a", "1 <=> a", "1 <= a", "1 >= a", "2 >= a", "0 <= a", "NOT a <=> 2")
    opened(p, "NOT a = 1", "NOT a <=> 1", "a = 2", "a <=> 2", "a != 1", "2 = a", "2 <=> a", "1 != a", "a > 1")
    opened(p, "a < 1", "a >= 2", "a <= 0", "1 < a", "1 > a", "2 <= a", "0 >= a")


@AREA.situation()
def comparisons_in_structs(p: Player) -> None:
    make(
        p,
        "a STRUCT<b: INT, c: STRUCT<d: INT>>",
        "(named_struct('b', 1, 'c', named_struct('d', 1)))",
    )
    for name in ("a.b", "a.c.d"):
        opened(
            p, *(f"{name} {test}" for test in ("= 1", ">= 1", "<= 1", "<= 2", ">= 0", "= 2", "> 1", "< 1"))
        )


@AREA.situation()
def long_texts_and_prefixes(p: Player) -> None:
    for of, values in (
        ("{t}", "(repeat('A', 1000)), ('B'), ('C')"),
        ("{u}", "('A'), ('B'), (repeat('C', 1000))"),
    ):
        make(p, "a STRING", values, of=of)
    low, high = "A" * 1000, "C" * 1000
    opened(p, "a LIKE 'A%'", f"a = '{low}'", "a > 'BA'", "a < 'AB'", "a < 'AA'", "a > 'CD'")
    tests = (
        "a LIKE 'A%'",
        "a LIKE 'C%'",
        f"a = '{high}'",
        "a > 'BA'",
        "a < 'AB'",
        "a > 'CC'",
        "a >= 'D'",
        "a > 'CD'",
    )
    opened(p, *tests, of="{u}")
    p.path = f"{p.at}/v"
    make(p, "a STRING, s STRUCT<b: STRING>", "('apple', struct('apple')), ('microsoft', struct('microsoft'))")
    for name in ("a", "s.b"):
        opened(p, *(f"{name} LIKE '{text}'" for text in ("a%", "ap%", "m%", "mic%", "xyz%")))


@AREA.situation()
def conditions_of_two_columns(p: Player) -> None:
    make(p, "a INT, b STRING", "(1, '2017-09-01'), (2, '2017-08-31')")
    opened(
        p, "a > 0 AND a < 3", "a <= 1 AND a > -1", "a < 0 AND a > -2", "a > 0 OR a < -3", "a >= 2 OR a < -1"
    )
    opened(p, "a > 5 OR a < -2", "NOT a < 0", "NOT a > 0", "a > 0 AND b = '2017-09-01'")
    opened(p, "a = 2 AND b >= '2017-08-30'", "a >= 2 AND b LIKE '2017-08-%'", "a > 0 AND b LIKE '2016-%'")
    opened(p, "a < 0 OR b = '2017-09-01'", "a = 2 OR b < '2017-08-30'", "a < 2 OR b LIKE '2017-08-%'")
    opened(p, "a >= 2 OR b LIKE '2016-08-%'", "a < 0 OR b LIKE '2016-%'")


@AREA.situation()
def conditions_with_a_side_that_statistics_do_not_know(p: Player) -> None:
    make(p, "a INT, b INT", "(10, 10), (20, 20)")
    for word in ("AND", "OR"):
        opened(
            p,
            f"a % 100 < 10 {word} b % 100 > 20",
            f"a < 10 {word} b % 100 > 20",
            f"a % 100 < 10 {word} b > 20",
            f"a < 10 {word} b > 20",
            f"NOT (a % 100 >= 10 {word} b % 100 <= 20)",
            f"NOT (a >= 10 {word} b % 100 <= 20)",
            f"NOT (a % 100 >= 10 {word} b <= 20)",
            f"NOT (a >= 10 {word} b <= 20)",
        )


# -- columns without statistics


@AREA.situation()
def columns_without_statistics(p: Player) -> None:
    make(p, "a INT, b INT", "(1, 10), (2, 20)", f"'{COUNT}' = '1'")
    opened(p, "b < 10", "a < 1 OR b < 10", "a < 1 OR (a >= 1 AND b < 10)", "a < 1 AND b < 10")
    opened(p, "a < 1 OR (a > 10 AND b < 10)")
    opened(p, "NOT ((a > 0) IS NULL)", "(b > 0) IS NULL", "(b > 1 AND a > 0) IS NULL")
    opened(p, "(a > 0) IS NULL", "(a > 1 AND a > 0) IS NULL", "(a > 1 OR a < 0) IS NULL")


NESTED = "a INT, b STRUCT<c: STRUCT<d: INT, e: INT, f: STRUCT<g: INT, h: INT, i: INT>, j: INT, k: INT>, l: INT>, m INT"
LEAVES = ("a", "b.c.d", "b.c.e", "b.c.f.g", "b.c.f.h", "b.c.f.i", "b.c.j", "b.c.k", "b.l", "m")


@AREA.grid(
    {
        "0": {COUNT: "0"},
        "3": {COUNT: "3"},
        "6": {COUNT: "6"},
        "9": {COUNT: "9"},
        "a space": {COUNT: "3", LISTED: " "},
        "a struct": {COUNT: "3", LISTED: "b.c"},
        "some leaves": {COUNT: "3", LISTED: "b.c.e, b.c.f.h, b.c.k, b.l"},
    },
    f"CREATE TABLE {{t}} ({NESTED}) USING delta",
)
def leaves_with_statistics(p: Player, given: dict[str, str]) -> None:
    properties = ", ".join(f"'{name}' = '{value}'" for name, value in given.items())
    p.sql(f"ALTER TABLE {{t}} SET TBLPROPERTIES ({properties})")
    p.sql("INSERT INTO {t} SELECT 1, struct(struct(2, 3, struct(4, 5, 6), 7, 8), 9), 10")
    opened(p, *(f"{leaf} < 0" for leaf in LEAVES))


@AREA.situation()
def lists_with_backticks_and_arrays(p: Player) -> None:
    mapped = "'delta.columnMapping.mode' = 'name'"
    make(
        p,
        "a INT, `b.c` INT, b STRUCT<c: INT, d: INT>",
        "(1, 2, struct(3, 4))",
        f"'{LISTED}' = '`a`, `b.c`, `b`.`d`'",
        mapped,
    )
    opened(p, "b.c < 0", "a < 0", "`b.c` < 0", "b.d < 0")
    p.path = f"{p.at}/v"
    make(
        p,
        "a STRUCT<b: ARRAY<INT>, c: ARRAY<INT>, d: INT, e: INT, f: STRUCT<g: INT>>, i INT",
        "(struct(array(1, 2), array(4), 7, 8, struct(9)), 10)",
        f"'{LISTED}' = 'a'",
    )
    opened(p, "i < 0", "a.d > 6", "a.f.g < 10", "a.d < 0", "a.e < 0", "a.f.g < 0")


@AREA.situation()
def truth_and_arrays(p: Player) -> None:
    p.conf("spark.sql.ansi.enabled", "false")
    make(p, "a BOOLEAN, l ARRAY<INT>", "(false, array(3, 4))")
    opened(
        p, "!a", "NOT a", "a", "a = false", "NOT a = false", "a > true", "a <= false", "true < a", "a = true"
    )
    opened(p, "NOT (element_at(l, 3) IS NULL)", "element_at(l, 3) IS NULL")


# -- nulls


ALL_NULL = ("a IS NULL", "a <=> NULL", "NOT a <=> 1", "(a > 1) IS NULL", "(a > 1 AND a > 0) IS NULL")
TESTS = ("a IS NOT NULL", "NOT a <=> NULL", "a = 1", "NOT a = 1", "a > 1", "a < 1", "a <> 1", "a <=> 1")


@AREA.situation()
def nulls_and_values(p: Player) -> None:
    for n, rows in enumerate(("(CAST(NULL AS INT))", "(NULL), (1)", "(1)")):
        p.path = f"{p.at}/t{n}"
        make(p, "a INT", rows)
        opened(p, *ALL_NULL, "(a > 1 OR a < 0) IS NULL", "NOT ((a > 1) IS NULL)", "(a < 0) IS NULL", *TESTS)


@AREA.situation()
def nulls_of_what_is_made_of_two(p: Player) -> None:
    make(p, "a INT, b INT", "(1, 2)")
    opened(p, "(a > 0 AND b > 1) IS NULL", "(a > 0 OR b > 1) IS NULL", "(a > 0 OR b > 1) IS NOT NULL")
    long = " OR ".join(["a > 0", *(f"b = {n}" for n in (-1, -2, 7)), "b > 10"])
    opened(p, f"({long}) IS NULL", f"NOT (({long}) IS NULL)")


@AREA.situation()
def statistics_that_are_replaced(p: Player) -> None:
    """The same file, added again without statistics, or with none in them."""
    for n, stats in enumerate((None, "{}")):
        p.path = f"{p.at}/t{n}"
        make(p, "value INT", "(1), (2), (3)")
        path = copy(p, f"again{n}")
        forget_checksums(path)
        add = next(a for a in p.actions(1, path) if "add" in a)
        add["add"].pop("stats") if stats is None else add["add"].update(stats=stats)
        put(path, 2, p.actions(1, path)[0], add)
        opened(p, "value > 0", "value > 5", of=f"delta.`{path}`")
        p.rows(f"SELECT count(*), min(value) FROM delta.`{path}`")


@AREA.situation()
def statistics_after_optimize(p: Player) -> None:
    for first in (0, 5):
        p.write(p.spark.range(first, first + 5, 1, 1))
    for _ in range(2):
        found = [a["add"]["stats"] for v in (0, 1, 2) for a in _actions(p, v) if "add" in a]
        p.tell(sorted(json.dumps(json.loads(s), sort_keys=True) for s in found))
        opened(p, "id = 1", "id = 7", "id > 8", "id > 9")
        p.sql("OPTIMIZE {t}")


def _actions(p: Player, version: int) -> list[dict[str, Any]]:
    try:
        return p.actions(version)
    except FileNotFoundError:
        return []


@AREA.situation()
def a_number_of_columns_that_changes(p: Player) -> None:
    names = [f"c{n}" for n in range(37)]
    p.write(p.spark.range(10).selectExpr(*(f"{n} AS {name}" for n, name in enumerate(names))).coalesce(1))
    for number in (32, 36, 37, 38, 0):
        p.sql(f"ALTER TABLE {{t}} SET TBLPROPERTIES ('{COUNT}' = '{number}')")
        rows = p.spark.range(10).selectExpr(*(f"{n} AS {name}" for n, name in enumerate(names))).coalesce(1)
        p.write(rows, mode="overwrite")
        stats = next(json.loads(a["add"]["stats"]) for a in p.actions() if "add" in a)
        p.tell([stats["numRecords"], list(stats.get("minValues", {}))[-1:], len(stats.get("nullCount", {}))])
        opened(p, "c0 < 0", "c35 < 0", "c36 < 0")


@AREA.situation()
def a_condition_on_a_hundred_columns(p: Player) -> None:
    names = [f"c_{n}" for n in range(101)]
    p.sql(f"CREATE TABLE {{t}} ({', '.join(f'{name} INT' for name in names)}) USING delta")
    p.sql(f"INSERT INTO {{t}} VALUES ({', '.join(str(n) for n in range(101))})")
    p.rows("SELECT c_0 FROM {t} WHERE " + " AND ".join(f"{name} != 1000" for name in names))
    p.rows("SELECT c_0 FROM {t} WHERE " + " AND ".join(f"{name} != 1" for name in names))


# -- frames that are not as the table


TWO_OF_THREE = (
    "col3 = 10",
    "col1 = 1",
    "col2 = 2",
    "col3 = 3",
    "col1 = 5",
    "col1 = 5 AND col2 = 10",
    "col1 = 5 AND col3 = 10",
    "col2 = 10",
    "col2 = 5 AND col3 = 10",
    "col1 = 5 AND col2 = 10 AND col3 = 10",
)


@AREA.grid(
    {
        "another order": "SELECT 2 AS col2, 3 AS col3, 1 AS col1",
        "another case": "SELECT 2 AS COL2, 3 AS Col3, 1 AS coL1",
    },
    f"CREATE TABLE {{t}} (col1 INT, col2 INT, col3 INT) USING delta TBLPROPERTIES ('{COUNT}' = '2')",
)
def frames_in_another_order(p: Player, rows: str) -> None:
    p.write(rows)
    opened(p, *TWO_OF_THREE)
    p.sql(f"ALTER TABLE {{t}} SET TBLPROPERTIES ('{COUNT}' = '3')")
    # delta-spark opens the file where one side of AND has no statistics, although the other leaves it out
    opened(
        p,
        *(
            condition
            for condition in TWO_OF_THREE
            if "AND col3" not in condition and "10 AND" not in condition
        ),
    )


@AREA.situation()
def a_column_that_moves_after_it_has_statistics(p: Player) -> None:
    p.sql(f"CREATE TABLE {{t}} (col2 INT, col3 INT, col1 INT) USING delta TBLPROPERTIES ('{COUNT}' = '2')")
    p.write("SELECT 2 AS col2, 3 AS col3, 1 AS col1")
    p.sql("ALTER TABLE {t} ALTER COLUMN col1 FIRST")
    p.rows("SELECT * FROM {t} WHERE col1 = 1 AND col3 = 3")
    opened(p, "col1 = 1", "col2 = 2", "col3 = 3", "col1 = 5", "col2 = 10", "col2 = 5 AND col3 = 10")


PERSON = "name STRUCT<first: STRING, middle: STRING, last: STRING>, id STRING, gender STRING, salary INT"
NAMES = (
    "gender = 'M'",
    "salary = 3100",
    "name.first = 'Michael'",
    "name.middle = 'L'",
    "name.last = 'Miller'",
    "id = '10000'",
    "name.first = 'Robert' AND name.middle = ''",
    "name.first = 'Robert' AND salary = 3100",
)


@AREA.grid(
    {
        "all": "SELECT 3100 AS salary, 'M' AS gender,"
        " named_struct('first', 'James', 'middle', '', 'last', 'Smith') AS name, '36636' AS id",
        "some": "SELECT 2000 AS salary, named_struct('first', 'Robert', 'last', 'Johnson') AS name, '40000' AS id",
    },
    f"CREATE TABLE {{t}} ({PERSON}) USING delta PARTITIONED BY (id) TBLPROPERTIES ('{COUNT}' = '3')",
)
def frames_of_structs(p: Player, rows: str) -> None:
    p.write(rows)
    opened(p, *NAMES)


@AREA.grid(
    {
        "the first two": ("b", "SELECT 1 AS a, 2 AS b"),
        "without one": ("b", "SELECT 1 AS a, 2 AS b, 4 AS d, 5 AS e"),
        "the last two": ("", "SELECT 4 AS d, 5 AS e"),
    }
)
def frames_that_lack_columns(p: Player, case: tuple[str, str]) -> None:
    by, rows = case
    p.sql(
        "CREATE TABLE {t} (a INT, b INT, c INT, d INT, e INT) USING delta"
        + (f" PARTITIONED BY ({by})" if by else "")
        + f" TBLPROPERTIES ('{COUNT}' = '3')"
    )
    p.write(rows)
    opened(p, *(f"{name} = 20" for name in "abcde"), "a = 1", "c <=> null", "d IS NULL", "c IS NOT NULL")
    opened(p, "isnotnull(d)", "a = 20 AND c = 20", "a = 20 AND e = 20")


@AREA.situation()
def frames_of_maps_and_arrays(p: Player) -> None:
    p.conf("spark.sql.ansi.enabled", "false")
    p.sql(
        "CREATE TABLE {t} (a INT, b MAP<STRING, INT>, c ARRAY<INT>, d INT, e INT) USING delta"
        f" TBLPROPERTIES ('{COUNT}' = '3')"
    )
    p.write("SELECT map('key', 2) AS b, array(3, 3, 3) AS c, 4 AS d")
    opened(
        p,
        "d = 50",
        "e = 50",
        "c = array(50, 50)",
        "isnull(b)",
        "c IS NULL",
        "element_at(c, 10) IS NULL",
        "a = 50",
    )


# -- other columns


@AREA.situation()
def generated_columns(p: Player) -> None:
    table = p.tables.create(p.spark).location(p.path).addColumn("col1", "INT").addColumn("col2", "STRING")
    table.addColumn("gen", "STRING", generatedAlwaysAs="substring(col2, 3, 2)").execute()
    p.write("SELECT 1 AS col1, 'test string' AS col2")
    opened(p, "gen = 'st'", "col1 = 10", "col2 = 'test'", "gen = 'test'")


TYPES = (
    "c1 BIGINT, c2 STRING, c3 FLOAT, c4 DOUBLE, c5 TIMESTAMP, c6 TIMESTAMP_NTZ, c7 DATE, c8 BINARY,"
    " c9 BOOLEAN, c10 DECIMAL(3, 2)"
)
ROWS = (
    "(1, '1', 1.0, 1.0, TIMESTAMP '2001-01-01 01:00', TIMESTAMP_NTZ '2001-01-01 01:00', DATE '2001-01-01',"
    " CAST('1111' AS BINARY), true, 1.0), (2, '2', 2.0, 2.0, TIMESTAMP '2002-02-02 02:00',"
    " TIMESTAMP_NTZ '2002-02-02 02:00', DATE '2002-02-02', CAST('2222' AS BINARY), false, 2.0)"
)
OF_TYPES = {
    "1": ("= 1", "= 10"),
    "2": ("= '2'", "= '4'"),
    "3": ("< 1.5", "< 0.5"),
    "4": ("> 1.0",),
    "5": ("> '2001-01-01 01:00:00'", "> '2003-01-01 01:00:00'"),
    "6": ("> '2001-01-01 01:00:00'", "> '2003-01-01 01:00:00'"),
    "7": ("= '2002-02-02'", "= '2003-02-02'"),
    "8": ("= CAST('1111' AS BINARY)", "= CAST('3333' AS BINARY)"),
    "9": ("= true", "= false"),
    "10": ("> 1.5", "> 2.5"),
}
LIST = f"'{LISTED}' = 'c1,c2,c3,c4,c5,c6,c7,c10'"


@AREA.situation()
def a_list_of_every_type(p: Player) -> None:
    mapped = "'delta.columnMapping.mode' = 'name'"
    for how in p.each(("create", "alter", "rename", "drop")):
        given = {"create": LIST, "alter": "'a' = 'b'"}.get(how, f"{LIST}, {mapped}")
        p.sql(f"CREATE TABLE {{t}} ({TYPES}) USING delta TBLPROPERTIES ({given})")
        name, gone = "c", ()
        if how == "alter":
            p.sql(f"ALTER TABLE {{t}} SET TBLPROPERTIES ({LIST})")
        elif how == "rename":
            name = "cc"
            for n in OF_TYPES:
                p.sql(f"ALTER TABLE {{t}} RENAME COLUMN c{n} TO cc{n}")
        elif how == "drop":
            gone = ("2", "8", "9")
            p.sql("ALTER TABLE {t} DROP COLUMNS (c2, c8, c9)")
        p.rows(f"SHOW TBLPROPERTIES {{t}} ('{LISTED}')")
        kept = ", ".join(f"col{n}" for n in OF_TYPES if n not in gone)
        p.sql(f"INSERT INTO {{t}} SELECT /*+ COALESCE(1) */ {kept} FROM VALUES {ROWS}")
        opened(p, *(f"{name}{n} {test}" for n, tests in OF_TYPES.items() if n not in gone for test in tests))


@AREA.situation()
def partitions_and_values_with_nulls(p: Player) -> None:
    p.sql("CREATE TABLE {t} (key STRING, value STRING) USING delta PARTITIONED BY (key)")
    for rows in ("(NULL, NULL)", "(NULL, 'a')", "(NULL, 'b')", "('a', 'a'), ('a', NULL)", "('b', NULL)"):
        p.sql(f"INSERT INTO {{t}} SELECT /*+ COALESCE(1) */ * FROM VALUES {rows}")
    keys = ("IS NULL", "IS NOT NULL", "<=> NULL", "= 'a'", "<=> 'a'", "= 'b'", "<=> 'b'")
    opened(p, *(f"key {test}" for test in keys))
    opened(p, *(f"value {test}" for test in keys), "value <> 'a'")
    opened(
        p,
        "key IS NULL AND value = 'a'",
        "key IS NOT NULL AND value IS NOT NULL",
        "key <=> NULL AND value <=> NULL",
        "key <=> NULL OR value <=> NULL",
    )


@AREA.family(
    {"TIMESTAMP": "TIMESTAMP", "TIMESTAMP_NTZ": "TIMESTAMP_NTZ"},
    differs=dict.fromkeys(
        ("TIMESTAMP", "TIMESTAMP_NTZ"), "deltaic opens what is a millisecond below the least, too"
    ),
)
def timestamps_around_a_millisecond(p: Player, of: str) -> None:
    at = f"{of} '2019-09-09 01:02:03.456789'"
    make(p, f"ts {of}, nested STRUCT<ts: {of}>", f"({at}, named_struct('ts', {at}))")
    for name in ("ts", "nested.ts", "TS", "nEstED.tS"):
        opened(p, *(f"{name} {test} {at}" for test in (">=", "<=")))
        opened(
            p, f"{name} >= {of} '2019-09-09 01:02:03.457001'", f"{name} <= {of} '2019-09-09 01:02:03.455999'"
        )


@AREA.situation()
def variants_and_structs_of_them(p: Player) -> None:
    p.sql("CREATE TABLE {t} (v VARIANT, s STRUCT<v: VARIANT>, n VARIANT, ns STRUCT<v: VARIANT>) USING delta")
    one = "parse_json(CAST(id AS STRING))"
    null = "CAST(NULL AS VARIANT)"
    p.sql(f"INSERT INTO {{t}} SELECT {one}, struct({one}), {null}, struct({null}) FROM range(0, 100, 1, 1)")
    for name in ("v", "s.v", "n", "ns.v"):
        opened(p, f"{name} IS NULL", f"{name} IS NOT NULL")


@AREA.situation()
def a_write_of_what_is_left(p: Player) -> None:
    """What is read of partitions and values, by a query and to write it elsewhere."""
    p.write("SELECT id AS col1, CAST(id / 3 AS INT) AS col2 FROM range(0, 10, 1, 1)", by=("col1",))
    opened(p, "col1 > 5", "col1 > 5 AND col2 > 2", "col2 > 2")
    p.write("SELECT 20L AS col1, 20 AS col2")
    p.sql("SELECT * FROM {t} WHERE col2 < 2").write.format("parquet").save(f"{p.at}/parquet")
    p.rows(p.spark.read.parquet(f"{p.at}/parquet"))


@AREA.situation()
def files_of_an_old_version(p: Player) -> None:
    for first in (0, 10):
        p.write(p.spark.range(first, first + 10, 1, 1))
    p.sql("DELETE FROM {t}", "INSERT INTO {t} VALUES (5)")
    for version in (1, 0, 3):
        opened(p, "id = 5", "id = 15", "id >= 0", of=f"{{t}} VERSION AS OF {version}")
