"""Spark with Hadoop's S3A: its settings are enough. In a process of its own, for the JARs are those of a whole JVM."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import packages
import pytest

from deltaic.spark.java import ensure_java

if TYPE_CHECKING:
    from servers import S3

# the first test fetches and builds the server and S3A, once a machine
pytestmark = [pytest.mark.spark, pytest.mark.timeout(1200)]
PROGRAM = Path(__file__).parent / "s3a.py"
STEPS = [
    "the_tour",
    "statements",
    "tables_of_the_warehouse",
    "streams",
    "every_route",
    "every_scheme",
    "other_names",
]


def test_settings_of_hadoop_are_enough(s3: S3, tmp_path: Path) -> None:
    ensure_java()
    path = os.pathsep.join(filter(None, [str(PROGRAM.parents[1]), os.environ.get("PYTHONPATH")]))
    environment = {
        **os.environ,
        "HADOOP": json.dumps(s3.hadoop),
        "PYTHONPATH": path,
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    done = subprocess.run(
        [sys.executable, PROGRAM, ",".join(packages.s3a())],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=280,
    )
    assert done.returncode == 0, done.stdout + done.stderr[-6000:]
    assert done.stdout.split() == STEPS
    assert s3.secret not in done.stdout + done.stderr
