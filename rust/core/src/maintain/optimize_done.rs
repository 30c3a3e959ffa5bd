use super::cubes::CurveStats;
use crate::conflict::Changes;
use crate::txn::quartiles;

/// What an optimize did. Sizes and vectors are those of the commit: where others deleted rows meanwhile, a file that nothing
/// was left of is in neither list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct OptimizeDone {
    /// Version that was committed; none where there was nothing to do.
    pub version: Option<u64>,
    /// Files that were looked at.
    pub considered: u64,
    /// Partitions that something was done in.
    pub partitions: u64,
    /// Sizes of the files that joined, ascending.
    pub added: Vec<u64>,
    /// Sizes of the files that left, ascending.
    pub removed: Vec<u64>,
    /// Deletion vectors that left with their files.
    pub vectors: u64,
    /// Rows that vectors hid when the files were read, which are not in the new ones.
    pub deleted_rows: u64,
    /// Bytes of these vectors.
    pub vector_bytes: u64,
    /// Results of sorting rows by Z-order.
    pub zorder: Option<CurveStats>,
    /// Where the table is clustered.
    pub clustering: Option<CurveStats>,
    /// What failed after the commit. The commit is not undone.
    pub warnings: Vec<String>,
}

impl OptimizeDone {
    /// Takes the files from the commit.
    pub(super) fn tell(&mut self, changes: &Changes) {
        let sizes = |sizes: &mut dyn Iterator<Item = i64>| {
            let mut sizes: Vec<u64> = sizes.map(i64::unsigned_abs).collect();
            sizes.sort_unstable();
            sizes
        };
        self.added = sizes(&mut changes.adds.iter().map(|add| add.size));
        self.removed = sizes(&mut changes.removes.iter().filter_map(|remove| remove.size));
        let vectors = changes.removes.iter().filter_map(|remove| remove.deletion_vector.as_ref());
        let bytes: Vec<u64> = vectors.map(|v| u64::from(v.size_in_bytes.unsigned_abs())).collect();
        self.vectors = bytes.len() as u64;
        self.vector_bytes = bytes.iter().sum();
    }

    /// Smallest, first quartile, median, third quartile and largest size of the new files, as delta-spark takes them.
    pub fn quartiles(&self) -> [u64; 5] {
        quartiles(&self.added)
    }
}
