//! Every table property that the core knows by name, as data.

use std::fmt;

use super::Value;

macro_rules! properties {
    ($($property:ident = $name:literal, $value:expr $(, or $default:literal)?;)*) => {
        /// A table property with a meaning of its own. A table may have any others too: see
        /// [`Metadata::configuration`](crate::actions::Metadata::configuration).
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum TableProperty {
            $(#[doc = concat!("`", $name, "`.")] $property,)*
        }

        impl TableProperty {
            /// All of them, by name.
            pub const ALL: &[TableProperty] = &[$(TableProperty::$property),*];

            /// Its name in the log.
            pub const fn name(self) -> &'static str {
                match self {
                    $(TableProperty::$property => $name,)*
                }
            }

            /// What its value can be.
            pub(crate) const fn value(self) -> Value {
                match self {
                    $(TableProperty::$property => $value,)*
                }
            }

            /// The default; `None` if being unset has its own meaning, or nothing here depends on it.
            pub const fn default(self) -> Option<&'static str> {
                match self {
                    $(TableProperty::$property => properties!(@default $($default)?),)*
                }
            }
        }
    };
    (@default) => { None };
    (@default $default:literal) => { Some($default) };
}

properties! {
    AppendOnly = "delta.appendOnly", Value::Boolean, or "false";
    AutoOptimize = "delta.autoOptimize", Value::Boolean;
    AutoOptimizeAutoCompact = "delta.autoOptimize.autoCompact", Value::OneOf(&["true", "false", "auto"]);
    AutoOptimizeOptimizeWrite = "delta.autoOptimize.optimizeWrite", Value::Boolean;
    CheckpointWriteStatsAsJson = "delta.checkpoint.writeStatsAsJson", Value::Boolean, or "true";
    CheckpointWriteStatsAsStruct = "delta.checkpoint.writeStatsAsStruct", Value::Boolean, or "true";
    CheckpointInterval = "delta.checkpointInterval", Value::Integer(1), or "10";
    CheckpointPolicy = "delta.checkpointPolicy", Value::OneOf(&["classic", "v2"]), or "classic";
    CheckpointRetentionDuration = "delta.checkpointRetentionDuration", Value::Interval;
    ColumnMappingMaxColumnId = "delta.columnMapping.maxColumnId", Value::Kept;
    ColumnMappingMode = "delta.columnMapping.mode", Value::OneOf(&["none", "name", "id"]), or "none";
    SymlinkFormatManifest = "delta.compatibility.symlinkFormatManifest.enabled", Value::Boolean, or "false";
    DataSkippingNumIndexedCols = "delta.dataSkippingNumIndexedCols", Value::Integer(-1), or "32";
    DataSkippingStatsColumns = "delta.dataSkippingStatsColumns", Value::Columns;
    DataSkippingStringPrefixLength = "delta.dataSkippingStringPrefixLength", Value::Integer(0), or "32";
    DeletedFileRetentionDuration = "delta.deletedFileRetentionDuration", Value::Interval, or "interval 1 week";
    DropFeatureTruncateHistoryRetentionDuration = "delta.dropFeatureTruncateHistory.retentionDuration",
        Value::Interval, or "interval 24 hours";
    EnableChangeDataFeed = "delta.enableChangeDataFeed", Value::Boolean, or "false";
    EnableDeletionVectors = "delta.enableDeletionVectors", Value::Boolean, or "false";
    EnableExpiredLogCleanup = "delta.enableExpiredLogCleanup", Value::Boolean, or "true";
    EnableFullRetentionRollback = "delta.enableFullRetentionRollback", Value::Boolean;
    EnableIcebergCompatV1 = "delta.enableIcebergCompatV1", Value::Boolean, or "false";
    EnableIcebergCompatV2 = "delta.enableIcebergCompatV2", Value::Boolean, or "false";
    EnableIcebergCompatV3 = "delta.enableIcebergCompatV3", Value::Boolean, or "false";
    EnableInCommitTimestamps = "delta.enableInCommitTimestamps", Value::Boolean, or "false";
    EnableMaterializePartitionColumns = "delta.enableMaterializePartitionColumnsFeature", Value::Boolean;
    EnableRowTracking = "delta.enableRowTracking", Value::Boolean, or "false";
    EnableTypeWidening = "delta.enableTypeWidening", Value::Boolean, or "false";
    EnableVariantShredding = "delta.enableVariantShredding", Value::Boolean, or "false";
    IgnoreProtocolDefaults = "delta.ignoreProtocolDefaults", Value::OfProtocol;
    InCommitTimestampEnablementTimestamp = "delta.inCommitTimestampEnablementTimestamp", Value::Kept;
    InCommitTimestampEnablementVersion = "delta.inCommitTimestampEnablementVersion", Value::Kept;
    IsolationLevel = "delta.isolationLevel", Value::OneOf(&["Serializable", "WriteSerializable"]);
    LogRetentionDuration = "delta.logRetentionDuration", Value::Interval, or "interval 30 days";
    MinReaderVersion = "delta.minReaderVersion", Value::OfProtocol;
    MinWriterVersion = "delta.minWriterVersion", Value::OfProtocol;
    ParquetCompressionCodec = "delta.parquet.compression.codec",
        Value::OneOf(&["uncompressed", "none", "snappy", "gzip", "lz4", "lz4_raw", "zstd", "brotli"]);
    ParquetFormatVersion = "delta.parquet.format.version", Value::ParquetVersion;
    RandomPrefixLength = "delta.randomPrefixLength", Value::Integer(1);
    RandomizeFilePrefixes = "delta.randomizeFilePrefixes", Value::Boolean, or "false";
    RequireCheckpointProtectionBeforeVersion = "delta.requireCheckpointProtectionBeforeVersion",
        Value::Kept, or "0";
    MaterializedRowCommitVersionColumn = "delta.rowTracking.materializedRowCommitVersionColumnName", Value::Kept;
    MaterializedRowIdColumn = "delta.rowTracking.materializedRowIdColumnName", Value::Kept;
    RowTrackingSuspended = "delta.rowTrackingSuspended", Value::Boolean, or "false";
    SampleRetentionDuration = "delta.sampleRetentionDuration", Value::Interval;
    SetTransactionRetentionDuration = "delta.setTransactionRetentionDuration", Value::Interval;
    TargetFileSize = "delta.targetFileSize", Value::Bytes;
    TuneFileSizesForRewrites = "delta.tuneFileSizesForRewrites", Value::Foreign;
    UniversalFormatEnabledFormats = "delta.universalFormat.enabledFormats", Value::Foreign;
    UniversalFormatIcebergAtomicConversion = "delta.universalFormat.iceberg.atomicConversion.supported", Value::Boolean;
    WritePartitionColumnsToParquet = "delta.writePartitionColumnsToParquet", Value::Boolean, or "true";
}

