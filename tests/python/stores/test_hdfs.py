"""Tables on HDFS, without Spark."""

from __future__ import annotations

import concurrent.futures
import json
import multiprocessing
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import peers
import pyarrow as pa
import pytest
from click.testing import CliRunner
from hdfs_cluster import HERE, Hdfs, cluster, site

import deltaic
from deltaic.cli.main import main
from deltaic.exceptions import (
    DataFileError,
    InvalidArgumentError,
    OutsideTableError,
    StorageError,
    TableNotFoundError,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

BLOCK = 1 << 20
# the first test fetches the server, once a machine
pytestmark = pytest.mark.timeout(1200)


@pytest.fixture(scope="module")
def hdfs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hdfs]:
    with cluster(tmp_path_factory.mktemp("hdfs")) as running:
        yield running


@pytest.fixture
def place(request: pytest.FixtureRequest) -> str:
    """The path of a table of its own."""
    return f"/tables/{request.node.name}"


def rows(first: int, count: int) -> pa.Table:
    return pa.table({"id": pa.array(range(first, first + count), pa.int64())})


def ids(uri: str, options: dict[str, str]) -> list[int]:
    table = deltaic.Table(uri, storage_options=options)
    return sorted(pa.table(table.to_arrow()).column("id").to_pylist())


def test_a_table_lives_there(hdfs: Hdfs, place: str) -> None:
    uri, options = hdfs.uri + place, hdfs.settings
    with pytest.raises(TableNotFoundError):
        deltaic.Table(uri, storage_options=options)
    properties = {"delta.enableDeletionVectors": "true", "delta.checkpointInterval": "3"}
    deltaic.write(uri, rows(0, 10), storage_options=options, configuration=properties)
    for first in (10, 20, 30):
        deltaic.write(uri, rows(first, 10), storage_options=options, mode="append")
    table = deltaic.Table(uri, storage_options=options)
    table.delete("id < 5")
    table.optimize()
    assert table.vacuum(0, allow_short_retention=True).files
    assert table.verify(deep=True).findings == []
    assert ids(uri, options) == list(range(5, 40))
    with pytest.raises(DataFileError):
        # vacuumed
        pa.table(deltaic.Table(uri, version=0, storage_options=options).to_arrow())
    assert deltaic.Table(uri, version=3, storage_options=options).version == 3
    # by the name of a NameNode, too
    assert ids(hdfs.node + place, {}) == list(range(5, 40))


def test_files_have_several_blocks_and_partitions_folders(hdfs: Hdfs, place: str) -> None:
    uri = hdfs.node + place
    values = [os.urandom(40).hex() for _ in range(70_000)]
    frame = pa.table({"p": [n % 2 for n in range(len(values))], "text": values})
    deltaic.write(uri, frame, partition_by=["p"])
    table = deltaic.Table(uri)
    assert table.detail()["sizeInBytes"] / 2 > BLOCK
    found = pa.table(table.to_arrow()).sort_by("text")
    assert found.column("text").to_pylist() == sorted(values)
    assert table.verify(deep=True).findings == []


