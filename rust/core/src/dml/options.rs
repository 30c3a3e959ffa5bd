use std::time::Duration;

use crate::write::{CompactionRules, ParquetOptions, WriteMode, WriteOptions};

/// How to delete or update.
#[derive(Debug, Clone)]
pub struct DmlOptions {
    /// Size in bytes at which a data file is closed and the next begun.
    pub target_file_size: u64,
    /// Whether rows of files may be marked as deleted where they are, where the table has deletion vectors.
    pub vectors: bool,
    /// Whether small files are compacted after the commit; none leaves it to `delta.autoOptimize.autoCompact` of the table.
    pub auto_compact: Option<bool>,
    /// When they are.
    pub compaction: CompactionRules,
    /// Compression of data files; none takes `delta.parquet.compression.codec` of the table, or snappy.
    pub compression: Option<String>,
    /// How else data files are encoded.
    pub parquet: ParquetOptions,
    /// Rows at which a data file is closed and the next begun.
    pub max_rows_per_file: Option<u64>,
    /// Text for `commitInfo.userMetadata`.
    pub user_metadata: Option<String>,
    /// Application id and its version: with a version that the table has already recorded, or an older one, nothing is
    /// repeated.
    pub app_transaction: Option<(String, i64)>,
    /// Engine that `commitInfo.engineInfo` names before deltaic itself.
    pub engine: Option<String>,
    /// How long lost races are repeated, the operation on what the winners left included.
    pub commit_budget: Duration,
}

impl Default for DmlOptions {
    fn default() -> Self {
        let write = WriteOptions::default();
        DmlOptions {
            target_file_size: write.target_file_size,
            vectors: true,
            auto_compact: None,
            compaction: CompactionRules::default(),
            compression: None,
            parquet: ParquetOptions::default(),
            max_rows_per_file: None,
            user_metadata: None,
            app_transaction: None,
            engine: None,
            commit_budget: write.commit_budget,
        }
    }
}

impl DmlOptions {
    /// Those of a write.
    pub(crate) fn of_write(write: &WriteOptions) -> Self {
        DmlOptions {
            target_file_size: write.target_file_size,
            vectors: write.vectors,
            auto_compact: write.auto_compact,
            compaction: write.compaction.clone(),
            compression: write.compression.clone(),
            parquet: write.parquet.clone(),
            max_rows_per_file: write.max_rows_per_file,
            user_metadata: write.user_metadata.clone(),
            app_transaction: write.app_transaction.clone(),
            engine: write.engine.clone(),
            commit_budget: write.commit_budget,
        }
    }

    /// The options of the files that are written.
    pub(crate) fn write(&self) -> WriteOptions {
        WriteOptions {
            mode: WriteMode::Append,
            target_file_size: self.target_file_size,
            vectors: self.vectors,
            auto_compact: self.auto_compact,
            compaction: self.compaction.clone(),
            compression: self.compression.clone(),
            parquet: self.parquet.clone(),
            max_rows_per_file: self.max_rows_per_file,
            ..Default::default()
        }
    }
}

/// What a delete did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeleteDone {
    /// Version that was committed; none where no row matched, or the application transaction was already recorded.
    pub version: Option<u64>,
    /// Rows deleted; none where whole files were removed whose number of rows is in no statistics.
    pub deleted_rows: Option<u64>,
    /// Rows that stayed and were written again, into other files.
    pub copied_rows: u64,
    /// Data files removed.
    pub removed_files: u64,
    /// Data files added.
    pub added_files: u64,
    /// Deletion vectors that joined, in place of another or not.
    pub vectors_added: u64,
    /// Deletion vectors that left, with their file or for another.
    pub vectors_removed: u64,
    /// Files of row-level changes.
    pub change_files: u64,
    /// What failed after the commit. The commit is not undone.
    pub warnings: Vec<String>,
}

/// What an update did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct UpdateDone {
    /// Version that was committed; none where no row matched, or the application transaction was already recorded.
    pub version: Option<u64>,
    /// Rows updated.
    pub updated_rows: u64,
    /// Rows that stayed as they were and were written again, into other files.
    pub copied_rows: u64,
    /// Data files with updated rows: they were removed, or the rows marked in a deletion vector.
    pub touched_files: u64,
    /// Data files added.
    pub added_files: u64,
    /// Deletion vectors that joined, in place of another or not.
    pub vectors_added: u64,
    /// Deletion vectors that left, with their file or for another.
    pub vectors_removed: u64,
    /// Files of row-level changes.
    pub change_files: u64,
    /// What failed after the commit. The commit is not undone.
    pub warnings: Vec<String>,
}

/// What a merge did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MergeDone {
    /// Version that was committed; none where no clause applied and no column was added, or the application transaction was
    /// already recorded.
    pub version: Option<u64>,
    /// Rows of the source.
    pub source_rows: u64,
    /// Rows inserted.
    pub inserted_rows: u64,
    /// Rows updated.
    pub updated_rows: u64,
    /// Rows deleted.
    pub deleted_rows: u64,
    /// Rows that stayed as they were and were written again, into other files.
    pub copied_rows: u64,
    /// Data files with updated or deleted rows: they were removed, or the rows marked in a deletion vector.
    pub touched_files: u64,
    /// Data files added.
    pub added_files: u64,
    /// Deletion vectors that joined, in place of another or not.
    pub vectors_added: u64,
    /// Deletion vectors that left, with their file or for another.
    pub vectors_removed: u64,
    /// Files of row-level changes.
    pub change_files: u64,
    /// What failed after the commit. The commit is not undone.
    pub warnings: Vec<String>,
}
