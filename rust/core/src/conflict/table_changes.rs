//! What a change of protocol or metadata by a winner means for a transaction under way.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::actions::{Metadata, Protocol};
use crate::error::ConflictRule;
use crate::features::{MAX_READER_VERSION, TableFeature};
use crate::properties::{COLUMN_MAPPING_PREFIX, PREFIX, TableProperty};
use crate::schema::{ColumnMappingMode, FIELD_ID, IDENTITY_HIGH_WATER_MARK, PHYSICAL_NAME};

/// Features that demand nothing of a prepared transaction: their rules apply later, come with a change of metadata, or
/// are kept by every commit itself.
const UNDEMANDING: [TableFeature; 20] = [
    TableFeature::AllowColumnDefaults,
    TableFeature::AppendOnly,
    TableFeature::ChangeDataFeed,
    TableFeature::CheckConstraints,
    TableFeature::CheckpointProtection,
    TableFeature::ColumnMapping,
    TableFeature::DeletionVectors,
    TableFeature::DomainMetadata,
    TableFeature::GeneratedColumns,
    TableFeature::IdentityColumns,
    TableFeature::InCommitTimestamp,
    TableFeature::Invariants,
    TableFeature::RowTracking,
    TableFeature::TimestampNtz,
    TableFeature::TypeWidening,
    TableFeature::TypeWideningPreview,
    TableFeature::V2Checkpoint,
    TableFeature::VacuumProtocolCheck,
    TableFeature::VariantType,
    TableFeature::VariantTypePreview,
];

/// Properties that no data file and no other action depends on.
const UNDEMANDING_PROPERTIES: [TableProperty; 13] = [
    TableProperty::CheckpointWriteStatsAsJson,
    TableProperty::CheckpointWriteStatsAsStruct,
    TableProperty::CheckpointInterval,
    TableProperty::CheckpointPolicy,
    TableProperty::CheckpointRetentionDuration,
    TableProperty::SymlinkFormatManifest,
    TableProperty::DeletedFileRetentionDuration,
    TableProperty::EnableExpiredLogCleanup,
    TableProperty::LogRetentionDuration,
    TableProperty::SampleRetentionDuration,
    TableProperty::SetTransactionRetentionDuration,
    TableProperty::TargetFileSize,
    TableProperty::TuneFileSizesForRewrites,
];

/// Properties that may be set to `true` under a transaction: a commit keeps their rules whenever it is made.
const MAY_BE_ENABLED: [TableProperty; 3] =
    [TableProperty::EnableDeletionVectors, TableProperty::EnableInCommitTimestamps, ROW_TRACKING];

/// Properties that the commit that enables in-commit timestamps or row tracking sets with them.
const WITH_THEM: [TableProperty; 4] = [
    TableProperty::InCommitTimestampEnablementTimestamp,
    TableProperty::InCommitTimestampEnablementVersion,
    TableProperty::MaterializedRowCommitVersionColumn,
    TableProperty::MaterializedRowIdColumn,
];

/// After it every row has a row id: a commit that was prepared before cannot claim that rows kept theirs.
const ROW_TRACKING: TableProperty = TableProperty::EnableRowTracking;

/// Whether a change of the metadata enables row tracking.
pub(crate) fn enables_row_tracking(old: &Metadata, new: &Metadata) -> bool {
    new.is_true(ROW_TRACKING) && !old.is_true(ROW_TRACKING)
}

/// What a change of the protocol amounts to; nothing when it is the same.
pub(super) fn protocol_rule(old: &Protocol, new: &Protocol) -> Option<ConflictRule> {
    if old == new {
        return None;
    }
    let before: BTreeSet<&str> = old.features().into_iter().collect();
    let after: BTreeSet<&str> = new.features().into_iter().collect();
    let known = new.min_reader_version <= MAX_READER_VERSION && new.min_writer_version <= 7;
    let added = after.difference(&before);
    let undemanding = known
        && before.is_subset(&after)
        && added.clone().all(|name| UNDEMANDING.iter().any(|f| f.name() == *name));
    Some(if undemanding { ConflictRule::FeaturesAdded } else { ConflictRule::ProtocolChanged })
}

/// What a change of the metadata amounts to; nothing when it is the same.
pub(super) fn metadata_rule(old: &Metadata, new: &Metadata) -> Option<ConflictRule> {
    if old == new {
        return None;
    }
    let same_data = old.id == new.id
        && old.format == new.format
        && old.partition_columns == new.partition_columns
        && undemanding_properties(&old.configuration, &new.configuration, maps_by_name(old, new));
    if !same_data {
        return Some(ConflictRule::MetadataChanged);
    }
    if old.schema_string == new.schema_string {
        return Some(ConflictRule::PropertiesSet);
    }
    // writers differ in the order in which they write the keys
    let parsed = |text: &str| serde_json::from_str::<Value>(text).ok();
    let (Some(mut before), Some(mut after)) = (parsed(&old.schema_string), parsed(&new.schema_string)) else {
        return Some(ConflictRule::MetadataChanged);
    };
    if before == after {
        return Some(ConflictRule::PropertiesSet);
    }
    if maps_by_name(old, new) {
        let same = drop_mapping(&mut after) && before == after;
        return Some(if same { ConflictRule::PropertiesSet } else { ConflictRule::MetadataChanged });
    }
    drop_marks(&mut before);
    drop_marks(&mut after);
    Some(if before == after { ConflictRule::IdentityAdvanced } else { ConflictRule::MetadataChanged })
}

