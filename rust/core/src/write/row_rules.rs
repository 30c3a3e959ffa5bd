//! What the rules of a table ask of rows, as SQL for an engine that holds them itself.

use serde::{Deserialize, Serialize};

use super::plan::WritePlan;
use super::rules::{check_explicit, conditions};
use crate::alter::CURRENT_DEFAULT;
use crate::alter::generated::GENERATION_EXPRESSION;
use crate::alter::identity::Identity;
use crate::error::Result;
use crate::schema::StructType;

/// What must be done to rows of one schema before their files may be committed: the columns to fill, in this order, and
/// then the conditions to check. The expressions are the texts of the log, in Spark SQL, over the columns of the table.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RowRules {
    /// Columns whose default fills them.
    pub defaults: Vec<Filled>,
    /// Identity columns whose values are to be made.
    pub identities: Vec<Sequence>,
    /// Generated columns that the rows lack.
    pub generated: Vec<Filled>,
    /// Conditions that must be true, not unknown.
    pub checks: Vec<Condition>,
}

/// A column and the expression that gives its value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Filled {
    /// Name in the table.
    pub column: String,
    /// SQL.
    pub expression: String,
}

/// An identity column whose values are to be made: `first`, `first + step`, `first + 2 * step` and so on, each at most once,
/// gaps allowed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sequence {
    /// Name in the table.
    pub column: String,
    /// The next value.
    pub first: i64,
    /// Distance between values.
    pub step: i64,
}

/// A condition that must be true for a row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Condition {
    /// What it is, for the error.
    pub rule: String,
    /// SQL.
    pub expression: String,
}

impl RowRules {
    /// The rules for rows that have these columns.
    ///
    /// # Errors
    /// [`crate::Error::SchemaMismatch`] for an identity column that must not be given, [`crate::Error::InvalidSchema`] for a
    /// rule that is none, [`crate::Error::InvalidColumnChange`] when no more identities fit into 64 bits.
    pub fn of(plan: &WritePlan, given: &StructType) -> Result<Self> {
        let mut rules = RowRules::default();
        for field in &plan.schema.fields {
            let is_given = given.field(&field.name).is_some();
            let text = |key: &str| field.metadata.get(key).and_then(|v| v.as_str());
            let filled = |text: &str| Filled { column: field.name.clone(), expression: text.to_owned() };
            if let Some(text) = text(GENERATION_EXPRESSION) {
                match is_given {
                    false => rules.generated.push(filled(text)),
                    true => rules.checks.push(is_generated(&field.name, text)),
                }
            } else if let Some(identity) = Identity::of(field)? {
                match (is_given, identity.next(&field.name, 1)?) {
                    (true, _) => check_explicit(&plan.location.root().to_string(), field, identity)?,
                    (false, Some((first, _))) => {
                        let (column, step) = (field.name.clone(), identity.step);
                        rules.identities.push(Sequence { column, first, step });
                    }
                    (false, None) => {}
                }
            } else if let (Some(text), false) = (text(CURRENT_DEFAULT), is_given) {
                rules.defaults.push(filled(text));
            }
        }
        rules.conditions(plan)?;
        Ok(rules)
    }

    /// The rules for rows of the table that have other values than before: they have every column.
    ///
    /// # Errors
    /// [`crate::Error::InvalidSchema`] for a rule that is none.
    pub(crate) fn of_table(plan: &WritePlan) -> Result<Self> {
        let mut rules = RowRules::default();
        for field in &plan.schema.fields {
            if let Some(text) = field.metadata.get(GENERATION_EXPRESSION).and_then(|v| v.as_str()) {
                rules.checks.push(is_generated(&field.name, text));
            }
        }
        rules.conditions(plan)?;
        Ok(rules)
    }

    fn conditions(&mut self, plan: &WritePlan) -> Result<()> {
        let conditions = conditions(plan)?.into_iter();
        self.checks.extend(conditions.map(|(rule, expression)| Condition { rule, expression }));
        Ok(())
    }
}

fn is_generated(column: &str, text: &str) -> Condition {
    Condition {
        rule: format!("generated column {column}"),
        expression: format!("`{}` <=> ({text})", column.replace('`', "``")),
    }
}
