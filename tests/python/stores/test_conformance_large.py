"""As `test_conformance`, of much: more objects than a page of a listing has, and files that are sent in parts."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from servers import Gcs
from test_conformance import Place, rows

if TYPE_CHECKING:
    from servers import Server

# the first test of a store fetches its server, once a machine
pytestmark = pytest.mark.timeout(1200)


def test_pages_and_bulk(store: Server) -> None:
    """More objects than a page of a listing and a request that deletes have."""
    count = 1050
    at = Place(store)
    at.write(rows(0, count, p=pa.array(range(count))), partition_by="p")
    at.write(rows(0, 1, p=pa.array([0])), mode="overwrite")
    time.sleep(1.1)
    done = at.open().vacuum(retention_hours=0, allow_short_retention=True)
    assert (len(done.files), done.failed) == (count, [])
    assert at.ids() == [0]
    at.check()


def test_a_large_file_is_sent_in_parts(store: Server) -> None:
    at = Place(store)
    noise = np.random.default_rng(1)
    for _ in range(2):
        at.write(pa.table({"id": noise.integers(0, 2**62, 1_300_000)}))
    total = pc.sum(pc.bit_wise_and(pa.table(at.open().to_arrow())["id"], 0xFFFF)).as_py()
    at.open().optimize()
    (file,) = at.open().file_list()
    assert file["size"] > 2 * (8 << 20)
    whole = pa.table(at.open().to_arrow())["id"]
    assert pc.sum(pc.bit_wise_and(whole, 0xFFFF)).as_py() == total
    assert len(whole) == 2_600_000
    if isinstance(store, Gcs):
        assert store.uploads == {}
