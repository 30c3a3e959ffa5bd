"""Checkpoints, hints, checksums and compacted files that deltaic writes are read by its peers."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa
import pytest
from deltalake import DeltaTable

import deltaic

if TYPE_CHECKING:
    from pathlib import Path

V2 = {"delta.checkpointPolicy": "v2"}
JSON_ONLY = {"delta.checkpoint.writeStatsAsStruct": "false"}
STRUCT_ONLY = {"delta.checkpoint.writeStatsAsJson": "false"}


def from_duckdb(path: Path) -> pa.Table:
    connection = duckdb.connect()
    try:
        connection.execute("INSTALL delta; LOAD delta")
    except duckdb.Error as error:
        pytest.skip(f"DUCKDB NOT TESTED: its extension `delta` cannot be installed: {error}")
    return connection.execute(f"SELECT * FROM delta_scan('{path}')").to_arrow_table()


def from_deltalake(path: Path) -> pa.Table:
    return DeltaTable(str(path)).to_pyarrow_table()


@pytest.fixture(params=["delta-spark", "deltalake", "duckdb"])
def reader(request: pytest.FixtureRequest) -> Any:
    if request.param == "deltalake":
        return from_deltalake
    if request.param == "duckdb":
        return from_duckdb
    return request.getfixturevalue("delta_spark").read


def without_commits(path: Path, last: int) -> None:
    """Only the checkpoint can give the table now."""
    for commit in (path / "_delta_log").glob("*.json"):
        if commit.name[:20].isdigit() and len(commit.name) == 25 and int(commit.name[:20]) < last:
            commit.unlink()
    for checksum in (path / "_delta_log").glob("*.crc"):
        checksum.unlink()


def properties_of(options: dict[str, str]) -> str:
    return ", ".join(f"'{key}' = '{value}'" for key, value in options.items())


@pytest.mark.parametrize("options", [{}, JSON_ONLY, STRUCT_ONLY, V2, V2 | STRUCT_ONLY])
def test_t23_peers_read_the_table_from_our_checkpoint(
    reader: Any, options: dict[str, str], every_type: pa.Table, same: Any, tmp_path: Path
) -> None:
    path = tmp_path / "t"
    data = every_type.filter(pa.compute.field("id") != 1)
    for _ in range(2):
        deltaic.write(str(path), data, mode="append", partition_by=["text", "day"], configuration=options)
    table = deltaic.Table(str(path))
    done = table.checkpoint()
    assert (done.version, done.existed) == (1, False)
    without_commits(path, 1)
    expected = pa.concat_tables([data] * 2)
    same(deltaic.Table(str(path)).to_arrow(), expected)
    if reader is from_deltalake and options.keys() & V2.keys():
        # its rows come from PyArrow, which it does not give tables with V2 checkpoints; its log is read by its core
        assert pa.table(DeltaTable(str(path)).get_add_actions()).num_rows == done.files
    else:
        same(reader(path), expected)


@pytest.mark.parametrize("policy", ["classic", "v2"])
def test_t23_delta_spark_goes_on_from_our_checkpoint(
    delta_spark: Any, policy: str, same: Any, tmp_path: Path
) -> None:
    path = tmp_path / "t"
    delta_spark.sql(
        f"CREATE TABLE delta.`{path}` (id BIGINT, p STRING, at TIMESTAMP) USING delta PARTITIONED BY (p) "
        f"TBLPROPERTIES ('delta.checkpointPolicy' = '{policy}', 'delta.enableDeletionVectors' = 'true')",
        f"INSERT INTO delta.`{path}` SELECT id, concat('p', id % 3), timestamp'2026-01-01' FROM range(30)",
        f"DELETE FROM delta.`{path}` WHERE id IN (1, 2, 3)",
        f"DELETE FROM delta.`{path}` WHERE id = 29 OR p = 'p0'",
    )
    version = deltaic.Table(str(path)).version
    done = deltaic.Table(str(path)).checkpoint()
    assert done.version == version
    without_commits(path, version)
    hint = json.loads((path / "_delta_log/_last_checkpoint").read_text())
    assert hint["version"] == version
    assert hint["numOfAddFiles"] == done.files
    before = deltaic.Table(str(path)).to_arrow()
    same(delta_spark.read(path), before)
    delta_spark.sql(
        f"INSERT INTO delta.`{path}` VALUES (100, 'p1', NULL)",
        f"UPDATE delta.`{path}` SET id = 200 WHERE id = 4",
        f"OPTIMIZE delta.`{path}`",
    )
    ids = sorted(row for row in delta_spark.read(path).column("id").to_pylist())
    assert ids == sorted(pa.table(deltaic.Table(str(path)).to_arrow()).column("id").to_pylist())
    assert 200 in ids
    # and our next checkpoint over what delta-spark wrote since
    again = deltaic.Table(str(path)).checkpoint()
    without_commits(path, again.version)
    assert sorted(delta_spark.read(path).column("id").to_pylist()) == ids


FEW = {"delta.enableChangeDataFeed": "true", "delta.enableDeletionVectors": "true"}
# more than ten: an element of a list with the place 10 is before that with the place 1 in the checksum of a hint
MANY = (
    FEW
    | dict.fromkeys(("delta.enableRowTracking", "delta.enableTypeWidening"), "true")
    | {"delta.columnMapping.mode": "name", "delta.enableInCommitTimestamps": "true"}
    | dict.fromkeys(("delta.feature.allowColumnDefaults", "delta.feature.generatedColumns"), "supported")
)


@pytest.mark.parametrize("features", [FEW, MANY], ids=["few", "many"])
@pytest.mark.parametrize("policy", ["classic", "v2"])
def test_what_delta_spark_writes_beside_our_commits_verifies(
    delta_spark: Any, policy: str, features: dict[str, str], tmp_path: Path
) -> None:
    """Its checkpoints and checksums list the features of our protocol in another order."""
    schema = pa.schema([("id", pa.int64()), ("p", pa.string())])
    properties = {**features, "delta.checkpointPolicy": policy, "delta.checkpointInterval": "3"}
    deltaic.write(str(tmp_path), schema.empty_table(), configuration=properties)
    assert len(deltaic.Table(str(tmp_path)).protocol.writer_features) > 10 * (features is MANY)
    # it writes the checkpoints 3 and 9
    for n in range(5):
        delta_spark.sql(f"INSERT INTO delta.`{tmp_path}` VALUES ({n}, 'p')")
        deltaic.write(str(tmp_path), pa.table({"id": [n], "p": ["q"]}, schema), mode="append")
    report = deltaic.Table(str(tmp_path)).verify(deep=True)
    assert (report.version, report.findings) == (10, [])
    assert report.checkpoints > 0
    assert report.checksums > 0


def test_what_delta_spark_writes_again_in_its_time_zone_verifies(delta_spark: Any, tmp_path: Path) -> None:
    """Its checksums list the files, with the statistics that it read from our checkpoint."""
    schema = pa.schema([("id", pa.int64()), ("at", pa.timestamp("us", "UTC"))])
    properties = {**STRUCT_ONLY, "delta.checkpointInterval": "2"}
    deltaic.write(str(tmp_path), schema.empty_table(), configuration=properties)
    for n in range(2):
        deltaic.write(str(tmp_path), pa.table({"id": [n], "at": [n * 10**15]}, schema), mode="append")
    delta_spark.sql("SET TIME ZONE 'America/New_York'")
    try:
        delta_spark.sql(f"INSERT INTO delta.`{tmp_path}` VALUES (9, TIMESTAMP '2024-07-01 12:00:00')")
    finally:
        delta_spark.sql("SET TIME ZONE 'UTC'")
    listed = json.loads((tmp_path / "_delta_log/00000000000000000003.crc").read_text())["allFiles"]
    assert any("-05:00" in file["stats"] for file in listed)
    assert deltaic.Table(str(tmp_path)).verify(deep=True).findings == []


def test_delta_spark_takes_our_compacted_file(delta_spark: Any, same: Any, tmp_path: Path) -> None:
    path = tmp_path / "t"
    for start in range(5):
        deltaic.write(str(path), pa.table({"id": pa.array([start], pa.int64())}), mode="append")
    done = deltaic.Table(str(path)).compact_log(1)
    assert (done.start, done.end, done.existed) == (1, 4, False)
    expected = pa.table({"id": pa.array(range(5), pa.int64())})
    same(deltaic.Table(str(path)).to_arrow(), expected)
    same(delta_spark.read(path), expected)


def test_cleanup_is_reported_before_it_is_done(tmp_path: Path) -> None:
    path = tmp_path / "t"
    data = pa.table({"id": pa.array([1], pa.int64())})
    deltaic.write(str(path), data)
    table = deltaic.Table(str(path))
    table.checkpoint()
    assert table.clean_log(dry_run=True) == ([], [])
    assert table.clean_log() == ([], [])
