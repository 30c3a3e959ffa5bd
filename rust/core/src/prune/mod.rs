//! Pruning: which files of a table can hold a row that matches a predicate.
//!
//! Sound by construction: every rule answers with the set of truth values that the rows of a file may give, and a file
//! is dropped only where TRUE is not among them. What is absent, torn or not understood widens the set.
//!
//! | file | says |
//! |---|---|
//! | `partition` | what a serialized or parsed partition value means |
//! | `stats_json`, `stats_struct` | where statistics are found |
//! | `json_shape` | texts of JSON that differ in their values only |
//! | `bounds`, `side`, `timestamps`, `nulls` | what a minimum, maximum or null count promises of the rows |
//! | `row_groups`, `pages` | what the Parquet statistics of a checkpoint promise of its files |
//! | `range`, `outcomes`, `plan` | what follows for a predicate |
//! | `interval` | which files a comparison with whole numbers drops at once |
//! | `held_facts` | statistics of a column that are held for the next predicate |
//! | `explain` | which part of a predicate drops a file |

mod bounds;
mod explain;
mod held_facts;
mod interval;
mod json_shape;
mod nulls;
mod outcomes;
mod pages;
mod partition;
mod plan;
mod pruner;
mod range;
mod row_groups;
mod side;
mod stats_json;
mod stats_struct;
mod timestamps;

pub use crate::predicate::BoundColumn;
pub(crate) use explain::{PredicatePart, RuledOut};
pub(crate) use held_facts::HeldFacts;
pub(crate) use json_shape::{Shape, Shapes};
pub use pruner::Pruner;

#[cfg(test)]
mod proptests;
#[cfg(test)]
mod tests;
