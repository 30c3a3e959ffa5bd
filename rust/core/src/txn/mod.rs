//! Transactions: what was read of one version, what is to change, and the one way to commit it.

mod bounds;
mod checks;
mod committed;
mod explain;
pub(crate) mod heard;
mod operation;
mod pending;
mod retry;
mod rewrite_metrics;
pub(crate) mod row_ids;
mod table;
pub(crate) mod timestamps;
mod transaction;

pub(crate) use bounds::wide_bounds;
pub use committed::Committed;
pub use explain::{Explanation, explain_conflicts};
pub use heard::hear_warnings;
pub use operation::Operation;
pub use pending::Pending;
pub(crate) use retry::retried;
pub(crate) use rewrite_metrics::{quartiles, rewrite_metrics};
pub use transaction::Transaction;
