"""Every setting and option that delta-spark knows, and what deltaic does with it: the one table of them.

`docs/settings.md` shows it, and a test compares it with what the JAR of delta-spark registers. Names of settings lack
`spark.databricks.delta.`; a `*` is the rest of a name.
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
    """A setting that is an error if its value differs from delta-spark's default."""

    default: str
    """Its default, in lower case."""
    on: str
    """The operations that raise it, with blanks between; see `OPERATIONS`."""
    why: str


_EVERY_WRITE = "write delete update merge create"
_OLD_BEHAVIOUR = "it restores a behaviour that delta-spark has fixed"

FOLLOWED: Mapping[str, str] = {
    "properties.defaults.*": "Default of the property `delta.*` for new tables. An unknown name is an error. "
    "`ignoreProtocolDefaults` ignores the defaults of features and protocol versions.",
    "allowArbitraryProperties.enabled": "`true`: unknown properties `delta.*` are stored unchanged; otherwise they "
    "are an error.",
    "optimizeWrite.enabled": "Moves the rows of a partition into few tasks before they are written; the option is "
    "`optimizeWrite`, the property `delta.autoOptimize.optimizeWrite`.",
    "lastCommitVersionInSession": "Each commit of a classic session sets it to the new version.",
    "autoCompact.enabled": "Compacts small files after a commit; the property is `delta.autoOptimize.autoCompact`.",
    "autoCompact.minNumFiles": "Auto-compaction: number of small files in a partition that starts it.",
    "autoCompact.maxFileSize": "Auto-compaction: bytes of the compacted files.",
    "autoCompact.minFileSize": "Auto-compaction: a file of at most so many bytes is small.",
    "autoCompact.maxNumModifiedPartitions": "Auto-compaction: partitions that one commit compacts at most.",
    "optimize.maxFileSize": "Bytes of the files that OPTIMIZE writes; overrides `delta.targetFileSize` of the table.",
    "optimize.minFileSize": "OPTIMIZE compacts files below so many bytes.",
    "optimize.maxDeletedRowsRatio": "OPTIMIZE rewrites a file if more than this share of its rows is deleted.",
    "optimize.zorder.checkStatsCollection.enabled": "`false`: a Z-order by columns without statistics is "
    "no error.",
    "schema.autoMerge.enabled": "Writes and merges add columns to the table; the option is "
    "`mergeSchema`, for merges "
    "`withSchemaEvolution()`.",
    "replaceOn.dataframe.writer.enabled": "`false`: the option `replaceOn` is an error.",
    "replaceUsing.dataframe.writer.enabled": "`false`: the option `replaceUsing` is an error.",
    "replaceWhere.constraintCheck.enabled": "`false`: rows that do not match `replaceWhere` are written, too.",
    "replaceWhere.dataColumns.enabled": "`false`: `replaceWhere` on columns other than partition columns is an error.",
    "dynamicPartitionOverwrite.enabled": "`false`: an overwrite by dynamic partitions is an error.",
    "commitInfo.userMetadata": "Text for the history of each commit.",
    "write.txnAppId": "With `write.txnVersion`: skips a write, merge, update or delete whose application version the "
    "table has recorded.",
    "write.txnVersion": "See `write.txnAppId`.",
    "write.txnVersion.autoReset.enabled": "`true`: the version applies to one commit, which then unsets it.",
    "retentionDurationCheck.enabled": "`false`: a vacuum may use a shorter retention than the table's.",
    "vacuum.lite.enabled": "`true`: a vacuum without a mode uses the log instead of listing the folder.",
    "changeDataFeed.timestampOutOfRange.enabled": "`true`: a range after the newest version has no changes, and a "
    "stream may start there; otherwise it is an error.",
    "constraints.assumesDropIfExists.enabled": "`true`: DROP CONSTRAINT ignores an unknown constraint.",
    "delete.deletionVectors.persistent": "`false`: DELETE rewrites files, even if the table has deletion vectors.",
    "update.deletionVectors.persistent": "`false`: so does UPDATE.",
    "merge.deletionVectors.persistent": "`false`: so does MERGE.",
    "alterLocation.bypassSchemaCheck": "`true`: `ALTER TABLE … SET LOCATION` accepts a table with other columns.",
    "identityColumn.allowSyncIdentityToLowerHighWaterMark.enabled": "`true`: SYNC IDENTITY may lower a high-water "
    "mark.",
    "streaming.allowSourceColumnRename": "`always`: streams with `schemaTrackingLocation` continue after columns "
    "were renamed. With the suffix `.ckpt_` and the number in the error: only that stream, or only up to a "
    "version.",
    "streaming.allowSourceColumnDrop": "The same after columns were dropped.",
    "streaming.allowSourceColumnRenameAndDrop": "The same after both.",
    "streaming.allowSourceColumnTypeChange": "The same after types became wider.",
    "streaming.schemaTracking.enabled": "`false`: `schemaTrackingLocation` is an error.",
    "streaming.schemaTracking.mergeConsecutiveSchemaChanges.enabled": "`false`: each of several schema changes "
    "without rows between them stops a stream with `schemaTrackingLocation`.",
    "streaming.schemaTracking.metadataPathCheck.enabled": "`false`: a query may use the schema log of another query.",
    "streaming.allowSchemaLocationOutsideCheckpointLocation": "`true`: `schemaTrackingLocation` may be anywhere.",
    "streaming.ignoreInternalMetadataForSchemaChange.enabled": "`false`: column metadata that only writers use, such "
    "as an identity's high-water mark, counts as a schema change for a stream with `schemaTrackingLocation`.",
    "typeWidening.enableStreamingSchemaTracking": "`true`: a wider type stops a stream without "
    "`schemaTrackingLocation`.",
    "stalenessLimit": "How stale an answer may be, such as `5s`: for that long a session does not look for newer "
    "versions. It always sees its own commits.",
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
    "checkConstraints.validation.enabled": Refused(
        "log_only", _EVERY_WRITE, "deltaic checks this differently"
    ),
    "clone.replaceEnabled": Refused("true", "clone", "a clone may always replace"),
    "clusteredTable.numClusteringColumnsLimit": Refused("4", "create alter write", "the limit is 4"),
    "columnMapping.allowRemoval": Refused("true", "alter", "the mapping can always be removed"),
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
        "false", "create", "names are used as given"
    ),
    "dml.insert.dfByName.allowImplicitCasts": Refused(
        "true", "write", "values are cast as Spark stores them"
    ),
    "generatedColumn.allowNullableIngest.enabled": Refused(
        "true", _EVERY_WRITE, "columns that the table makes may be left out"
    ),
    "generatedColumn.validateOnWrite.enabled": Refused(
        "log_only", _EVERY_WRITE, "deltaic checks this differently"
    ),
    "identityColumn.enabled": Refused("true", _EVERY_WRITE, "identity columns are always written"),
    "inCommitTimestamp.retainEnablementInfoFix.enabled": Refused(
        "true", f"{_EVERY_WRITE} alter", _OLD_BEHAVIOUR
    ),
    "insert.byName.schemaEvolution.enabled": Refused(
        "true", "write", "INSERT … BY NAME evolves the schema as requested"
    ),
    "insert.preserveNullSourceStructs": Refused("true", "write", _OLD_BEHAVIOUR),
    "legacy.storeOptionsAsProperties": Refused("false", "write create", _OLD_BEHAVIOUR),
    "merge.insert.fixCaseSensitiveDuplicateColumns": Refused("true", "merge", _OLD_BEHAVIOUR),
    "merge.preserveNullSourceStructs": Refused("true", "merge", _OLD_BEHAVIOUR),
    "merge.preserveNullSourceStructs.updateStar": Refused("true", "merge", _OLD_BEHAVIOUR),
    "replace.protocolDowngradeAllowed": Refused(
        "false", "write create", "a replaced table keeps its features"
    ),
    "replaceWhere.dataColumnsWithCDF.enabled": Refused(
        "true", "write", "the removed and added rows are always changes"
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
    "variantShredding.forceUsePreviewTableFeature": Refused(
        "true", _EVERY_WRITE, "tables get the preview's feature, which more readers know"
    ),
    "write.dataFilesToSubdir": Refused("false", _EVERY_WRITE, "files go into folders of their partitions"),
    "write.utcTimestampPartitionValues": Refused("true", _EVERY_WRITE, "partition values are those of UTC"),
}
"""Settings that would change the content of a table, or a result, and are not supported: setting them is an error."""

