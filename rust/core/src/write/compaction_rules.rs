//! When files are joined after a commit, and by whom.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use super::file_settings::ParquetOptions;

/// When files are joined after a commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompactionRules {
    /// Small files of a partition from which on they are joined.
    pub min_files: usize,
    /// Bytes of a joined file.
    pub target_size: u64,
    /// Files up to this size are small; none takes half of a joined one.
    pub small_size: Option<u64>,
    /// Partitions that are looked after at once, those with most small files first.
    pub most_partitions: usize,
}

impl Default for CompactionRules {
    fn default() -> Self {
        CompactionRules { min_files: 50, target_size: 128 << 20, small_size: None, most_partitions: 128 }
    }
}

/// A compaction after a commit that the commit has left to others.
#[derive(Debug)]
pub(crate) struct LeftCompaction {
    /// By one spelling of their values.
    pub(crate) partitions: BTreeSet<Vec<Option<String>>>,
    pub(crate) target_size: u64,
    pub(crate) small_size: u64,
    pub(crate) compression: Option<String>,
    pub(crate) parquet: ParquetOptions,
}

/// Takes the compaction of a commit where it is large. Without it the process that commits does every compaction.
#[derive(Debug, Clone)]
pub(crate) struct Compactions {
    /// Bytes of small files from which on it is left.
    pub(crate) from: u64,
    found: Arc<Mutex<Option<LeftCompaction>>>,
}

impl Compactions {
    pub(crate) fn from(from: u64) -> Self {
        Compactions { from, found: Arc::default() }
    }

    pub(crate) fn leave(&self, compaction: LeftCompaction) {
        *self.found.lock().unwrap_or_else(PoisonError::into_inner) = Some(compaction);
    }

    /// What was left, once.
    pub(crate) fn take(&self) -> Option<LeftCompaction> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}
