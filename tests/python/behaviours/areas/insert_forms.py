"""INSERT: lists of columns, policies of storing, structs in arrays and maps, and tables that are not there."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from playing import Area

from areas.insert_kinds import AUTO_MERGE

if TYPE_CHECKING:
    from playing import Player

AREA = Area("insert_forms")

_POLICY = "spark.sql.storeAssignmentPolicy"
_DEEP = (
    "array(named_struct('f1', 1, 'f2', named_struct('f21', 's1', 'f22', DATE'2022-11-01'), "
    "'f3', named_struct('f31', 's1')))"
)
_NULLS = "spark.sql.defaultColumn.useNullsForMissingDefaultValues"
_DYNAMIC = "spark.sql.sources.partitionOverwriteMode"


@AREA.grid(
    {
        "in order": ("INTO {t} (id, data, more) VALUES (1L, 'a', 'x')",),
        "turned": ("INTO {t} (data, more, id) VALUES ('a', 'x', 1L)",),
        "a cast": ("INTO {t} (data, more, id) VALUES ('a', 'x', 1)",),
        "one left out": ("INTO {t} (data, id) VALUES ('a', 1)",),
        "one left out, overwriting": ("OVERWRITE {t} (data, id) VALUES ('a', 1)",),
        "by name, one left out": ("INTO {t} BY NAME SELECT 'a' AS data, 1 AS id",),
        "twice": ("INTO {t} (data, data) VALUES (5)", "OVERWRITE {t} (data, data) VALUES (5, 6)"),
        "too few values": ("INTO {t} (data, id) VALUES (5)",),
        "too many values": ("INTO {t} (data, id) VALUES ('a', 5, 6)",),
        "unknown": ("INTO {t} (data, nothing) VALUES ('a', 'b')",),
        "by name, in another case": ("INTO {t} BY NAME SELECT 'a' AS DATA, 1 AS ID, 'x' AS More",),
        "a view": ("INTO {t} SELECT * FROM VALUES (1L, 'a', 'x') AS v",),
    },
    "CREATE TABLE {t} (id BIGINT, data STRING, more STRING) USING delta PARTITIONED BY (id)",
    "INSERT INTO {t} VALUES (1, 'old', 'x'), (7, 'old', 'y')",
)
def lists(p: Player, statements: tuple[str, ...]) -> None:
    """Names of columns in INSERT: with nulls for what is left out and without, in both modes of overwriting."""
    for nulls, mode in (("true", "static"), ("false", "static"), ("true", "dynamic"), ("false", "dynamic")):
        p.conf(_NULLS, nulls)
        p.conf(_DYNAMIC, mode)
        p.attempt(*(f"INSERT {statement}" for statement in statements))
    p.rows()


@AREA.family(
    {
        f"{policy}, {door}": (policy, door)
        for policy in ("STRICT", "ANSI", "LEGACY")
        for door in ("sql", "frame")
    }
)
def policies(p: Player, case: tuple[str, str]) -> None:
    """What becomes of values that are of another type, by policy."""
    policy, door = case
    p.sql("CREATE TABLE {t} (id BIGINT, n INT, data STRING) USING delta")
    p.conf(_POLICY, policy)
    for rows in (
        "SELECT 'a' AS id, 1 AS n, 1L AS data",
        "SELECT 1L AS id, 3000000000L AS n, 'x' AS data",
        "SELECT 2 AS id, 2S AS n, 'y' AS data",
        "SELECT 3L AS id, 2.7D AS n, DATE'2024-01-01' AS data",
        "SELECT 4L AS id, true AS n, 'z' AS data",
    ):
        for mode in ("append", "overwrite"):
            if door == "frame":
                p.attempt(lambda rows=rows, mode=mode: p.sql(rows).write.mode(mode).insertInto(p.text("{t}")))
            else:
                p.attempt(f"INSERT {'INTO' if mode == 'append' else 'OVERWRITE'} {{t}} {rows}")
        p.rows()


@AREA.family(
    {
        "fewer fields": (
            "MAP<STRING, STRUCT<id: INT, value: INT, comment: STRING>>",
            "map('k', named_struct('id', 1, 'value', 2))",
        ),
        "more fields": (
            "MAP<STRING, STRUCT<id: INT, value: INT>>",
            "map('k', named_struct('id', 1, 'value', 2, 'comment', 'c'))",
        ),
        "more fields, two deep": (
            "MAP<STRING, MAP<STRING, STRUCT<id: INT, value: INT>>>",
            "map('k', map('l', named_struct('id', 1, 'value', 2, 'comment', 'c')))",
        ),
        "other keys": (
            "MAP<INT, STRUCT<id: INT, value: INT>>",
            "map('1', named_struct('id', 2, 'value', 3))",
        ),
        "other values": (
            "MAP<STRING, STRUCT<id: INT, value: INT>>",
            "map('k', named_struct('id', 2, 'value', 3L))",
        ),
    }
)
def maps(p: Player, case: tuple[str, str]) -> None:
    """Maps whose structs have fewer fields, or more, or whose keys and values are cast; evolving and not."""
    kind, value = case
    p.sql(f"CREATE TABLE {{t}} (id INT, m {kind}) USING delta")
    rows = f"SELECT 1 AS id, {value} AS m"
    for evolves in ("false", "true"):
        p.conf(AUTO_MERGE, evolves)
        p.attempt(
            f"INSERT INTO {{t}} {rows}",
            lambda: p.sql(rows).toDF("other", "m").write.mode("append").insertInto(p.text("{t}")),
        )
        p.schema()
        p.rows()


@AREA.family(
    {
        f"{name}, {form}": (kind, old, new, value, form)
        for name, kind, old, new, value in (
            (
                "a field",
                "ARRAY<STRUCT<f1: STRING, f2: STRING>>",
                "array(struct('t1', 't2'))",
                "array(named_struct('f1', 's1', 'f2', 's2', 'f3', DATE'2022-11-01'))",
                "array(struct('s3', 's4', {}))",
            ),
            (
                "fields in fields",
                "ARRAY<STRUCT<f1: INT, f2: STRUCT<f21: STRING>>>",
                "array(struct(2, struct('s2')))",
                _DEEP,
                "array(struct(2, struct('s2', {}), struct('s2')))",
            ),
        )
        for form in ("", "(id, d, l)")
    }
)
def arrays(p: Player, case: tuple[str, str, str, str, str]) -> None:
    """INSERT OVERWRITE adds fields of structs in arrays beside a cast, and the table takes rows then."""
    kind, old, new, value, form = case
    p.conf(AUTO_MERGE, "true")
    p.sql(f"CREATE TABLE {{t}} (id INT, d DATE, l {kind}) USING delta")
    p.sql(f"INSERT INTO {{t}} VALUES (1, DATE'2022-11-02', {old})")
    p.sql(f"CREATE TABLE {{u}} USING delta AS SELECT 1 AS id, '2022-11-01' AS d, {new} AS l")
    p.attempt(f"INSERT OVERWRITE {{t}} {form} SELECT * FROM {{u}}")
    p.schema()
    for added in ("DATE'2022-11-02'", "NULL"):
        p.attempt(f"INSERT INTO {{t}} VALUES (2, DATE'2022-11-02', {value.format(added)})")
    p.rows()


_STRUCTS = {
    "other names": "SELECT 2L AS c1, struct(1.0D, 0.0D) AS c2",
    "a null": "SELECT 3L AS c1, struct(1.0D, CAST(NULL AS DOUBLE)) AS c2",
    "a new column": "SELECT 5L AS c1, struct(0.5D, 0.5D) AS c2, 'a' AS letter",
    "a new field": "SELECT 5L AS c1, named_struct('x', 2.5D, 'y', 2.5D, 'z', 1.0D) AS c2",
    "another type": "SELECT 'a' AS c1, struct(0.5D, 0.5D) AS c2",
    "another type of a field": "SELECT 5L AS c1, struct(0.5D, 'b') AS c2",
    "a field less": "SELECT 5L AS c1, struct(0.1D) AS c2",
    "turned": "SELECT struct(0.5D, 0.5D) AS c1, 5L AS c2",
    "a column less": "SELECT 5L AS c1",
}


def _structs(policy: str, evolves: str) -> None:
    def structs(p: Player, rows: str) -> None:
        p.conf(_POLICY, policy)
        p.conf(AUTO_MERGE, evolves)
        p.attempt(
            f"INSERT INTO {{t}} {rows}", lambda: p.sql(rows).write.mode("append").insertInto(p.text("{t}"))
        )
        p.schema()
        p.rows()

    structs.__name__ = f"structs_by_{policy.lower()}{'_evolving' if evolves == 'true' else ''}"
    AREA.grid(
        _STRUCTS,
        "CREATE TABLE {t} (id BIGINT, point STRUCT<x: DOUBLE, y: DOUBLE>) USING delta",
        "INSERT INTO {t} SELECT 1L, struct(0.0D, 1.0D)",
        long=True,
    )(structs)


_structs("ANSI", "false")
_structs("STRICT", "false")
_structs("STRICT", "true")


@AREA.situation()
def a_struct_in_a_struct(p: Player) -> None:
    """Literals of structs, and those of a view, whose fields have other names."""
    p.sql(
        "CREATE TABLE {t} (n INT, s STRUCT<a: STRING, s2: STRUCT<c: STRING, d: STRING>, b: STRING>) USING delta"
    )
    literal = "struct('a', struct('c', 'd'), 'b')"
    p.attempt(f"INSERT INTO {{t}} SELECT 1, {literal}", f"INSERT INTO {{t}} VALUES (2, {literal})")
    p.attempt(lambda: p.sql(f"SELECT 3, {literal}").write.insertInto(p.text("{t}")))
    p.rows()


@AREA.situation()
def nothing_there(p: Player) -> None:
    """A name or a path without table, and one with an empty log."""
    p.attempt("INSERT INTO {name} VALUES (1)", "INSERT INTO {t} VALUES (1)")
    Path(p.path, "_delta_log").mkdir(parents=True)
    p.attempt("INSERT INTO {t} VALUES (1)", "INSERT OVERWRITE {t} VALUES (1)")
    p.attempt(lambda: p.sql("SELECT 1 AS id").write.mode("append").insertInto(p.text("{t}")))
    p.tell(sorted(path.name for path in Path(p.path, "_delta_log").iterdir()))


@AREA.situation()
def variants(p: Player) -> None:
    p.sql("CREATE TABLE {t} (id LONG, v VARIANT) USING delta")
    p.attempt(
        """INSERT INTO {t} (id, v) VALUES (1, parse_json('{"a": 1}'))""",
        "INSERT INTO {t} SELECT id + 1, parse_json(CAST(id AS STRING)) AS v FROM range(2)",
        """INSERT INTO {t} BY NAME SELECT parse_json('[1]') AS v, 4L AS id""",
    )
    p.rows("SELECT id, to_json(v) FROM {t}")
