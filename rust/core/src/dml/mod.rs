//! Deletes, updates and merges of rows without an engine: each is one commit, or none of it.

mod assignments;
mod attempt;
pub(crate) mod change_data;
mod merge;
mod nullable_rows;
mod options;
mod removal;
mod rewrite;
mod rewritten_files;
mod touched;
mod vectors;

pub(crate) use assignments::Assignments;
pub(crate) use attempt::DmlAttempt;
pub(crate) use change_data::inserted;
pub(crate) use merge::{KeyPairs, MergePlan, find_pairs, merge_files, new_columns, paired_rows};
pub use merge::{MergeAction, MergeClause, MergeRequest, MergeSource, MergeWhen, PairKey, PairLimits};
pub use options::{DeleteDone, DmlOptions, MergeDone, UpdateDone};
pub(crate) use removal::{Removed, candidates, check_removable, claim, millis, remove_rows, rows_of};
pub(crate) use rewrite::{Change, rewrite};
pub(crate) use touched::{Touched, find, in_each};
pub(crate) use vectors::{Marked, mark};
