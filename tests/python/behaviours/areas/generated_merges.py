"""MERGE into tables with generated and identity columns: each shape of its clauses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playing import Area

if TYPE_CHECKING:
    from playing import Player

AREA = Area("generated_merges")

AUTO_MERGE = "spark.databricks.delta.schema.autoMerge.enabled"

# columns of the target, its expression of c, its rows; the source as a query, and the clauses
_T = ("a INT, b INT, c INT", "b + 1", "(1, 2, 3)")
_SUM = ("a INT, b INT, c INT", "b + a", "(1, 2, 3)")
_ISNULL = ("a INT, b INT, c INT", "a + CAST(isnull(b) AS INT)", "(1, 2, 1), (2, 100, 2)")
_TWO = ("a INT, b INT, c INT", "b + 1", "(1, 2, 3), (2, 100, 101)")
_MANY = "SELECT * FROM VALUES (1, 11, 12), (2, 3, 4), (3, 20, 21), (4, 5, 6), (5, 6, 7)"
_NULLS = "SELECT * FROM VALUES (1, 11, 12), (2, NULL, 4), (3, 20, 21), (4, 5, 6), (5, 6, 7)"
_CLAUSES = """WHEN MATCHED AND s.a = 1 THEN UPDATE SET t.b = 100 WHEN MATCHED THEN UPDATE SET *
    WHEN NOT MATCHED AND s.a = 4 THEN INSERT (a, b) VALUES (s.a, 22)
    WHEN NOT MATCHED AND s.a = 5 THEN INSERT {} WHEN NOT MATCHED THEN INSERT *"""

PLAIN = {
    "its source": (_T, "SELECT 1 AS a, 3 AS b, 4 AS c", "WHEN MATCHED THEN UPDATE SET t.b = s.b"),
    "both": (_T, "SELECT 1 AS a, 3 AS b, 4 AS c", "WHEN MATCHED THEN UPDATE SET t.b = s.b, t.c = s.c"),
    "both, another value": (
        _T,
        "SELECT 1 AS a, 3 AS b, 5 AS c",
        "WHEN MATCHED THEN UPDATE SET t.b = s.b, t.c = s.c",
    ),
    "UPDATE *": (_T, "SELECT 1 AS a, 4 AS b, 5 AS c", "WHEN MATCHED THEN UPDATE SET *"),
    "UPDATE * without it": (_T, "SELECT 1 AS a, 4 AS b", "WHEN MATCHED THEN UPDATE SET *"),
    "by itself": (_T, "SELECT 1 AS a", "WHEN MATCHED THEN UPDATE SET t.b = t.c"),
    "by both sides": (_T, "SELECT 1 AS a, 4 AS c", "WHEN MATCHED THEN UPDATE SET t.b = t.c + s.c"),
    "to null": (_T, "SELECT 1 AS a", "WHEN MATCHED THEN UPDATE SET t.b = NULL"),
    "several columns": (_T, "SELECT 1 AS a", "WHEN MATCHED THEN UPDATE SET t.b = s.a * 10, t.a = t.a * 100"),
    "from a query": (
        _T,
        "SELECT a, max(c) + min(b) AS m FROM VALUES (1, 3, 4) AS v(a, b, c) GROUP BY a",
        "WHEN MATCHED THEN UPDATE SET t.b = s.m",
    ),
    "by source": (_T, "SELECT 2 AS a", "WHEN NOT MATCHED BY SOURCE THEN UPDATE SET t.b = 50"),
    "INSERT *": (_T, "SELECT 2 AS a, 3 AS b, 4 AS c", "WHEN NOT MATCHED THEN INSERT *"),
    "INSERT *, another value": (_T, "SELECT 2 AS a, 3 AS b, 5 AS c", "WHEN NOT MATCHED THEN INSERT *"),
    "INSERT * without it": (_T, "SELECT 2 AS a, 3 AS b", "WHEN NOT MATCHED THEN INSERT *"),
    "INSERT of another": (_T, "SELECT 2 AS a", "WHEN NOT MATCHED THEN INSERT (a) VALUES (s.a)"),
    "INSERT of a constant": (_T, "SELECT 2 AS a", "WHEN NOT MATCHED THEN INSERT (a) VALUES (3)"),
    "INSERT of its source": (_T, "SELECT 2 AS a", "WHEN NOT MATCHED THEN INSERT (b) VALUES (10)"),
    "INSERT of null": (_T, "SELECT 2 AS a", "WHEN NOT MATCHED THEN INSERT (b) VALUES (NULL)"),
    "INSERT of a part": (_SUM, "SELECT 2 AS a", "WHEN NOT MATCHED THEN INSERT (b) VALUES (5)"),
    "INSERT of it alone": (_T, "SELECT 2 AS a", "WHEN NOT MATCHED THEN INSERT (c) VALUES (10)"),
    "INSERT of both": (
        _T,
        "SELECT 2 AS a, 3 AS b, 4 AS c",
        "WHEN NOT MATCHED THEN INSERT (b, c) VALUES (s.b, s.c)",
    ),
    "INSERT of both, another value": (
        _T,
        "SELECT 2 AS a, 3 AS b, 5 AS c",
        "WHEN NOT MATCHED THEN INSERT (b, c) VALUES (s.b, s.c)",
    ),
    "all clauses": (_TWO, f"{_MANY} AS v(a, b, c)", _CLAUSES.format("(a, b) VALUES (5, s.c)")),
}
EVOLVING = {
    "UPDATE *": (_T, "SELECT 1 AS a, 20 AS b, 40 AS d", "WHEN MATCHED THEN UPDATE SET *"),
    "INSERT *": (_T, "SELECT 2 AS a, 3 AS b, 5 AS d", "WHEN NOT MATCHED THEN INSERT *"),
    "INSERT *, another value": (_T, "SELECT 2 AS a, 3 AS c, 5 AS d", "WHEN NOT MATCHED THEN INSERT *"),
    "INSERT * of others": (_T, "SELECT 2 AS a, 3 AS d, 5 AS e", "WHEN NOT MATCHED THEN INSERT *"),
    "all clauses": (_TWO, f"{_MANY} AS v(a, b, d)", _CLAUSES.format("(a, b) VALUES (5, s.d)")),
    "all clauses, two sources": (_ISNULL, f"{_NULLS} AS v(a, b, d)", _CLAUSES.format("(a) VALUES (5)")),
}


def _merge(p: Player, case: tuple[tuple[str, str, str], str, str]) -> None:
    (columns, expression, rows), source, clauses = case
    typed = columns.removesuffix("c INT")
    p.sql(
        f"CREATE TABLE {{t}} ({typed}c INT GENERATED ALWAYS AS ({expression})) USING delta",
        f"INSERT INTO {{t}} VALUES {rows}",
    )
    p.attempt(f"MERGE INTO {{t}} AS t USING ({source}) AS s ON t.a = s.a {clauses}")
    p.rows()


_WITHOUT = "a star without the generated column computes it; delta-spark fails with INTERNAL_ERROR"


@AREA.family(
    PLAIN,
    {"UPDATE * without it": _WITHOUT, "INSERT * without it": _WITHOUT},
    quick={"both", "UPDATE * without it", "INSERT of a part", "all clauses"},
)
def merge(p: Player, case: tuple[tuple[str, str, str], str, str]) -> None:
    _merge(p, case)


@AREA.family(EVOLVING, quick={"INSERT *, another value", "all clauses, two sources"})
def merge_that_evolves(p: Player, case: tuple[tuple[str, str, str], str, str]) -> None:
    p.conf(AUTO_MERGE, "true")
    _merge(p, case)
    p.schema()


TWICE = {
    "a generated one": "a INT, b INT, c INT GENERATED ALWAYS AS (a + b)",
    "an identity": "a INT, b INT, c BIGINT GENERATED ALWAYS AS IDENTITY",
}
_NEITHER = {"neither": "a INT, b INT, c INT"}


@AREA.grid(TWICE)
def a_column_twice_in_another_case(p: Player, columns: str) -> None:
    p.sql(f"CREATE TABLE {{t}} ({columns}) USING delta", "INSERT INTO {t} (a, b) VALUES (1, 2)")
    p.attempt(
        """MERGE INTO {t} AS t USING (SELECT 2 AS a, 4 AS b) AS s ON t.a = s.a
        WHEN NOT MATCHED THEN INSERT (a, b, B) VALUES (s.a, s.b, s.b)"""
    )
    p.rows()


@AREA.grid(_NEITHER)
def a_column_twice_where_none_is_generated(p: Player, columns: str) -> None:
    a_column_twice_in_another_case(p, columns)


# -- identity columns

_ALWAYS = "GENERATED ALWAYS AS IDENTITY"
_BY_DEFAULT = "GENERATED BY DEFAULT AS IDENTITY"
_IDENTITIES = {
    "two inserts": """WHEN NOT MATCHED AND s.a = 5 THEN INSERT (a) VALUES (50)
        WHEN NOT MATCHED THEN INSERT (a) VALUES (s.a)""",
    "an update and two inserts": """WHEN MATCHED THEN UPDATE SET t.a = 7 WHEN NOT MATCHED AND s.a = 5 THEN INSERT (a)
        VALUES (50) WHEN NOT MATCHED THEN INSERT (a) VALUES (s.a)""",
    "no row": "WHEN NOT MATCHED AND s.a = 70 THEN INSERT (a) VALUES (s.a)",
    "by chance": "WHEN NOT MATCHED THEN INSERT (a) VALUES (CAST(rand() AS INT) + s.a)",
    "UPDATE of it": "WHEN MATCHED THEN UPDATE SET t.id = 70",
    "UPDATE * with it": "WHEN MATCHED THEN UPDATE SET *",
    "by source": "WHEN NOT MATCHED BY SOURCE THEN UPDATE SET t.id = 70",
}


@AREA.grid(
    {
        f"{clauses}, {kind}": (kind, _IDENTITIES[clauses])
        for clauses in _IDENTITIES
        for kind in (_ALWAYS, _BY_DEFAULT)
    },
    long=True,
)
def merge_into_identities(p: Player, case: tuple[str, str]) -> None:
    kind, clauses = case
    p.sql(f"CREATE TABLE {{t}} (id BIGINT {kind}, a INT) USING delta", "INSERT INTO {t} (a) VALUES (1)")
    source = "SELECT explode(array(1, 4, 5, 6)) AS a, 9L AS id"
    p.attempt(f"MERGE INTO {{t}} AS t USING ({source}) AS s ON t.a = s.a {clauses}")
    p.rows("SELECT count(*), count(DISTINCT id), min(id), sum(a) FROM {t}")
