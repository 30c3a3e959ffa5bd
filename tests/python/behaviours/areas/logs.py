"""Helpers for situations that change a log by hand: neither engine has seen the copy before."""

from __future__ import annotations

import json
import os
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from playing import Player

DAY = 86_400


def log_of(p: Player, path: str | None = None) -> Path:
    return Path(path or p.path, "_delta_log")


def copy(p: Player, name: str = "u") -> str:
    """The table in another place, whose log nobody has in memory."""
    to = f"{p.at}/{name}"
    shutil.copytree(p.path, to)
    for checksum in log_of(p, to).glob("*.crc"):
        if checksum.name.startswith("."):
            checksum.unlink()
    return to


def forget_checksums(path: str) -> None:
    """Takes out what would contradict a log that is changed."""
    for checksum in Path(path, "_delta_log").rglob("*.crc"):
        checksum.unlink()


def put(path: str, version: int, *actions: dict[str, Any]) -> None:
    """Writes a commit as it stands."""
    folder = Path(path, "_delta_log")
    folder.mkdir(parents=True, exist_ok=True)
    text = "".join(json.dumps(a, separators=(",", ":")) + "\n" for a in actions)
    (folder / f"{version:020}.json").write_text(text, encoding="utf-8")
    for name in (f"{version:020}.crc", f".{version:020}.json.crc"):
        (folder / name).unlink(missing_ok=True)


def change(p: Player, path: str, how: Callable[[dict[str, Any]], Any], versions: Any = None) -> None:
    """Changes each action of commits: `how` changes it in place, and may say False to take it out."""
    folder = Path(path, "_delta_log")
    for commit in sorted(folder.glob("*.json")):
        version = int(commit.stem)
        if versions is None or version in versions:
            actions = p.actions(version, path)
            put(path, version, *[a for a in actions if how(a) is not False])


def age(path: str, days: float, versions: Any) -> None:
    """Makes the log's files of versions so many days old; each is a second younger than the one before."""
    for file in Path(path, "_delta_log").iterdir():
        name = file.name.removeprefix(".").split(".")[0]
        if name.isdigit() and int(name) in versions:
            at = time.time() - days * DAY + int(name)
            os.utime(file, (at, at))


def names(path: str) -> list[str]:
    """The names of the log's files, without the part that is another one in each run, and without checksums."""
    found = []
    for file in sorted(Path(path, "_delta_log").iterdir()):
        parts = file.name.split(".")
        if file.is_file() and parts[0].isdigit() and parts[-1] != "crc":
            middle = [x for x in parts[1:-1] if len(x) < 36]
            found.append(".".join([str(int(parts[0])), *middle, parts[-1]]))
    return sorted(found)


def of_checkpoint(p: Player, path: str | None = None) -> Any:
    """The newest checkpoint's file as a DataFrame."""
    files = sorted(log_of(p, path).glob("*.checkpoint*.parquet"))
    return p.spark.read.parquet(str(files[-1]))