_CHECKSUMS = (
    "How delta-spark writes and checks checksum files. deltaic writes one with each commit and checks those that it "
    "reads."
)
_CHECKPOINTS = "How delta-spark writes and reads checkpoints. Properties of the table decide their content."
_STAYS = "Disables a check, or allows what a check forbids. deltaic always makes the check."
_STRICTER = "A check by delta-spark of its own commits. deltaic always checks each commit."
_SKIPPING = "How files are pruned. It never changes an answer."
_STATISTICS = "How statistics are computed. deltaic always writes them for the columns that the table names."
_MERGES = (
    "How delta-spark executes a merge. deltaic computes the source once, so that it cannot change, and prunes by its "
    "keys."
)
_INSIDE = "Threads, caches, logs and listings of delta-spark itself."
_CONFLICTS = "How delta-spark retries a commit. [Conflicts](conflicts.md) says what deltaic does."
_TESTS = "For the tests of delta-spark."
OTHER_FORMATS = (
    "deltaic writes no metadata of Iceberg and Hudi and does not convert their tables. It does not write to a table "
    "that has such metadata: see below."
)
FEATURES = (
    "For a table feature that deltaic lacks: it does not write to such a table, and does not read it if readers need "
    "the feature."
)
_DOORS = "How delta-spark plugs into Spark. deltaic has its own way."
_METRICS = "What delta-spark measures. The history always has the metrics of each operation."
_LAYOUT = "How rows and files are divided among tasks, batches and cubes. It changes no row."

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
    "variantShredding.collectVariantDataSkippingStats": _STATISTICS,
    "variantShredding.guardVariantInStatsSchema.enabled": _STATISTICS,
    "variantShredding.parseFooterForStats": _STATISTICS,
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
    "postCommitHook.throwOnError": "A failure after a commit is a `DeltaWarning`, because the commit stands.",
    "requiredSparkConfsCheck.enabled": "deltaic requires no setting of Spark.",
    "snapshot*": _INSIDE,
    "streaming.distributedInitialSnapshot": _INSIDE,
    "streaming.initialSnapshotMaxFiles": _INSIDE,
    "streaming.logSizeInMemoryThreshold": _INSIDE,
    "streaming.sink.implicitCast*": _INSIDE,
    "timeTravel.resolveOnIdentifier.enabled": "A path that ends in `@v1` or `@` and a time always means that version "
    "of the table, unless a table has the whole name.",
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
    "catalog.enableServerSidePlanning": _DOORS,
    "changelogV2.enabled": _DOORS,
    "loadFileSystemConfigsFromDataFrameOptions": "Options `fs.*` always reach the core and Spark's reader "
    "and writer.",
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
    "createDataFrame.dropNullColumns": "Void columns are always in the result, with nulls.",
    "delete.allowExistsSubquery": "Conditions may have subqueries of any kind.",
    "table.parquetV2.timestampOutputType": "Timestamps are stored as microseconds (`TIMESTAMP_MICROS`), "
    "always: `INT96` has no "
    "statistics and `TIMESTAMP_MILLIS` loses digits.",
    "tableFeatures.fastDropFeature.dvTombstoneCountThreshold": _INSIDE,
    "tableFeatures.fastDropFeature.generateDVTombstones.enabled": "deltaic always writes these tombstones, so that "
    "no vacuum deletes vectors that a version still needs.",
    "vacuum.enforceTimeTravelWithinDeletedFileRetentionDuration": "A version can be read as long as the log and its "
    "files exist.",
    "vacuum.logging.enabled": "A vacuum is always in the history.",
    "vacuum.retentionWindowIgnore.enabled": "A vacuum uses the retention that it is given.",
}
"""What changes nothing, and why."""

