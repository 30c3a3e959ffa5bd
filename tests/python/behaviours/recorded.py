"""The tests of an area: deltaic answers as delta-spark did when it was recorded, and delta-spark still does."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import peers
import pytest
from playing import alike, in_utc, play

from deltaic.tables import DeltaTable

if TYPE_CHECKING:
    from collections.abc import Callable

    from playing import Area
    from pyspark.sql import SparkSession

HERE = Path(__file__).parent
# "new" records what is not recorded yet, "all" everything again
RECORD = os.environ.get("DELTAIC_RECORD", "")


def _file(area: Area) -> Path:
    return HERE / "recorded" / f"{area.name}.json"


def _known(area: Area) -> dict[str, Any]:
    if not _file(area).exists():
        return {"delta-spark": {}, "deltaic": {}}
    known: dict[str, Any] = json.loads(_file(area).read_text(encoding="utf-8"))
    return known


def _save(area: Area, *, theirs: dict[str, Any] | None = None, ours: dict[str, Any] | None = None) -> None:
    """Only situations that there are, in their order; what deltaic answers only where it differs."""
    known = _known(area)
    theirs, ours = theirs or known["delta-spark"], ours or known["deltaic"]
    reported = {
        "by": "delta-spark 4.4.0",
        "delta-spark": {name: theirs[name] for name in area.situations if name in theirs},
        "deltaic": {n: ours[n] for n, s in area.situations.items() if s.differs and n in ours},
    }
    _file(area).write_text(json.dumps(reported, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _asked(area: Area, names: list[str], folder: Path) -> dict[str, Any]:
    """What delta-spark answers now."""
    command, environment = peers.command(HERE / "record.py", folder / "warehouse")
    command += [str(folder / "theirs"), area.name, *names]
    done = subprocess.run(
        command, check=True, stdout=subprocess.PIPE, text=True, env=environment, timeout=3000
    )
    reported: dict[str, Any] = json.loads(done.stdout)
    return reported


def theirs_of(area: Area, situation: str, folders: pytest.TempPathFactory) -> Any:
    """What delta-spark answered; where `DELTAIC_RECORD` says so, it is asked first."""
    known = _known(area)["delta-spark"]
    names = {"all": list(area.situations), "new": [n for n in area.situations if n not in known]}.get(
        RECORD, []
    )
    if names and area.name not in _recorded:
        _recorded.add(area.name)
        _save(area, theirs=known | _asked(area, names, folders.mktemp("peer")))
    return _known(area)["delta-spark"][situation]


def answers_of(area: Area) -> Callable[..., None]:
    """The test that compares deltaic's answers with those that are recorded."""

    cases = [
        pytest.param(name, id=name, marks=[pytest.mark.long] if situation.long else [])
        for name, situation in area.situations.items()
    ]

    @pytest.mark.parametrize("situation", cases)
    def test_delta_spark_answered_the_same(
        spark: SparkSession, tmp_path_factory: pytest.TempPathFactory, situation: str
    ) -> None:
        in_utc()
        theirs = theirs_of(area, situation, tmp_path_factory)
        assert not _stopped(theirs), "a step that has to work fails in delta-spark"
        ours = play(area, situation, spark, DeltaTable, tmp_path_factory.mktemp("play"))
        if area.situations[situation].differs is None:
            assert alike(ours, theirs), _difference(ours, theirs)
            return
        assert not alike(ours, theirs), f"no difference: {area.situations[situation].differs}"
        if RECORD == "all" or (RECORD and situation not in _known(area)["deltaic"]):
            _save(area, ours=_known(area)["deltaic"] | {situation: ours})
        assert ours == _known(area)["deltaic"][situation]

    return test_delta_spark_answered_the_same


def recorded_of(area: Area) -> Callable[..., None]:
    """The test that delta-spark still answers as is recorded, and that nothing else is."""

    @pytest.mark.long
    @pytest.mark.interop
    @pytest.mark.timeout(3000)
    def test_delta_spark_answers_as_is_recorded(tmp_path: Path) -> None:
        known = _known(area)
        assert list(known["delta-spark"]) == list(area.situations)
        assert set(known["deltaic"]) == {name for name, s in area.situations.items() if s.differs}
        now = _asked(area, list(area.situations), tmp_path)
        changed = {
            name: (reported, now[name])
            for name, reported in known["delta-spark"].items()
            if reported != now[name]
        }
        assert not changed

    return test_delta_spark_answers_as_is_recorded


_recorded: set[str] = set()


def _stopped(reported: Any) -> bool:
    return any(isinstance(step, dict) and "stopped by" in step for step in reported)


def _difference(ours: list[Any], theirs: list[Any]) -> str:
    """The steps that differ, deltaic's first."""
    width = max(len(ours), len(theirs))
    both = zip(ours + [None] * (width - len(ours)), theirs + [None] * (width - len(theirs)), strict=True)
    lines, case = [], ""
    for n, (mine, other) in enumerate(both):
        if isinstance(other, dict) and set(other) == {"case"}:
            case = f" ({other['case']})"
        if not alike(mine, other):
            lines.append(f"step {n}{case}:\n  deltaic      {mine}\n  delta-spark  {other}")
    return "\n".join(lines)
