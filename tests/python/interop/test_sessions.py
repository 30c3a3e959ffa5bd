"""A session that lives long beside other writers answers as delta-spark's does."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
from session_situations import SITUATIONS, play

from deltaic.tables import DeltaTable

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import SparkSession


@pytest.fixture(scope="module")
def answers(
    spark: SparkSession,
    peer: Callable[[str, Path], tuple[list[str], dict[str, str]]],
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[dict[str, Any], dict[str, Any]]:
    folder = tmp_path_factory.mktemp("sessions")
    command, environment = peer("session_situations.py", folder / "warehouse")
    theirs = subprocess.Popen(
        [*command, str(folder / "theirs")], env=environment, stdout=subprocess.PIPE, text=True
    )
    try:
        ours = play(spark, DeltaTable, str(folder / "ours"))
        answer, _ = theirs.communicate(timeout=1500)
    finally:
        theirs.kill()
    assert theirs.returncode == 0
    return ours, json.loads(answer)


@pytest.mark.parametrize("situation", [s.__name__ for s in SITUATIONS])
def test_both_engines_answer_alike(answers: tuple[dict[str, Any], dict[str, Any]], situation: str) -> None:
    ours, theirs = answers
    assert ours[situation] == theirs[situation]
