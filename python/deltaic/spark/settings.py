"""The settings of a session that delta-spark reads when it writes, and that are followed here, too.

Settings of how delta-spark works, such as `spark.databricks.delta.merge.*` and those of its snapshots and caches, have
nothing to say here: they never change what is in a table.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from deltaic import time_travel, times
from deltaic.exceptions import InvalidArgumentError
from deltaic.spark.bridge.sessions import java_method
from deltaic.spark.frame import is_connect
from deltaic.spark.zoned import TIME_ZONE

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

_DELTA = "spark.databricks.delta."
_USER_METADATA = _DELTA + "commitInfo.userMetadata"
_DEFAULTS = _DELTA + "properties.defaults."
_TXN_VERSION = _DELTA + "write.txnVersion"
_OVERWRITE_MODE = "spark.sql.sources.partitionOverwriteMode"
OUT_OF_RANGE = _DELTA + "changeDataFeed.timestampOutOfRange.enabled"
"""Whether changes of versions and times after the newest are none, instead of an error."""


@dataclass(frozen=True)
class Settings:
    """What a session says of its writes."""

    user_metadata: str | None = None
    """`spark.databricks.delta.commitInfo.userMetadata`."""
    merge_schema: bool = False
    """`spark.databricks.delta.schema.autoMerge.enabled`: of writes and merges."""
    dynamic_partitions: bool = False
    """`spark.sql.sources.partitionOverwriteMode`."""
    optimize_write: bool | None = None
    """`spark.databricks.delta.optimizeWrite.enabled`; None leaves it to the table."""
    auto_compact: bool | None = None
    """`spark.databricks.delta.autoCompact.enabled`; None leaves it to the table."""
    check_replaced: bool = True
    """`spark.databricks.delta.replaceWhere.constraintCheck.enabled`."""
    replace_data_columns: bool = True
    """`spark.databricks.delta.replaceWhere.dataColumns.enabled`."""
    txn: tuple[str, int] | None = None
    """`spark.databricks.delta.write.txnAppId` and `.txnVersion`: what the table has recorded is not done again."""
    txn_ends: bool = False
    """`spark.databricks.delta.write.txnVersion.autoReset.enabled`: the version is for one commit."""
    defaults: dict[str, str] = field(default_factory=dict)
    """`spark.databricks.delta.properties.defaults.*`: properties of new tables that are not given others."""

    @classmethod
    def of(cls, spark: Any) -> Settings:
        """The settings as they are now.

        Raises:
            InvalidArgumentError: for a value that makes no sense.
        """
        return cls.read(_all(spark))

    @classmethod
    def read(cls, given: Mapping[str, str]) -> Settings:
        """From settings by their names; others may be among them.

        Raises:
            InvalidArgumentError: for a value that makes no sense.
        """
        return cls(
            user_metadata=given.get(_USER_METADATA),
            merge_schema=_switch(given, _DELTA + "schema.autoMerge.enabled") is True,
            dynamic_partitions=given.get(_OVERWRITE_MODE, "").lower() == "dynamic",
            optimize_write=_switch(given, _DELTA + "optimizeWrite.enabled"),
            auto_compact=_switch(given, _DELTA + "autoCompact.enabled"),
            check_replaced=_switch(given, _DELTA + "replaceWhere.constraintCheck.enabled") is not False,
            replace_data_columns=_switch(given, _DELTA + "replaceWhere.dataColumns.enabled") is not False,
            txn=_txn(given),
            txn_ends=_switch(given, _TXN_VERSION + ".autoReset.enabled") is True,
            defaults={
                f"delta.{name.removeprefix(_DEFAULTS)}": value
                for name, value in given.items()
                if name.startswith(_DEFAULTS)
            },
        )

    def end_txn(self, spark: Any) -> None:
        """Takes the version of the application away from the session, if it is for one commit only."""
        if self.txn is not None and self.txn_ends:
            spark.conf.unset(_TXN_VERSION)


def user_metadata(spark: Any) -> str | None:
    """`Settings.user_metadata` alone."""
    found: str | None = spark.conf.get(_USER_METADATA, None)
    return found


def checks_retention(spark: Any) -> bool:
    """`spark.databricks.delta.retentionDurationCheck.enabled`: whether a vacuum keeps to the retention of the table."""
    return str(spark.conf.get(_DELTA + "retentionDurationCheck.enabled", "true")).lower() != "false"


def checks_zorder_statistics(spark: Any) -> bool:
    """`spark.databricks.delta.optimize.zorder.checkStatsCollection.enabled`."""
    return bool(spark.conf.get(_DELTA + "optimize.zorder.checkStatsCollection.enabled", "true") != "false")


def moment(spark: Any, path: str, text: str) -> datetime:
    """The time that a text says, in the time zone of the session where it names none.

    Raises:
        InvalidTimeTravelError: it says none.
    """
    try:
        zone = times.zone_of(spark.conf.get(TIME_ZONE))
        return times.from_millis(times.micros(text, zone) // 1000)
    except ValueError as error:
        refusal = time_travel.refusal(path, str(error))
        raise refusal.named("DELTA_TIMESTAMP_INVALID", expr=f"'{text}'") from None


def _all(spark: Any) -> Mapping[str, str]:
    if is_connect(spark):
        settings: dict[str, str] = spark.conf.getAll
        return settings
    found: dict[str, str] = json.loads(java_method(spark, "SessionSettings", "of")(spark._jsparkSession))
    return found


def _switch(given: Mapping[str, str], name: str) -> bool | None:
    text = given.get(name)
    if text is None:
        return None
    if text.strip().lower() not in ("true", "false"):
        raise InvalidArgumentError.of(name, f"`{text}` is neither true nor false")
    return text.strip().lower() == "true"


def _txn(given: Mapping[str, str]) -> tuple[str, int] | None:
    app, text = given.get(_DELTA + "write.txnAppId"), given.get(_TXN_VERSION)
    if app is None and text is None:
        return None
    if app is None or text is None:
        raise InvalidArgumentError.of(_TXN_VERSION, "and txnAppId go together: set both, or none")
    try:
        return app, int(text)
    except ValueError:
        raise InvalidArgumentError.of(_TXN_VERSION, f"`{text}` is not a whole number") from None
