"""The settings of a session that delta-spark reads when it writes, and that are followed here, too.

`known_settings` has them all, with those that are refused and those that have nothing to say here.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from deltaic import _core, allowed_locations, time_travel, times
from deltaic.exceptions import InvalidArgumentError, UnsupportedError
from deltaic.spark.session.jvm import java_method
from deltaic.spark.session.kind import is_connect, is_local, served_name
from deltaic.spark.session.known_settings import refused_of
from deltaic.spark.session.time_zone import TIME_ZONE

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

MOST = (1 << 63) - 1
"""The largest whole number that a setting or an option may have."""
_DELTA = "spark.databricks.delta."
_USER_METADATA = _DELTA + "commitInfo.userMetadata"
_DEFAULTS = _DELTA + "properties.defaults."
_TXN_VERSION = _DELTA + "write.txnVersion"
_OVERWRITE_MODE = "spark.sql.sources.partitionOverwriteMode"
_PARQUET = "parquet."
_HADOOP = "spark.hadoop."
_HADOOPS_PARQUET = _HADOOP + _PARQUET
_FILE_SYSTEMS = (
    "fs.s3a.",
    "fs.azure.",
    "fs.gs.",
    "fs.viewfs.",
    "fs.defaultFS",
    "dfs.",
    "hadoop.security.authentication",
    "hadoop.security.key.provider.path",
)
_ALLOW_STALE = "spark.deltaic.universalFormat.allowStale"
_ALLOWED_LOCATIONS = "spark.deltaic.allowedLocations"
_CREDENTIALS = "spark.deltaic.credentials"
"""The name of the function that gives the credentials of stores: see `give_credentials`."""
_CLUSTER_BYTES = "spark.deltaic.optimize.clusterBytes"
_DML_CLUSTER_BYTES = "spark.deltaic.dml.clusterBytes"
_VACUUM_CLUSTER_FILES = "spark.deltaic.vacuum.clusterFiles"
_FOOTERS_CLUSTER_FILES = "spark.deltaic.footers.clusterFiles"
_TASK_MEMORY = "spark.deltaic.optimize.taskMemory"
# of sessions of Spark Connect whose server does not serve them
_of_clients: WeakKeyDictionary[Any, str] = WeakKeyDictionary()
_SIZE = re.compile(r"(?P<number>\d+)(?P<unit>[kmgt])?i?b?")
OUT_OF_RANGE = _DELTA + "changeDataFeed.timestampOutOfRange.enabled"
"""Whether changes of versions and times after the newest are none, instead of an error."""


@dataclass(frozen=True)
class Settings:
    """The settings of a session for writes."""

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
    arbitrary_properties: bool = False
    """`spark.databricks.delta.allowArbitraryProperties.enabled`."""
    compression: str | None = None
    """`spark.sql.parquet.compression.codec`; None leaves it to the table."""
    max_records_per_file: int | None = None
    """`spark.sql.files.maxRecordsPerFile`."""
    parquet: dict[str, str] = field(default_factory=dict)
    """`parquet.*`, of the session and of Hadoop: settings of Parquet's own writer."""
    compaction: dict[str, int] = field(default_factory=dict)
    """`spark.databricks.delta.autoCompact.*`: when files are compacted after a commit, as `_core` names it."""
    without_vectors: frozenset[str] = frozenset()
    """The operations that `spark.databricks.delta.*.deletionVectors.persistent` takes deletion vectors from."""
    dynamic_allowed: bool = True
    """`spark.databricks.delta.dynamicPartitionOverwrite.enabled`."""
    replacing_refused: frozenset[str] = frozenset()
    """The options that `spark.databricks.delta.*.dataframe.writer.enabled` refuses."""
    store: dict[str, str] = field(default_factory=dict)
    """Options of every store: `spark.deltaic.universalFormat.allowStale`, `spark.deltaic.allowedLocations`, and the
    settings of Hadoop's file systems."""

    @classmethod
    def of(cls, spark: Any, operation: str = "write") -> Settings:
        """The settings as they are now, for an operation of `known_settings`.

        Raises:
            InvalidArgumentError: for a value that makes no sense.
            UnsupportedError: for a setting that the operation would ignore.
        """
        return cls.read(_all(spark), operation)

    @classmethod
    def read(cls, given: Mapping[str, str], operation: str = "write") -> Settings:
        """From settings by their names; others may be among them.

        Raises:
            InvalidArgumentError: for a value that makes no sense.
            UnsupportedError: for a setting that the operation would ignore.
        """
        _refuse(given, operation)
        hadoops = {
            name.removeprefix(_HADOOP): value
            for name, value in given.items()
            if name.startswith(_HADOOPS_PARQUET)
        }
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
            arbitrary_properties=_switch(given, _DELTA + "allowArbitraryProperties.enabled") is True,
            compression=given.get("spark.sql.parquet.compression.codec"),
            max_records_per_file=_number(given, "spark.sql.files.maxRecordsPerFile"),
            parquet=hadoops | {n: v for n, v in given.items() if n.startswith(_PARQUET)},
            compaction=_compaction(given),
            without_vectors=frozenset(
                name
                for name in ("delete", "update", "merge")
                if _switch(given, f"{_DELTA}{name}.deletionVectors.persistent") is False
            ),
            dynamic_allowed=_switch(given, _DELTA + "dynamicPartitionOverwrite.enabled") is not False,
            replacing_refused=frozenset(
                name
                for name in ("replaceOn", "replaceUsing")
                if _switch(given, f"{_DELTA}{name}.dataframe.writer.enabled") is False
            ),
            store=of_store(given),
        )

    def files(
        self,
        compression: str | None = None,
        max_records_per_file: int | None = None,
        parquet: Mapping[str, str] | None = None,
    ) -> _core._FileChoices:
        """The settings of data files for `_core`; what is given here takes precedence over the session."""
        compression = self.compression if compression is None else compression
        most_rows = self.max_records_per_file if max_records_per_file is None else max_records_per_file
        return {
            "compression": compression or None,
            "max_records_per_file": most_rows or None,
            "parquet": dict(parquet or {}),
            "session_parquet": self.parquet,
            "compact_min_files": self.compaction.get("min_files"),
            "compact_target_size": self.compaction.get("target_size"),
            "compact_small_size": self.compaction.get("small_size"),
            "compact_most_partitions": self.compaction.get("most_partitions"),
        }

    def storage(self, given: Mapping[str, str] | None) -> dict[str, str]:
        """The options of a store, with what the session allows there."""
        return {**self.store, **(given or {})}

    def end_txn(self, spark: Any) -> None:
        """Takes the version of the application away from the session, if it is for one commit only."""
        if self.txn is not None and self.txn_ends:
            spark.conf.unset(_TXN_VERSION)


