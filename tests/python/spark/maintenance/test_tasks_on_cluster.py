"""VACUUM, auto-compaction, CONVERT and deep verification in tasks of a cluster: the same answers as in one process."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import both_ways
import cluster
import pytest

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.spark
@pytest.mark.timeout(900)
def test_tasks_answer_as_one_process(tmp_path: Path) -> None:
    with cluster.cluster(tmp_path / "cluster") as url:
        cluster.run(url, both_ways.PROGRAM, str(tmp_path), *both_ways.STEPS, TOLD=str(tmp_path / "told"))
    told = json.loads((tmp_path / "told").read_text())
    said = both_ways.compared(told)
    found = {step: ways["tasks"]["found"] for step, ways in told["steps"].items()}
    assert found["vacuum"]["deleted"] >= 12
    assert "_hidden" in found["vacuum"]["left"]
    assert "a/b" in found["vacuum"]["listed"]
    assert found["auto-compaction"]["files"] == [150]
    assert found["auto-compaction"]["history"][0][0] == "OPTIMIZE"
    assert found["auto-compaction"]["findings"] == 0
    assert len(found["convert"]["adds"]) == 600
    assert {finding[0] for finding in found["verify"]["findings"]} == {"UnreadableFile", "MissingFile"}
    assert any("auto-compaction" in each for each in said["auto-compaction"])
