//! Predicates: the small tree that SQL text, Spark filters and Rust code become.

mod ast;
mod bind;
pub mod eval;

pub use ast::{ColumnPath, CompareOp, Literal, Predicate};
pub use bind::BoundColumn;