def user_metadata(spark: Any, operation: str) -> str | None:
    """`Settings.user_metadata` alone, for an operation of `known_settings`.

    Raises:
        UnsupportedError: for a setting that the operation would ignore.
    """
    given = _all(spark)
    _refuse(given, operation)
    return given.get(_USER_METADATA)


def of_store(given: Mapping[str, str]) -> dict[str, str]:
    """The settings of a session for every store, as storage options."""
    said = {}
    if _switch(given, _ALLOW_STALE) is True:
        said["allow_stale_universal_format"] = "true"
    if _ALLOWED_LOCATIONS in given:
        said[allowed_locations.OPTION] = given[_ALLOWED_LOCATIONS]
    if _CREDENTIALS in given:
        said[_core.SESSION_CREDENTIALS] = given[_CREDENTIALS]
    for name, value in given.items():
        hadoops = name.removeprefix(_HADOOP)
        if hadoops.startswith(_FILE_SYSTEMS):
            said[hadoops] = value
    return said


def storage(spark: Any, given: Mapping[str, str]) -> dict[str, str]:
    """The options of a store, with what the session allows there."""
    if is_connect(spark):
        said = _told(spark)
    else:
        said = json.loads(java_method(spark, "SessionSettings", "ofStores")(spark._jsparkSession))
    return {**of_store(said), **given}


def give_credentials(spark: Any, name: str) -> None:
    """Sets which function gives the credentials of the stores of a session's tables, by its name in `_core`."""
    if is_connect(spark) and served_name(spark) is None:
        # a server does not tell its clients settings of such a name
        _of_clients[spark] = name
    else:
        spark.conf.set(_CREDENTIALS, name)


