"""`python -m deltaic demo` shows what it says, and leaves nothing behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import deltaic

if TYPE_CHECKING:
    from pathlib import Path


def run(*arguments: str, scratch: Path) -> subprocess.CompletedProcess[str]:
    scratch.mkdir(exist_ok=True)
    command = [sys.executable, "-m", "deltaic", "demo", *arguments]
    environment = {**os.environ, "TMPDIR": str(scratch), "TMP": str(scratch), "TEMP": str(scratch)}
    return subprocess.run(command, capture_output=True, text=True, timeout=240, env=environment)


def test_the_demo_prunes_travels_and_cleans_up(tmp_path: Path) -> None:
    keep = tmp_path / "orders"
    done = run("--rows", "3000", "--keep", str(keep), "--json", scratch=tmp_path / "scratch")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
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
    assert not list((tmp_path / "scratch").glob("deltaic-demo-*"))


def test_the_demo_does_not_touch_a_folder_that_is_there(tmp_path: Path) -> None:
    done = run("--keep", str(tmp_path), scratch=tmp_path / "scratch")
    assert done.returncode == 1
    assert done.stderr.strip() == f"deltaic: {tmp_path} exists; the demo makes a new folder"
