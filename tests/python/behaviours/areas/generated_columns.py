"""Generated columns: their definition, and the rows that each statement writes into them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from playing import FEED, Area

if TYPE_CHECKING:
    from playing import Player

AREA = Area("generated_columns")

_COLUMNS = """n BIGINT, g BIGINT GENERATED ALWAYS AS (n + 10), p STRING, d DATE GENERATED ALWAYS AS (CAST(t AS DATE)),
    t TIMESTAMP, k INT, m INT GENERATED ALWAYS AS (k * 10), e DATE"""
# three of the columns are generated, and the table is partitioned by two of them
MADE = f"CREATE TABLE {{t}} ({_COLUMNS}) USING delta PARTITIONED BY (p, d, m)"
ROW = "1, 11, 'foo', DATE '2020-10-11', TIMESTAMP '2020-10-11 12:30:30', 100, 1000, DATE '2020-11-12'"
OTHERS = (
    "(2, 12, 'foo', DATE '2020-10-11', TIMESTAMP '2020-10-11 01:02:03', 100, 1000, DATE '2020-11-12')",
    "(3, 13, 'bar', DATE '2020-10-12', TIMESTAMP '2020-10-12 01:02:03', 7, 70, DATE '2020-11-12')",
)
FRAME = """1L AS n, 'foo' AS p, TIMESTAMP '2020-10-11 12:30:30' AS t, 100 AS k, DATE '2020-11-12' AS e"""

# -- rows that come

INSERTS = {
    "values": f"VALUES ({ROW})",
    "a query": f"SELECT {ROW}",
    "no generated ones": (
        "(k, e, n, p, t) VALUES (100, DATE '2020-11-12', 1L, 'foo', TIMESTAMP '2020-10-11 12:30:30')"
    ),
    "a generated one": """(t, k, e, n, p, d)
        VALUES (TIMESTAMP '2020-10-11 12:30:30', 100, DATE '2020-11-12', 1L, 'foo', DATE '2020-10-11')""",
    "BY NAME": f"BY NAME SELECT {FRAME}",
    "of another value": f"VALUES ({ROW.replace('11', '12', 1)})",
    "DEFAULT": "VALUES (1, DEFAULT, 'foo', DEFAULT, TIMESTAMP '2020-10-11 12:30:30', 100, DEFAULT, DATE '2020-11-12')",
}


def _insert(p: Player, verb: str, what: str) -> None:
    p.attempt(f"INSERT {verb} {{t}} {what}")
    p.rows()


@AREA.grid(INSERTS, MADE, f"INSERT INTO {{t}} VALUES {', '.join(OTHERS)}", long=True)
def insert_into(p: Player, what: str) -> None:
    _insert(p, "INTO", what)


@AREA.grid(INSERTS, MADE, f"INSERT INTO {{t}} VALUES {', '.join(OTHERS)}", long=True)
def insert_overwrite(p: Player, what: str) -> None:
    _insert(p, "OVERWRITE", what)


@AREA.grid(INSERTS, MADE, f"INSERT INTO {{t}} VALUES {', '.join(OTHERS)}", long=True)
def insert_overwrite_of_partitions(p: Player, what: str) -> None:
    """With `partitionOverwriteMode` = `dynamic`."""
    p.conf("spark.sql.sources.partitionOverwriteMode", "dynamic")
    _insert(p, "OVERWRITE", what)


BY_NAME = "(t, k, m, e, n, g, p, d) VALUES"
VALUES = (
    """(TIMESTAMP '2020-10-11 12:30:30', 100, 1000, DATE '2020-11-12', 1, 11, 'foo', DATE '2020-10-11')"""
)


@AREA.grid({"INTO": "INTO", "OVERWRITE": "OVERWRITE"}, MADE, f"INSERT INTO {{t}} VALUES {', '.join(OTHERS)}")
def insert_all_by_name(p: Player, verb: str) -> None:
    _insert(p, verb, f"{BY_NAME} {VALUES}")


WITHOUT = "(k, e, n, p) VALUES (100, DATE '2020-11-12', 1L, 'foo')"


@AREA.grid(
    {"INTO": "INTO", "OVERWRITE": "OVERWRITE"},
    MADE,
    f"INSERT INTO {{t}} VALUES {', '.join(OTHERS)}",
    differs="a column that is left out is null, and what is generated of it follows; delta-spark refuses the statement",
)
def insert_without_the_source(p: Player, verb: str) -> None:
    _insert(p, verb, WITHOUT)


FRAMES = {
    "without": FRAME,
    "in another order": "DATE '2020-11-12' AS e, 1L AS n, 100 AS k, TIMESTAMP '2020-10-11 12:30:30' AS t, 'foo' AS p",
    "with one": FRAME + ", 11L AS g",
    "in another case": FRAME.replace("AS n", "AS N"),
    "with another value": FRAME + ", 12L AS g",
    "of a wider type": FRAME.replace("100 AS k", "100L AS k"),
}


def _write_to(p: Player, mode: str, rows: str) -> None:
    p.sql("CREATE TABLE {name} USING delta LOCATION '{at}/t'")
    writer = p.sql(f"SELECT {rows}").writeTo(p.name)
    writer.append() if mode == "append" else writer.overwritePartitions()


@AREA.grid(FRAMES, MADE, long=True)
def frames(p: Player, rows: str) -> None:
    p.attempt(
        lambda: p.write(f"SELECT {rows}"),
        lambda: _write_to(p, "append", rows),
        lambda: p.sql(f"SELECT {rows}").write.format("delta").mode("append").saveAsTable(p.name),
        lambda: p.write(f"SELECT {rows}", mode="overwrite"),
    )
    p.rows()


@AREA.grid(
    {name: FRAMES[name] for name in ("without", "in another case", "with one", "with another value")}, MADE
)
def streams(p: Player, rows: str) -> None:
    p.write(f"SELECT {rows}", path=f"{p.at}/source")
    source = p.spark.readStream.format("delta").load(f"{p.at}/source")
    p.attempt(lambda: p.stream(to=p.path, rows=source))
    p.rows()


# -- rows that change

UPDATES = {
    "the right value": "SET g = 11 WHERE n = 1",
    "another value": "SET g = 12 WHERE n = 1",
    "its source": "SET n = 2 WHERE n = 1",
    "both": "SET g = 12, n = 2 WHERE n = 1",
    "both, another value": "SET g = 12, n = 3 WHERE n = 1",
    "the source of a partition": "SET t = TIMESTAMP '2021-01-01 00:00:00', k = 5",
    "no row": "SET n = 5 WHERE n = 70",
    "by itself": "SET n = g + 1, k = m",
    "to null": "SET n = NULL",
}


@AREA.grid(UPDATES, MADE, f"INSERT INTO {{t}} VALUES ({ROW})", long=True)
def update(p: Player, how: str) -> None:
    p.attempt(f"UPDATE {{t}} {how}")
    p.rows()


@AREA.situation()
def updates_in_turns(p: Player) -> None:
    p.sql("CREATE TABLE {t} (a INT, b INT, g INT GENERATED ALWAYS AS (a + 10)) USING delta")
    p.sql("INSERT INTO {t} VALUES (10, 50, 20)")
    for how in ("a = 20", "a = b + 100, b = 1000", "a = b + g", "a = g"):
        p.attempt(f"UPDATE {{t}} SET {how}")
        p.rows()
    p.attempt(lambda: p.table().update(set={"a": "40"}))
    p.rows()


@AREA.situation()
def fields_of_a_struct(p: Player) -> None:
    p.sql("CREATE TABLE {t} (s STRUCT<x: INT, y: STRING>, g INT GENERATED ALWAYS AS (s.x + 10)) USING delta")
    p.attempt(
        "INSERT INTO {t} VALUES (struct(10, 'foo'), 20)",
        "UPDATE {t} SET s.x = 20 WHERE s.x = 10",
        "UPDATE {t} SET s.y = 'bar'",
        "UPDATE {t} SET s = struct(5, 'x'), g = 16",
    )
    p.rows()


@AREA.situation()
def delete(p: Player) -> None:
    p.sql(MADE, f"INSERT INTO {{t}} VALUES ({ROW}), {', '.join(OTHERS)}")
    p.attempt("DELETE FROM {t} WHERE g = 11", "DELETE FROM {t} WHERE d = DATE '2020-10-12'")
    p.rows()


@AREA.situation()
def its_changes_are_told(p: Player) -> None:
    p.sql(
        f"""CREATE TABLE {{t}} (a INT, t TIMESTAMP, d DATE GENERATED ALWAYS AS (CAST(t AS DATE))) USING delta
        PARTITIONED BY (d) TBLPROPERTIES ('{FEED}' = 'true')"""
    )
    p.answers(lambda: p.read(readChangeFeed="true", startingVersion=0).drop("_commit_timestamp"))
    p.write("SELECT CAST(id AS INT) AS a, TIMESTAMP '2020-01-01' + make_dt_interval(id) AS t FROM range(5)")
    p.sql("DELETE FROM {t} WHERE a < 2", "UPDATE {t} SET t = TIMESTAMP '2021-01-01' WHERE a = 2")
    p.changes(2)
    p.sql(
        """CREATE TABLE {u} (a INT, _change_type STRING, t TIMESTAMP, d DATE GENERATED ALWAYS AS (CAST(t AS DATE)))
        USING delta PARTITIONED BY (d)"""
    )
    feed = p.read(readChangeFeed="true", startingVersion=2).select("a", "_change_type", "t")
    p.attempt(lambda: p.write(feed, path=f"{p.at}/u"))
    p.rows("SELECT * FROM {u}")


# -- nulls

_NOT_NULL = "CREATE TABLE {t} (a STRING, b STRING, g STRING NOT NULL GENERATED ALWAYS AS (concat(a, 'y'))) USING delta"
NULLS = {
    "a row": lambda p: p.write("SELECT '1' AS a"),
    "its source is null": lambda p: p.write("SELECT CAST(NULL AS STRING) AS a, 'x' AS b"),
    "INSERT": "INSERT INTO {t} (a) VALUES (NULL)",
    "it is null": "INSERT INTO {t} VALUES ('a', 'b', NULL)",
    "UPDATE": "UPDATE {t} SET a = NULL",
    "MERGE": "MERGE INTO {t} USING (SELECT 'n' AS k) ON a = k WHEN NOT MATCHED THEN INSERT (b) VALUES (k)",
}


@AREA.grid(NULLS, _NOT_NULL, "INSERT INTO {t} (a, b) VALUES ('z', 'z')", long=True)
def not_null(p: Player, what: Any) -> None:
    p.attempt(what if isinstance(what, str) else lambda: what(p))
    p.rows()


@AREA.situation()
def nulls(p: Player) -> None:
    p.sql("CREATE TABLE {t} (a STRING, g STRING GENERATED ALWAYS AS (concat(a, 'y'))) USING delta")
    p.attempt(
        "INSERT INTO {t} VALUES ('x', 'xy')",
        "INSERT INTO {t} VALUES (NULL, NULL)",
        "INSERT INTO {t} VALUES ('foo', NULL)",
        "INSERT INTO {t} VALUES (NULL, 'foo')",
        "INSERT INTO {t} (a) VALUES (NULL)",
    )
    p.rows()


@AREA.situation()
def a_column_that_a_frame_leaves_out(p: Player) -> None:
    p.sql("CREATE TABLE {t} (a INT, b STRING, g INT GENERATED ALWAYS AS (a + 1)) USING delta")
    p.sql(
        "CREATE TABLE {u} (a INT NOT NULL, b STRING NOT NULL, g INT NOT NULL GENERATED ALWAYS AS (a + 1)) USING delta"
    )
    p.attempt(lambda: p.write("SELECT 3 AS a"), lambda: p.write("SELECT 3 AS a", path=f"{p.at}/u"))
    p.rows()
    p.rows("SELECT * FROM {u}")


# -- types that come

CASTS = {
    "its source": ("a INT, g INT GENERATED ALWAYS AS (hash(a))", "32767L AS a"),
    "a field of its source's name": (
        "a SMALLINT, s STRUCT<a: SMALLINT>, g INT GENERATED ALWAYS AS (hash(a))",
        "CAST(32767 AS SMALLINT) AS a, named_struct('a', 32767) AS s",
    ),
    "both": (
        "a SMALLINT, s STRUCT<a: SMALLINT>, g INT GENERATED ALWAYS AS (hash(a))",
        "32767 AS a, named_struct('a', 32767) AS s",
    ),
    "a field of its name": (
        "a INT, s STRUCT<g: SMALLINT>, g INT GENERATED ALWAYS AS (hash(a))",
        "32767 AS a, named_struct('g', 32767) AS s",
    ),
    "another field": (
        "s STRUCT<a: SMALLINT, b: SMALLINT>, g INT GENERATED ALWAYS AS (hash(s.a))",
        "named_struct('a', CAST(32767 AS SMALLINT), 'b', 32767) AS s",
    ),
    "its field": (
        "s STRUCT<a: SMALLINT, b: SMALLINT>, g INT GENERATED ALWAYS AS (hash(s.a))",
        "named_struct('a', 32767, 'b', CAST(32767 AS SMALLINT)) AS s",
    ),
    "too much": ("a SMALLINT, g INT GENERATED ALWAYS AS (hash(a))", "70000 AS a"),
}


@AREA.family(CASTS, quick={"its source", "another field"})
def other_types_by_mergeSchema(p: Player, case: tuple[str, str]) -> None:  # noqa: N802 the option's name
    columns, row = case
    p.sql(f"CREATE TABLE {{t}} ({columns}) USING delta")
    p.attempt(lambda: p.write(f"SELECT {row}", mergeSchema="true"), lambda: p.write(f"SELECT {row}"))
    p.schema()
    p.rows()


# -- definition

DEFINITIONS = {
    "names with dots": ("`a.b` INT, `x.y` INT GENERATED ALWAYS AS (`a.b` + 10)", "(`a.b`) VALUES (1)"),
    "a keyword": (
        "`current_date` INT, g INT GENERATED ALWAYS AS (`current_date` + 1)",
        "(`current_date`) VALUES (10)",
    ),
    "fields and elements": (
        """`a.b` STRING, a STRUCT<b: INT, c: STRING>, l ARRAY<INT>,
        g1 STRING GENERATED ALWAYS AS (concat(`a.b`, 'b')), g2 INT GENERATED ALWAYS AS (a.b + 100),
        g3 INT GENERATED ALWAYS AS (l[1])""",
        "(`a.b`, a, l) VALUES ('a', struct(100, 'foo'), array(1000, 1001))",
    ),
    "parts of a time": (
        """t TIMESTAMP, y DATE GENERATED ALWAYS AS (make_date(year(t), 1, 1)),
        m DATE GENERATED ALWAYS AS (make_date(year(t), month(t), 1)),
        d DATE GENERATED ALWAYS AS (make_date(year(t), month(t), day(t))),
        h TIMESTAMP GENERATED ALWAYS AS (make_timestamp(year(t), month(t), day(t), hour(t), 0, 0))""",
        "(t) VALUES (TIMESTAMP '2020-10-11 12:30:30')",
    ),
    "differences of times": (
        """a TIMESTAMP, b TIMESTAMP, g BIGINT GENERATED ALWAYS AS (timestampdiff(MONTH, a, b)),
        h TIMESTAMP GENERATED ALWAYS AS (timestampadd(MONTH, 1, a))""",
        "(a, b) VALUES (TIMESTAMP '2020-01-31 10:00:00', TIMESTAMP '2020-05-01 00:00:00')",
    ),
    "a pattern of a date": (
        "t TIMESTAMP, g DATE GENERATED ALWAYS AS (to_date(t, 'yyyy-MM-dd'))",
        "(t) VALUES (TIMESTAMP '2020-01-31 10:00:00')",
    ),
    "a comment, not null": (
        """a INT, g INT GENERATED ALWAYS AS (a + 10) COMMENT 'foo',
        h INT NOT NULL GENERATED ALWAYS AS (a + 10) COMMENT 'foo'""",
        "(a) VALUES (1)",
    ),
    "without a column": ("a INT, g INT GENERATED ALWAYS AS (5)", "(a) VALUES (1)"),
    "null": ("a INT, g INT GENERATED ALWAYS AS (CAST(NULL AS INT))", "(a) VALUES (1)"),
    "null, not null": ("a INT, g INT NOT NULL GENERATED ALWAYS AS (CAST(NULL AS INT))", "(a) VALUES (1)"),
    "not null from what may be": ("a INT, g INT NOT NULL GENERATED ALWAYS AS (a)", "(a) VALUES (1)"),
    "a struct": ("a INT, g STRUCT<x: INT> GENERATED ALWAYS AS (named_struct('x', a))", "(a) VALUES (1)"),
    "a struct, not null": (
        "a INT, g STRUCT<x: INT NOT NULL> GENERATED ALWAYS AS (named_struct('x', a))",
        "(a) VALUES (1)",
    ),
    "of a text": ("a INT, g INT GENERATED ALWAYS AS (CAST(a AS STRING))", "(a) VALUES (1)"),
    "of a text, not null": (
        "a INT, g INT NOT NULL GENERATED ALWAYS AS (CAST(a AS STRING))",
        "(a) VALUES (1)",
    ),
    "of a wider type": ("a INT, g INT GENERATED ALWAYS AS (CAST(a AS BIGINT))", "(a) VALUES (1)"),
    "of a wider type, not null": (
        "a INT, g INT NOT NULL GENERATED ALWAYS AS (CAST(a AS BIGINT))",
        "(a) VALUES (1)",
    ),
    "of a narrower type": ("a INT, g INT GENERATED ALWAYS AS (CAST(a AS SMALLINT))", "(a) VALUES (1)"),
    "of a narrower type, not null": (
        "a INT, g INT NOT NULL GENERATED ALWAYS AS (CAST(a AS SMALLINT))",
        "(a) VALUES (1)",
    ),
    "every column": ("g INT GENERATED ALWAYS AS (5), h INT GENERATED ALWAYS AS (6)", "VALUES (5, 6)"),
    "another generated one": (
        "a INT, g INT GENERATED ALWAYS AS (a), h INT GENERATED ALWAYS AS (g)",
        "(a) VALUES (1)",
    ),
    "no column": ("a INT, g INT GENERATED ALWAYS AS (z + 1)", "(a) VALUES (1)"),
    "itself": ("a INT, g INT GENERATED ALWAYS AS (g + 1)", "(a) VALUES (1)"),
    "of rows": ("a ARRAY<INT>, g INT GENERATED ALWAYS AS (explode(a))", "(a) VALUES (array(1))"),
    "now": ("a INT, g TIMESTAMP GENERATED ALWAYS AS (current_timestamp())", "(a) VALUES (1)"),
}


@AREA.grid(DEFINITIONS, long=True)
def defined_by_sql(p: Player, case: tuple[str, str]) -> None:
    columns, row = case
    p.attempt(f"CREATE TABLE {{t}} ({columns}) USING delta")
    if p.reported[-1] == "done":
        p.logged_schema()
        p.attempt(f"INSERT INTO {{t}} {row}")
        p.rows()


def _built(p: Player, builder: Any, expression: str = "n + 10", kind: str = "BIGINT") -> Any:
    made = builder.addColumn("n", "BIGINT").addColumn("g", kind, generatedAlwaysAs=expression)
    made = made.addColumn("t", "TIMESTAMP").addColumn(
        "d", "DATE", generatedAlwaysAs="cast(t as date)", comment="c"
    )
    return made.partitionedBy("d").location(p.path)


BUILDERS = {
    "create": ("create", False),
    "createIfNotExists": ("createIfNotExists", False),
    "createOrReplace": ("createOrReplace", False),
    "createOrReplace of one": ("createOrReplace", True),
    "replace of one": ("replace", True),
    "replace of none": ("replace", False),
    "createIfNotExists of one": ("createIfNotExists", True),
}


@AREA.grid(BUILDERS)
def defined_by_the_builder(p: Player, case: tuple[str, bool]) -> None:
    kind, there = case
    if there:
        p.sql("CREATE TABLE {name} (n BIGINT) USING delta LOCATION '{at}/t'")
    p.attempt(lambda: _built(p, getattr(p.tables, kind)(p.spark).tableName(p.name)).execute())
    if p.reported[-1] == "done":
        p.logged_schema()
        p.detail()
        p.attempt("INSERT INTO {name} (n, t) VALUES (1, TIMESTAMP '2020-10-11 12:30:30')")
        p.answers(lambda: p.sql("SELECT * FROM {name}"))


@AREA.situation()
def the_builder_and_another_type(p: Player) -> None:
    p.attempt(
        lambda: _built(p, p.tables.create(p.spark), "CAST(n AS STRING)").execute(),
        lambda: _built(p, p.tables.create(p.spark), "n + 10", "INT").execute(),
        lambda: _built(p, p.tables.create(p.spark), "z").execute(),
    )


AGAIN = {
    "the same": ("n + 10", "BIGINT"),
    "in another form": ("n+10", "BIGINT"),
    "another expression": ("n + 11", "BIGINT"),
    "another type": ("CAST(n AS INT)", "INT"),
}


@AREA.grid(AGAIN)
def a_second_creation(p: Player, case: tuple[str, str]) -> None:
    _built(p, p.tables.create(p.spark)).execute()
    p.attempt(
        lambda: _built(p, p.tables.create(p.spark).tableName(p.name), *case).execute(),
        lambda: p.tables.createIfNotExists(p.spark).location(p.path).execute(),
        "CREATE TABLE IF NOT EXISTS {name} USING delta LOCATION '{at}/t'",
    )
    p.logged_schema()


@AREA.situation()
def the_feature_comes_with_it(p: Player) -> None:
    p.sql("CREATE TABLE {name} (i INT) USING delta LOCATION '{at}/t'")
    p.detail()
    p.sql("REPLACE TABLE {name} (i INT, g INT GENERATED ALWAYS AS (i)) USING delta")
    p.detail()
    p.attempt(
        "ALTER TABLE {t} DROP FEATURE generatedColumns",
        "ALTER TABLE {t} ADD COLUMN h INT GENERATED ALWAYS AS (i)",
    )


@AREA.situation()
def what_is_read_shows_no_expression(p: Player) -> None:
    p.sql(
        f"CREATE TABLE {{t}} (a INT, g INT GENERATED ALWAYS AS (a + 1)) USING delta TBLPROPERTIES ('{FEED}' = 'true')",
        "INSERT INTO {t} (a) VALUES (1)",
        "CREATE TABLE {name} USING delta LOCATION '{at}/t'",
    )
    stream = p.spark.readStream.format("delta")
    for df in (
        p.read(),
        p.sql("SELECT * FROM {name}"),
        p.read(versionAsOf=0),
        p.read(readChangeFeed="true", startingVersion=0),
        stream.load(p.path),
        stream.table(p.name),
        p.spark.readStream.format("delta").option("readChangeFeed", "true").load(p.path),
    ):
        p.schema(df)
    p.stream()
    p.path = f"{p.at}/u"
    p.logged_schema()


@AREA.situation()
def texts_of_a_length_beside_it(p: Player) -> None:
    p.conf("spark.sql.readSideCharPadding", "true")
    p.sql("CREATE TABLE {t} (a INT, c CHAR(5), g INT GENERATED ALWAYS AS (a + 1)) USING delta")
    p.attempt(
        """MERGE INTO {t} AS t USING (SELECT CAST(id AS INT) AS a, CAST(id AS CHAR(5)) AS c FROM range(3)) AS s
        ON t.a = s.a WHEN MATCHED THEN UPDATE SET a = s.a, c = s.c
        WHEN NOT MATCHED THEN INSERT (a, c) VALUES (s.a, s.c)""",
        "UPDATE {t} SET c = 'upd' WHERE a = 1",
        "DELETE FROM {t} WHERE a = 2",
    )
    p.rows()


OF_TYPES = (
    "CREATE TABLE {t} (n TINYINT, g TINYINT GENERATED ALWAYS AS (CAST(n + 1 AS TINYINT)), s STRUCT<a: TINYINT>, "
    "h TINYINT GENERATED ALWAYS AS (s.a), v TINYINT) USING delta TBLPROPERTIES ('delta.enableTypeWidening' = '{}')"
)


@AREA.family({"without type widening": "false", "with type widening": "true"})
def the_type_of_a_column(p: Player, widens: str) -> None:
    """Neither a generated column nor one that it is made of gets another type."""
    p.sql(
        OF_TYPES.replace("'{}'", f"'{widens}'"),
        "INSERT INTO {t} (n, s, v) VALUES (1, named_struct('a', 2), 3)",
    )
    for change in (
        "ALTER COLUMN g TYPE SMALLINT",
        "ALTER COLUMN g TYPE INT",
        "ALTER COLUMN g TYPE TINYINT",
        "CHANGE COLUMN g g TINYINT COMMENT 'c'",
        "CHANGE COLUMN g g INT COMMENT 'c'",
        "ALTER COLUMN h TYPE INT",
        "ALTER COLUMN n TYPE SMALLINT",
        "ALTER COLUMN s.a TYPE SMALLINT",
        "ALTER COLUMN v TYPE SMALLINT",
    ):
        p.attempt(f"ALTER TABLE {{t}} {change}")
        p.tell(p.sql("DESCRIBE HISTORY {t} LIMIT 1").first().version)
    p.attempt("INSERT INTO {t} (n, s, v) VALUES (2, named_struct('a', 3), 4)")
    p.rows()
    p.schema()