def allows_arbitrary(spark: Any) -> bool:
    """`Settings.arbitrary_properties` alone."""
    return str(spark.conf.get(_DELTA + "allowArbitraryProperties.enabled", "false")).lower() == "true"


def assumes_if_exists(spark: Any) -> bool:
    """`spark.databricks.delta.constraints.assumesDropIfExists.enabled`."""
    return str(spark.conf.get(_DELTA + "constraints.assumesDropIfExists.enabled", "false")).lower() == "true"


def vacuum_mode(spark: Any) -> str:
    """The mode of a vacuum without one: `spark.databricks.delta.vacuum.lite.enabled`."""
    lite = str(spark.conf.get(_DELTA + "vacuum.lite.enabled", "false")).lower() == "true"
    return "lite" if lite else "full"


def checks_retention(spark: Any) -> bool:
    """`spark.databricks.delta.retentionDurationCheck.enabled`: whether a vacuum keeps to the retention of the table."""
    return str(spark.conf.get(_DELTA + "retentionDurationCheck.enabled", "true")).lower() != "false"


def lowers_marks(spark: Any) -> bool:
    """`spark.databricks.delta.identityColumn.allowSyncIdentityToLowerHighWaterMark.enabled`."""
    name = _DELTA + "identityColumn.allowSyncIdentityToLowerHighWaterMark.enabled"
    return str(spark.conf.get(name, "false")).lower() == "true"


def checks_zorder_statistics(spark: Any) -> bool:
    """`spark.databricks.delta.optimize.zorder.checkStatsCollection.enabled`."""
    return bool(spark.conf.get(_DELTA + "optimize.zorder.checkStatsCollection.enabled", "true") != "false")


def moment(spark: Any, path: str, text: str) -> datetime:
    """The time of a text, in the time zone of the session if it names none.

    Raises:
        InvalidTimeTravelError: it says none.
    """
    zone = times.zone_of(spark.conf.get(TIME_ZONE))
    return times.from_millis(time_travel.millis(path, text, zone))


def _all(spark: Any) -> Mapping[str, str]:
    if is_connect(spark):
        return _told(spark)
    found: dict[str, str] = json.loads(java_method(spark, "SessionSettings", "of")(spark._jsparkSession))
    return found


def _told(spark: Any) -> dict[str, str]:
    """What the server of a session of Spark Connect tells of its settings, and what is known here alone."""
    told: dict[str, str] = dict(spark.conf.getAll)
    if spark in _of_clients:
        told[_CREDENTIALS] = _of_clients[spark]
    return told


def refuse(spark: Any, operation: str) -> None:
    """Checks that the session sets nothing that an operation would ignore.

    Raises:
        UnsupportedError: it does, by the name of the setting.
    """
    _refuse(_all(spark), operation)


def _refuse(given: Mapping[str, str], operation: str) -> None:
    refused = refused_of(given, operation)
    if refused is not None:
        name, value, why = refused
        what = f"the setting `{name}` as `{value}`"
        raise UnsupportedError(f"{what} is not supported: {why}", path="", what=what)


def of_streams(spark: Any) -> dict[str, str]:
    """The settings of the session for the streams that it reads, as `_core.StreamSource` takes them.

    Raises:
        UnsupportedError: for a setting that a stream would ignore.
    """
    given = _all(spark)
    _refuse(given, "stream")
    names = (_DELTA + "streaming.", _DELTA + "typeWidening.")
    asked = {name: value for name, value in given.items() if name.startswith(names) or name == OUT_OF_RANGE}
    return {name.removeprefix(_DELTA): value for name, value in asked.items()}


def may_keep_schemas_anywhere(spark: Any) -> bool:
    """`spark.databricks.delta.streaming.allowSchemaLocationOutsideCheckpointLocation`."""
    name = _DELTA + "streaming.allowSchemaLocationOutsideCheckpointLocation"
    return str(spark.conf.get(name, "false")).lower() == "true"


def optimize_rules(spark: Any) -> dict[str, Any]:
    """The settings of the session for an optimize, as the arguments of `deltaic.Table.optimize`.

    Raises:
        InvalidArgumentError: for a value that makes no sense.
    """
    given = _all(spark)
    ratio = given.get(_DELTA + "optimize.maxDeletedRowsRatio")
    said = {
        "target_size": _number(given, _DELTA + "optimize.maxFileSize"),
        "min_size": _number(given, _DELTA + "optimize.minFileSize"),
        "max_deleted_ratio": None if ratio is None else float(ratio),
    }
    return {name: value for name, value in said.items() if value is not None}


