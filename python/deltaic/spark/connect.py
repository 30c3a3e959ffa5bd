"""The Spark Connect door: no JVM at hand, the format `delta` comes from the Python Data Source."""

from __future__ import annotations

import warnings
from typing import Any
from weakref import WeakKeyDictionary

from pyspark.sql.datasource import DataSource

from deltaic.spark.failures import MISSING

# explicit files are checked one by one; above this number Spark starts a job with one task a file instead
_LISTING = ("spark.sql.sources.parallelPartitionDiscovery.threshold", "1000000")

_enabled: WeakKeyDictionary[Any, str] = WeakKeyDictionary()


def enable_connect(spark: Any) -> str:
    """Registers the format `delta` with a Spark Connect session and returns the name it got.

    The name is `deltaic` where the server has the Delta JAR, whose `delta` cannot be replaced; a warning
    says so. The session's time zone at this moment is the one of a `timestampAsOf` without zone. Calling it
    again does nothing.

    The server's Python must be able to import deltaic. The format reads every file of a version and leaves
    filters to Spark: `deltaic.read(spark, path, where=…)` is the one that prunes.
    """
    if (name := _enabled.get(spark)) is not None:
        return name
    spark.conf.set(*_LISTING)
    zone = spark.conf.get("spark.sql.session.timeZone")
    name = "delta"
    try:
        spark.dataSource.register(_source(name, zone))
    except Exception as error:
        if "DATA_SOURCE_ALREADY_EXISTS" not in str(error):
            raise
        name = "deltaic"
        spark.dataSource.register(_source(name, zone))
        warnings.warn(
            "the server has the Delta JAR, which owns the format `delta`: use the format `deltaic`",
            UserWarning,
            stacklevel=2,
        )
    _enabled[spark] = name
    return name


def _source(name: str, zone: str) -> type[DataSource]:
    """The class of one session.

    Nobody can import it, so it is pickled whole. It imports what it stands for when it is used, and so can say
    on a server without deltaic what is missing.
    """
    attributes = {"format_name": name, "time_zone": zone}
    missing = MISSING

    class SessionDeltaDataSource(DataSource):  # type: ignore[misc]  # pyspark has no types
        def __new__(cls, options: dict[str, str]) -> Any:
            try:
                from deltaic.spark.datasource import DeltaDataSource
            except ImportError as error:
                raise RuntimeError(f"{missing} ({error})") from error
            return type(cls.__name__, (DeltaDataSource,), dict(attributes))(options)

        @classmethod
        def name(cls) -> str:
            return name

    return SessionDeltaDataSource
