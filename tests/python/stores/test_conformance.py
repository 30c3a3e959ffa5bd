"""What a table does is the same on every store: versitygw and moto (S3), Azurite (Azure), fake-gcs-server (Google)."""

from __future__ import annotations

import concurrent.futures
import time
import uuid
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pyarrow as pa
import pytest

import deltaic
from deltaic.exceptions import TableAlreadyExistsError, VersionNotFoundError

if TYPE_CHECKING:
    from servers import Server

# the first test of a store fetches its server, once a machine
pytestmark = pytest.mark.timeout(1200)
VECTORS = {"delta.enableDeletionVectors": "true", "delta.enableChangeDataFeed": "true"}


def rows(first: int, count: int, **more: Any) -> pa.Table:
    return pa.table({"id": pa.array(range(first, first + count), pa.int64()), **more})


class Place:
    """A table of a store, with the options of its server."""

    def __init__(self, store: Server, options: dict[str, str] | None = None, name: str = "") -> None:
        self.uri = store.uri(quote(f"{uuid.uuid4().hex}{name}"))
        self.options = store.options if options is None else options

    def write(self, data: pa.Table, **more: Any) -> None:
        deltaic.write(self.uri, data, storage_options=self.options, **more)

    def open(self, version: int | None = None) -> deltaic.Table:
        return deltaic.Table(self.uri, version=version, storage_options=self.options)

    def ids(self, version: int | None = None) -> list[int]:
        return sorted(pa.table(self.open(version).to_arrow()).column("id").to_pylist())

    def check(self) -> None:
        assert self.open().verify(deep=True).findings == []


@pytest.mark.parametrize("names", ["options", "hadoop"])
def test_a_table_lives_there(store: Server, names: str) -> None:
    at = Place(store, getattr(store, names))
    at.write(rows(0, 10), configuration=VECTORS)
    at.write(rows(10, 10))
    with pytest.raises(TableAlreadyExistsError):
        at.write(rows(0, 1), mode="errorifexists")
    table = at.open()
    # of two files one need not be read
    assert table.totals("id >= 15").files == 1
    assert sorted(pa.table(table.to_arrow(where="id >= 15"))["id"].to_pylist()) == list(range(15, 20))
    assert table.delete("id < 3").deleted_rows == 3
    assert table.update_rows({"id": "id + 100"}, "id = 19").updated_rows == 1
    assert at.ids() == [*range(3, 19), 119]
    assert at.ids(0) == list(range(10))
    with pytest.raises(VersionNotFoundError):
        at.open(99)
    at.open().optimize()
    assert at.open().totals().files == 1
    at.open().checkpoint()
    at.write(rows(200, 1))
    assert at.ids() == [*range(3, 19), 119, 200]
    changes = pa.table(at.open().changes(2, 3)).to_pylist()
    assert sorted((c["_change_type"], c["id"]) for c in changes) == [
        ("delete", 0),
        ("delete", 1),
        ("delete", 2),
        ("update_postimage", 119),
        ("update_preimage", 19),
    ]
    at.open().restore(version=1)
    assert at.ids() == list(range(20))
    at.write(rows(0, 2), mode="overwrite")
    # an object's time is precise to a second
    time.sleep(1.1)
    assert at.open().vacuum(retention_hours=0, allow_short_retention=True).failed == []
    assert at.ids() == [0, 1]
    at.check()


VALUES = [
    "a b",
    "a%20b",
    "100%",
    "ä/é",
    "日本 語",
    "x=y:z",
    "#?&+;@,'\"",
    "..",
    "~$!()*[]{}|\\^`<>",
    " ",
    None,
]


def test_names_are_kept(store: Server) -> None:
    at = Place(store, name=" ü%41 +b")
    at.write(rows(0, len(VALUES), p=pa.array(VALUES)), partition_by="p")
    at.write(rows(100, len(VALUES), p=pa.array(VALUES)))
    found = pa.table(at.open().to_arrow()).to_pylist()
    assert sorted((row["id"], row["p"]) for row in found) == sorted(
        [(n, p) for n, p in enumerate(VALUES)] + [(100 + n, p) for n, p in enumerate(VALUES)]
    )
    assert at.open().delete("p = 'ä/é'").deleted_rows == 2
    at.open().optimize()
    time.sleep(1.1)
    done = at.open().vacuum(retention_hours=0, allow_short_retention=True)
    assert (len(done.files), done.failed) == (2 * len(VALUES), [])
    assert len(at.ids()) == 2 * (len(VALUES) - 1)
    at.check()


def append(uri: str, options: dict[str, str], first: int, count: int) -> None:
    for number in range(first, first + count):
        deltaic.write(uri, rows(number, 1), storage_options=options)


def test_writers_at_once_lose_and_double_nothing(
    store: Server, processes: concurrent.futures.ProcessPoolExecutor
) -> None:
    at = Place(store)
    at.write(rows(0, 1))
    each = 8
    writers = [
        processes.submit(append, at.uri, (store.options, store.hadoop)[n % 2], 1 + n * each, each)
        for n in range(4)
    ]
    for writer in writers:
        writer.result()
    assert at.ids() == list(range(1 + 4 * each))
    assert at.open().version == 4 * each
    at.check()


def test_of_two_puts_of_one_object_one_wins(store: Server) -> None:
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for _ in range(10):
            name = uuid.uuid4().hex
            answers = list(pool.map(lambda n, name=name: store.put_if_absent(name, b"%d" % n), range(8)))
            assert sum(200 <= answer < 300 for answer in answers) == 1, answers
            assert {answer for answer in answers if answer >= 300} <= {409, 412}
