//! The SQL expressions that a Delta log holds (CHECK constraints, invariants, generated columns, defaults) and the
//! conditions of deletes and updates, evaluated over Arrow batches as Spark SQL evaluates them.

mod arithmetic;
mod ast;
mod bind;
mod bound;
mod call;
mod cast;
mod cast_text;
mod coerce;
mod compare;
mod decimal;
mod depth;
mod eval;
mod evaluator;
mod field;
mod implied;
mod kernel;
mod literal;
mod math;
mod names;
mod nested;
mod operators;
mod parse;
mod pattern;
mod print;
mod regex_translate;
mod rule;
mod rule_functions;
mod rule_text;
mod split;
mod temporal;
mod temporal_format;
mod text;
mod time_text;

pub use ast::{Binary, Expr, Interval, Literal};
pub use evaluator::Evaluator;
pub(crate) use field::visible;
pub(crate) use implied::implied;
pub use parse::parse;
pub(crate) use pattern::java_regex;
pub use print::print;
pub use rule::Rule;
pub use rule_functions::{RuleKind, rule_functions};
pub(crate) use rule_text::has_subquery;

#[cfg(test)]
mod print_tests;
#[cfg(test)]
mod tests;
