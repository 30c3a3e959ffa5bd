/// A transaction that is over, and did not fail.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Committed {
    /// Version that was committed, or the one in which the application transaction had been recorded before.
    pub version: u64,
    /// Whether the application transaction of this one was recorded already: nothing was committed, and prepared files
    /// belong to no commit.
    pub already_recorded: bool,
    /// How many times the commit was tried.
    pub attempts: u32,
    /// In-commit timestamp, where the table has them.
    pub in_commit_timestamp: Option<i64>,
    /// What failed after the commit point. It does not undo the commit.
    pub warnings: Vec<String>,
}
