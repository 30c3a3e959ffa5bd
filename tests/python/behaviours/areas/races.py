"""Two transactions at once without hooks: commits of another writer appear while a job of the first one runs.

The other writer's commits are made on a copy of the table beforehand. The first one's statement calls the function
`win`, which answers with its argument and puts these commits into the log that the statement has already read.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from playing import condition_of

if TYPE_CHECKING:
    from playing import Player

# the classes by which users tell lost races, of which delta-spark's have no condition; where rows conflict in several
# ways, engines tell another one of three first, and each says: try again
_ROWS = ("ConcurrentAppend", "ConcurrentDeleteRead", "ConcurrentDeleteDelete")
_LOST = ("Concurrent", "MetadataChanged", "ProtocolChanged")
_made: dict[tuple[Any, ...], Path] = {}


def versions(path: str | Path) -> list[int]:
    return sorted(int(c.stem) for c in Path(path, "_delta_log").glob("*.json"))


def made(p: Player, *steps: Any) -> Path:
    """The folder of a table on which steps were played: once in each process, whoever asks."""
    known = _made.get(steps)
    if known is None or not known.exists():
        known = Path(p.at, f"made{len(_made)}")
        if len(steps) > 1:
            shutil.copytree(made(p, *steps[:-1]), known)
        before, p.path = p.path, str(known)
        try:
            _play(p, steps[-1])
        finally:
            p.path = before
        _made[steps] = known
    return known


def _play(p: Player, step: Any) -> None:
    if callable(step):
        step(p)
    else:
        for statement in (step,) if isinstance(step, str) else step:
            p.sql(statement)


def race(p: Player, start: Any, others: Any, first: Any, begin: int = 0, end: int | None = None) -> None:
    """Tells how the statement `first` ends while the commits of the steps `others` appear, and what the table is then.

    Args:
        p: Its path must be free.
        start: The steps that make the table.
        others: The steps of the other writer.
        first: A statement, or a call, that calls `win`.
        begin: How many commits of `others` are there before.
        end: How many are there in the end; all by default.
    """
    base, other = made(p, start), made(p, start, others)
    shutil.copytree(base, p.path)
    shutil.copytree(other, p.path, ignore=shutil.ignore_patterns("_delta_log"), dirs_exist_ok=True)
    new = [(f"{other}/_delta_log/{v:020}.json", f"{p.path}/_delta_log/{v:020}.json") for v in versions(other)]
    new = new[len(versions(base)) :][:end]
    for commit, place in new[:begin]:
        os.link(commit, place)
    later = new[begin:]

    def win(value: int) -> int:
        for commit, place in later:
            if not os.path.exists(place):  # noqa: PTH110 as little as can be goes to the workers
                try:
                    os.link(commit, place)
                except FileExistsError:
                    continue
        return value

    p.spark.udf.register("win", win, "bigint")
    p.conf("spark.deltaic.maxReplays", "0")
    try:
        _play(p, first)
    except Exception as error:  # noqa: BLE001 the error is the answer
        name = type(error).__name__.removesuffix("Exception").removesuffix("Error")
        lost = "rows changed" if name in _ROWS else name if name.startswith(_LOST) else None
        p.tell({"error": lost or condition_of(error)})
    else:
        p.tell("done")
    met = all(Path(place).exists() and os.path.samefile(commit, place) for commit, place in new)  # noqa: PTH121
    if not met:
        raise RuntimeError("the other writer did not come in between")


def newest(p: Player) -> None:
    """Tells which commit is the newest one."""
    last = p.sql("DESCRIBE HISTORY {t} LIMIT 1").first()
    p.tell([last.version, last.operation, last.isolationLevel, last.isBlindAppend])
