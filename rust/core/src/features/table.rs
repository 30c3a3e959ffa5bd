//! Every feature that deltaic knows, as data. What reads, writes, enables, upgrades or drops a feature looks here.

use super::{ROW_TRACKING_DOMAIN, TableFeature, Use};
use crate::actions::Metadata;
use crate::properties::{CONSTRAINT_PREFIX, TableProperty};
use crate::schema::{DataType, GENERATION_EXPRESSION, IDENTITY_START, INVARIANTS, StructType};

/// A table feature.
#[derive(Debug)]
pub struct Feature {
    /// The feature.
    pub feature: TableFeature,
    /// Whether readers must know it too.
    pub reader_writer: bool,
    /// Reader and writer version that imply it, for the features that are older than table features.
    pub legacy: Option<(i32, i32)>,
    /// Features that it requires.
    pub requires: &'static [TableFeature],
    /// What in a table's metadata makes use of it, so that the protocol must have it.
    pub used_by: &'static [Use],
    /// Whether a change of an existing table that makes use of it adds it to the protocol; otherwise it must be asked for
    /// by `delta.feature.<name> = supported`.
    pub automatic: bool,
    /// A feature that replaces this one: where the table has it, metadata does not need this one.
    pub instead: Option<TableFeature>,
    /// How it can be dropped.
    pub removal: Option<Removal>,
    /// Whether deltaic reads tables that have it.
    pub reads: bool,
    /// Whether deltaic writes to tables that have it.
    pub writes: bool,
}

impl Feature {
    /// Its name in the protocol.
    pub const fn name(&self) -> &'static str {
        self.feature.name()
    }
}

/// How a feature is dropped.
#[derive(Debug)]
pub struct Removal {
    /// Whether clients without the feature must be kept from versions that have it: by protected checkpoints or by
    /// truncating the history.
    pub protects_history: bool,
    /// Properties that go with the feature.
    pub properties: &'static [TableProperty],
    /// Domains of `domainMetadata` that belong to it.
    pub domains: &'static [&'static str],
}

impl Removal {
    const PLAIN: Removal = Removal { protects_history: false, properties: &[], domains: &[] };
    const PROTECTED: Removal = Removal { protects_history: true, properties: &[], domains: &[] };
}

/// A feature that only writers need to know.
const fn writer(feature: TableFeature) -> Feature {
    Feature {
        feature,
        reader_writer: false,
        legacy: None,
        requires: &[],
        used_by: &[],
        automatic: false,
        instead: None,
        removal: None,
        reads: true,
        writes: true,
    }
}

/// A feature that readers must know too.
const fn reader(feature: TableFeature) -> Feature {
    Feature { reader_writer: true, ..writer(feature) }
}

fn is_timestamp_ntz(data_type: &DataType) -> bool {
    *data_type == DataType::TimestampNtz
}

fn is_variant(data_type: &DataType) -> bool {
    *data_type == DataType::Variant
}

