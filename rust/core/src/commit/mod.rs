//! Commits: put-if-absent of `N.json`, with three outcomes and a read-back after every doubtful answer.

mod attempt;
mod outcome;
mod probe;
mod retry;
mod run;
mod write;

pub use attempt::{CommitAttempt, Step};
pub use outcome::CommitOutcome;
pub use probe::{StoreProbe, probe_store};
pub(crate) use probe::{check_store, is_trusted, trust_store};
pub use retry::Backoff;
pub use run::{Landed, Proposal, run};
pub use write::write_commit;
