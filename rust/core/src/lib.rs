//! **deltaic** opens, reads and appends to Delta Lake tables. It replays the transaction log in Arrow columns, prunes
//! files by partition values and statistics, reads rows to Arrow and commits by put-if-absent.
//!
//! The words of this crate are the words of the Delta transaction-log protocol (`PROTOCOL.md` of delta-io/delta): a
//! [`snapshot::Snapshot`] is one version of a table, an [`actions::Add`] a logical file, and so on.

pub mod actions;
pub mod alter;
mod cancel;
pub mod changes;
pub mod checkpoint;
pub mod commit;
pub mod condition;
pub mod conflict;
pub mod dml;
pub mod error;
mod events;
pub mod expr;
mod fact;
pub mod features;
pub mod log;
pub mod maintain;
mod panics;
pub mod predicate;
pub mod prune;
pub mod replay;
pub mod scan;
pub mod schema;
pub mod snapshot;
pub mod store;
pub mod stream;
mod sums;
pub mod txn;
mod universal_format;
pub mod verify;
pub mod write;

pub use cancel::Cancel;
pub use error::{Error, Result};
pub use panics::caught;
pub use snapshot::Snapshot;
