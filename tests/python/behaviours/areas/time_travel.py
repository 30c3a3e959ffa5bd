"""Reads of older versions, by version and by time."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

from playing import Area

if TYPE_CHECKING:
    from playing import Player

AREA = Area("time_travel")
# 2026-01-01 00:00:00 UTC
START = 1767225600
# delta-spark reads no version that is older than that
KEPT = """TBLPROPERTIES ('delta.deletedFileRetentionDuration' = 'interval 5000 weeks',
    'delta.logRetentionDuration' = 'interval 5000 weeks')"""


def dated(p: Player, *seconds: float) -> None:
    """Says when the versions were committed, from the start of a year on; sessions that know the table forget it."""
    for version, after in enumerate(seconds):
        commit = Path(p.path, "_delta_log", f"{version:020}.json")
        os.utime(commit, (START + after, START + after))


def three(p: Player) -> None:
    p.sql(f"CREATE TABLE {{t}} (id INT) USING delta {KEPT}")
    p.sql("INSERT INTO {t} VALUES (1)", "INSERT INTO {t} VALUES (2)")
    dated(p, 0, 3600, 7200)


@AREA.situation()
def versions_in_one_query(p: Player) -> None:
    three(p)
    old, new = p.read(versionAsOf=1), p.read(versionAsOf=2)
    p.rows(old.union(new))
    p.rows(old.join(new, "id", "full"))
    p.rows("SELECT a.id, b.id FROM {t} VERSION AS OF 1 a FULL JOIN {t} VERSION AS OF 2 b ON a.id = b.id")
    p.rows("SELECT id FROM {t} EXCEPT SELECT id FROM {t} VERSION AS OF 1")
    p.rows(p.read().join(old, "id", "left_anti"))


@AREA.situation()
def a_version_with_other_columns(p: Player) -> None:
    p.write("SELECT 1 AS id, 2 AS p", by=("p",))
    p.write("SELECT 'x' AS other, 3 AS q", "overwrite", by=("q",), overwriteSchema="true")
    p.write("SELECT 'y' AS other, 4 AS q, 5 AS more", mergeSchema="true")
    for version in range(3):
        p.schema(p.read(versionAsOf=version))
        p.rows(p.read(versionAsOf=version))
    p.rows("SELECT id FROM {t} VERSION AS OF 0 WHERE p = 2")
    p.rows("SELECT other FROM {t} VERSION AS OF 1 WHERE q = 3")
    p.attempt("SELECT other FROM {t} VERSION AS OF 0")


@AREA.situation(long=True)
def a_version_before_a_rename(p: Player) -> None:
    p.sql(
        "CREATE TABLE {t} (a INT, b INT) USING delta TBLPROPERTIES ('delta.columnMapping.mode' = 'name')",
        "INSERT INTO {t} VALUES (1, 2)",
        "ALTER TABLE {t} RENAME COLUMN a TO c",
        "ALTER TABLE {t} DROP COLUMN b",
        "INSERT INTO {t} VALUES (3)",
    )
    p.rows(p.read(versionAsOf=1))
    p.schema(p.read(versionAsOf=1))
    p.schema()
    p.rows()


@AREA.situation(long=True)
def statistics_of_a_version(p: Player) -> None:
    three(p)
    p.sql("DELETE FROM {t}")
    p.rows("SELECT * FROM {t} VERSION AS OF 2 WHERE id > 1")


_TIMES = (
    "2026-01-01 00:30:00",
    "2026-01-01 00:00:00",
    "2026-01-01 01:00:00",
    "2026-01-01 02:00:00",
    "2026-01-01 02:00:01",
    "2025-12-31 23:59:59",
    "2026-01-01",
    "2026-01-02",
    "2026-01-01 01:30:00.123",
    "2026-01-01 01:30:00.123456",
    "2026-01-01T01:30:00Z",
    "2026-01-01T03:30:00+02:00",
    "x",
    "",
    " 2026-01-01 01:30:00 ",
)


@AREA.situation()
def times(p: Player) -> None:
    """Between two commits, exactly that of one, around the range, with fractions, zones and blanks, and no time."""
    three(p)
    p.answers(*(lambda text=text: p.read(timestampAsOf=text) for text in _TIMES))


@AREA.situation(long=True)
def times_in_sql(p: Player) -> None:
    three(p)
    p.answers(*(f"SELECT * FROM {{t}} TIMESTAMP AS OF '{text}'" for text in _TIMES))


_EXPRESSIONS = (
    "CAST('2026-01-01 01:30:00' AS TIMESTAMP)",
    "coalesce(CAST(NULL AS TIMESTAMP), TIMESTAMP '2026-01-01 01:30:00')",
    "coalesce(CAST('2026-01-01 01:30:00' AS TIMESTAMP), current_date())",
    "TIMESTAMP '2026-01-01 02:30:00' - INTERVAL 1 HOUR",
    "DATE '2026-01-01'",
    "CAST(1767231000 AS TIMESTAMP)",
    "1767231000",
    "CAST(NULL AS TIMESTAMP)",
    "TIMESTAMP_NTZ '2026-01-01 01:30:00'",
    "(SELECT TIMESTAMP '2026-01-01 01:30:00')",
    "id",
    "to_timestamp('01/01/2026 01:30', 'dd/MM/yyyy HH:mm')",
    "true",
)


@AREA.situation()
def expressions_of_time(p: Player) -> None:
    three(p)
    p.sql("CREATE TABLE {name} USING delta LOCATION '{at}/t'")
    p.answers(*(f"SELECT * FROM {{name}} TIMESTAMP AS OF {text}" for text in _EXPRESSIONS))


@AREA.situation()
def a_time_within_the_second_of_a_commit(p: Player) -> None:
    """Without its milliseconds the time of the newest commit is before it."""
    p.sql(f"CREATE TABLE {{t}} (id INT) USING delta {KEPT}", "INSERT INTO {t} VALUES (1)")
    dated(p, 0, 60.5)
    p.answers(
        lambda: p.read(timestampAsOf="2026-01-01 00:01:00"),
        lambda: p.read(timestampAsOf="2026-01-01 00:01:00.499"),
        lambda: p.read(timestampAsOf="2026-01-01 00:01:00.5"),
        lambda: p.read(timestampAsOf="2026-01-01 00:01:01"),
    )


@AREA.situation()
def the_time_zone_of_the_session(p: Player) -> None:
    three(p)
    dated(p, 0, 7 * 3600, 14 * 3600)
    for zone in ("UTC", "America/Los_Angeles", "Asia/Kolkata"):
        p.conf("spark.sql.session.timeZone", zone)
        for text in ("2026-01-01 01:30:00", "2026-01-01 12:00:00"):
            p.answers(lambda text=text: p.read(timestampAsOf=text))
        suffix = "20260101083000000"
        p.answers(
            lambda suffix=suffix: p.read(f"{p.path}@{suffix}"), f"SELECT * FROM delta.`{{at}}/t@{suffix}`"
        )


_SUFFIXES = (
    "@v1",
    "@V1",
    "@v0",
    "@v9",
    "@v",
    "@vx",
    "@v-1",
    "@20260101013000000",
    "@20260101",
    "@v1@v0",
)


@AREA.situation()
def suffixes_of_the_path(p: Player) -> None:
    three(p)
    for suffix in _SUFFIXES:
        p.answers(lambda suffix=suffix: p.read(p.path + suffix), f"SELECT * FROM delta.`{{at}}/t{suffix}`")


@AREA.situation()
def a_folder_named_like_a_version(p: Player) -> None:
    p.path = f"{p.at}/t@v0"
    p.write("SELECT 1 AS id")
    p.write("SELECT 2 AS id")
    p.rows()
    p.rows(p.read(p.path + "@v0"))
    p.rows("SELECT * FROM delta.`{at}/t@v0@v0`")


@AREA.situation(long=True)
def parquet_knows_no_versions(p: Player) -> None:
    p.spark.range(2).write.parquet(f"{p.at}/q@v0")
    p.rows(p.spark.read.parquet(f"{p.at}/q@v0"))
    p.sql("CREATE TABLE {name} (id INT) USING parquet")
    p.answers("SELECT * FROM {name} VERSION AS OF 0", "SELECT * FROM {name} TIMESTAMP AS OF '2026-01-01'")
    p.attempt("SELECT * FROM parquet.`{at}/q@v0` VERSION AS OF 0")
    p.attempt(lambda: p.spark.read.option("versionAsOf", 0).parquet(f"{p.at}/q@v0").collect())


@AREA.situation()
def options_of_names(p: Player) -> None:
    p.sql(
        "CREATE TABLE {name} (id INT) USING delta LOCATION '{at}/t'",
        "INSERT INTO {name} VALUES (1)",
        "INSERT INTO {name} VALUES (2)",
    )
    p.rows(p.spark.read.option("versionAsOf", 1).table(p.name))
    p.rows(p.spark.read.option("VERSIONASOF", "1").format("delta").load(p.path))
    p.rows("SELECT * FROM {name} VERSION AS OF 1")
    p.rows("SELECT * FROM {name} FOR VERSION AS OF 1")
    p.rows("SELECT * FROM {name} FOR SYSTEM_VERSION AS OF 1")
    p.answers(
        lambda: p.spark.read.option("versionAsOf", 1).option("timestampAsOf", "2026-01-01").table(p.name),
        lambda: (
            p.spark.read.format("delta")
            .option("versionAsOf", 1)
            .option("TimestampAsOf", "2026-01-01")
            .load(p.path)
        ),
        lambda: p.spark.read.option("versionAsOf", 1).table(p.name + "_none"),
        lambda: p.read(f"{p.at}/none", versionAsOf=1),
        lambda: p.read(versionAsOf="x"),
        lambda: p.read(versionAsOf="1.5"),
        lambda: p.read(versionAsOf=""),
        lambda: p.read(versionAsOf="99"),
    )
    p.answers(
        "SELECT * FROM {name} VERSION AS OF 'x'",
        "SELECT * FROM {name} VERSION AS OF -1",
        "SELECT * FROM {name} VERSION AS OF 99",
        "SELECT * FROM no_such_table VERSION AS OF 0",
    )


_STATEMENTS = (
    "INSERT INTO {t} VERSION AS OF 0 VALUES (9)",
    "UPDATE {t} VERSION AS OF 0 SET id = 9",
    "DELETE FROM {t} VERSION AS OF 0",
    "MERGE INTO {t} VERSION AS OF 0 USING {t} s ON false WHEN NOT MATCHED THEN INSERT *",
)


@AREA.situation()
def statements_about_an_old_version(p: Player) -> None:
    three(p)
    p.attempt(*_STATEMENTS)
    p.rows()


@AREA.situation(long=True)
def statements_that_read_an_old_version(p: Player) -> None:
    three(p)
    p.attempt("INSERT INTO {t} SELECT id + 10 FROM {t} VERSION AS OF 1")
    p.rows()
    p.attempt("MERGE INTO {t} t USING {t} VERSION AS OF 2 s ON t.id = s.id WHEN MATCHED THEN DELETE")
    p.rows()


@AREA.situation(long=True)
def a_write_to_an_old_version(p: Player) -> None:
    three(p)
    p.attempt(
        lambda: p.write("SELECT 9 AS id", versionAsOf="0"),
        lambda: p.write("SELECT 9 AS id", path=f"{p.path}@v0"),
        lambda: p.write("SELECT 9 AS id", "overwrite", timestampAsOf="2026-01-01"),
    )
    p.rows()


@AREA.situation()
def times_that_go_back_are_made_to_grow(p: Player) -> None:
    p.sql(f"CREATE TABLE {{t}} (id INT) USING delta {KEPT}")
    for i in range(3):
        p.sql(f"INSERT INTO {{t}} VALUES ({i})")
    dated(p, 100, 50, 50, 200)
    found = p.sql("DESCRIBE HISTORY {t}").selectExpr("version", "unix_millis(timestamp) AS at").collect()
    p.tell([[r.version, r.at - START * 1000] for r in found])
    p.rows(p.read(timestampAsOf="2026-01-01 00:01:40.001"))


@AREA.situation()
def a_version_whose_commits_are_gone(p: Player) -> None:
    three(p)
    p.sql(
        "ALTER TABLE {t} SET TBLPROPERTIES ('delta.checkpointInterval' = '1')", "INSERT INTO {t} VALUES (3)"
    )
    for version in range(3):
        Path(p.path, "_delta_log", f"{version:020}.json").unlink()
        Path(p.path, "_delta_log", f"{version:020}.crc").unlink(missing_ok=True)
    p.rows()
    p.attempt(lambda: p.read(versionAsOf=0).collect(), lambda: p.read(versionAsOf=2).collect())
    p.attempt("SELECT * FROM {t} VERSION AS OF 1", "RESTORE TABLE {t} TO VERSION AS OF 1")


@AREA.situation(differs="versions beyond the retention of files are read as long as their files are there")
def versions_older_than_the_retention_of_files(p: Player) -> None:
    p.sql("CREATE TABLE {t} (id INT) USING delta TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')")
    p.sql(*(f"INSERT INTO {{t}} VALUES ({i})" for i in range(3)))
    now = time.time()
    for version, days in enumerate((30, 20, 1, 0.5)):
        at = now - days * 86400
        os.utime(Path(p.path, "_delta_log", f"{version:020}.json"), (at, at))
    then = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(now - 19 * 86400))
    p.answers(
        "SELECT * FROM {t} VERSION AS OF 1",
        f"SELECT * FROM {{t}} TIMESTAMP AS OF '{then}'",
        "SELECT id FROM table_changes_by_path('{at}/t', 1, 2)",
        "SELECT * FROM {t} VERSION AS OF 2",
        "SELECT * FROM {t} VERSION AS OF 3",
    )
    p.attempt(
        "DESCRIBE HISTORY {t}",
        "CREATE TABLE {u} SHALLOW CLONE {t} VERSION AS OF 1",
        "RESTORE TABLE {t} TO VERSION AS OF 1",
    )
    p.rows()


@AREA.situation()
def a_version_that_a_vacuum_emptied(p: Player) -> None:
    """Its rows are an error, never fewer rows."""
    three(p)
    p.conf("spark.databricks.delta.retentionDurationCheck.enabled", "false")
    p.sql("OPTIMIZE {t}", "VACUUM {t} RETAIN 0 HOURS")
    p.attempt("SELECT * FROM {t} VERSION AS OF 2", "SELECT sum(id) FROM {t} VERSION AS OF 1")
    p.rows()


@AREA.situation()
def one_version_is_cached(p: Player) -> None:
    three(p)
    p.read(versionAsOf=1).createOrReplaceTempView(p.name)
    p.sql("CACHE TABLE {name}")
    p.rows("SELECT * FROM {name} UNION ALL SELECT * FROM {t} VERSION AS OF 2")
    p.rows(p.read(versionAsOf=1).union(p.read(versionAsOf=0)).union(p.read()))
    p.sql("UNCACHE TABLE {name}")
