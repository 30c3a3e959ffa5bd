use super::Definition;
use super::change::Change;
use super::defaults::check;
use super::finalize::finalize;
use super::paths::{position, refuse, resolve};
use crate::error::Result;
use crate::schema::CURRENT_DEFAULT;

/// The table with another default for a column: an expression, or none for no default. Existing rows stay as they are.
///
/// # Errors
/// [`crate::Error::InvalidColumnChange`] for a column that is nested, generated, of identities or a variant;
/// [`crate::Error::InvalidFeatureChange`] where the table does not have the feature allowColumnDefaults.
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
    check(Some(table), &new)?;
    finalize(Some(table), new, &Default::default(), Change::Alter)
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

    #[test]
    fn a_table_without_the_feature_keeps_the_defaults_that_it_has() {
        let mut t = table("a long, b long", &[]);
        for field in &mut t.schema.fields {
            field.metadata.insert(CURRENT_DEFAULT.into(), "7".into());
        }
        let less = set_default(&t, &path("a"), None).unwrap();
        assert!(!less.schema.fields[0].metadata.contains_key(CURRENT_DEFAULT));
        assert_eq!(less.schema.fields[1].metadata[CURRENT_DEFAULT], "7");
        for text in ["8", "7"] {
            let error = set_default(&less, &path("a"), Some(text)).unwrap_err();
            assert_eq!(error.kind(), "InvalidFeatureChange");
        }
    }
}
