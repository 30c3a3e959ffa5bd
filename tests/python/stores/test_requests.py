"""The requests that operations make on an object store, one by one: each costs money and a round trip."""

from __future__ import annotations

import re
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

import deltaic

if TYPE_CHECKING:
    from collections.abc import Iterator

    from servers import S3

# the first test fetches and builds the server, once a machine
pytestmark = pytest.mark.timeout(1200)
OPEN = ["GET _last_checkpoint", "LIST _delta_log", "GET crc"]
APPEND = ["PUT data", "PUT commit", "PUT crc"]
# once for each process and bucket: whether of two writers one is refused
TRIAL = {"PUT probe", "DELETE several"}
_NAMES = {
    r"_delta_log/_last_checkpoint": "_last_checkpoint",
    r"_delta_log/\d{20}\.json": "commit",
    r"_delta_log/\d{20}\.crc": "crc",
    r"_delta_log/\d{20}\.checkpoint\.parquet": "checkpoint",
    r"_delta_log/_probe_.*": "probe",
    r"[^/]*\.parquet": "data",
}


class Counted:
    """What has been asked of one table."""

    def __init__(self, s3: S3, uri: str) -> None:
        self.s3, self.uri = s3, uri
        self.table = uri.rpartition("/")[2]
        self.rows = pa.table({"id": pa.array(range(10), pa.int64())})
        # the trial of the store
        self.append("create")

    def append(self, mode: str = "append") -> None:
        """Ten rows more."""
        if mode == "create":
            deltaic.write(self.uri, self.rows, storage_options=self.s3.options)
        else:
            deltaic.write(self.uri, self.rows, storage_options=self.s3.options, mode=mode)

    def open(self) -> deltaic.Table:
        """The newest version."""
        return deltaic.Table(self.uri, storage_options=self.s3.options)

    def all(self) -> list[str]:
        """All requests so far."""
        # the server writes its log after the answer
        time.sleep(0.2)
        return [self._named(method, path) for method, path in self.s3.requests(self.table)]

    @contextmanager
    def requests(self, *expected: str) -> Iterator[None]:
        """What the block asks for, in order but where requests are under way at once."""
        before = len(self.all())
        yield
        found = self.all()[before:]
        assert [f for f in found if f not in TRIAL] == list(expected)

    def _named(self, method: str, path: str) -> str:
        if not path:
            return "DELETE several" if method == "POST" else "LIST _delta_log"
        return f"{method} {next(n for pattern, n in _NAMES.items() if re.fullmatch(pattern, path))}"


@pytest.fixture
def counted(s3: S3, uri: str) -> Counted:
    """A table of one commit."""
    return Counted(s3, uri)


def test_open_and_look_again(counted: Counted) -> None:
    with counted.requests(*OPEN):
        table = counted.open()
    with counted.requests("LIST _delta_log"):
        assert table.update().version == 0
    counted.append()
    with counted.requests("LIST _delta_log", "GET commit"):
        assert table.update().version == 1


def test_list_and_read(counted: Counted) -> None:
    counted.append()
    table = counted.open()
    with counted.requests("GET commit", "GET commit"):
        assert table.totals().files == 2
    with counted.requests():
        assert pa.table(table.files()).num_rows == 2
    with counted.requests("GET data", "GET data"):
        assert pa.table(table.to_arrow()).num_rows == 20
    with counted.requests():
        assert pa.table(table.to_arrow(where="id > 100")).num_rows == 0


def test_append(counted: Counted) -> None:
    with counted.requests(*OPEN, *APPEND):
        counted.append()


def test_append_after_a_checkpoint(counted: Counted) -> None:
    for _ in range(10):
        counted.append()
    with counted.requests(*OPEN, *APPEND):
        counted.append()
    table = counted.open()
    with counted.requests("GET checkpoint", "GET commit"):
        assert table.totals().files == 12


def test_delete_by_a_condition_that_statistics_decide(counted: Counted) -> None:
    table = counted.open()
    with counted.requests(*OPEN, "GET commit", "PUT commit", "PUT crc", "LIST _delta_log", "GET commit"):
        assert table.delete().deleted_rows == 10


def test_vacuum_deletes_a_thousand_files_by_one_request(counted: Counted) -> None:
    for _ in range(12):
        counted.append()
    table = counted.open()
    table.optimize()
    before = len(counted.all())
    # an object's time is precise to a second
    time.sleep(1.1)
    done = table.vacuum(retention_hours=0, allow_short_retention=True)
    assert len(done.files) == 13
    asked = counted.all()[before:]
    assert asked.count("DELETE several") == 1
    assert not any(request == "DELETE data" for request in asked)
    assert counted.open().verify(deep=True).findings == []
