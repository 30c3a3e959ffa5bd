use crate::actions::CommitInfo;

/// What became of one attempt to write `N.json`.
#[derive(Debug, Clone, PartialEq)]
pub enum CommitOutcome {
    /// The version is ours: the store confirmed it, or the existing commit has our `txnId`.
    Committed(u64),
    /// The version is another writer's.
    Conflict {
        /// The version that was lost.
        version: u64,
        /// Provenance of the winner, where it wrote one.
        winner: Option<Box<CommitInfo>>,
    },
    /// The store gave no clear answer and reading back gave none either. The commit may be there: nothing that it
    /// refers to may be deleted.
    Unknown {
        /// The version that was attempted.
        version: u64,
        /// What the store answered.
        reason: String,
    },
}
