//! MERGE without an engine: rows of a source meet those of the table.

mod bound;
mod clauses;
mod files;
mod find;
mod insert;
mod keys;
mod latest;
mod names;
mod pairs;
mod plan;
mod pruning;
mod shown;
mod source;
mod structs;
mod values;
mod write;

pub use clauses::{MergeAction, MergeClause, MergeRequest, MergeWhen};
pub(crate) use files::merge_files;
pub(crate) use pairs::{KeyPairs, find_pairs, paired_rows};
pub use pairs::{PairKey, PairLimits};
pub(crate) use plan::{MergePlan, new_columns};
pub use source::MergeSource;
