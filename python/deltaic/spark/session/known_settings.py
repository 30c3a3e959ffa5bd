"""Every setting and option that delta-spark knows, and what deltaic does with it: the one table of them.

`docs/settings.md` shows it, and a test holds it against what the JAR of delta-spark registers. Names
of settings stand without `spark.databricks.delta.`; a `*` stands for the rest of a name.
"""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

DELTA = "spark.databricks.delta."


@dataclass(frozen=True)
class Refused:
    """A setting that is an error when it says something else than delta-spark does without it."""

    default: str
    """What it says where nobody sets it, in lower case."""
    on: str
    """The operations that raise it, with blanks between; see `OPERATIONS`."""
    why: str


_EVERY_WRITE = "write delete update merge create"
_OLD_BEHAVIOUR = "it brings back a behaviour that delta-spark has mended"

FOLLOWED: Mapping[str, str] = {
    "properties.defaults.*": "Property `delta.*` of each new table that is not given another. An unknown "
    "name is an error. "
    "`ignoreProtocolDefaults` leaves out defaults of features and of the versions of the protocol.",
    "allowArbitraryProperties.enabled": "`true`: properties `delta.*` that nobody knows are taken as "
    "they are; otherwise "
    "they are an error.",
    "optimizeWrite.enabled": "Rows of a partition are gathered in few tasks before they are written; the "
    "option is "
    "`optimizeWrite`, the property `delta.autoOptimize.optimizeWrite`.",
    "lastCommitVersionInSession": "Each commit of the session sets it to its version, on classic sessions.",
    "autoCompact.enabled": "Small files are joined after a commit; the property is "
    "`delta.autoOptimize.autoCompact`.",
    "autoCompact.minNumFiles": "Small files of a partition from which on they are joined after a commit.",
    "autoCompact.maxFileSize": "Bytes of a file that is joined after a commit.",
    "autoCompact.minFileSize": "Files up to so many bytes are small after a commit.",
    "autoCompact.maxNumModifiedPartitions": "Partitions that are looked after at a commit.",
    "optimize.maxFileSize": "Bytes of the files that OPTIMIZE makes; before `delta.targetFileSize` of "
    "the table.",
    "optimize.minFileSize": "OPTIMIZE joins files below so many bytes.",
    "optimize.maxDeletedRowsRatio": "OPTIMIZE writes files again of which more than this share of the "
    "rows is deleted.",
    "optimize.zorder.checkStatsCollection.enabled": "`false`: a Z-order by columns without statistics is "
    "no error.",
    "schema.autoMerge.enabled": "Writes and merges add columns to the table; the option is "
    "`mergeSchema`, for merges "
    "`withSchemaEvolution()`.",
    "replaceOn.dataframe.writer.enabled": "`false`: the option `replaceOn` is an error.",
    "replaceUsing.dataframe.writer.enabled": "`false`: the option `replaceUsing` is an error.",
    "replaceWhere.constraintCheck.enabled": "`false`: rows that `replaceWhere` would not replace are "
    "written all the same.",
    "replaceWhere.dataColumns.enabled": "`false`: `replaceWhere` on other columns than partition columns "
    "is an error.",
    "dynamicPartitionOverwrite.enabled": "`false`: an overwrite by dynamic partitions is an error.",
    "commitInfo.userMetadata": "Text that the history shows with each commit.",
    "write.txnAppId": "With `write.txnVersion`: a version of the application that the table has recorded "
    "is not written "
    "again; also for merges, updates and deletes.",
    "write.txnVersion": "See `write.txnAppId`.",
    "write.txnVersion.autoReset.enabled": "`true`: the version is for one commit, and then taken off the "
    "session.",
    "retentionDurationCheck.enabled": "`false`: a vacuum may keep less than the table wants to.",
    "vacuum.lite.enabled": "`true`: a vacuum that does not say how goes by the log instead of listing "
    "the folder.",
    "changeDataFeed.timestampOutOfRange.enabled": "`true`: changes of versions and times after the "
    "newest are none, and a "
    "stream may begin there, instead of an error.",
    "constraints.assumesDropIfExists.enabled": "`true`: DROP CONSTRAINT of one that is not there is no "
    "error.",
    "delete.deletionVectors.persistent": "`false`: DELETE writes files again, also where the table has "
    "deletion vectors.",
    "update.deletionVectors.persistent": "`false`: so does UPDATE.",
    "merge.deletionVectors.persistent": "`false`: so does MERGE.",
    "alterLocation.bypassSchemaCheck": "`true`: `ALTER TABLE … SET LOCATION` takes a table with other columns.",
    "identityColumn.allowSyncIdentityToLowerHighWaterMark.enabled": "`true`: SYNC IDENTITY may move a mark back.",
    "streaming.allowSourceColumnRename": "`always`: streams with `schemaTrackingLocation` go on after columns of their "
    "table were renamed; with `.ckpt_` and the number that the error says only that stream, or only up to a version.",
    "streaming.allowSourceColumnDrop": "The same after columns were dropped.",
    "streaming.allowSourceColumnRenameAndDrop": "The same after both.",
    "streaming.allowSourceColumnTypeChange": "The same after types became wider.",
    "streaming.schemaTracking.enabled": "`false`: `schemaTrackingLocation` is an error.",
    "streaming.schemaTracking.mergeConsecutiveSchemaChanges.enabled": "`false`: changes of the schema without rows "
    "between them end a stream with `schemaTrackingLocation` one by one.",
    "streaming.schemaTracking.metadataPathCheck.enabled": "`false`: a query takes the log of schemas of another one.",
    "streaming.allowSchemaLocationOutsideCheckpointLocation": "`true`: `schemaTrackingLocation` may be anywhere.",
    "streaming.ignoreInternalMetadataForSchemaChange.enabled": "`false`: what only writers ask of a column, "
    "such as the mark of an identity, is a change of the schema for a stream with `schemaTrackingLocation`.",
    "typeWidening.enableStreamingSchemaTracking": "`true`: a type that became wider ends a stream without "
    "`schemaTrackingLocation`.",
    "stalenessLimit": "How old an answer may be, such as `5s`: for that long after a look at the log a query does "
    "without one. A session always sees its own commits.",
}
"""What has the effect that it has on delta-spark."""

