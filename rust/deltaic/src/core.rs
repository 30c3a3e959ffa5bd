//! The one place that knows where things are in `deltaic-core`.

pub(crate) use deltaic_core::actions::{Add, FilePath, Metadata, Protocol};
pub(crate) use deltaic_core::alter::{ColumnChange, NewColumn};
pub(crate) use deltaic_core::cdf::{CdfBound, CdfRequest, ChangeDataFeed};
pub(crate) use deltaic_core::checkpoint::checkpoint;
pub(crate) use deltaic_core::dml::{
    DmlOptions, MergeAction, MergeClause, MergeRequest, MergeSource, MergeWhen,
};
pub(crate) use deltaic_core::maintain::{
    Alteration, CloneOptions, ConvertOptions, DropOptions, OptimizeOptions, Partitioning, RestoreOptions,
    VacuumMode, VacuumOptions, alter_table, convert, drop_feature, fsck, optimize, restore, shallow_clone,
    vacuum,
};
pub(crate) use deltaic_core::operations::{delete, merge, update, write};
pub(crate) use deltaic_core::replay::{FileBatch, FileStream, FilesRequest};
pub(crate) use deltaic_core::scan::{ReadRequest, RowFilter, read};
pub(crate) use deltaic_core::schema::{StructField, StructType, from_arrow, to_arrow_schema};
pub(crate) use deltaic_core::snapshot::{At, Commit, Snapshot, resolve_table_path};
pub(crate) use deltaic_core::store::{Location, StorageOptions};
pub(crate) use deltaic_core::txn::{Operation, Transaction};
pub(crate) use deltaic_core::verify::{VerifyOptions, verify};
pub(crate) use deltaic_core::write::{DefineMode, TableSpec, WriteOptions, define_table};

// what users see as it is
pub use deltaic_core::checkpoint::CheckpointDone as CheckpointResult;
pub use deltaic_core::conflict::IsolationLevel;
pub use deltaic_core::dml::{
    DeleteDone as DeleteResult, MergeDone as MergeResult, UpdateDone as UpdateResult,
};
pub use deltaic_core::error::{Conflict, ConflictKind, ConflictRule};
pub use deltaic_core::maintain::{
    CloneDone as CloneResult, ConvertDone as ConvertResult, CurveStats, DropDone as DropFeatureResult,
    FileCount, FsckDone as FsckResult, OptimizeDone as OptimizeResult, RestoreDone as RestoreResult,
    VacuumDone as VacuumResult,
};
pub use deltaic_core::predicate::{CompareOp, Literal, Predicate};
pub use deltaic_core::report::Report;
pub use deltaic_core::snapshot::Verify as VerifyLevel;
pub use deltaic_core::txn::Committed;
pub use deltaic_core::verify::{Finding, FindingKind, VerifyReport};
pub use deltaic_core::write::{WriteMode, WriteResult};
pub use deltaic_core::{Cancel, Error, Result};