/// Whether a change of the metadata enables column mapping by name: files without it are read by the names that they
/// have.
fn maps_by_name(old: &Metadata, new: &Metadata) -> bool {
    let mode = Metadata::column_mapping;
    mode(old) == ColumnMappingMode::None && mode(new) == ColumnMappingMode::Name
}

/// Removes ids and physical names of columns from a schema, and returns whether these are all the columns' names.
fn drop_mapping(value: &mut Value) -> bool {
    match value {
        Value::Object(fields) => {
            let name = fields.get("name").cloned();
            let metadata = fields.get_mut("metadata").and_then(Value::as_object_mut);
            let same = metadata.is_none_or(|metadata| {
                metadata.remove(FIELD_ID);
                metadata.remove(PHYSICAL_NAME) == name
            });
            same && fields.values_mut().all(drop_mapping)
        }
        Value::Array(items) => items.iter_mut().all(drop_mapping),
        _ => true,
    }
}

fn undemanding_properties(
    old: &BTreeMap<String, String>,
    new: &BTreeMap<String, String>,
    maps_by_name: bool,
) -> bool {
    let keys: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    keys.into_iter().filter(|key| old.get(*key) != new.get(*key)).all(|key| {
        let key = key.as_str();
        let is_one_of = |properties: &[TableProperty]| properties.iter().any(|p| p.name() == key);
        let enabled = new.get(key).is_some_and(|v| v.eq_ignore_ascii_case("true"));
        !key.to_lowercase().starts_with(PREFIX)
            || is_one_of(&UNDEMANDING_PROPERTIES)
            || (maps_by_name && key.starts_with(COLUMN_MAPPING_PREFIX))
            || (is_one_of(&MAY_BE_ENABLED) && enabled)
            || (is_one_of(&WITH_THEM) && !old.contains_key(key))
    })
}

/// Takes the high-water marks of identity columns out of a schema.
fn drop_marks(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.remove(IDENTITY_HIGH_WATER_MARK);
            fields.values_mut().for_each(drop_marks);
        }
        Value::Array(items) => items.iter_mut().for_each(drop_marks),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metadata() -> Metadata {
        let schema = r#"{"type":"struct","fields":[{"name":"a","type":"long","nullable":true,"metadata":{"delta.identity.highWaterMark":1}}]}"#;
        Metadata {
            id: "i".into(),
            schema_string: schema.into(),
            partition_columns: vec!["a".into()],
            ..Metadata::default()
        }
    }

    #[test]
    fn another_table_format_or_partitioning_is_a_change_of_the_metadata() {
        let old = metadata();
        assert_eq!(metadata_rule(&old, &old), None);
        let mut format = old.clone();
        format.format.provider = "orc".into();
        let changed = [
            Metadata { id: "j".into(), ..old.clone() },
            Metadata { partition_columns: Vec::new(), ..old.clone() },
            Metadata { configuration: [("delta.appendOnly".into(), "true".into())].into(), ..old.clone() },
            Metadata { schema_string: old.schema_string.replace("long", "string"), ..old.clone() },
            Metadata { schema_string: "{".into(), ..old.clone() },
            format,
        ];
        for new in changed {
            assert_eq!(metadata_rule(&old, &new), Some(ConflictRule::MetadataChanged), "{new:?}");
        }
        for same in [
            Metadata { description: Some("d".into()), ..old.clone() },
            Metadata { configuration: [("mine".into(), "1".into())].into(), ..old.clone() },
            Metadata { schema_string: old.schema_string.replace(':', ": "), ..old.clone() },
            Metadata { configuration: [(ROW_TRACKING.to_string(), "true".into())].into(), ..old.clone() },
        ] {
            assert_eq!(metadata_rule(&old, &same), Some(ConflictRule::PropertiesSet), "{same:?}");
        }
        let mapped = |physical: &str| {
            Metadata {
            schema_string: old.schema_string.replace(
                "\"metadata\":{",
                &format!(r#""metadata":{{"delta.columnMapping.id":1,"delta.columnMapping.physicalName":"{physical}","#),
            ),
            configuration: [("delta.columnMapping.mode".into(), "name".into())].into(),
            ..old.clone()
        }
        };
        assert_eq!(metadata_rule(&old, &mapped("a")), Some(ConflictRule::PropertiesSet));
        assert_eq!(metadata_rule(&old, &mapped("b")), Some(ConflictRule::MetadataChanged));
        let further = old.schema_string.replace("highWaterMark\":1", "highWaterMark\":2");
        let advanced = Metadata { schema_string: further, ..old.clone() };
        assert_eq!(metadata_rule(&old, &advanced), Some(ConflictRule::IdentityAdvanced));
    }
}
