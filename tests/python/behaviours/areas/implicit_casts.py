# ruff: noqa: E501 (a statement reads best in one line)
"""Values that UPDATE and MERGE cast: what does not fit, and what `spark.sql.storeAssignmentPolicy` makes of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from playing import Area

if TYPE_CHECKING:
    from playing import Player

AREA = Area("implicit_casts")

INT, LONG = 2**31 - 1, 2**63 - 1
# type of the source and of the table, a value that fits, one that does not
PAIRS = {
    "int into tinyint": ("INT", "TINYINT", "1", f"{INT}"),
    "int into smallint": ("INT", "SMALLINT", "1", f"{INT}"),
    "bigint into int": ("BIGINT", "INT", "1", f"{LONG}"),
    "double into bigint": ("DOUBLE", "BIGINT", "1", "12345678901234567890D"),
    "bigint into decimal": ("BIGINT", "DECIMAL(7,2)", "1", f"{LONG}"),
    "structs": ("STRUCT<value: BIGINT>", "STRUCT<value: INT>", "named_struct('value', 1)", f"named_struct('value', {LONG})"),
    "arrays": ("ARRAY<BIGINT>", "ARRAY<INT>", "array(1)", f"array({LONG})"),
    "string into int": ("STRING", "INT", "'1'", f"'{LONG}'"),
    "maps": ("MAP<STRING, BIGINT>", "MAP<STRING, INT>", "map('abc', 1)", f"map('abc', {LONG})"),
    "decimals": ("DECIMAL(3,1)", "DECIMAL(3,2)", "CAST(1 AS DECIMAL(3,1))", "CAST(12.3 AS DECIMAL(3,1))"),
}  # fmt: skip
COLUMNS = {pair: f"c{n}" for n, pair in enumerate(PAIRS)}
TABLE = (
    "CREATE TABLE {t} USING delta AS SELECT CAST(id AS INT) AS key, "
    + ", ".join(f"CAST({valid} AS {ours}) AS {COLUMNS[pair]}" for pair, (_, ours, valid, _) in PAIRS.items())
    + " FROM range(3)"
)


def source(*too_large: str) -> str:
    """Rows of which the columns of some pairs do not fit: one matches, one is new."""
    columns = (
        f"CAST({large if pair in too_large else valid} AS {theirs}) AS {COLUMNS[pair]}"
        for pair, (theirs, _, valid, large) in PAIRS.items()
    )
    return f"SELECT CAST(id + 2 AS INT) AS key, {', '.join(columns)} FROM range(2)"


def merge(*pairs: str, how: str) -> str:
    if how == "by source":
        sets = ", ".join(f"t.{COLUMNS[p]} = {PAIRS[p][3]}" for p in pairs)
        clause = f"WHEN NOT MATCHED BY SOURCE THEN UPDATE SET {sets}"
    elif how == "inserted":
        clause = "WHEN NOT MATCHED THEN INSERT *"
    else:
        clause = "WHEN MATCHED THEN UPDATE SET " + ", ".join(
            f"t.{COLUMNS[p]} = s.{COLUMNS[p]}" for p in pairs
        )
    return f"MERGE INTO {{t}} AS t USING ({source(*pairs)}) AS s ON s.key = t.key {clause}"


STATEMENTS = {
    "updated": lambda *pairs: "UPDATE {t} SET " + ", ".join(f"{COLUMNS[p]} = {PAIRS[p][3]}" for p in pairs),
    "merged, matches": lambda *pairs: merge(*pairs, how="set"),
    "merged, new rows": lambda *pairs: merge(*pairs, how="inserted"),
    "merged, rows without a match in the source": lambda *pairs: merge(*pairs, how="by source"),
}
ANSI = {"ANSI on": "true", "ANSI off": "false"}
TOO_LARGE = {f"{what}, {ansi}": (what, on) for ansi, on in ANSI.items() for what in STATEMENTS}


@AREA.family(TOO_LARGE, quick={"updated, ANSI off", "merged, new rows, ANSI off"})
def what_does_not_fit(p: Player, case: tuple[str, str]) -> None:
    """An error whatever `spark.sql.ansi.enabled` says, that names the types, and the table stays."""
    what, ansi = case
    p.sql(TABLE)
    p.conf("spark.sql.ansi.enabled", ansi)
    for pair in PAIRS:
        p.tell(pair)
        p.attempt(lambda pair=pair: p.sql(STATEMENTS[what](pair)))
    p.rows()


@AREA.family(ANSI, quick=())
def what_does_not_fit_in_a_stream(p: Player, ansi: str) -> None:
    """By a merge of each batch."""
    p.sql(TABLE, f"CREATE TABLE {{u}} USING delta AS {source(*PAIRS)}")
    p.conf("spark.sql.ansi.enabled", ansi)
    in_batches(p, PAIRS)


@AREA.family(
    {f"{what}, {ansi}": (what, on) for ansi, on in ANSI.items() for what in [*STATEMENTS, "stream"]},
    quick={"updated, ANSI on", "merged, matches, ANSI off"},
)
def legacy(p: Player, case: tuple[str, str]) -> None:
    """LEGACY stores what the cast makes of it."""
    what, ansi = case
    p.sql(TABLE)
    p.conf("spark.sql.ansi.enabled", ansi)
    p.conf("spark.sql.storeAssignmentPolicy", "LEGACY")
    if what == "stream":
        p.sql(f"CREATE TABLE {{u}} USING delta AS {source(*PAIRS)}")
        in_batches(p, [None])
    else:
        p.attempt(STATEMENTS[what](*PAIRS))
    p.rows()


def in_batches(p: Player, pairs: Any) -> None:
    """Streams a table into merges of its batches, which take one pair each, or all."""

    def merge_it(batch: Any, _: int) -> None:
        batch.createOrReplaceTempView("batch_of_casts")
        for pair in pairs:
            names = [pair] if pair else [*PAIRS]
            columns = ", ".join(["key", *(COLUMNS[n] for n in names)])
            given = ", ".join(["s.key", *(f"s.{COLUMNS[n]}" for n in names)])
            statement = f"MERGE INTO {{t}} AS t USING batch_of_casts AS s ON s.key = t.key WHEN NOT MATCHED THEN INSERT ({columns}) VALUES ({given})"
            p.tell(pair)
            p.attempt(lambda statement=statement: batch.sparkSession.sql(p.text(statement)))

    rows = p.spark.readStream.format("delta").load(f"{p.at}/u")
    query = rows.writeStream.foreachBatch(merge_it).option("checkpointLocation", f"{p.at}/checkpoint")
    query.trigger(availableNow=True).start().awaitTermination()


POLICIES = ("LEGACY", "ANSI", "STRICT")
NUMBERS, FLAGS = (
    "CREATE TABLE {t} (n INT, b BOOLEAN, l BIGINT, s STRING) USING delta",
    "INSERT INTO {t} VALUES (0, true, 0, '0'), (1, false, 1, '1')",
)
UPDATES = {
    "a text that is no number": "n = 'x'",
    "a text that is one": "n = '5'",
    "a smaller number": "l = 5",
    "a number with a fraction": "n = 1.5D",
    "infinity": "n = CAST('Infinity' AS DOUBLE)",
    "a number as text": "s = 5",
    "a text as boolean": "b = 'false'",
    "a number as boolean": "b = 1",
}  # fmt: skip


@AREA.family({policy: policy for policy in POLICIES}, quick={"STRICT"})
def policies_of_updates(p: Player, policy: str) -> None:
    p.sql(NUMBERS, FLAGS)
    p.conf("spark.sql.storeAssignmentPolicy", policy)
    for name, setting in UPDATES.items():
        p.tell({"case": name})
        p.beside().play(lambda p, s=setting: (p.attempt(f"UPDATE {{t}} SET {s} WHERE n = 1"), p.rows()))


def values(*rows: str, names: str = "key, value") -> str:
    return f"SELECT * FROM VALUES {', '.join(rows)} AS v({names})"


STARS = "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
INTEGERS = values("(0, 0)", "(1, 1)", "(3, 3)")
# table, source, clauses
MERGES = {
    "int into bigint": (values("(0, 0L)", "(1, 1L)", "(3, 3L)"), values("(1, 1)", "(2, 2)"), STARS),
    "string into boolean": (values("(0, true)", "(1, false)", "(3, true)"), values("(1, 'true')", "(2, 'false')"), STARS),
    "string into int": (INTEGERS, values("(1, '1')", "(2, '2')"), STARS),
    "bigint into int": (INTEGERS, values("(1, 1L)", "(2, 2L)"), STARS),
    "no number into int": (INTEGERS, values("(1, '1')", "(5, 'notANumber')"), "WHEN NOT MATCHED THEN INSERT *"),
    "double into int": (INTEGERS, values("(1, 1.1D)", "(2, 2.2D)"), STARS),
    "infinity into int": (INTEGERS, "SELECT 5 AS key, CAST('Infinity' AS DOUBLE) AS value", "WHEN NOT MATCHED THEN INSERT *"),
    "binary into int": (INTEGERS, values("(1, X'01')", "(2, X'02')"), STARS),
    "binary into int, updates": (INTEGERS, values("(1, X'01')", "(2, X'02')"), "WHEN MATCHED THEN UPDATE SET *"),
    "tinyint and smallint into int": (INTEGERS, values("(1Y, 1S)", "(2Y, 2S)"), STARS),
    "int into tinyint and smallint": (values("(0Y, 0S)", "(1Y, 10S)"), values("(1, 1)", "(2, 2)"), STARS),
    "several": (values("(0L, '0')", "(1L, '10')"), values("(1, 1L)", "(2, 2L)"), STARS),
    "a new column": (INTEGERS, values("(1, 1, 'one')", "(2, 2, 'two')", names="key, value, extra"),
                     "WHEN MATCHED THEN UPDATE SET value = CAST(s.value AS SMALLINT) WHEN NOT MATCHED THEN INSERT *"),
    "structs in arrays": ("SELECT 1 AS key, array(named_struct('a', 1L)) AS value", "SELECT 1 AS key, array(named_struct('a', 2)) AS value", STARS),
}  # fmt: skip


# with evolution deltaic makes the columns wider, as it does in a write
AS_IT_IS = ("int into tinyint and smallint",)


@AREA.family({policy: policy for policy in POLICIES}, quick={"STRICT"})
def policies_of_merges(p: Player, policy: str) -> None:
    """With schema evolution and without."""
    for n, (name, (table, given, clauses)) in enumerate(MERGES.items()):
        p.path = f"{p.at}/t{n}"
        p.sql(f"CREATE TABLE {{t}} USING delta AS {table}")
        for evolution in ("",) if name in AS_IT_IS else ("", "WITH SCHEMA EVOLUTION "):
            p.tell({"case": f"{name} {evolution}"})
            p.beside().play(
                lambda p, e=evolution, g=given, c=clauses: merged(
                    p, policy, f"MERGE {e}INTO {{t}} AS t USING ({g}) AS s ON s.key = t.key {c}"
                )
            )


def merged(p: Player, policy: str, statement: str) -> None:
    p.conf("spark.sql.storeAssignmentPolicy", policy)
    p.attempt(statement)
    p.rows()
    p.schema()


@AREA.situation()
def null_structs(p: Player) -> None:
    """They stay null where types are cast and fields change places."""
    p.sql(
        "CREATE TABLE {t} (a STRUCT<x: INT>, b STRUCT<x: INT, y: INT>) USING delta",
        "INSERT INTO {t} VALUES (NULL, NULL), (named_struct('x', 1), named_struct('x', 1, 'y', 2))",
    )
    p.attempt("UPDATE {t} SET a = CAST(NULL AS STRUCT<x: BIGINT>), b = CAST(NULL AS STRUCT<y: INT, x: INT>)")
    p.rows()
