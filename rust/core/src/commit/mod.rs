//! Commits: put-if-absent of `N.json`, with three outcomes and a read-back after every doubtful answer.

mod append;
mod encode;
mod outcome;
mod probe;
mod retry;
mod winner;
mod write;

pub use append::{AppendCommit, Landed, commit_append};
pub use outcome::CommitOutcome;
pub use retry::Backoff;
pub use winner::{Winner, winners_from};
pub use write::{commit_path, write_commit};