def cluster_bytes(spark: Any) -> int:
    """`spark.deltaic.optimize.clusterBytes`: bytes of files from which an optimize works in Spark's tasks.

    Raises:
        InvalidArgumentError: for a value that makes no sense.
    """
    # tasks of a local session share this machine with this process, which uses all cores, too
    return _size_by_session(spark, _CLUSTER_BYTES, local="4g", otherwise="1g")


def dml_cluster_bytes(spark: Any) -> int:
    """`spark.deltaic.dml.clusterBytes`: bytes of files above which rows are changed in Spark's tasks.

    Raises:
        InvalidArgumentError: for a value that makes no sense.
    """
    # the core has the cores of a local session, too, and needs fewer of them; a cluster has more
    return _size_by_session(spark, _DML_CLUSTER_BYTES, local="64g", otherwise="256m")


def _size_by_session(spark: Any, name: str, *, local: str, otherwise: str) -> int:
    """A size that a session sets, or the default of its kind."""
    here = not is_connect(spark) and is_local(spark)
    return _size(name, spark.conf.get(name, local if here else otherwise))


def vacuum_cluster_files(spark: Any) -> int:
    """`spark.deltaic.vacuum.clusterFiles`: files from which a vacuum works in Spark's tasks.

    Raises:
        InvalidArgumentError: for a value that makes no sense.
    """
    return _size(_VACUUM_CLUSTER_FILES, spark.conf.get(_VACUUM_CLUSTER_FILES, "100000"))


def footers_cluster_files(spark: Any) -> int:
    """`spark.deltaic.footers.clusterFiles`: files whose footers a conversion or verification reads in Spark's tasks.

    Raises:
        InvalidArgumentError: for a value that makes no sense.
    """
    return _size(_FOOTERS_CLUSTER_FILES, spark.conf.get(_FOOTERS_CLUSTER_FILES, "20000"))


def task_memory(spark: Any) -> int:
    """`spark.deltaic.optimize.taskMemory`: bytes of memory of one task that sorts rows.

    Raises:
        InvalidArgumentError: for a value that makes no sense.
    """
    return _size(_TASK_MEMORY, spark.conf.get(_TASK_MEMORY, "1g"))


def _size(name: str, text: str) -> int:
    found = _SIZE.fullmatch(text.strip().lower())
    if found is None:
        raise InvalidArgumentError.of(name, f"`{text}` is not a number such as 1073741824 or 1g")
    return int(found["number"]) << (10 * " kmgt".index(found["unit"] or " "))


def _compaction(given: Mapping[str, str]) -> dict[str, int]:
    said = {
        "min_files": _number(given, _DELTA + "autoCompact.minNumFiles"),
        "target_size": _number(given, _DELTA + "autoCompact.maxFileSize"),
        "small_size": _number(given, _DELTA + "autoCompact.minFileSize"),
        "most_partitions": _number(given, _DELTA + "autoCompact.maxNumModifiedPartitions"),
    }
    return {name: value for name, value in said.items() if value is not None}


def whole(name: str, text: str, least: int | None = None) -> int:
    """A whole number of a setting or an option.

    Raises:
        InvalidArgumentError: it is none, or below `least` or above `MOST`.
    """
    number: int | None
    try:
        number = int(text)
    except ValueError:
        number = None
    if number is None or (least is not None and number < least):
        bound = "" if least is None else f" of at least {least}"
        raise InvalidArgumentError.of(name, f"`{text}` is not a whole number{bound}")
    if number > MOST:
        raise InvalidArgumentError.of(name, f"`{text}` is more than {MOST}")
    return number


def _number(given: Mapping[str, str], name: str) -> int | None:
    """A whole number above 0; others are ignored, as in Spark."""
    text = given.get(name)
    if text is None:
        return None
    number = whole(name, text)
    return number if number > 0 else None


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
        error = InvalidArgumentError.of(_TXN_VERSION, "and txnAppId go together: set both, or none")
        raise error.named("DELTA_INVALID_IDEMPOTENT_WRITES_OPTIONS")
    return app, whole(_TXN_VERSION, text, 0)
