"""As `test_histories`, of a table on a store behind a network that loses and tears requests and answers."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest
from places import faulty_store
from play import ON_A_STORE, Kind, Writers
from serial_order import anomalies

if TYPE_CHECKING:
    from pathlib import Path

TRANSACTIONS = 60


# fetches and builds the server, once a machine
@pytest.mark.timeout(1200)
@pytest.mark.interop
@pytest.mark.long
def test_each_version_is_one_of_a_serial_run(tmp_path: Path) -> None:
    kind = Kind("WriteSerializable", vectors=False, partitioned=False)
    with faulty_store(tmp_path, 3) as place, Writers(ON_A_STORE.split(","), tmp_path, place) as writers:
        history = writers.play(kind, TRANSACTIONS, 7)
        assert place.network is not None
        assert place.network.injected > TRANSACTIONS
    assert [str(one) for one in anomalies(history)] == []
    assert len({one.txn.rsplit("-", 1)[0] for one in history.attempts}) == TRANSACTIONS
    outcomes = Counter(one.outcome for one in history.attempts)
    # what failed is not in the log, or it is an anomaly; nearly all is done in spite of the network
    assert outcomes["failed"] + outcomes["unknown"] < TRANSACTIONS / 10, outcomes
