"""`DeltaTable`: what it tells and does of whole tables, the same on classic sessions and on Spark Connect."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import deltaic
from deltaic import exceptions
from deltaic.tables import DeltaTable

pytestmark = pytest.mark.spark


def rows(numbers: Any) -> pa.Table:
    numbers = list(numbers)
    return pa.table({"id": pa.array(numbers, pa.int64()), "p": ["ab"[i % 2] for i in numbers]})


@pytest.fixture
def path(tmp_path: Path) -> str:
    """Three versions, each with two files of two partitions."""
    path = str(tmp_path / "a table")
    for part in range(3):
        deltaic.write(path, rows(range(part * 10, part * 10 + 10)), partition_by=["p"])
    return path


def ids(table: DeltaTable) -> list[int]:
    return sorted(row.id for row in table.toDF().collect())


class TestFacts:
    def test_history_is_that_of_the_table(self, door: Any, path: str) -> None:
        table = DeltaTable.forPath(door, path)
        table.delete("id = 3")
        found = table.history().collect()
        expected = deltaic.Table(path).history()
        assert [row.version for row in found] == [3, 2, 1, 0]
        assert [row.operation for row in found] == ["DELETE", "WRITE", "WRITE", "WRITE"]
        assert (
            found[0].operationParameters == {"predicate": '["(id#0L = 3)"]'} or found[0].operationParameters
        )
        assert found[1].operationMetrics["numOutputRows"] == "10"
        assert found[1].operationParameters["mode"] == "Append"
        stamps = [row.timestamp.replace(tzinfo=None) for row in found]
        assert stamps == [_session_time(entry["timestamp"]) for entry in expected]
        assert [row.version for row in table.history(2).collect()] == [3, 2]
        assert table.history(2).schema == table.history().schema

    def test_parameters_that_are_no_text_are_their_json(self, door: Any, path: str) -> None:
        table = DeltaTable.forPath(door, path)
        table.restoreToVersion(0)
        (row,) = table.history(1).collect()
        assert row.operationParameters == {"version": "0", "timestamp": None}

    def test_notebooks_show_its_facts_and_columns_as_text(self, door: Any, tmp_path: Path) -> None:
        made = DeltaTable.create(door).location(str(tmp_path / "t")).comment("<b>bold</b>")
        table = made.addColumn("id", "BIGINT", nullable=False, comment="<script>").execute()
        shown = table._repr_html_()
        for text in ("&lt;b&gt;bold&lt;/b&gt;", "&lt;script&gt;", ">bigint<", f"{tmp_path}/t<", ">False<"):
            assert text in shown
        assert "<b>" not in shown
        assert "<script>" not in shown
        modified = deltaic.Table(tmp_path / "t").timestamp
        assert f">{modified:%Y-%m-%d %H:%M:%S}." in shown

    def test_detail_is_one_row(self, door: Any, path: str) -> None:
        table = DeltaTable.forPath(door, path)
        (row,) = table.detail().collect()
        own = deltaic.Table(path)
        assert (row.format, row.id, row.name, row.location) == (
            "delta",
            own.metadata.id,
            None,
            f"file:{path}",
        )
        assert (row.partitionColumns, row.clusteringColumns, row.numFiles) == (["p"], [], 6)
        assert row.sizeInBytes == own.totals().bytes
        assert (row.minReaderVersion, row.minWriterVersion) == (1, 2)
        assert row.tableFeatures == ["appendOnly", "invariants"]
        assert row.lastModified.replace(tzinfo=None) == _session_time(own.timestamp)
        assert (row.properties, row.description) == ({}, None)


def _session_time(when: dt.datetime) -> dt.datetime:
    """PySpark gives times in the zone of this process."""
    return when.astimezone().replace(tzinfo=None)


class TestMaintenance:
    def test_restore_by_version_and_time(self, door: Any, path: str) -> None:
        table = DeltaTable.forPath(door, path)
        (row,) = table.restoreToVersion(1).collect()
        assert (row.num_of_files_after_restore, row.num_removed_files, row.num_restored_files) == (4, 2, 0)
        assert row.table_size_after_restore == deltaic.Table(path).totals().bytes
        assert ids(table) == list(range(20))
        at = deltaic.Table(path, version=0).timestamp
        text = at.astimezone(dt.timezone.utc).strftime("%Y-%m-%d %H:%M:%S.%f")
        table.restoreToTimestamp(text)
        assert ids(table) == list(range(10))
        with pytest.raises(exceptions.VersionNotFoundError):
            table.restoreToVersion(17)
        with pytest.raises(exceptions.TimestampOutOfRangeError):
            table.restoreToTimestamp("2100-01-01")
        with pytest.raises(exceptions.InvalidTimeTravelError):
            table.restoreToTimestamp("yesterday")
        with pytest.raises(ValueError, match=r"version needs to be an int but got '<class 'str'>'\."):
            table.restoreToVersion("1")  # type: ignore[arg-type]

    def test_optimize_tells_what_it_did(self, door: Any, path: str) -> None:
        table = DeltaTable.forPath(door, path)
        before = deltaic.Table(path).totals("p = 'a'")
        (row,) = table.optimize().where("p = 'a'").executeCompaction().collect()
        assert row.path == f"file:{path}"
        reported = row.metrics
        assert (reported.numFilesAdded, reported.numFilesRemoved, reported.partitionsOptimized) == (1, 3, 1)
        assert reported.filesRemoved.totalSize == before.bytes
        assert reported.filesRemoved.min <= reported.filesRemoved.avg <= reported.filesRemoved.max
        assert (
            reported.filesAdded.min
            == reported.filesAdded.max
            == reported.filesAdded.avg
            == reported.filesAdded.totalSize
        )
        assert (reported.totalConsideredFiles, reported.totalFilesSkipped) == (3, 0)
        assert (reported.numTableColumns, reported.numTableColumnsWithStats) == (2, 2)
        assert ids(table) == list(range(30))
        (nothing,) = table.optimize().where("p = 'a'").executeCompaction().collect()
        assert nothing.metrics.numFilesAdded == 0
        assert nothing.metrics.filesAdded.min is None
        assert table.history(1).collect()[0].version == 3
        with pytest.raises(exceptions.InvalidArgumentError):
            table.optimize().where("id = 1").executeCompaction()

    def test_a_z_order_tells_what_it_did(self, door: Any, path: str) -> None:
        table = DeltaTable.forPath(door, path)
        before = deltaic.Table(path).totals("p = 'a'")
        (row,) = table.optimize().where("p = 'a'").executeZOrderBy("id").collect()
        reported, stats = row.metrics, row.metrics.zOrderStats
        assert (
            reported.numFilesAdded,
            reported.numFilesRemoved,
            reported.numBins,
            reported.clusteringStats,
        ) == (
            1,
            3,
            1,
            None,
        )
        assert (stats.strategyName, stats.inputCubeFiles.num, stats.numOutputCubes) == ("all", 0, 1)
        assert (stats.mergedFiles.num, stats.mergedFiles.size) == (3, before.bytes)
        assert ids(table) == list(range(30))
        assert table.history(1).collect()[0].operationParameters["zOrderBy"] == '["id"]'
        for columns in (["p"], ["id", "x"]):
            with pytest.raises(exceptions.InvalidArgumentError):
                table.optimize().executeZOrderBy(columns)
        with pytest.raises(TypeError, match="Z-order column must be str"):
            table.optimize().executeZOrderBy(1)  # type: ignore[arg-type]

    def test_vacuum_keeps_to_the_retention(self, door: Any, path: str) -> None:
        table = DeltaTable.forPath(door, path)
        table.delete("p = 'a'")
        files = len(list(Path(path).rglob("*.parquet")))
        done = table.vacuum()
        assert (done.columns, done.collect()) == ([], [])
        with pytest.raises(exceptions.InvalidArgumentError):
            table.vacuum(0)
        assert len(list(Path(path).rglob("*.parquet"))) == files
        check = "spark.databricks.delta.retentionDurationCheck.enabled"
        door.conf.set(check, "false")
        try:
            table.vacuum(0)
        finally:
            door.conf.unset(check)
        assert len(list(Path(path).rglob("*.parquet"))) == 3
        assert ids(table) == list(range(1, 30, 2))

    def test_generate_writes_manifests(self, door: Any, path: str) -> None:
        table = DeltaTable.forPath(door, path)
        table.generate("SYMLINK_format_manifest")
        assert len(list(Path(path, "_symlink_format_manifest").rglob("manifest"))) == 2
        with pytest.raises(exceptions.InvalidArgumentError, match="symlink_format_manifest"):
            table.generate("other")

    def test_the_protocol_is_raised(self, door: Any, path: str) -> None:
        table = DeltaTable.forPath(door, path)
        table.upgradeTableProtocol(1, 3)
        table.upgradeTableProtocol(1, 2)
        protocol = deltaic.Table(path).protocol
        assert (protocol.min_reader_version, protocol.min_writer_version) == (1, 3)
        table.addFeatureSupport("deletionVectors")
        (row,) = table.detail().collect()
        assert row.tableFeatures == ["appendOnly", "checkConstraints", "deletionVectors", "invariants"]
        with pytest.raises(exceptions.InvalidArgumentError):
            table.addFeatureSupport("timeMachine")
        with pytest.raises(ValueError, match="readerVersion"):
            table.upgradeTableProtocol("1", 2)  # type: ignore[arg-type]


class TestClone:
    def test_a_clone_of_each_kind(self, door: Any, path: str, tmp_path: Path) -> None:
        table = DeltaTable.forPath(door, path)
        newest = table.clone(str(tmp_path / "newest"), isShallow=True, properties={"owner": "me"})
        assert ids(newest) == list(range(30))
        assert newest.detail().collect()[0].properties == {"owner": "me"}
        first = table.cloneAtVersion(0, str(tmp_path / "first"), True)
        assert ids(first) == list(range(10))
        at = deltaic.Table(path, version=1).timestamp.astimezone(dt.timezone.utc)
        second = table.cloneAtTimestamp(at.strftime("%Y-%m-%d %H:%M:%S.%f"), str(tmp_path / "second"), True)
        assert ids(second) == list(range(20))
        second.delete("id < 15")
        assert (ids(second), len(ids(table))) == (list(range(15, 20)), 30)

    def test_what_is_refused(self, door: Any, path: str, tmp_path: Path) -> None:
        table = DeltaTable.forPath(door, path)
        with pytest.raises(exceptions.UnsupportedError, match="isShallow=True"):
            table.clone(str(tmp_path / "deep"))
        table.clone(str(tmp_path / "there"), True)
        with pytest.raises(exceptions.TableAlreadyExistsError):
            table.clone(str(tmp_path / "there"), True)
        with pytest.raises(ValueError, match="target"):
            table.clone(1, True)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="property values"):
            table.clone(str(tmp_path / "x"), True, False, {"a": 1})  # type: ignore[dict-item]


class TestConvert:
    def test_a_folder_of_parquet_becomes_a_table(self, door: Any, tmp_path: Path) -> None:
        folder = tmp_path / "folder"
        pq.write_to_dataset(rows(range(10)), folder, partition_cols=["p"])
        table = DeltaTable.convertToDelta(door, f"parquet.`{folder}`", "p STRING")
        assert ids(table) == list(range(10))
        assert table.detail().collect()[0].partitionColumns == ["p"]
        again = DeltaTable.convertToDelta(door, f"parquet.`{folder}`", "p STRING")
        assert [row.version for row in again.history().collect()] == [0]

    def test_the_partition_schema_as_types(self, door: Any, tmp_path: Path) -> None:
        from pyspark.sql.types import IntegerType, StructType

        folder = tmp_path / "folder"
        pq.write_to_dataset(pa.table({"id": [1, 2], "n": [3, 4]}), folder, partition_cols=["n"])
        table = DeltaTable.convertToDelta(door, f"parquet.`{folder}`", StructType().add("n", IntegerType()))
        assert sorted((r.id, r.n) for r in table.toDF().collect()) == [(1, 3), (2, 4)]
        # the catalog is asked where the bridge is
        with pytest.raises((exceptions.TableNotFoundError, exceptions.UnsupportedError), match="some_table"):
            DeltaTable.convertToDelta(door, "some_table")


class TestPlaces:
    def test_what_is_a_table(self, door: Any, path: str, tmp_path: Path) -> None:
        assert DeltaTable.isDeltaTable(door, path)
        assert DeltaTable.isDeltaTable(door, f"file:{path}")
        # as delta-spark: a folder of a table is one
        assert DeltaTable.isDeltaTable(door, f"{path}/p=a")
        assert not DeltaTable.isDeltaTable(door, str(tmp_path))
        assert not DeltaTable.isDeltaTable(door, str(tmp_path / "nothing"))
        log = Path(path, "_delta_log", f"{0:020}.json")
        protocol = {"protocol": {"minReaderVersion": 9, "minWriterVersion": 9}}
        log.write_text(log.read_text() + json.dumps(protocol) + "\n")
        assert DeltaTable.isDeltaTable(door, path)

    def test_no_table_at_the_path(self, door: Any, tmp_path: Path) -> None:
        with pytest.raises(exceptions.TableNotFoundError):
            DeltaTable.forPath(door, str(tmp_path))

    def test_a_path_as_a_name(self, door: Any, path: str) -> None:
        assert ids(DeltaTable.forName(door, f"delta.`{path}`")) == list(range(30))
        with pytest.raises(exceptions.InvalidArgumentError):
            DeltaTable.forName(door, "a b")
