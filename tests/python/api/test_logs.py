"""What the core reports of its work by Python's `logging`."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import threading
import time

import pyarrow
import pytest

import deltaic


@pytest.fixture
def table(tmp_path):
    path = str(tmp_path / "t")
    deltaic.write(path, pyarrow.table({"n": [1, 2]}), configuration={"delta.checkpointInterval": "2"})
    return path


def names(caplog):
    return {(record.name, record.levelname) for record in caplog.records}


def test_a_commit_is_reported_with_its_version_and_operation(table, caplog):
    with caplog.at_level(logging.INFO, "deltaic"):
        deltaic.write(table, pyarrow.table({"n": [3]}), mode="append")
    (record,) = [r for r in caplog.records if r.name == "deltaic.commit"]
    assert "version=1" in record.message
    assert "WRITE" in record.message
    assert table in record.message
    assert record.created <= time.time()


def test_what_is_opened_and_done_after_a_commit_is_for_debugging(table, caplog):
    with caplog.at_level(logging.DEBUG, "deltaic"):
        deltaic.write(table, pyarrow.table({"n": [3]}), mode="append")
        deltaic.write(table, pyarrow.table({"n": [4]}), mode="append")
        deltaic.Table(table)
    assert ("deltaic.open", "DEBUG") in names(caplog)
    done = [r.message for r in caplog.records if r.name == "deltaic.after_commit"]
    assert any("checkpoint" in text for text in done)


def test_a_corrupt_hint_is_a_warning(table, caplog, tmp_path):
    hint = tmp_path / "t" / "_delta_log" / "_last_checkpoint"
    hint.write_text("{")
    with caplog.at_level(logging.WARNING, "deltaic"):
        deltaic.Table(table)
    assert names(caplog) == {("deltaic.fallback", "WARNING")}


def test_a_lost_race_is_reported(table, caplog):
    with caplog.at_level(logging.INFO, "deltaic"):
        rows = pyarrow.table({"n": [5]})
        writers = [
            threading.Thread(target=lambda: [deltaic.write(table, rows, mode="append") for _ in range(20)])
            for _ in range(4)
        ]
        for writer in writers:
            writer.start()
        for writer in writers:
            writer.join()
    committed = [r for r in caplog.records if r.name == "deltaic.commit"]
    assert len(committed) == 80
    retried = [r for r in caplog.records if r.name == "deltaic.retry"]
    lost = sum("attempts=1" not in r.message for r in committed)
    assert (lost > 0) == (len(retried) > 0)


def test_nothing_is_reported_that_nobody_asked_for(table, caplog):
    with caplog.at_level(logging.ERROR, "deltaic"):
        deltaic.write(table, pyarrow.table({"n": [3]}), mode="append")
    assert not caplog.records


@pytest.mark.parametrize(
    ("level", "shown"), [(None, False), ("debug", True), ("INFO", True), ("error", False)]
)
def test_the_environment_shows_them(table, level, shown):
    said = run(
        f"import deltaic, pyarrow; deltaic.write({table!r}, pyarrow.table({{'n': [1]}}), mode='append')",
        level,
    )
    assert ("deltaic.commit: committed" in said.stderr) == shown
    assert shown or not said.stderr


def test_a_level_that_is_none_is_a_warning(table):
    said = run("import deltaic", "loud")
    assert "DELTAIC_LOG='loud' is ignored: set debug, info, warning, error" in said.stderr
    assert said.returncode == 0


def run(code, level):
    environment = {key: value for key, value in os.environ.items() if key != "DELTAIC_LOG"}
    environment |= {"DELTAIC_LOG": level} if level else {}
    return subprocess.run(
        [sys.executable, "-c", code],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
