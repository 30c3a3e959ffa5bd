"""How Spark lists the files of reads that name them."""

from __future__ import annotations

from typing import Any
from weakref import WeakSet

# explicit files are checked one by one; above this number Spark starts a job with one task a file instead
_LISTING = ("spark.sql.sources.parallelPartitionDiscovery.threshold", "1000000")
_listing: WeakSet[Any] = WeakSet()


def list_quickly(spark: Any) -> None:
    """Sets what reads of a session need that name their files."""
    if spark not in _listing:
        spark.conf.set(*_LISTING)
        _listing.add(spark)
