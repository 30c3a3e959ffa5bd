//! Deletes and updates of the rows that a condition is true for, without an engine: each is one commit, or none of it.

mod assignments;
mod change_data;
mod condition;
mod delete;
mod job;
mod options;
mod pruning;
mod rewrite;
mod spread;
mod touched;
mod update;
mod vectors;

pub use delete::delete;
pub use options::{DeleteDone, DmlOptions, UpdateDone};
pub use spread::{DmlCounts, SpreadDml, TakenRows};
pub use update::update;
