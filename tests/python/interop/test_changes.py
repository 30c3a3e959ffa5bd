"""The change data feed of tables that delta-spark changed: the same rows as delta-spark's own feed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import deltaic
from deltaic import exceptions

if TYPE_CHECKING:
    from pathlib import Path

KINDS = {
    "rewrite": "'delta.enableDeletionVectors' = 'false'",
    "vectors": "'delta.enableDeletionVectors' = 'true'",
    "names": "'delta.enableDeletionVectors' = 'true', 'delta.columnMapping.mode' = 'name'",
    "ids": "'delta.enableDeletionVectors' = 'true', 'delta.columnMapping.mode' = 'id'",
    "in-commit timestamps": "'delta.enableInCommitTimestamps' = 'true', 'delta.enableDeletionVectors' = 'true'",
}
STATEMENTS = [
    """INSERT INTO {t} SELECT id, IF(id % 5 = 0, NULL, concat('p', id % 3)), named_struct('x', id)
       FROM range(0, 60, 1, 2)""",
    "INSERT INTO {t} SELECT id, 'p1', NULL FROM range(60, 80, 1, 2)",
    "DELETE FROM {t} WHERE id % 7 = 3",
    "UPDATE {t} SET id = id + 1000 WHERE id % 11 = 4",
    "DELETE FROM {t} WHERE p = 'p2'",
    "DELETE FROM {t} WHERE id % 7 = 5",
    """MERGE INTO {t} USING (SELECT id FROM range(50, 100)) s ON s.id = {t}.id
       WHEN MATCHED AND s.id % 2 = 0 THEN UPDATE SET p = 'merged' WHEN MATCHED THEN DELETE
       WHEN NOT MATCHED THEN INSERT (id, p) VALUES (s.id, 'new')""",
    """MERGE INTO {t} USING (SELECT id FROM range(9000, 9010)) s ON s.id = {t}.id WHEN MATCHED THEN DELETE""",
    "OPTIMIZE {t}",
    "RESTORE TABLE {t} TO VERSION AS OF 3",
    "DELETE FROM {t} WHERE id < 10",
    "RESTORE TABLE {t} TO VERSION AS OF 9",
    "INSERT OVERWRITE {t} SELECT id, 'over', NULL FROM range(5)",
    "ALTER TABLE {t} ADD COLUMN n INT",
    "INSERT INTO {t} VALUES (7, 'n', NULL, 7)",
]


def _table(delta_spark: Any, path: Path, kind: str) -> str:
    table = f"delta.`{path}`"
    properties = f"'delta.enableChangeDataFeed' = 'true', {KINDS[kind]}"
    delta_spark.sql(
        f"CREATE TABLE {table} (id BIGINT, p STRING, s STRUCT<x: BIGINT>) USING delta PARTITIONED BY (p)"
        f" TBLPROPERTIES ({properties})",
        *(statement.format(t=table) for statement in STATEMENTS),
    )
    return table


@pytest.mark.parametrize("kind", ["rewrite", "vectors", "ids", "in-commit timestamps"])
def test_the_rows_are_those_of_delta_spark(
    spark: Any, delta_spark: Any, same: Any, kind: str, tmp_path: Path
) -> None:
    path = tmp_path / "t"
    _table(delta_spark, path, kind)
    table = deltaic.Table(path)
    every = delta_spark.read(path, readChangeFeed="true", startingVersion="0")
    assert set(every.column("_change_type").to_pylist()) == {
        "insert",
        "delete",
        "update_preimage",
        "update_postimage",
    }
    same(pa.table(table.changes(0)), every)
    df = (
        spark.read.format("delta")
        .option("readChangeFeed", "true")
        .option("startingVersion", 0)
        .load(str(path))
    )
    same(df.toArrow(), every)
    # each by itself: the kinds differ in what one version holds, and not in how versions are joined
    for version in range(table.version + 1) if kind == "vectors" else ():
        asked = {"startingVersion": str(version), "endingVersion": str(version)}
        theirs = delta_spark.read(path, readChangeFeed="true", **asked)
        same(pa.table(table.changes(version, version)), theirs)


@pytest.mark.parametrize("kind", ["names"])
def test_a_rename_and_a_drop_end_a_range(
    spark: Any, delta_spark: Any, same: Any, kind: str, tmp_path: Path
) -> None:
    path = tmp_path / "t"
    table = _table(delta_spark, path, kind)
    before = deltaic.Table(path).version
    delta_spark.sql(
        f"ALTER TABLE {table} RENAME COLUMN n TO m",
        f"UPDATE {table} SET m = m + 1 WHERE m IS NOT NULL",
        f"ALTER TABLE {table} DROP COLUMN s",
        f"DELETE FROM {table} WHERE m IS NULL",
    )
    ours = deltaic.Table(path)
    for start, end in [(0, before), (before + 1, before + 2), (before + 3, before + 4), (before, before)]:
        asked = {"startingVersion": str(start), "endingVersion": str(end)}
        theirs = delta_spark.read(path, readChangeFeed="true", **asked)
        same(pa.table(ours.changes(start, end)), theirs)
        same(deltaic.table_changes(spark, str(path), start, end).toArrow(), theirs)
    for start, end in [(0, before + 1), (before, before + 3), (before + 2, before + 4)]:
        asked = {"startingVersion": str(start), "endingVersion": str(end)}
        with pytest.raises(AssertionError, match="INCOMPATIBLE"):
            delta_spark.read(path, readChangeFeed="true", **asked)
        with pytest.raises(exceptions.ChangesSchemaMismatchError):
            ours.changes(start, end)


@pytest.mark.long
def test_times_choose_the_versions_of_delta_spark(delta_spark: Any, same: Any, tmp_path: Path) -> None:
    path = tmp_path / "t"
    _table(delta_spark, path, "vectors")
    table = deltaic.Table(path)
    times = [commit["timestamp"] for commit in reversed(table.history())]
    for start, end in [(2, 5), (3, 3), (0, 1)]:
        first, last = (times[v].strftime("%Y-%m-%d %H:%M:%S.%f")[:-3] for v in (start, end))
        asked = {"startingTimestamp": first, "endingTimestamp": last}
        theirs = delta_spark.read(path, readChangeFeed="true", **asked)
        same(pa.table(table.changes(start_timestamp=first, end_timestamp=last)), theirs)
        assert set(theirs.column("_commit_version").to_pylist()) <= set(range(start, end + 1))
