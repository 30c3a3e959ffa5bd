"""Ctrl-C gets through a call that waits."""

import os
import queue
import signal
import threading

import pyarrow as pa
import pytest

import deltaic


@pytest.fixture
def root(tmp_path):
    for n in range(3):
        deltaic.write(tmp_path / "t", pa.table({"id": [n]}))
    return tmp_path / "t"


def block(root):
    """Makes the hint a pipe: whoever opens the table waits until somebody writes to it."""
    hint = root / "_delta_log" / "_last_checkpoint"
    os.mkfifo(hint)
    return hint


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_returns_from_a_call_that_waits(root):
    hint = block(root)
    main = threading.main_thread().ident
    returned = threading.Event()

    def interrupt():
        # opening the pipe for writing waits until the call waits to read it
        with hint.open("w"):
            signal.pthread_kill(main, signal.SIGINT)
            returned.wait(60)

    sender = threading.Thread(target=interrupt)
    sender.start()
    with pytest.raises(KeyboardInterrupt):
        deltaic.Table(root)
    returned.set()
    sender.join()
    hint.unlink()
    assert deltaic.Table(root).version == 2


OPERATIONS = {
    "delete": lambda table: table.delete("id = 1"),
    "update_rows": lambda table: table.update_rows({"id": "id + 10"}, "id = 1"),
    "optimize": lambda table: table.optimize(),
}


@pytest.mark.usefixtures("ctrl_c")
@pytest.mark.parametrize("operation", OPERATIONS)
def test_ctrl_c_stops_an_operation_before_its_commit(root, operation):
    table = deltaic.Table(root)
    hint = block(root)
    before = sorted(root.rglob("*"))
    main = threading.main_thread().ident
    received = queue.SimpleQueue()

    def handler(*_):
        received.put(None)
        raise KeyboardInterrupt

    signal.signal(signal.SIGINT, handler)

    def interrupt():
        with hint.open("w"):
            # when the second is received, the first was passed on
            for _ in range(2):
                signal.pthread_kill(main, signal.SIGINT)
                received.get(timeout=60)

    sender = threading.Thread(target=interrupt)
    sender.start()
    with pytest.raises(KeyboardInterrupt):
        OPERATIONS[operation](table)
    sender.join()
    assert sorted(root.rglob("*")) == before
    hint.unlink()
    table = deltaic.Table(root)
    assert table.version == 2
    assert sorted(pa.table(table.to_arrow())["id"].to_pylist()) == [0, 1, 2]
    # and nothing stands in the way of the next try
    assert OPERATIONS[operation](table).version == 3
