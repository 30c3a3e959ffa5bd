"""VACUUM, OPTIMIZE and REORG: what they leave, what they tell, and statements that are refused."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from playing import FEED, VECTORS, Area

from areas.logs import copy

if TYPE_CHECKING:
    from playing import Player

AREA = Area("maintenance")

WRONG = {
    "DRY RUN twice": "VACUUM {t} DRY RUN DRY RUN",
    "RETAIN twice": "VACUUM {t} RETAIN 200 HOURS RETAIN 200 HOURS",
    "FULL LITE": "VACUUM {t} FULL LITE",
    "LITE FULL": "VACUUM {t} LITE FULL",
    "LITE twice": "VACUUM {t} LITE LITE",
    "LITE after DRY RUN": "VACUUM {t} DRY RUN LITE",
    "two inventories": "VACUUM {t} USING INVENTORY (SELECT 1) USING INVENTORY (SELECT 1)",
    "a word too many": "VACUUM {t} NOW",
    "days": "VACUUM {t} RETAIN 5 DAYS",
    "no table": "VACUUM",
    "OPTIMIZE without a table": "OPTIMIZE",
    "OPTIMIZE without a condition": "OPTIMIZE {t} WHERE",
    "OPTIMIZE by a subquery": "OPTIMIZE {t} WHERE p IN (SELECT 1)",
    "OPTIMIZE by data": "OPTIMIZE {t} WHERE id = 1",
    "OPTIMIZE by nothing": "OPTIMIZE {t} WHERE none = 1",
    "OPTIMIZE FULL": "OPTIMIZE {t} FULL",
    "ZORDER without BY": "OPTIMIZE {t} ZORDER (id)",
    "ZORDER by a partition": "OPTIMIZE {t} ZORDER BY (p)",
    "ZORDER by nothing": "OPTIMIZE {t} ZORDER BY (none)",
    "REORG without PURGE": "REORG TABLE {t} APPLY (NOTHING)",
    "REORG alone": "REORG TABLE {t}",
    "REORG by data": "REORG TABLE {t} WHERE id = 1 APPLY (PURGE)",
    "GENERATE of nothing": "GENERATE nothing FOR TABLE {t}",
    "GENERATE without FOR": "GENERATE symlink_format_manifest {t}",
    "RESTORE to nothing": "RESTORE TABLE {t}",
    "DESCRIBE HISTORY with a word": "DESCRIBE HISTORY {t} LIMIT few",
    "DESCRIBE DETAIL of two": "DESCRIBE DETAIL {t} {u}",
    "CONVERT to another": "CONVERT TO ICEBERG parquet.`{at}/u`",
    "DROP FEATURE of nothing": "ALTER TABLE {t} DROP FEATURE",
    "a quote": "OPTIMIZE {t} WHERE p = 'x",
}
MADE = (
    "CREATE TABLE {t} (id INT, p INT) USING delta PARTITIONED BY (p)",
    "INSERT INTO {t} VALUES (1, 1), (2, 2)",
)


@AREA.situation()
def statements_that_are_wrong(p: Player) -> None:
    p.sql(*MADE)
    for name, statement in WRONG.items():
        p.tell({"case": name})
        p.attempt(statement)
    p.tell(p.sql("DESCRIBE HISTORY {t}").count())


@AREA.situation()
def statements_that_are_written_otherwise(p: Player) -> None:
    p.sql(*MADE, "INSERT INTO {t} VALUES (3, 1)")
    for statement in (
        "OPTIMIZE '{at}/t'",
        "optimize delta.`{at}/t` where p = 1 and p < 3;",
        "OPTIMIZE {t} ZORDER BY id",
        "OPTIMIZE {t} WHERE p = 2 ZORDER BY (id)",
        "VACUUM '{at}/t' DRY RUN RETAIN 200 HOURS",
        "VACUUM {t} FULL RETAIN 200.5 HOURS",
        "/* first */ VACUUM {t} LITE DRY RUN -- then",
        "REORG TABLE {t} WHERE p = 1 APPLY (PURGE)",
        "DESC HISTORY '{at}/t' LIMIT 1",
        "DESC DETAIL '{at}/t'",
    ):
        p.attempt(statement)
        last = p.sql("DESCRIBE HISTORY {t} LIMIT 1").first()
        p.tell([last.version, last.operation])


def files(p: Player, ending: str = ".parquet") -> None:
    found = [f for f in Path(p.path).rglob(f"*{ending}") if "_delta_log" not in f.parts and f.name[0] != "."]
    p.tell({ending: len(found)})


@AREA.family({"full": "", "lite": " LITE"}, quick={"full"})
def vacuum_again_and_again(p: Player, how: str) -> None:
    p.sql(*MADE, "INSERT INTO {t} VALUES (3, 1)", "DELETE FROM {t} WHERE id = 1", "OPTIMIZE {t}")
    p.conf("spark.databricks.delta.retentionDurationCheck.enabled", "false")
    for _ in range(3):
        p.attempt(f"VACUUM {{t}}{how} RETAIN 0 HOURS")
        files(p)
        p.rows()


@AREA.situation(long=True)
def what_the_history_says(p: Player) -> None:
    p.sql(*MADE, "INSERT INTO {t} VALUES (3, 1)", "DELETE FROM {t} WHERE id = 3")
    p.conf("spark.databricks.delta.retentionDurationCheck.enabled", "false")
    p.sql("VACUUM {t} RETAIN 0 HOURS DRY RUN")
    p.tell(p.sql("DESCRIBE HISTORY {t}").count())
    p.sql("VACUUM {t} RETAIN 0 HOURS")
    reported: Any = p.sql("DESCRIBE HISTORY {t} LIMIT 2").collect()
    for row in reported:
        metrics = {k: v for k, v in row.operationMetrics.items() if "Directories" not in k}
        p.tell([row.version, row.operation, row.operationParameters, sorted(metrics), row.isBlindAppend])
    kept = reported[0].operationMetrics
    p.tell([kept["numDeletedFiles"], reported[1].operationMetrics["numFilesToDelete"]])


@AREA.situation(long=True)
def change_files_go(p: Player) -> None:
    p.sql(f"CREATE TABLE {{t}} (id INT) USING delta TBLPROPERTIES ('{FEED}' = 'true', '{VECTORS}' = 'false')")
    p.sql(
        "INSERT INTO {t} VALUES (1), (2)",
        "UPDATE {t} SET id = 5 WHERE id = 1",
        "DELETE FROM {t} WHERE id = 2",
    )
    p.conf("spark.databricks.delta.retentionDurationCheck.enabled", "false")
    p.sql("VACUUM {t} RETAIN 0 HOURS")
    p.tell(len(list(Path(p.path).rglob("cdc-*.parquet"))))
    p.rows()
    p.attempt(lambda: p.read(readChangeFeed="true", startingVersion=1, endingVersion=2))


@AREA.situation(long=True)
def vectors_go_step_by_step(p: Player) -> None:
    p.sql(
        f"CREATE TABLE {{t}} (id INT) USING delta TBLPROPERTIES ('{VECTORS}' = 'true', "
        "'delta.deletedFileRetentionDuration' = 'interval 1 hour')"
    )
    for first in (0, 10):
        p.sql(f"INSERT INTO {{t}} SELECT /*+ COALESCE(1) */ explode(sequence({first}, {first + 4}))")
    for statement in (
        "DELETE FROM {t} WHERE id IN (1, 11)",
        "DELETE FROM {t} WHERE id IN (2, 12)",
        "DELETE FROM {t} WHERE id IN (3, 13)",
        "REORG TABLE {t} APPLY (PURGE)",
    ):
        p.sql(statement, "VACUUM {t}")
        files(p, ".bin")
        files(p)
        p.rows()


COLUMNS = {
    "without path": "SELECT 1L AS length, false AS isDir, 1L AS modificationTime",
    "without length": "SELECT '{at}/t/x.parquet' AS path, false AS isDir, 1L AS modificationTime",
    "without isDir": "SELECT '{at}/t/x.parquet' AS path, 1L AS length, 1L AS modificationTime",
    "without modificationTime": "SELECT '{at}/t/x.parquet' AS path, 1L AS length, false AS isDir",
}


@AREA.situation()
def inventories(p: Player) -> None:
    p.sql(*MADE)
    for name, query in COLUMNS.items():
        p.tell({"case": name})
        p.attempt(f"VACUUM {{t}} USING INVENTORY ({query}) RETAIN 200 HOURS DRY RUN")


# -- OPTIMIZE and REORG


@AREA.situation(long=True)
def of_a_table_without_rows(p: Player) -> None:
    p.sql("CREATE TABLE {t} (id INT) USING delta")
    for statement in ("OPTIMIZE {t}", "OPTIMIZE {t} ZORDER BY (id)", "REORG TABLE {t} APPLY (PURGE)"):
        p.attempt(statement)
        last = p.sql("DESCRIBE HISTORY {t} LIMIT 1").first()
        p.tell([last.version, last.operation])


@AREA.family(
    {
        "OPTIMIZE": "OPTIMIZE {t}",
        "ZORDER": "OPTIMIZE {t} ZORDER BY (id)",
        "PURGE": "REORG TABLE {t} APPLY (PURGE)",
    },
    quick={"PURGE"},
)
def metrics_of_vectors(p: Player, statement: str) -> None:
    p.sql(f"CREATE TABLE {{t}} (id INT) USING delta TBLPROPERTIES ('{VECTORS}' = 'true')")
    for first in range(0, 40, 10):
        p.sql(f"INSERT INTO {{t}} SELECT /*+ COALESCE(1) */ explode(sequence({first}, {first + 9}))")
    p.sql("DELETE FROM {t} WHERE id IN (1, 2, 11, 12)")
    row = p.sql(statement).first().metrics
    p.tell([row.numFilesAdded, row.numFilesRemoved, row.totalConsideredFiles])
    vectors = row.deletionVectorStats
    p.tell(None if vectors is None else list(vectors))
    metrics = p.sql("DESCRIBE HISTORY {t} LIMIT 1").first().operationMetrics
    p.tell(
        {
            k: v
            for k, v in metrics.items()
            if k in {"numDeletionVectorsRemoved", "numAddedFiles", "numRemovedFiles"}
        }
    )
    p.rows()


@AREA.situation()
def two_conditions_and_a_dot(p: Player) -> None:
    p.sql(
        "CREATE TABLE {t} (`a.b` INT, s STRUCT<c: INT, `d.e`: INT>, p INT, q INT) USING delta PARTITIONED BY (p, q)"
    )
    for n in range(4):
        p.sql(f"INSERT INTO {{t}} VALUES ({n}, named_struct('c', {n}, 'd.e', {n}), {n % 2}, 0)")
    p.attempt(lambda: p.table().optimize().where("p = 1").where("q = 0").executeCompaction())
    last = p.sql("DESCRIBE HISTORY {t} LIMIT 1").first()
    p.tell(last.operationMetrics["numRemovedFiles"])
    p.attempt(
        "OPTIMIZE {t} ZORDER BY (`a.b`, s.c)",
        "OPTIMIZE {t} ZORDER BY `a.b`, s.c",
        "OPTIMIZE {t} ZORDER BY (s.`d.e`)",
    )
    p.rows()


@AREA.situation(long=True)
def reorg_by_partitions(p: Player) -> None:
    p.sql(
        f"CREATE TABLE {{t}} (id INT, p INT) USING delta PARTITIONED BY (p) TBLPROPERTIES ('{VECTORS}' = 'true')"
    )
    p.sql("INSERT INTO {t} SELECT /*+ COALESCE(1) */ id, id % 2 FROM (SELECT explode(sequence(1, 20)) AS id)")
    p.sql("DELETE FROM {t} WHERE id IN (1, 2)", "REORG TABLE {t} WHERE p = 1 APPLY (PURGE)")
    last = p.sql("DESCRIBE HISTORY {t} LIMIT 1").first()
    p.tell([last.version, last.operation, last.operationMetrics["numDeletionVectorsRemoved"]])
    p.rows()
    p.tell(sum("deletionVector" in a["add"] for a in p.actions() if "add" in a))


AUTO = "delta.autoOptimize.autoCompact"


@AREA.family({"null and empty": "CAST(NULL AS STRING)", "blank": "' '"}, quick={"blank"})
def auto_compaction_of_odd_partitions(p: Player, value: str) -> None:
    p.conf("spark.databricks.delta.autoCompact.minNumFiles", "3")
    p.sql(
        f"CREATE TABLE {{t}} (id INT, v VARIANT, p STRING) USING delta PARTITIONED BY (p) "
        f"TBLPROPERTIES ('{AUTO}' = 'true', 'delta.columnMapping.mode' = 'name')"
    )
    for n in range(3):
        p.sql(f"INSERT INTO {{t}} VALUES ({n}, parse_json('{n}'), {value})")
    p.rows("SELECT id, CAST(v AS STRING), p FROM {t}")
    p.tell(p.sql("DESCRIBE DETAIL {t}").first().numFiles)
    last = p.sql("DESCRIBE HISTORY {t} LIMIT 1").first()
    p.tell([last.operation, last.operationParameters.get("auto")])
    p.sql("OPTIMIZE {t}")
    last = p.sql("DESCRIBE HISTORY {t} LIMIT 1").first()
    p.tell([last.operation, last.operationParameters.get("auto")])


# -- deletion vectors


@AREA.family(
    {
        "path": "path",
        "file_path": "file_path",
        "row_index": "row_index",
    },
    quick={"path"},
)
def columns_of_the_users_that_have_names_of_ours(p: Player, name: str) -> None:
    p.sql(
        f"CREATE TABLE {{t}} (id INT, {name} STRING) USING delta TBLPROPERTIES ('{VECTORS}' = 'true')",
        "INSERT INTO {t} SELECT /*+ COALESCE(1) */ explode(sequence(1, 8)), 'x'",
    )
    p.sql("DELETE FROM {t} WHERE id < 3", f"UPDATE {{t}} SET {name} = 'y' WHERE id = 4")
    p.sql(
        f"MERGE INTO {{t}} t USING (SELECT explode(array(5, 50)) AS id, 'z' AS {name}) s ON t.id = s.id "
        "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
    )
    p.rows()
    p.tell(sum("deletionVector" in a["add"] for a in p.actions() if "add" in a))


@AREA.situation(long=True)
def rows_that_are_hidden_are_not_changed(p: Player) -> None:
    p.sql(
        f"CREATE TABLE {{t}} (id INT) USING delta TBLPROPERTIES ('{VECTORS}' = 'true')",
        "INSERT INTO {t} SELECT /*+ COALESCE(1) */ explode(sequence(0, 8))",
        "DELETE FROM {t} WHERE id = 0",
    )
    for statement in ("UPDATE {t} SET id = 9 WHERE id = 0", "DELETE FROM {t} WHERE id = 0"):
        p.rows(statement)
        last = p.sql("DESCRIBE HISTORY {t} LIMIT 1").first()
        p.tell([last.version, last.operation])
    p.rows()


@AREA.situation(long=True)
def versions_and_counts_beside_vectors(p: Player) -> None:
    for of in ("{t}", "{u}"):
        p.sql(
            f"CREATE TABLE {of} (id INT) USING delta TBLPROPERTIES ('{VECTORS}' = 'true')",
            f"INSERT INTO {of} SELECT /*+ COALESCE(1) */ explode(sequence(0, 8))",
            f"DELETE FROM {of} WHERE id IN (1, 2)",
        )
    p.rows("SELECT t.id, o.id FROM {t} t JOIN {t} VERSION AS OF 1 o ON t.id % 2 = o.id % 2 WHERE o.id < 3")
    p.rows(
        "SELECT (SELECT count(*) FROM {t}), (SELECT count(*) FROM {u}), (SELECT count(*) FROM {t} VERSION AS OF 1)"
    )
    p.sql("INSERT INTO {t} SELECT * FROM {u}")
    p.rows("SELECT (SELECT count(*) FROM {t}), (SELECT count(*) FROM {u})")
    p.rows("SELECT id, _metadata.row_index, _metadata.file_block_start FROM {t} WHERE id > 5")


@AREA.family(
    {
        "none": {},
        "ignoreDeletes": {"ignoreDeletes": "true"},
        "ignoreChanges": {"ignoreChanges": "true"},
        "skipChangeCommits": {"skipChangeCommits": "true"},
    },
    quick={"skipChangeCommits"},
)
def streams_over_vectors(p: Player, options: dict[str, str]) -> None:
    p.sql(f"CREATE TABLE {{t}} (id INT) USING delta TBLPROPERTIES ('{VECTORS}' = 'true')")
    for first in (0, 3, 6):
        p.sql(f"INSERT INTO {{t}} SELECT /*+ COALESCE(1) */ explode(sequence({first}, {first + 2}))")

    def read() -> Any:
        return p.spark.readStream.format("delta").options(**options).load(p.path)

    p.stream(rows=read())
    p.sql("DELETE FROM {t} WHERE id = 3", "INSERT INTO {t} VALUES (15), (16)", "DELETE FROM {t} WHERE id = 4")
    p.attempt(lambda: p.stream(rows=read()))
    p.rows("SELECT * FROM {u}")


@AREA.situation(long=True)
def a_stream_begins_behind_deletes(p: Player) -> None:
    p.sql(
        f"CREATE TABLE {{t}} (id INT, v VARIANT, l ARRAY<INT>) USING delta TBLPROPERTIES ('{VECTORS}' = 'true')",
        "INSERT INTO {t} SELECT /*+ COALESCE(1) */ id, parse_json(CAST(id AS STRING)), array(id, NULL) "
        "FROM (SELECT explode(sequence(0, 9)) AS id)",
    )
    for n in (0, 2, 4):
        p.sql(f"DELETE FROM {{t}} WHERE id = {n}")
    p.stream(
        rows=p.spark.readStream.format("delta").load(p.path).selectExpr("id", "CAST(v AS STRING) AS v", "l")
    )
    p.rows("SELECT * FROM {u}")


@AREA.situation(long=True)
def a_stream_begins_behind_a_delete_of_all(p: Player) -> None:
    p.sql(
        f"CREATE TABLE {{t}} (id INT) USING delta TBLPROPERTIES ('{VECTORS}' = 'true')",
        "INSERT INTO {t} SELECT /*+ COALESCE(1) */ explode(sequence(0, 9))",
        "DELETE FROM {t} WHERE id < 5",
        "DELETE FROM {t}",
        "INSERT INTO {t} VALUES (20)",
    )
    p.stream()
    p.rows("SELECT * FROM {u}")


@AREA.situation()
def a_vector_that_is_damaged(p: Player) -> None:
    p.sql(
        f"CREATE TABLE {{t}} (id INT) USING delta TBLPROPERTIES ('{VECTORS}' = 'true')",
        "INSERT INTO {t} SELECT /*+ COALESCE(1) */ explode(sequence(0, 99))",
        "DELETE FROM {t} WHERE id % 7 = 0",
    )
    torn = copy(p, "v")
    for file in Path(torn).glob("*.bin"):
        data = file.read_bytes()
        file.write_bytes(data[:-6] + bytes([data[-6] ^ 1]) + data[-5:])
    for checksum in Path(torn).glob(".*.bin.crc"):
        checksum.unlink()
    p.attempt("SELECT * FROM delta.`{at}/v`")
