//! Deletes and updates of the rows that a condition is true for, without an engine: each is one commit, or none of it.

mod assignments;
mod attempt;
mod change_data;
mod condition;
mod delete;
mod job;
mod options;
mod parts;
mod pruning;
mod removal;
mod rewrite;
mod spread;
mod touched;
mod update;
mod vectors;

pub(crate) use attempt::Attempt;
pub(crate) use change_data::inserted;
pub(crate) use condition::Condition;
pub use delete::delete;
pub use options::{DeleteDone, DmlOptions, UpdateDone};
pub use parts::Part;
pub(crate) use removal::{Removed, remove_rows};
pub use spread::{DmlCounts, SpreadDml, TakenRows};
pub use update::update;
