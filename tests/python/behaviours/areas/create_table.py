"""CREATE TABLE: columns, properties, places and names."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from playing import Area

if TYPE_CHECKING:
    from playing import Player

AREA = Area("create_table")


def home(p: Player) -> Path:
    """The folder of the table of the catalog."""
    row = p.sql("DESCRIBE DETAIL {name}").first()
    return Path(row.location.removeprefix("file:"))


@AREA.family(
    {
        "CREATE OR REPLACE": "CREATE OR REPLACE TABLE {name} (id INT, more INT) USING delta",
        "CREATE OR REPLACE AS": "CREATE OR REPLACE TABLE {name} USING delta AS SELECT 1 AS id",
    }
)
def a_name_whose_folder_is_gone(p: Player, statement: str) -> None:
    p.sql("CREATE TABLE {name} (id INT) USING delta", "INSERT INTO {name} VALUES (7)")
    place = home(p)
    shutil.rmtree(place)
    p.attempt(statement)
    p.tell(Path(place, "_delta_log").exists())


PLACE = " USING delta LOCATION '{at}/t' "


@AREA.family(
    {
        "the same": "TBLPROPERTIES ('k' = 'v')",
        "none": "",
        "another value": "TBLPROPERTIES ('k' = 'w')",
        "another one": "TBLPROPERTIES ('k' = 'v', 'l' = 'w')",
        "the feed": "TBLPROPERTIES ('k' = 'v', 'delta.enableChangeDataFeed' = 'true')",
        "versions": "TBLPROPERTIES ('k' = 'v', 'delta.minReaderVersion' = '1', 'delta.minWriterVersion' = '2')",
        "higher versions": "TBLPROPERTIES ('k' = 'v', 'delta.minReaderVersion' = '3', 'delta.minWriterVersion' = '7')",
        "a feature": "TBLPROPERTIES ('k' = 'v', 'delta.feature.deletionVectors' = 'supported')",
    }
)
def a_name_for_a_table_with_properties(p: Player, clause: str) -> None:
    p.sql("CREATE TABLE {t} (id INT) USING delta TBLPROPERTIES ('k' = 'v')")
    p.attempt("CREATE TABLE {name} (id INT)" + PLACE + clause)
    p.tell(p.sql("DESCRIBE HISTORY {t}").count())
    p.detail()


NAMES = {
    "backquote": "a``b",
    "dot": "x.x",
    "comma": "a,b",
    "colon": "a:b",
    "percent": "a%b",
    "umlaut": "ä",
    "quote": "a'b",
    "at": "a@b",
    "hash": "#a",
}
