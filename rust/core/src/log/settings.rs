use crate::actions::{Metadata, Protocol};
use crate::error::{Error, Result};
use crate::features::TableFeature;
use crate::properties::{TableProperty, parse_interval};

/// Whether checkpoints are V2, by `delta.checkpointPolicy` and the feature `v2Checkpoint`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckpointPolicy {
    /// One Parquet file of all actions.
    Classic,
    /// A top-level file and sidecars.
    V2,
}

/// The properties of a table that decide how its log is kept, with the defaults of delta-spark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogSettings {
    /// Kind of checkpoint.
    pub policy: CheckpointPolicy,
    /// `delta.checkpointInterval`: commits from one checkpoint to the next.
    pub interval: u64,
    /// `delta.checkpoint.writeStatsAsJson`.
    pub stats_as_json: bool,
    /// `delta.checkpoint.writeStatsAsStruct`.
    pub stats_as_struct: bool,
    /// `delta.deletedFileRetentionDuration` in milliseconds: how long tombstones are kept.
    pub tombstone_retention: i64,
    /// `delta.setTransactionRetentionDuration` in milliseconds; none keeps all transaction identifiers.
    pub txn_retention: Option<i64>,
    /// `delta.logRetentionDuration` in milliseconds.
    pub log_retention: i64,
    /// `delta.dropFeatureTruncateHistory.retentionDuration` in milliseconds: the history that remains when a feature is
    /// dropped with it.
    pub truncated_retention: i64,
    /// `delta.enableExpiredLogCleanup`.
    pub cleanup: bool,
    /// `delta.requireCheckpointProtectionBeforeVersion`, where the feature `checkpointProtection` is on.
    pub protected_before: u64,
}

pub(crate) const DAY: i64 = 86_400_000;

impl LogSettings {
    /// The settings of a table.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] with the name of a property whose value cannot be read.
    pub fn of(protocol: &Protocol, metadata: &Metadata) -> Result<Self> {
        // each that is read by these has a default
        let value = |property| metadata.property_or_default(property).unwrap_or_default();
        let flag = |property| match value(property) {
            text if text.eq_ignore_ascii_case("true") => Ok(true),
            text if text.eq_ignore_ascii_case("false") => Ok(false),
            text => Err(invalid(property, text, "`true` or `false`")),
        };
        let interval = |property: TableProperty, text| {
            parse_interval(text)
                .map_err(|reason| Error::InvalidArgument { argument: property.to_string(), reason })
        };
        let duration = |property| interval(property, value(property));
        let whole = |property| {
            let text = value(property);
            text.trim().parse::<u64>().map_err(|_| invalid(property, text, "a whole number"))
        };
        let policy = match value(TableProperty::CheckpointPolicy) {
            "classic" => CheckpointPolicy::Classic,
            // the property alone, without the feature, does not allow it
            "v2" if !protocol.lists_for_writers(TableFeature::V2Checkpoint) => CheckpointPolicy::Classic,
            "v2" => CheckpointPolicy::V2,
            text => return Err(invalid(TableProperty::CheckpointPolicy, text, "`classic` or `v2`")),
        };
        let protected = protocol.lists_for_writers(TableFeature::CheckpointProtection);
        Ok(LogSettings {
            policy,
            interval: whole(TableProperty::CheckpointInterval)?.max(1),
            stats_as_json: flag(TableProperty::CheckpointWriteStatsAsJson)?,
            stats_as_struct: flag(TableProperty::CheckpointWriteStatsAsStruct)?,
            tombstone_retention: duration(TableProperty::DeletedFileRetentionDuration)?,
            txn_retention: metadata
                .property(TableProperty::SetTransactionRetentionDuration)
                .map(|text| interval(TableProperty::SetTransactionRetentionDuration, text))
                .transpose()?,
            log_retention: duration(TableProperty::LogRetentionDuration)?,
            truncated_retention: duration(TableProperty::DropFeatureTruncateHistoryRetentionDuration)?,
            cleanup: flag(TableProperty::EnableExpiredLogCleanup)?,
            protected_before: match protected {
                true => whole(TableProperty::RequireCheckpointProtectionBeforeVersion)?,
                false => 0,
            },
        })
    }
}

