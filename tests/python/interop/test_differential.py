"""Random histories by deltaic and by delta-spark: the same rows and columns after every step.

    DELTAIC_DIFFERENTIAL_COUNT=200 python -m pytest -s tests/python/interop/test_differential.py

plays 200 histories to their end, and counts what was done; without it a few are begun. A failure names its seed, and
`DELTAIC_DIFFERENTIAL_SEED=<seed>` with the same command plays it again and tells each step.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from differential_history import History
from differential_steps import Delete, Step, Write
from pyspark.sql import functions as F  # noqa: N812

import deltaic

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

_SEED = os.environ.get("DELTAIC_DIFFERENTIAL_SEED")
_COUNT = os.environ.get("DELTAIC_DIFFERENTIAL_COUNT")
SEEDS = [int(_SEED)] if _SEED else list(range(int(_COUNT or 1)))
# of the sample, since a step of both takes seconds
STEPS = None if _SEED or _COUNT else 5

Facts = tuple[list[tuple[str, Any]], list[str]]


class DisagreementError(AssertionError):
    """After a step the two tables are not the same."""

    def __init__(self, seed: int | None, steps: Sequence[Step], what: str) -> None:
        reported = "\n".join(f"  {n}: {step}" for n, step in enumerate(steps))
        replay = f"\nplay it again with DELTAIC_DIFFERENTIAL_SEED={seed}" if seed is not None else ""
        super().__init__(f"seed {seed}, step {len(steps) - 1}: {what}\n{reported}{replay}")


def _facts(schema: dict[str, Any], rows: Sequence[str]) -> Facts:
    """Names and types of the columns in their order, and the rows in no order."""
    columns = [(f["name"], f["type"]) for f in schema["fields"]]
    return columns, sorted(json.dumps(json.loads(row), sort_keys=True) for row in rows)


class Ours:
    """A table that deltaic keeps, through Spark."""

    def __init__(self, spark: Any, path: Path) -> None:
        self.spark, self.path = spark, str(path)
        self.versions: list[int] = []

    def do(self, step: Step) -> str | None:
        """Why it was refused, if it was."""
        try:
            step.on_deltaic(self.spark, self.path, self.versions)
        except Exception as error:  # noqa: BLE001 whoever compares reports it
            return f"{type(error).__name__}: {error}"
        return None

    def facts(self, path: str | None = None) -> Facts:
        df = self.spark.read.format("delta").load(path or self.path)
        # not `toJSON`, which warns of its own future
        rows = df.select(F.to_json(F.struct("*"))).collect()
        return _facts(df.schema.jsonValue(), [row[0] for row in rows])


class Theirs:
    """A table that delta-spark keeps."""

    def __init__(self, peer: Any, path: Path) -> None:
        self.peer, self.path = peer, str(path)
        self.versions: list[int] = []

    def do(self, step: Step) -> str | None:
        try:
            step.on_delta_spark(self.peer, self.path, self.versions)
        except AssertionError as error:
            return str(error)
        return None

    def facts(self, path: str | None = None) -> Facts:
        return _facts(*self.peer.call(path or self.path, ["toDF"]))


def _difference(ours: Facts, theirs: Facts) -> str | None:
    if ours[0] != theirs[0]:
        return f"deltaic has the columns {ours[0]}, delta-spark {theirs[0]}"
    mine, other = Counter(ours[1]), Counter(theirs[1])
    if mine == other:
        return None
    only, lacks = list((mine - other).elements()), list((other - mine).elements())
    return (
        f"of {len(ours[1])} rows of deltaic delta-spark lacks {len(only)}, such as {only[:3]};"
        f" of its {len(theirs[1])} deltaic lacks {len(lacks)}, such as {lacks[:3]}"
    )


def play(
    steps: Sequence[Step],
    ours: Ours,
    theirs: Theirs,
    *,
    seed: int | None = None,
    their_step: Callable[[Step], Step] = lambda step: step,
) -> Counter[str]:
    """Does the steps on both tables; gives how many of each kind were done.

    Raises:
        DisagreementError: rows or columns differ after a step, or only one of the two did it.
    """
    counts: Counter[str] = Counter()
    for number, step in enumerate(steps):
        done = steps[: number + 1]
        if _SEED:
            print(f"{number}: {step}", flush=True)
        refusals = {"deltaic": ours.do(step), "delta-spark": theirs.do(their_step(step))}
        refused = [why is not None for why in refusals.values()]
        if refused[0] != refused[1] or (refused[0] and not step.may_be_refused):
            raise DisagreementError(seed, done, f"refused: {refusals}")
        counts["refused" if refused[0] else step.kind] += 1
        found = ours.facts(), theirs.facts()
        if (difference := _difference(*found)) is not None:
            raise DisagreementError(seed, done, difference)
        for table in (ours, theirs):
            read = deltaic.Table(table.path)
            table.versions.append(read.version)
            rows = pa.table(read.to_arrow()).num_rows
            if rows != len(found[0][1]):
                raise DisagreementError(
                    seed, done, f"Arrow has {rows} of {len(found[0][1])} rows of {table.path}"
                )
    # each reads what the other wrote
    for left, right in ((ours.facts(theirs.path), theirs.facts()), (ours.facts(), theirs.facts(ours.path))):
        if (difference := _difference(left, right)) is not None:
            raise DisagreementError(seed, steps, f"of one table: {difference}")
    for table in (ours, theirs):
        findings = deltaic.verify(table.path, deep=True).findings
        if findings:
            raise DisagreementError(seed, steps, f"{table.path}: {[str(finding) for finding in findings]}")
    return counts


@pytest.fixture(scope="module")
def counted() -> Iterator[Counter[str]]:
    """What was done in all histories, printed at the end."""
    counts: Counter[str] = Counter()
    yield counts
    print(f"\n{counts.total()} steps of {len(SEEDS)} histories: {dict(counts.most_common())}")


@pytest.mark.parametrize("seed", SEEDS)
def test_the_same_history(
    spark: Any, delta_spark: Any, same: Any, seed: int, counted: Counter[str], tmp_path: Path
) -> None:
    ours, theirs = Ours(spark, tmp_path / "ours"), Theirs(delta_spark, tmp_path / "theirs")
    counted.update(play(History(seed).steps[:STEPS], ours, theirs, seed=seed))
    # values as they are, where JSON shortens them
    same(deltaic.Table(ours.path).to_arrow(), deltaic.Table(theirs.path).to_arrow())


def test_a_step_that_does_something_else_is_seen(spark: Any, delta_spark: Any, tmp_path: Path) -> None:
    rows = "SELECT id, IF(id % 3 = 0, NULL, id) AS n FROM range(9)"
    steps = [Write("create", rows, "append"), Delete("n > 4"), Delete("id = 0")]

    def wrong(step: Step) -> Step:
        # NOT (n <= 4) and n > 4 differ where n is null, if one gets null wrong
        return replace(step, condition="n IS NULL OR n > 4") if step is steps[1] else step

    ours, theirs = Ours(spark, tmp_path / "ours"), Theirs(delta_spark, tmp_path / "theirs")
    with pytest.raises(DisagreementError, match=r"seed 5, step 1: .* deltaic delta-spark lacks 3") as seen:
        play(steps, ours, theirs, seed=5, their_step=wrong)
    # with what was done, and how to do it again
    assert "1: Delete(condition='n > 4')\n" in str(seen.value)
    assert str(seen.value).endswith("DELTAIC_DIFFERENTIAL_SEED=5")


def test_a_seed_makes_the_same_history() -> None:
    assert History(7).steps == History(7).steps != History(8).steps