REFUSED: Mapping[str, Refused] = {
    "alterTable.bypassCharVarcharToStringFix": Refused("false", "alter", _OLD_BEHAVIOUR),
    "alterTable.dropColumn.enabled": Refused("true", "alter", "columns can always be dropped"),
    "catalog.update.enabled": Refused(
        "false", f"{_EVERY_WRITE} alter", "the schema is in the log, not in the catalog"
    ),
    "changeDataFeed.allowTimeTravelOptionsForSchema": Refused(
        "false", "changes", "changes have the newest schema"
    ),
    "changeDataFeed.defaultSchemaModeForColumnMappingTable": Refused(
        "endversion", "changes", "changes have the schema of their end"
    ),
    "changeDataFeed.unsafeBatchReadOnIncompatibleSchemaChanges.enabled": Refused(
        "false", "changes", "rows of another schema would be read wrongly"
    ),
    "checkConstraints.validation.enabled": Refused("log_only", _EVERY_WRITE, "the check is another one here"),
    "clone.replaceEnabled": Refused("true", "clone", "a clone may always replace"),
    "clusteredTable.numClusteringColumnsLimit": Refused("4", "create alter write", "the limit is 4"),
    "columnMapping.allowRemoval": Refused("true", "alter", "the mapping can always be taken away"),
    "columnMapping.reuseColumnMetadataDuringOverwrite": Refused(
        "true", "write create", "columns that stay keep their ids and names in the files"
    ),
    "columnMapping.reuseColumnMetadataDuringReplace": Refused(
        "true", "write create", "columns that stay keep their ids and names in the files"
    ),
    "columnMapping.stripMetadata": Refused("true", f"{_EVERY_WRITE} alter", _OLD_BEHAVIOUR),
    "convert.metadataCheck.enabled": Refused(
        "true", "convert", "a folder is converted, not an entry of the catalog"
    ),
    "convert.partitionValues.ignoreCastFailure": Refused(
        "false", "convert", "a value that is none of its type is an error"
    ),
    "convert.useCatalogPartitions": Refused(
        "true", "convert", "a folder is converted, not an entry of the catalog"
    ),
    "convert.useCatalogSchema": Refused(
        "true", "convert", "a folder is converted, not an entry of the catalog"
    ),
    "convert.useMetadataLog": Refused("true", "convert", "the folder is listed as it is"),
    "convertEmptyToNullForStringPartitionCol": Refused(
        "true", _EVERY_WRITE, "an empty partition value is null in the log"
    ),
    "createEmptySchemaTable.enabled": Refused("true", "create", "it does not decide that here"),
    "deltaTableBuilder.forceTablePropertyLowerCase.enabled": Refused(
        "false", "create", "names stay as they are given"
    ),
    "dml.insert.dfByName.allowImplicitCasts": Refused(
        "true", "write", "values are cast as Spark stores them"
    ),
    "generatedColumn.allowNullableIngest.enabled": Refused(
        "true", _EVERY_WRITE, "columns that the table makes may be left out"
    ),
    "generatedColumn.validateOnWrite.enabled": Refused(
        "log_only", _EVERY_WRITE, "the check is another one here"
    ),
    "identityColumn.enabled": Refused("true", _EVERY_WRITE, "identity columns are always written"),
    "inCommitTimestamp.retainEnablementInfoFix.enabled": Refused(
        "true", f"{_EVERY_WRITE} alter", _OLD_BEHAVIOUR
    ),
    "insert.byName.schemaEvolution.enabled": Refused(
        "true", "write", "INSERT … BY NAME evolves the schema as asked"
    ),
    "insert.preserveNullSourceStructs": Refused("true", "write", _OLD_BEHAVIOUR),
    "legacy.storeOptionsAsProperties": Refused("false", "write create", _OLD_BEHAVIOUR),
    "merge.insert.fixCaseSensitiveDuplicateColumns": Refused("true", "merge", _OLD_BEHAVIOUR),
    "merge.preserveNullSourceStructs": Refused("true", "merge", _OLD_BEHAVIOUR),
    "merge.preserveNullSourceStructs.updateStar": Refused("true", "merge", _OLD_BEHAVIOUR),
    "replace.protocolDowngradeAllowed": Refused(
        "false", "write create", "a table that is replaced keeps its features"
    ),
    "replaceWhere.dataColumnsWithCDF.enabled": Refused(
        "true", "write", "the rows that go and come are changes always"
    ),
    "resolveMergeUpdateStructsByName.enabled": Refused("true", "update merge", _OLD_BEHAVIOUR),
    "restore.protocolDowngradeAllowed": Refused("false", "restore clone", "a table keeps its features"),
    "rowTracking.backfill.enabled": Refused(
        "true", "alter", "rows get their ids when row tracking is enabled"
    ),
    "rowTracking.ignoreSuspension": Refused(
        "false", f"{_EVERY_WRITE} alter", "it is for tests of delta-spark"
    ),
    "schema.removeExistsDefault": Refused("true", "create alter", _OLD_BEHAVIOUR),
    "schema.removeSparkInternalMetadata": Refused("true", _EVERY_WRITE, _OLD_BEHAVIOUR),
    "schemaEvolution.merge.fixNestedStructAlignment": Refused("true", "merge", _OLD_BEHAVIOUR),
    "skipRecordingEmptyCommits": Refused("true", _EVERY_WRITE, "a commit that does nothing is not made"),
    "streaming.createDataFrame.dropNullColumns": Refused(
        "false", "stream", "a stream has the columns of its table"
    ),
    "streaming.unsafeRead*": Refused("false", "stream", "rows of another schema would be read wrongly"),
    "tableFeatures.fastDropFeature.enabled": Refused(
        "true", "drop_feature", "features are dropped as delta-spark does it now"
    ),
    "typeWidening.allowAutomaticWidening": Refused(
        "always", _EVERY_WRITE, "types are widened where the table allows it"
    ),
    "typeWidening.allowIntegralDecimalCoercion": Refused(
        "true", _EVERY_WRITE, "types are widened where the table allows it"
    ),
    "typeWidening.allowTypeChangeStreamingDeltaSource": Refused(
        "true", "stream", "a stream takes types that widen"
    ),
    "updateAndMergeCastingFollowsAnsiEnabledFlag": Refused(
        "false", "update merge", "values are cast as `spark.sql.storeAssignmentPolicy` says"
    ),
    "variant.forceUsePreviewTableFeature": Refused(
        "false", _EVERY_WRITE, "tables get the feature that is final"
    ),
    "write.dataFilesToSubdir": Refused("false", _EVERY_WRITE, "files go into folders of their partitions"),
    "write.utcTimestampPartitionValues": Refused("true", _EVERY_WRITE, "partition values are those of UTC"),
}
"""What would change what is in a table, or an answer, and is not done here: an error where it says so."""

