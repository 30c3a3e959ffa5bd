"""Tables that deltaic converted are read by delta-spark, which then writes to them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

import deltaic

if TYPE_CHECKING:
    from pathlib import Path


def test_a_converted_folder(delta_spark: Any, same: Any, odd_partitions: pa.Table, tmp_path: Path) -> None:
    path = tmp_path / "t"
    pq.write_to_dataset(odd_partitions, path, partition_cols=["p"])
    deltaic.convert(path, {"p": "string"})
    same(delta_spark.read(path), pa.table(deltaic.Table(path).to_arrow()))
    delta_spark.sql(f"DELETE FROM delta.`{path}`", f"DESCRIBE HISTORY delta.`{path}`")
    assert deltaic.Table(path).totals().files == 0


def test_what_spark_wrote_and_converts(
    delta_spark: Any, same: Any, every_type: pa.Table, tmp_path: Path
) -> None:
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    deltaic.write(tmp_path / "source", every_type)
    for path in (ours, theirs):
        delta_spark.sql(
            f"INSERT OVERWRITE DIRECTORY '{path}' USING parquet SELECT * FROM delta.`{tmp_path / 'source'}`"
        )
    deltaic.convert(ours)
    delta_spark.sql(f"CONVERT TO DELTA parquet.`{theirs}`")
    same(delta_spark.read(ours), every_type)
    same(deltaic.Table(theirs).to_arrow(), every_type)
    a, b = deltaic.Table(ours), deltaic.Table(theirs)
    assert a.schema == b.schema
    assert set(a.protocol.writer_features) == set(b.protocol.writer_features)
    mine, other = (table.history(1)[0] for table in (a, b))
    for key in ("operation", "operationParameters", "operationMetrics"):
        assert mine[key] == other[key], key


def test_a_clone_with_deletion_vectors(delta_spark: Any, same: Any, tmp_path: Path) -> None:
    source, target = tmp_path / "a b", tmp_path / "c"
    data = pa.table({"id": pa.array(range(10), pa.int64()), "p": ["x y", "z"] * 5})
    deltaic.write(source, data, partition_by="p", configuration={"delta.enableDeletionVectors": "true"})
    delta_spark.sql(f"DELETE FROM delta.`{source}` WHERE id IN (3, 4)")
    deltaic.Table(source).shallow_clone(target)
    same(delta_spark.read(target), pa.table(deltaic.Table(source).to_arrow()))
    delta_spark.sql(f"DELETE FROM delta.`{target}` WHERE id = 5", f"DESCRIBE HISTORY delta.`{target}`")
    assert pa.table(deltaic.Table(target).to_arrow()).num_rows == 7
    assert pa.table(deltaic.Table(source).to_arrow()).num_rows == 8
