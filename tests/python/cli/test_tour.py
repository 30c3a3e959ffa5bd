"""`deltaic tour` shows what it says, and leaves nothing behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

from command_line import check_json

import deltaic

if TYPE_CHECKING:
    from pathlib import Path


def run(*arguments: str, scratch: Path) -> subprocess.CompletedProcess[str]:
    scratch.mkdir(exist_ok=True)
    command = [sys.executable, "-m", "deltaic", "tour", *arguments]
    environment = {**os.environ, "TMPDIR": str(scratch), "TMP": str(scratch), "TEMP": str(scratch)}
    return subprocess.run(command, capture_output=True, text=True, timeout=240, env=environment)


def test_the_tour_prunes_travels_and_cleans_up(tmp_path: Path) -> None:
    keep = tmp_path / "orders"
    done = run("--rows", "3000", "--keep", str(keep), "--json", scratch=tmp_path / "scratch")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    check_json(["tour"], done.stdout)
    shown = json.loads(done.stdout)
    steps = {step["name"]: step for step in shown["steps"]}
    assert steps["read all of it"]["rows"] == 3000
    assert steps["travel back to version 0"]["rows"] == 1000
    filtered = next(step for name, step in steps.items() if name.startswith("read where"))
    plain = steps["the same filter from Python, without Spark"]
    assert 0 < filtered["rows"] == plain["rows"] < 3000
    assert filtered["files"] == plain["files"] == 1
    assert filtered["pruned"] == plain["pruned"] == 23
    assert [commit["version"] for commit in shown["history"]] == [2, 1, 0]
    assert deltaic.Table(str(keep)).version == 2
    assert not list((tmp_path / "scratch").glob("deltaic-tour-*"))


def test_the_tour_does_not_touch_a_folder_that_is_there(tmp_path: Path) -> None:
    done = run("--keep", str(tmp_path), scratch=tmp_path / "scratch")
    assert done.returncode == 1
    assert done.stderr.strip() == f"deltaic: {tmp_path} exists; the tour makes a new folder"


def test_without_spark_it_is_the_same_story_and_the_walk_shows_the_commands(tmp_path: Path) -> None:
    keep = tmp_path / "orders"
    done = run("--rows", "3000", "--engine", "arrow", "--keep", str(keep), scratch=tmp_path / "scratch")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    filtered = next(line for line in lines if line.startswith("read where"))
    assert filtered.split()[-3:-1] == ["1", "23"]
    walked = [line.split()[2] for line in lines if line.startswith("$ deltaic ")]
    assert walked == ["inspect", "history", "explain", "delete", "changes", "diff", "restore", "verify"]
    for result in ("1 file (", "23 files (", "version 4 is version 2 again", "no problem was found"):
        assert result in done.stdout
    table = deltaic.Table(str(keep))
    assert (table.version, len(list(table.file_list()))) == (4, 24)
    assert not list((tmp_path / "scratch").glob("deltaic-tour-*"))
