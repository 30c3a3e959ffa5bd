"""Overwrites with `replaceUsing` and `replaceOn` do what delta-spark's do: rows, changes, history and errors."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
from replace_situations import QUICK, REST, play

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import SparkSession

    Answers = tuple[dict[str, Any], dict[str, Any]]

# parameters that the engines word in their own way
IN_OWN_WORDS = {
    "constraintName",
    "expression",
    "invariantViolationMessage",
    "path",
    "sqlExprs",
    "table_name",
    "values",
}
# where deltaic gives another error; delta-spark's is no condition or another one
DIFFERENT = {
    # the table is made by a definition, which deltaic refuses as that of `writeTo`
    "save_as_new_table": "DELTA_DFV2_CREATE_REPLACE_INCOMPATIBLE_REPLACE_ON_OR_USING",
    # a requirement fails there
    "write_to_overwrite": "DELTA_OVERWRITE_BY_FILTER_INCOMPATIBLE_REPLACE_ON_OR_USING",
}


@pytest.fixture(scope="module")
def answers(
    spark: SparkSession,
    peer: Callable[[str, Path], tuple[list[str], dict[str, str]]],
    tmp_path_factory: pytest.TempPathFactory,
) -> Callable[[list[str]], Answers]:
    """Plays situations on both engines, once."""
    known: dict[str, Answers] = {}

    def of(names: list[str]) -> Answers:
        asked = ",".join(names)
        if asked not in known:
            folder = tmp_path_factory.mktemp("replace")
            command, environment = peer("replace_situations.py", folder / "warehouse")
            command += [str(folder / "theirs"), asked]
            theirs = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
            try:
                ours = play(spark, str(folder / "ours"), names)
                answer, _ = theirs.communicate(timeout=1700)
            finally:
                theirs.kill()
            assert theirs.returncode == 0
            known[asked] = ours, json.loads(answer)
        return known[asked]

    return of


def _comparable(answer: Any) -> Any:
    if not isinstance(answer, dict) or "error" not in answer:
        return answer
    told = {name: value for name, value in answer["parameters"].items() if name not in IN_OWN_WORDS}
    return {**answer, "parameters": told}


def _assert_alike(situation: str, played: Answers) -> None:
    ours, theirs = (_comparable(of[situation]) for of in played)
    if situation in DIFFERENT:
        assert "error" in theirs
        assert ours["error"] == DIFFERENT[situation]
        assert theirs["error"] != ours["error"]
    else:
        assert ours == theirs


@pytest.mark.parametrize("situation", QUICK)
def test_both_engines_answer_alike(answers: Callable[[list[str]], Answers], situation: str) -> None:
    _assert_alike(situation, answers(QUICK))


@pytest.mark.long
@pytest.mark.parametrize("situation", REST)
def test_both_engines_answer_alike_at_length(answers: Callable[[list[str]], Answers], situation: str) -> None:
    _assert_alike(situation, answers(REST))
