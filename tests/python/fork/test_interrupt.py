"""Ctrl-C gets through a call that waits."""

import os
import signal
import threading

import pyarrow as pa
import pytest

import deltaic


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_returns_from_a_call_that_waits(tmp_path):
    """The hint is a pipe that nobody writes to: opening waits for ever, unless Ctrl-C is let through."""
    deltaic.write(tmp_path / "t", pa.table({"id": [1]}))
    hint = tmp_path / "t" / "_delta_log" / "_last_checkpoint"
    os.mkfifo(hint)
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
        deltaic.Table(tmp_path / "t")
    returned.set()
    sender.join()
    hint.unlink()
    assert deltaic.Table(tmp_path / "t").version == 0
