"""INSERT: rows of wider types than the table's, where the table widens types and the schema may evolve."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playing import Area

from areas.insert_kinds import AUTO_MERGE, Case, by_door, play_kinds

if TYPE_CHECKING:
    from playing import Player

AREA = Area("insert_widening")

_WIDENS = "'delta.enableTypeWidening' = 'true'"
_LISTS = frozenset({"INTO list", "OVERWRITE list", "PARTITION list"})
_NESTED = "a INT, s STRUCT<x: SHORT, y: SHORT>, m MAP<STRING, SHORT>, l ARRAY<SHORT>"
_NESTED_ROW = '[{"a": 1, "s": {"x": 1, "y": 2}, "m": {"p": 3}, "l": [4]}]'


def _case(table: str, before: str, given: str, rows: str, without: frozenset[str] = frozenset()) -> Case:
    return Case(table, before, given, rows, evolves=True, without=without, properties=_WIDENS)


_CASES = {
    "column": _case("a INT, b SHORT", '[{"a": 1, "b": 2}]', "a INT, b INT", '[{"a": 1, "b": 4}]'),
    "column beside a narrower one": _case(
        "a INT, b SHORT, c INT",
        '[{"a": 1, "b": 2, "c": 3}]',
        "a INT, b INT, c SHORT",
        '[{"a": 1, "b": 5, "c": 6}]',
    ),
    "column beside a new one": _case(
        "a INT, b SHORT",
        '[{"a": 1, "b": 2}]',
        "a INT, b INT, c INT",
        '[{"a": 1, "b": 4, "c": 5}]',
        _LISTS,
    ),
    "nested": _case(
        _NESTED,
        _NESTED_ROW,
        "a INT, s STRUCT<x: SHORT, y: INT>, m MAP<STRING, INT>, l ARRAY<INT>",
        '[{"a": 1, "s": {"x": 4, "y": 5}, "m": {"p": 6}, "l": [7]}]',
    ),
    "nested beside a new field": _case(
        _NESTED,
        _NESTED_ROW,
        "a INT, s STRUCT<x: SHORT, y: INT, z: INT>, m MAP<STRING, INT>, l ARRAY<INT>",
        '[{"a": 1, "s": {"x": 4, "y": 5, "z": 8}, "m": {"p": 6}, "l": [7]}]',
    ),
    "field beside a narrower one": _case(
        "a INT, s STRUCT<x: INT, y: SHORT>",
        '[{"a": 1, "s": {"x": 1, "y": 2}}]',
        "a INT, s STRUCT<x: SHORT, y: INT>",
        '[{"a": 1, "s": {"x": 4, "y": 5}}]',
    ),
    "field in an array": _case(
        "a INT, l ARRAY<STRUCT<x: INT, y: SHORT>>",
        '[{"a": 1, "l": [{"x": 1, "y": 2}]}]',
        "a INT, l ARRAY<STRUCT<x: SHORT, y: INT>>",
        '[{"a": 1, "l": [{"x": 3, "y": 4}]}]',
    ),
    "field in a map": _case(
        "a INT, m MAP<STRING, STRUCT<x: INT, y: SHORT>>",
        '[{"a": 1, "m": {"k": {"x": 1, "y": 2}}}]',
        "a INT, m MAP<STRING, STRUCT<x: SHORT, y: INT>>",
        '[{"a": 1, "m": {"k": {"x": 3, "y": 4}}}]',
    ),
}


@AREA.family(by_door(_CASES), quick={"column, sql", "nested beside a new field, frames"})
def widening(p: Player, case: tuple[str, Case]) -> None:
    """Columns and fields get the wider types of the rows; values of narrower types are cast."""
    play_kinds(p, *case)


# the type of the table, that of the rows, a value of the first and of the second
_WIDER = (
    ("BYTE", "SHORT", "-1", "32767"),
    ("BYTE", "INT", "-128", "2147483647"),
    ("SHORT", "INT", "-32768", "-2147483648"),
    ("SHORT", "BIGINT", "1", "9223372036854775807"),
    ("INT", "BIGINT", "2147483647", "-4"),
    ("FLOAT", "DOUBLE", "1.5", "987654321.987654321"),
    ("DATE", "TIMESTAMP_NTZ", "1312-02-27", "2020-03-17 15:23:15.123456"),
    ("DECIMAL(9, 2)", "DECIMAL(18, 2)", "10.34", "9999999999999999.99"),
    ("DECIMAL(8, 2)", "DECIMAL(9, 3)", "1.23", "999999.990"),
    ("DECIMAL(9, 2)", "DECIMAL(19, 3)", "1.23", "-67.89"),
    ("INT", "DOUBLE", "2147483647", "987654321.987654321"),
    ("BYTE", "DECIMAL(10, 0)", "-128", "9999999999"),
    ("SHORT", "DECIMAL(10, 0)", "-32768", "9999999999"),
    ("INT", "DECIMAL(10, 0)", "2147483647", "9999999999"),
    ("BIGINT", "DECIMAL(20, 0)", "9223372036854775807", "99999999999999999999"),
)
_OTHER = (
    ("INT", "BYTE", "2", "1"),
    ("BIGINT", "INT", "5", "1"),
    ("DOUBLE", "FLOAT", "987654321.98", "1.5"),
    ("BYTE", "DECIMAL(2, 0)", "-128", "1"),
    ("SHORT", "DECIMAL(4, 0)", "1", "1"),
    ("INT", "DECIMAL(9, 0)", "1", "1"),
    ("BIGINT", "DECIMAL(19, 0)", "1", "1"),
    ("TIMESTAMP_NTZ", "DATE", "2020-03-17 15:23:15", "2020-03-17"),
    ("DECIMAL(9, 2)", "DECIMAL(9, 3)", "-67.89", "1.234"),
    ("DECIMAL(9, 2)", "DECIMAL(8, 2)", "9999999.99", "1.23"),
    ("DECIMAL(18, 2)", "DECIMAL(8, 1)", "-67.89", "1.2"),
    ("DECIMAL(9, 2)", "DECIMAL(10, 4)", "-67.89", "1.2345"),
    ("DECIMAL(18, 2)", "DECIMAL(12, 1)", "-67.89", "1.2"),
)


def _row(pairs: tuple[tuple[str, str, str, str], ...], of: int) -> str:
    """A query of one row, a column for each pair."""
    return "SELECT " + ", ".join(
        f"CAST('{pair[of + 2]}' AS {pair[of]}) AS c{i}" for i, pair in enumerate(pairs)
    )


_PAIRS = {
    f"{name}, {door}": (pairs, door)
    for name, pairs in (("wider", _WIDER), ("others", _OTHER))
    for door in ("insertInto", "insertInto by option", "sql", "by name")
}


@AREA.family(_PAIRS, quick={"wider, insertInto", "others, sql"})
def pairs(p: Player, case: tuple[tuple[tuple[str, str, str, str], ...], str]) -> None:
    """A type of the table and one of the rows: columns get wider where nothing is lost, else stay."""
    of, door = case
    p.sql(f"CREATE TABLE {{t}} USING delta TBLPROPERTIES ({_WIDENS}) AS {_row(of, 0)}")
    rows = p.sql(_row(of, 1))
    if door == "insertInto by option":
        p.attempt(
            lambda: (
                rows.write.format("delta")
                .mode("append")
                .option("mergeSchema", "true")
                .insertInto(p.text("{t}"))
            )
        )
    else:
        p.conf(AUTO_MERGE, "true")
        if door == "insertInto":
            p.attempt(lambda: rows.write.mode("append").insertInto(p.text("{t}")))
        else:
            p.attempt(f"INSERT INTO {{t}} {'BY NAME ' if door == 'by name' else ''}{_row(of, 1)}")
    p.schema()
    p.rows()


@AREA.situation()
def without_the_setting(p: Player) -> None:
    """Where the schema stays, values are cast."""
    p.sql(f"CREATE TABLE {{t}} (a SHORT) USING delta TBLPROPERTIES ({_WIDENS})")
    p.attempt("INSERT INTO {t} VALUES (1), (2)")
    p.schema()
    p.conf(AUTO_MERGE, "true")
    p.attempt("INSERT INTO {t} VALUES (3), (4)")
    p.schema()
    p.rows()


@AREA.situation()
def without_the_property(p: Player) -> None:
    """Where the table does not widen types, values are cast."""
    p.sql("CREATE TABLE {t} (a SHORT) USING delta")
    p.conf(AUTO_MERGE, "true")
    p.attempt("INSERT INTO {t} VALUES (1), (2)")
    p.schema()
    p.rows()
