//! CHECK constraints (PROTOCOL.md, "CHECK Constraints").

use std::collections::BTreeMap;

use super::Definition;
use super::change::Change;
use super::expression_names::unknown_quoted;
use super::finalize::finalize;
use super::paths::same;

use crate::actions::Metadata;
use crate::error::{Error, Result, condition};
use crate::properties::CONSTRAINT_PREFIX;

/// The name under which Spark enforces the length of char and varchar columns.
const RESERVED: &str = "__CHAR_VARCHAR_STRING_LENGTH_CHECK__";

fn invalid(name: &str, reason: impl Into<String>) -> Error {
    Error::InvalidArgument { argument: format!("constraint `{name}`"), reason: reason.into() }
}

/// The CHECK constraints of a table: name and expression.
pub fn constraints(metadata: &Metadata) -> Vec<(&str, &str)> {
    let found = metadata.configuration.iter().filter(|(key, _)| is_constraint(key));
    found.map(|(key, value)| (&key[CONSTRAINT_PREFIX.len()..], value.as_str())).collect()
}

/// Whether a table property is a CHECK constraint.
pub(crate) fn is_constraint(key: &str) -> bool {
    key.get(..CONSTRAINT_PREFIX.len()).is_some_and(|start| start.eq_ignore_ascii_case(CONSTRAINT_PREFIX))
}

/// The name of a new constraint as it is kept.
///
/// # Errors
/// [`Error::InvalidArgument`] for a name that is empty or reserved.
fn new_name(name: &str) -> Result<String> {
    if name.eq_ignore_ascii_case(RESERVED) {
        return Err(invalid(name, "the name is reserved")
            .named(&condition::INVALID_CONSTRAINT_NAME, [("name", name)]));
    }
    match name.trim().to_lowercase() {
        lower if lower.is_empty() => Err(invalid(name, "the name is empty")),
        lower => Ok(lower),
    }
}

/// Takes the CHECK constraints out of the properties of a new table: under the keys that the table has for them, and with
/// name and expression. Whether an expression is a condition on the columns of the table is for the evaluator to say.
///
/// # Errors
/// [`Error::InvalidArgument`] for a name that is empty or reserved.
pub(crate) fn taken_out(
    properties: &mut BTreeMap<String, String>,
) -> Result<BTreeMap<String, (String, String)>> {
    let mut constraints = BTreeMap::new();
    let keys: Vec<String> = properties.keys().filter(|key| is_constraint(key)).cloned().collect();
    for key in keys {
        let name = new_name(&key[CONSTRAINT_PREFIX.len()..])?;
        if let Some(expression) = properties.remove(&key) {
            constraints.insert(format!("{CONSTRAINT_PREFIX}{name}"), (name, expression));
        }
    }
    Ok(constraints)
}

/// The table with a CHECK constraint. An executor first checks that the expression is a boolean one that it can evaluate,
/// and that every row gives true.
///
/// # Errors
/// [`Error::InvalidArgument`] for a name that is empty, reserved or taken, for an empty expression, and for a quoted name in
/// it that is no column.
pub fn add_constraint(table: &Definition, name: &str, expression: &str) -> Result<Definition> {
    let lower = new_name(name)?;
    if let Some((_, other)) = constraints(&table.metadata).into_iter().find(|(n, _)| same(n, &lower)) {
        let parameters = [("constraintName", name.to_owned()), ("oldConstraint", other.to_owned())];
        return Err(invalid(name, format!("a constraint of this name exists: {other}; drop it first"))
            .named(&condition::CONSTRAINT_ALREADY_EXISTS, parameters));
    }
    if expression.trim().is_empty() {
        return Err(invalid(name, "the expression is empty"));
    }
    if let Some(column) = unknown_quoted(&table.schema, expression) {
        let columns: Vec<&str> = table.schema.fields.iter().map(|f| f.name.as_str()).collect();
        let reason = format!("`{column}` is not a column; the columns are {}", columns.join(", "));
        return Err(invalid(name, reason));
    }
    let mut new = table.clone();
    new.metadata.configuration.insert(format!("{CONSTRAINT_PREFIX}{lower}"), expression.to_owned());
    finalize(Some(table), new, &Default::default(), Change::Alter)
}

/// The table without a CHECK constraint.
///
/// # Errors
/// [`Error::InvalidArgument`] when there is none of this name, unless `if_exists`.
pub fn drop_constraint(table: &Definition, name: &str, if_exists: bool) -> Result<Definition> {
    let mut new = table.clone();
    let key =
        |key: &&String| key.to_lowercase() == format!("{CONSTRAINT_PREFIX}{}", name.trim().to_lowercase());
    match new.metadata.configuration.keys().find(key).cloned() {
        Some(key) => drop(new.metadata.configuration.remove(&key)),
        None if if_exists => {}
        None => {
            let names: Vec<&str> = constraints(&table.metadata).into_iter().map(|(name, _)| name).collect();
            return Err(invalid(
                name,
                format!("no constraint has this name; the table has [{}]", names.join(", ")),
            )
            .named(&condition::CONSTRAINT_DOES_NOT_EXIST, [("constraintName", name)]));
        }
    }
    finalize(Some(table), new, &Default::default(), Change::Alter)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alter::testing::{protocol, table};

    #[test]
    fn a_constraint_is_kept_under_its_name_in_lower_case() {
        let t = table("a long", &[]);
        let t = add_constraint(&t, "Positive", "a > 0").unwrap();
        assert_eq!(t.metadata.configuration["delta.constraints.positive"], "a > 0");
        assert_eq!(constraints(&t.metadata), [("positive", "a > 0")]);
        assert_eq!(t.protocol, protocol(1, 3));
        for (name, expression, said) in [
            ("POSITIVE", "a > 1", "drop it first"),
            (" ", "a > 1", "the name is empty"),
            (RESERVED, "a > 1", "the name is reserved"),
            ("c", " ", "the expression is empty"),
            ("c", "`b` > 1", "`b` is not a column"),
        ] {
            let error = add_constraint(&t, name, expression).unwrap_err();
            assert_eq!(error.kind(), "InvalidArgument");
            assert!(error.to_string().contains(said), "{error}");
        }
        let dropped = drop_constraint(&t, "posiTIVE", false).unwrap();
        assert!(constraints(&dropped.metadata).is_empty());
        assert_eq!(dropped.protocol, protocol(1, 3), "the feature stays");
        assert!(
            drop_constraint(&dropped, "positive", false)
                .unwrap_err()
                .to_string()
                .contains("no constraint has this name")
        );
        assert_eq!(drop_constraint(&dropped, "positive", true).unwrap(), dropped);
    }
}
