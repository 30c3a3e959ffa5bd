"""With delta-spark on the class path: it keeps the name `delta`, and deltaic is there under its own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
import sqlglot

import deltaic
from deltaic.spark.java import ensure_java

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture
def beside(
    peer: Callable[..., tuple[list[str], dict[str, str]]], tmp_path: Path
) -> Callable[..., dict[str, Any]]:
    """Runs the script in a process that has both."""

    def run(*arguments: str) -> dict[str, Any]:
        ensure_java()
        command, environment = peer("beside_delta_spark.py", tmp_path / "warehouse")
        # deltaic and what it imports: beside them, where they are installed, is the PySpark of these tests
        packages = tmp_path / "packages"
        for package in (deltaic, sqlglot):
            folder = Path(str(package.__file__)).parent
            shutil.copytree(folder, packages / folder.name)
        environment["PYTHONPATH"] = os.pathsep.join([str(packages), environment["PYTHONPATH"]])
        done = subprocess.run(
            [*command, *arguments], env=environment, stdout=subprocess.PIPE, text=True, timeout=1700
        )
        assert done.returncode == 0
        answer: dict[str, Any] = json.loads(done.stdout)
        return answer

    return run


def test_both_names_work_side_by_side(beside: Callable[..., dict[str, Any]], tmp_path: Path) -> None:
    path = tmp_path / "t"
    data = pa.table({"id": pa.array(range(10), pa.int64()), "p": pa.array([n % 2 for n in range(10)])})
    deltaic.write(path, data, partition_by=["p"])
    answer = beside(str(path), str(tmp_path / "new"))
    (warning, *others) = answer["warnings"]
    assert "use the format `deltaic`" in warning
    for other in others:
        assert "not available" in other
    assert answer["delta"]["rows"] == answer["deltaic"]["rows"] == [0, 1, 2, 3, 5, 7, 9]
    assert "Location: LogFileIndex" in answer["deltaic"]["plan"]
    assert "Location: LogFileIndex" not in answer["delta"]["plan"]
    assert answer["after DELETE"] == list(range(1, 10))
    # the `DeltaTable` of each, on the table of both
    rows = [[1, 11], [2, 12], [5, 31], [6, 16], [7, 1], [8, 0], [9, 1], [50, 0]]
    assert answer["changed"]["rows"] == [rows, rows]
    assert answer["changed"]["operations"][2:] == [
        ["UPDATE", True],
        ["UPDATE", False],
        ["DELETE", True],
        ["DELETE", False],
        ["MERGE", True],
        ["MERGE", False],
        ["MERGE", True],
    ]
    ours, theirs = answer["changed"]["details"]
    assert ours == theirs
    assert answer["written"] == [10, 10]
    assert all("deltaic/" in engine for engine in answer["engines"])
