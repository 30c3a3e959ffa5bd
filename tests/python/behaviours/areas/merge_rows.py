# ruff: noqa: E501 (a statement reads best in one line)
"""Which rows a merge updates, deletes and inserts, and what its change data tells."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, NamedTuple

from playing import FEED, Area

if TYPE_CHECKING:
    from playing import Player

AREA = Area("merge_rows")


class Merge(NamedTuple):
    """Rows of both sides by their columns, the condition, and the clauses."""

    target: str
    source: str
    on: str
    clauses: str
    columns: str = "key INT, value INT"
    source_columns: str = ""


class Kind(NamedTuple):
    partitioned: bool = False
    feed: bool = False


def played(p: Player, merges: dict[str, Merge], kind: Kind) -> None:
    """Each merge on a table of its own: what it answers, the rows, and the change data."""
    made: dict[str, str] = {}
    for name, merge in merges.items():
        p.tell({"case": name})
        p.path = f"{p.at}/t{len(made)}"
        pattern = made.setdefault(f"{merge.columns} {merge.target}", p.path)
        if pattern == p.path:
            by = f"PARTITIONED BY ({merge.columns.split()[0]})" if kind.partitioned else ""
            p.sql(
                f"CREATE TABLE {{t}} ({merge.columns}) USING delta {by} TBLPROPERTIES ('{FEED}' = '{str(kind.feed).lower()}')"
            )
            if merge.target:
                p.sql(f"INSERT INTO {{t}} VALUES {merge.target}")
        p.path = shutil.copytree(pattern, f"{pattern}_{len(p.reported)}")
        columns = ", ".join(one.split()[0] for one in (merge.source_columns or merge.columns).split(", "))
        nothing = ", ".join(["NULL"] * len(columns.split(", ")))
        rows = f"SELECT * FROM VALUES {merge.source or f'({nothing})'} AS v({columns}) WHERE {bool(merge.source)}"
        p.answers(f"MERGE INTO {{t}} AS t USING ({rows}) AS s ON {merge.on} {merge.clauses}")
        affected = p.reported[-1].get("rows", [])
        p.rows()
        # without an affected row delta-spark may have copied some, in a commit
        if kind.feed and affected and not affected[0].startswith('{"0":0,'):
            p.changes()


SET = "WHEN MATCHED THEN UPDATE SET *"
INSERT = "WHEN NOT MATCHED THEN INSERT *"
DELETE = "WHEN MATCHED THEN DELETE"
GONE = "WHEN NOT MATCHED BY SOURCE"
PLUS = "THEN UPDATE SET t.value = t.value + 1"
KEYS = "s.key = t.key"
THREE, FOUR = "(0, 0), (1, 1), (5, 5)", "(1, 10), (2, 20), (5, 50), (6, 60)"
EVEN = "(1, 1), (0, 2), (5, 5)"
SOME = "(2, 2), (1, 4), (7, 3)"
WITHOUT_SOURCE = {
    "three kinds of clauses": Merge("(2, 20), (1, 10), (5, 50)", THREE, KEYS, f"{SET} {INSERT} {GONE} THEN DELETE"),
    "three kinds with conditions": Merge("(1, 10), (2, 20), (5, 50), (7, 70)", THREE + ", (6, 6)", KEYS, f"WHEN MATCHED AND t.value < 30 THEN UPDATE SET * WHEN NOT MATCHED AND s.value < 4 THEN INSERT * {GONE} AND t.value > 40 THEN DELETE"),
    "delete": Merge(FOUR, THREE, KEYS, f"{GONE} THEN DELETE"),
    "delete with condition": Merge(FOUR, THREE, KEYS, f"{GONE} AND t.value > 40 THEN DELETE"),
    "two deletes": Merge("(1, 10), (2, 20), (3, 30), (4, 40)", "(1, 1), (2, 2), (5, 5), (6, 6)", KEYS, f"WHEN MATCHED AND s.value % 2 = 0 THEN DELETE {GONE} AND t.value % 20 = 0 THEN DELETE"),
    "two deletes without condition": Merge("(1, 10), (2, 20), (5, 50)", THREE + ", (6, 6)", KEYS, f"{DELETE} {GONE} THEN DELETE"),
    "update": Merge("(1, 10), (2, 20), (4, 40), (5, 50)", THREE, KEYS, f"{GONE} {PLUS}"),
    "update with condition": Merge("(1, 10), (2, 20), (4, 40), (5, 50)", THREE, KEYS, f"{GONE} AND t.value = 20 {PLUS}"),
    "update and delete of a part": Merge("(1, 10), (2, 20), (4, 40), (5, 50)", "(0, 0), (1, 1), (2, 2), (5, 5)", f"{KEYS} AND t.key > 4", f"{GONE} AND t.key = 1 {PLUS} {GONE} AND t.key = 4 THEN DELETE"),
    "delete of a match and update of a part": Merge("(1, 10), (2, 20), (4, 40), (5, 50), (6, 60)", "(0, 0), (1, 1), (2, 2), (5, 5), (6, 6)", f"{KEYS} AND t.key > 4", f"WHEN MATCHED AND t.key = 5 THEN DELETE {GONE} AND t.key = 1 {PLUS}"),
    "delete and update": Merge("(1, 10), (2, 20), (7, 70)", THREE, KEYS, f"{GONE} AND t.value % 20 = 0 THEN DELETE {GONE} {PLUS}"),
    "update and insert": Merge("(1, 10), (2, 20), (4, 40), (7, 70)", THREE + ", (4, 4)", KEYS, f"{INSERT} {GONE} {PLUS}"),
    "delete and insert": Merge("(1, 10), (2, 20), (7, 70)", THREE, KEYS, f"{INSERT} {GONE} AND t.value % 20 = 0 THEN DELETE"),
    "six clauses": Merge("(6, 6), (7, 7), (8, 8), (9, 9), (10, 10), (11, 11)", THREE, KEYS, " ".join(f"{GONE} AND t.key % 6 = {i} THEN UPDATE SET t.value = t.value + {5 - i}" for i in range(5)) + f" {GONE} THEN DELETE"),
    "update and insert with condition": Merge(SOME, EVEN, KEYS, f"WHEN NOT MATCHED AND s.value % 2 = 0 THEN INSERT * {GONE} {PLUS}"),
    "delete and insert with condition": Merge(SOME, EVEN, KEYS, f"WHEN NOT MATCHED AND s.value % 2 = 0 THEN INSERT * {GONE} AND t.value > 2 THEN DELETE"),
    "update of all rows": Merge("(3, 3), (4, 4), (6, 6), (7, 7), (8, 8), (9, 9)", EVEN, KEYS, f"{GONE} {PLUS}"),
    "insert beside a delete of nothing": Merge(SOME, EVEN, KEYS, f"WHEN NOT MATCHED AND s.value % 2 = 0 THEN INSERT * {GONE} AND t.value > 10 THEN DELETE"),
    "an empty source": Merge(SOME, "", KEYS, f"{GONE} AND t.key = 2 THEN UPDATE SET value = t.value + 1 {GONE} AND t.key = 7 THEN DELETE"),
    "an empty source and a delete": Merge(SOME, "", KEYS, f"{GONE} AND t.key = 7 THEN DELETE"),
    "nothing": Merge(SOME, EVEN, KEYS, f"WHEN MATCHED AND t.value > 10 THEN UPDATE SET * WHEN NOT MATCHED AND s.value > 10 THEN INSERT * {GONE} AND t.value > 10 THEN DELETE"),
}  # fmt: skip
KINDS = {
    "": Kind(),
    "partitioned": Kind(partitioned=True),
    "feed": Kind(feed=True),
    "partitioned, feed": Kind(partitioned=True, feed=True),
}


@AREA.family(KINDS, quick=[])
def rows_without_a_match_in_the_source(p: Player, kind: Kind) -> None:
    played(p, WITHOUT_SOURCE, kind)


BOTH = "WHEN MATCHED THEN UPDATE SET t.value = s.value WHEN NOT MATCHED THEN INSERT (t.key, t.value) VALUES (s.key, s.value)"
ONLY = "WHEN NOT MATCHED THEN INSERT (t.key, t.value) VALUES (s.key, s.value)"
UPDATE = "WHEN MATCHED THEN UPDATE SET t.value = s.value"
NULL = "(1, 1), (CAST(NULL AS INT), CAST(NULL AS INT))"
NULL_0, NULL_NULL = "(1, 10), (2, 20), (NULL, 0)", "(1, 10), (2, 20), (NULL, NULL)"
NULLS = {
    "null in the table": Merge(NULL, "(1, 10), (2, 20)", KEYS, BOTH),
    "null in the source": Merge("(1, 1)", NULL_NULL, KEYS, BOTH),
    "null in both": Merge(NULL, NULL_0, KEYS, BOTH),
    "IS NULL": Merge(NULL, NULL_0, f"{KEYS} AND s.key IS NULL", BOTH),
    "IS NOT NULL": Merge(NULL, "(1, NULL), (2, 20), (NULL, 0)", f"{KEYS} AND t.value IS NOT NULL", BOTH),
    "null-safe": Merge(NULL, NULL_0, "s.key <=> t.key", BOTH),
    "AND NULL": Merge(NULL, NULL_0, f"{KEYS} AND NULL", BOTH),
    "insert, null in the source": Merge("(1, 1)", NULL_NULL, KEYS, ONLY),
    "insert, null in both": Merge(NULL, NULL_0, KEYS, ONLY),
    "insert where null": Merge("(1, 1), (2, 20)", "(1, 10), (3, 30), (NULL, 0)", KEYS, ONLY.replace("MATCHED", "MATCHED AND s.key IS NULL")),
    "update, null in the source": Merge("(1, 1)", NULL_NULL, KEYS, UPDATE),
    "update, null in both": Merge(NULL, NULL_0, KEYS, UPDATE),
}  # fmt: skip


@AREA.family({"": Kind(), "partitioned": Kind(partitioned=True)}, quick=["partitioned"])
def keys_that_are_null(p: Player, kind: Kind) -> None:
    played(p, NULLS, kind)


OPS = "key2 STRING, value STRING, op STRING"
TEXTS = "('1', '2', 'noop'), ('1', '4', 'noop'), ('3', '2', 'noop'), ('4', '4', 'noop')"
OTHERS = "('2', '2', 'noop'), ('1', '4', 'noop'), ('3', '2', 'noop'), ('4', '4', 'noop')"
CHANGE = "WHEN MATCHED THEN UPDATE SET key2 = s.key1, value = s.value, op = 'update' WHEN NOT MATCHED THEN INSERT (key2, value, op) VALUES (s.key1, s.value, 'insert')"
TWO = "key1 STRING, value STRING"
ONE_SIDE = {
    "no match": Merge(OTHERS, "('1', '8'), ('0', '3')", "s.key1 = key2 AND key2 != '1'", CHANGE, OPS, TWO),
    "a part": Merge(TEXTS, "('1', '8'), ('0', '3')", "s.key1 = key2 AND key2 < '3'", CHANGE, OPS, TWO),
    "the table alone": Merge(TEXTS, "('1', '8')", "key2 < '3'", CHANGE, OPS, TWO),
    "never": Merge(TEXTS, "('1', '8'), ('0', '3')", "1 != 1", CHANGE, OPS, TWO),
    "always": Merge(TEXTS, "('1', '8')", "1 = 1", CHANGE, OPS, TWO),
    "a part of a file": Merge(TEXTS, "('1', '8'), ('3', '10'), ('0', '3')", "s.key1 = key2 AND key2 < '3'", CHANGE, OPS, TWO),
}  # fmt: skip
INTS = "key2 INT, value INT"
FROM = "key1 INT, value INT"
MOVE = "WHEN MATCHED THEN UPDATE SET key2 = 20 + key1, value = 20 + s.value WHEN NOT MATCHED THEN INSERT (key2, value) VALUES (key1 - 10, s.value + 10)"
MOVED = {
    "both": Merge("(2, 2), (1, 4)", "(1, 1), (0, 3)", "s.key1 = key2", MOVE, INTS, FROM),
    "a condition on both sides": Merge("(2, 2), (1, 4)", "(1, 1), (0, 3), (1, 6)", "s.key1 = key2 AND s.value < t.value", MOVE, INTS, FROM),
    "values of both sides": Merge("(2, 2), (1, 4)", "(1, 1), (0, 3)", "s.key1 = key2", MOVE.replace("key2 = 20 + key1, value = 20", "value = t.value, key2 = 20 + key2").replace("t.value, key2 = 20 + key2 + s.value", "t.value + s.value, key2 = 20 + key2"), INTS, FROM),
    "one column": Merge("(2, 2), (1, 4)", "(1, 1), (0, 3)", "s.key1 = key2", MOVE.replace("key2 = 20 + key1, ", ""), INTS, FROM),
    "two inserts": Merge("(2, 2), (1, 4)", "(1, 1), (0, 3), (3, 5)", "s.key1 = key2", "WHEN NOT MATCHED AND key1 = 0 THEN INSERT (key2, value) VALUES (s.key1, s.value + 3) WHEN NOT MATCHED THEN INSERT (key2, value) VALUES (s.key1 - 10, s.value + 10)", INTS, FROM),
    "inserts beside an update of nothing": Merge("(2, 2), (1, 4)", "(1, 1), (0, 3)", "s.key1 = key2", MOVE.replace("MATCHED THEN UPDATE", "MATCHED AND key2 = 5 THEN UPDATE"), INTS, FROM),
    "an empty table": Merge("", "(5, 5)", "s.key1 = t.key2", MOVE, INTS, FROM),
    "nothing on both sides": Merge("", "", "s.key1 = t.key2", MOVE, INTS, FROM),
    "updates only": Merge("(2, 2), (1, 4)", "(1, 5), (2, 9)", "s.key1 = t.key2", MOVE, INTS, FROM),
    "one row of the source for many": Merge("(2, 2), (1, 4)", "(1, 5), (2, 9)", "key1 = 1", MOVE, INTS, FROM),
    "no column of the source": Merge("(2, 2), (1, 4)", "(1, 1), (0, 3)", "key2 < 0", "WHEN MATCHED THEN UPDATE SET key2 = 20, value = 20 WHEN NOT MATCHED THEN INSERT (key2, value) VALUES (10, 10)", INTS, FROM),
    "more columns in the source": Merge("(2, 2), (1, 4)", "(1, 1, 'a'), (0, 3, 'b')", "s.key1 = key2", MOVE, INTS, FROM + ", col1 STRING"),
    "several matches": Merge("(2, 2), (1, 4)", "(1, 1), (0, 3), (1, 5)", "s.key1 = key2", MOVE, INTS, FROM),
    "casts": Merge("(2, 2), (1, 4)", "(1, '5'), (3, '9'), (3, 'a')", "key1 = key2", "WHEN MATCHED THEN UPDATE SET key2 = 33 + CAST(key2 AS DOUBLE), value = '20' WHEN NOT MATCHED THEN INSERT (key2, value) VALUES ('44', try_cast(s.value AS DOUBLE) + 10)", INTS, "key1 INT, value STRING"),
    "a key that is a text": Merge("(2, 2), (1, 4)", "('1', 1), ('01', 7), ('3', 3)", "key1 = key2 AND s.value < 7", MOVE.replace("+ key1", "+ key2").replace("key1 - 10", "CAST(key1 AS INT)"), INTS, "key1 STRING, value INT"),
    "a key that is no number": Merge("(2, 2), (1, 4)", "('1', 1), ('x', 3)", "key1 = key2", "WHEN MATCHED THEN DELETE", INTS, "key1 STRING, value INT"),
}  # fmt: skip


@AREA.family({"": Kind(), "partitioned": Kind(partitioned=True)}, quick=["partitioned"])
def conditions_on_one_side(p: Player, kind: Kind) -> None:
    played(p, ONE_SIDE, kind)


@AREA.family({"": Kind(), "partitioned": Kind(partitioned=True)}, quick=[""])
def updates_and_inserts(p: Player, kind: Kind) -> None:
    played(p, MOVED, kind)


PAIR, TWICE = "(1, 1), (2, 2)", "(1, 10), (1, 100), (3, 30), (3, 300)"
ADD = "WHEN NOT MATCHED THEN INSERT (key, value) VALUES (s.key, s.value)"
CONDITIONS = "WHEN MATCHED AND s.value = 20 THEN UPDATE SET * WHEN MATCHED AND s.value = 10 THEN DELETE"
SEVERAL = {
    "update": Merge(PAIR, "(0, 0), (1, 10), (1, 11), (2, 20)", KEYS, SET),
    "update with condition": Merge(PAIR, "(0, 0), (1, 10), (1, 11), (2, 20)", KEYS, "WHEN MATCHED AND s.value = 10 THEN UPDATE SET *"),
    "delete": Merge(PAIR, "(0, 0), (1, 10), (1, 100), (3, 30)", KEYS, DELETE),
    "delete with condition": Merge(PAIR, "(0, 0), (1, 10), (1, 100), (2, 20)", KEYS, "WHEN MATCHED AND s.value = 10 THEN DELETE"),
    "delete where true": Merge(PAIR, "(0, 0), (1, 10), (1, 100), (2, 20)", KEYS, "WHEN MATCHED AND true THEN DELETE"),
    "update with condition, delete": Merge(PAIR, "(0, 0), (1, 10), (2, 20), (2, 200)", KEYS, "WHEN MATCHED AND s.value = 20 THEN UPDATE SET * WHEN MATCHED THEN DELETE"),
    "update and delete with conditions": Merge(PAIR, "(0, 0), (1, 10), (1, 100), (2, 20), (2, 200)", KEYS, CONDITIONS),
    "three with conditions": Merge(PAIR, "(0, 0), (1, 10), (1, 100), (2, 20), (2, 200)", KEYS, f"{CONDITIONS} WHEN NOT MATCHED AND s.value = 0 THEN INSERT *"),
    "insert": Merge(PAIR, "(0, 0), (1, 10), (1, 100), (3, 30), (3, 300)", KEYS, ADD),
    "delete and insert": Merge(PAIR, TWICE, KEYS, f"{DELETE} {ADD}"),
    "delete and insert of equal rows": Merge(PAIR, f"{TWICE}, (3, 300)", KEYS, f"{DELETE} {ADD}"),
    "delete and insert of a row that is there": Merge(PAIR, "(1, 10), (1, 100), (3, 2)", KEYS, f"{DELETE} WHEN NOT MATCHED THEN INSERT (key, value) VALUES (2, 2)"),
    "delete by equal rows": Merge("(0, 0), (1, 1)", "(1, 1), (1, 1)", KEYS, DELETE),
    "delete of equal rows by equal rows": Merge("(0, 0), (1, 1), (1, 1)", "(1, 1), (1, 1)", KEYS, DELETE),
    "delete by the table": Merge("(0, 0), (1, 1)", "(0, 0), (1, 1)", "t.key > 0", DELETE),
    "delete of equal rows by the table": Merge("(0, 0), (1, 1), (1, 1)", "(0, 0), (1, 1)", "t.key > 0", DELETE),
    "delete by the source": Merge("(0, 0), (1, 1)", "(0, 0), (1, 1)", "s.key < 2", DELETE),
    "delete of equal rows by the source": Merge("(0, 0), (1, 1), (1, 1)", "(0, 0), (1, 1)", "s.key < 2", DELETE),
    "nothing": Merge(PAIR, "(1, 7), (2, 8)", KEYS, "WHEN MATCHED AND s.key = 10 THEN UPDATE SET * WHEN NOT MATCHED AND s.key = 11 THEN INSERT *"),
}  # fmt: skip


@AREA.family({"": Kind(), "partitioned": Kind(partitioned=True), "feed": Kind(feed=True)}, quick=[])
def several_matches(p: Player, kind: Kind) -> None:
    played(p, SEVERAL, kind)
