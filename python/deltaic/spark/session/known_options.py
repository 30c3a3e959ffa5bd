"""Every option and property of a table that delta-spark knows, and what deltaic does with it: as `known_settings`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deltaic import _core
from deltaic.spark.session.known_settings import FEATURES, OTHER_FORMATS, SPARKS_REFUSED, Refused

if TYPE_CHECKING:
    from collections.abc import Mapping

OPTIONS_FOLLOWED: Mapping[str, str] = {
    "compression": "Of a write: codec of the data files; also as `parquet.compression`.",
    "maxRecordsPerFile": "Of a write: most rows of a data file.",
    "parquet.writer.version": "Of a write, as all `parquet.*`: see below.",
    "mergeSchema": "Of a write: adds columns that the table lacks.",
    "overwriteSchema": "Of an overwrite: replaces the schema and the partitioning by those of the rows.",
    "replaceWhere": "Of an overwrite: the condition that selects the rows to replace.",
    "replaceUsing": "Of an overwrite: columns by which its rows replace those of the table.",
    "replaceOn": "Of an overwrite: the condition by which its rows replace those of the table.",
    "targetAlias": "Of an overwrite with `replaceOn` or `replaceWhere`: name of the table in the condition.",
    "partitionOverwriteMode": "Of an overwrite: `dynamic` replaces only the partitions of its rows.",
    "userMetadata": "Of a write: text for the history.",
    "optimizeWrite": "Of a write: moves the rows of a partition into few tasks before they are written.",
    "dataChange": "Of a write: `false` states that the rows are only rearranged.",
    "txnAppId": "Of a write, with `txnVersion`: skips a version that the table has recorded.",
    "txnVersion": "See `txnAppId`.",
    "path": "Where the table is.",
    "checkpointLocation": "Of a stream: where Spark keeps its progress.",
    "queryName": "Of a stream.",
    "versionAsOf": "Of a read: the version.",
    "timestampAsOf": "Of a read: the version at a time.",
    "readChangeFeed": "Of a read: changes instead of rows.",
    "readChangeData": "The older name of `readChangeFeed`.",
    "startingVersion": "Of changes and streams: the first version, or `latest`.",
    "startingTimestamp": "Of changes and streams: the time of the first version.",
    "endingVersion": "Of changes: the last version.",
    "endingTimestamp": "Of changes: the time of the last version.",
    "maxFilesPerTrigger": "Of a stream: files per batch.",
    "maxBytesPerTrigger": "Of a stream: bytes per batch.",
    "ignoreDeletes": "Of a stream: ignores commits that only delete rows.",
    "ignoreChanges": "Of a stream: rows that moved to other files come again.",
    "ignoreFileDeletion": "The older name of `ignoreChanges`.",
    "skipChangeCommits": "Of a stream: ignores commits that change rows.",
    "failOnDataLoss": "Of a stream: `false` continues if versions are missing.",
    "excludeRegex": "Of a stream: ignores files whose path matches.",
    "schemaTrackingLocation": "Of a stream: where it records the schemas that it reads with, below its checkpoint.",
    "schemaLocation": "Another name of `schemaTrackingLocation`.",
    "streamingSourceTrackingId": "Of a stream: distinguishes two sources on one table in one query.",
    "allowSourceColumnRename": "Of a stream with `schemaTrackingLocation`: continues after columns were renamed, "
    "`always` or at the given version.",
    "allowSourceColumnDrop": "The same after columns were dropped.",
    "allowSourceColumnTypeChange": "The same after types became wider.",
}
"""Options of reads, writes and streams that have the effect that they have on delta-spark."""

_MISSING = "it is not there yet"

OPTIONS_REFUSED: Mapping[str, Refused] = {
    "usenullintolerantequalitywithdpo": Refused(
        "false", "write", "it is an option of delta-spark's own statements"
    ),
    "spark.sql.parquet.outputtimestamptype": SPARKS_REFUSED["spark.sql.parquet.outputTimestampType"],
}
"""Options that are an error with another value than these; names in lower case."""

OPTIONS_WITHOUT_EFFECT: Mapping[str, str] = {
    "writePartitionColumns": "The table decides whether files contain the partition columns: "
    "`delta.writePartitionColumnsToParquet`. delta-spark ignores the option, too.",
    "__v1_save_as_table_overwrite": "Internal: Spark passes it to delta-spark.",
}
"""Options that change nothing, and why."""


def option_fate(name: str) -> str | None:
    """The effect of an option: `followed`, `refused`, `without effect`, or None if it is unknown."""
    if name in OPTIONS_FOLLOWED:
        return "followed"
    if name.lower() in OPTIONS_REFUSED:
        return "refused"
    return "without effect" if name in OPTIONS_WITHOUT_EFFECT else None


PROPERTIES_REFUSED: Mapping[str, str] = {
    "delta.castIcebergTimeType": OTHER_FORMATS,
    "delta.coordinatedCommits.commitCoordinator-preview": FEATURES,
    "delta.coordinatedCommits.commitCoordinatorConf-preview": FEATURES,
    "delta.coordinatedCommits.tableConf-preview": FEATURES,
    "delta.enableChangeDataCapture": "The older name of `delta.enableChangeDataFeed`: set that.",
    "delta.ignoreIcebergBucketPartition": OTHER_FORMATS,
    "delta.redirectReaderWriter-preview": FEATURES,
    "delta.redirectWriterOnly-preview": FEATURES,
    "delta.universalFormat.enabledFormats": OTHER_FORMATS,
}
"""Properties of tables that cannot be set here."""

PROPERTIES_WITHOUT_EFFECT: Mapping[str, str] = {
    "delta.enableFullRetentionRollback": "It is stored for delta-spark, which does not use it either.",
    "delta.sampleRetentionDuration": "It is stored for delta-spark, which does not use it either.",
    "delta.universalFormat.iceberg.atomicConversion.supported": "It is stored for engines that convert "
    "tables to Iceberg; delta-spark sets it in each new table that is compatible with Iceberg.",
}
"""Properties of tables that can be set and change nothing."""


def property_fate(name: str) -> str | None:
    """The effect of a property: `followed`, `refused`, `without effect`, or None if it is unknown."""
    if name in PROPERTIES_REFUSED:
        return "refused"
    if name in PROPERTIES_WITHOUT_EFFECT:
        return "without effect"
    protocol = ("delta.minReaderVersion", "delta.minWriterVersion", "delta.ignoreProtocolDefaults")
    return "followed" if name in protocol or name in _core.known_properties() else None
