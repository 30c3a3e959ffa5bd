use std::fmt;

use super::FEATURES;

macro_rules! features {
    ($($feature:ident = $name:literal,)*) => {
        /// A table feature that deltaic knows. Protocols hold features by name, so that those that it does not know stay as
        /// they are; [`feature`](super::feature) finds the one that a name means.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum TableFeature {
            $(#[doc = concat!("`", $name, "`.")] $feature,)*
        }

        impl TableFeature {
            /// Its name in the protocol.
            pub const fn name(self) -> &'static str {
                match self {
                    $(TableFeature::$feature => $name,)*
                }
            }
        }
    };
}

// in the order of `FEATURES`
features! {
    AllowColumnDefaults = "allowColumnDefaults",
    AppendOnly = "appendOnly",
    CatalogManaged = "catalogManaged",
    ChangeDataFeed = "changeDataFeed",
    CheckConstraints = "checkConstraints",
    CheckpointProtection = "checkpointProtection",
    Clustering = "clustering",
    ColumnMapping = "columnMapping",
    DeletionVectors = "deletionVectors",
    DomainMetadata = "domainMetadata",
    GeneratedColumns = "generatedColumns",
    IcebergCompatV1 = "icebergCompatV1",
    IcebergCompatV2 = "icebergCompatV2",
    IdentityColumns = "identityColumns",
    InCommitTimestamp = "inCommitTimestamp",
    Invariants = "invariants",
    MaterializePartitionColumns = "materializePartitionColumns",
    RowTracking = "rowTracking",
    TimestampNtz = "timestampNtz",
    TypeWidening = "typeWidening",
    TypeWideningPreview = "typeWidening-preview",
    V2Checkpoint = "v2Checkpoint",
    VacuumProtocolCheck = "vacuumProtocolCheck",
    VariantShredding = "variantShredding",
    VariantShreddingPreview = "variantShredding-preview",
    VariantType = "variantType",
    VariantTypePreview = "variantType-preview",
}

impl TableFeature {
    /// Reader and writer version that imply it, if any do.
    pub(super) fn legacy(self) -> Option<(i32, i32)> {
        FEATURES.iter().find(|f| f.feature == self).and_then(|f| f.legacy)
    }
}

impl fmt::Display for TableFeature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl From<TableFeature> for String {
    fn from(feature: TableFeature) -> Self {
        feature.name().to_owned()
    }
}
