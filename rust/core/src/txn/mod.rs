//! Transactions: what was read of one version, what is to change, and the one way to commit it.

mod checks;
mod committed;
mod explain;
mod operation;
mod pending;
mod retry;
mod rewrite_metrics;
mod route;
pub(crate) mod row_ids;
mod table;
pub(crate) mod timestamps;
mod transaction;
pub(crate) mod universal_format;
pub(crate) mod warnings;

pub use committed::Committed;
pub use explain::{ConflictExplanation, explain_conflicts};
pub use operation::Operation;
pub use pending::Pending;
pub(crate) use retry::{Retries, retried};
pub(crate) use rewrite_metrics::{quartiles, rewrite_metrics};
pub use route::Route;
pub use transaction::Transaction;
pub use warnings::with_warnings;
