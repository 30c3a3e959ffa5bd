//! Changes of a table's definition: pure functions from its protocol, metadata and schema to new ones. Nothing is read or
//! written here; each refusal is an error of its own, raised before anything is.
//!
//! An executor reads the table, changes its [`Definition`], and commits what differs:
//!
//! ```
//! use deltaic_core::actions::{Metadata, Protocol};
//! use deltaic_core::alter::{Definition, rename_column, set_properties};
//!
//! # fn run(protocol: &Protocol, metadata: &Metadata) -> deltaic_core::error::Result<()> {
//! // `protocol` and `metadata` of a snapshot; the domain `delta.clustering` where the table has one
//! let table = Definition::of(protocol, metadata)?.with_clustering(None)?;
//! let mapped = [("delta.columnMapping.mode".to_owned(), "name".to_owned())].into();
//! let new = set_properties(&table, &mapped, Default::default())?;
//! let new = rename_column(&new, &["old".to_owned()], "new")?;
//! // to be committed: `new.protocol` where it is not `protocol`, and `new.metadata`
//! # Ok(()) }
//! ```
//!
//! * A commit that loses its race against a change of metadata is retried on the winner's definition.
//! * [`validate`] and [`validate_replacement`] check a protocol and metadata from elsewhere, and [`check_keeps_features`]
//!   that none is lost but by being dropped: every transaction makes these checks before its commit.
//! * What needs the table's rows or files is said where it is needed: a new CHECK constraint is evaluated on all rows
//!   ([`add_constraint`]), row tracking gives ids to all files before it is on ([`row_tracking`]), identity columns move
//!   their marks ([`identity`]), and a feature is dropped in steps ([`drop_feature`]). A transaction itself notes version
//!   and time at which in-commit timestamps begin.

mod add_column;
mod change;
mod change_column;
mod cluster_by;
pub mod clustering;
mod collations;
mod column_mapping;
pub(crate) mod constraints;
mod defaults;
mod definition;
mod drop_column;
pub mod drop_feature;
mod evolve;
mod expression_names;
mod finalize;
pub mod generated;
pub mod iceberg_compat;
pub mod identity;
mod literal_default;
mod names;
mod paths;
pub mod properties;
mod protocol;
pub(crate) mod references;
mod rename_column;
mod replace_columns;
pub mod row_tracking;
mod set_default;
mod stats_list;
mod sync_mark;
mod validate;
pub mod widen;

pub use add_column::{NewColumn, Position, add_columns};
pub use change::Change;
pub use change_column::{ColumnChange, change_columns};
pub use cluster_by::cluster_by;
pub use column_mapping::without_mapping;
pub(crate) use column_mapping::{nested_id, reuse};
pub use constraints::{add_constraint, constraints, drop_constraint};
pub(crate) use defaults::check_defaults_supported;
pub use definition::{Definition, columns_from_json};
pub use drop_column::drop_columns;
pub use evolve::{merge_schema, merge_source_schema, overwrite_schema};
pub use finalize::finalize;
pub(crate) use names::check_partition_columns;
pub(crate) use paths::{physical as physical_path, resolve as resolve_path};
pub use properties::{SetOptions, known_properties, set_properties, unset_properties};
pub(crate) use protocol::joined_protocol;
pub use protocol::{Asked, check_keeps_features};
pub use rename_column::rename_column;
pub use replace_columns::replace_columns;
pub use set_default::set_default;
pub(crate) use sync_mark::sync_mark;
pub use validate::{validate, validate_replacement};

#[cfg(test)]
mod sequences;
#[cfg(test)]
pub(crate) mod testing;
