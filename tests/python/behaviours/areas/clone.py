"""SHALLOW CLONE: of tables and versions, onto places and names."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from playing import FEED, VECTORS, Area

if TYPE_CHECKING:
    from playing import Player

AREA = Area("clone")
W = "delta.`{at}/w`"


def source(p: Player, *properties: str) -> None:
    texts = ", ".join(f"'{name}' = 'true'" for name in properties)
    p.sql(
        "CREATE TABLE {t} (id INT, p INT) USING delta PARTITIONED BY (p)"
        + (f" TBLPROPERTIES ({texts})" if texts else ""),
        "INSERT INTO {t} VALUES (1, 1), (2, 2)",
        "INSERT INTO {t} VALUES (3, 1)",
    )


@AREA.family(
    {
        "a version": "VERSION AS OF 1",
        "the first": "VERSION AS OF 0",
        "a time": "TIMESTAMP AS OF '{now}'",
        "an old time": "TIMESTAMP AS OF '1999-01-01'",
        "no version": "VERSION AS OF 9",
    }
)
def of_a_version(p: Player, clause: str) -> None:
    source(p)
    p.sql("ALTER TABLE {t} ADD COLUMN more INT")
    now = str(p.sql("DESCRIBE HISTORY {t}").first().timestamp)
    p.attempt("CREATE TABLE {u} SHALLOW CLONE {t} " + clause.replace("{now}", now))
    if any(Path(p.at, "u", "_delta_log").glob("*.json")):
        p.rows("SELECT * FROM {u}")
        p.schema("SELECT * FROM {u}")


@AREA.situation()
def a_clone_of_a_clone_outlives_the_first(p: Player) -> None:
    source(p)
    p.sql("CREATE TABLE {u} SHALLOW CLONE {t}", f"CREATE TABLE {W} SHALLOW CLONE {{u}}")
    shutil.rmtree(f"{p.at}/u")
    p.rows(f"SELECT * FROM {W}")
    p.sql(f"UPDATE {W} SET id = 9 WHERE id = 3")
    p.rows(f"SELECT * FROM {W}")


@AREA.situation()
def there_and_back_with_vectors(p: Player) -> None:
    source(p, VECTORS)
    p.sql(
        "INSERT INTO {t} SELECT /*+ COALESCE(1) */ explode(sequence(10, 14)), 5",
        "DELETE FROM {t} WHERE id = 11",
    )
    p.sql(
        "CREATE TABLE {u} SHALLOW CLONE {t}",
        "DELETE FROM {u} WHERE id = 12",
        f"CREATE TABLE {W} SHALLOW CLONE {{u}}",
    )
    p.rows(f"SELECT * FROM {W}")
    p.sql("DELETE FROM {t}", "CREATE OR REPLACE TABLE {t} SHALLOW CLONE {u}")
    p.rows()
    p.sql("DELETE FROM {t} WHERE id = 13")
    p.rows()
    p.rows("SELECT * FROM {u}")


@AREA.situation()
def what_an_application_wrote_is_not_cloned(p: Player) -> None:
    p.write("SELECT 1 AS id", txnAppId="a", txnVersion="5")
    p.sql("CREATE TABLE {u} SHALLOW CLONE {t}")
    p.tell(sorted(key for action in p.actions(0, f"{p.at}/u") for key in action))
    p.write("SELECT 2 AS id", path=f"{p.at}/u", txnAppId="a", txnVersion="5")
    p.rows("SELECT * FROM {u}")


@AREA.situation()
def the_protocol_is_that_of_the_source(p: Player) -> None:
    source(p, FEED)
    p.conf("spark.databricks.delta.properties.defaults.enableDeletionVectors", "true")
    p.sql("CREATE TABLE {u} SHALLOW CLONE {t}")
    p.detail("{u}")


@AREA.situation()
def statistics_columns_of_the_source(p: Player) -> None:
    p.sql(
        "CREATE TABLE {t} (a INT, s STRUCT<b: INT, c: INT>) USING delta "
        "TBLPROPERTIES ('delta.dataSkippingStatsColumns' = 's.b')"
    )
    p.sql("INSERT INTO {t} VALUES (1, named_struct('b', 2, 'c', 3))", "CREATE TABLE {u} SHALLOW CLONE {t}")
    p.sql("INSERT INTO {u} VALUES (4, named_struct('b', 5, 'c', 6))")
    p.detail("{u}")
    p.tell([a["add"]["stats"] for a in p.actions(path=f"{p.at}/u") if "add" in a])