fn invalid(property: TableProperty, text: &str, right: &str) -> Error {
    Error::InvalidArgument { argument: property.to_string(), reason: format!("`{text}` is not {right}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(features: Option<&[&str]>, properties: &[(&str, &str)]) -> Result<LogSettings> {
        let protocol = Protocol {
            min_reader_version: if features.is_some() { 3 } else { 1 },
            min_writer_version: if features.is_some() { 7 } else { 2 },
            reader_features: features.map(|_| vec![]),
            writer_features: features.map(|f| f.iter().map(|n| (*n).to_owned()).collect()),
        };
        let configuration = properties.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        LogSettings::of(&protocol, &Metadata { configuration, ..Metadata::default() })
    }

    #[test]
    fn the_defaults_are_those_of_delta_spark() {
        let defaults = settings(None, &[]).unwrap();
        assert_eq!((defaults.policy, defaults.interval), (CheckpointPolicy::Classic, 10));
        assert!(defaults.stats_as_json && defaults.stats_as_struct && defaults.cleanup);
        assert_eq!((defaults.tombstone_retention, defaults.log_retention), (7 * DAY, 30 * DAY));
        assert_eq!((defaults.txn_retention, defaults.protected_before), (None, 0));
    }

    #[test]
    fn v2_needs_the_feature_and_a_broken_property_is_named() {
        let v2 = [("delta.checkpointPolicy", "v2")];
        assert_eq!(settings(None, &v2).unwrap().policy, CheckpointPolicy::Classic);
        assert_eq!(settings(Some(&["v2Checkpoint"]), &v2).unwrap().policy, CheckpointPolicy::V2);
        let protection = [("delta.requireCheckpointProtectionBeforeVersion", "7")];
        assert_eq!(settings(None, &protection).unwrap().protected_before, 0);
        assert_eq!(settings(Some(&["checkpointProtection"]), &protection).unwrap().protected_before, 7);
        let error = settings(None, &[("delta.checkpointInterval", "often")]).unwrap_err();
        assert!(error.to_string().starts_with("delta.checkpointInterval"), "{error}");
    }

    #[test]
    fn each_property_is_read() {
        let all = settings(
            None,
            &[
                ("delta.checkpointInterval", " 7 "),
                ("delta.checkpoint.writeStatsAsJson", "False"),
                ("delta.checkpoint.writeStatsAsStruct", "FALSE"),
                ("delta.enableExpiredLogCleanup", "false"),
                ("delta.deletedFileRetentionDuration", "interval 2 days"),
                ("delta.setTransactionRetentionDuration", "interval 3 days"),
                ("delta.logRetentionDuration", "interval 4 days"),
                ("delta.dropFeatureTruncateHistory.retentionDuration", "interval 5 days"),
                ("delta.checkpointPolicy", "classic"),
            ],
        );
        let expected = LogSettings {
            policy: CheckpointPolicy::Classic,
            interval: 7,
            stats_as_json: false,
            stats_as_struct: false,
            tombstone_retention: 2 * DAY,
            txn_retention: Some(3 * DAY),
            log_retention: 4 * DAY,
            truncated_retention: 5 * DAY,
            cleanup: false,
            protected_before: 0,
        };
        assert_eq!(all.unwrap(), expected);
        assert_eq!(settings(None, &[("delta.checkpointInterval", "0")]).unwrap().interval, 1);
        assert!(settings(None, &[("delta.enableExpiredLogCleanup", "True")]).unwrap().cleanup);
        assert_eq!(settings(None, &[]).unwrap().truncated_retention, DAY);
        for (key, text) in [
            ("delta.enableExpiredLogCleanup", "yes"),
            ("delta.checkpoint.writeStatsAsJson", ""),
            ("delta.checkpointPolicy", "v3"),
            ("delta.logRetentionDuration", "long"),
        ] {
            let error = settings(None, &[(key, text)]).unwrap_err().to_string();
            assert!(error.starts_with(key), "{error}");
            assert!(key.ends_with("Duration") || error.contains(&format!("`{text}` is not")), "{error}");
        }
    }
}
