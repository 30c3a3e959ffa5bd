//! Text that compares by a collation.

use super::Definition;
use crate::error::{Error, Result, condition};
use crate::schema::{COLLATIONS, StructField};

/// Refuses text with a collation in a table that has none: no table feature tells other engines of it, which compare by
/// bytes. A table that has some is altered as any other.
pub(super) fn check(old: Option<&Definition>, new: &Definition) -> Result<()> {
    if old.is_some_and(|old| old.schema.explode().iter().any(|(_, field)| collation(field).is_some())) {
        return Ok(());
    }
    let columns = new.schema.explode();
    let mut found = columns.iter().filter_map(|(path, field)| Some((path.join("."), collation(field)?)));
    let Some((column, collation)) = found.next() else { return Ok(()) };
    let reason = format!(
        "column `{column}` has the collation {collation}, which is not supported: use STRING, and COLLATE in queries"
    );
    let types = [("dataTypeList", format!("[{column}: string collate {collation}]"))];
    Err(Error::InvalidSchema { reason }.named(&condition::UNSUPPORTED_DATA_TYPES, types))
}

/// The first collation of a field, as Spark names it: `UTF8_LCASE`.
fn collation(field: &StructField) -> Option<&str> {
    let all = field.metadata.get(COLLATIONS)?;
    let first = all.as_object().and_then(|all| all.values().next()?.as_str());
    first.map_or(Some(""), |name| name.split_once('.').map(|(_, name)| name).or(Some(name)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alter::testing::table;
    use crate::schema::{DataType, StructType};

    fn collated(mut table: Definition, nested: bool) -> Definition {
        let mut field = StructField::new("t", DataType::String, true);
        field.metadata.insert(COLLATIONS.into(), serde_json::json!({"t": "spark.UTF8_LCASE"}));
        if nested {
            let fields = vec![field];
            field = StructField::new("s", DataType::Struct(Box::new(StructType { fields })), true);
        }
        table.schema.fields.push(field);
        table
    }

    #[test]
    fn text_with_a_collation_is_not_new() {
        let plain = table("a int", &[]);
        assert!(check(Some(&plain), &plain).is_ok());
        for (nested, column) in [(false, "t"), (true, "s.t")] {
            let new = collated(plain.clone(), nested);
            for old in [None, Some(&plain)] {
                let error = check(old, &new).unwrap_err();
                assert_eq!(error.condition().map(|c| c.name), Some("DELTA_UNSUPPORTED_DATA_TYPES"));
                assert!(
                    error.to_string().contains(&format!("`{column}` has the collation UTF8_LCASE")),
                    "{error}"
                );
            }
            assert!(check(Some(&new), &collated(new.clone(), !nested)).is_ok());
        }
    }
}