_CHECKSUMS = (
    "How delta-spark makes and checks checksum files. deltaic writes one at each commit and checks what it "
    "reads."
)
_CHECKPOINTS = (
    "How delta-spark makes and reads checkpoints; what is in them, the properties of the table say."
)
_STAYS = (
    "It is there to turn a check off, or to allow what a check forbids. The check is always made here: "
    "what it forbids is "
    "an error."
)
_STRICTER = (
    "A check that delta-spark makes on itself, on what it is about to commit. deltaic checks "
    "each commit always."
)
_SKIPPING = "How files are found that a query needs not read. It never changes an answer."
_STATISTICS = "How statistics are made. They are written for the columns that the table names, always."
_MERGES = (
    "How delta-spark goes about a merge. deltaic computes the source once, which then cannot "
    "change, and prunes by its keys."
)
_INSIDE = "Threads, caches, logs and listings of delta-spark itself."
_CONFLICTS = "How delta-spark tries a commit again. docs/conflicts.md says what deltaic does."
_TESTS = "For the tests of delta-spark."
OTHER_FORMATS = (
    "Metadata of Iceberg and Hudi is not written, and their tables are not converted. A table that has "
    "such metadata is not "
    "written to: see below."
)
FEATURES = (
    "For a table feature that deltaic does not have: such a table is not written to, and not read where it must "
    "not be."
)
_DOORS = "Which of the ways into Spark delta-spark takes. deltaic has its own."
_METRICS = "What delta-spark measures. The history always has the metrics of each operation."
_LAYOUT = "How rows and files are divided among tasks, batches and cubes. No row changes by it."

