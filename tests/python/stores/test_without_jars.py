"""Spark without any JAR: the core reads and writes S3. In a process of its own, for JARs are those of a whole JVM."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from deltaic.spark.java import ensure_java

if TYPE_CHECKING:
    from servers import S3

# the first test fetches and builds the server, once a machine
pytestmark = [pytest.mark.spark, pytest.mark.timeout(1200)]
PROGRAM = Path(__file__).parent / "without_jars.py"
STEPS = [
    "the_tour",
    "statements",
    "maintenance",
    "every_write",
    "every_type",
    "changes",
    "streams",
    "only_what_is_needed",
    "no_secret_in_plans",
    "refusals",
    "errors_of_workers",
]


# executors of the second are processes of their own, which have none of the driver's classes
@pytest.mark.parametrize(
    "master", ["local[2]", pytest.param("local-cluster[1,2,1024]", marks=pytest.mark.long)]
)
def test_all_works_as_on_a_local_table(s3: S3, tmp_path: Path, master: str) -> None:
    ensure_java()
    assert s3.log is not None
    path = os.pathsep.join(filter(None, [str(PROGRAM.parents[1]), os.environ.get("PYTHONPATH")]))
    server = {"endpoint": s3.endpoint, "log": str(s3.log), "data": str(s3.log.parent / "data")}
    environment = {
        **os.environ,
        "HADOOP": json.dumps(s3.hadoop),
        "SERVER": json.dumps(server),
        "PYTHONPATH": path,
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    done = subprocess.run(
        [sys.executable, PROGRAM, master, tmp_path],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout + done.stderr[-6000:]
    explained = done.stdout.splitlines()
    assert [line for line in explained if line in STEPS] == STEPS
    assert any("DeltaScan" in line for line in explained)
    assert s3.secret not in done.stdout + done.stderr
    events = [file for file in (tmp_path / "events").rglob("*") if file.is_file()]
    assert events
    assert not any(s3.secret.encode() in file.read_bytes() for file in events)
