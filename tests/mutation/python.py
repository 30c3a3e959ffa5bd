"""Mutation testing of `python/deltaic/spark/dml`: one pytest with one Spark plays each mutant by tests that reach it.

`python tests/mutation/python.py --scratch <folder> [--sample 60] <tests>`; the first run maps tests to mutants.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
FOLDER = "spark/dml"


def mutated(scratch: Path) -> None:
    from python_points import File

    place = scratch / "python"
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(ROOT / "python", place, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(HERE / "_mutant.py", place / "deltaic/_mutant.py")
    mutants: list[Any] = []
    for path in sorted((place / "deltaic" / FOLDER).rglob("*.py")):
        source = path.read_text()
        if path.name != "__init__.py":
            file = File(path.name, source, len(mutants))
            mutants += file.mutants
            path.write_text(file.text)
    (scratch / "mutants.json").write_text(json.dumps([vars(m) for m in mutants], indent=0))
    print(f"{len(mutants)} mutants")


class Player:
    """A plugin that plays mutants instead of the tests once."""

    def __init__(self, scratch: Path, numbers: list[int] | None, budget: float) -> None:
        self.scratch, self.numbers, self.budget = scratch, numbers, budget
        self.failed = ""
        self.seen = Path(os.environ["DELTAIC_MUTANTS_SEEN"])

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed:
            self.failed = report.nodeid

    def play(self, item: Any, last: Any) -> tuple[bool, float]:
        from _pytest.runner import runtestprotocol

        begun, self.failed = time.monotonic(), ""
        item._initrequest()
        for report in runtestprotocol(item, log=False, nextitem=last):
            if report.failed:
                self.failed = report.nodeid
        return not self.failed, time.monotonic() - begun

    def pytest_runtestloop(self, session: Any) -> bool:
        from deltaic import _mutant

        if session.config.option.collectonly:
            return True
        items = session.items
        kept = self.scratch / f"map.{os.environ.get('DELTAIC_PART', '0')}.json"
        known: dict[str, Any] = json.loads(kept.read_text()) if kept.is_file() else {}
        for item in items:
            if item.nodeid in known or os.environ.get("DELTAIC_MAPPED"):
                continue
            self.seen.write_text("")
            _mutant.turn(-2)
            passed, seconds = self.play(item, items[-1])
            reached = sorted({int(n) for n in self.seen.read_text().split()})
            _mutant.turn(-1)
            if passed:
                known[item.nodeid] = {"seconds": seconds, "mutants": reached}
                kept.write_text(json.dumps(known))
            else:
                print(f"left out: {item.nodeid}", flush=True)
        mutants = json.loads((self.scratch / "mutants.json").read_text())
        for number in self.numbers or []:
            reach = [i for i in items if number in known.get(i.nodeid, {"mutants": []})["mutants"]]
            reach.sort(key=lambda i: known[i.nodeid]["seconds"])
            answer, begun = "missed" if reach else "unreached", time.monotonic()
            for item in reach:
                if time.monotonic() - begun > self.budget:
                    answer = "missed (not all tests)"
                    break
                _mutant.turn(number)
                passed, _ = self.play(item, items[-1])
                _mutant.turn(-1)
                if not passed:
                    answer = f"caught: {item.nodeid}"
                    break
            line = {"mutant": mutants[number], "answer": answer, "tests": len(reach)}
            with (self.scratch / "results.jsonl").open("a") as file:
                file.write(json.dumps(line) + "\n")
        return True


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scratch", type=Path, required=True, help="a folder outside the repository")
    parser.add_argument("--sample", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", help="numbers of mutants; comma between")
    parser.add_argument(
        "--part", default="0/1", help="which part of the mutants this process plays, of how many"
    )
    parser.add_argument("--budget", type=float, default=60, help="seconds a mutant")
    parser.add_argument("--fresh", action="store_true", help="makes the mutants first")
    parser.add_argument("tests", nargs="*")
    given = parser.parse_args()
    given.scratch.mkdir(parents=True, exist_ok=True)
    if given.fresh:
        mutated(given.scratch)
        return
    part, parts = (int(n) for n in given.part.split("/"))
    if os.environ.get("DELTAIC_PART") != str(part):
        env = os.environ | {
            "DELTAIC_PART": str(part),
            "DELTAIC_MUTANT_FILE": str(given.scratch / f"active.{part}"),
            "DELTAIC_MUTANTS_SEEN": str(given.scratch / f"seen.{part}"),
            "PYTHONPATH": f"{given.scratch / 'python'}:{HERE}",
        }
        (given.scratch / f"active.{part}").write_text("-1")
        raise SystemExit(subprocess.run([sys.executable, __file__, *sys.argv[1:]], env=env).returncode)
    import pytest

    numbers = [m["number"] for m in json.loads((given.scratch / "mutants.json").read_text())]
    if given.only:
        numbers = [int(n) for n in given.only.split(",")]
    random.Random(given.seed).shuffle(numbers)
    numbers = numbers[: given.sample][part::parts]
    player = Player(given.scratch, numbers, given.budget)
    options = [
        "-q",
        "-p",
        "no:cacheprovider",
        "--timeout=60",
        "--timeout-method=signal",
        "--rootdir",
        str(ROOT),
        "-m",
        "not interop",
    ]
    raise SystemExit(pytest.main([*options, *given.tests], plugins=[player]))


if __name__ == "__main__":
    main()
