"""What a writer reports of its attempts, line by line, so that the reports of a process that ends are kept."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from history import Attempt
from operations import Operation

if TYPE_CHECKING:
    from collections.abc import Iterator


def newest(path: str, after: int = -1) -> int:
    """The newest version, by the names of the commits; `after` is one that is known to be there."""
    log = Path(path) / "_delta_log"
    while (log / f"{after + 1:020}.json").exists():
        after += 1
    return after


class Journal:
    """Of one writer and one table."""

    def __init__(self, file: IO[str], path: str, writer: str, engine: str) -> None:
        self._file = file
        self._path, self._writer, self._engine = path, writer, engine
        self._newest = -1
        self._started = 0.0

    def begin(self, txn: str, operation: Operation) -> str:
        """Tells that an attempt begins; the document that its commit carries."""
        document = {"txn": txn, "kind": operation.kind, "given": operation.given}
        self._tell({**document, "writer": self._writer, "engine": self._engine, "begun_at": self._last()})
        self._started = time.monotonic()
        return json.dumps(document)

    def end(
        self, txn: str, outcome: str, races: list[str], error: str | None = None, rule: str | None = None
    ) -> None:
        """Tells how it ended, with the races that the engine lost meanwhile, the kind of the error and its rule."""
        seconds = round(time.monotonic() - self._started, 3)
        reported = {"txn": txn, "outcome": outcome, "ended_at": self._last(), "error": error, "rule": rule}
        self._tell({**reported, "races": races, "seconds": seconds})

    def _last(self) -> int:
        self._newest = newest(self._path, self._newest)
        return self._newest

    def _tell(self, line: dict[str, Any]) -> None:
        self._file.write(json.dumps(line) + "\n")
        self._file.flush()


def attempts(journal: Path) -> Iterator[Attempt]:
    """The attempts of a journal. One without an end is `unknown`."""
    begun: dict[str, dict[str, Any]] = {}
    ended: dict[str, dict[str, Any]] = {}
    for line in journal.read_text().splitlines():
        said = json.loads(line)
        (begun if "kind" in said else ended)[said["txn"]] = said
    for txn, one in begun.items():
        operation = Operation(one.pop("kind"), one.pop("given"))
        yield Attempt(**{"outcome": "unknown", **one, **ended.get(txn, {})}, operation=operation)
