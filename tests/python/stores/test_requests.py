"""The requests that operations make on an object store: each costs money, and each wave of them a round trip.

A relay before the server holds requests back until no other comes: those that it then lets go are one wave.
"""

from __future__ import annotations

import re
import shutil
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING
from urllib.parse import unquote

import pyarrow as pa
import pytest
import waves

import deltaic
from deltaic import _core

if TYPE_CHECKING:
    from collections.abc import Iterator

    from servers import S3

# the first test fetches and builds the server, once a machine
pytestmark = pytest.mark.timeout(1200)
# so long no request may follow another of its wave, not even on a busy machine
QUIET = 0.12
OPEN = [["GET _last_checkpoint", "LIST _delta_log"], ["GET crc"]]
APPEND = [*OPEN, ["PUT data"], ["PUT commit"], ["PUT crc"]]
COMMIT = [["PUT commit"], ["PUT crc"]]
# the table as it is after a change
LOOK = [["LIST _delta_log"], ["GET commit"]]
# once for each process and bucket: whether of two writers one is refused
TRIAL = {"PUT probe", "DELETE several"}
_NAMES = {
    r"_delta_log/_last_checkpoint": "_last_checkpoint",
    r"_delta_log/\d{20}\.json": "commit",
    r"_delta_log/\d{20}\.crc": "crc",
    r"_delta_log/\d{20}\.checkpoint\.parquet": "checkpoint",
    r"_delta_log/_probe_.*": "probe",
    r"deletion_vector_.*\.bin": "vector",
    r"[^/]*\.parquet": "data",
}


class Counted:
    """What has been asked of one table, through the relay."""

    def __init__(self, s3: S3, relay: waves.Relay, uri: str) -> None:
        self.s3, self.relay, self.uri = s3, relay, uri
        self.table = uri.rpartition("/")[2]
        self.options = {**s3.options, "aws_endpoint": relay.endpoint}
        self.rows = pa.table({"id": pa.array(range(10), pa.int64())})

    def create(self, **properties: str) -> None:
        """The table, without a wait."""
        deltaic.write(self.uri, self.rows, storage_options=self.s3.options, configuration=properties)

    def append(self, times: int = 1) -> None:
        """Ten rows more, without a wait."""
        for _ in range(times):
            deltaic.write(self.uri, self.rows, storage_options=self.s3.options)

    def open(self) -> deltaic.Table:
        """The newest version."""
        return deltaic.Table(self.uri, storage_options=self.options)

    @contextmanager
    def waves(self, *expected: list[str]) -> Iterator[None]:
        """What the block asks for: one wave after the other, those of a wave in any order."""
        before = len(self.relay.waves)
        yield
        named = [[self._named(request) for request in wave] for wave in self.relay.waves[before:]]
        found = [sorted(request for request in wave if request not in TRIAL) for wave in named]
        assert [wave for wave in found if wave] == [sorted(wave) for wave in expected]

    def _named(self, request: str) -> str:
        method, path = request.split(" ", 1)
        path, _, query = unquote(path).partition("?")
        if method == "POST":
            return "DELETE several"
        if not path.startswith(f"/bucket/{self.table}/"):
            return "LIST _delta_log" if f"{self.table}/_delta_log" in query else "LIST table"
        below = path.removeprefix(f"/bucket/{self.table}/")
        return f"{method} {next(name for pattern, name in _NAMES.items() if re.fullmatch(pattern, below))}"


@pytest.fixture(scope="module")
def relay(s3: S3) -> Iterator[waves.Relay]:
    """A relay that tells the waves."""
    with waves.delayed(s3.endpoint, QUIET, together=True) as made:
        yield made


@pytest.fixture
def counted(s3: S3, relay: waves.Relay, uri: str, monkeypatch: pytest.MonkeyPatch) -> Counted:
    """A place of which this process keeps nothing."""
    monkeypatch.setenv("DELTAIC_CACHE_BYTES", "0")
    return Counted(s3, relay, uri)


def test_open_and_look_again(counted: Counted) -> None:
    counted.create()
    with counted.waves(*OPEN):
        table = counted.open()
    assert (table.report["lists"], table.report["gets"]) == (1, 2)
    with counted.waves(["LIST _delta_log"]):
        assert table.update().version == 0
    counted.append(2)
    with counted.waves(["LIST _delta_log"], ["GET commit", "GET commit"]):
        assert table.update().version == 2


def test_list_and_read(counted: Counted) -> None:
    counted.create()
    counted.append()
    table = counted.open()
    before = table.report["gets"]
    with counted.waves(["GET commit", "GET commit"]):
        assert table.totals().files == 2
    assert table.report["gets"] == before + 2
    with counted.waves():
        assert pa.table(table.files()).num_rows == 2
    with counted.waves(["GET data", "GET data"]):
        assert pa.table(table.to_arrow()).num_rows == 20
    with counted.waves():
        assert pa.table(table.to_arrow(where="id > 100")).num_rows == 0


def test_ranges_of_a_file_are_joined(counted: Counted) -> None:
    columns = {f"c{i}": pa.array(range(1000), pa.int64()) for i in range(30)}
    deltaic.write(counted.uri, pa.table(columns), storage_options=counted.s3.options)
    table = counted.open()
    table.totals()
    with counted.waves(["GET data"]):
        assert pa.table(table.to_arrow(columns=["c1", "c7", "c29"])).num_rows == 1000


def test_append(counted: Counted) -> None:
    counted.create()
    with counted.waves(*APPEND):
        deltaic.write(counted.uri, counted.rows, storage_options=counted.options)


