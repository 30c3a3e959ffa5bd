# ruff: noqa: E501 (a statement reads best in one line)
"""Merges that widen types, where the table has `delta.enableTypeWidening`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playing import Area

if TYPE_CHECKING:
    from playing import Player

AREA = Area("merge_widening")


def begin(p: Player, column: str, value: str) -> None:
    p.sql(
        f"CREATE TABLE {{t}} (k INT, {column}) USING delta TBLPROPERTIES ('delta.enableTypeWidening' = 'true')"
    )
    p.sql(f"INSERT INTO {{t}} VALUES (1, {value}), (2, {value})")


AROUND = {
    "struct": ("STRUCT<a: SMALLINT>", "named_struct('a', 1)", "named_struct('a', 70000)"),
    "struct with a new field": (
        "STRUCT<a: SMALLINT>",
        "named_struct('a', 1)",
        "named_struct('n', 5L, 'a', 70000)",
    ),
    "array": ("ARRAY<SMALLINT>", "array(1)", "array(70000)"),
    "array of structs": (
        "ARRAY<STRUCT<a: SMALLINT>>",
        "array(named_struct('a', 1))",
        "array(named_struct('a', 70000))",
    ),
    "map value": ("MAP<STRING, SMALLINT>", "map('k', 1)", "map('k', 70000)"),
    "map key": ("MAP<SMALLINT, STRING>", "map(1, 'v')", "map(70000, 'v')"),
    "map of structs": (
        "MAP<STRING, STRUCT<a: SMALLINT>>",
        "map('k', named_struct('a', 1))",
        "map('k', named_struct('a', 70000))",
    ),
}


@AREA.situation()
def within(p: Player) -> None:
    """Fields, elements, keys and values become wider, too."""
    columns = ", ".join(f"c{n} {data_type}" for n, (data_type, _, _) in enumerate(AROUND.values()))
    begin(p, columns, ", ".join(ours for _, ours, _ in AROUND.values()))
    theirs = ", ".join(f"{value} AS c{n}" for n, (_, _, value) in enumerate(AROUND.values()))
    source = f"SELECT k, {theirs} FROM VALUES (1), (3) AS v(k)"
    clauses = "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
    p.attempt(f"MERGE WITH SCHEMA EVOLUTION INTO {{t}} AS t USING ({source}) AS s ON s.k = t.k {clauses}")
    p.rows()
    p.schema()


# types of the table and of the source, then values of each
SUPPORTED = {
    "tinyint to smallint": ("TINYINT", "SMALLINT", ["1", "-128", "127", "NULL"], ["4", "-32768", "32767", "NULL"]),
    "tinyint to int": ("TINYINT", "INT", ["1", "-128", "127", "NULL"], ["4", "-2147483648", "2147483647", "NULL"]),
    "smallint to int": ("SMALLINT", "INT", ["1", "-32768", "32767", "NULL"], ["4", "-2147483648", "2147483647", "NULL"]),
    "smallint to bigint": ("SMALLINT", "BIGINT", ["1", "-32768", "32767", "NULL"], ["4", "-9223372036854775808", "9223372036854775807", "NULL"]),
    "int to bigint": ("INT", "BIGINT", ["1", "-2147483648", "2147483647", "NULL"], ["4", "-9223372036854775808", "9223372036854775807", "NULL"]),
    "float to double": ("FLOAT", "DOUBLE", ["1234.5D", "'NaN'", "'-Infinity'", "NULL"], ["987654321.987654321D", "-0.0D", "'Infinity'", "NULL"]),
    "date to timestamp_ntz": ("DATE", "TIMESTAMP_NTZ", ["'2020-01-01'", "'2024-02-29'", "'1312-02-27'", "NULL"], ["'2020-03-17 15:23:15.123456'", "'2058-12-31 23:59:59.999'", "'0001-01-01 00:00:00'", "NULL"]),
    "decimal of more digits": ("DECIMAL(9,2)", "DECIMAL(18,2)", ["1.23", "10.34", "0", "NULL"], ["-67.89", "9999999999999999.99", "0", "NULL"]),
    "decimal of a larger scale": ("DECIMAL(8,2)", "DECIMAL(9,3)", ["1.23", "10.34", "0", "NULL"], ["-67.89", "999999.99", "0", "NULL"]),
    "decimal of both": ("DECIMAL(9,2)", "DECIMAL(19,3)", ["1.23", "10.34", "0", "NULL"], ["-67.89", "9999999999999999.99", "0", "NULL"]),
    "int to double": ("INT", "DOUBLE", ["1", "-2147483648", "2147483647", "NULL"], ["987654321.987654321D", "-0.0D", "'NaN'", "NULL"]),
    "smallint to double": ("SMALLINT", "DOUBLE", ["1", "-32768", "32767", "NULL"], ["3.0D", "-10.5D", "'NaN'", "NULL"]),
    "tinyint to decimal": ("TINYINT", "DECIMAL(10,0)", ["1", "-128", "127", "NULL"], ["1.23", "9999999999", "0", "NULL"]),
    "smallint to decimal": ("SMALLINT", "DECIMAL(10,0)", ["1", "-32768", "32767", "NULL"], ["1.23", "9999999999", "0", "NULL"]),
    "int to decimal": ("INT", "DECIMAL(10,0)", ["1", "-2147483648", "2147483647", "NULL"], ["1.23", "9999999999", "0", "NULL"]),
    "bigint to decimal": ("BIGINT", "DECIMAL(20,0)", ["1", "-9223372036854775808", "9223372036854775807", "NULL"], ["1.23", "99999999999999999999", "0", "NULL"]),
}  # fmt: skip
# of these the source has values that fit, or none
UNSUPPORTED = {
    "int to tinyint": ("INT", "TINYINT", "5"),
    "bigint to int": ("BIGINT", "INT", "5"),
    "double to float": ("DOUBLE", "FLOAT", "5"),
    "tinyint to a small decimal": ("TINYINT", "DECIMAL(2,0)", "5"),
    "smallint to a small decimal": ("SMALLINT", "DECIMAL(4,0)", "5"),
    "int to a small decimal": ("INT", "DECIMAL(9,0)", "5"),
    "bigint to a small decimal": ("BIGINT", "DECIMAL(19,0)", "5"),
    "timestamp_ntz to date": ("TIMESTAMP_NTZ", "DATE", "'2020-03-17'"),
    "a larger scale only": ("DECIMAL(9,2)", "DECIMAL(9,3)", "-67.89"),
    "fewer digits": ("DECIMAL(9,2)", "DECIMAL(8,2)", "-67.89"),
    "fewer digits and a smaller scale": ("DECIMAL(18,2)", "DECIMAL(8,1)", "-67.8"),
    "a scale that grows by more than the digits": ("DECIMAL(9,2)", "DECIMAL(10,4)", "-67.89"),
    "a smaller scale and fewer digits": ("DECIMAL(18,2)", "DECIMAL(12,1)", "-67.8"),
}
STARS = "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"


def typed(values: list[str], types: list[str]) -> str:
    return ", ".join(
        f"CAST({value} AS {t}) AS c{n}" for n, (value, t) in enumerate(zip(values, types, strict=True))
    )


def of_types(types: list[str], rows: list[list[str]], first: int) -> str:
    return " UNION ALL ".join(f"SELECT {first + n} AS k, {typed(row, types)}" for n, row in enumerate(rows))


def pairs(p: Player, evolution: str, widens: str) -> None:
    cases = SUPPORTED.values()
    p.sql(f"CREATE TABLE {{t}} USING delta TBLPROPERTIES ('delta.enableTypeWidening' = '{widens}') AS "
          + of_types([ours for ours, *_ in cases], [[c[2][n] for c in cases] for n in range(4)], 0))  # fmt: skip
    source = of_types([theirs for _, theirs, *_ in cases], [[c[3][n] for c in cases] for n in range(4)], 2)
    p.attempt(f"MERGE {evolution}INTO {{t}} AS t USING ({source}) AS s ON s.k = t.k {STARS}")
    p.rows()
    p.schema()


EVOLVES = "WITH SCHEMA EVOLUTION "
SWITCHES = {"widening": (EVOLVES, "true"), "no widening": (EVOLVES, "false"), "no evolution": ("", "true")}


@AREA.family(SWITCHES, quick={"widening"})
def types_that_widen(p: Player, case: tuple[str, str]) -> None:
    """Each pair of types, by stars."""
    pairs(p, *case)


@AREA.grid({pair: pair for pair in SUPPORTED}, "CREATE TABLE {t} (k INT, " + ", ".join(f"c{n} {ours}" for n, (ours, *_) in enumerate(SUPPORTED.values())) + ") USING delta TBLPROPERTIES ('delta.enableTypeWidening' = 'true')", long=True)  # fmt: skip
def one_type_that_widens(p: Player, pair: str) -> None:
    """The column that a clause sets, and no other."""
    n = [*SUPPORTED].index(pair)
    types = [theirs for _, theirs, *_ in SUPPORTED.values()]
    source = f"SELECT 1 AS k, {typed([c[3][0] for c in SUPPORTED.values()], types)}"
    p.attempt(
        f"MERGE {EVOLVES}INTO {{t}} AS t USING ({source}) AS s ON s.k = t.k WHEN NOT MATCHED THEN INSERT (k, c{n}) VALUES (s.k, s.c{n})"
    )
    p.rows()
    p.schema()


@AREA.family({"values": "", "no rows": " WHERE false"}, quick={"values"})
def types_that_do_not_widen(p: Player, condition: str) -> None:
    """The column keeps its type."""
    ours, theirs, values = (list(c) for c in zip(*UNSUPPORTED.values(), strict=True))
    p.sql(
        f"CREATE TABLE {{t}} USING delta TBLPROPERTIES ('delta.enableTypeWidening' = 'true') AS SELECT 1 AS k, {typed(values, ours)}"
    )
    source = f"SELECT k, {typed(values, theirs)} FROM VALUES (1), (2) AS v(k){condition}"
    p.attempt(f"MERGE {EVOLVES}INTO {{t}} AS t USING ({source}) AS s ON s.k = t.k {STARS}")
    p.rows()
    p.schema()


# what is set, of `a SMALLINT, b SMALLINT, i INT, st STRUCT<a: SMALLINT>, m MAP<STRING, SMALLINT>, l ARRAY<SMALLINT>`
SET = {
    "by an expression": "WHEN MATCHED THEN UPDATE SET a = s.a + 1",
    "by an insert": "WHEN NOT MATCHED THEN INSERT (k, a) VALUES (s.k, s.a)",
    "a narrower value": "WHEN MATCHED THEN UPDATE SET i = s.i + 1",
    "a struct": "WHEN MATCHED THEN UPDATE SET st = s.st",
    "a field": "WHEN MATCHED THEN UPDATE SET t.st.a = s.st.a + 1",
    "a map": "WHEN MATCHED THEN UPDATE SET t.m = s.m",
    "a list": "WHEN MATCHED THEN UPDATE SET t.l = s.l",
    "stars": STARS,
}


@AREA.grid(
    SET,
    """CREATE TABLE {t} USING delta TBLPROPERTIES ('delta.enableTypeWidening' = 'true') AS SELECT id AS k, CAST(id AS SMALLINT) AS a, 5S AS b, 6 AS i,
    named_struct('a', 7S) AS st, map('k', 8S) AS m, array(9S) AS l FROM range(2)""",
)
def what_a_clause_sets(p: Player, clauses: str) -> None:
    """That becomes wider, by expressions too; with evolution and without."""
    source = "SELECT id AS k, 70 AS a, 71 AS b, 72S AS i, named_struct('a', 73) AS st, map('k', 74) AS m, array(75) AS l FROM range(1, 3)"
    for evolution in ("", EVOLVES):
        p.beside().play(
            lambda p, e=evolution: merged(
                p, f"MERGE {e}INTO {{t}} AS t USING ({source}) AS s ON s.k = t.k {clauses}"
            )
        )


def merged(p: Player, statement: str) -> None:
    p.attempt(statement)
    p.rows()
    p.schema()


KEPT = {
    "smallint for tinyint": ("TINYINT", "CAST(7 AS SMALLINT)"),
    "int for tinyint": ("TINYINT", "7"),
    "int for smallint": ("SMALLINT", "7"),
    "bigint for int": ("INT", "7L"),
    "too great": ("TINYINT", "700"),
    "field": ("STRUCT<a: TINYINT>", "named_struct('a', 7)"),
    "field beside a new one": ("STRUCT<a: TINYINT>", "named_struct('a', 7, 'b', 8)"),
    "element": ("ARRAY<TINYINT>", "array(7)"),
    "value": ("MAP<STRING, TINYINT>", "map('k', 7)"),
}
EVOLVING = {
    "stars": STARS,
    "a column": "WHEN MATCHED THEN UPDATE SET c = s.c WHEN NOT MATCHED THEN INSERT (k, c) VALUES (s.k, s.c)",
}


@AREA.grid(KEPT)
def integers_without_type_widening(p: Player, case: tuple[str, str]) -> None:
    """A merge that evolves leaves the types of columns, though files hold these integers alike; an append does not."""
    column, value = case
    source = f"(SELECT k, {value} AS c, 5 AS more FROM VALUES (1), (3) AS v(k))"
    for n, (clauses, policy) in enumerate([*((c, "ANSI") for c in EVOLVING.values()), (STARS, "STRICT")]):
        p.sql(
            f"CREATE TABLE delta.`{{at}}/k{n}` (k INT, c {column}) USING delta TBLPROPERTIES ('delta.enableTypeWidening' = 'false')",
            f"INSERT INTO delta.`{{at}}/k{n}` VALUES (1, NULL), (2, NULL)",
        )
        p.conf("spark.sql.storeAssignmentPolicy", policy)
        p.attempt(
            f"MERGE WITH SCHEMA EVOLUTION INTO delta.`{{at}}/k{n}` AS t USING {source} AS s ON s.k = t.k {clauses}"
        )
        p.rows(f"SELECT * FROM delta.`{{at}}/k{n}`")
        p.schema(f"SELECT * FROM delta.`{{at}}/k{n}`")
