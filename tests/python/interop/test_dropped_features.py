"""Tables whose features deltaic dropped are read and written by delta-spark, and the other way round."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import deltaic

if TYPE_CHECKING:
    from pathlib import Path

FEATURES = {
    "deletionVectors": "'delta.enableDeletionVectors' = 'true'",
    "columnMapping": "'delta.columnMapping.mode' = 'name', 'delta.enableDeletionVectors' = 'false'",
    "typeWidening": "'delta.enableTypeWidening' = 'true', 'delta.enableDeletionVectors' = 'false'",
    "rowTracking": "'delta.enableRowTracking' = 'true', 'delta.enableDeletionVectors' = 'false'",
    "v2Checkpoint": "'delta.checkpointPolicy' = 'v2', 'delta.enableDeletionVectors' = 'false'",
    "inCommitTimestamp": "'delta.enableInCommitTimestamps' = 'true', 'delta.enableDeletionVectors' = 'false'",
}


def _make(delta_spark: Any, path: Path, feature: str) -> None:
    table = f"delta.`{path}`"
    delta_spark.sql(
        f"CREATE TABLE {table} (id INT, p STRING, n INT) USING delta PARTITIONED BY (p)"
        f" TBLPROPERTIES ({FEATURES[feature]})",
        f"INSERT INTO {table} SELECT id, concat('a ', id % 2), id * 2 FROM range(0, 40, 1, 2)",
        f"DELETE FROM {table} WHERE id IN (3, 4, 17)",
    )
    if feature == "columnMapping":
        delta_spark.sql(
            f"ALTER TABLE {table} RENAME COLUMN p TO part", f"ALTER TABLE {table} RENAME COLUMN n TO m"
        )
    if feature == "typeWidening":
        delta_spark.sql(f"ALTER TABLE {table} ALTER COLUMN n TYPE BIGINT")


def _protocol(table: deltaic.Table) -> tuple[int, int, set[str], set[str]]:
    found = table.protocol
    versions = found.min_reader_version, found.min_writer_version
    return *versions, set(found.reader_features), set(found.writer_features)


def _properties(table: deltaic.Table) -> dict[str, str]:
    """But for the version, which follows from how many commits each makes."""
    before = "delta.requireCheckpointProtectionBeforeVersion"
    return {k: v for k, v in table.properties.items() if k != before}


@pytest.mark.parametrize("feature", FEATURES)
def test_both_drop_it_the_same_way(delta_spark: Any, same: Any, feature: str, tmp_path: Path) -> None:
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    _make(delta_spark, theirs, feature)
    shutil.copytree(theirs, ours)
    before = delta_spark.read(theirs)
    at = deltaic.Table(ours).version

    dropped = deltaic.Table(ours).drop_feature(feature)
    delta_spark.sql(f"ALTER TABLE delta.`{theirs}` DROP FEATURE {feature}")

    tables = [deltaic.Table(path) for path in (ours, theirs)]
    a, b = tables
    assert dropped == a.version
    assert _protocol(a) == _protocol(b)
    assert a.schema == b.schema
    assert _properties(a) == _properties(b)
    mine, other = (table.history(1)[0] for table in tables)
    for key in ("operation", "operationParameters"):
        assert mine[key] == other[key], key
    for table in tables:
        assert table.verify(deep=True).ok
        same(table.to_arrow(), before)
    same(delta_spark.read(ours), before)
    same(delta_spark.read(ours, versionAsOf=str(at)), before)
    # each writes where the other dropped it
    delta_spark.sql(
        f"INSERT INTO delta.`{ours}` VALUES (100, 'a 1', 7)", f"DELETE FROM delta.`{ours}` WHERE id = 5"
    )
    deltaic.write(theirs, pa.table(b.to_arrow()).slice(0, 1))
    for path, rows in ((ours, before.num_rows), (theirs, before.num_rows + 1)):
        found = pa.table(deltaic.Table(path).to_arrow())
        same(delta_spark.read(path), found)
        assert found.num_rows == rows
        assert deltaic.Table(path).verify(deep=True).ok
    if feature == "deletionVectors":
        for path in (ours, theirs):
            assert _kept(path) == {file.name for file in path.glob("*.bin")} != set()


def _kept(path: Path) -> set[str]:
    """The files of vectors that have tombstones for who knows no vectors, so that older versions keep them."""
    kept: set[str] = set()
    for commit in (path / "_delta_log").glob("*.json"):
        actions = [json.loads(line) for line in commit.read_text().splitlines()]
        if any(a.get("commitInfo", {}).get("operation") == "Deletion Vector Tombstones" for a in actions):
            kept |= {action["remove"]["path"] for action in actions if "remove" in action}
    return kept
