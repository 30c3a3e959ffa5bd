//! Commits: put-if-absent of `N.json`, with three outcomes and a read-back after every doubtful answer.

mod attempt;
mod encode;
mod hooks;
mod outcome;
mod probe;
mod retry;
mod run;
mod winner;
mod write;

pub use attempt::{Attempt, Step};
pub use encode::ActionRef;
pub use hooks::{AfterCommit, NewCommit, after_commit};
pub use outcome::CommitOutcome;
pub use retry::Backoff;
pub use run::{Landed, Proposal, run};
pub use winner::{Winner, winners_from};
pub use write::{commit_path, write_commit};