SPARKS_FOLLOWED: Mapping[str, str] = {
    "spark.sql.sources.partitionOverwriteMode": "`dynamic`: an overwrite replaces only the partitions of its rows.",
    "spark.sql.parquet.compression.codec": "Codec of data files; the option is `compression`, the property "
    "`delta.parquet.compression.codec`.",
    "spark.sql.files.maxRecordsPerFile": "Most rows of a data file; the option is `maxRecordsPerFile`. OPTIMIZE "
    "ignores it.",
    "parquet.*": "Settings of Parquet's own writer, of the session or in `spark.hadoop.parquet.*`; also options and "
    "properties of the table. See below.",
    "spark.sql.session.timeZone": "As everywhere in Spark: rules of the table, conditions and casts "
    "follow it.",
    "spark.sql.ansi.enabled": "As everywhere in Spark: rules of the table, conditions and casts follow it.",
    "spark.sql.storeAssignmentPolicy": (
        "How values are cast to the types of a table's columns. UPDATE and MERGE on Spark Connect ignore it: a value "
        "that does not fit is an error there."
    ),
    "spark.sql.files.ignoreMissingFiles": "Spark's scans follow it, also those of DataFrames of a table. Reads of "
    "the core (`deltaic.Table`, OPTIMIZE, Spark Connect's data source) never skip a missing file.",
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
    "spark.sql.parquet.datetimeRebaseModeInRead": "Scans follow it for files that do not name their calendar.",
    "spark.sql.parquet.int96RebaseModeInRead": "Scans follow it for files that do not name their calendar.",
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
    "spark.sql.files.archive.reader.enabled": "The log names the files.",
    "spark.sql.files.ignoredPathSegmentRegex": "The log names the files.",
    "spark.sql.files.ignoreInvalidPartitionPaths": "Partition values come from the log, not from paths.",
    "spark.sql.files.supportSecondOffsetFormat": "It applies to text formats.",
    "spark.sql.parquet.aggregatePushdown": "It applies to Spark's second Parquet reader, which delta-spark does not "
    "use either. Counts come from the log.",
    "spark.sql.parquet.mergeSchema": "The schema is in the log.",
    "spark.sql.parquet.respectSummaryFiles": "The schema is in the log.",
    "spark.sql.parquet.ignoreVariantAnnotation": "The schema is in the log.",
    "spark.sql.parquet.fieldId.*": "Column ids come from the log.",
    "spark.sql.parquet.datetimeRebaseModeInWrite": "Dates and times are stored in the protocol's calendar "
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
    """The effect of a setting, by its full name: `followed`, `refused`, `without effect`, or None."""
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
