"""CHECK constraints, NOT NULL, and the lengths of CHAR and VARCHAR."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playing import Area

if TYPE_CHECKING:
    from playing import Player

AREA = Area("constraints")

WIDENS = "'delta.enableTypeWidening' = 'true'"

POSITIVE = ("CREATE TABLE {t} (a INT) USING delta", "ALTER TABLE {t} ADD CONSTRAINT c CHECK (a > 0)")

# -- a constraint that CREATE TABLE has as a property

IN_CREATE = {
    "a condition": "a > 0",
}


@AREA.grid(IN_CREATE)
def a_constraint_in_create_table(p: Player, condition: str) -> None:
    p.attempt(
        f"CREATE TABLE {{t}} (a INT) USING delta TBLPROPERTIES ('delta.constraints.c' = '{condition}')",
        "INSERT INTO {t} VALUES (1)",
        "INSERT INTO {t} VALUES (-1)",
        "SELECT * FROM {t}",
    )


@AREA.situation()
def a_constraint_in_create_table_as_select(p: Player) -> None:
    made = "CREATE TABLE {t} USING delta TBLPROPERTIES ('delta.constraints.c' = 'a > 0') AS SELECT"
    p.attempt(made + " 1 AS a", "INSERT INTO {t} VALUES (-1)")
    p.rows()


@AREA.situation()
def a_constraint_in_replace_table(p: Player) -> None:
    p.sql("CREATE TABLE {name} (a INT) USING delta LOCATION '{at}/t'", "INSERT INTO {t} VALUES (-1)")
    p.attempt(
        """CREATE OR REPLACE TABLE {name} (a INT) USING delta
        LOCATION '{at}/t' TBLPROPERTIES ('delta.constraints.c' = 'a > 0')""",
        "INSERT INTO {t} VALUES (-1)",
        "INSERT INTO {t} VALUES (1)",
    )
    p.rows()
    p.detail()


@AREA.situation()
def a_constraint_by_the_builder(p: Player) -> None:
    def make() -> None:
        builder = p.tables.create(p.spark).location(p.path).addColumn("a", "INT")
        builder.property("delta.constraints.c", "a > 0").execute()

    p.attempt(make, "INSERT INTO {t} VALUES (1)", "INSERT INTO {t} VALUES (-1)")


# -- ADD and DROP


@AREA.grid({"ADD": "ADD CONSTRAINT d CHECK (a < 9)", "DROP": "DROP CONSTRAINT c"}, *POSITIVE)
def a_semicolon_at_the_end(p: Player, what: str) -> None:
    p.attempt(f"ALTER TABLE {{t}} {what};", "INSERT INTO {t} VALUES (-1)", "INSERT INTO {t} VALUES (10)")
    p.commit()


@AREA.grid(
    {
        "none": "ALTER TABLE {t} DROP CONSTRAINT none",
        "one, if exists": "ALTER TABLE {t} DROP CONSTRAINT IF EXISTS c",
        "in other case": "ALTER TABLE {t} DROP CONSTRAINT C",
    },
    *POSITIVE,
    long=True,
)
def a_constraint_is_dropped(p: Player, statement: str) -> None:
    p.attempt(statement, "INSERT INTO {t} VALUES (-1)")
    p.commit()


@AREA.situation(differs="nothing changes, so there is no commit")
def a_constraint_that_is_not_there_is_dropped_if_it_exists(p: Player) -> None:
    p.sql(*POSITIVE, "ALTER TABLE {t} DROP CONSTRAINT IF EXISTS none")
    p.commit()


@AREA.grid(
    {
        "reserved": "__CHAR_VARCHAR_STRING_LENGTH_CHECK__",
        "there": "c",
        "there, in other case": "C",
        "with a dot": "`a.b`",
    },
    *POSITIVE,
    long=True,
)
def names_of_constraints(p: Player, name: str) -> None:
    p.attempt(f"ALTER TABLE {{t}} ADD CONSTRAINT {name} CHECK (a < 9)", "INSERT INTO {t} VALUES (10)")
    p.detail()


@AREA.situation()
def the_feature_is_dropped(p: Player) -> None:
    """Only where no constraint is left."""
    p.sql("CREATE TABLE {t} (a INT) USING delta", "ALTER TABLE {t} ADD CONSTRAINT c CHECK (a > 0)")
    p.attempt("ALTER TABLE {t} DROP FEATURE checkConstraints")
    p.sql("ALTER TABLE {t} DROP CONSTRAINT c")
    p.attempt("ALTER TABLE {t} DROP FEATURE checkConstraints")
    p.detail()


@AREA.situation()
def rows_that_are_there_are_checked(p: Player) -> None:
    p.sql("CREATE TABLE {t} (a INT, s STRUCT<b: INT>) USING delta")
    p.sql("INSERT INTO {t} VALUES (1, NULL), (NULL, struct(1))")
    p.attempt(
        "ALTER TABLE {t} ADD CONSTRAINT positive CHECK (a > 0)",
        "ALTER TABLE {t} ADD CONSTRAINT nested CHECK (s.b > 0)",
        "ALTER TABLE {t} ADD CONSTRAINT lenient CHECK (a IS NULL OR a > 0)",
    )
    p.commit()


# -- what a constraint says

EXPRESSIONS = {
    "LIKE ANY": ("s LIKE ANY ('a%', 'b%')", "'ax'", "'cx'"),
    "NOT LIKE ANY": ("s NOT LIKE ANY ('a%', 'b%')", "'cx'", "NULL"),
    "null": ("s > 'a'", "'b'", "NULL"),
    "IN with null": ("s IN ('a', NULL)", "'a'", "'c'"),
    "CASE": ("CASE WHEN s = 'a' THEN true WHEN s = 'b' THEN false END", "'a'", "'c'"),
    "cast": ("CAST(s AS INT) > 0", "'5'", "'-5'"),
}


@AREA.grid(EXPRESSIONS, "CREATE TABLE {t} (s STRING) USING delta", long=True)
def texts(p: Player, case: tuple[str, str, str]) -> None:
    condition, right, wrong = case
    p.attempt(
        f"ALTER TABLE {{t}} ADD CONSTRAINT c CHECK ({condition})",
        f"INSERT INTO {{t}} VALUES ({right})",
        f"INSERT INTO {{t}} VALUES ({wrong})",
    )
    p.rows()


OF_PATTERNS = {
    "LIKE ALL": ("s LIKE ALL ('a%', '%b')", "'axb'", "'ax'"),
    "NOT LIKE ALL": ("s NOT LIKE ALL ('a%', '%b')", "'x'", "'xb'"),
    "LIKE SOME": ("s LIKE SOME ('a%', 'b%')", "'bx'", "'cx'"),
    "a unit of time": (
        "timestampdiff(DAY, CAST(s AS TIMESTAMP), TIMESTAMP '2020-01-10') > 5",
        "'2020-01-01'",
        "'2020-01-08'",
    ),
}


@AREA.grid(OF_PATTERNS, "CREATE TABLE {t} (s STRING) USING delta")
def what_only_spark_computes(p: Player, case: tuple[str, str, str]) -> None:
    texts(p, case)


ARRAYS = {
    "array_size": ("array_size(a) = 2", "array(1, 2)", "array(1)"),
    "array_compact": ("array_size(array_compact(a)) = 1", "array(1, NULL)", "array(1, 2)"),
    "array_append": ("array_size(array_append(a, 1)) = 2", "array(7)", "array()"),
    "array_prepend": ("array_prepend(a, 0)[0] = 0 AND a[0] = 1", "array(1)", "array(2)"),
    "array_insert": ("array_insert(a, 1, 5)[1] = 1", "array(1)", "array(2)"),
}


@AREA.grid(ARRAYS, "CREATE TABLE {t} (a ARRAY<INT>) USING delta", long=True)
def arrays(p: Player, case: tuple[str, str, str]) -> None:
    condition, right, wrong = case
    p.attempt(
        f"ALTER TABLE {{t}} ADD CONSTRAINT c CHECK ({condition})",
        f"INSERT INTO {{t}} VALUES ({right})",
        f"INSERT INTO {{t}} VALUES ({wrong})",
    )
    p.rows()


# conditions that Spark evaluates, and whether the rows 1 and 2 break them
SPARKS = {
    "hash": "hash(a) <> 0",
    "hash, broken": "hash(a) = hash(1)",
    "xxhash64": "xxhash64(a) IS NOT NULL",
    "no condition": "hash(a)",
    "no column": "hash(z) <> 0",
}


@AREA.grid(SPARKS, "CREATE TABLE {t} (a INT) USING delta", "INSERT INTO {t} VALUES (1), (2)", long=True)
def functions_of_spark(p: Player, condition: str) -> None:
    p.attempt(f"ALTER TABLE {{t}} ADD CONSTRAINT c CHECK ({condition})", "INSERT INTO {t} VALUES (-3)")
    p.rows()


NESTED = {
    "a null struct": ("s.b > 0", "NULL"),
    "a field that is null": ("s.b > 0", "named_struct('b', NULL, 'm', NULL)"),
    "a wrong field": ("s.b > 0", "named_struct('b', -1, 'm', NULL)"),
    "an element of a map": ("s.m['x'] > 0", "named_struct('b', 1, 'm', map('x', -1))"),
    "a key that is not there": ("s.m['x'] > 0", "named_struct('b', 1, 'm', map('y', 1))"),
}


@AREA.grid(NESTED, "CREATE TABLE {t} (s STRUCT<b: INT, m: MAP<STRING, INT>>) USING delta", long=True)
def fields(p: Player, case: tuple[str, str]) -> None:
    condition, wrong = case
    p.sql(f"ALTER TABLE {{t}} ADD CONSTRAINT c CHECK ({condition})")
    p.attempt(
        "INSERT INTO {t} SELECT named_struct('b', 1, 'm', map('x', 1))", f"INSERT INTO {{t}} SELECT {wrong}"
    )
    p.rows()


DOORS = {
    "INSERT": "INSERT INTO {t} SELECT -1, 'x'",
    "INSERT OVERWRITE": "INSERT OVERWRITE {t} SELECT -1, 'x'",
    "REPLACE WHERE": "INSERT INTO {t} REPLACE WHERE a = 1 SELECT -1, 'x'",
    "UPDATE": "UPDATE {t} SET a = -1 WHERE a = 1",
    "UPDATE of another column": "UPDATE {t} SET b = 'y'",
    "DELETE": "DELETE FROM {t} WHERE a = 1",
    "MERGE UPDATE": "MERGE INTO {t} USING (SELECT 1 AS k) ON a = k WHEN MATCHED THEN UPDATE SET a = -1",
    "MERGE INSERT": "MERGE INTO {t} USING (SELECT -1 AS k) ON a = k WHEN NOT MATCHED THEN INSERT (a) VALUES (k)",
    "MERGE DELETE": "MERGE INTO {t} USING (SELECT 1 AS k) ON a = k WHEN MATCHED THEN DELETE",
    "MERGE BY SOURCE": """MERGE INTO {t} USING (SELECT 1 AS k) ON a = k
        WHEN NOT MATCHED BY SOURCE THEN UPDATE SET a = -a""",
}


@AREA.grid(
    DOORS,
    "CREATE TABLE {t} (a INT, b STRING) USING delta",
    "INSERT INTO {t} VALUES (1, 'a'), (2, 'b')",
    "ALTER TABLE {t} ADD CONSTRAINT c CHECK (a > 0)",
    long=True,
)
def each_statement_holds_it(p: Player, statement: str) -> None:
    p.attempt(statement)
    p.rows()


@AREA.situation()
def a_stream_with_a_projection_holds_it(p: Player) -> None:
    p.sql("CREATE TABLE {t} (a INT) USING delta", "INSERT INTO {t} VALUES (1), (2)")
    p.sql("CREATE TABLE {u} (a INT, b INT) USING delta", "ALTER TABLE {u} ADD CONSTRAINT c CHECK (b < 30)")
    rows = p.spark.readStream.format("delta").load(p.path).selectExpr("a", "a * 10 AS b")
    p.attempt(lambda: p.stream(rows=rows))
    p.sql("INSERT INTO {t} VALUES (3)")
    p.attempt(lambda: p.stream(rows=rows))
    p.rows("SELECT * FROM {u}")


# -- empty texts in partition columns are null

EMPTY = {"not empty": "p <> ''", "not null": "p IS NOT NULL", "null": "p IS NULL", "length": "length(p) = 0"}


@AREA.grid(EMPTY, "CREATE TABLE {t} (a INT, p STRING) USING delta PARTITIONED BY (p)")
def an_empty_text_in_a_partition_column(p: Player, condition: str) -> None:
    p.sql(f"ALTER TABLE {{t}} ADD CONSTRAINT c CHECK ({condition})")
    p.attempt(
        "INSERT INTO {t} VALUES (1, '')",
        "INSERT INTO {t} VALUES (2, NULL)",
        "INSERT INTO {t} VALUES (3, 'x')",
        lambda: p.write("SELECT 4 AS a, '' AS p"),
        "MERGE INTO {t} USING (SELECT 5 AS k) ON a = k WHEN NOT MATCHED THEN INSERT (a, p) VALUES (5, '')",
        "UPDATE {t} SET p = '' WHERE a = 3",
    )
    p.rows()


# -- CHAR and VARCHAR


@AREA.grid(
    {
        f"{kind}, {padded}, {condition}": (kind, padded, condition)
        for kind in ("VARCHAR(5)",)
        for padded in ("true", "false")
        for condition in ("c = 'ab'", "length(c) = 2")
    },
    long=True,
)
def a_constraint_on_a_text_of_a_length(p: Player, case: tuple[str, str, str]) -> None:
    kind, padded, condition = case
    p.conf("spark.sql.readSideCharPadding", padded)
    p.sql(f"CREATE TABLE {{t}} (a INT, c {kind}) USING delta")
    p.attempt(
        f"ALTER TABLE {{t}} ADD CONSTRAINT c CHECK ({condition})",
        "INSERT INTO {t} VALUES (1, 'ab')",
        "INSERT INTO {t} VALUES (2, 'ab   ')",
        "INSERT INTO {t} VALUES (3, 'cd')",
    )
    p.rows("SELECT a, c, length(c) FROM {t}")


# -- NOT NULL

PLACES = {
    "a struct": "a STRUCT<x: INT NOT NULL>",
    "a struct that is not null": "a STRUCT<x: INT NOT NULL> NOT NULL",
}


@AREA.grid(PLACES)
def not_null_within_a_column(p: Player, column: str) -> None:
    p.attempt(f"CREATE TABLE {{t}} ({column}, k INT) USING delta")


ABSENT = {
    "null": "INSERT INTO {t} VALUES (NULL, 1)",
    "updated": "UPDATE {t} SET a = NULL",
    "nullif": "INSERT INTO {t} SELECT nullif(1, 1), 2",
}


@AREA.grid(ABSENT, "CREATE TABLE {t} (a INT NOT NULL, b INT) USING delta", "INSERT INTO {t} VALUES (1, 1)")
def null_where_none_may_be(p: Player, statement: str) -> None:
    p.attempt(statement)
    p.rows()


@AREA.situation()
def not_null_is_taken_away(p: Player) -> None:
    p.sql("CREATE TABLE {t} (a INT NOT NULL) USING delta")
    p.attempt(
        "INSERT INTO {t} VALUES (NULL)",
        "ALTER TABLE {t} ALTER COLUMN a DROP NOT NULL",
        "INSERT INTO {t} VALUES (NULL)",
        "ALTER TABLE {t} ALTER COLUMN a SET NOT NULL",
    )
    p.rows()


# -- other changes of the table

OTHER = {
    "a property": "ALTER TABLE {t} SET TBLPROPERTIES ('x' = 'y')",
    "a comment": "ALTER TABLE {t} ALTER COLUMN a COMMENT 'x'",
    "a column joins": "ALTER TABLE {t} ADD COLUMN c INT",
    "a field joins": "ALTER TABLE {t} ADD COLUMN s.y INT",
    "its column moves": "ALTER TABLE {t} ALTER COLUMN a AFTER b",
    "its column is renamed": "ALTER TABLE {t} RENAME COLUMN a TO z",
    "its column is dropped": "ALTER TABLE {t} DROP COLUMN a",
    "its field is renamed": "ALTER TABLE {t} RENAME COLUMN s.x TO z",
    "its struct is renamed": "ALTER TABLE {t} RENAME COLUMN s TO z",
    "its struct is dropped": "ALTER TABLE {t} DROP COLUMN s",
    "another field is renamed": "ALTER TABLE {t} RENAME COLUMN s.other TO z",
    "another field is dropped": "ALTER TABLE {t} DROP COLUMN s.other",
    "another column is dropped": "ALTER TABLE {t} DROP COLUMN b",
    "its column widens": "ALTER TABLE {t} ALTER COLUMN a TYPE BIGINT",
    "its field widens": "ALTER TABLE {t} ALTER COLUMN s.x TYPE BIGINT",
    "another field widens": "ALTER TABLE {t} ALTER COLUMN s.other TYPE BIGINT",
    "another column widens": "ALTER TABLE {t} ALTER COLUMN b TYPE BIGINT",
    "the constraint as a property": "ALTER TABLE {t} SET TBLPROPERTIES ('delta.constraints.d' = 'a < 9')",
}


@AREA.grid(
    OTHER,
    f"""CREATE TABLE {{t}} (a INT, b INT, s STRUCT<x: INT, other: INT>) USING delta
    TBLPROPERTIES ('delta.columnMapping.mode' = 'name', {WIDENS})""",
    "ALTER TABLE {t} ADD CONSTRAINT c CHECK (a > 0)",
    "ALTER TABLE {t} ADD CONSTRAINT d CHECK (s.x > 0)",
    long=True,
)
def alter_table_beside_constraints(p: Player, statement: str) -> None:
    p.attempt(statement)
    p.schema()


# -- texts of a limited length that must be there


@AREA.situation()
def values_that_a_varchar_must_not_have(p: Player) -> None:
    p.sql("CREATE TABLE {t} (a INT, v VARCHAR(3) NOT NULL) USING delta", "INSERT INTO {t} VALUES (1, 'a')")
    of = "MERGE INTO {t} t USING (SELECT %s AS a, CAST(%s AS STRING) AS v) s ON t.a = s.a %s"
    update, insert = "WHEN MATCHED THEN UPDATE SET v = s.v", "WHEN NOT MATCHED THEN INSERT *"
    p.attempt(
        "INSERT INTO {t} SELECT 2, NULL",
        "INSERT INTO {t} SELECT 2, 'abcd'",
        "UPDATE {t} SET v = NULL",
        "UPDATE {t} SET v = 'abcd'",
        of % (1, "NULL", update),
        of % (1, "'abcd'", update),
        of % (3, "NULL", insert),
        of % (3, "'abcd'", insert),
    )
    p.rows()


# -- other writes that change the table


@AREA.situation()
def an_overwrite_of_the_schema(p: Player) -> None:
    p.sql("CREATE TABLE {t} (a INT, b INT) USING delta", "ALTER TABLE {t} ADD CONSTRAINT c CHECK (a > 0)")
    p.attempt(
        lambda: p.write("SELECT 1L AS a, 1 AS b", mode="overwrite", overwriteSchema="true"),
        lambda: p.write("SELECT -1L AS a, 1 AS b", mode="overwrite", overwriteSchema="true"),
    )
    p.schema()
    p.rows()


@AREA.situation()
def restore_goes_behind_a_constraint(p: Player) -> None:
    p.sql("CREATE TABLE {t} (a INT) USING delta", "INSERT INTO {t} VALUES (1)")
    p.sql("ALTER TABLE {t} ADD CONSTRAINT c CHECK (a > 0)")
    p.attempt("INSERT INTO {t} VALUES (-1)")
    p.sql("RESTORE TABLE {t} TO VERSION AS OF 1")
    p.attempt("INSERT INTO {t} VALUES (-1)")
    p.sql("RESTORE TABLE {t} TO VERSION AS OF 2")
    p.attempt("INSERT INTO {t} VALUES (-2)")
    p.rows()


@AREA.situation()
def a_clone_keeps_its_constraints(p: Player) -> None:
    p.sql("CREATE TABLE {t} (a INT NOT NULL) USING delta", "INSERT INTO {t} VALUES (1)")
    p.sql("ALTER TABLE {t} ADD CONSTRAINT c CHECK (a > 0)", "CREATE TABLE {u} SHALLOW CLONE {t}")
    p.attempt("INSERT INTO {u} VALUES (-1)", "INSERT INTO {u} VALUES (2)")
    p.rows("SELECT * FROM {u}")
