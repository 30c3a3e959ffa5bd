//! Writes and changes of rows as whole operations: each is one commit, or none of it.

mod append;
mod delete;
mod identity_retry;
mod job;
mod merge;
mod new_files;
mod overwrite;
#[cfg(all(test, unix))]
mod power_cut_tests;
mod update;

pub use append::{commit_adds, write};
pub(crate) use append::{commit_made, make_durable, marks_of, operation};
pub use delete::delete;
pub(crate) use job::DmlJob;
pub use merge::merge;
pub(crate) use new_files::fill;
pub use update::update;
