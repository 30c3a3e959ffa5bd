"""Partition values of any characters, through every operation that names their files again."""

from __future__ import annotations

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
