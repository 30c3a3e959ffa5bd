# ruff: noqa: E501 (a statement reads best in one line)
"""Merges by clauses that set columns the table has and columns it lacks, each with schema evolution and without."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playing import Area

if TYPE_CHECKING:
    from playing import Player

AREA = Area("merge_columns")

EVOLVES = "WITH SCHEMA EVOLUTION "


def both(p: Player, source: str, clauses: str, on: str = "t.key = s.key", **settings: str) -> None:
    """A merge of `s` into `t` without schema evolution, and on a copy with it."""
    for evolution in ("", EVOLVES):
        p.beside().play(
            lambda p, e=evolution: merged(
                p, f"MERGE {e}INTO {{t}} AS t USING ({source}) AS s ON {on} {clauses}", **settings
            )
        )


def merged(p: Player, statement: str, table: str | None = None, **settings: str) -> None:
    for name, value in settings.items():
        p.conf("spark.sql." + name, value)
    p.attempt(statement)
    p.rows(table)
    p.schema(table)


def values(*rows: str, names: str = "key, value, extra") -> str:
    return f"SELECT * FROM VALUES {', '.join(rows)} AS v({names})"


KEY_VALUE = "CREATE TABLE {t} USING delta AS SELECT * FROM VALUES (0, 0), (1, 10), (3, 30) AS v(key, value)"
TEXT = values("(1, 1, 'extra1')", "(2, 2, 'extra2')")
NUMBER = values("(1, 1, -1)", "(2, 2, -2)")
OTHER = values("(1, 1, 'extra1', 'other1')", "(2, 2, 'extra2', 'other2')", names="key, value, extra, other")
UPDATE, INSERT, BY_SOURCE = (
    "WHEN MATCHED THEN UPDATE SET",
    "WHEN NOT MATCHED THEN INSERT",
    "WHEN NOT MATCHED BY SOURCE",
)
NEW = {
    "insert by star": (TEXT, f"{INSERT} *"),
    "update by star": (TEXT, f"{UPDATE} *"),
    "both by star": (TEXT, f"{UPDATE} * {INSERT} *"),
    "insert by star, delete by source": (TEXT, f"{INSERT} * {BY_SOURCE} THEN DELETE"),
    "update of all": (TEXT, f"{UPDATE} key = s.key, value = s.value, extra = s.extra"),
    "update from another column": (NUMBER, f"{UPDATE} extra = s.value"),
    "insert of all": (TEXT, f"{INSERT} (key, value, extra) VALUES (s.key, s.value, s.extra)"),
    "insert from another column": (NUMBER, f"{INSERT} (key, extra) VALUES (s.key, s.value)"),
    "update of one new column": (OTHER, f"{UPDATE} extra = s.extra"),
    "update from another new column": (OTHER, f"{UPDATE} extra = s.other"),
    "insert of one new column": (OTHER, f"{INSERT} (key, extra) VALUES (s.key, s.extra)"),
    "insert from another new column": (OTHER, f"{INSERT} (key, extra) VALUES (s.key, s.other)"),
    "one by update, the other by insert": (OTHER, f"{UPDATE} extra = s.extra {INSERT} (key, other) VALUES (s.key, s.other)"),
    "insert of an old column": (TEXT, f"{INSERT} (key) VALUES (s.key)"),
    "update of an old column, then by star": (
        values("(0, 7, 'extra0')", "(1, 1, 'extra1')", "(2, 2, 'extra2')"),
        f"WHEN MATCHED AND s.key < 1 THEN UPDATE SET value = s.value {UPDATE} *",
    ),
    "update of old columns, insert by star": (NUMBER, f"{UPDATE} key = s.key, value = s.value {INSERT} *"),
    "update by star, insert of old columns": (NUMBER, f"{UPDATE} * {INSERT} (key, value) VALUES (s.key, s.value)"),
    "update from a literal, insert by star": (NUMBER, f"{UPDATE} extra = -1 {INSERT} *"),
    "update of the source's name": (TEXT, f"{UPDATE} s.value = s.value"),
    "a column from a new one": (NUMBER, f"{UPDATE} value = s.extra"),
    "insert of a column from a new one": (NUMBER, f"{INSERT} (key) VALUES (s.extra)"),
    "update of no column": (TEXT, f"{UPDATE} nonexistent = s.extra"),
    "insert of no column": (TEXT, f"{INSERT} (nonexistent) VALUES (s.extra)"),
    "update of one column": (NUMBER, f"{UPDATE} value = s.value"),
    "another case": (values("(1, 1)", "(2, 2)", names="key, VALUE"), f"{UPDATE} * {INSERT} *"),
}  # fmt: skip


FEW = ("both by star", "update from another column", "one by update, the other by insert")


@AREA.grid({name: NEW[name] for name in FEW}, KEY_VALUE)
def clauses(p: Player, case: tuple[str, str]) -> None:
    """What each clause adds, and what it leaves in rows of others."""
    both(p, *case)


@AREA.grid({name: case for name, case in NEW.items() if name not in FEW}, KEY_VALUE, long=True)
def more_clauses(p: Player, case: tuple[str, str]) -> None:
    both(p, *case)


BY_SOURCES = {
    "insert by star, update by source": f"{INSERT} * {BY_SOURCE} AND key > 0 THEN UPDATE SET value = value + 1",
    "update by source": f"{BY_SOURCE} AND key > 0 THEN UPDATE SET value = value + 1",
    "a condition that names the new column": f"WHEN MATCHED AND extra = 'extra1' THEN DELETE {BY_SOURCE} AND key > 0 THEN UPDATE SET value = value + 1",
    "update by star, update by source": f"{UPDATE} * {BY_SOURCE} AND key > 0 THEN UPDATE SET value = value + 1",
    "a new column by source": f"{BY_SOURCE} THEN UPDATE SET extra = 'x'",
    "a column of the source, by source": f"{BY_SOURCE} THEN UPDATE SET extra = s.extra",
    "a new column by source, beside a star": f"{INSERT} * {BY_SOURCE} THEN UPDATE SET extra = 'x'",
}


@AREA.grid(BY_SOURCES, KEY_VALUE)
def rows_without_a_match_in_the_source(p: Player, clauses: str) -> None:
    """They get no column that joins."""
    both(p, TEXT, clauses)


LACKING = {
    "update by star": (values("(1, 1)", "(2, 2)", names="key, value"), f"{UPDATE} *"),
    "insert by star": (values("(1, 1)", "(2, 2)", names="key, value"), f"{INSERT} *"),
    "insert of some columns": (NUMBER, f"{INSERT} (key, value) VALUES (s.key, s.value)"),
}


@AREA.grid(
    LACKING,
    "CREATE TABLE {t} USING delta AS SELECT * FROM VALUES (0, 0, 0), (1, 10, 10), (3, 30, 30) AS v(key, value, extra)",
)
def the_source_lacks_columns(p: Player, case: tuple[str, str]) -> None:
    """They stay, or are null in new rows; without evolution a star wants them all."""
    both(p, *case)


ROWS = values(
    *(f"({n + 1}, '{c}')" for n, c in enumerate("tuvw")),
    *(f"({n + 6}, '{c}')" for n, c in enumerate("xyz")),
    names="key, srcVal",
)
SETTING = "WHEN MATCHED AND s.key = 1 THEN UPDATE SET targetVal = srcVal WHEN MATCHED AND s.key = 2 THEN UPDATE SET * WHEN MATCHED AND s.key = 3 THEN DELETE WHEN MATCHED AND s.key = 4 THEN DELETE"
MANY = {
    "an insert by name and one by star": f"{SETTING} WHEN NOT MATCHED AND s.key = 6 THEN INSERT (key) VALUES (s.key) WHEN NOT MATCHED AND s.key = 7 THEN INSERT *",
    "two inserts by star": f"{SETTING} WHEN NOT MATCHED AND s.key = 6 THEN INSERT * WHEN NOT MATCHED AND s.key = 7 THEN INSERT *",
}


@AREA.grid(
    MANY,
    "CREATE TABLE {t} USING delta AS SELECT * FROM VALUES (1, 'a'), (2, 'b'), (3, 'c'), (4, 'd'), (5, 'e') AS v(key, targetVal)",
)
def many_clauses(p: Player, clauses: str) -> None:
    both(p, ROWS, clauses)


CASE = {
    "one name in two cases": ("false", values("(1, 1)", "(2, 2)", names="key, VALUE"), f"{INSERT} (key, value, VALUE) VALUES (s.key, s.value, s.VALUE)"),
    "a new column, case counts": ("true", values("(1, 1, 'e')", "(2, 2, 'f')", names="key, value, EXTRA"), f"{INSERT} (key, value, EXTRA) VALUES (s.key, s.value, s.EXTRA)"),
    "no column, case counts": ("true", values("(1, 1)", "(2, 2)", names="key, VALUE"), f"{INSERT} (key, value) VALUES (s.key, s.value)"),
    "no target, case counts": ("true", values("(1, 1)", "(2, 2)", names="key, value"), f"{UPDATE} VALUE = s.value"),
}  # fmt: skip


@AREA.family(CASE)
def case_of_names(p: Player, case: tuple[str, str, str]) -> None:
    p.sql(KEY_VALUE)
    both(p, *case[1:], caseSensitive=case[0])


@AREA.situation()
def names_with_dots(p: Player) -> None:
    p.sql(
        "CREATE TABLE {t} USING delta AS SELECT * FROM VALUES (0, 0), (1, 10), (3, 30) AS v(key, `value.with.dotted.name`)"
    )
    source = values(
        "(1, 1, 'extra1')", "(2, 2, 'extra2')", names="key, `value.with.dotted.name`, `extra.dotted`"
    )
    both(p, source, f"{UPDATE} * {INSERT} *")


@AREA.situation()
def partitioned_tables(p: Player) -> None:
    """By the key, and by a column that no clause sets."""
    for by in ("key", "part"):
        p.beside().play(lambda p, by=by: partitioned(p, by))


def partitioned(p: Player, by: str) -> None:
    p.sql(
        f"CREATE TABLE {{t}} USING delta PARTITIONED BY ({by}) AS SELECT key, 2 AS part, named_struct('a', key, 'c', key * 10) AS x, 0 AS value FROM VALUES (1), (2) AS v(key)"
    )
    both(
        p,
        "SELECT 1 AS key, 2 AS part, named_struct('a', 10, 'b', 100, 'c', 1000) AS x, 5 AS value, 'e' AS extra",
        f"{UPDATE} * {INSERT} *",
    )


@AREA.situation()
def columns_that_must_not_be_null_in_the_source(p: Player) -> None:
    """They join as nullable."""
    p.sql(
        "CREATE TABLE {t} USING delta AS SELECT * FROM VALUES (1), (2) AS v(key)",
        "CREATE TABLE {u} (key INT NOT NULL, value INT NOT NULL) USING delta",
        "INSERT INTO {u} VALUES (1, 10), (3, 30)",
    )
    source = p.text("SELECT * FROM {u}")
    both(p, source, f"{UPDATE} * {INSERT} *")
    both(p, source, f"{UPDATE} *", on="false")


@AREA.situation()
def columns_that_must_not_be_null_in_the_table(p: Player) -> None:
    """They stay so, and the feed tells what the merge did."""
    p.sql(
        "CREATE TABLE {t} (key INT NOT NULL, value INT, n INT NOT NULL) USING delta TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')",
        "INSERT INTO {t} VALUES (0, 0, 0), (1, 10, 1), (2, 20, 2)",
    )
    source = values("(0, 5, 50, 'a')", "(1, 6, 60, 'b')", "(3, 7, 70, 'c')", names="key, value, n, extra")
    merged(
        p,
        f"MERGE {EVOLVES}INTO {{t}} AS t USING ({source}) AS s ON s.key = t.key WHEN MATCHED AND t.key = 1 THEN DELETE {UPDATE} * {INSERT} *",
    )
    p.changes()


QUALIFIED = {
    "a column by the source": "s.t.a = s.t.a",
    "a column by the table": "t.a = s.a",
    "a field by the table": "t.t.a = s.t.a",
    "a new column by the table": "t.b = s.b",
    "a new field by the table": "t.t.b = s.t.b",
    "a new column": "b = s.b",
    "no field": "t.t.nope = s.a",
}


@AREA.grid(QUALIFIED, "CREATE TABLE {t} USING delta AS SELECT 1 AS a, named_struct('a', 2) AS t")
def qualified_names(p: Player, setting: str) -> None:
    """Of a table and a struct of one name."""
    both(p, "SELECT 3 AS a, 4 AS b, named_struct('a', 5, 'b', 6) AS t", f"{UPDATE} {setting}", on="1 = 1")


NAMES = {
    "a column": "{name}.a = source.a",
    "a field": "{name}.{name}.a = source.{name}.a",
    "a new column": "{name}.b = source.b",
    "a new field": "{name}.{name}.b = source.{name}.b",
}


@AREA.family(NAMES)
def names_without_aliases(p: Player, setting: str) -> None:
    """The same where the name of the table itself is that of the struct."""
    for evolution in ("", EVOLVES):
        p.sql("CREATE OR REPLACE TABLE {name} USING delta AS SELECT 0 AS a, named_struct('a', 1) AS {name}")
        p.sql(
            "CREATE OR REPLACE TEMP VIEW source AS SELECT 2 AS a, 3 AS b, named_struct('a', 4, 'b', 5) AS {name}"
        )
        merged(
            p,
            f"MERGE {evolution}INTO {{name}} USING source ON 1 = 1 WHEN MATCHED THEN UPDATE SET {setting}",
            "SELECT * FROM {name}",
        )
    p.sql("DROP VIEW source")


SETS = [
    "union(s.l, s.l)",
    "intersect(s.l, s.l)",
    "except(s.l, array(s.l[0]))",
    "remove(s.l, s.l[0])",
    "distinct(s.l)",
]


@AREA.grid(
    {f"array_{f}": f for f in SETS},
    """CREATE TABLE {t} USING delta AS SELECT 1 AS key,
    transform(sequence(2010, 2019), i -> named_struct('at', concat(i, ''), 'with', CAST(NULL AS STRING), 'location', concat(i, '!'))) AS l""",
)
def functions_of_arrays(p: Player, function: str) -> None:
    """Their structs lack a field of the table's, and have another order."""
    source = "SELECT 1 AS key, transform(sequence(2020, 2120), i -> named_struct('with', CAST(NULL AS STRING), 'at', concat(i, ''))) AS l"
    for evolution in ("", EVOLVES):
        p.beside().play(
            lambda p, e=evolution: told_by_digest(
                p,
                f"MERGE {e}INTO {{t}} AS t USING ({source}) AS s ON t.key = s.key {UPDATE} l = array_{function} {INSERT} *",
            )
        )


