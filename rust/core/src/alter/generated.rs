//! Generated columns (PROTOCOL.md, "Generated Columns").

use super::expression_names::names;
use super::paths::refuse;
use crate::actions::Protocol;
use crate::error::{Error, Result, condition};
use crate::expr::{Evaluator, Rule, RuleKind};
use crate::features::TableFeature;
use crate::schema::{
    CURRENT_DEFAULT, DataType, GENERATION_EXPRESSION, IDENTITY_START, StructField, StructType,
};

/// The expression of a generated column.
pub fn expression(field: &StructField) -> Option<&str> {
    field.metadata.get(GENERATION_EXPRESSION).and_then(|v| v.as_str())
}

/// Refuses another type within a generated column: its expression has the type that it was made with.
///
/// # Errors
/// [`Error::InvalidColumnChange`] where the column is one.
pub(super) fn refuse_type_of_generated(
    column: &StructField,
    path: &[String],
    from: &DataType,
    to: &DataType,
) -> Result<()> {
    if expression(column).is_none() {
        return Ok(());
    }
    let reason = format!("it is generated, as {}, and cannot be changed to {}", from.name(), to.name());
    let parameters = [("columnName", column.name.as_str())];
    Err(refuse(path, reason).named(&condition::GENERATED_COLUMNS_EXPR_TYPE_MISMATCH, parameters))
}

/// The schema without expressions that have no effect because the protocol has no generated columns: such a column is a
/// plain one, as for delta-spark, and the next change of the table removes the expression.
pub(crate) fn in_force(protocol: &Protocol, mut schema: StructType) -> StructType {
    if !protocol.supports(TableFeature::GeneratedColumns) {
        schema.change_fields(&mut |_, field| {
            field.metadata.remove(GENERATION_EXPRESSION);
        });
    }
    schema
}

/// Checks the generated columns of a schema: top-level, of a type that can be compared, with an expression that refers to
/// neither the column itself nor another generated one, and neither with a default nor with identities.
///
/// Whether the expression is deterministic and of the column's type is for the evaluator to say.
///
/// # Errors
/// [`Error::InvalidSchema`] with the column.
pub(super) fn check(schema: &StructType) -> Result<()> {
    let generated: Vec<&StructField> =
        schema.fields.iter().filter(|f| f.metadata.contains_key(GENERATION_EXPRESSION)).collect();
    for field in &generated {
        let invalid = |reason: String| {
            Err(Error::InvalidSchema { reason: format!("generated column `{}`: {reason}", field.name) })
        };
        let Some(text) = expression(field).filter(|text| !text.trim().is_empty()) else {
            return invalid("it has no expression".into());
        };
        if field.data_type.any(&|t| *t == DataType::Variant) {
            return invalid("a variant cannot be compared, so it cannot be generated".into());
        }
        for key in [IDENTITY_START, CURRENT_DEFAULT] {
            if field.metadata.contains_key(key) {
                return invalid(format!(
                    "it has `{key}` too; a column can have only one source of its values"
                ));
            }
        }
        let refers = |other: &StructField| {
            names(text)
                .iter()
                .any(|path| path.first().is_some_and(|name| super::paths::same(name, &other.name)))
        };
        if let Some(other) = generated.iter().find(|other| refers(other)) {
            let parameters = [("fieldName", field.name.as_str()), ("expressionStr", text)];
            return invalid(match other.name == field.name {
                true => "it refers to itself".into(),
                false => format!("it refers to `{}`, which is generated too", other.name),
            })
            .map_err(|error| error.named(&condition::UNSUPPORTED_EXPRESSION_GENERATED_COLUMN, parameters));
        }
    }
    Ok(())
}

/// Checks the expressions of a new table: they may be in a rule, and give the type of their column, where the core knows it.
///
/// # Errors
/// As [`Rule::of`]; [`Error::InvalidSchema`] for another type.
pub(crate) fn check_new(schema: &StructType) -> Result<()> {
    for field in &schema.fields {
        let Some(text) = expression(field) else { continue };
        Rule::of(text, schema, RuleKind::Generated(&field.name))?;
        let Ok(value) = Evaluator::new(text, schema) else { continue };
        let (from, to) = (value.data_type(), &field.data_type);
        // precision is left to the writes: it is a matter of how a decimal is computed
        let is_same = std::mem::discriminant(from) == std::mem::discriminant(to);
        if !is_same && *from != DataType::Void {
            let (from, to) = (from.name().to_uppercase(), to.name().to_uppercase());
            let reason = format!("generated column `{}`: its expression gives {from}, not {to}", field.name);
            let types = [("columnName", &field.name), ("expressionType", &from), ("columnType", &to)];
            return Err(Error::InvalidSchema { reason }.named(
                &condition::GENERATED_COLUMNS_EXPR_TYPE_MISMATCH,
                types.map(|(k, v)| (k, v.as_str())),
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alter::testing::schema;

    fn generated(columns: &str, expressions: &[(&str, &str)]) -> std::result::Result<(), String> {
        let mut schema = schema(columns);
        for (name, text) in expressions {
            let field = schema.fields.iter_mut().find(|f| f.name == *name).unwrap();
            field.metadata.insert(GENERATION_EXPRESSION.into(), (*text).into());
        }
        check(&schema).map_err(|e| e.to_string())
    }

    #[test]
    fn a_generated_column_refers_to_others_that_are_not() {
        assert_eq!(generated("t timestamp, date date", &[("date", "date(t)")]), Ok(()));
        assert_eq!(generated("t timestamp, date date", &[("date", "CAST(t AS DATE)")]), Ok(()));
        let said = generated("a long, b long", &[("b", "b + 1")]).unwrap_err();
        assert!(said.contains("`b`: it refers to itself"), "{said}");
        let said = generated("a long, b long, c long", &[("b", "a + 1"), ("c", "`b` + 1")]).unwrap_err();
        assert!(said.contains("refers to `b`"), "{said}");
        let said = generated("a long, v variant", &[("v", "parse_json('1')")]).unwrap_err();
        assert!(said.contains("variant"), "{said}");
        assert!(generated("a long, b long", &[("b", " ")]).unwrap_err().contains("no expression"));
    }

    #[test]
    fn a_new_table_has_expressions_of_the_type_of_their_columns() {
        let made = |columns: &str, text: &str| {
            let mut schema = schema(columns);
            schema.fields[1].metadata.insert(GENERATION_EXPRESSION.into(), text.into());
            check_new(&schema).map_err(|e| e.condition().map(|c| c.name))
        };
        assert_eq!(made("a long, g long", "a + 10"), Ok(()));
        assert_eq!(made("a decimal(5,2), g decimal(10,2)", "a + a"), Ok(()));
        let of_another_type = Err(Some("DELTA_GENERATED_COLUMNS_EXPR_TYPE_MISMATCH"));
        assert_eq!(made("a long, g long", "CAST(a AS STRING)"), of_another_type);
        assert_eq!(made("a long, g integer", "a + 10"), of_another_type);
        assert_eq!(made("a integer, g integer", "CAST(a AS SMALLINT)"), of_another_type);
        let not_allowed = Err(Some("DELTA_UNSUPPORTED_EXPRESSION_GENERATED_COLUMN"));
        assert_eq!(made("a long, g timestamp", "current_timestamp()"), not_allowed);
        assert_eq!(made("a long, g long", "z + 1"), Err(Some("UNRESOLVED_COLUMN.WITH_SUGGESTION")));
        // only Spark knows what it gives
        assert_eq!(made("a timestamp, g long", "timestampdiff(MONTH, a, a)"), Ok(()));
    }
}
