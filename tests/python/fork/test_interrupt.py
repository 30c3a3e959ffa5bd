"""Ctrl-C gets through a call that waits."""

import os
import signal
import threading
import time

import pytest

import deltaic


def test_ctrl_c_returns_from_a_call_that_waits(tmp_path):
    """The log is a pipe that nobody writes to: opening waits for ever, unless Ctrl-C is let through."""
    log = tmp_path / "t" / "_delta_log"
    log.mkdir(parents=True)
    os.mkfifo(log / f"{0:020}.json")
    main = threading.main_thread().ident

    def interrupt():
        time.sleep(0.5)
        signal.pthread_kill(main, signal.SIGINT)

    sender = threading.Thread(target=interrupt)
    sender.start()
    with pytest.raises(KeyboardInterrupt):
        deltaic.Table(tmp_path / "t")
    sender.join()
    # lets the thread that still waits for the pipe end
    os.close(os.open(log / f"{0:020}.json", os.O_WRONLY | os.O_NONBLOCK))
