"""INSERT by position: whose fields go by name, and DEFAULT as a value."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playing import Area

if TYPE_CHECKING:
    from playing import Player

AREA = Area("insert_values")


@AREA.situation()
def defaults(p: Player) -> None:
    """DEFAULT as a value, of an inline table and of a query, and within PARTITION."""
    p.sql(
        "CREATE TABLE {t} (id INT DEFAULT 7, s STRUCT<x: INT, y: INT>, p INT DEFAULT 5) USING delta PARTITIONED BY (p) "
        "TBLPROPERTIES ('delta.feature.allowColumnDefaults' = 'supported')"
    )
    p.attempt(
        "INSERT INTO {t} VALUES (DEFAULT, named_struct('x', 1, 'y', 2), 1)",
        "INSERT INTO {t} VALUES (1, NULL, DEFAULT), (2, NULL, DEFAULT)",
        "INSERT INTO {t} SELECT 3, NULL, DEFAULT",
        "INSERT INTO {t} (s) VALUES (named_struct('y', 3, 'x', 4))",
        "INSERT INTO {t} PARTITION (p = DEFAULT) SELECT 4, NULL",
        "INSERT INTO {t} PARTITION (p = 9) VALUES (DEFAULT, NULL)",
    )
    p.rows()
    p.attempt("INSERT OVERWRITE {t} VALUES (8, NULL, DEFAULT)")
    p.rows()


@AREA.situation()
def names_by_place(p: Player) -> None:
    """By position, fields go by their names where the columns have the table's, and by their places elsewhere."""
    p.sql("CREATE TABLE {t} (a INT, s STRUCT<x: INT, y: INT>) USING delta")
    p.sql(
        "INSERT INTO {t} SELECT 1 AS a, named_struct('y', 1, 'x', 2) AS s",
        "INSERT INTO {t} SELECT 2 AS a, named_struct('y', 1, 'x', 2) AS other",
        "INSERT INTO {t} VALUES (3, named_struct('y', 1, 'x', 2))",
        "WITH c AS (SELECT 4 AS a, named_struct('y', 1, 'x', 2) AS s) INSERT INTO {t} SELECT * FROM c",
        "INSERT INTO {t} SELECT a + 10 AS a, named_struct('x', s.y, 'y', s.x) AS s FROM {t} WHERE a = 1",
        "INSERT INTO {t} SELECT a + 20 AS a, struct(s.y AS y, s.x AS x) AS s FROM {t} WHERE a = 1 LIMIT 1",
        "INSERT INTO {t} SELECT 5 AS a, named_struct('p', 1, 'q', 2) AS s",
        "INSERT INTO {t} REPLACE WHERE a = 3 SELECT 3 AS a, named_struct('y', 7, 'x', 8) AS s",
    )
    p.rows()
