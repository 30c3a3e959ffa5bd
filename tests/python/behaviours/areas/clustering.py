"""Clustered tables: CLUSTER BY, what changes it, and what OPTIMIZE does with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playing import Area

if TYPE_CHECKING:
    from playing import Player

AREA = Area("clustering")
CLUSTERED = "CREATE TABLE {t} (a INT, b INT, c INT) USING delta CLUSTER BY (a)"
NAMED = "CREATE TABLE {name} (a INT, b INT, c INT) USING delta CLUSTER BY (a)"


def columns(p: Player, of: str = "{t}") -> None:
    row = p.sql(f"DESCRIBE DETAIL {of}").first()
    p.tell([row.partitionColumns, row.clusteringColumns, "clustering" in row.tableFeatures])


@AREA.family(
    {
        "CREATE OR REPLACE": "CREATE OR REPLACE TABLE {t} (a INT, b INT) USING delta PARTITIONED BY (a)",
        "REPLACE AS": "REPLACE TABLE {t} USING delta PARTITIONED BY (a) AS SELECT 1 AS a, 2 AS b",
    }
)
def no_partitions_for_a_clustered_table(p: Player, statement: str) -> None:
    p.sql(CLUSTERED, "INSERT INTO {t} VALUES (1, 2, 3)")
    p.attempt(statement)
    columns(p)
    p.rows()


@AREA.family(
    {
        "five columns": "CREATE TABLE {u} (a INT, b INT, c INT, d INT, e INT) USING delta CLUSTER BY (a, b, c, d, e)",
        "one column twice": "CREATE TABLE {u} (a INT, b INT) USING delta CLUSTER BY (a, a)",
        "a struct": "CREATE TABLE {u} (a STRUCT<b: INT>) USING delta CLUSTER BY (a)",
        "a boolean": "CREATE TABLE {u} (a BOOLEAN) USING delta CLUSTER BY (a)",
        "an array": "CREATE TABLE {u} (a ARRAY<INT>) USING delta CLUSTER BY (a)",
        "a map": "CREATE TABLE {u} (a MAP<STRING, INT>) USING delta CLUSTER BY (a)",
        "binary": "CREATE TABLE {u} (a BINARY) USING delta CLUSTER BY (a)",
        "a variant": "CREATE TABLE {u} (a VARIANT) USING delta CLUSTER BY (a)",
        "without statistics": "CREATE TABLE {u} (a INT, b INT) USING delta CLUSTER BY (b) "
        "TBLPROPERTIES ('delta.dataSkippingNumIndexedCols' = '1')",
        "AS SELECT without statistics": "CREATE TABLE {u} USING delta CLUSTER BY (b) "
        "TBLPROPERTIES ('delta.dataSkippingNumIndexedCols' = '1') AS SELECT 1 AS a, 2 AS b",
        "not in the listed statistics": "CREATE TABLE {u} (a INT, b INT) USING delta CLUSTER BY (b) "
        "TBLPROPERTIES ('delta.dataSkippingStatsColumns' = 'a')",
        "the property": "CREATE TABLE {u} (a INT) USING delta TBLPROPERTIES ('clusteringColumns' = 'a')",
    }
)
def a_table_that_cannot_be(p: Player, statement: str) -> None:
    p.attempt(statement)


@AREA.family(
    {
        "not clustered": "CREATE TABLE {name} (a INT, b INT, c INT) USING delta LOCATION '{at}/t'",
    }
)
def a_name_for_a_clustered_table(p: Player, statement: str) -> None:
    p.sql(CLUSTERED)
    p.attempt(statement)
