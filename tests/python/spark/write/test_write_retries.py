"""Tasks that fail and run again: the log lists each row once, and each file that it lists is there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote

import pyarrow as pa
import pytest

import deltaic

pytestmark = pytest.mark.spark


@pytest.mark.parametrize("route", ["direct", "arrow", "driver"])
def test_a_task_that_ran_twice_counts_once(route: str, tmp_path: Path) -> None:
    from deltaic.spark.java import ensure_java

    ensure_java()
    script = Path(__file__).with_name("retried_tasks.py")
    package = str(Path(deltaic.__file__).parents[1])
    environment = {
        **os.environ,
        "PYSPARK_PYTHON": sys.executable,
        "PYTHONPATH": os.pathsep.join([package, *filter(None, sys.path)]),
    }
    path = tmp_path / "t"
    subprocess.run([sys.executable, str(script), str(path), route], env=environment, check=True, timeout=600)
    for version in (0, 1):
        rows = pa.table(deltaic.Table(str(path), version=version).to_arrow(columns=["id"]))
        assert sorted(rows["id"].to_pylist()) == list(range(1000))
        log = (path / "_delta_log" / f"{version:020}.json").read_text().splitlines()
        adds = [action["add"] for action in map(json.loads, log) if "add" in action]
        assert sum(json.loads(add["stats"])["numRecords"] for add in adds) == 1000
        assert all((path / unquote(add["path"])).stat().st_size == add["size"] for add in adds)
