//! **deltaic** reads, writes and maintains [Delta Lake](https://delta.io) tables. A commit is all or nothing, conflicts
//! are typed facts, and the content of a log or file is checked before it is trusted. There is no runtime to start:
//! every call blocks until it is done, and all types can be sent to other threads.
//!
//! Data are [Arrow](arrow) batches, which this crate hands on as [`deltaic::arrow`](arrow). Words are those of the
//! protocol, [PROTOCOL.md](https://github.com/delta-io/delta/blob/master/PROTOCOL.md).
//!
//! # Open and scan
//!
//! ```
//! # use std::sync::Arc;
//! # use deltaic::arrow::array::{Int64Array, RecordBatch, RecordBatchIterator};
//! # use deltaic::arrow::datatypes::{DataType, Field, Schema};
//! use deltaic::Table;
//!
//! # let dir = tempfile::tempdir()?;
//! # let uri = dir.path().to_str().unwrap();
//! # let schema = Arc::new(Schema::new(vec![Field::new("id", DataType::Int64, true)]));
//! # let batch = RecordBatch::try_new(schema.clone(), vec![Arc::new(Int64Array::from(vec![1, 2, 3]))])?;
//! # Table::write(uri, RecordBatchIterator::new([Ok(batch)], schema)).execute()?;
//! let table = Table::open(uri)?; // a path or URL; `…@v5` is version 5
//! for batch in table.scan().columns(["id"]).filter("id >= 2").rows()? {
//!     println!("{} rows", batch?.num_rows());
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`Table::builder`] takes a version, a time, options of the store and a level of checks; [`Table::snapshot`] is one
//! version that can be shared, [`Scan::files`] lists its files, and [`Table::changes`] the rows that changed.
//!
//! # Write and commit
//!
//! ```
//! use std::sync::Arc;
//!
//! use deltaic::Table;
//! use deltaic::arrow::array::{Int64Array, RecordBatch, RecordBatchIterator};
//! use deltaic::arrow::datatypes::{DataType, Field, Schema};
//!
//! # let dir = tempfile::tempdir()?;
//! # let uri = dir.path().to_str().unwrap();
//! let schema = Arc::new(Schema::new(vec![Field::new("id", DataType::Int64, true)]));
//! let batch = RecordBatch::try_new(schema.clone(), vec![Arc::new(Int64Array::from(vec![1, 2, 3]))])?;
//!
//! let table = Table::create(uri, (*schema).clone()).execute()?;
//! table.append(RecordBatchIterator::new([Ok(batch)], schema)).execute()?;
//! table.update_rows().set("id", "id * 10").filter("id = 2").execute()?;
//! table.delete_rows().filter("id = 3").execute()?;
//! table.alter().set_properties([("delta.enableChangeDataFeed", "true")])?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`Table::merge`] updates, deletes and inserts by the rows of a source, [`Table::upsert`] by their keys. [`Transaction`] commits files that you have
//! written yourself.
//!
//! # Outcomes of a commit
//!
//! Operations retry a lost race wherever that is safe. Otherwise there are three outcomes:
//!
//! * `Ok`: it is in the log.
//! * [`Error::CommitStateUnknown`]: the store gave no clear answer. It may be in the log, and nothing that it names may be
//!   deleted.
//! * Any other error: it is not in the log. [`Error::conflict`] says which commit it lost to, by which rule, and what to
//!   do.
//!
//! An error can carry the condition that delta-spark has for it, around the error itself: match on [`Error::plain`], or
//! compare [`Error::kind`].
//!
//! # Maintain
//!
//! [`Table::optimize`] compacts small files, [`Table::vacuum`] deletes files that no version needs, [`Table::restore`]
//! restores a version, [`Table::verify`] proves that a table is intact, and [`Table::fsck`] removes missing files from
//! the log. [`Table::shallow_clone`] and [`Table::convert`] make tables without a copy.
//!
//! # Features
//!
//! `aws`, `azure`, `gcp`, or `cloud` for all three. Without them tables are on local disks.
//!
//! # Stability
//!
//! Semantic versioning applies to what is on these pages. Enums and results are `#[non_exhaustive]`. `deltaic-core` has
//! the internals, and promises nothing.

mod alter;
mod changes;
mod core;
mod facts;
mod maintain;
mod merge;
mod options;
mod place;
mod rows;
mod scan;
mod snapshot;
mod table;
mod transaction;
mod upsert;
mod write;

pub use arrow;

pub use crate::core::{
    Cancel, CheckpointResult, CloneResult, Committed, CompareOp, Conflict, ConflictKind, ConflictRule,
    ConvertResult, CurveStats, DeleteResult, DropFeatureResult, Error, FileCount, Finding, FindingKind,
    FsckResult, IsolationLevel, Literal, MergeResult, OptimizeResult, Predicate, Report, RestoreResult,
    Result, UpdateResult, VacuumResult, VerifyLevel, VerifyReport, WriteMode, WriteResult,
};
pub use alter::Alter;
pub use changes::Changes;
pub use facts::{Commit, Metadata, Protocol};
pub use maintain::{Convert, Fsck, Optimize, Restore, ShallowClone, Vacuum, Verify};
pub use merge::Merge;
pub use options::StorageOptions;
pub use rows::{DeleteRows, UpdateRows};
pub use scan::{FileBatch, Files, Filter, Rows, Scan};
pub use snapshot::Snapshot;
pub use table::{Table, TableBuilder};
pub use transaction::{Add, Transaction};
pub use upsert::Upsert;
pub use write::{Create, Write};
