"""The Spark Connect door: no JVM at hand, the format `delta` comes from the Python Data Source."""

from __future__ import annotations

import warnings
from typing import Any
from weakref import WeakKeyDictionary

from deltaic.spark.datasource import DeltaDataSource

# explicit files are checked one by one; above this number Spark starts a job with one task a file instead
_LISTING = ("spark.sql.sources.parallelPartitionDiscovery.threshold", "1000000")
_PUSHDOWN = "spark.sql.python.filterPushdown.enabled"

_enabled: WeakKeyDictionary[Any, str] = WeakKeyDictionary()


def enable_connect(spark: Any) -> str:
    """Registers the format `delta` with a Spark Connect session and returns the name it got.

    The name is `deltaic` where the server has the Delta JAR, whose `delta` cannot be replaced; a warning
    says so. Filters
    reach the reader from Spark 4.1 on: the session's switch for it is turned on, and must stay on. The
    session's time
    zone at this moment is the one of a `timestampAsOf` without zone. Calling it again does nothing.

    The server's Python must be able to import deltaic.
    """
    if (name := _enabled.get(spark)) is not None:
        return name
    pushdown = _version(spark) >= (4, 1)
    if pushdown:
        spark.conf.set(_PUSHDOWN, "true")
    spark.conf.set(*_LISTING)
    zone = spark.conf.get("spark.sql.session.timeZone")
    name = "delta"
    try:
        spark.dataSource.register(_source(name, zone, pushdown=pushdown))
    except Exception as error:
        if "DATA_SOURCE_ALREADY_EXISTS" not in str(error):
            raise
        name = "deltaic"
        spark.dataSource.register(_source(name, zone, pushdown=pushdown))
        warnings.warn(
            "the server has the Delta JAR, which owns the format `delta`: use the format `deltaic`",
            UserWarning,
            stacklevel=2,
        )
    _enabled[spark] = name
    return name


def _source(name: str, zone: str, *, pushdown: bool) -> type[DeltaDataSource]:
    """The class of one session. Nobody can import it, so it is pickled whole; its base is imported."""
    attributes = {"format_name": name, "time_zone": zone, "push_filters": pushdown}
    return type("SessionDeltaDataSource", (DeltaDataSource,), attributes)


def _version(spark: Any) -> tuple[int, int]:
    major, minor = spark.version.split(".")[:2]
    return int(major), int(minor)
