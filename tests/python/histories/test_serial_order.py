"""The checker itself, on histories made by hand: what is wrong is found, and what is right is not."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from history import Attempt, History, Version
from operations import ACTS, APPENDED, SHARED, WEIGHTS, Operation, Rows, draw, row
from serial_order import anomalies, avoidable, moved

LEVELS = ["Serializable", "WriteSerializable"]
START = Counter({row(1, 10): 1, row(2, 20): 1})


class Made:
    """A history whose commits did what they read, at whichever version that was."""

    def __init__(self, level: str, start: Rows = START) -> None:
        self.history = History([Version(0, start)], [], level)

    @property
    def last(self) -> int:
        return len(self.history.versions) - 1

    def rows(self, version: int) -> Rows:
        return self.history.versions[version].rows

    def commit(
        self,
        kind: str,
        *,
        read: int | None = None,
        begun: int | None = None,
        overwrites: bool = False,
        writer: str = "a",
        outcome: str = "done",
        **given: Any,
    ) -> None:
        """Commits what the operation changes in the rows of the version `read`, or all that it leaves of them."""
        read = self.last if read is None else read
        operation = Operation(kind, given)
        left = operation.of(self.rows(read))
        changed = self.rows(self.last).copy()
        changed.update(left)
        changed.subtract(self.rows(read))
        number = self.last + 1
        blind = operation.blind
        txn = self.attempt(operation, read if begun is None else begun, outcome, writer)
        assert overwrites or min(changed.values()) >= 0
        rows = left if overwrites else +changed
        self.history.versions.append(Version(number, rows, kind, txn, operation, blind, read))

    def attempt(
        self, operation: Operation, begun: int, outcome: str, writer: str = "a", ended: int | None = None
    ) -> str:
        txn = f"{writer}{len(self.history.attempts)}"
        ended = self.last + 1 if ended is None else ended
        self.history.attempts.append(Attempt(txn, writer, "made", operation, begun, outcome, ended))
        return txn

    def found(self) -> list[tuple[str, int | None]]:
        return [(a.what, a.version) for a in anomalies(self.history)]


@pytest.fixture(params=LEVELS)
def made(request: pytest.FixtureRequest) -> Made:
    return Made(request.param)


def test_a_serial_run_has_no_anomaly(made: Made) -> None:
    made.commit("append", rows=[[30, 1], [30, 1]])
    made.commit("insert absent", rows=[[1, 0], [3, 0]])
    made.commit("counter", id=3)
    made.commit("transfer", **{"from": 1, "to": 2})
    made.commit("optimize")
    made.commit("rewrite", mod=2)
    made.commit("delete", low=30, high=31)
    assert made.found() == []
    assert made.rows(made.last) == Counter([row(1, 0), row(2, 31), row(3, 21)])


def test_a_lost_update_is_found(made: Made) -> None:
    made.commit("update", low=1, high=2, add=1)
    made.commit("update", read=0, overwrites=True, low=1, high=2, add=5)
    assert made.found() == [("rows", 2)]
    reported = str(anomalies(made.history)[0])
    assert "as if it had read version 0, without 1 (update)" in reported, reported


def test_an_overwrite_from_a_stale_frame_is_found(made: Made) -> None:
    made.commit("append", rows=[[30, 1]])
    made.commit("delete", low=2, high=3, begun=0)
    made.commit("rewrite", read=0, begun=2, overwrites=True, mod=1)
    assert made.found() == [("rows", 3)]
    (found,) = anomalies(made.history)
    assert found.lacks == Counter([row(30, 2)])
    assert found.extra == Counter([row(2, 21)])


def test_an_append_that_an_overwrite_takes_away_unseen_is_found(made: Made) -> None:
    made.commit("append", rows=[[30, 1]], writer="b")
    made.commit("rewrite", read=0, overwrites=True, mod=1)
    # the append could come later, but then its row would be there
    assert made.found() == [("rows", 2)]


def test_a_phantom_that_is_inserted_twice_is_found(made: Made) -> None:
    made.commit("insert absent", rows=[[3, 1]], writer="b")
    made.commit("insert absent", read=0, rows=[[3, 2]])
    assert made.found() == [("rows", 2)]
    (found,) = anomalies(made.history)
    assert (found.lacks, found.extra) == (Counter(), Counter([row(3, 2)]))


def test_a_phantom_of_a_blind_append_is_legal_at_write_serializable_only() -> None:
    for level, found in zip(LEVELS, ([("rows", 2)], []), strict=True):
        made = Made(level)
        made.commit("append", rows=[[30, 50]], writer="b")
        # the maximum is 50, and it sets 21
        made.commit("counter", read=0, id=1)
        assert made.found() == found
        assert moved(made.history) == (level == "WriteSerializable")


def test_write_skew_by_subqueries_is_found(made: Made) -> None:
    made.commit("counter", id=1, writer="b")
    made.commit("counter", read=0, id=2)
    assert made.found() == [("rows", 2)]


def test_an_append_that_was_acknowledged_before_is_not_missed() -> None:
    made = Made("WriteSerializable")
    made.commit("append", rows=[[30, 50]], writer="b")
    made.commit("counter", read=0, begun=1, id=1)
    assert made.found() == [("rows", 2)]


def test_an_append_that_one_has_seen_is_seen_by_those_after_it() -> None:
    made = Made("WriteSerializable")
    made.commit("append", rows=[[30, 50]], writer="b")
    made.commit("update", low=30, high=31, add=1, writer="c")
    # it would come before the append, and after an update of what that added
    made.commit("counter", read=0, id=1)
    assert made.found() == [("rows", 3)]


def test_an_append_may_be_missed_with_what_makes_no_difference_after_it() -> None:
    for level, found in zip(LEVELS, ([("rows", 3)], []), strict=True):
        made = Made(level)
        made.commit("append", rows=[[30, 7]], writer="b")
        made.commit("delete", low=2, high=3, writer="b")
        # it comes before both: the delete is of other rows
        made.commit("update", read=0, low=30, high=31, add=1)
        assert made.found() == found


def test_an_append_may_not_be_missed_where_that_was_acknowledged_before() -> None:
    made = Made("WriteSerializable")
    made.commit("append", rows=[[30, 7]], writer="b")
    made.commit("delete", low=2, high=3, writer="b")
    made.commit("update", read=0, begun=1, low=30, high=31, add=1)
    assert made.found() == [("rows", 3)]


@pytest.mark.parametrize("missed", [1, 2])
def test_of_two_appends_of_a_writer_the_later_one_may_be_missed_alone(missed: int) -> None:
    made = Made("WriteSerializable")
    for version in (1, 2):
        made.commit("append", rows=[[30 + version, 60 if version == missed else 50]], writer="b")
    # it has not seen the 60
    made.commit("counter", begun=0, id=1)
    last = made.history.versions[3]
    rows = made.rows(2) - Counter([row(1, 10)]) + Counter([row(1, 51)])
    made.history.versions[3] = Version(3, rows, "", *_of(last))
    assert made.found() == ([] if missed == 2 else [("rows", 3)])


def test_two_appends_of_which_either_may_be_missed_are_both_tried() -> None:
    made = Made("WriteSerializable")
    made.commit("append", rows=[[30, 50]], writer="b", begun=0)
    made.commit("append", rows=[[31, 50]], writer="c", begun=0)
    # the maximum is the same by either
    made.commit("counter", read=1, begun=0, id=1)
    # and this one has seen the second, and not the first
    newest = made.rows(3)
    rows = newest - Counter([row(31, 50)]) + Counter([row(31, 51)])
    made.commit("update", begun=0, low=30, high=32, add=1)
    last = made.history.versions[-1]
    made.history.versions[-1] = Version(4, rows, "", last.txn, last.document)
    assert made.found() == []
    # whoever comes now has to see the second
    made.commit("delete top", read=0, begun=0)
    assert made.found() != []


def test_an_optimize_changes_nothing(made: Made) -> None:
    made.commit("optimize")
    made.history.versions[-1] = Version(1, Counter(), "", *_of(made.history.versions[-1]))
    assert made.found() == [("rows", 1)]


def test_rows_that_change_without_an_operation_are_found(made: Made) -> None:
    made.history.versions.append(Version(1, START, "VACUUM START"))
    assert made.found() == []
    made.history.versions.append(Version(2, Counter(), "WRITE"))
    assert made.found() == [("nobody", 2)]


def test_acknowledged_and_not_in_the_log_is_found(made: Made) -> None:
    # nothing to do: it needs no commit
    made.attempt(Operation("delete", {"low": 5, "high": 6}), 0, "done", ended=0)
    assert made.found() == []
    made.attempt(Operation("delete", {"low": 1, "high": 6}), 0, "done", ended=0)
    assert made.found() == [("missing", None)]


def test_nothing_to_do_at_one_version_while_it_ran_is_enough(made: Made) -> None:
    made.attempt(Operation("insert absent", {"rows": [[3, 0]]}), 0, "done", ended=2)
    made.commit("merge insert", rows=[[3, 1]])
    made.commit("delete", low=3, high=4)
    assert made.found() == []


def test_reported_failed_and_in_the_log_is_found(made: Made) -> None:
    made.commit("append", rows=[[30, 1]], outcome="unknown")
    assert made.found() == []
    made.commit("append", rows=[[30, 1]], outcome="lost")
    assert made.found() == [("reported failed", 2)]


def test_a_transaction_that_is_there_twice_is_found(made: Made) -> None:
    made.commit("append", rows=[[30, 1]])
    first = made.history.versions[1]
    made.history.versions.append(
        Version(2, first.document.of(first.rows) if first.document else START, "", *_of(first))
    )
    assert made.found() == [("twice", 1), ("twice", 2)]


def test_a_commit_that_is_another_operation_than_its_writer_intended_is_found(made: Made) -> None:
    made.commit("append", rows=[[30, 1]])
    one = made.history.attempts[0]
    other = Operation("append", {"rows": [[30, 2]]})
    made.history.attempts[0] = Attempt(one.txn, "a", "made", other, 0, "done", 1)
    assert made.found() == [("other operation", 1)]


def test_a_commit_that_says_blind_and_reads_is_found(made: Made) -> None:
    made.commit("insert absent", rows=[[3, 1]])
    one = made.history.versions[1]
    made.history.versions[1] = Version(1, one.rows, "", one.txn, one.document, blind=True)
    assert made.found() == [("not blind", 1)]


def test_an_operation_that_cannot_end_well_and_is_committed_is_found(made: Made) -> None:
    made.commit("append", rows=[[1, 5]])
    operation = Operation("transfer", {"from": 1, "to": 2})
    txn = made.attempt(operation, 1, "done")
    made.history.versions.append(Version(2, made.rows(1), "", txn, operation))
    assert made.found() == [("rows", 2)]


def test_lost_races_that_change_the_same_at_each_version_are_avoidable(made: Made) -> None:
    made.commit("update", low=2, high=3, add=1)
    made.attempt(Operation("update", {"low": 1, "high": 2, "add": 1}), 0, "lost", ended=1)
    made.attempt(Operation("counter", {"id": 1}), 0, "lost", ended=1)
    made.attempt(Operation("optimize"), 0, "lost", ended=1)
    assert [one.operation.kind for one in avoidable(made.history)] == ["update"]


def test_whatever_is_drawn_is_a_serial_run(made: Made) -> None:
    import random

    dice = random.Random(1)
    for _ in range(400):
        operation = draw(dice, ACTS)
        made.commit(operation.kind, **operation.given)
    assert made.found() == []
    assert {version.document.kind for version in made.history.versions[1:] if version.document} == {*WEIGHTS}
    # ids that are inserted where they are absent are there once
    ids = Counter(id_ for version in made.history.versions[-50:] for _, id_, _ in version.rows.elements())
    assert max(ids) < SHARED + APPENDED + 6
    last = Counter(id_ for _, id_, _ in made.rows(made.last).elements() if id_ < SHARED)
    assert set(last.values()) <= {1}


def _of(version: Version) -> tuple[str | None, Operation | None]:
    return version.txn, version.document
