# ruff: noqa: E501 (a statement reads best in one line)
"""Merges: what one statement sees."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playing import Area

if TYPE_CHECKING:
    from playing import Player

AREA = Area("merge")


@AREA.situation()
def now_is_one_instant(p: Player) -> None:
    """The source, the condition and the values of a merge have the same now()."""
    p.sql("CREATE TABLE {t} (id INT, at TIMESTAMP, source TIMESTAMP) USING delta")
    p.sql("""MERGE INTO {t} AS t USING (SELECT 1 AS id, now() AS at UNION ALL SELECT 2, current_timestamp()) AS s
        ON t.id = s.id AND t.at <= now() WHEN NOT MATCHED THEN INSERT (id, at, source) VALUES (s.id, now(), s.at)""")
    p.rows("SELECT count(*), count(DISTINCT at), bool_and(at = source) FROM {t}")


NOW = {
    "ON condition": ("s.id = t.id AND s.a = now()", "WHEN MATCHED THEN UPDATE SET a = s.a, b = s.b"),
    "condition of an update": (
        "s.id = t.id",
        "WHEN MATCHED AND s.a = now() THEN UPDATE SET a = s.a, b = s.b",
    ),
    "condition of an insert": (
        "s.id = t.id",
        "WHEN NOT MATCHED AND s.a = now() THEN INSERT (id, a, b) VALUES (s.id, s.a, s.b)",
    ),
    "values of an update": ("s.id = t.id", "WHEN MATCHED THEN UPDATE SET a = s.a, b = now()"),
    "values of an insert": (
        "s.id = t.id",
        "WHEN NOT MATCHED THEN INSERT (id, a, b) VALUES (s.id, s.a, current_timestamp())",
    ),
    "rows without a match in the source": (
        "s.id = t.id AND s.id < 0",
        "WHEN NOT MATCHED BY SOURCE THEN UPDATE SET a = now(), b = current_timestamp()",
    ),
    "all of them": (
        "s.id = t.id",
        (
            "WHEN MATCHED AND s.a = now() THEN UPDATE SET a = s.a, b = now() "
            "WHEN NOT MATCHED AND s.a = now() THEN INSERT (id, a, b) VALUES (s.id, s.a, now())"
        ),
    ),
}


@AREA.family(NOW)
def now(p: Player, case: tuple[str, str]) -> None:
    """Rows that a clause is about, and whether both instants of a row are the same."""
    on, clauses = case
    p.sql(
        "CREATE TABLE {t} USING delta AS SELECT id, timestamp'2020-01-01' AS a, timestamp'2021-01-01' AS b FROM range(5)"
    )
    p.sql(
        f"MERGE INTO {{t}} AS t USING (SELECT id, now() AS a, current_timestamp() AS b FROM range(10)) AS s ON {on} {clauses}"
    )
    p.rows("SELECT year(a) > 2022, a = b, count(*) FROM {t} GROUP BY 1, 2")
    p.rows("SELECT count(DISTINCT a) FROM {t} WHERE year(a) > 2022")


@AREA.situation()
def now_of_a_source_that_asks_a_subquery(p: Player) -> None:
    p.sql("CREATE TABLE {t} (id BIGINT, a TIMESTAMP) USING delta")
    p.sql("MERGE INTO {t} AS t USING (SELECT id, now() AS a FROM range(3) WHERE now() IN (SELECT now())) AS s "
          "ON s.id = t.id WHEN NOT MATCHED AND s.a = now() THEN INSERT *")  # fmt: skip
    p.rows("SELECT count(*) FROM {t}")


@AREA.situation()
def now_by_the_builder(p: Player) -> None:
    p.sql(
        "CREATE TABLE {t} USING delta AS SELECT 1 AS id, timestamp'2020-01-01' AS a, timestamp'2020-01-01' AS b"
    )
    source = p.sql("SELECT id + 1 AS id, now() AS a, current_date() AS d FROM range(2)")
    found = p.table().alias("t").merge(source.alias("s"), "s.id = t.id AND s.a = now()")
    found = found.whenMatchedUpdate("s.d = current_date()", {"a": "s.a", "b": "now()"})
    found.whenNotMatchedInsert(
        "s.a = current_timestamp()", {"id": "s.id", "a": "s.a", "b": "now()"}
    ).execute()
    p.rows("SELECT year(a) > 2022, a = b, count(*) FROM {t} GROUP BY 1, 2")
