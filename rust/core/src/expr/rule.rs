//! The rules of a table for Spark, which computes them itself: as the core prints them again, or bounded texts that only
//! Spark knows.

use serde::{Deserialize, Serialize};

use super::ast::Expr;
use super::parse::parse;
use super::print::print;
use super::rule_functions::{RuleKind, is_function, is_random, may_call};
use super::rule_text;
use super::rule_text::Unfit;
use crate::error::condition::Condition;
use crate::error::{Error, Result, condition};
use crate::schema::StructType;

/// A rule that an engine may be given.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Rule {
    /// The text of the log, for errors.
    pub expression: String,
    /// The same in Spark SQL, as the core printed it: names in quotes, constants that no setting changes, only functions
    /// that rules may call. None is what only Spark knows: not to be computed before its tree is known to be harmless.
    pub sql: Option<String>,
    /// The functions that `sql` calls, once each. They must be Spark's own in the session.
    pub functions: Vec<String>,
}

impl Rule {
    /// The rule of a text of the log, over these columns; a default is over none.
    ///
    /// # Errors
    /// [`Error::InvalidExpression`] for a missing column, for a function that such a rule must not call, and for
    /// a text that no parser should be given: too long, too deep, no expression at all, with a subquery or `${`.
    pub fn of(text: &str, schema: &StructType, kind: RuleKind<'_>) -> Result<Self> {
        let refused = |reason: String| Error::InvalidExpression { expression: text.to_owned(), reason };
        let none = StructType::default();
        let schema = if matches!(kind, RuleKind::Default(_)) { &none } else { schema };
        let printed = match parse(text) {
            Ok(expr) => {
                let functions = functions(&expr, schema, text, kind)?;
                printed(&expr).map(|sql| (sql, functions))
            }
            Err(Error::InvalidExpression { reason, .. }) => Err(reason),
            Err(other) => return Err(other),
        };
        let (sql, functions) = match printed {
            Ok((sql, functions)) => (Some(sql), functions),
            Err(reason) => {
                rule_text::check(text).map_err(|unfit| match unfit {
                    Unfit::Subquery => {
                        kind.refusal(refused("it holds a subquery".into()), text, text, Refusal::Subquery)
                    }
                    Unfit::Other(why) if why == reason => refused(why),
                    Unfit::Other(why) => refused(format!("{reason}; {why}")),
                })?;
                (None, Vec::new())
            }
        };
        Ok(Rule { expression: text.to_owned(), sql, functions })
    }
}

/// The text that the parser here reads as the same tree.
fn printed(expr: &Expr) -> std::result::Result<String, String> {
    let sql = print(expr)?;
    match parse(&sql) {
        Ok(again) if again == *expr => Ok(sql),
        _ => Err("it has no text that gives the same again".into()),
    }
}

/// The functions of an expression, which may all be called, and whose columns are all there.
fn functions(expr: &Expr, schema: &StructType, text: &str, kind: RuleKind<'_>) -> Result<Vec<String>> {
    let mut found: Vec<String> = Vec::new();
    let mut refused = None;
    let invalid = |reason: String| Error::InvalidExpression { expression: text.to_owned(), reason };
    expr.visit(&mut |part| {
        if refused.is_some() {
            return;
        }
        match part {
            Expr::Column(path) => {
                let [first, more @ ..] = path.as_slice() else { return };
                let lower = first.to_lowercase();
                if schema.fields.iter().any(|f| f.name.to_lowercase() == lower) {
                    return;
                }
                if !(more.is_empty() && is_function(first)) {
                    refused = Some(super::evaluator::unbound(
                        expr,
                        schema,
                        text,
                        format!("there is no column `{first}`"),
                    ));
                } else if !may_call(&kind, &lower, 0) {
                    refused = Some(kind.must_not_call(invalid, text, &lower));
                }
            }
            Expr::Call(name, args) => {
                // what TRIM with words is called here
                let name = if name.starts_with("__trim_") { "trim" } else { name };
                if !may_call(&kind, name, args.len()) {
                    refused = Some(kind.must_not_call(invalid, text, name));
                } else if !found.iter().any(|known| known == name) {
                    found.push(name.to_owned());
                }
            }
            _ => {}
        }
    });
    match refused {
        Some(error) => Err(error),
        None => Ok(found),
    }
}

/// Why an expression is no rule.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Refusal {
    Subquery,
    Random,
    Function,
}

impl RuleKind<'_> {
    fn must_not_call(self, invalid: impl Fn(String) -> Error, text: &str, name: &str) -> Error {
        let (why, refusal) = match is_random(name) {
            true => ("is not deterministic", Refusal::Random),
            false => ("is not one that such a rule may call", Refusal::Function),
        };
        self.refusal(invalid(format!("the function `{name}` {why}")), text, name, refusal)
    }

    /// The error with the condition that delta-spark or Spark has for it; `found` is what must not be there.
    fn refusal(self, error: Error, text: &str, found: &str, refusal: Refusal) -> Error {
        let reason = error.to_string();
        let checked = |of: &'static Condition, parameter| (of, vec![(parameter, found.to_owned())]);
        let (condition, parameters) = match (self, refusal) {
            (RuleKind::Check, Refusal::Random) => {
                checked(&condition::NON_DETERMINISTIC_EXPRESSION_IN_CHECK_CONSTRAINT, "expr")
            }
            (RuleKind::Check, _) => {
                checked(&condition::UNSUPPORTED_EXPRESSION_CHECK_CONSTRAINT, "expression")
            }
            (RuleKind::Generated(_), Refusal::Function) => {
                checked(&condition::DELTA_UNSUPPORTED_EXPRESSION_GENERATED_COLUMN, "expression")
            }
            (RuleKind::Generated(column), _) => {
                let parameters = [("fieldName", column), ("expressionStr", text), ("reason", &reason)];
                let owned = parameters.map(|(name, value)| (name, value.to_owned()));
                (&condition::UNSUPPORTED_EXPRESSION_GENERATED_COLUMN, owned.to_vec())
            }
            (RuleKind::Default(column), refusal) => {
                let condition = match refusal {
                    Refusal::Subquery => &condition::INVALID_DEFAULT_VALUE_SUBQUERY_EXPRESSION,
                    _ => &condition::INVALID_DEFAULT_VALUE_NOT_CONSTANT,
                };
                let parameters = [("colName", column), ("defaultValue", text)];
                (condition, parameters.map(|(name, value)| (name, value.to_owned())).to_vec())
            }
        };
        error.named(condition, parameters)
    }
}
