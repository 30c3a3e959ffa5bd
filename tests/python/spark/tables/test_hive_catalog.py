"""Tables by name in the catalog of Hive: in a process of its own, for a JVM has one catalog."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import deltaic

STEPS = ["managed", "as_select_renamed_and_dropped", "external", "writes_of_hive_stay_out", "converted"]


@pytest.mark.spark
def test_tables_by_name(tmp_path: Path) -> None:
    from deltaic.spark.java import ensure_java

    ensure_java()
    package = str(Path(deltaic.__file__).parents[1])
    environment = {
        **os.environ,
        "PYSPARK_PYTHON": sys.executable,
        "PYTHONPATH": os.pathsep.join([package, *filter(None, sys.path)]),
    }
    command = [sys.executable, str(Path(__file__).with_name("hive_catalog.py")), str(tmp_path)]
    done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=600)
    assert done.stdout.split() == STEPS, done.stderr[-3000:]
