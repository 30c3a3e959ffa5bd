//! What a session says of the files of an operation.

use std::collections::BTreeMap;

use deltaic_core::write::{CompactionRules, ParquetOptions};
use pyo3::prelude::*;

/// None of it needs to be said.
#[derive(Default, FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct FileChoices {
    pub(crate) compression: Option<String>,
    pub(crate) max_records_per_file: Option<u64>,
    parquet: BTreeMap<String, String>,
    session_parquet: BTreeMap<String, String>,
    compact_min_files: Option<usize>,
    compact_target_size: Option<u64>,
    compact_small_size: Option<u64>,
    compact_most_partitions: Option<usize>,
}

impl FileChoices {
    pub(crate) fn parquet(&self) -> ParquetOptions {
        ParquetOptions { own: self.parquet.clone(), session: self.session_parquet.clone() }
    }

    pub(crate) fn compaction(&self) -> CompactionRules {
        let rules = CompactionRules::default();
        CompactionRules {
            min_files: self.compact_min_files.unwrap_or(rules.min_files),
            target_size: self.compact_target_size.unwrap_or(rules.target_size),
            small_size: self.compact_small_size,
            most_partitions: self.compact_most_partitions.unwrap_or(rules.most_partitions),
        }
    }
}
