"""Type widening by ALTER TABLE: pairs of types, other rules of the table, what stays, and the way back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from playing import FEED, Area

if TYPE_CHECKING:
    from playing import Player

AREA = Area("type_widening")

ON = "TBLPROPERTIES ('delta.enableTypeWidening' = 'true')"
MAPPED = "TBLPROPERTIES ('delta.enableTypeWidening' = 'true', 'delta.columnMapping.mode' = '{}')"
NTZ = "'delta.feature.timestampNtz' = 'supported'"

# a value of each type
VALUES = {
    "BYTE": "-128",
    "SHORT": "-32768",
    "INT": "-2147483648",
    "LONG": "9223372036854775807",
    "FLOAT": "FLOAT('NaN')",
    "DOUBLE": "1e300D",
    "DECIMAL(9, 2)": "1234567.89",
    "DECIMAL(18, 2)": "-67.89",
    "DATE": "DATE '1312-02-27'",
    "TIMESTAMP": "TIMESTAMP '2020-03-17 15:23:15'",
    "TIMESTAMP_NTZ": "TIMESTAMP_NTZ '0001-01-01 00:00:00'",
    "STRING": "'1'",
    "BOOLEAN": "true",
    "BINARY": "X'01'",
}
_DECIMALS = {
    "BYTE": ("2, 0", "3, 0", "9, 0", "10, 0", "11, 1", "12, 3"),
    "SHORT": ("4, 0", "9, 0", "10, 0", "11, 1"),
    "INT": ("9, 0", "10, 0", "12, 2", "11, 2"),
    "LONG": ("19, 0", "20, 0", "22, 2", "21, 2"),
    "DECIMAL(9, 2)": ("18, 2", "9, 3", "8, 2", "10, 3", "10, 4", "19, 3", "12, 1", "38, 31", "38, 32"),
    "DECIMAL(18, 2)": ("8, 1", "12, 1", "20, 4", "18, 0"),
    "STRING": ("10, 0",),
    "DOUBLE": ("38, 10",),
}


def _targets(of: str) -> list[str]:
    return [to for to in VALUES if to != of and "DECIMAL" not in to] + [
        f"DECIMAL({digits})" for digits in _DECIMALS.get(of, ())
    ]


@AREA.family({of: of for of in VALUES}, quick={"BYTE", "DECIMAL(9, 2)", "DATE"})
def pairs(p: Player, of: str) -> None:
    """A column of one type for each other one."""
    targets = _targets(of)
    columns = ", ".join(f"c{n} {of}" for n in range(len(targets)))
    p.sql(f"CREATE TABLE {{t}} ({columns}) USING delta {ON[:-1]}, {NTZ})")
    p.sql(f"INSERT INTO {{t}} SELECT {', '.join([VALUES[of]] * len(targets))}")
    for n, to in enumerate(targets):
        p.tell(to)
        p.attempt(f"ALTER TABLE {{t}} ALTER COLUMN c{n} TYPE {to}")
    p.schema()
    p.rows()


_TO = (
    ("BYTE", "SHORT", "32767"),
    ("SHORT", "INT", "70000"),
    ("INT", "LONG", "5000000000"),
    ("FLOAT", "DOUBLE", "1e300D"),
    ("INT", "DOUBLE", "-0D"),
    ("DATE", "TIMESTAMP_NTZ", "TIMESTAMP_NTZ '2058-12-31 23:59:59.999'"),
    ("LONG", "DECIMAL(20, 0)", "99999999999999999999"),
    ("DECIMAL(9, 2)", "DECIMAL(19, 3)", "9999999999999999.999"),
)


@AREA.situation()
def rows_before_and_after(p: Player) -> None:
    """Also as partitions."""
    columns = ", ".join(f"c{n} {of}" for n, (of, _, _) in enumerate(_TO))
    first = ", ".join(VALUES[of] for of, _, _ in _TO)
    for path, by in (("{t}", ""), ("{u}", "PARTITIONED BY (c0, c1, c2, c3, c4, c5, c6, c7)")):
        p.sql(f"CREATE TABLE {path} (z INT, {columns}) USING delta {by} {ON[:-1]}, {NTZ})")
        p.sql(f"INSERT INTO {path} SELECT 1, {first}")
        p.attempt(*(f"ALTER TABLE {path} ALTER COLUMN c{n} TYPE {to}" for n, (_, to, _) in enumerate(_TO)))
        p.sql(f"INSERT INTO {path} SELECT 2, {', '.join(v for _, _, v in _TO)}")
        p.sql(f"INSERT INTO {path} (z) VALUES (3)")
        p.rows(f"SELECT * FROM {path}")
        for n, (_, _, v) in enumerate(_TO):
            p.rows(f"SELECT z FROM {path} WHERE c{n} = {v}")
            p.rows(f"SELECT z FROM {path} WHERE c{n} < {v}")


@AREA.situation()
def by_replace_columns(p: Player) -> None:
    p.sql(
        f"CREATE TABLE {{t}} (a BYTE, s STRUCT<x: BYTE>, m MAP<BYTE, SHORT>, l ARRAY<SHORT>) USING delta {ON}"
    )
    p.sql("INSERT INTO {t} VALUES (1, struct(2), map(3, 4), array(5))")
    p.attempt(
        "ALTER TABLE {t} REPLACE COLUMNS (a INT, s STRUCT<x: SHORT>, m MAP<INT, INT>, l ARRAY<INT>)",
        "INSERT INTO {t} VALUES (70000, struct(700), map(70000, 70000), array(70000))",
    )
    p.logged_schema()
    p.rows()


NESTED = {
    "a field": ("s.x TYPE SHORT",),
    "a key": ("m.key TYPE INT",),
    "a value": ("m.value TYPE INT",),
    "an element": ("l.element TYPE INT",),
    "all": ("s.x TYPE SHORT", "m.key TYPE INT", "m.value TYPE INT", "l.element TYPE INT"),
    "twice": ("s.x TYPE SHORT", "s.x TYPE INT", "s.x TYPE INT"),
    "deep": ("d.element.value.y TYPE LONG",),
    "a struct": ("s TYPE STRUCT<x: SHORT>",),
    "a map": ("m TYPE MAP<INT, INT>",),
    "an array": ("l TYPE ARRAY<INT>",),
    "not wider": ("l.element TYPE BYTE", "m.key TYPE STRING"),
}


@AREA.grid(
    NESTED,
    f"""CREATE TABLE {{t}} (s STRUCT<x: BYTE>, m MAP<BYTE, SHORT>, l ARRAY<SHORT>,
    d ARRAY<MAP<STRING, STRUCT<y: INT>>>) USING delta {ON}""",
    "INSERT INTO {t} VALUES (struct(1), map(2, 3), array(4), array(map('k', struct(5))))",
    long=True,
)
def nested(p: Player, changes: tuple[str, ...]) -> None:
    p.attempt(*(f"ALTER TABLE {{t}} ALTER COLUMN {change}" for change in changes))
    p.logged_schema()
    p.rows()


KEPT = {
    "a column joins": "ALTER TABLE {t} ADD COLUMN n INT FIRST",
    "its column moves": "ALTER TABLE {t} ALTER COLUMN a AFTER b",
    "its field moves": "ALTER TABLE {t} ALTER COLUMN s.x AFTER y",
    "a field joins": "ALTER TABLE {t} ADD COLUMN s.n INT",
    "its name": "ALTER TABLE {t} RENAME COLUMN a TO z",
    "its field's name": "ALTER TABLE {t} RENAME COLUMN s.x TO z",
    "another goes": "ALTER TABLE {t} DROP COLUMN b",
    "it goes": "ALTER TABLE {t} DROP COLUMN a",
    "its comment": "ALTER TABLE {t} ALTER COLUMN a COMMENT 'c'",
    "wider again": "ALTER TABLE {t} ALTER COLUMN a TYPE LONG",
    "off": "ALTER TABLE {t} SET TBLPROPERTIES ('delta.enableTypeWidening' = 'false')",
}


@AREA.grid(
    KEPT,
    f"CREATE TABLE {{t}} (a SHORT, b INT, s STRUCT<x: BYTE, y: INT>) USING delta {MAPPED.format('name')}",
    "INSERT INTO {t} VALUES (1, 2, struct(3, 4))",
    "ALTER TABLE {t} ALTER COLUMN a TYPE INT",
    "ALTER TABLE {t} ALTER COLUMN s.x TYPE INT",
    long=True,
)
def changes_that_are_recorded_stay(p: Player, statement: str) -> None:
    p.attempt(statement)
    for field in json.loads(metadata_of(p)["schemaString"])["fields"]:
        found = field["type"]["fields"] if isinstance(field["type"], dict) else []
        for one in (field, *found):
            p.tell([one["name"], one["metadata"].get("delta.typeChanges")])
    p.rows()


def metadata_of(p: Player, path: str | None = None) -> dict[str, Any]:
    """The newest metadata in the log."""
    for commit in sorted(Path(path or p.path, "_delta_log").glob("*.json"), reverse=True):
        for action in map(json.loads, commit.read_text().splitlines()):
            if "metaData" in action:
                return dict(action["metaData"])
    raise ValueError("no metadata")


# -- with other things of a table


@AREA.situation()
def changes_across(p: Player) -> None:
    p.sql(
        f"CREATE TABLE {{t}} (a SHORT) USING delta {ON[:-1]}, '{FEED}' = 'true')",
        "INSERT INTO {t} VALUES (1), (2)",
    )
    p.sql("ALTER TABLE {t} ALTER COLUMN a TYPE INT", "INSERT INTO {t} VALUES (3), (4)")
    for start, end in ((1, 1), (3, 3), (1, 3), (2, 3), (0, 2), (2, 2)):
        feed = {"readChangeFeed": "true", "startingVersion": start, "endingVersion": end}
        p.answers(lambda feed=feed: p.read(**feed).select("a", "_change_type"))
        p.answers(f"SELECT a, _change_type FROM table_changes_by_path('{{at}}/t', {start}, {end})")


@AREA.situation()
def older_versions(p: Player) -> None:
    p.sql(f"CREATE TABLE {{t}} (a BYTE) USING delta {ON}", "INSERT INTO {t} VALUES (1)")
    p.sql("ALTER TABLE {t} ALTER COLUMN a TYPE SHORT", "INSERT INTO {t} VALUES (700)")
    for version in (1, 2, 3):
        df = p.read(versionAsOf=version)
        p.schema(df)
        p.rows(df)
    p.sql("RESTORE TABLE {t} TO VERSION AS OF 1")
    p.logged_schema()
    p.attempt(
        "INSERT INTO {t} VALUES (700)",
        "INSERT INTO {t} VALUES (2)",
        "ALTER TABLE {t} ALTER COLUMN a TYPE INT",
    )
    p.rows()


@AREA.situation()
def texts_of_a_length_beside_it(p: Player) -> None:
    p.sql(f"CREATE TABLE {{t}} (a BYTE, c CHAR(3), v VARCHAR(3)) USING delta {ON}")
    p.sql("INSERT INTO {t} VALUES (1, 'abc', 'def')")
    p.attempt("ALTER TABLE {t} ALTER COLUMN a TYPE SHORT", "INSERT INTO {t} VALUES (700, 'ghi', 'jkl')")
    p.schema()
    p.attempt(
        "ALTER TABLE {t} ALTER COLUMN c TYPE STRING",
        "ALTER TABLE {t} ALTER COLUMN v TYPE STRING",
        "INSERT INTO {t} VALUES (3, 'longer 1', 'longer 2')",
    )
    p.logged_schema()
    p.rows()


@AREA.situation()
def with_tracked_rows(p: Player) -> None:
    p.sql("CREATE TABLE {t} (a BYTE) USING delta", "INSERT INTO {t} VALUES (1)")
    p.sql(
        "ALTER TABLE {t} SET TBLPROPERTIES ('delta.enableRowTracking' = 'true', 'delta.enableTypeWidening' = 'true')"
    )
    tracked = "SELECT a, _metadata.row_id, _metadata.base_row_id FROM {t}"
    p.rows(tracked)
    p.sql("UPDATE {t} SET a = 2 WHERE a = 1")
    p.rows(tracked)
    p.sql("ALTER TABLE {t} ALTER COLUMN a TYPE INT", "INSERT INTO {t} VALUES (70000)")
    p.rows(tracked)
    p.attempt("ALTER TABLE {t} DROP FEATURE typeWidening")
    p.rows("SELECT a, _metadata.row_id FROM {t}")


@AREA.situation()
def under_constraints(p: Player) -> None:
    p.sql(f"CREATE TABLE {{t}} (a SHORT NOT NULL, b SHORT, s STRUCT<x: SHORT, y: SHORT>) USING delta {ON}")
    p.sql(
        "ALTER TABLE {t} ADD CONSTRAINT c CHECK (hash(b) > 0 OR b > 0)",
        "ALTER TABLE {t} ADD CONSTRAINT d CHECK (s.x > 0)",
    )
    p.attempt(
        "ALTER TABLE {t} ALTER COLUMN a TYPE INT",
        "ALTER TABLE {t} ALTER COLUMN b TYPE INT",
        "ALTER TABLE {t} ALTER COLUMN s.x TYPE INT",
        "ALTER TABLE {t} ALTER COLUMN s.y TYPE INT",
        "INSERT INTO {t} VALUES (NULL, 1, struct(1, 1))",
        "INSERT INTO {t} VALUES (70000, 1, struct(1, 70000))",
    )
    p.rows()


@AREA.situation()
def a_constraint_and_the_way_back(p: Player) -> None:
    p.sql(f"CREATE TABLE {{t}} (a SHORT) USING delta {ON}", "INSERT INTO {t} VALUES (2)")
    p.sql("ALTER TABLE {t} ALTER COLUMN a TYPE INT", "INSERT INTO {t} VALUES (70000)")
    p.sql("ALTER TABLE {t} ADD CONSTRAINT c CHECK (a > 0)", "RESTORE TABLE {t} TO VERSION AS OF 1")
    p.attempt(
        "INSERT INTO {t} VALUES (-1)",
        "ALTER TABLE {t} ALTER COLUMN a TYPE INT",
        "RESTORE TABLE {t} TO VERSION AS OF 4",
    )
    p.attempt("INSERT INTO {t} VALUES (-2)")
    p.rows()


@AREA.situation()
def under_generated_columns(p: Player) -> None:
    p.sql(
        f"""CREATE TABLE {{t}} (a SHORT, b SHORT, s STRUCT<x: SHORT, y: SHORT>, g INT GENERATED ALWAYS AS (hash(a)),
        h INT GENERATED ALWAYS AS (hash(s.x))) USING delta {ON}"""
    )
    p.attempt(
        "ALTER TABLE {t} ALTER COLUMN a TYPE INT",
        "ALTER TABLE {t} ALTER COLUMN b TYPE INT",
        "ALTER TABLE {t} ALTER COLUMN s.x TYPE INT",
        "ALTER TABLE {t} ALTER COLUMN s.y TYPE INT",
    )
    p.schema()


STATISTICS = {
    f"{name}{', partitioned' if by else ''}": (by, json_too, struct)
    for by in ("", "PARTITIONED BY (a)")
    for name, json_too, struct in (
        ("texts", "true", "false"),
        ("structs", "false", "true"),
        ("both", "true", "true"),
        ("neither", "false", "false"),
    )
}


@AREA.family(STATISTICS, quick={"structs", "neither, partitioned"})
def statistics_of_before(p: Player, case: tuple[str, str, str]) -> None:
    """Filters find their rows, from commits and from checkpoints before and after the change."""
    by, as_json, as_struct = case
    p.sql(
        f"""CREATE TABLE {{t}} (a SHORT, z INT) USING delta {by} {ON[:-1]}, 'delta.checkpointInterval' = '2',
        'delta.checkpoint.writeStatsAsJson' = '{as_json}', 'delta.checkpoint.writeStatsAsStruct' = '{as_struct}')"""
    )
    p.sql("INSERT INTO {t} VALUES (1, 1)", "INSERT INTO {t} VALUES (2, 1)")
    for statement in (
        "ALTER TABLE {t} ALTER COLUMN a TYPE INT",
        "INSERT INTO {t} VALUES (-2147483648, 1)",
        "SELECT 1",
    ):
        p.sql(statement)
        p.rows("SELECT a FROM {t} WHERE a = 1")
        p.rows("SELECT a FROM {t} WHERE a = -2147483648")
        p.rows("SELECT a FROM {t} WHERE a > 1")
        p.rows("SELECT min(a), max(a), count(*) FROM {t}")
