"""Ctrl-C, and a reader that goes away: what shells of POSIX systems do to a command."""

import os
import signal
import subprocess
import sys

import pyarrow as pa
import pytest

import deltaic


def test_a_reader_that_goes_away_is_no_error(tmp_path):
    root = tmp_path / "t"
    deltaic.write(root, pa.table({"id": [1]}))
    command = f"'{sys.executable}' -m deltaic files '{root}' --json | true"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=120, check=False)
    assert "Traceback" not in done.stderr


@pytest.mark.usefixtures("ctrl_c")
def test_an_interrupt_is_code_130(tmp_path):
    # a hint that is a pipe: opening the table waits for whoever writes to it
    deltaic.write(tmp_path / "t", pa.table({"id": [1]}))
    hint = tmp_path / "t" / "_delta_log" / "_last_checkpoint"
    os.mkfifo(hint)
    command = [sys.executable, "-m", "deltaic", "inspect", str(tmp_path / "t")]
    child = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)
    # it can be opened for writing once the command waits to read
    with hint.open("w"):
        child.send_signal(signal.SIGINT)
        _, stderr = child.communicate(timeout=60)
    assert (child.returncode, stderr.strip()) == (130, "deltaic: interrupted")
