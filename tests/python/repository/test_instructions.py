"""The gate on instructions: what it lets pass. What counts them needs valgrind, and runs in CI."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

import pytest

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def judge(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    def run(
        before: dict[str, int], after: dict[str, int | None], messages: str = ""
    ) -> subprocess.CompletedProcess[str]:
        counts, said = tmp_path / "counts.json", tmp_path / "messages"
        counts.write_text(json.dumps({"before": before, "after": after}))
        said.write_text(messages)
        command = [sys.executable, ROOT / ".ci/instructions.py", "--counts", counts, "--messages", said]
        return subprocess.run(command, capture_output=True, text=True, timeout=60)

    return run


def test_five_percent_more_fail_and_less_passes(
    judge: Callable[..., subprocess.CompletedProcess[str]],
) -> None:
    before = {"open": 1000, "list": 1000}
    assert judge(before, {"open": 1050, "list": 10}).returncode == 0
    done = judge(before, {"open": 1051, "list": 10})
    assert done.returncode == 1
    assert done.stderr == "open: 5.1% more instructions\n"


def test_what_is_new_is_compared_with_nothing_and_what_is_not_counted_fails(
    judge: Callable[..., subprocess.CompletedProcess[str]],
) -> None:
    assert judge({}, {"open": 1000}).returncode == 0
    done = judge({"open": 1000}, {"open": None})
    assert done.returncode == 1
    assert "not counted" in done.stderr


def test_a_line_of_a_commit_accepts_one_piece_of_work_and_needs_a_reason(
    judge: Callable[..., subprocess.CompletedProcess[str]],
) -> None:
    before, after = {"open": 1000, "list commits": 1000}, {"open": 2000, "list commits": 2000}
    line = "Instructions: list commits: each line is checked twice"
    done = judge(before, after, f"Check lines\n\nWhy.\n\n{line}\n")
    assert done.returncode == 1
    assert done.stderr == "open: 100.0% more instructions\n"
    both = f"{line}\n\nInstructions: open: it reads the checksum\n"
    assert judge(before, after, both).returncode == 0
    assert judge(before, after, "Instructions: open:\n").returncode == 1
    unknown = judge(before, before, "Instructions: opne: a reason\n")
    assert unknown.returncode == 1
    assert "no such piece of work" in unknown.stderr