/// All of them, by name.
pub static FEATURES: &[Feature] = &[
    writer(TableFeature::AllowColumnDefaults),
    Feature {
        legacy: Some((0, 2)),
        used_by: &[Use::True(TableProperty::AppendOnly)],
        automatic: true,
        ..writer(TableFeature::AppendOnly)
    },
    Feature {
        requires: &[TableFeature::InCommitTimestamp, TableFeature::VacuumProtocolCheck],
        reads: false,
        writes: false,
        ..reader(TableFeature::CatalogManaged)
    },
    Feature {
        legacy: Some((0, 4)),
        used_by: &[Use::True(TableProperty::EnableChangeDataFeed)],
        automatic: true,
        ..writer(TableFeature::ChangeDataFeed)
    },
    Feature {
        legacy: Some((0, 3)),
        used_by: &[Use::Prefix(CONSTRAINT_PREFIX)],
        automatic: true,
        removal: Some(Removal::PLAIN),
        ..writer(TableFeature::CheckConstraints)
    },
    Feature {
        removal: Some(Removal {
            properties: &[TableProperty::RequireCheckpointProtectionBeforeVersion],
            ..Removal::PLAIN
        }),
        ..writer(TableFeature::CheckpointProtection)
    },
    Feature { requires: &[TableFeature::DomainMetadata], ..writer(TableFeature::Clustering) },
    Feature {
        legacy: Some((2, 5)),
        used_by: &[Use::Not(TableProperty::ColumnMappingMode, "none")],
        automatic: true,
        removal: Some(Removal {
            properties: &[TableProperty::ColumnMappingMode, TableProperty::ColumnMappingMaxColumnId],
            ..Removal::PROTECTED
        }),
        ..reader(TableFeature::ColumnMapping)
    },
    Feature {
        used_by: &[Use::True(TableProperty::EnableDeletionVectors)],
        automatic: true,
        removal: Some(Removal::PROTECTED),
        ..reader(TableFeature::DeletionVectors)
    },
    Feature { removal: Some(Removal::PLAIN), ..writer(TableFeature::DomainMetadata) },
    Feature {
        legacy: Some((0, 4)),
        used_by: &[Use::Column(GENERATION_EXPRESSION)],
        automatic: true,
        ..writer(TableFeature::GeneratedColumns)
    },
    Feature {
        requires: &[TableFeature::ColumnMapping],
        used_by: &[Use::True(TableProperty::EnableIcebergCompatV1)],
        automatic: true,
        ..writer(TableFeature::IcebergCompatV1)
    },
    Feature {
        requires: &[TableFeature::ColumnMapping],
        used_by: &[Use::True(TableProperty::EnableIcebergCompatV2)],
        automatic: true,
        ..writer(TableFeature::IcebergCompatV2)
    },
    Feature {
        requires: &[TableFeature::ColumnMapping, TableFeature::RowTracking],
        used_by: &[Use::True(TableProperty::EnableIcebergCompatV3)],
        automatic: true,
        ..writer(TableFeature::IcebergCompatV3)
    },
    Feature {
        legacy: Some((0, 6)),
        used_by: &[Use::Column(IDENTITY_START)],
        automatic: true,
        ..writer(TableFeature::IdentityColumns)
    },
    Feature {
        used_by: &[Use::True(TableProperty::EnableInCommitTimestamps)],
        automatic: true,
        removal: Some(Removal {
            properties: &[
                TableProperty::InCommitTimestampEnablementVersion,
                TableProperty::InCommitTimestampEnablementTimestamp,
            ],
            ..Removal::PLAIN
        }),
        ..writer(TableFeature::InCommitTimestamp)
    },
    Feature {
        legacy: Some((0, 2)),
        used_by: &[Use::NotNull, Use::Column(INVARIANTS)],
        automatic: true,
        ..writer(TableFeature::Invariants)
    },
    Feature {
        used_by: &[Use::True(TableProperty::EnableMaterializePartitionColumns)],
        automatic: true,
        removal: Some(Removal {
            properties: &[TableProperty::EnableMaterializePartitionColumns],
            ..Removal::PLAIN
        }),
        ..writer(TableFeature::MaterializePartitionColumns)
    },
    Feature {
        requires: &[TableFeature::DomainMetadata],
        used_by: &[Use::True(TableProperty::EnableRowTracking)],
        automatic: true,
        removal: Some(Removal {
            properties: &[
                TableProperty::EnableRowTracking,
                TableProperty::RowTrackingSuspended,
                TableProperty::MaterializedRowIdColumn,
                TableProperty::MaterializedRowCommitVersionColumn,
            ],
            domains: &[ROW_TRACKING_DOMAIN],
            ..Removal::PLAIN
        }),
        ..writer(TableFeature::RowTracking)
    },
    Feature { used_by: &[Use::Type(is_timestamp_ntz)], ..reader(TableFeature::TimestampNtz) },
    Feature {
        used_by: &[Use::True(TableProperty::EnableTypeWidening)],
        automatic: true,
        instead: Some(TableFeature::TypeWideningPreview),
        removal: Some(Removal { properties: &[TableProperty::EnableTypeWidening], ..Removal::PROTECTED }),
        ..reader(TableFeature::TypeWidening)
    },
    Feature {
        removal: Some(Removal { properties: &[TableProperty::EnableTypeWidening], ..Removal::PROTECTED }),
        ..reader(TableFeature::TypeWideningPreview)
    },
    Feature {
        used_by: &[Use::Is(TableProperty::CheckpointPolicy, "v2")],
        automatic: true,
        removal: Some(Removal::PROTECTED),
        ..reader(TableFeature::V2Checkpoint)
    },
    Feature { removal: Some(Removal::PROTECTED), ..reader(TableFeature::VacuumProtocolCheck) },
    Feature { requires: &[TableFeature::VariantType], ..reader(TableFeature::VariantShredding) },
    // the one that delta-spark 4.4 adds, by itself as there
    Feature {
        used_by: &[Use::True(TableProperty::EnableVariantShredding)],
        automatic: true,
        instead: Some(TableFeature::VariantShredding),
        ..reader(TableFeature::VariantShreddingPreview)
    },
    Feature {
        used_by: &[Use::Type(is_variant)],
        automatic: true,
        instead: Some(TableFeature::VariantTypePreview),
        ..reader(TableFeature::VariantType)
    },
    reader(TableFeature::VariantTypePreview),
];

impl TableFeature {
    /// Reader and writer version that imply it, if any do.
    pub(super) fn legacy(self) -> Option<(i32, i32)> {
        FEATURES.iter().find(|f| f.feature == self).and_then(|f| f.legacy)
    }
}

/// The feature of this name, in any case.
pub fn feature(name: &str) -> Option<&'static Feature> {
    FEATURES.iter().find(|f| f.name().eq_ignore_ascii_case(name))
}

/// The features that the metadata makes use of, and how.
pub fn used_features(
    metadata: &Metadata,
    schema: &StructType,
    has: impl Fn(TableFeature) -> bool,
) -> Vec<(&'static Feature, String)> {
    let used = |f: &'static Feature| {
        let what = f.used_by.iter().find_map(|usage| usage.find(metadata, schema))?;
        (!f.instead.is_some_and(&has)).then_some((f, what))
    };
    FEATURES.iter().filter_map(used).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_in_order() {
        let names: Vec<String> = FEATURES.iter().map(|f| f.name().to_lowercase()).collect();
        assert!(names.is_sorted_by(|a, b| a < b), "{names:?}");
        for (at, one) in FEATURES.iter().enumerate() {
            assert_eq!(one.feature as usize, at, "{}", one.feature);
        }
    }

    #[test]
    fn what_is_older_than_table_features_upgrades_by_itself() {
        for feature in FEATURES.iter().filter(|f| f.legacy.is_some()) {
            assert!(feature.automatic, "{}", feature.name());
        }
        for feature in FEATURES.iter().filter(|f| f.removal.as_ref().is_some_and(|r| r.protects_history)) {
            assert!(feature.reader_writer, "{}", feature.name());
        }
    }
}