def told_by_digest(p: Player, statement: str) -> None:
    p.attempt(statement)
    p.rows("SELECT key, size(l), md5(to_json(l)), l[0] FROM {t}")


@AREA.situation()
def arrays_without_nulls(p: Player) -> None:
    p.sql("CREATE TABLE {t} USING delta AS SELECT 500000 AS key")
    both(
        p,
        "SELECT explode(array(500000, 100000)) AS key, named_struct('date', date'2024-11-08', 'l', array(named_struct('data', 0d))) AS x",
        f"{UPDATE} * {INSERT} *",
    )


BUILDERS = {
    "update from another column": lambda m: m.whenMatchedUpdate(set={"extra": "s.value"}),
    "one by update, the other by insert": lambda m: m.whenMatchedUpdate(set={"extra": "s.extra"}).whenNotMatchedInsert(values={"key": "s.key", "other": "s.other"}),
    "stars": lambda m: m.whenMatchedUpdateAll().whenNotMatchedInsertAll(),
    "update of no column": lambda m: m.whenMatchedUpdate(set={"nonexistent": "s.extra"}),
    "insert of no column": lambda m: m.whenNotMatchedInsert(values={"nonexistent": "s.extra"}),
    "a new column by source": lambda m: m.whenNotMatchedBySourceUpdate(set={"extra": "'x'"}),
}  # fmt: skip


