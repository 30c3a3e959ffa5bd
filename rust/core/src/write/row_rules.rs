//! The demands of a table's rules on rows, for Spark, which checks them itself.

use serde::{Deserialize, Serialize};

use super::plan::WritePlan;
use super::rules::{check_explicit, conditions};
use crate::alter::identity::Identity;
use crate::error::Result;
use crate::expr::{Rule, RuleKind};
use crate::schema::{CURRENT_DEFAULT, GENERATION_EXPRESSION, StructType};

/// What must be done to rows of one schema before their files may be committed: the columns to fill, in this order, and
/// then the conditions to check. The expressions are over the columns of the table.
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
    /// Its value.
    #[serde(flatten)]
    pub value: Rule,
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
    /// The column that must be equal to the value, or null where it is; none where the value is the truth itself.
    pub column: Option<String>,
    /// The value.
    #[serde(flatten)]
    pub value: Rule,
}

impl RowRules {
    /// The rules for rows that have these columns.
    ///
    /// # Errors
    /// [`crate::Error::SchemaMismatch`] for an identity column that must not be given, [`crate::Error::InvalidSchema`] for a
    /// rule that is none, [`crate::Error::InvalidColumnChange`] when no more identities fit into 64 bits; as [`Rule::of`].
    pub fn of(plan: &WritePlan, given: &StructType) -> Result<Self> {
        let mut rules = RowRules::default();
        for field in &plan.schema.fields {
            let is_given = given.field(&field.name).is_some();
            let text = |key: &str| field.metadata.get(key).and_then(|v| v.as_str());
            if let Some(text) = text(GENERATION_EXPRESSION) {
                match is_given {
                    false => rules.generated.push(Filled::generated(&plan.schema, &field.name, text)?),
                    true => rules.checks.push(is_generated(&plan.schema, &field.name, text)?),
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
                rules.defaults.push(Filled::by_default(&field.name, text)?);
            }
        }
        rules.conditions(plan)?;
        Ok(rules)
    }

    /// The rules for rows of the table that have other values than before: they have every column.
    ///
    /// # Errors
    /// [`crate::Error::InvalidSchema`] for a rule that is none, and as [`Rule::of`].
    pub(crate) fn of_table(plan: &WritePlan) -> Result<Self> {
        let mut rules = RowRules::default();
        for field in &plan.schema.fields {
            if let Some(text) = field.metadata.get(GENERATION_EXPRESSION).and_then(|v| v.as_str()) {
                rules.checks.push(is_generated(&plan.schema, &field.name, text)?);
            }
        }
        rules.conditions(plan)?;
        Ok(rules)
    }

    fn conditions(&mut self, plan: &WritePlan) -> Result<()> {
        for (rule, text) in conditions(plan)? {
            let value = Rule::of(&text, &plan.schema, RuleKind::Check)?;
            self.checks.push(Condition { rule, column: None, value });
        }
        Ok(())
    }
}

impl Filled {
    /// A generated column and its value.
    ///
    /// # Errors
    /// As [`Rule::of`].
    fn generated(schema: &StructType, column: &str, text: &str) -> Result<Self> {
        let value = Rule::of(text, schema, RuleKind::Generated(column))?;
        Ok(Filled { column: column.to_owned(), value })
    }

    /// A column and its default, which reads no column.
    ///
    /// # Errors
    /// As [`Rule::of`].
    fn by_default(column: &str, text: &str) -> Result<Self> {
        let value = Rule::of(text, &StructType::default(), RuleKind::Default(column))?;
        Ok(Filled { column: column.to_owned(), value })
    }

    /// What fills a column that rows lack: its generation expression, else its default; none where it has neither.
    ///
    /// # Errors
    /// As [`Rule::of`].
    pub(crate) fn of(schema: &StructType, column: &str) -> Result<Option<Self>> {
        let Some(field) = schema.field(column) else { return Ok(None) };
        let text = |key: &str| field.metadata.get(key).and_then(|v| v.as_str());
        match (text(GENERATION_EXPRESSION), text(CURRENT_DEFAULT)) {
            (Some(text), _) => Self::generated(schema, &field.name, text).map(Some),
            (None, Some(text)) => Self::by_default(&field.name, text).map(Some),
            (None, None) => Ok(None),
        }
    }
}

fn is_generated(schema: &StructType, column: &str, text: &str) -> Result<Condition> {
    let Filled { column, value } = Filled::generated(schema, column, text)?;
    Ok(Condition { rule: format!("generated column {column}"), column: Some(column), value })
}
