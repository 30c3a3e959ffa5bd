# ruff: noqa: E501 (a statement reads best in one line)
"""Merges whose conditions and values cannot be: names that nobody has, aggregates, windows, functions that change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from playing import Area

if TYPE_CHECKING:
    from playing import Player

AREA = Area("merge_conditions")

TABLE = "CREATE TABLE {t} USING delta AS SELECT * FROM VALUES (1, 10), (2, 20) AS v(key, tgtValue)"
SOURCE = "(SELECT * FROM VALUES (1, 100), (3, 300) AS v(key, srcValue)) AS s"
ON = "s.key = t.key"
# where an expression stands
PLACES = {
    "ON": ("{e}", "WHEN MATCHED THEN UPDATE SET tgtValue = s.srcValue"),
    "ON, with the key": (ON + " AND {e}", "WHEN MATCHED THEN UPDATE SET tgtValue = s.srcValue"),
    "condition of an update": (ON, "WHEN MATCHED AND {e} THEN UPDATE SET tgtValue = s.srcValue"),
    "condition of a delete": (ON, "WHEN MATCHED AND {e} THEN DELETE"),
    "condition of an insert": (
        ON,
        "WHEN NOT MATCHED AND {e} THEN INSERT (key, tgtValue) VALUES (s.key, s.srcValue)",
    ),
    "condition of an update by source": (
        ON,
        "WHEN NOT MATCHED BY SOURCE AND {e} THEN UPDATE SET tgtValue = 0",
    ),
    "condition of a delete by source": (ON, "WHEN NOT MATCHED BY SOURCE AND {e} THEN DELETE"),
}
CONDITIONS = {
    "a name that nobody has": "unknownAttrib > 1",
    "a name that nobody has, of the table": "t.unknownAttrib > 1",
    "an aggregate": "max(0) > 0",
    "a window": "row_number() OVER (ORDER BY 1) > 0",
    "a random number": "rand() > 0.5",
    "a generator": "explode(array(true))",
}
VALUES = {
    "value of an update": (ON, "WHEN MATCHED THEN UPDATE SET tgtValue = {e}"),
    "value of an insert": (ON, "WHEN NOT MATCHED THEN INSERT (key, tgtValue) VALUES (s.key, {e})"),
    "value of an update by source": (ON, "WHEN NOT MATCHED BY SOURCE THEN UPDATE SET tgtValue = {e}"),
}
EXPRESSIONS = {
    "a name that nobody has": "unknownAttrib",
    "a field that is not there": "s.srcValue.x",
    "an aggregate": "max(0)",
    "a window": "row_number() OVER (ORDER BY 1)",
    "a generator": "explode(array(1, 2))",
    "a text": "'x'",
    "a list": "array(1)",
}


def tried(p: Player, places: dict[str, tuple[str, str]], expression: str) -> None:
    p.sql(TABLE)
    for place, (on, clauses) in places.items():
        p.tell({"case": place})
        p.beside().play(
            lambda p, on=on, c=clauses: one(p, on.replace("{e}", expression), c.replace("{e}", expression))
        )


def one(p: Player, on: str, clauses: str, evolution: str = "") -> None:
    p.attempt(f"MERGE {evolution}INTO {{t}} AS t USING {SOURCE} ON {on} {clauses}")
    if p.reported[-1] == "done":
        p.tell("it was done")
    p.tell(len([*p.sql("DESCRIBE HISTORY {t}").collect()]))


@AREA.family(CONDITIONS)
def conditions(p: Player, expression: str) -> None:
    tried(p, PLACES, expression)


@AREA.family({"a number": "1", "a text": "'x'", "a list": "array(1)"})
def conditions_that_are_not_boolean(p: Player, expression: str) -> None:
    tried(p, {name: place for name, place in PLACES.items() if not name.startswith("ON")}, expression)


@AREA.family(EXPRESSIONS)
def values(p: Player, expression: str) -> None:
    tried(p, VALUES, expression)


NAMES = {
    "an ambiguous name in ON": ("key = 1", "WHEN MATCHED THEN DELETE"),
    "an ambiguous name in an update": (ON, "WHEN MATCHED AND key > 1 THEN UPDATE SET tgtValue = 5"),
    "an ambiguous name in a delete": (ON, "WHEN MATCHED AND key > 1 THEN DELETE"),
    "an ambiguous name in a value": (ON, "WHEN MATCHED THEN UPDATE SET tgtValue = key"),
    "a name of the table in an insert's condition": (ON, "WHEN NOT MATCHED AND tgtValue > 1 THEN INSERT (key, tgtValue) VALUES (s.key, 1)"),
    "a name of the table in an insert's value": (ON, "WHEN NOT MATCHED THEN INSERT (key, tgtValue) VALUES (s.key, t.tgtValue)"),
    "a name of the source, by source": (ON, "WHEN NOT MATCHED BY SOURCE AND srcValue > 1 THEN DELETE"),
    "a value of the source, by source": (ON, "WHEN NOT MATCHED BY SOURCE THEN UPDATE SET tgtValue = s.srcValue"),
    "an update of the source": (ON, "WHEN MATCHED THEN UPDATE SET srcValue = 1"),
    "an update of the source by its alias": (ON, "WHEN MATCHED THEN UPDATE SET s.srcValue = 1"),
    "an update by the table's alias": (ON, "WHEN MATCHED THEN UPDATE SET t.tgtValue = 1"),
    "an insert of no column": (ON, "WHEN NOT MATCHED THEN INSERT (key, srcValue) VALUES (s.key, 1)"),
    "a column twice in an update": (ON, "WHEN MATCHED THEN UPDATE SET tgtValue = 1, t.tgtValue = 2"),
    "a column twice in an update by source": (ON, "WHEN NOT MATCHED BY SOURCE THEN UPDATE SET tgtValue = 1, TGTVALUE = 2"),
    "a column twice in an insert": (ON, "WHEN NOT MATCHED THEN INSERT (key, key) VALUES (3, 4)"),
    "a column twice in an insert, in two cases": (ON, "WHEN NOT MATCHED THEN INSERT (key, KEY) VALUES (3, 4)"),
    "an update by star": (ON, "WHEN MATCHED THEN UPDATE SET *"),
    "an insert by star": (ON, "WHEN NOT MATCHED THEN INSERT *"),
    "a table of an alias in an update": (ON, "WHEN MATCHED AND s.srcValue IN (SELECT tgtValue FROM t) THEN UPDATE SET tgtValue = 5"),
    "a table of an alias in an insert": (ON, "WHEN NOT MATCHED AND s.srcValue IN (SELECT tgtValue FROM t) THEN INSERT (key) VALUES (s.key)"),
    "clauses without a condition": (ON, "WHEN MATCHED THEN DELETE WHEN MATCHED THEN UPDATE SET tgtValue = 1"),
    "inserts without a condition": (ON, "WHEN NOT MATCHED THEN INSERT (key) VALUES (s.key) WHEN NOT MATCHED THEN INSERT (key) VALUES (4)"),
    "clauses by source without a condition": (ON, "WHEN NOT MATCHED BY SOURCE THEN DELETE WHEN NOT MATCHED BY SOURCE THEN UPDATE SET tgtValue = 1"),
}  # fmt: skip


@AREA.grid(NAMES, TABLE)
def names(p: Player, case: tuple[str, str]) -> None:
    """Names that a clause does not see, that both sides have, and columns that are set twice."""
    for evolution in ("", "WITH SCHEMA EVOLUTION "):
        p.beside().play(lambda p, e=evolution: one(p, *case, e))


@AREA.situation()
def random_values(p: Player) -> None:
    """They are allowed in every kind of clause."""
    p.sql(TABLE)
    p.attempt(
        f"MERGE INTO {{t}} AS t USING {SOURCE} ON {ON} WHEN MATCHED THEN UPDATE SET tgtValue = 5 + rand() WHEN NOT MATCHED THEN INSERT (key, tgtValue) VALUES (s.key, 6 + rand()) WHEN NOT MATCHED BY SOURCE THEN UPDATE SET tgtValue = 7 + rand()"
    )
    p.rows()


BUILDERS: dict[str, Any] = {
    "no clause": ("s.key = t.key", lambda m: m),
    "a star as a name": ("s.key = t.key", lambda m: m.whenMatchedUpdate(set={"*": "*"})),
    "a star as a name, inserted": ("s.key = t.key", lambda m: m.whenNotMatchedInsert(values={"*": "*"})),
    "no column": ("s.key = t.key", lambda m: m.whenMatchedUpdate("unknownAttrib > 1", {"tgtValue": "1"})),
    "no column of a delete": ("s.key = t.key", lambda m: m.whenMatchedDelete("unknownAttrib > 1")),
    "no column of an insert": ("s.key = t.key", lambda m: m.whenNotMatchedInsert("unknownAttrib > 1", {"key": "1"})),
    "no column, by source": ("s.key = t.key", lambda m: m.whenNotMatchedBySourceDelete("unknownAttrib > 1")),
    "no column as a value": ("s.key = t.key", lambda m: m.whenMatchedUpdate(set={"tgtValue": "unknownAttrib"})),
    "an aggregate": ("s.key = t.key", lambda m: m.whenMatchedUpdate("max(0) > 0", {"tgtValue": "1"})),
    "an aggregate in ON": ("s.key = t.key AND max(0) > 0", lambda m: m.whenMatchedDelete()),
    "an aggregate in an insert": ("s.key = t.key", lambda m: m.whenNotMatchedInsert("max(0) > 0", {"key": "1"})),
    "an aggregate, by source": ("s.key = t.key", lambda m: m.whenNotMatchedBySourceDelete("max(0) > 0")),
    "a window": ("s.key = t.key", lambda m: m.whenMatchedUpdate("row_number() over (order by 1) > 0", {"tgtValue": "1"})),
    "a window as a value": ("s.key = t.key", lambda m: m.whenMatchedUpdate(set={"tgtValue": "row_number() over (order by 1)"})),
    "a random number": ("s.key = t.key", lambda m: m.whenMatchedDelete("rand() > 0.5")),
    "a random number in ON": ("s.key = t.key AND rand() > 0.5", lambda m: m.whenMatchedDelete()),
    "a random number in an insert": ("s.key = t.key", lambda m: m.whenNotMatchedInsert("rand() > 0.5", {"key": "1"})),
    "a random number, by source": ("s.key = t.key", lambda m: m.whenNotMatchedBySourceDelete("rand() > 0.5")),
    "a column twice": ("s.key = t.key", lambda m: m.whenMatchedUpdate(set={"tgtValue": "1", "t.tgtValue": "2"})),
    "a column twice in an insert": ("s.key = t.key", lambda m: m.whenNotMatchedInsert(values={"key": "1", "t.key": "2"})),
    "a star without a column": ("s.key = t.key", lambda m: m.whenMatchedUpdateAll()),
    "a star without a column, inserted": ("s.key = t.key", lambda m: m.whenNotMatchedInsertAll()),
}  # fmt: skip


@AREA.grid(BUILDERS, TABLE)
def clauses_by_the_builder(p: Player, case: Any) -> None:
    on, clauses = case
    merge = p.table().alias("t").merge(p.sql(f"SELECT * FROM {SOURCE}").alias("s"), on)
    p.attempt(lambda: clauses(merge).execute())
    p.tell(len([*p.sql("DESCRIBE HISTORY {t}").collect()]))
