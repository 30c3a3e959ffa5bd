//! Internals of deltaic, without a promise of stability: use the crate `deltaic`.
//!
//! It opens, reads and appends to Delta Lake tables. It replays the transaction log in Arrow columns, prunes
//! files by partition values and statistics, reads rows to Arrow and commits by put-if-absent.
//!
//! The words of this crate are the words of the Delta transaction-log protocol (`PROTOCOL.md` of delta-io/delta): a
//! [`snapshot::Snapshot`] is one version of a table, an [`actions::Add`] a logical file, and so on.

pub mod actions;
pub mod after_commit;
pub mod alter;
mod cancel;
pub mod cdf;
pub mod checkpoint;
pub mod checksum;
pub mod commit;
pub mod conflict;
pub mod deletion_vector;
pub mod dml;
pub mod engine;
pub mod error;
mod events;
pub mod expr;
pub mod features;
pub mod log;
pub mod maintain;
mod named;
pub mod operations;
mod panics;
pub mod parquet;
pub mod partition;
pub mod predicate;
mod progress;
pub mod properties;
pub mod prune;
pub mod replay;
pub mod report;
pub mod scan;
pub mod schema;
mod similar;
pub mod snapshot;
mod stats;
pub mod store;
pub mod stream;
mod sums;
pub mod txn;
mod unlocked;
pub mod verify;
pub mod write;

pub use cancel::Cancel;
pub use error::{Error, Result};
pub use panics::caught;
pub use progress::{Progress, Reached};
pub use snapshot::Snapshot;
