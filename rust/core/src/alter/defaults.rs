//! Default values of columns (PROTOCOL.md, "Default Columns").

use super::Definition;
use super::finalize::{Change, finalize};
use super::paths::{position, refuse, resolve};
use crate::error::{Error, Result, condition};
use crate::features::TableFeature;
use crate::schema::{CURRENT_DEFAULT, DataType, GENERATION_EXPRESSION, IDENTITY_START, StructType};

/// The table with another default for a column: an expression, or none for no default. Existing rows stay as they are.
///
/// # Errors
/// [`Error::InvalidColumnChange`] for a column that is nested, generated, of identities or a variant;
/// [`Error::InvalidFeatureChange`] where the table does not have the feature allowColumnDefaults.
pub fn set_default(table: &Definition, column: &[String], expression: Option<&str>) -> Result<Definition> {
    let path = resolve(&table.schema, column)?;
    let [name] = path.as_slice() else {
        return Err(refuse(&path, "only a column of the table has a default, not one within another"));
    };
    let mut new = table.clone();
    let place = position(&new.schema, name).ok_or_else(|| refuse(&path, "no such column"))?;
    let field = &mut new.schema.fields[place];
    match expression {
        Some(text) => {
            if text.trim().is_empty() {
                return Err(refuse(&path, "the expression of the default is empty"));
            }
            field.metadata.insert(CURRENT_DEFAULT.into(), text.into());
        }
        None => drop(field.metadata.remove(CURRENT_DEFAULT)),
    }
    check(&new)?;
    finalize(Some(table), new, &Default::default(), Change::Alter)
}

/// Checks the defaults of a table: the table has the feature, and the columns may have one.
///
/// # Errors
/// As [`set_default`].
pub(super) fn check(table: &Definition) -> Result<()> {
    let StructType { fields } = &table.schema;
    for field in fields.iter().filter(|f| f.metadata.contains_key(CURRENT_DEFAULT)) {
        let path = [field.name.clone()];
        if !table.protocol.supports(TableFeature::AllowColumnDefaults) {
            return Err(Error::InvalidFeatureChange {
                feature: TableFeature::AllowColumnDefaults.into(),
                reason: format!(
                    "the default of column `{}` needs it: set `delta.feature.allowColumnDefaults` = `supported`",
                    field.name
                ),
            }
            .of_condition(&condition::WRONG_COLUMN_DEFAULTS_FOR_DELTA_FEATURE_NOT_ENABLED));
        }
        let null =
            field.metadata[CURRENT_DEFAULT].as_str().is_some_and(|v| v.trim().eq_ignore_ascii_case("null"));
        if field.data_type.any(&|t| *t == DataType::Variant) && !null {
            return Err(refuse(&path, "the default of a variant is null"));
        }
        for key in [GENERATION_EXPRESSION, IDENTITY_START] {
            if field.metadata.contains_key(key) {
                return Err(refuse(
                    &path,
                    format!("it has `{key}`; a column can have only one source of its values"),
                ));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alter::testing::{path, table};

    const FEATURE: (&str, &str) = ("delta.feature.allowColumnDefaults", "supported");

    #[test]
    fn a_default_is_set_changed_and_taken_away() {
        let t = table("a long, s struct<x: long>, v variant", &[FEATURE]);
        let set = set_default(&t, &path("A"), Some("1 + 1")).unwrap();
        assert_eq!(set.schema.fields[0].metadata[CURRENT_DEFAULT], "1 + 1");
        assert_eq!(set_default(&set, &path("a"), None).unwrap().schema, t.schema);
        for (column, text, said) in [
            ("s.x", "1", "not one within another"),
            ("a", " ", "is empty"),
            ("v", "1", "is null"),
            ("q", "1", "no such"),
        ] {
            let error = set_default(&t, &path(column), Some(text)).unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
        }
        assert!(set_default(&t, &path("v"), Some("NULL")).is_ok());
        let error = set_default(&table("a long", &[]), &path("a"), Some("1")).unwrap_err();
        assert_eq!(error.kind(), "InvalidFeatureChange");
    }
}
