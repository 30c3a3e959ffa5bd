//! Proof that a table is intact: compares the log with itself and with the files that it lists.

mod add_facts;
mod checkpoints;
mod checksums;
mod commit_facts;
mod compacted;
mod deep;
mod deep_stats;
mod differences;
mod facts;
mod features;
mod files;
mod finding;
mod hint;
mod history;
mod identities;
mod log_files;
mod names;
mod open;
mod report;
mod row_ids;
mod run;
mod state;
mod timestamps;

pub(crate) use deep::{Existing, LooksInto, check_all};
pub(crate) use facts::Facts;
pub(crate) use finding::Wrong;
pub use finding::{Finding, FindingKind};
pub use report::{VerifyOptions, VerifyReport};
pub use run::verify;
pub(crate) use run::verify_by;
