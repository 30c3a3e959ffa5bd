//! Which columns the SQL expressions of a table refer to, and what is refused because they do.

use super::Definition;
use super::constraints::constraints;
use super::expression_names::refers_to;
use super::paths::refuse;
use crate::error::{Error, Result, condition};
use crate::properties::CONSTRAINT_PREFIX;
use crate::schema::{DataType, GENERATION_EXPRESSION, StructType};

/// The first generated column whose expression refers to a column, and the expression.
pub(crate) fn generated_by<'a>(schema: &'a StructType, path: &[String]) -> Option<(&'a str, &'a str)> {
    schema.fields.iter().find_map(|field| {
        let text = field.metadata.get(GENERATION_EXPRESSION).and_then(|v| v.as_str())?;
        refers_to(text, path).then_some((field.name.as_str(), text))
    })
}

/// A CHECK constraint or a generated column whose expression refers to a column.
enum User {
    Constraint { name: String, expression: String },
    Generated { column: String, expression: String },
}

impl User {
    /// The first of the table, constraints before generated columns.
    fn of(table: &Definition, path: &[String]) -> Option<User> {
        let constraint = constraints(&table.metadata).into_iter().find(|(_, text)| refers_to(text, path));
        if let Some((name, expression)) = constraint {
            return Some(User::Constraint { name: name.to_owned(), expression: expression.to_owned() });
        }
        table.schema.explode().into_iter().find_map(|(at, field)| {
            let text = field.metadata.get(GENERATION_EXPRESSION).and_then(|v| v.as_str())?;
            let generated = || User::Generated { column: at.join("."), expression: text.to_owned() };
            refers_to(text, path).then(generated)
        })
    }

    /// The error of a change that it does not allow; `conditions` are those of a constraint and of a generated column.
    fn refuses(
        &self,
        path: &[String],
        change: &str,
        conditions: [&'static condition::Condition; 2],
    ) -> Error {
        let [of_constraint, of_generated] = conditions;
        let (reason, condition, parameter) = match self {
            User::Constraint { name, expression } => (
                format!("it cannot be {change}: the CHECK constraint `{name}` ({expression}) refers to it"),
                of_constraint,
                ("constraints", format!("{CONSTRAINT_PREFIX}{name} -> {expression}")),
            ),
            User::Generated { column, expression } => (
                format!("it cannot be {change}: the generated column `{column}` refers to it"),
                of_generated,
                ("generatedColumns", format!("{column} -> {expression}")),
            ),
        };
        refuse(path, reason).named(condition, [("columnName", path.join(".")), parameter])
    }
}

/// Refuses a change of a column that a CHECK constraint or a generated column refers to.
///
/// # Errors
/// [`Error::InvalidColumnChange`] that names the constraint or the column.
pub(super) fn refuse_if_used(table: &Definition, path: &[String], change: &str) -> Result<()> {
    let conditions = [
        &condition::CONSTRAINT_DEPENDENT_COLUMN_CHANGE,
        &condition::GENERATED_COLUMNS_DEPENDENT_COLUMN_CHANGE,
    ];
    User::of(table, path).map_or(Ok(()), |user| Err(user.refuses(path, change, conditions)))
}

/// Refuses another type, by the evolution of a write, of a column that a CHECK constraint or a generated column refers to:
/// for existing rows, the expression was computed with the old type.
///
/// # Errors
/// [`Error::InvalidColumnChange`] that names the constraint or the column.
pub(super) fn refuse_type_if_used(
    table: &Definition,
    path: &[String],
    from: &DataType,
    to: &DataType,
) -> Result<()> {
    let conditions =
        [&condition::CONSTRAINT_DATA_TYPE_MISMATCH, &condition::GENERATED_COLUMNS_DATA_TYPE_MISMATCH];
    let change = format!("changed from {} to {}", from.name(), to.name());
    User::of(table, path).map_or(Ok(()), |user| Err(user.refuses(path, &change, conditions)))
}
