"""Variables of the session and SQL scripts: what UPDATE, DELETE and MERGE make of them, and what handlers catch."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from playing import Area

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playing import Player

AREA = Area("variables")

TABLE = "CREATE TABLE {t} (id INT NOT NULL, v STRING, n INT, s STRUCT<a: INT, b: STRING>) USING delta"
ROWS = (
    "INSERT INTO {t} SELECT CAST(id AS INT), 'old', CAST(id AS INT), "
    "named_struct('a', CAST(id AS INT), 'b', 'x') FROM range(8)"
)


@contextmanager
def declared(p: Player, **variables: str) -> Iterator[None]:
    """Variables of the session, by their definitions, until the end."""
    for name, definition in variables.items():
        p.sql(f"DECLARE OR REPLACE VARIABLE {name} {definition}")
    try:
        yield
    finally:
        for name in variables:
            p.sql(f"DROP TEMPORARY VARIABLE {name}")


@AREA.situation()
def of_the_session(p: Player) -> None:
    """A column takes precedence over a variable of its name; a qualified variable over none."""
    p.sql(TABLE, ROWS)
    with declared(
        p,
        x="INT DEFAULT 2",
        id="INT DEFAULT 77",
        st="STRUCT<a: INT, b: STRING> DEFAULT named_struct('a', 3, 'b', 'bee')",
        nothing="STRING DEFAULT NULL",
    ):
        p.attempt(
            "UPDATE {t} SET v = 'one' WHERE id = x - 1",
            "UPDATE {t} SET n = x + 5, v = nothing WHERE id = session.x",
            "UPDATE {t} SET n = st.a, v = st.b, s = st WHERE id = system.session.st.a",
            "UPDATE {t} SET n = id, s.a = x WHERE id = 4",
            "UPDATE {t} SET v = 'no' WHERE id = missing",
            "UPDATE {t} SET v = v, n = n + x WHERE v = 'old' AND n = x AND v IS NOT NULL AND s.a = 7",
            "DELETE FROM {t} WHERE id = x + 3 AND nothing IS NULL",
            "MERGE INTO {t} t USING (SELECT x + 4 AS k) q ON t.id = q.k AND t.id > x "
            "WHEN MATCHED AND t.n > x THEN UPDATE SET n = t.n + x, v = st.b",
            "MERGE INTO {t} t USING (SELECT 30 + x AS k) q ON t.id = q.k "
            "WHEN NOT MATCHED AND k > x THEN INSERT (id, v, n) VALUES (k, 'new', x) "
            "WHEN NOT MATCHED BY SOURCE AND id = session.id - 70 THEN UPDATE SET v = concat('by', x)",
            # the rows of the source have no column `id`, those of the table have
            "MERGE INTO {t} t USING (SELECT 40 AS k) q ON t.id = q.k "
            "WHEN NOT MATCHED THEN INSERT (id, n) VALUES (k, id)",
            "MERGE INTO {t} t USING (SELECT 40 AS k) q ON t.id = q.k WHEN MATCHED THEN UPDATE SET n = missing",
            "MERGE WITH SCHEMA EVOLUTION INTO {t} t USING (SELECT 41 AS id, 'more' AS extra) q "
            "ON t.id = q.id AND t.n > x WHEN NOT MATCHED THEN INSERT (id, extra, n) VALUES (id, extra, x)",
            "INSERT INTO {t} (id, n) SELECT x + 50, x",
        )
        p.rows()


@AREA.situation(long=True)
def through_views_and_in_python(p: Player) -> None:
    p.sql(TABLE, ROWS)
    view = f"view_of_{p.name}"
    with declared(p, x="INT DEFAULT 2"):
        p.sql(f"CREATE TEMPORARY VIEW {view} AS SELECT * FROM {{t}}")
        try:
            p.attempt(f"UPDATE {view} SET n = x * 100 WHERE id = x", f"DELETE FROM {view} WHERE id = x + 1")
        finally:
            p.spark.catalog.dropTempView(view)
        p.table().update("id = x + 2", {"n": "x * 100"})
        p.table().delete("id = x + 3")
        merge = p.table().alias("t").merge(p.sql("SELECT 6 AS k").alias("s"), "t.id = s.k AND t.id > x")
        merge.whenMatchedUpdate("t.n > x", {"n": "x * 100"}).execute()
        p.rows()


@AREA.situation()
def of_a_script(p: Player) -> None:
    p.conf("spark.sql.scripting.enabled", "true")
    p.sql(TABLE, ROWS)
    p.sql("""
        BEGIN
          DECLARE y INT DEFAULT 5;
          UPDATE {t} SET v = 'script' WHERE id = y;
          UPDATE {t} SET n = y * 2 WHERE id = 5;
          MERGE INTO {t} t USING (SELECT y - 1 AS k) q ON t.id = q.k WHEN MATCHED THEN UPDATE SET n = t.n + y;
          DELETE FROM {t} WHERE id = y - 4;
          WHILE y < 7 DO
            INSERT INTO {t} SELECT y + 100, 'new', y, NULL;
            SET y = y + 1;
          END WHILE;
          FOR r AS (SELECT id FROM {t} WHERE id > 100) DO
            UPDATE {t} SET n = r.id * 2 WHERE id = r.id;
          END FOR;
          IF EXISTS (SELECT 1 FROM {t} WHERE id = 0) THEN DELETE FROM {t} WHERE id = 0; END IF;
        END
    """)
    p.rows()


@AREA.situation()
def what_handlers_catch(p: Player) -> None:
    """An error has its condition and SQLSTATE for them, so that a script goes on as it does for delta-spark."""
    p.conf("spark.sql.scripting.enabled", "true")
    p.sql(TABLE, ROWS)
    for statement in (
        "INSERT INTO {t} VALUES (1)",
        "INSERT INTO {t} SELECT NULL, 'a', 1, NULL",
        "UPDATE {t} SET n = n / (n - 1)",
        "UPDATE {t} SET missing = 1",
        "RESTORE TABLE {t} TO VERSION AS OF 77",
        "SELECT * FROM {t} VERSION AS OF 77",
        "MERGE INTO {t} t USING (SELECT 1 AS id FROM range(2)) s ON s.id = t.id WHEN MATCHED THEN DELETE",
        "ALTER TABLE {t} DROP COLUMN v",
        "VACUUM {t} RETAIN 0 HOURS",
    ):
        for catches in ("SQLEXCEPTION", "SQLSTATE '42000'"):
            script = f"""
                BEGIN
                  DECLARE EXIT HANDLER FOR {catches} BEGIN SELECT 'caught' AS c; END;
                  {statement};
                  SELECT 'done' AS c;
                END
            """
            p.answers(script)
    p.rows()
