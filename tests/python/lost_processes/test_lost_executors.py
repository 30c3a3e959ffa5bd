"""Executors that end by SIGKILL in the middle of a step, come twice or come and go: each row is there once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import cluster
import pytest

PROGRAM = Path(__file__).parent / "lost_executors.py"

SPECULATION = {
    "spark.speculation": "true",
    "spark.speculation.interval": "100ms",
    "spark.speculation.minTaskRuntime": "100ms",
    "spark.speculation.multiplier": "1.1",
    "spark.speculation.quantile": "0.25",
}
DYNAMIC = {
    "spark.dynamicAllocation.enabled": "true",
    "spark.dynamicAllocation.executorIdleTimeout": "1s",
    "spark.dynamicAllocation.minExecutors": "0",
    "spark.dynamicAllocation.schedulerBacklogTimeout": "1s",
    "spark.dynamicAllocation.shuffleTracking.enabled": "true",
    "spark.dynamicAllocation.shuffleTracking.timeout": "1s",
}

WRITES = ["append direct", "append arrow", "append driver", "overwrite direct", "overwrite arrow"]
CHANGES = ["delete rewriting", "update vectors", "merge feed", "upsert"]
"""What stands for the others where each would take too long."""


def played(
    folder: Path,
    fault: str,
    steps: list[str],
    settings: dict[str, str] | None = None,
    own: dict[int, dict[str, str]] | None = None,
) -> dict[str, dict[str, Any]]:
    """What each step did on a cluster of its own; a step that left something wrong fails the test."""
    with cluster.cluster(folder / "cluster", own=own) as url:
        said = cluster.run(url, PROGRAM, str(folder), fault, json.dumps(settings or {}), *steps)
    reported: dict[str, dict[str, Any]] = json.loads(said.splitlines()[-1])
    assert {name: found["wrong"] for name, found in reported.items() if found["wrong"]} == {}
    return reported


@pytest.mark.spark
def test_an_executor_that_is_killed_loses_and_doubles_nothing(tmp_path: Path) -> None:
    reported = played(tmp_path, "kill", ["append direct", "merge rewriting"])
    assert all(found["struck"] for found in reported.values())


@pytest.mark.spark
@pytest.mark.long  # an executor starts again for each; the test above is the same of two steps
@pytest.mark.timeout(1500)
@pytest.mark.parametrize("group", ["writes", "changes", "merges", "streams"])
def test_no_step_loses_or_doubles_rows_of_an_executor_that_is_killed(tmp_path: Path, group: str) -> None:
    reported = played(tmp_path, "kill", [group])
    assert reported
    assert {name for name, found in reported.items() if not found["struck"]} == set()


@pytest.mark.spark
@pytest.mark.long  # a service of shuffles, of which the other tests have none
def test_a_merge_looks_at_the_rows_that_it_merges(tmp_path: Path) -> None:
    # the service keeps what the first pass has found of the rows, which are lost with their executor
    port = str(cluster.free_port())
    service = {"spark.shuffle.service.enabled": "true", "spark.shuffle.service.port": port}
    options = {"SPARK_WORKER_OPTS": " ".join(f"-D{name}={value}" for name, value in service.items())}
    reported = played(tmp_path, "kill", ["merge random"], service, own={0: options})
    assert reported["merge random"]["struck"]


@pytest.mark.spark
@pytest.mark.long  # slow tasks take their seconds
@pytest.mark.timeout(900)
def test_no_row_of_a_task_that_runs_twice_comes_twice(tmp_path: Path) -> None:
    reported = played(tmp_path, "slow", [*WRITES, *CHANGES, "stream"], SPECULATION)
    assert {name for name, found in reported.items() if not found["struck"]} == set()
    # Spark decides which tasks it repeats
    assert any(found["again"] for found in reported.values())


@pytest.mark.spark
@pytest.mark.long  # executors come and go
@pytest.mark.timeout(900)
def test_steps_go_through_while_executors_come_and_go(tmp_path: Path) -> None:
    reported = played(tmp_path, "none", [*WRITES, *CHANGES, "stream"], DYNAMIC)
    assert len(reported) == len(WRITES) + len(CHANGES) + 1
    # of two at a time
    assert max(found["executors"] for found in reported.values()) > 2