WITHOUT_EFFECT: Mapping[str, str] = {
    "allFilesInCrc.*": _CHECKSUMS,
    "checksum*": _CHECKSUMS,
    "domainMetadatasInCrc.*": _CHECKSUMS,
    "fileSizeHistogramMetrics.enabled": _CHECKSUMS,
    "incremental.commit.*": _CHECKSUMS,
    "readProtocolAndMetadataFromChecksum.enabled": _CHECKSUMS,
    "setTransactionsInCrc.*": _CHECKSUMS,
    "versionChecksum.*": _CHECKSUMS,
    "writeChecksumFile.*": _CHECKSUMS,
    "checkpoint.*": _CHECKPOINTS,
    "checkpointSchema.*": _CHECKPOINTS,
    "checkpointV2.*": _CHECKPOINTS,
    "lastCheckpoint.*": _CHECKPOINTS,
    "statsAsStructInCheckpoint.forcedDisabled": _CHECKPOINTS,
    "alter.replaceColumns.safe.enabled": _STAYS,
    "alterTable.changeColumn.checkExpressions": _STAYS,
    "changeColumn.*": _STAYS,
    "checkLatestSchemaOnRead": _STAYS,
    "columnMapping.checkMaxColumnId": _STAYS,
    "columnMapping.disallowEnablingWhenColumnMappingMetadataAlreadyExists": _STAYS,
    "constraints.allowUnenforcedNotNull.enabled": _STAYS,
    "duplicateActionCheck.enabled": _STAYS,
    "legacy.allowAmbiguousPathsInCreateTable": _STAYS,
    "liquid.alterColumnAfter.statsSchemaCheck": _STAYS,
    "merge.emptySchemaTargetCheck.enabled": _STAYS,
    "partitionColumnValidity.enabled": _STAYS,
    "schema.typeCheck.enabled": _STAYS,
    "streaming.offsetValidation.enabled": _STAYS,
    "streaming.schemaValidationOnRestart.enabled": _STAYS,
    "streaming.trailingCommitValidation.enabled": _STAYS,
    "tableFeatures.allowMetadataCleanupWhenAllProtocolsSupported": _STAYS,
    "tableFeatures.fastDropFeature.alwaysValidateProtocolInStreaming.enabled": _STAYS,
    "tablePropertyConstraintsCheck.enabled": _STAYS,
    "timeTravel.parsing.strict": _STAYS,
    "typeWidening.allowUnsupportedIcebergTypeChanges": _STAYS,
    "typeWidening.bypass*": _STAYS,
    "vacuum.enforceDeletedFileAndLogRetentionDurationCompatibility": _STAYS,
    "vacuum.relativize.ignoreError": _STAYS,
    "commandInvariantChecks*": _STRICTER,
    "commitValidation.*": _STRICTER,
    "deletionVectors.propagateCloseFailure": _STRICTER,
    "deletionVectors.skipCommitCheck": _STRICTER,
    "emptyFileCheck.throwEnabled": _STRICTER,
    "failOnPartitionValueParsingError": _STRICTER,
    "nullPartitionCheck.throwEnabled": _STRICTER,
    "numRecordsValidation.enabled": _STRICTER,
    "partitionColumnChangeCheck": _STRICTER,
    "alwaysCollectStats.enabled": _SKIPPING,
    "generatedColumn.partitionFilterOptimization.enabled": _SKIPPING,
    "optimizeMetadataQuery.enabled": _SKIPPING,
    "skipping.*": _SKIPPING,
    "stats.limitPushdown.*": _SKIPPING,
    "stats.skipping": _SKIPPING,
    "collectStats.fallbackToInterpretedProjection": _STATISTICS,
    "collectStats.numFilesPerPartition": _STATISTICS,
    "collectStats.skipFloatingPointFromFooter": _STATISTICS,
    "collectStats.useMultiThreadedStatsCollection": _STATISTICS,
    "stats.collect": _STATISTICS,
    "stats.collect.using.tableSchema": _STATISTICS,
    "stats.limitPerVariant": _STATISTICS,
    "merge.*": _MERGES,
    "insertReplaceOnOrUsing.materializeSource": _MERGES,
    "backfill.*": _INSIDE,
    "catalog.update.longFieldTruncationThreshold": _INSIDE,
    "catalog.update.threadPoolSize": _INSIDE,
    "command.fileMaterializationLimit.*": _INSIDE,
    "commit.inconsistentList.maxRetries": _INSIDE,
    "commitMetrics.*": _INSIDE,
    "commitStats.force": _INSIDE,
    "delta.log.*": _INSIDE,
    "deletionVectors.packing.targetSize": _INSIDE,
    "deletionVectors.useMetadataRowIndex": _INSIDE,
    "deltaLog.*": _INSIDE,
    "dynamicPartitionOverwrite.parsePartitionValues": _INSIDE,
    "history.maxKeysPerList": _INSIDE,
    "history.threadPoolSize": _INSIDE,
    "hms.schema.forceAlterTableDataSchema": _INSIDE,
    "import.batchSize.*": _INSIDE,
    "includeTableIdInFileIndexComparison": _INSIDE,
    "internalUdfOptimization.enabled": _INSIDE,
    "isDeltaTable.*": _INSIDE,
    "maxSnapshotLineageLength": _INSIDE,
    "normalizePartitionValuesOnRead": _INSIDE,
    "optimize.zorder.fastInterleaveBits.enabled": _INSIDE,
    "postCommitHook.throwOnError": "What goes wrong after a commit is a `DeltaWarning`, because the "
    "commit stands.",
    "requiredSparkConfsCheck.enabled": "No setting of Spark is required.",
    "snapshot*": _INSIDE,
    "streaming.distributedInitialSnapshot": _INSIDE,
    "streaming.initialSnapshotMaxFiles": _INSIDE,
    "streaming.logSizeInMemoryThreshold": _INSIDE,
    "streaming.sink.implicitCast*": _INSIDE,
    "timeTravel.resolveOnIdentifier.enabled": "A path that ends in `@v1` or `@` and a time is that "
    "version of the table, "
    "unless a table has the whole name.",
    "typeWidening.removeSchemaMetadata": _INSIDE,
    "vacuum.parallelDelete.*": _INSIDE,
    "workAroundColonsInHadoopPaths.enabled": _INSIDE,
    "commit.idempotencyCheck.enabled": _CONFLICTS,
    "commitLock.enabled": _CONFLICTS,
    "conflictChecker.*": _CONFLICTS,
    "conflictDetection.*": _CONFLICTS,
    "featureEnablement.conflictResolution.enabled": _CONFLICTS,
    "maxCommitAttempts": _CONFLICTS,
    "maxNonConflictCommitAttempts": _CONFLICTS,
    "deletionVectors.disableTightBoundOnFileCreationForDevOnly": _TESTS,
    "dummyFileManager.*": _TESTS,
    "tableFeatures.dev.*": _TESTS,
    "tableFeatures.testFeatures.enabled": _TESTS,
    "testOnly.*": _TESTS,
    "clone.iceberg.*": OTHER_FORMATS,
    "collectStats.convertIceberg*": OTHER_FORMATS,
    "convert.iceberg.*": OTHER_FORMATS,
    "hudi.*": OTHER_FORMATS,
    "iceberg.*": OTHER_FORMATS,
    "uniform.*": OTHER_FORMATS,
    "adaptiveMetadataTree.*": FEATURES,
    "amt.*": FEATURES,
    "coordinatedCommits.*": FEATURES,
    "enableTableRedirectFeature": FEATURES,
    "geo.preview.enabled": FEATURES,
    "skipRedirectFeature": FEATURES,
    "spark.sql.delta.sharing.*": FEATURES,
    "variant.disableVariantTableFeatureForSpark40": FEATURES,
    "variantShredding.*": FEATURES,
    "catalog.enableServerSidePlanning": _DOORS,
    "changelogV2.enabled": _DOORS,
    "loadFileSystemConfigsFromDataFrameOptions": "Options `fs.*` reach Spark's writer; the core takes "
    "those of "
    "`object_store`, such as `aws_region`.",
    "v2.enableMode": _DOORS,
    "dmlMetricsFromMetadata.enabled": _METRICS,
    "history.metricsEnabled": _METRICS,
    "insertOverwrite.removeMetrics.enabled": _METRICS,
    "metrics.alwaysReportSomeZeroMetrics": _METRICS,
    "optimize.conditionalIncrementMetric.enabled": _METRICS,
    "replaceWhere.dataColumns.metrics.enabled": _METRICS,
    "autoCompact.earlySkipPartitionTable.enabled": _LAYOUT,
    "autoCompact.maxTablePartitionStats": _LAYOUT,
    "autoCompact.modifiedPartitionsOnly.enabled": _LAYOUT,
    "autoCompact.nonBlindAppend.enabled": _LAYOUT,
    "autoCompact.partitionStatsSize": _LAYOUT,
    "autoCompact.recordPartitionStats.enabled": _LAYOUT,
    "autoCompact.reservePartitions.enabled": _LAYOUT,
    "optimize.batchSize": _LAYOUT,
    "optimize.clustering.*": _LAYOUT,
    "optimize.maxThreads": _LAYOUT,
    "optimize.repartition.enabled": _LAYOUT,
    "optimizeWrite.binSize": _LAYOUT,
    "optimizeWrite.maxShufflePartitions": _LAYOUT,
    "optimizeWrite.numShuffleBlocks": _LAYOUT,
    "rowTracking.backfill.maxNumFiles": _LAYOUT,
    "createDataFrame.dropNullColumns": "Void columns are always there, and hold nulls.",
    "delete.allowExistsSubquery": "Conditions may have subqueries of any kind.",
    "table.parquetV2.timestampOutputType": "Timestamps are stored as microseconds (`TIMESTAMP_MICROS`), "
    "always: `INT96` has no "
    "statistics and `TIMESTAMP_MILLIS` loses digits.",
    "tableFeatures.fastDropFeature.dvTombstoneCountThreshold": _INSIDE,
    "tableFeatures.fastDropFeature.generateDVTombstones.enabled": "Tombstones are always made, so that "
    "no vacuum takes "
    "vectors that a version still needs.",
    "vacuum.enforceTimeTravelWithinDeletedFileRetentionDuration": "A version can be read as long as the "
    "log and its files are "
    "there.",
    "vacuum.logging.enabled": "A vacuum is always in the history.",
    "vacuum.retentionWindowIgnore.enabled": "The retention that a vacuum is given counts.",
}
"""What changes nothing, and why."""