impl TableProperty {
    /// Those that belong to tables and may be named when properties are set, in order.
    pub(crate) fn settable() -> impl Iterator<Item = TableProperty> {
        let own = |property: &TableProperty| !matches!(property.value(), Value::Foreign | Value::OfProtocol);
        TableProperty::ALL.iter().copied().filter(own)
    }

    /// The one of these of that name, in any case.
    pub(crate) fn named(name: &str) -> Option<TableProperty> {
        TableProperty::settable().find(|property| property.is(name))
    }

    /// Whether a key names it, in any case.
    pub(crate) fn is(self, key: &str) -> bool {
        self.name().eq_ignore_ascii_case(key)
    }
}

impl fmt::Display for TableProperty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl From<TableProperty> for String {
    fn from(property: TableProperty) -> Self {
        property.name().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::properties::PREFIX;

    #[test]
    fn names_are_in_order_and_found_in_any_case() {
        assert!(TableProperty::ALL.is_sorted_by(|a, b| a.name() < b.name()));
        for property in TableProperty::settable() {
            assert!(property.name().starts_with(PREFIX), "{property}");
            assert_eq!(TableProperty::named(&property.name().to_uppercase()), Some(property));
        }
        for other in [TableProperty::MinReaderVersion, TableProperty::TuneFileSizesForRewrites] {
            assert_eq!(TableProperty::named(other.name()), None, "{other}");
        }
    }

    #[test]
    fn a_default_is_a_value_that_could_be_set() {
        for property in TableProperty::settable().filter(|p| p.value() != Value::Kept) {
            let Some(default) = property.default() else { continue };
            assert_eq!(property.value().check(default).as_deref(), Ok(default), "{property}");
        }
    }
}
