"""Work that one process and tasks of a cluster have done, and the program that has them do it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

PROGRAM = Path(__file__).parent / "maintenance" / "tasks_on_cluster.py"
STEPS = ("vacuum", "auto-compaction", "convert", "verify")


def compared(told: dict[str, Any], steps: tuple[str, ...] = STEPS) -> dict[str, list[str]]:
    """Compares what was told of both ways; what tasks said of their routes."""
    assert told["executors"] == 2
    assert tuple(told["steps"]) == steps
    for step, ways in told["steps"].items():
        assert ways["here"]["found"] == ways["tasks"]["found"], step
        assert not any(" tasks" in said for said in ways["here"]["said"]), step
        assert any(said.endswith("tasks") for said in ways["tasks"]["said"]), step
    return {step: ways["tasks"]["said"] for step, ways in told["steps"].items()}
