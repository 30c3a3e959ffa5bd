"""Many threads use one table."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
import pytest

import deltaic


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    root = tmp_path_factory.mktemp("threads") / "t"
    for i in range(5):
        deltaic.write(root, pa.table({"id": list(range(i * 100, i * 100 + 100))}))
    return root


def total(table):
    return pa.table(table.to_arrow()).num_rows, pa.table(table.files()).num_rows, len(table.history())


def test_t38_sixteen_threads_open_one_table(root):
    barrier = threading.Barrier(16)

    def work(_):
        barrier.wait()
        return total(deltaic.Table(root))

    with ThreadPoolExecutor(16) as pool:
        assert set(pool.map(work, range(16))) == {(500, 5, 5)}


def test_sixteen_threads_share_one_table(root):
    table = deltaic.Table(root, version=2)
    barrier = threading.Barrier(16)

    def work(_):
        barrier.wait()
        table.update()
        return total(table)

    with ThreadPoolExecutor(16) as pool:
        assert set(pool.map(work, range(16))) == {(500, 5, 5)}


def test_threads_write_change_and_read_through_one_table(tmp_path):
    """Nothing is lost or seen twice, with the GIL or without it: a version holds whole commits alone."""
    writers, appends, rows = 4, 6, 10
    root = tmp_path / "t"
    deltaic.write(root, pa.table({"id": pa.array([], pa.int64())}))
    shared = deltaic.Table(root)
    barrier = threading.Barrier(writers + 4)
    written = threading.Event()

    def append(writer):
        barrier.wait()
        for at in range(appends):
            first = (writer * appends + at) * rows
            deltaic.write(root, pa.table({"id": list(range(first, first + rows))}))

    def read():
        barrier.wait()
        while not written.is_set():
            shared.update()
            ids = pa.table(shared.to_arrow())["id"].to_pylist()
            assert len(ids) == len(set(ids))
            assert len(ids) % rows == 0

    def compact():
        barrier.wait()
        while not written.is_set():
            shared.optimize()

    with ThreadPoolExecutor(writers + 4) as pool:
        others = [pool.submit(read), pool.submit(read), pool.submit(read), pool.submit(compact)]
        appending = [pool.submit(append, writer) for writer in range(writers)]
        try:
            for future in appending:
                future.result(120)
        finally:
            written.set()
        for future in others:
            future.result(120)
    ids = pa.table(deltaic.Table(root).to_arrow())["id"].to_pylist()
    assert sorted(ids) == list(range(writers * appends * rows))


def test_other_threads_run_while_a_call_waits(tmp_path):
    """A write that waits for its source holds no GIL: the source is a Python generator that other threads feed."""
    data = pa.table({"id": [1]})
    ready = threading.Event()

    def batches():
        assert ready.wait(60)
        yield from data.to_batches()

    reader = pa.RecordBatchReader.from_batches(data.schema, batches())
    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(deltaic.write, tmp_path / "t", reader)
        ready.set()
        assert writing.result(60).rows == 1