@AREA.grid(BUILDERS, KEY_VALUE)
def clauses_by_the_builder(p: Player, clauses: object) -> None:
    for evolves in (False, True):
        p.beside().play(lambda p, e=evolves: built(p, OTHER, clauses, evolves=e))


OF_BOTH = ("a column by the table", "a field by the table", "a new column")


@AREA.grid(
    {name: QUALIFIED[name] for name in OF_BOTH},
    "CREATE TABLE {t} USING delta AS SELECT 1 AS a, named_struct('a', 2) AS t",
)
def qualified_names_by_the_builder(p: Player, setting: str) -> None:
    name, value = setting.split(" = ")
    for evolves in (False, True):
        p.beside().play(
            lambda p, e=evolves: built(
                p,
                "SELECT 3 AS a, 4 AS b, named_struct('a', 5, 'b', 6) AS t",
                lambda m: m.whenMatchedUpdate(set={name: value}),
                "1 = 1",
                evolves=e,
            )
        )


def built(p: Player, source: str, clauses: object, on: str = "t.key = s.key", *, evolves: bool) -> None:
    merge = p.table().alias("t").merge(p.sql(source).alias("s"), on)
    p.attempt(lambda: clauses(merge.withSchemaEvolution() if evolves else merge).execute())  # type: ignore[operator]
    p.rows()
    p.schema()
