"""What histories came to, in numbers, and each anomaly."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from serial_order import anomalies, avoidable, moved

if TYPE_CHECKING:
    from collections.abc import Iterable

    from history import History
    from serial_order import Anomaly


def reported(histories: Iterable[tuple[str, History]]) -> int:
    """Prints them one by one, and at the end, or where they break off, the sum; 1 where there are anomalies."""
    sums: dict[str, Counter[str]] = {
        name: Counter() for name in ("attempts", "commits", "played again", "lost races", "anomalies")
    }
    transactions = 0
    try:
        for name, history in histories:
            numbers = _counts(history)
            transactions += numbers["transactions"]
            print(
                f"table {name}: " + ", ".join(f"{value} {what}" for what, value in numbers.items()),
                flush=True,
            )
            found = anomalies(history)
            for one in found:
                print(f"  {one}", flush=True)
            _add(sums, history)
            sums["anomalies"].update(f"{a.what}, {a.by.split(' of ')[-1]}, {_kind(a)}" for a in found)
    finally:
        for what, counted in sums.items():
            print(f"{what}: {sum(counted.values())}")
            for name, times in sorted(counted.items(), key=lambda one: (-one[1], one[0])):
                print(f"  {times:6} {name}")
        wrong = sum(sums["anomalies"].values())
        print(f"{transactions} transactions, {wrong} anomalies", flush=True)
    return 1 if wrong else 0


def _kind(anomaly: Anomaly) -> str:
    operation = anomaly.operation
    if operation is None:
        return "no operation"
    return f"{operation.kind} (kept)" if operation.given.get("kept") else operation.kind


def _counts(history: History) -> dict[str, int]:
    outcomes = Counter(one.outcome for one in history.attempts)
    firsts = {one.txn.rsplit("-", 1)[0] for one in history.attempts}
    raced = [v for v in history.versions if v.read is not None and v.txn and v.read + 1 < v.number]
    return {
        "transactions": len(firsts),
        "versions": len(history.versions),
        "done": outcomes["done"],
        "lost races": outcomes["lost"],
        "avoidable": len(avoidable(history)),
        "retries": len(history.attempts) - len(firsts),
        "failed": outcomes["failed"],
        "unknown": outcomes["unknown"],
        "commits that were overtaken": len(raced),
        "moved": moved(history),
    }


def _add(sums: dict[str, Counter[str]], history: History) -> None:
    by = {one.txn: one for one in history.attempts}
    for one in history.attempts:
        sums["attempts"][f"{one.outcome}, {one.engine}"] += 1
        played = one.races[:-1] if one.outcome == "lost" else one.races
        sums["played again"].update(f"{one.engine}, {one.operation.kind}: {rule}" for rule in played)
        if one.outcome in ("lost", "failed", "unknown"):
            why = one.rule or one.error or ""
            sums["lost races"][f"{one.outcome}, {one.engine}, {one.operation.kind}: {one.error} ({why})"] += 1
    for version in history.versions:
        attempt = by.get(version.txn or "")
        if attempt is not None:
            sums["commits"][f"{attempt.engine}, {attempt.operation.kind}"] += 1
