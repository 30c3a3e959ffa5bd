//! What can go wrong: [`Error`] with its facts, the conditions of delta-spark that it names, and the conflict of two commits.

pub mod condition;
mod conflict;
mod constructors;
mod fact;
mod kinds;
mod named;
mod rule;

pub use conflict::{Conflict, ConflictKind};
pub use fact::Fact;
pub use kinds::{Error, Given, Result};
pub use rule::ConflictRule;
