"""Drivers that are killed with their JVM: the table has its old version or its new one, and the job can run again."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import checked_tables as tables
import cluster
import pytest

PROGRAM = Path(__file__).parent / "lost_driver.py"
JOBS = ("append", "upsert", "stream")
POINTS = {
    "before the files": False,
    "among the files": False,
    "before the commit": False,
    "after the commit": True,
}
"""Whether the commit has happened."""


def _killed(url: str, folder: Path, job: str, point: str) -> None:
    driver = subprocess.Popen(
        [sys.executable, str(PROGRAM), url, str(folder), job, point],
        env=cluster.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        said, _ = driver.communicate(timeout=400)
    except subprocess.TimeoutExpired:
        os.killpg(driver.pid, signal.SIGKILL)
        raise
    assert driver.returncode == -signal.SIGKILL, said.decode()


@pytest.mark.spark
@pytest.mark.long  # a Spark of its own for each death
@pytest.mark.timeout(1500)
def test_a_driver_that_dies_leaves_the_old_version_or_the_new_one(tmp_path: Path) -> None:
    first = [tables.row(n) for n in range(tables.ROWS)]
    with cluster.cluster(tmp_path / "cluster") as url:
        for job in JOBS:
            for point, commits in POINTS.items():
                _killed(url, tmp_path, job, point)
                path = tmp_path / f"{job} {point}"
                assert len(tables.commits(path)) == tables.PARTS + commits, (job, point)
                assert (tables.rows(path) == first) is not commits, (job, point)
        # each job runs twice more: what has its application's version lands once
        reported = json.loads(cluster.run(url, PROGRAM, str(tmp_path), "again").splitlines()[-1])
    assert len(reported) == len(JOBS) * len(POINTS)
    assert {name: found["wrong"] for name, found in reported.items() if found["wrong"]} == {}
