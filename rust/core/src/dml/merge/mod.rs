//! MERGE without an engine: rows of a source meet those of the table.

mod bound;
mod clauses;
mod find;
mod insert;
mod keys;
mod latest;
mod names;
mod plan;
mod pruning;
mod shown;
mod source;
mod structs;
mod values;
mod write;

pub use clauses::{MergeAction, MergeClause, MergeRequest, MergeWhen};
pub(crate) use plan::{MergePlan, merge_files, new_columns};
pub use source::MergeSource;