SPARKS_FOLLOWED: Mapping[str, str] = {
    "spark.sql.sources.partitionOverwriteMode": "`dynamic`: an overwrite replaces the partitions that it "
    "has rows of.",
    "spark.sql.parquet.compression.codec": "Codec of data files; the option is `compression`, the property "
    "`delta.parquet.compression.codec`.",
    "spark.sql.files.maxRecordsPerFile": "Rows at which a data file ends; the option is "
    "`maxRecordsPerFile`. OPTIMIZE does not "
    "split by it.",
    "parquet.*": "Settings of Parquet's own writer, of the session or in `spark.hadoop.parquet.*`; as "
    "options and as properties "
    "of the table, too. See below.",
    "spark.sql.session.timeZone": "As everywhere in Spark: rules of the table, conditions and casts "
    "follow it.",
    "spark.sql.ansi.enabled": "As everywhere in Spark: rules of the table, conditions and casts follow it.",
    "spark.sql.storeAssignmentPolicy": (
        "How values are cast to the types of a table's columns. UPDATE and MERGE on Spark Connect do not ask it: what "
        "does not fit is an error there."
    ),
    "spark.sql.files.ignoreMissingFiles": "Spark's scans follow it, so also DataFrames of a table. What "
    "the core reads itself "
    "(`deltaic.Table`, OPTIMIZE, Spark Connect's data source) never leaves a file out.",
    "spark.sql.files.ignoreCorruptFiles": "As `ignoreMissingFiles`.",
    "spark.sql.files.maxPartitionBytes": "Scans are split by it.",
    "spark.sql.files.openCostInBytes": "Scans are split by it.",
    "spark.sql.files.minPartitionNum": "Scans are split by it.",
    "spark.sql.files.maxPartitionNum": "Scans are split by it.",
    "spark.sql.parquet.filterPushdown*": "Scans follow it. It never changes an answer.",
    "spark.sql.parquet.enableVectorizedReader": "Scans follow it. It never changes an answer.",
    "spark.sql.parquet.enableNestedColumnVectorizedReader": "Scans follow it. It never changes an answer.",
    "spark.sql.parquet.enableNullTypeVectorizedReader": "Scans follow it. It never changes an answer.",
    "spark.sql.parquet.reader.respectUnknownTypeAnnotation.enabled": "Scans follow it, as those of delta-spark do.",
    "spark.sql.parquet.recordLevelFilter.enabled": "Scans follow it. It never changes an answer.",
    "spark.sql.parquet.columnarReaderBatchSize": "Scans follow it. It never changes an answer.",
    "spark.sql.parquet.pushdown.inFilterThreshold": "Scans follow it. It never changes an answer.",
    "spark.sql.parquet.datetimeRebaseModeInRead": "Scans follow it, for files that do not say which "
    "calendar they have.",
    "spark.sql.parquet.int96RebaseModeInRead": "Scans follow it, for files that do not say which "
    "calendar they have.",
    "spark.sql.parquet.binaryAsString": "Scans follow it, as those of delta-spark do.",
    "spark.sql.parquet.int96AsTimestamp": "Scans follow it, as those of delta-spark do.",
    "spark.sql.parquet.int96TimestampConversion": "Scans follow it, as those of delta-spark do.",
    "spark.sql.parquet.inferTimestampNTZ.enabled": "Scans follow it, as those of delta-spark do.",
}
"""Settings of Spark itself that have the effect that they have with delta-spark."""

