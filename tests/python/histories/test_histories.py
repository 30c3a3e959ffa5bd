"""Several processes do random transactions on one table: what they leave is what a serial run leaves.

`python tests/python/histories/play.py` plays more of it, and prints what was done.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest
from mutations import MUTATIONS
from play import KINDS_OF_TABLES, Kind, Writers
from serial_order import anomalies

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from history import History

# applications start before the first test
pytestmark = [pytest.mark.spark, pytest.mark.timeout(1800)]

QUICK = [
    Kind("Serializable", vectors=True, partitioned=False),
    Kind("WriteSerializable", vectors=False, partitioned=True),
]


def some_writers(engines: Sequence[str], factory: pytest.TempPathFactory) -> Iterator[Writers]:
    with Writers(engines, factory.mktemp("histories")) as started:
        yield started


@pytest.fixture(scope="module")
def writers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Writers]:
    yield from some_writers(["deltaic", "deltaic", "table"], tmp_path_factory)


@pytest.fixture(scope="module")
def writers_and_peers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Writers]:
    yield from some_writers(["deltaic", "deltaic", "table", "delta-spark", "deltalake"], tmp_path_factory)


REPLAYS = 10
"""How often deltaic on Spark plays a command again that lost a race, by default."""


def check(history: History, transactions: int) -> None:
    """No anomaly; no transaction has failed, but for lost races, and none of these was needless."""
    assert [str(one) for one in anomalies(history)] == []
    assert len({one.txn.rsplit("-", 1)[0] for one in history.attempts}) == transactions
    outcomes = Counter(one.outcome for one in history.attempts)
    assert set(outcomes) <= {"done", "lost"}, [one for one in history.attempts if one.outcome == "failed"]
    lost = [one for one in history.attempts if one.outcome == "lost"]
    assert [one for one in lost if one.operation.blind] == []
    # deltaic on Spark has played it again as often as it may
    assert [one for one in lost if one.engine == "deltaic" and len(one.races) <= REPLAYS] == []


@pytest.mark.parametrize("kind", QUICK, ids=str)
def test_each_version_is_one_of_a_serial_run(writers: Writers, kind: Kind) -> None:
    check(writers.play(kind, 40, 7), 40)


# operations that meet where the claim is missing
MEETING = {
    "reads of queries": ["append", "counter", "insert absent", "transfer"],
    "bound frames": ["append", "counter", "rewrite", "transfer"],
    "matches": ["delete", "merge insert"],
    "conditions": ["insert absent", "merge insert", "upsert"],
}


@pytest.mark.parametrize("without", MUTATIONS)
def test_a_claim_that_is_missing_is_found(writers: Writers, without: str) -> None:
    kind = Kind("Serializable", vectors=True, partitioned=False)
    # whether writers meet is up to the machine
    for seed in range(20):
        if anomalies(writers.play(kind, 32, seed, kinds=MEETING[without], without=without)):
            return
    pytest.fail("nothing was found")


@pytest.mark.long
@pytest.mark.interop
@pytest.mark.parametrize("kind", KINDS_OF_TABLES, ids=str)
def test_so_is_each_of_many_beside_other_engines(writers_and_peers: Writers, kind: Kind) -> None:
    check(writers_and_peers.play(kind, 250, 11), 250)
