use crate::named::named;

named! {
    /// The operations that this crate commits, and those of other writers that it treats in a way of their own, by the names
    /// that delta-spark has for them. The history may hold any others: see
    /// [`CommitInfo::operation`](super::CommitInfo::operation).
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    OperationName,
    /// Its name in the log.
    name:
    AddColumns = "ADD COLUMNS",
    AddConstraint = "ADD CONSTRAINT",
    ChangeColumn = "CHANGE COLUMN",
    ChangeColumns = "CHANGE COLUMNS",
    Clone = "CLONE",
    ClusterBy = "CLUSTER BY",
    ComputeStats = "COMPUTE STATS",
    Convert = "CONVERT",
    CreateTable = "CREATE TABLE",
    CreateTableAsSelect = "CREATE TABLE AS SELECT",
    CreateOrReplaceTable = "CREATE OR REPLACE TABLE",
    CreateOrReplaceTableAsSelect = "CREATE OR REPLACE TABLE AS SELECT",
    Delete = "DELETE",
    DeletionVectorTombstones = "Deletion Vector Tombstones",
    DomainMetadataCleanup = "DOMAIN METADATA CLEANUP",
    DropColumns = "DROP COLUMNS",
    DropConstraint = "DROP CONSTRAINT",
    DropFeature = "DROP FEATURE",
    EmptyCommit = "Empty Commit",
    Fsck = "FSCK",
    ManualUpdate = "Manual Update",
    Merge = "MERGE",
    Optimize = "OPTIMIZE",
    RemoveColumnMapping = "REMOVE COLUMN MAPPING",
    RenameColumn = "RENAME COLUMN",
    Reorg = "REORG",
    ReplaceColumns = "REPLACE COLUMNS",
    ReplaceTable = "REPLACE TABLE",
    ReplaceTableAsSelect = "REPLACE TABLE AS SELECT",
    ResetApplication = "RESET APPLICATION",
    Restore = "RESTORE",
    RowTrackingBackfill = "ROW TRACKING BACKFILL",
    RowTrackingUnbackfill = "ROW TRACKING UNBACKFILL",
    SetProperties = "SET TBLPROPERTIES",
    StreamingUpdate = "STREAMING UPDATE",
    UnsetProperties = "UNSET TBLPROPERTIES",
    Update = "UPDATE",
    UpgradeProtocol = "UPGRADE PROTOCOL",
    VacuumEnd = "VACUUM END",
    VacuumStart = "VACUUM START",
    Write = "WRITE",
}

impl From<OperationName> for String {
    fn from(operation: OperationName) -> Self {
        operation.name().to_owned()
    }
}
