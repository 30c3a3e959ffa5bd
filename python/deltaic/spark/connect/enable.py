"""Enables a session of Spark Connect: the format `delta` comes from the Python Data Source."""

from __future__ import annotations

import warnings
from typing import Any
from weakref import WeakKeyDictionary

from pyspark.sql.datasource import DataSource

from deltaic.spark.connect.attach import RefusedError, attach
from deltaic.spark.connect.guard import guard
from deltaic.spark.connect.hide_secrets import hide_secrets
from deltaic.spark.session.file_listing import list_quickly
from deltaic.spark.session.kind import served_name
from deltaic.spark.session.settings import OUT_OF_RANGE
from deltaic.spark.session.time_zone import TIME_ZONE
from deltaic.spark.session.worker_errors import MISSING

# what a read or write asks the session for; the format can only know it from before
_SETTINGS = (
    TIME_ZONE,
    "spark.sql.sources.partitionOverwriteMode",
    "spark.databricks.delta.schema.autoMerge.enabled",
    "spark.databricks.delta.commitInfo.userMetadata",
    OUT_OF_RANGE,
    "spark.databricks.delta.allowArbitraryProperties.enabled",
    "spark.deltaic.universalFormat.allowStale",
    "spark.sql.files.maxRecordsPerFile",
    "spark.sql.parquet.compression.codec",
)

_FALLBACK = (
    'format("delta") reads with Python workers; deltaic.sql, deltaic.read, deltaic.save and DeltaTable plan and commit '
    "in this process (docs/spark-connect.md)"
)

_enabled: WeakKeyDictionary[Any, tuple[str, dict[str, str]]] = WeakKeyDictionary()


def enable_connect(spark: Any) -> str:
    """Enables a session of Spark Connect and returns the name of the format: by the bridge, or by a Python data source.

    Where the server does not serve the session, a warning says why, once.
    """
    if (name := served_name(spark)) is not None:
        return name
    if spark not in _enabled:
        try:
            for said in attach(spark, _enable_new):
                warnings.warn(said, UserWarning, stacklevel=3)
        except RefusedError as refused:
            text = f"this Spark Connect server does not serve Delta tables itself: {refused}; {_FALLBACK}"
            warnings.warn(text, UserWarning, stacklevel=3)
        else:
            return str(served_name(spark))
    return _register(spark)


def _enable_new(spark: Any) -> Any:
    enable_connect(spark)
    return spark


def _register(spark: Any) -> str:
    """Registers the Python data source `delta` and returns the name it got.

    The name is `deltaic` where the server has the Delta JAR, whose `delta` cannot be replaced; a warning reports it.
    The format follows the settings that the session has at this moment: its time zone, which is the one of a
    `timestampAsOf` without zone, `spark.sql.sources.partitionOverwriteMode`, and those of delta-spark for merging
    schemas, for user metadata and for changes of a range that is later than the table. Call it again after changing
    one; without a change that does nothing.

    The server's Python must be able to import deltaic. The format reads every file of a version and leaves
    filters to Spark: `deltaic.read(spark, path, where=…)` is the one that prunes.
    """
    found = {key: spark.conf.get(key, None) for key in _SETTINGS}
    settings = {key: value for key, value in found.items() if value is not None}
    name, known = _enabled.get(spark, ("delta", None))
    if known == settings:
        return name
    list_quickly(spark)
    hide_secrets(spark)
    try:
        spark.dataSource.register(_source(name, settings))
    except Exception as error:
        if "DATA_SOURCE_ALREADY_EXISTS" not in str(error):
            raise
        name = "deltaic"
        spark.dataSource.register(_source(name, settings))
        warnings.warn(
            "the server has the Delta JAR, which owns the format `delta`: use the format `deltaic`",
            UserWarning,
            stacklevel=2,
        )
    _enabled[spark] = name, settings
    guard(spark, name)
    return name


def _source(name: str, settings: dict[str, str]) -> type[DataSource]:
    """The class of one session.

    Nobody can import it, so it is pickled whole. It imports the real class when it is used, and so can report on a
    server without deltaic what is missing.
    """
    attributes = {"format_name": name, "settings": settings}
    missing = MISSING

    class SessionDeltaDataSource(DataSource):  # type: ignore[misc]  # pyspark has no types
        def __new__(cls, options: dict[str, str]) -> Any:
            try:
                from deltaic.spark.connect.datasource import DeltaDataSource
            except ImportError as error:
                raise RuntimeError(f"{missing} ({error})") from error
            return type(cls.__name__, (DeltaDataSource,), dict(attributes))(options)

        @classmethod
        def name(cls) -> str:
            return name

    return SessionDeltaDataSource
