"""Decides whether a history is one of transactions that ran one after the other.

**Serializable.** The committed transactions, played one after the other in the order of the log, give each version: the
rows of version v are what the operation of v leaves of the rows of version v - 1.

**WriteSerializable.** There is a serial order of the committed transactions in which

1. transactions that are not blind appends stand in the order of the log, except that one may come before another that
   precedes it there if it makes no difference to the rows which of the two is first,
2. a blind append (an operation that reads nothing of the table) stands where the log has it, or later: a transaction
   that follows it in the log may come before it, as one that has read the table without it,
3. a transaction that was acknowledged before another one began comes before it, which holds for each writer's own,

and which, played, gives the last version, and after each transaction the rows of its version without those that blind
appends later in this order have added before it in the log. (A blind append changes nothing but that it adds rows, so
that its own version always is the one before it and its rows.)

At both levels moreover: an acknowledged transaction is in the log once, or it changes nothing, at one of the versions
that were newest while it ran; one that was reported failed is not in the log; whoever changes rows says who he is; no
commit says `isBlindAppend` whose operation reads the table.

Each version is held against the one that was found before it and not against a run from the beginning, so that one
anomaly is reported once. At WriteSerializable the state of the search is which blind appends may still come later.
The cost of a version is that of one operation on the rows, and in the worst case of one for each subset of the blind
appends that were committed while the transaction ran and that it may have missed, which are few.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from operations import ImpossibleError, Rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from history import Attempt, History, Version
    from operations import Operation


@dataclass(frozen=True)
class Anomaly:
    """Something that no serial run gives."""

    what: str
    """`rows`, `missing`, `twice`, `reported failed`, `nobody`, `other operation`, or `not blind`."""
    version: int | None
    operation: Operation | None
    by: str
    text: str
    lacks: Rows
    """Rows that a serial run has and the version has not."""
    extra: Rows
    """Rows that the version has and a serial run has not."""

    def __str__(self) -> str:
        where = "" if self.version is None else f"version {self.version}: "
        rows = [f"{name} {_shown(of)}" for name, of in (("lacks", self.lacks), ("has", self.extra)) if of]
        reported = "" if self.operation is None else f" {self.operation.given}"
        return "; ".join([f"{where}{self.what}: {self.by}{reported}: {self.text}", *rows])


def anomalies(history: History) -> list[Anomaly]:
    """All of a history, those of versions in their order."""
    by_txn = {attempt.txn: attempt for attempt in history.attempts}
    found = list(_rows(history, by_txn))
    found += _log(history, by_txn)
    found += _acknowledged(history)
    return found


def moved(history: History) -> int:
    """How many versions are right at WriteSerializable only."""
    strict = [a for a in _strict(history) if a.what == "rows"]
    return len(strict) - len([a for a in anomalies(history) if a.what == "rows"])


def avoidable(history: History) -> list[Attempt]:
    """Lost races of operations that intended the same changes at each version that was newest meanwhile.

    Played again on what the winners left they would have written the same rows. Claims are coarser than that (files,
    ranges of statistics, whole subqueries), so that such races are lost; blind appends never are.
    """
    rows = {version.number: version.rows for version in history.versions}
    found = []
    for one in history.attempts:
        if one.outcome != "lost" or one.operation.quiet or one.ended_at is None:
            continue
        changes = [_change(one.operation, rows[v]) for v in range(one.begun_at, one.ended_at + 1)]
        if None not in changes and all(change == changes[0] for change in changes):
            found.append(one)
    return found


def _strict(history: History) -> Iterator[Anomaly]:
    strict = type(history)(history.versions, history.attempts, "Serializable")
    return _rows(strict, {attempt.txn: attempt for attempt in history.attempts})


class _Later:
    """Which blind appends may come later than all that was looked at: the largest sets of them."""

    def __init__(self, begun: dict[int, int]) -> None:
        self.begun = begun
        """The newest version when the append of a version began."""
        self._sets: set[frozenset[int]] = {frozenset()}

    def append(self, version: int) -> None:
        self._sets = {later | {version} for later in self._sets}

    def choices(self, since: int) -> Iterator[frozenset[int]]:
        """Sets of appends that may come after a transaction that began at a version, larger ones first."""
        seen = set()
        for later in self._sets:
            free = sorted(version for version in later if version > since)
            for size in range(len(free), -1, -1):
                for some in map(frozenset, combinations(free, size)):
                    if some not in seen and self._keeps_order(some, free):
                        seen.add(some)
                        yield some

    def choose(self, chosen: list[frozenset[int]]) -> None:
        self._sets = {one for one in chosen if not any(one < other for other in chosen)} or {frozenset()}

    def _keeps_order(self, later: frozenset[int], of: list[int]) -> bool:
        """Whether none of the others began after one of these was acknowledged."""
        return not any(self.begun[other] >= one for one in later for other in of if other not in later)


def _rows(history: History, by_txn: dict[str, Attempt]) -> Iterator[Anomaly]:
    """Versions whose rows no serial run gives."""
    begun = {v.number: by_txn[v.txn].begun_at if v.txn in by_txn else v.number - 1 for v in history.versions}
    later = _Later(begun)
    held = {version.number: version.rows for version in history.versions}
    for before, version in zip(history.versions, history.versions[1:], strict=False):
        operation = version.document
        if operation is None:
            if before.rows != version.rows:
                text = f"rows change, and nobody says why ({version.operation or 'no commitInfo'})"
                yield _anomaly("nobody", version, by_txn, text, before.rows)
            continue
        if operation.quiet or operation.blind:
            if not _fits(operation, before.rows, version.rows, Counter()):
                yield _explained(history, version, before, by_txn)
            elif operation.blind:
                later.append(version.number)
            continue
        since = begun[version.number] if history.level == "WriteSerializable" else version.number
        chosen: list[frozenset[int]] = []
        for some in later.choices(since):
            if any(some < other for other in chosen):
                continue
            unseen: Rows = Counter()
            for number in some:
                unseen += held[number] - held[number - 1]
            if _fits(operation, before.rows, version.rows, unseen):
                chosen.append(some)
        if not chosen and not _commutes_back(history, version, since):
            yield _explained(history, version, before, by_txn)
        later.choose(chosen)


def _commutes_back(history: History, version: Version, since: int) -> bool:
    """Whether the version's operation may have come before some of those before it that it ran beside.

    Blind appends it may pass over. Any other it passes over where the two commute. Those that it has passed over,
    played after it, must leave the rows of the version.
    """
    operation = version.document
    assert operation is not None
    passed: list[Operation] = []
    for other in reversed(history.versions[since + 1 : version.number]):
        if other.document is None:
            return False
        start = _before(history, other)
        try:
            if not other.document.blind and operation.of(other.document.of(start)) != other.document.of(
                operation.of(start)
            ):
                return False
            passed.insert(0, other.document)
            rows = operation.of(start)
            for one in passed:
                rows = one.of(rows)
        except ImpossibleError:
            return False
        if rows == version.rows:
            return True
    return False


def _fits(operation: Operation, before: Rows, after: Rows, unseen: Rows) -> bool:
    """Whether the operation makes one of the other, without a look at the unseen rows."""
    if not unseen <= before:
        return False
    try:
        return operation.of(before - unseen) + unseen == after
    except ImpossibleError:
        return False


def _log(history: History, by_txn: dict[str, Attempt]) -> Iterator[Anomaly]:
    """What commits say of themselves against what the writers say."""
    times = Counter(version.txn for version in history.versions if version.txn is not None)
    for version in history.versions[1:]:
        if version.txn is None or version.document is None:
            continue
        attempt = by_txn.get(version.txn)
        if attempt is None:
            yield _anomaly("nobody", version, by_txn, "no writer has begun this transaction")
            continue
        if attempt.operation != version.document:
            text = f"its writer intended {attempt.operation.kind} {attempt.operation.given}"
            yield _anomaly("other operation", version, by_txn, text)
        if attempt.outcome in ("lost", "failed"):
            yield _anomaly("reported failed", version, by_txn, f"{attempt.outcome}: {attempt.error}")
        # a vacuum has a commit at its start, and one at its end
        if times[version.txn] > 1 and version.document.kind != "vacuum":
            yield _anomaly("twice", version, by_txn, f"committed {times[version.txn]} times")
        if version.blind and not version.document.blind and not version.document.quiet:
            yield _anomaly("not blind", version, by_txn, "`isBlindAppend` is true, and the operation reads")


def _acknowledged(history: History) -> Iterator[Anomaly]:
    """Acknowledged transactions that are not in the log, and had something to do."""
    committed = {version.txn for version in history.versions}
    rows = {version.number: version.rows for version in history.versions}
    for one in history.attempts:
        if one.outcome != "done" or one.txn in committed or one.operation.quiet:
            continue
        assert one.ended_at is not None
        seen = [rows[number] for number in range(one.begun_at, one.ended_at + 1)]
        if not any(_fits(one.operation, before, before, Counter()) for before in seen):
            text = f"acknowledged, not in the log; it changes each of the versions {one.begun_at} to {one.ended_at}"
            yield Anomaly("missing", None, one.operation, one.by, text, Counter(), Counter())


def _anomaly(
    what: str, version: Version, by_txn: dict[str, Attempt], text: str, expected: Rows | None = None
) -> Anomaly:
    by = by_txn[version.txn].by if version.txn in by_txn else f"{version.operation} {version.txn}"
    expected = version.rows if expected is None else expected
    lacks, extra = expected - version.rows, version.rows - expected
    return Anomaly(what, version.number, version.document, by, text, lacks, extra)


def _explained(history: History, version: Version, before: Version, by_txn: dict[str, Attempt]) -> Anomaly:
    """Rows that are not those of the log's order, with the version that the operation seems to have read."""
    operation = version.document
    assert operation is not None
    try:
        expected = operation.of(before.rows)
    except ImpossibleError as error:
        return _anomaly("rows", version, by_txn, f"it cannot end well: {error}", before.rows)
    done = _difference(before.rows, version.rows)
    text = "not the rows of a serial run"
    for older in reversed(history.versions[: before.number]):
        intended = _change(operation, older.rows)
        if intended is not None and (intended == done or _left(operation, older.rows) == version.rows):
            missed = [
                v
                for v in history.versions[older.number + 1 : version.number]
                if v.rows != _before(history, v)
            ]
            names = ", ".join(
                f"{v.number} ({v.document.kind if v.document else v.operation})" for v in missed
            )
            text = f"as if it had read version {older.number}, without {names}"
            break
    return _anomaly("rows", version, by_txn, text, expected)


def _before(history: History, version: Version) -> Rows:
    return history.versions[version.number - 1].rows


def _left(operation: Operation, rows: Rows) -> Rows | None:
    try:
        return operation.of(rows)
    except ImpossibleError:
        return None


def _change(operation: Operation, rows: Rows) -> dict[tuple[int, int, int], int] | None:
    """How many of each row the operation adds, or takes away."""
    left = _left(operation, rows)
    return None if left is None else _difference(rows, left)


def _difference(before: Rows, after: Rows) -> dict[tuple[int, int, int], int]:
    changed = after.copy()
    changed.subtract(before)
    return {row: times for row, times in changed.items() if times}


def _shown(rows: Rows) -> str:
    some = sorted(rows.elements())
    return ", ".join(map(str, some[:6])) + (f" and {len(some) - 6} more" if len(some) > 6 else "")
