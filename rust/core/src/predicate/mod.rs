//! Predicates: the small tree that SQL text, Spark filters and Rust code become.

mod ast;
pub(crate) mod bind;
pub(crate) mod canonical;
mod display;
pub mod eval;
mod literal;
pub(crate) mod scalar;
pub(crate) mod text;

pub use ast::{ColumnPath, CompareOp, Literal, Predicate};
pub use bind::BoundColumn;
pub(crate) use literal::not_finite;
