"""OPTIMIZE on a cluster of real processes, some of which end before they have answered."""

from __future__ import annotations

import json
from pathlib import Path

import cluster
import pytest

PROGRAM = Path(__file__).parent / "optimize_on_cluster.py"


@pytest.mark.spark
# processes of their own; tests of the core and `test_optimize_tasks` show most of it
@pytest.mark.long
def test_a_task_that_dies_loses_and_doubles_nothing(tmp_path: Path) -> None:
    with cluster.cluster(tmp_path / "cluster") as url:
        reported = json.loads(cluster.run(url, PROGRAM, str(tmp_path)).splitlines()[-1])
    assert reported["executors"] == 2
    for kind, found in reported["kinds"].items():
        assert found == {
            "died": kind != "none",
            "same": True,
            "tasks": found["tasks"],
            "findings": 0,
            "orphans": 0,
        }, kind
        assert found["tasks"] > 1
