//! Every `delta.` property that deltaic knows, and what its value can be, as data.

use crate::properties::{parse_byte_size, parse_interval};
use crate::schema::parse_column_list;

/// What the value of a property can be.
#[derive(Debug, Clone, Copy)]
pub(super) enum Value {
    /// `true` or `false`.
    Boolean,
    /// A whole number, not below.
    Integer(i64),
    /// A length of time.
    Interval,
    /// A number of bytes.
    Bytes,
    /// One of these, in any case; kept as written here.
    OneOf(&'static [&'static str]),
    /// A list of columns.
    Columns,
    /// `1.0.0` or `2.MINOR.PATCH`.
    ParquetVersion,
    /// Kept by deltaic itself: never set or unset by hand.
    Kept,
}

/// The properties, in order.
pub(super) const PROPERTIES: &[(&str, Value)] = &[
    ("delta.appendOnly", Value::Boolean),
    ("delta.autoOptimize", Value::Boolean),
    ("delta.autoOptimize.autoCompact", Value::OneOf(&["true", "false", "auto"])),
    ("delta.autoOptimize.optimizeWrite", Value::Boolean),
    ("delta.checkpoint.writeStatsAsJson", Value::Boolean),
    ("delta.checkpoint.writeStatsAsStruct", Value::Boolean),
    ("delta.checkpointInterval", Value::Integer(1)),
    ("delta.checkpointPolicy", Value::OneOf(&["classic", "v2"])),
    ("delta.checkpointRetentionDuration", Value::Interval),
    ("delta.columnMapping.maxColumnId", Value::Kept),
    ("delta.columnMapping.mode", Value::OneOf(&["none", "name", "id"])),
    ("delta.compatibility.symlinkFormatManifest.enabled", Value::Boolean),
    ("delta.dataSkippingNumIndexedCols", Value::Integer(-1)),
    ("delta.dataSkippingStatsColumns", Value::Columns),
    ("delta.dataSkippingStringPrefixLength", Value::Integer(0)),
    ("delta.deletedFileRetentionDuration", Value::Interval),
    ("delta.dropFeatureTruncateHistory.retentionDuration", Value::Interval),
    ("delta.enableChangeDataFeed", Value::Boolean),
    ("delta.enableDeletionVectors", Value::Boolean),
    ("delta.enableExpiredLogCleanup", Value::Boolean),
    ("delta.enableFullRetentionRollback", Value::Boolean),
    ("delta.enableIcebergCompatV1", Value::Boolean),
    ("delta.enableIcebergCompatV2", Value::Boolean),
    ("delta.enableInCommitTimestamps", Value::Boolean),
    ("delta.enableMaterializePartitionColumnsFeature", Value::Boolean),
    ("delta.enableRowTracking", Value::Boolean),
    ("delta.enableTypeWidening", Value::Boolean),
    ("delta.inCommitTimestampEnablementTimestamp", Value::Kept),
    ("delta.inCommitTimestampEnablementVersion", Value::Kept),
    ("delta.isolationLevel", Value::OneOf(&["Serializable", "WriteSerializable"])),
    ("delta.logRetentionDuration", Value::Interval),
    (
        "delta.parquet.compression.codec",
        Value::OneOf(&["uncompressed", "none", "snappy", "gzip", "lz4", "lz4_raw", "zstd", "brotli"]),
    ),
    ("delta.parquet.format.version", Value::ParquetVersion),
    ("delta.randomPrefixLength", Value::Integer(1)),
    ("delta.randomizeFilePrefixes", Value::Boolean),
    ("delta.requireCheckpointProtectionBeforeVersion", Value::Kept),
    ("delta.rowTracking.materializedRowCommitVersionColumnName", Value::Kept),
    ("delta.rowTracking.materializedRowIdColumnName", Value::Kept),
    ("delta.rowTrackingSuspended", Value::Boolean),
    ("delta.sampleRetentionDuration", Value::Interval),
    ("delta.setTransactionRetentionDuration", Value::Interval),
    ("delta.targetFileSize", Value::Bytes),
    ("delta.writePartitionColumnsToParquet", Value::Boolean),
];

/// A known property in its own spelling.
pub(super) fn known(key: &str) -> Option<(&'static str, Value)> {
    PROPERTIES.iter().find(|(name, _)| name.eq_ignore_ascii_case(key)).copied()
}

impl Value {
    /// The value as it is kept.
    pub(super) fn check(self, text: &str) -> Result<String, String> {
        let one_of = |all: &[&str]| {
            let found = all.iter().find(|v| v.eq_ignore_ascii_case(text.trim()));
            found.map(|v| (*v).to_owned()).ok_or_else(|| format!("`{text}` is none of {}", all.join(", ")))
        };
        match self {
            Value::Boolean => one_of(&["true", "false"]),
            Value::OneOf(all) => one_of(all),
            Value::Integer(least) => match text.trim().parse::<i64>() {
                Ok(n) if n >= least && i32::try_from(n).is_ok() => Ok(n.to_string()),
                Ok(n) => Err(format!("{n} is not between {least} and {}", i32::MAX)),
                Err(_) => Err(format!("`{text}` is not a whole number")),
            },
            Value::Interval => parse_interval(text).map(|_| text.to_owned()),
            Value::Bytes => parse_byte_size(text).map(|_| text.to_owned()),
            Value::Columns => parse_column_list(text).map(|_| text.to_owned()),
            Value::ParquetVersion => {
                let parts: Option<Vec<u32>> = text.split('.').map(|p| p.parse().ok()).collect();
                match parts.as_deref() {
                    Some([1, 0, 0] | [2, _, _]) => Ok(text.to_owned()),
                    _ => Err(format!("`{text}` is neither 1.0.0 nor 2.MINOR.PATCH")),
                }
            }
            Value::Kept => Err("deltaic keeps it itself".into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_in_order_and_values_are_checked() {
        assert!(PROPERTIES.is_sorted_by(|a, b| a.0 < b.0));
        for (key, good, bad) in [
            ("delta.appendOnly", "TRUE", "yes"),
            ("delta.checkpointInterval", "1", "0"),
            ("delta.checkpointInterval", "10", "99999999999"),
            ("delta.dataSkippingNumIndexedCols", "-1", "-2"),
            ("delta.logRetentionDuration", "interval 30 days", "30"),
            ("delta.isolationLevel", "writeserializable", "SnapshotIsolation"),
            ("delta.parquet.format.version", "2.12.0", "2.1"),
            ("delta.parquet.compression.codec", "ZSTD", "rar"),
            ("delta.dataSkippingStatsColumns", "a, `b.c`", "a,,b"),
            ("delta.checkpointPolicy", "V2", "v3"),
            ("delta.targetFileSize", "100MB", "much"),
        ] {
            let (_, value) = known(&key.to_uppercase()).unwrap();
            assert!(value.check(good).is_ok(), "{key} {good}");
            assert!(value.check(bad).is_err(), "{key} {bad}");
        }
    }
}
