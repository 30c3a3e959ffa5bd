"""What the transactions of a history are: documents, what each does to the rows, and how they are drawn.

A table has the columns `p`, `id`, `n` (BIGINT); `p` is `id % PARTITIONS`. Ids below `SHARED` are inserted only where
they are not there yet, so that each is there once at most; ids from `SHARED` on are appended, some more than once.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterable

PARTITIONS = 3
SHARED = 24
APPENDED = 24
"""Ids that are appended: so many from `SHARED` on."""
METADATA = "spark.databricks.delta.commitInfo.userMetadata"
Row: TypeAlias = tuple[int, int, int]
Rows: TypeAlias = "Counter[Row]"


@dataclass(frozen=True)
class Operation:
    """What a transaction is to do. With its id it stands in the `userMetadata` of its commit."""

    kind: str
    given: dict[str, Any] = field(default_factory=dict)

    @property
    def blind(self) -> bool:
        """Whether it is a blind append: it reads nothing of the table."""
        return self.kind == "append"

    @property
    def quiet(self) -> bool:
        """Whether it leaves the rows as they are."""
        return self.kind in QUIET

    def of(self, rows: Rows) -> Rows:
        """The rows that it leaves, where it begins with these.

        Raises:
            ImpossibleError: on these rows it must fail.
        """
        left = Counter(dict(ACTS[self.kind](rows, self.given)))
        return +left


class ImpossibleError(Exception):
    """An operation cannot end well on these rows."""


def row(id_: int, n: int) -> Row:
    return id_ % PARTITIONS, id_, n


def count(rows: Iterable[tuple[Row, int]]) -> Rows:
    """Rows with how often each is there, the same row more than once among them."""
    counted: Rows = Counter()
    for one, times in rows:
        counted[one] += times
    return counted


def _given_rows(given: dict[str, Any]) -> Rows:
    return count((row(id_, n), 1) for id_, n in given["rows"])


def _changed(rows: Rows, change: Callable[[Row], Row | None]) -> Rows:
    """Each row as the function makes it; None leaves it out."""
    made = ((change(one), times) for one, times in rows.items())
    return count((one, times) for one, times in made if one is not None)


def _append(rows: Rows, given: dict[str, Any]) -> Rows:
    return rows + _given_rows(given)


def _insert_absent(rows: Rows, given: dict[str, Any]) -> Rows:
    there = {id_ for _, id_, _ in rows}
    return rows + count((row(id_, n), 1) for id_, n in given["rows"] if id_ not in there)


def _insert_count(rows: Rows, given: dict[str, Any]) -> Rows:
    return rows + Counter([row(given["id"], sum(rows.values()))])


def _counter(rows: Rows, given: dict[str, Any]) -> Rows:
    top = max((n for _, _, n in rows), default=0)
    return _changed(rows, lambda r: (r[0], r[1], top + 1) if r[1] == given["id"] else r)


def _transfer(rows: Rows, given: dict[str, Any]) -> Rows:
    source, to = given["from"], given["to"]
    amounts = [n for (_, id_, n), times in rows.items() if id_ == source for _ in range(times)]
    if not amounts:
        return rows
    if len(amounts) > 1:
        raise ImpossibleError(f"id {source} is there {len(amounts)} times")
    amount = amounts[0]

    def moved(r: Row) -> Row:
        return (r[0], r[1], 0 if r[1] == source else r[2] + amount) if r[1] in (source, to) else r

    if sum(times for (_, id_, _), times in rows.items() if id_ == to) > 1:
        raise ImpossibleError(f"id {to} is there more than once")
    # without the row that it goes to, nothing goes
    return _changed(rows, moved) if any(id_ == to for _, id_, _ in rows) else rows


def _upsert(rows: Rows, given: dict[str, Any]) -> Rows:
    amounts = dict(given["rows"])
    there = {id_ for _, id_, _ in rows}
    updated = _changed(rows, lambda r: (r[0], r[1], r[2] + amounts.get(r[1], 0)))
    return updated + count((row(id_, n), 1) for id_, n in amounts.items() if id_ not in there)


def _delete(rows: Rows, given: dict[str, Any]) -> Rows:
    return _changed(rows, lambda r: None if given["low"] <= r[1] < given["high"] else r)


def _delete_top(rows: Rows, _: dict[str, Any]) -> Rows:
    top = max((n for _, _, n in rows), default=0)
    return _changed(rows, lambda r: None if r[2] == top else r)


def _update(rows: Rows, given: dict[str, Any]) -> Rows:
    return _changed(
        rows, lambda r: (r[0], r[1], r[2] + given["add"]) if given["low"] <= r[1] < given["high"] else r
    )


def _rewrite(rows: Rows, given: dict[str, Any]) -> Rows:
    return _changed(rows, lambda r: (r[0], r[1], r[2] + 1) if r[1] % given["mod"] == 0 else r)


def _replace_partition(rows: Rows, given: dict[str, Any]) -> Rows:
    return _changed(rows, lambda r: (r[0], r[1], r[2] + given["add"]) if r[0] == given["p"] else r)


def _replace_range(rows: Rows, given: dict[str, Any]) -> Rows:
    return _delete(rows, given) + _given_rows(given)


def _same(rows: Rows, _: dict[str, Any]) -> Rows:
    return rows


QUIET = ("optimize", "vacuum", "checkpoint")
ACTS: dict[str, Callable[[Rows, dict[str, Any]], Rows]] = {
    "append": _append,
    # INSERT INTO t SELECT … FROM rows LEFT ANTI JOIN t
    "insert absent": _insert_absent,
    # INSERT INTO t SELECT …, (SELECT count(*) FROM t)
    "insert count": _insert_count,
    # UPDATE t SET n = (SELECT max(n) + 1 FROM t) WHERE id = …
    "counter": _counter,
    # MERGE INTO t USING (SELECT … FROM t JOIN t) …
    "transfer": _transfer,
    # MERGE … WHEN NOT MATCHED THEN INSERT
    "merge insert": _insert_absent,
    "upsert": _upsert,
    "delete": _delete,
    # DELETE FROM t WHERE n = (SELECT max(n) FROM t)
    "delete top": _delete_top,
    "update": _update,
    # df = all rows; overwrite
    "rewrite": _rewrite,
    # df = the rows of a partition; overwrite with `replaceWhere` the partition
    "replace partition": _replace_partition,
    # overwrite with `replaceWhere` a range of ids, by rows that are given
    "replace range": _replace_range,
    **dict.fromkeys(QUIET, _same),
}
WEIGHTS = {
    "append": 6,
    "insert absent": 5,
    "insert count": 2,
    "counter": 4,
    "transfer": 4,
    "merge insert": 4,
    "upsert": 3,
    "delete": 5,
    "delete top": 1,
    "update": 4,
    "rewrite": 3,
    "replace partition": 4,
    "replace range": 2,
    "optimize": 2,
    "vacuum": 1,
    "checkpoint": 1,
}
_FRAMED = ("insert absent", "transfer", "rewrite", "replace partition")
"""Kinds that read the table by a DataFrame: one that is made for it, or one that was made long before."""


def draw(dice: random.Random, kinds: Iterable[str]) -> Operation:
    """An operation of one of these kinds."""
    of = list(kinds)
    kind = dice.choices(of, [WEIGHTS[one] for one in of])[0]
    given: dict[str, Any] = {}
    if kind == "append":
        ids = [dice.randrange(SHARED, SHARED + APPENDED) for _ in range(dice.randint(1, 3))]
        given["rows"] = [[id_, dice.randint(0, 9)] for id_ in ids]
    elif kind in ("insert absent", "merge insert", "upsert"):
        ids = dice.sample(range(SHARED), dice.randint(1, 4))
        given["rows"] = [[id_, dice.randint(0, 9)] for id_ in ids]
    elif kind == "insert count":
        given["id"] = dice.randrange(SHARED, SHARED + APPENDED)
    elif kind == "counter":
        given["id"] = dice.randrange(SHARED)
    elif kind == "transfer":
        given["from"], given["to"] = dice.sample(range(SHARED), 2)
    elif kind in ("delete", "update", "replace range"):
        given["low"] = dice.randrange(SHARED + APPENDED)
        given["high"] = given["low"] + dice.randint(1, 6)
        if kind == "update":
            given["add"] = dice.randint(1, 9)
        elif kind == "replace range":
            given["rows"] = [[id_, dice.randint(0, 9)] for id_ in range(given["low"], given["high"], 2)]
    elif kind == "rewrite":
        given["mod"] = dice.randint(1, 3)
    elif kind == "replace partition":
        given["p"], given["add"] = dice.randrange(PARTITIONS), dice.randint(1, 9)
    if kind in _FRAMED:
        given["kept"] = dice.random() < 0.5
    return Operation(kind, given)
