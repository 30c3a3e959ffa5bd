"""Optimized writes: how many files there are; and partition values of one timestamp in two texts."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from playing import Area
from pyspark.sql import functions as f

from areas.logs import copy, forget_checksums

if TYPE_CHECKING:
    from playing import Player

AREA = Area("optimized_writes")

PROPERTY = "delta.autoOptimize.optimizeWrite"


def files(p: Player, of: str = "{t}") -> None:
    p.tell({"files": p.sql(f"DESCRIBE DETAIL {of}").first().numFiles})


@AREA.grid(
    {
        f"{tasks} tasks, {rows} rows{', parts' if by else ''}": (tasks, rows, by)
        for tasks, rows in ((4, 20), (1, 20), (4, 0))
        for by in ("", "PARTITIONED BY (part)")
    },
    long=True,
)
def tasks_are_gathered(p: Player, case: tuple[int, int, str]) -> None:
    tasks, rows, by = case
    p.sql(
        f"CREATE TABLE {{t}} (id BIGINT, part BIGINT) USING delta {by} TBLPROPERTIES ('{PROPERTY}' = 'true')"
    )
    p.write(p.spark.range(0, rows, 1, tasks).withColumn("part", f.col("id") % 5))
    files(p)
    p.rows("SELECT count(*), sum(id) FROM {t}")


@AREA.situation()
def a_stream_keeps_the_setting_that_it_started_with(p: Player) -> None:
    p.sql("CREATE TABLE {t} (id BIGINT) USING delta", "CREATE TABLE {u} (id BIGINT) USING delta")
    p.spark.conf.set("spark.databricks.delta.optimizeWrite.enabled", "true")
    rows = p.spark.readStream.format("delta").load(p.path).repartition(10)
    writer = rows.writeStream.format("delta").option("checkpointLocation", f"{p.at}/checkpoint")
    query = writer.start(f"{p.at}/u")
    p.spark.conf.unset("spark.databricks.delta.optimizeWrite.enabled")
    try:
        p.write(p.spark.range(100))
        query.processAllAvailable()
    finally:
        query.stop()
    files(p, "{u}")
    p.rows("SELECT count(*) FROM {u}")


CHANGED = {
    "OPTIMIZE": "OPTIMIZE {t}",
    "DELETE": "DELETE FROM {t} WHERE ts = TIMESTAMP '2000-01-01 12:00:00'",
    "dynamic": "INSERT OVERWRITE {t} VALUES (9, TIMESTAMP '2000-01-01 12:00:00')",
    "MERGE": "MERGE INTO {t} USING (SELECT TIMESTAMP '2000-01-01 12:00:00' AS k) ON ts = k WHEN MATCHED THEN DELETE",
}


@AREA.grid(CHANGED)
def one_timestamp_in_two_texts(p: Player, statement: str) -> None:
    p.conf("spark.sql.session.timeZone", "UTC")
    p.sql("CREATE TABLE {t} (id BIGINT, ts TIMESTAMP) USING delta PARTITIONED BY (ts)")
    for number in range(4):
        p.sql(f"INSERT INTO {{t}} VALUES ({number}, TIMESTAMP '2000-01-01 12:00:00')")
    to = copy(p, "w")
    forget_checksums(to)
    for version in (1, 2):
        commit = Path(to, "_delta_log", f"{version:020}.json")
        text = re.sub(r'\{"ts":"[^"]*"\}', '{"ts":"2000-01-01 12:00:00"}', commit.read_text(encoding="utf-8"))
        commit.write_text(text, encoding="utf-8")
    if statement.startswith("INSERT"):
        p.conf("spark.sql.sources.partitionOverwriteMode", "dynamic")
    p.attempt(statement.replace("{t}", "delta.`{at}/w`"))
    files(p, "delta.`{at}/w`")
    p.rows("SELECT id FROM delta.`{at}/w`")