SPARKS_REFUSED: Mapping[str, Refused] = {
    "spark.sql.parquet.outputTimestampType": Refused(
        "int96 timestamp_micros",
        _EVERY_WRITE,
        "`TIMESTAMP_MILLIS` loses digits: timestamps are stored as microseconds",
    ),
}
"""Settings of Spark itself that are an error with another value than these."""

SPARKS_WITHOUT_EFFECT: Mapping[str, str] = {
    "spark.sql.files.archive.reader.enabled": "The files are those of the log.",
    "spark.sql.files.ignoredPathSegmentRegex": "The files are those of the log.",
    "spark.sql.files.ignoreInvalidPartitionPaths": "Partition values come from the log, not from paths.",
    "spark.sql.files.supportSecondOffsetFormat": "It is for formats of text.",
    "spark.sql.parquet.aggregatePushdown": "It is for Spark's second Parquet reader, which delta-spark "
    "does not use either. "
    "Counts come from the log.",
    "spark.sql.parquet.mergeSchema": "The schema is in the log.",
    "spark.sql.parquet.respectSummaryFiles": "The schema is in the log.",
    "spark.sql.parquet.ignoreVariantAnnotation": "The schema is in the log.",
    "spark.sql.parquet.fieldId.*": "Ids of columns are those of the log.",
    "spark.sql.parquet.datetimeRebaseModeInWrite": "Dates and times are stored in the calendar that the "
    "protocol wants "
    "(`CORRECTED`).",
    "spark.sql.parquet.int96RebaseModeInWrite": "No `INT96` is written.",
    "spark.sql.parquet.writeLegacyFormat": "The types in the files are those of the protocol. Values are "
    "the same.",
    "spark.sql.parquet.output.committer.class": "What a write committed is in the log.",
    "spark.sql.parquet.variant.annotateLogicalType.enabled": "The types in the files are those of the "
    "protocol.",
}
"""Settings of Spark itself that change nothing here, and why."""


