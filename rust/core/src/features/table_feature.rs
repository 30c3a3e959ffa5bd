use crate::named::named;

// in the order of `FEATURES`
named! {
    /// A table feature that deltaic knows. Protocols hold features by name, so that those that it does not know stay as
    /// they are; [`feature`](super::feature) finds the one that a name means.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    TableFeature,
    /// Its name in the protocol.
    name:
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
    IcebergCompatV3 = "icebergCompatV3",
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

impl From<TableFeature> for String {
    fn from(feature: TableFeature) -> Self {
        feature.name().to_owned()
    }
}
