//! Transactions: what was read of one version, what is to change, and the one way to commit it.

mod bounds;
mod checks;
mod committed;
mod operation;
mod pending;
pub(crate) mod row_ids;
mod table;
pub(crate) mod timestamps;
mod transaction;

pub(crate) use bounds::wide_bounds;
pub use committed::Committed;
pub use operation::Operation;
pub use pending::Pending;
pub use transaction::Transaction;