def operations() -> set[str]:
    """All that refuse a setting."""
    every = (*REFUSED.values(), *SPARKS_REFUSED.values())
    return {operation for refused in every for operation in refused.on.split()}


def stands_for(entry: str, name: str) -> bool:
    """Whether an entry of a table is about a setting."""
    return entry == name or ("*" in entry and fnmatchcase(name, entry))


def refused_of(given: Mapping[str, str], operation: str) -> tuple[str, str, str] | None:
    """Name, value and reason of a setting that an operation must not ignore."""
    for name, value in given.items():
        found = _refused(name)
        if found is None or operation not in found.on.split():
            continue
        if value.strip().lower() not in found.default.split():
            return name, value, found.why
    return None


def fate(name: str) -> str | None:
    """What becomes of a setting, by its full name: `followed`, `refused`, `without effect`, or None."""
    if _found(FOLLOWED, name) or _matches(SPARKS_FOLLOWED, name):
        return "followed"
    if _refused(name) is not None:
        return "refused"
    if _found(WITHOUT_EFFECT, name) or _matches(SPARKS_WITHOUT_EFFECT, name):
        return "without effect"
    return None


def _refused(name: str) -> Refused | None:
    key = _found(REFUSED, name)
    if key is not None:
        return REFUSED[key]
    return SPARKS_REFUSED.get(name)


def _found(table: Mapping[str, object], name: str) -> str | None:
    return _matches(table, name.removeprefix(DELTA)) if name.startswith(DELTA) else None


def _matches(table: Mapping[str, object], name: str) -> str | None:
    if name in table:
        return name
    return next((pattern for pattern in table if stands_for(pattern, name)), None)
