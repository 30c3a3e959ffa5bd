"""Tables that deltaic converted or cloned, and manifests that it wrote: delta-spark takes and makes the same."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
from dml_tables import live

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


def test_delta_spark_vacuums_where_deltaic_deleted_rows(delta_spark: Any, same: Any, tmp_path: Path) -> None:
    # its VACUUM knows deletion vectors in files only
    data = pa.table({"id": pa.array(range(10), pa.int64()), "p": ["x", "y"] * 5})
    deltaic.write(tmp_path, data, partition_by="p", configuration={"delta.enableDeletionVectors": "true"})
    table = deltaic.Table(tmp_path)
    table.delete("id IN (3, 4)")
    table.delete("id = 5")
    assert [add["deletionVector"]["storageType"] for add in live(str(tmp_path))] == ["u", "u"]
    # those of a commit are in one file
    assert len(list(tmp_path.glob("deletion_vector_*.bin"))) == 2
    table.update()
    delta_spark.sql(f"VACUUM delta.`{tmp_path}`")
    same(delta_spark.read(tmp_path), pa.table(table.to_arrow()))
    assert pa.table(table.to_arrow()).num_rows == 7


def _manifests(path: Path) -> dict[str, list[str]]:
    """The lists by folder. Hadoop puts hidden checksums beside them."""
    folder = path / "_symlink_format_manifest"
    lists = (file for file in folder.rglob("*") if file.is_file() and not file.name.startswith("."))
    return {str(file.relative_to(folder)): sorted(file.read_text().splitlines()) for file in lists}


def _generated(delta_spark: Any, path: Path) -> dict[str, list[str]]:
    """The lists that delta-spark makes where there are none."""
    shutil.rmtree(path / "_symlink_format_manifest", ignore_errors=True)
    delta_spark.sql(f"GENERATE symlink_format_manifest FOR TABLE delta.`{path}`")
    return _manifests(path)


def test_symlink_manifests_are_those_of_delta_spark(
    delta_spark: Any, odd_partitions: pa.Table, tmp_path: Path
) -> None:
    plain, parts = tmp_path / "a b%20c", tmp_path / "parts"
    deltaic.write(plain, odd_partitions)
    deltaic.write(plain, odd_partitions)
    expected = _generated(delta_spark, plain)
    assert [len(lines) for lines in expected.values()] == [2]
    deltaic.Table(plain).generate_manifest()
    assert _manifests(plain) == expected

    deltaic.write(parts, odd_partitions, partition_by="p")
    table = deltaic.Table(parts)
    table.generate_manifest()
    everything = _manifests(parts)
    assert everything == _generated(delta_spark, parts)
    # of a partition without files the list goes
    table.delete("p = 'plain'")
    table.generate_manifest()
    less = _manifests(parts)
    assert len(less) == len(everything) - 1
    assert less == _generated(delta_spark, parts)
    # and after each commit, where the table asks for it
    table.set_properties({"delta.compatibility.symlinkFormatManifest.enabled": "true"})
    deltaic.write(parts, odd_partitions)
    ours = _manifests(parts)
    assert ours == _generated(delta_spark, parts)
