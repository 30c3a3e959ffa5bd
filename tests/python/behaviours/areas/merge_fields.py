# ruff: noqa: E501 (a statement reads best in one line)
"""Merges whose structs have other fields than the table's, wherever the structs are, with schema evolution and without."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playing import Area

if TYPE_CHECKING:
    from playing import Player

AREA = Area("merge_fields")

# what is around a struct, made of `{of KEY}`, and what is read of it; lists have `{n}` elements
AROUND = {
    "plain": ("{of key}", "plain"),
    "within": ("named_struct('n', {of key}, 'k', 1)", "within"),
    "list": ("transform(sequence(1, {n}), i -> {of i})", "list"),
    "lists": ("transform(sequence(1, {n}), i -> named_struct('k', i, 'l', transform(sequence(1, {n}), j -> {of j})))", "lists"),
    "map_value": ("map('k', {of key})", "map_value"),
    "maps": ("map('k', map('l', {of key}))", "maps"),
    "map_key": ("map({of key}, 'v')", "map_entries(map_key) AS map_key"),
    "map_both": ("map({of key}, {of key})", "map_entries(map_both) AS map_both"),
    "list_in_map": ("map('k', transform(sequence(1, {n}), i -> {of i}))", "list_in_map"),
    "list_as_key": ("map(transform(sequence(1, {n}), i -> {of i}), 'v')", "map_entries(list_as_key) AS list_as_key"),
}  # fmt: skip
TABLE = "named_struct('a', named_struct('x', {i}, 'y', {i} + 1), 'b', {i} * 2, 'c', {i} * 3)"
SOURCES = {
    "more fields": "named_struct('a', named_struct('x', {i} * 10, 'y', {i} * 20, 'z', 'z'), 'b', {i} * 30, 'c', {i} * 40, 'd', {i} * 50)",
    "fewer fields": "named_struct('a', named_struct('x', {i} * 10), 'c', {i} * 40)",
    "fewer fields within": "named_struct('a', named_struct('x', {i} * 10), 'b', {i} * 30, 'c', {i} * 40)",
    "some more and some fewer": "named_struct('a', named_struct('z', 'z', 'x', {i} * 10), 'd', {i} * 50, 'c', {i} * 40)",
    "as many of other names": "named_struct('d', {i} * 10, 'e', {i} * 20, 'f', {i} * 30)",
    "another order, texts": "named_struct('c', concat({i}, '4'), 'b', {i} * 30, 'a', named_struct('y', {i} * 20, 'x', concat({i}, '1')))",
    "another order, fewer, texts": "named_struct('b', concat({i}, '3'), 'a', named_struct('y', {i} * 20, 'x', {i} * 10))",
    "a number for a struct": "named_struct('a', {i}, 'b', {i} * 30, 'c', {i} * 40)",
    "a struct for a number": "named_struct('a', named_struct('x', {i} * 10, 'y', {i} * 20), 'b', named_struct('q', {i}), 'c', {i} * 40)",
}  # fmt: skip
NAMES = [*AROUND]
SETS = ", ".join(f"{name} = s.{name}" for name in NAMES)
CLAUSES = {
    "stars": "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *",
    "update by name, insert by star": f"WHEN MATCHED THEN UPDATE SET {SETS} WHEN NOT MATCHED THEN INSERT *",
    "update of the key, insert by star": "WHEN MATCHED THEN UPDATE SET key = 0 WHEN NOT MATCHED THEN INSERT *",
    "insert by name": f"WHEN NOT MATCHED THEN INSERT (key, {', '.join(NAMES)}) VALUES (s.key, {', '.join(f's.{n}' for n in NAMES)})",
}


def columns(struct: str, length: str) -> str:
    """All columns, of one struct, with lists of a length."""
    made = []
    for name, (around, _) in AROUND.items():
        text = around.replace("{n}", length)
        for variable in ("key", "i", "j"):
            text = text.replace(f"{{of {variable}}}", struct.replace("{i}", variable))
        made.append(f"{text} AS {name}")
    return ", ".join(made)


# of the rows that match one has more elements in the table, the other in the source
HERE = f"CREATE TABLE {{t}} USING delta AS SELECT key, {columns(TABLE, 'IF(key = 2, 2, 1)')} FROM VALUES (1), (2), (3) AS v(key)"


def merged(p: Player, evolution: str, source: str, clauses: str, names: list[str]) -> None:
    there = f"SELECT key, {columns(SOURCES[source], 'IF(key = 1, 3, 1)')} FROM VALUES (1), (2), (4) AS v(key)"
    p.attempt(f"MERGE {evolution}INTO {{t}} AS t USING ({there}) AS s ON s.key = t.key {clauses}")
    if p.reported[-1] == "done":
        p.rows(f"SELECT key, {', '.join(AROUND[name][1] for name in names)} FROM {{t}}")
        p.schema(f"SELECT {', '.join(names)} FROM {{t}}")


@AREA.family({source: source for source in SOURCES}, quick={"some more and some fewer"})
def with_evolution(p: Player, source: str) -> None:
    """Fields join, and are null in rows of before and of clauses that do not set them; fields that the source lacks are null."""
    p.sql(HERE)
    for name, clauses in CLAUSES.items():
        p.tell({"case": name})
        p.beside().play(lambda p, c=clauses: merged(p, "WITH SCHEMA EVOLUTION ", source, c, NAMES))


@AREA.family({source: source for source in SOURCES}, quick={"as many of other names"})
def without_evolution(p: Player, source: str) -> None:
    """The fields must be the same; their order and types need not be."""
    p.sql(HERE)
    for name in NAMES:
        for clauses in (
            f"WHEN MATCHED THEN UPDATE SET {name} = s.{name}",
            f"WHEN NOT MATCHED THEN INSERT (key, {name}) VALUES (s.key, s.{name})",
        ):
            p.tell({"case": clauses})
            merged(p, "", source, clauses, [name])
    p.tell({"case": "stars"})
    merged(p, "", source, CLAUSES["stars"], NAMES)


# a table whose struct lacks `b`, `c` and `n.y`
FIELD = "CREATE TABLE {t} USING delta AS SELECT key, named_struct('a', key, 'n', named_struct('x', key)) AS value, array(named_struct('a', key)) AS list, map('k', named_struct('a', key)) AS map FROM VALUES (1), (2), (3) AS v(key)"
FIELDS = """SELECT key, named_struct('c', key * 10, 'b', key * 20, 'a', key * 30, 'n', named_struct('y', key * 40, 'x', key * 50)) AS value,
    array(named_struct('a', key * 10, 'b', key)) AS list, map('k', named_struct('a', key * 10, 'b', key)) AS map, named_struct('p', 1, 'q', 2) AS extra
    FROM VALUES (1), (2), (4) AS v(key)"""
SETTING = {
    "a field that joins": "value.b = s.value.b",
    "a field within that joins": "value.n.y = s.value.n.y",
    "two fields that join": "value.b = s.value.b, value.n.y = s.value.n.y",
    "a field that joins and one that is there": "value.a = -1, value.b = s.key",
    "a field from another": "value.b = s.value.c",
    "a field from a text": "value.b = '5'",
    "a struct within": "value.n = s.value.n",
    "a field of a new column": "extra.p = s.extra.p",
    "a new column": "extra = s.extra",
    "a field and the whole": "value = s.value, value.b = 5",
    "a field of no name": "value.nope = 5",
    "a field of no column": "nope.a = 5",
    "a field of a list that is there": "list.a = array(1)",
    "a field of a map": "map.b = 1",
    "a value of a map": "map.k = named_struct('a', 5)",
    "a text for a struct": "value = 'x'",
    "a text for a struct within": "value.n = 'x'",
    "a field of a number": "value.a.b = 5",
}


@AREA.grid(SETTING, FIELD)
def fields(p: Player, setting: str) -> None:
    """Which fields join by an update, and which cannot be set."""
    for evolution in ("", "WITH SCHEMA EVOLUTION "):
        p.beside().play(lambda p, e=evolution: one(p, e, f"WHEN MATCHED THEN UPDATE SET {setting}"))


@AREA.grid(
    {
        "a field": "(key, value.b) VALUES (s.key, s.value.b)",
        "a field that is there": "(key, value.a) VALUES (s.key, s.value.a)",
    },
    FIELD,
)
def fields_of_inserts(p: Player, inserted: str) -> None:
    for evolution in ("", "WITH SCHEMA EVOLUTION "):
        p.beside().play(lambda p, e=evolution: one(p, e, f"WHEN NOT MATCHED THEN INSERT {inserted}"))


def one(p: Player, evolution: str, clauses: str) -> None:
    p.attempt(f"MERGE {evolution}INTO {{t}} AS t USING ({FIELDS}) AS s ON s.key = t.key {clauses}")
    p.rows()
    p.schema()


BUILT = ("a field that joins", "a field within that joins", "a field of a new column")


@AREA.grid({name: SETTING[name] for name in BUILT}, FIELD)
def fields_by_the_builder(p: Player, setting: str) -> None:
    name, value = setting.split(" = ")
    merge = p.table().alias("t").merge(p.sql(FIELDS).alias("s"), "s.key = t.key").withSchemaEvolution()
    p.attempt(lambda: merge.whenMatchedUpdate(set={name: value}).execute())
    p.rows()
    p.schema()


@AREA.situation()
def a_struct_for_a_list_in_a_map(p: Player) -> None:
    p.sql("CREATE TABLE {t} USING delta AS SELECT 1 AS key, map('k', array(1, 2)) AS map")
    for evolution in ("", "WITH SCHEMA EVOLUTION "):
        p.attempt(
            f"MERGE {evolution}INTO {{t}} AS t USING (SELECT 1 AS key, map('k', named_struct('a', 2)) AS map) AS s ON s.key = t.key {CLAUSES['stars']}"
        )
    p.rows()
