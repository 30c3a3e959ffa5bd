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
