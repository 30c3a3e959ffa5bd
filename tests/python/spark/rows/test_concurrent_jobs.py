"""Two Spark jobs, each in a process of its own, delete from, merge into and append to one table at the same time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import deltaic

if TYPE_CHECKING:
    from collections.abc import Iterator

# two applications start before the first test
pytestmark = [pytest.mark.spark, pytest.mark.timeout(900)]

ROUNDS = 2
Conflicts = dict[str, list[dict[str, Any]]]
SHARED = 20
"""As in `concurrent_job.py`."""
VECTORS = {"delta.enableDeletionVectors": "true"}
APART = {"a": 0, "b": 5000}
TOGETHER = {"a": 0, "b": 0}


def make(path: Path, firsts: dict[str, int], *, by: str | None, properties: dict[str, str]) -> None:
    """Rows that the jobs merge into, all in one file or one partition a job."""
    rows = sorted(
        {(first + n, job if by or first else "a") for job, first in firsts.items() for n in range(SHARED)}
    )
    table = pa.table(
        {
            "id": pa.array([id_ for id_, _ in rows], pa.int64()),
            "job": [job for _, job in rows],
            "n": pa.array([0] * len(rows), pa.int32()),
        }
    )
    deltaic.write(str(path), table, partition_by=by, configuration=properties)


class Jobs:
    """Two applications, which do jobs at the same time."""

    def __init__(self) -> None:
        from deltaic.spark.java import ensure_java

        ensure_java()
        script = Path(__file__).with_name("concurrent_job.py")
        package = str(Path(deltaic.__file__).parents[1])
        environment = {
            **os.environ,
            "PYSPARK_PYTHON": sys.executable,
            "PYTHONPATH": os.pathsep.join([package, *filter(None, sys.path)]),
        }
        self.processes = {
            name: subprocess.Popen(
                [sys.executable, str(script), name],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                env=environment,
            )
            for name in APART
        }

    def run(self, path: Path, folder: Path, firsts: dict[str, int], where: str) -> Conflicts:
        """Both jobs at once; the conflicts of each."""
        folder.mkdir()
        for name, process in self.processes.items():
            asked = {"path": str(path), "folder": str(folder), "rounds": ROUNDS}
            asked |= {"first": firsts[name], "where": where.format(job=name)}
            assert process.stdin is not None
            process.stdin.write(json.dumps(asked) + "\n")
            process.stdin.flush()
        return {name: self._answer(process) for name, process in self.processes.items()}

    @staticmethod
    def _answer(process: subprocess.Popen[str]) -> list[dict[str, Any]]:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line, "a job has ended with an error"
        answer: list[dict[str, Any]] = json.loads(line)
        return answer

    def close(self) -> None:
        for process in self.processes.values():
            assert process.stdin is not None
            process.stdin.close()
        for process in self.processes.values():
            process.wait(timeout=60)


@pytest.fixture(scope="module")
def jobs() -> Iterator[Jobs]:
    both = Jobs()
    yield both
    both.close()


def expected(firsts: dict[str, int]) -> dict[int, int]:
    """`n` by id: each round of each job adds 1 to the shared rows of the job, appends five rows and deletes two."""
    rows: dict[int, int] = {}
    for number, first in enumerate(firsts.values()):
        for n in range(SHARED):
            rows[first + n] = rows.get(first + n, 0) + ROUNDS
        for start in range(first + 1000 * (number + 1), first + 1000 * (number + 1) + 10 * ROUNDS, 10):
            rows |= {start + n: 0 for n in (1, 2, 4)}
    return rows


def check(path: Path, firsts: dict[str, int]) -> None:
    rows = pa.table(deltaic.Table(str(path)).to_arrow()).to_pylist()
    assert len(rows) == len({row["id"] for row in rows})
    assert {row["id"]: row["n"] for row in rows} == expected(firsts)
    assert deltaic.verify(str(path), deep=True).findings == []


@pytest.mark.parametrize("kind", ["partitions", "partitions by vectors", "rows of one file"])
def test_disjoint_jobs_never_conflict(jobs: Jobs, kind: str, tmp_path: Path) -> None:
    path = tmp_path / "t"
    by_partition = kind.startswith("partitions")
    make(path, APART, by="job" if by_partition else None, properties={} if kind == "partitions" else VECTORS)
    # ids that the keys of the merge bound are as good as a partition
    conflicts = jobs.run(path, tmp_path / "jobs", APART, "t.job = '{job}'" if by_partition else "true")
    assert conflicts == {"a": [], "b": []}
    check(path, APART)


@pytest.mark.parametrize("properties", [{}, VECTORS], ids=["rewrite", "vectors"])
def test_no_update_is_lost_and_conflicts_carry_the_facts(
    jobs: Jobs, properties: dict[str, str], tmp_path: Path
) -> None:
    path = tmp_path / "t"
    make(path, TOGETHER, by=None, properties=properties)
    conflicts = jobs.run(path, tmp_path / "jobs", TOGETHER, "true")
    check(path, TOGETHER)
    # both had read the table when either merged: of each pair one lost
    lost = [facts for of_job in conflicts.values() for facts in of_job]
    assert len(lost) >= ROUNDS
    table = deltaic.Table(str(path))
    operations = {commit["version"]: commit["operation"] for commit in table.history()}
    for facts in lost:
        assert facts["winner"] == operations[facts["version"]] == "MERGE"
        assert facts["rule"] in {"file-rewritten", "same-rows", "append-read", "remove-read"}
        assert facts["files"]
        assert facts["level"] == "WriteSerializable"
        assert facts["advice"] == "open the table again and repeat the operation"
        reported = table.explain_conflict(facts["transaction"])
        assert (reported["outcome"], reported["version"]) == ("conflict", facts["version"])
