"""Tests of a server share a process."""

from __future__ import annotations

import re
from pathlib import Path

import processes

TESTS = Path(__file__).parents[1]
FIXTURE = re.compile(r"\b(closed|connect|served|stock|admins|attached)\b *[:,)]")


def test_every_file_with_a_session_of_spark_connect_is_with_the_others() -> None:
    files = [str(file.relative_to(TESTS)) for file in TESTS.rglob("test_*.py")]
    alone = {
        file
        for file in files
        if FIXTURE.search((TESTS / file).read_text()) and processes.server_of(file) is None
    } - {"repository/test_processes.py"}
    assert not alone


def test_a_file_that_needs_no_server_is_by_itself() -> None:
    assert processes.server_of("tests/python/spark/read/test_read.py") is None
    assert processes.server_of("tests/python/interop/test_merge.py") == "delta-spark"
    assert processes.server_of("tests/python/spark/read/test_zones.py") == "Spark Connect"
