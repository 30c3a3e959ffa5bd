"""Ranges of changes over other schemas, and within other queries."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import TYPE_CHECKING, Any

from playing import FEED, Area

from areas.logs import put

if TYPE_CHECKING:
    from collections.abc import Callable

    from playing import Player

AREA = Area("changes_schemas")
MAPPED = ", 'delta.columnMapping.mode' = 'name'"


def fed(p: Player, columns: str = "id INT, name STRING", more: str = "") -> None:
    p.sql(f"CREATE TABLE {{t}} ({columns}) USING delta TBLPROPERTIES ('{FEED}' = 'true'{more})")


def ranges(p: Player, *pairs: tuple[int, int | None]) -> None:
    """Tells the rows of each range, or the condition of its error."""
    for start, end in pairs:
        until = {} if end is None else {"endingVersion": end}
        p.tell([start, end])
        p.answers(
            lambda s=start, u=until: p.read(readChangeFeed="true", startingVersion=s, **u).drop(
                "_commit_timestamp"
            )
        )


def with_other_fields(p: Player, version: int, how: Callable[[dict[str, Any]], None]) -> None:
    """A commit by hand that changes the columns and nothing else."""
    reported = [a for v in range(version) for a in p.actions(v) if "metaData" in a][-1]
    changed = deepcopy(reported)
    schema = json.loads(changed["metaData"]["schemaString"])
    for column in schema["fields"]:
        how(column)
    changed["metaData"]["schemaString"] = json.dumps(schema)
    put(p.path, version, {"commitInfo": {"timestamp": 1, "operation": "Manual Update"}}, changed)


def _a_type(column: dict[str, Any]) -> None:
    if column["name"] == "id":
        column["type"] = "string"


def not_null(column: dict[str, Any]) -> None:
    column["nullable"] = False


def _nullable(column: dict[str, Any]) -> None:
    column["nullable"] = True


@AREA.grid({"plain": "", "mapped": MAPPED})
def a_type_and_then_not_null(p: Player, more: str) -> None:
    """Of the columns, changed by commits that have no rows."""
    fed(p, more=more)
    p.sql("INSERT INTO {t} VALUES (1, 'a')")
    with_other_fields(p, 2, _a_type)
    p.sql("INSERT INTO {t} VALUES ('2', 'b')")
    ranges(p, (0, 3), (0, 1), (1, 1), (3, 3), (2, 3))
    with_other_fields(p, 4, not_null)
    p.sql("INSERT INTO {t} VALUES ('3', 'c')")
    ranges(p, (3, 5), (3, 3), (5, 5), (4, 5))
    with_other_fields(p, 6, _nullable)
    ranges(p, (5, 6), (5, 5), (3, 6))


@AREA.grid({"by name": "name", "by id": "id"})
def a_drop_and_a_new_column_of_the_name(p: Player, mode: str) -> None:
    fed(p, more=f", 'delta.columnMapping.mode' = '{mode}'")
    p.sql("INSERT INTO {t} VALUES (1, 'a')", "ALTER TABLE {t} DROP COLUMN name", "INSERT INTO {t} VALUES (2)")
    ranges(p, (0, 3), (0, 1), (1, 3), (3, 3), (2, 3), (1, 2))
    p.sql("ALTER TABLE {t} ADD COLUMN name STRING", "INSERT INTO {t} VALUES (3, 'c')")
    ranges(p, (0, 5), (0, 1), (3, 5), (2, 5))


@AREA.situation()
def a_rename_and_a_drop(p: Player) -> None:
    """No version within the range has the schema of its end."""
    fed(p, more=", 'delta.columnMapping.mode' = 'name'")
    p.sql("INSERT INTO {t} VALUES (1, 'a')", "ALTER TABLE {t} RENAME COLUMN name TO called")
    p.sql(
        "INSERT INTO {t} VALUES (2, 'b')", "ALTER TABLE {t} DROP COLUMN called", "INSERT INTO {t} VALUES (3)"
    )
    ranges(p, (0, 5), (0, 1), (0, 2), (2, 3), (0, 3), (3, 5), (4, 5), (5, 5))


@AREA.situation()
def mapping_that_comes(p: Player) -> None:
    fed(p)
    p.sql("INSERT INTO {t} VALUES (1, 'a')")
    p.sql(
        """ALTER TABLE {t} SET TBLPROPERTIES ('delta.columnMapping.mode' = 'name',
        'delta.minReaderVersion' = '2', 'delta.minWriterVersion' = '5')"""
    )
    p.sql(
        "INSERT INTO {t} VALUES (2, 'b')",
        "ALTER TABLE {t} ADD COLUMN n INT",
        "INSERT INTO {t} VALUES (3, 'c', 3)",
    )
    ranges(p, (0, 3), (0, 5), (0, 1), (3, 5), (0, None))


@AREA.situation()
def ranges_within_queries(p: Player) -> None:
    fed(p)
    p.sql("INSERT INTO {t} VALUES (1, 'a'), (2, 'a')", "INSERT INTO {t} VALUES (3, 'a')")
    p.sql("DELETE FROM {t} WHERE id > 1", "CREATE TABLE {name} USING delta LOCATION '{at}/t'")
    feed = p.read(readChangeFeed="true", startingVersion=0)
    p.rows(feed.selectExpr("count(distinct name)", "first(name)", "max(_commit_version)"))
    p.rows(feed.where("_change_type != 'insert'").drop("_commit_timestamp"))
    p.rows(feed.where("_commit_version = 2 AND id < 9").select("id", "_change_type"))
    p.rows(feed.selectExpr("*", "0 AS col3", "_change_type AS again").drop("_commit_timestamp"))
    p.answers(
        "SELECT * FROM range(8) WHERE id > (SELECT count(*) FROM table_changes('{name}', 0, 3))",
        "SELECT id, _change_type FROM table_changes('{name}', 0, 3) WHERE id < 3",
        "SELECT n FROM (SELECT count(*) AS n, _change_type AS c FROM table_changes('{name}', 0) GROUP BY 2)",
        "WITH c AS (SELECT * FROM table_changes('{name}', 0, 2)) SELECT c.id FROM c JOIN {t} AS t ON t.id = c.id",
        "SELECT * FROM {t} o WHERE EXISTS (SELECT 1 FROM table_changes('{name}', o.id + 0))",
    )


@AREA.situation()
def filters_on_columns_with_blanks(p: Player) -> None:
    fed(p, "id INT, `id with space` INT", MAPPED)
    p.sql("INSERT INTO {t} SELECT id, id FROM range(10)", "UPDATE {t} SET `id with space` = 20 WHERE id = 2")
    feed = p.read(readChangeFeed="true", startingVersion=0).select("id with space", "_change_type")
    p.tell(feed.columns)
    p.rows(feed.where("`id with space` < 4 OR `id with space` = 20"))


@AREA.situation()
def what_a_new_table_of_the_feed_asks_for(p: Player) -> None:
    p.conf("spark.databricks.delta.properties.defaults.enableChangeDataFeed", "true")
    p.write("SELECT 1 AS id")
    p.detail()
    p.write("SELECT 2 AS id")
    ranges(p, (0, 1), (1, None))