def test_settings_come_from_the_files_of_hadoop(
    hdfs: Hdfs, place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deltaic.write(hdfs.node + place, rows(0, 3))
    with pytest.raises(InvalidArgumentError, match=r"fs\.defaultFS"):
        deltaic.Table(f"hdfs://{place}")
    site(tmp_path / "conf", "core-site.xml", {"fs.defaultFS": hdfs.uri})
    site(tmp_path / "conf", "hdfs-site.xml", hdfs.settings)
    monkeypatch.setenv("HADOOP_CONF_DIR", str(tmp_path / "conf"))
    for uri in (f"hdfs://{place}", hdfs.uri + place):
        assert ids(uri, {}) == [0, 1, 2]
        assert deltaic.Table(uri).uri == hdfs.uri + place
    # without Spark, a path without a scheme is local
    with pytest.raises(TableNotFoundError):
        deltaic.Table(place)
    assert ids(place, {"fs.defaultFS": hdfs.node}) == [0, 1, 2]
    monkeypatch.delenv("HADOOP_CONF_DIR")
    site(tmp_path / "etc", "none.xml", {})
    (tmp_path / "etc" / "hadoop").symlink_to(tmp_path / "conf")
    monkeypatch.setenv("HADOOP_HOME", str(tmp_path))
    assert ids(f"hdfs://{place}", {}) == [0, 1, 2]


def test_a_view_leads_to_it(hdfs: Hdfs, place: str) -> None:
    options = {"fs.viewfs.mounttable.view.link./mounted": f"{hdfs.node}/tables"}
    name = place.rsplit("/", maxsplit=1)[-1]
    uri = f"viewfs://view/mounted/{name}"
    deltaic.write(uri, rows(0, 3), storage_options=options)
    deltaic.write(uri, rows(3, 3), storage_options=options, mode="append")
    assert ids(hdfs.node + place, {}) == ids(uri, options) == list(range(6))
    with pytest.raises(InvalidArgumentError, match="no mount has it"):
        deltaic.Table(f"viewfs://view/other/{name}", storage_options=options)


def append(uri: str, options: dict[str, str], first: int, count: int) -> None:
    for number in range(first, first + count):
        deltaic.write(uri, rows(number, 1), storage_options=options, mode="append")


def test_writers_at_once_lose_nothing(hdfs: Hdfs, place: str) -> None:
    uri = hdfs.uri + place
    deltaic.write(uri, rows(0, 1), storage_options=hdfs.settings)
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(4, context) as pool:
        names: list[tuple[str, dict[str, str]]] = [(uri, hdfs.settings), (hdfs.node + place, {})]
        writers: list[Any] = [
            pool.submit(append, *names[number % 2], 1 + number * 10, 10) for number in range(4)
        ]
        for writer in writers:
            writer.result()
    table = deltaic.Table(uri, storage_options=hdfs.settings)
    assert (table.version, ids(uri, hdfs.settings)) == (40, list(range(41)))
    assert hidden(hdfs, place) == []


def hidden(hdfs: Hdfs, place: str) -> list[str]:
    """The hidden files in the log."""
    return [name for name in hdfs.tell(f"list {place}/_delta_log") if name.startswith(".")]


def test_a_fail_over_loses_nothing(hdfs: Hdfs, place: str) -> None:
    uri = hdfs.uri + place
    deltaic.write(uri, rows(0, 1), storage_options=hdfs.settings)
    try:
        hdfs.tell("over")
        append(uri, hdfs.settings, 1, 3)
        # the first NameNode is no longer the active one
        with pytest.raises(StorageError, match=r"dfs\.nameservices"):
            deltaic.Table(hdfs.node + place)
    finally:
        hdfs.tell("back")
    append(uri, hdfs.settings, 4, 2)
    assert ids(uri, hdfs.settings) == list(range(6))


def test_what_hdfs_refuses_says_what_to_do(hdfs: Hdfs, place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    uri = hdfs.node + place
    deltaic.write(uri, rows(0, 1))
    monkeypatch.setenv("HADOOP_USER_NAME", "somebody")
    with pytest.raises(StorageError, match="HADOOP_USER_NAME"):
        deltaic.write(uri, rows(1, 1), mode="append")
    monkeypatch.delenv("HADOOP_USER_NAME")
    hdfs.tell("safe")
    try:
        with pytest.raises(StorageError, match="safe mode"):
            deltaic.write(uri, rows(1, 1), mode="append")
        assert ids(uri, {}) == [0]
    finally:
        hdfs.tell("unsafe")
    assert deltaic.Table(uri).version == 0
    unknown = {"dfs.ha.namenodes.other": "one"}
    with pytest.raises(StorageError, match=r"dfs\.namenode\.rpc-address"):
        deltaic.Table(f"hdfs://other{place}", storage_options=unknown)


KILLED = """
import os, signal, sys
import pyarrow as pa
import deltaic
for number in range(1, 1000):
    print(number, flush=True)
    deltaic.write(sys.argv[1], pa.table({"id": [number]}), mode="append")
"""


def test_a_writer_that_is_killed_leaves_nothing_that_counts(hdfs: Hdfs, place: str) -> None:
    uri = hdfs.node + place
    deltaic.write(uri, rows(0, 1))
    for begun in range(3, 7):
        writer = subprocess.Popen([sys.executable, "-c", KILLED, uri], stdout=subprocess.PIPE, text=True)
        assert writer.stdout is not None
        while int(writer.stdout.readline()) < begun:
            pass
        writer.send_signal(signal.SIGKILL)
        writer.wait(timeout=30)
        table = deltaic.Table(uri)
        found = len(ids(uri, {}))
        # each commit has one row
        assert found == table.version + 1
    # as one that died between the file and its name
    log = f"{place}/_delta_log"
    left = f".{table.version + 1:020}.json.0190a8e1b9f07c3c8f0b1d2e3f405162.tmp"
    hdfs.tell(f"create {log}/{left}")
    assert deltaic.Table(uri).version == table.version
    deltaic.write(uri, rows(0, 1), mode="append")
    assert deltaic.Table(uri).version == table.version + 1
    assert left in hidden(hdfs, place)
    assert deltaic.Table(uri).verify(deep=True).findings == []


def test_a_file_outside_is_read_only_where_it_is_allowed(hdfs: Hdfs, place: str) -> None:
    source, clone = f"{hdfs.node}{place}/source", f"{hdfs.node}{place}/clone"
    deltaic.write(source, rows(0, 3))
    deltaic.Table(source).shallow_clone(clone)
    assert ids(clone, {}) == [0, 1, 2]
    with pytest.raises(OutsideTableError):
        ids(clone, {"allowed_locations": "table-only"})
    assert ids(clone, {"allowed_locations": source}) == [0, 1, 2]


def test_the_doctor_tries_it(hdfs: Hdfs, place: str) -> None:
    uri = hdfs.node + place
    deltaic.write(uri, rows(0, 1))
    done = CliRunner().invoke(main, ["doctor", uri, "--json"])
    found = {check["name"]: check for check in json.loads(done.output)["checks"]}
    assert found["put-if-absent"]["status"] == "ok", done.output
    log = ["00000000000000000000.crc", "00000000000000000000.json"]
    assert hdfs.tell(f"list {place}/_delta_log") == log


STEPS = [
    "paths_mean_what_they_mean_to_spark",
    "the_tour",
    "statements",
    "tables_of_the_warehouse",
    "streams",
    "every_route",
    "one_table_by_every_spelling",
    "local_tables_stay_local",
]


@pytest.mark.spark
def test_it_is_the_default_file_system_of_spark(hdfs: Hdfs, tmp_path: Path) -> None:
    """In a process of its own: the default file system is that of a whole JVM."""
    path = os.pathsep.join(filter(None, [str(HERE.parent), os.environ.get("PYTHONPATH")]))
    environment = {
        **os.environ,
        "HADOOP": json.dumps({**hdfs.settings, "fs.defaultFS": hdfs.uri}),
        "PYTHONPATH": path,
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    program = [sys.executable, HERE / "hdfs_spark.py"]
    done = subprocess.run(program, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stdout + done.stderr[-6000:]
    assert done.stdout.split() == STEPS


@pytest.mark.interop
@pytest.mark.spark
def test_delta_spark_writes_at_the_same_time(hdfs: Hdfs, place: str, tmp_path: Path) -> None:
    uri = hdfs.uri + place
    deltaic.write(uri, rows(0, 1), storage_options=hdfs.settings)
    command, environment = peers.command(HERE / "hdfs_peer.py", tmp_path)
    environment["HADOOP"] = json.dumps(hdfs.settings)
    peer = subprocess.Popen([*command, uri, "1000", "8"], env=environment, stdout=subprocess.PIPE, text=True)
    assert peer.stdout is not None
    assert peer.stdout.readline() == "begins\n"
    ours = 0
    while peer.poll() is None:
        ours += 1
        append(uri, hdfs.settings, ours, 1)
    assert (peer.returncode, ours > 0) == (0, True)
    table = deltaic.Table(uri, storage_options=hdfs.settings)
    assert ids(uri, hdfs.settings) == [*range(ours + 1), *range(1000, 1008)]
    engines = [commit["engineInfo"].split("/")[0] for commit in table.history()]
    # neither waits for the other
    assert engines != sorted(engines)
    assert table.verify(deep=True).findings == []