def test_append_after_a_checkpoint(counted: Counted) -> None:
    counted.create()
    counted.append(10)
    with counted.waves(*APPEND):
        deltaic.write(counted.uri, counted.rows, storage_options=counted.options)
    table = counted.open()
    with counted.waves(["GET checkpoint"], ["GET commit"]):
        assert table.totals().files == 12


def test_checkpoint(counted: Counted) -> None:
    counted.create()
    counted.append(2)
    table = counted.open()
    table.totals()
    with counted.waves(
        ["GET crc"],
        ["LIST _delta_log"],
        ["GET commit"] * 3,
        ["PUT checkpoint"],
        ["GET _last_checkpoint"],
        ["PUT _last_checkpoint"],
    ):
        table.checkpoint()


def test_delete_by_a_condition_that_statistics_decide(counted: Counted) -> None:
    counted.create()
    table = counted.open()
    with counted.waves(*OPEN, ["GET commit"], *COMMIT, *LOOK):
        assert table.delete().deleted_rows == 10


def test_delete_of_rows(counted: Counted) -> None:
    counted.create(**{"delta.enableDeletionVectors": "false"})
    table = counted.open()
    # the rows that match are found first, then the others are copied
    with counted.waves(*OPEN, ["GET commit"], ["GET data"], ["GET data"], ["PUT data"], *COMMIT, *LOOK):
        assert table.delete("id = 3").deleted_rows == 1


def test_delete_with_a_deletion_vector(counted: Counted) -> None:
    counted.create(**{"delta.enableDeletionVectors": "true"})
    table = counted.open()
    with counted.waves(*OPEN, ["GET commit"], ["GET data"], ["PUT vector"], *COMMIT, *LOOK):
        assert table.delete("id = 3").deleted_rows == 1


def test_read_with_a_deletion_vector(counted: Counted) -> None:
    counted.create(**{"delta.enableDeletionVectors": "true"})
    counted.open().delete("id = 3")
    table = counted.open()
    table.totals()
    with counted.waves(["GET vector"], ["GET data"]):
        assert pa.table(table.to_arrow()).num_rows == 9


def test_optimize(counted: Counted) -> None:
    counted.create()
    counted.append(3)
    table = counted.open()
    table.totals()
    with counted.waves(*OPEN, ["GET commit"] * 4, ["GET data"] * 4, ["PUT data"], *COMMIT, *LOOK):
        table.optimize()


def test_history_and_details(counted: Counted) -> None:
    counted.create()
    counted.append()
    table = counted.open()
    with counted.waves(["LIST _delta_log"], ["GET commit", "GET commit"]):
        assert len(table.history()) == 2
    with counted.waves(["GET commit", "GET commit"], ["LIST _delta_log"], ["GET commit"]):
        table.detail()


def test_batches_of_a_stream(counted: Counted) -> None:
    counted.create()
    with counted.waves(*OPEN):
        source = _core.StreamSource(counted.uri, {}, None, counted.options)
    first = source.latest()
    counted.append(2)
    with counted.waves(["LIST _delta_log"], ["GET commit", "GET commit"]):
        second = source.latest(first)
    assert second is not None
    with counted.waves(["LIST _delta_log"]):
        assert len(source.batch(first, second)) == 1
    with counted.waves(["LIST _delta_log"]):
        assert source.latest(second) == second


def test_what_never_changes_is_read_once(counted: Counted, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DELTAIC_CACHE_BYTES")
    counted.create(**{"delta.enableDeletionVectors": "true"})
    counted.open().delete("id = 3")
    table = counted.open()
    assert pa.table(table.to_arrow()).num_rows == 9
    with counted.waves(["GET _last_checkpoint", "LIST _delta_log"]):
        table = counted.open()
    assert (table.report["lists"], table.report["gets"]) == (1, 1)
    with counted.waves(["GET data"]):
        assert pa.table(table.to_arrow()).num_rows == 9
    # an append of this process knows its own checksum
    deltaic.write(counted.uri, counted.rows, storage_options=counted.options)
    with counted.waves(
        ["GET _last_checkpoint", "LIST _delta_log"], ["PUT data"], ["PUT commit"], ["PUT crc"]
    ):
        deltaic.write(counted.uri, counted.rows, storage_options=counted.options)


def test_a_table_that_was_made_again_is_not_read_from_memory(
    counted: Counted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DELTAIC_CACHE_BYTES")
    counted.create()
    assert pa.table(counted.open().to_arrow()).num_rows == 10
    assert counted.s3.log is not None
    for kept in ("data", "metadata"):
        shutil.rmtree(counted.s3.log.parent / kept / "bucket" / counted.table)
    deltaic.write(counted.uri, counted.rows.slice(0, 3), storage_options=counted.s3.options)
    assert pa.table(counted.open().to_arrow()).num_rows == 3


def test_vacuum_deletes_a_thousand_files_by_one_request(counted: Counted) -> None:
    counted.create()
    counted.append(12)
    table = deltaic.Table(counted.uri, storage_options=counted.s3.options)
    table.optimize()
    # an object's time is precise to a second
    time.sleep(1.1)
    table = counted.open()
    before = len(counted.relay.waves)
    done = table.vacuum(retention_hours=0, allow_short_retention=True)
    assert len(done.files) == 13
    asked = [counted._named(request) for wave in counted.relay.waves[before:] for request in wave]
    assert asked.count("DELETE several") == 1
    assert not any(request == "DELETE data" for request in asked)
    assert counted.open().verify(deep=True).findings == []
