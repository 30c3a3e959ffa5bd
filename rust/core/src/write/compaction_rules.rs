use serde::{Deserialize, Serialize};

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
