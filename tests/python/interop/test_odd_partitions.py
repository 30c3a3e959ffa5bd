"""Partition values of any characters, through every operation that names their files again."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import deltaic
from deltaic.tables import DeltaTable

if TYPE_CHECKING:
    from pathlib import Path


# every printable character of ASCII, and what paths and partition values trip over
PRINTABLE = "".join(map(chr, range(32, 127)))
VALUES = [PRINTABLE[i : i + 12] for i in range(0, len(PRINTABLE), 12)]
VALUES += ["%", "%25", "a/b", "a b ", "..", "line\nbreak", "tab\t", "ü水", "\U0001f600", "", None]


@pytest.mark.parametrize("kind", ["vectors", "rewrite"])
def test_t31_merged_twice_and_vacuumed(
    spark: Any, delta_spark: Any, same: Any, kind: str, tmp_path: Path
) -> None:
    """No file is lost, doubled or kept under another name, and delta-spark finds all of them."""
    path = str(tmp_path / "t")
    rows = pa.table({"id": pa.array(range(len(VALUES)), pa.int64()), "p": pa.array(VALUES, pa.string())})
    deltaic.create(
        path,
        schema="id BIGINT, p STRING",
        partition_by=["p"],
        configuration={"delta.enableDeletionVectors": str(kind == "vectors").lower()},
    )
    deltaic.write(path, rows, mode="append")
    table = DeltaTable.forPath(spark, path).alias("t")
    for _ in range(2):
        source = spark.createDataFrame(rows).alias("s")
        merge = table.merge(source, "t.p <=> nullif(s.p, '') AND t.id = s.id")
        merge.whenMatchedUpdate(set={"p": "s.p"}).whenNotMatchedInsertAll().execute()
    # a partition value that is empty is null
    expected = pa.table({"id": rows.column("id"), "p": pa.array([v or None for v in VALUES], pa.string())})
    same(deltaic.Table(path).to_arrow(), expected)
    deltaic.Table(path).optimize()
    spark.conf.set("spark.databricks.delta.retentionDurationCheck.enabled", "false")
    try:
        DeltaTable.forPath(spark, path).vacuum(0)
    finally:
        spark.conf.unset("spark.databricks.delta.retentionDurationCheck.enabled")
    same(delta_spark.read(tmp_path / "t"), expected)
    listed = pa.table(deltaic.Table(path).files()).num_rows
    # the empty value and null are one partition, whose two files were joined
    assert len(list((tmp_path / "t").rglob("*.parquet"))) == listed == len(VALUES) - 1
    assert not deltaic.verify(path, deep=True).findings


@pytest.mark.parametrize("change", ["merge", "update", "delete"])
def test_instants_without_a_zone_stay_those_of_the_session(
    spark: Any, delta_spark: Any, same: Any, change: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """Writers of before wrote partition values without a zone, which Spark reads in that of the session."""
    zone = "America/Los_Angeles"
    before = spark.conf.get("spark.sql.session.timeZone")
    request.addfinalizer(lambda: spark.conf.set("spark.sql.session.timeZone", before))
    request.addfinalizer(lambda: delta_spark.sql(f"SET spark.sql.session.timeZone={before}"))
    spark.conf.set("spark.sql.session.timeZone", zone)
    delta_spark.sql(f"SET spark.sql.session.timeZone={zone}")
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    feed = {"delta.enableDeletionVectors": "true", "delta.enableChangeDataFeed": "true"}
    deltaic.write(
        str(ours),
        pa.table({"id": [1, 2, 3], "at": pa.array([0] * 3, pa.timestamp("us", "UTC")), "v": ["a", "b", "c"]}),
        partition_by=["at"],
        configuration=feed,
    )
    log = ours / "_delta_log" / "00000000000000000000.json"
    actions = [json.loads(line) for line in log.read_text().splitlines()]
    for action in actions:
        if "add" in action:
            action["add"]["partitionValues"] = {"at": "2024-01-01 00:00:00"}
    log.write_text("".join(f"{json.dumps(action)}\n" for action in actions))
    for checksum in log.parent.glob("*.crc"):
        checksum.unlink()
    shutil.copytree(ours, theirs)
    table = DeltaTable.forPath(spark, str(ours)).alias("t")
    if change == "merge":
        source = "SELECT 2L AS id UNION ALL SELECT 9L"
        merge = table.merge(spark.sql(source).alias("s"), "t.id = s.id").whenMatchedUpdate(set={"v": "'new'"})
        merge.execute()
        matched = "WHEN MATCHED THEN UPDATE SET v = 'new'"
        delta_spark.sql(f"MERGE INTO delta.`{theirs}` t USING ({source}) s ON t.id = s.id {matched}")
    elif change == "update":
        table.update("id = 2", {"v": "'new'"})
        delta_spark.sql(f"UPDATE delta.`{theirs}` SET v = 'new' WHERE id = 2")
    else:
        table.delete("id = 2")
        delta_spark.sql(f"DELETE FROM delta.`{theirs}` WHERE id = 2")
    expected = delta_spark.read(theirs)
    same(delta_spark.read(ours), expected)
    same(spark.read.format("delta").load(str(ours)).toArrow(), expected)
    instants = spark.read.format("delta").load(str(ours)).select("at").distinct().collect()
    assert [row["at"].timestamp() for row in instants] == [1_704_096_000]
