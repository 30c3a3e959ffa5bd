//! Pruning: which files of a table can hold a row that matches a predicate.
//!
//! Sound by construction: every rule answers with the set of truth values that the rows of a file may give, and a file
//! is dropped only where TRUE is not among them. What is absent, torn or not understood widens the set.

mod pruner;

pub use crate::predicate::BoundColumn;
pub use pruner::{Pruner, Verdict};
