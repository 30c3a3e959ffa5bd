//! Giving a table another list of columns.

use serde_json::Value;

use super::Definition;
use super::add_column::checked;
use super::change::Change;
use super::change_column::{ColumnChange, change_field, change_type};
use super::clustering::check_statistics;
use super::drop_column::drop_column;
use super::finalize::finalize;
use super::identity::Identity;
use super::paths::{refuse, same};
use crate::error::{Error, Result, condition};
use crate::schema::{CHAR_VARCHAR, CURRENT_DEFAULT, DataType, StructField, StructType};

/// The table with these columns in this order, each the one of its name where there is one: with its rows, its comment where
/// none is given, and another type where that can be widened. Those without a namesake are added, or those left over are
/// dropped; not both at once, for a column under another name would lose its rows. The same holds within structs.
///
/// # Errors
/// [`crate::Error::InvalidColumnChange`] when columns would be added and dropped at once, in a table with an identity column,
/// whose list does not mention identities, and as for
/// [`super::add_columns`], [`super::drop_columns`] and [`super::change_columns`].
pub fn replace_columns(table: &Definition, columns: &[StructField]) -> Result<Definition> {
    for field in &table.schema.fields {
        if Identity::of(field)?.is_some() {
            return Err(refuse(
                std::slice::from_ref(&field.name),
                "a table with an identity column keeps its columns",
            )
            .of_condition(&condition::IDENTITY_COLUMNS_REPLACE_COLUMN_NOT_SUPPORTED));
        }
    }
    let mut replaced = Replaced { table, dropped: Vec::new() };
    let schema = replaced.fields(&table.schema, columns, &[]).map_err(as_replacement)?;
    let mut new = table.clone();
    for path in &replaced.dropped {
        drop_column(table, &mut new, path).map_err(as_replacement)?;
    }
    new.schema = schema;
    check_statistics(&new)?;
    finalize(Some(table), new, &Default::default(), Change::Alter)
}

/// The error of a change of one column, as one of the whole list.
fn as_replacement(error: Error) -> Error {
    match (error.plain(), error.condition()) {
        (Error::InvalidColumnChange { .. }, None)
        | (
            _,
            Some(&condition::UNSUPPORTED_ALTER_TABLE_CHANGE_COL_OP | &condition::UNSUPPORTED_DROP_COLUMN),
        ) => error.of_condition(&condition::UNSUPPORTED_ALTER_TABLE_REPLACE_COL_OP),
        _ => error,
    }
}

/// What happens to the columns of a table.
struct Replaced<'a> {
    table: &'a Definition,
    dropped: Vec<Vec<String>>,
}

impl Replaced<'_> {
    fn fields(&mut self, from: &StructType, to: &[StructField], path: &[String]) -> Result<StructType> {
        let within = |name: &str| [path, &[name.to_owned()]].concat();
        let mut left: Vec<&StructField> = from.fields.iter().collect();
        let mut fields: Vec<StructField> = Vec::new();
        let mut added = None;
        for field in to {
            let path = within(&field.name);
            if fields.iter().any(|f| same(&f.name, &field.name)) {
                return Err(refuse(&path, "it is given twice; names that differ only in case are the same"));
            }
            match left.iter().position(|old| same(&old.name, &field.name)) {
                Some(place) => fields.push(self.field(left.remove(place), field, &path)?),
                None => {
                    fields.push(checked(field, &path)?);
                    added = Some(path);
                }
            }
        }
        if let (Some(added), Some(lost)) = (added, left.first()) {
            return Err(refuse(
                &added,
                format!(
                    "it would be added and `{}` dropped at once: rename the column, or drop and add in two statements",
                    within(&lost.name).join(".")
                ),
            ));
        }
        self.dropped.extend(left.iter().map(|field| within(&field.name)));
        Ok(StructType { fields })
    }

    fn field(&mut self, from: &StructField, to: &StructField, path: &[String]) -> Result<StructField> {
        if to.metadata.contains_key(CURRENT_DEFAULT) {
            return Err(refuse(path, "it exists already: change the column to set its default"));
        }
        if let Some(length) = to.metadata.get(CHAR_VARCHAR).and_then(Value::as_str) {
            let kept = from.metadata.get(CHAR_VARCHAR).and_then(Value::as_str);
            if kept != Some(length) {
                let is_now = kept.unwrap_or("string");
                return Err(refuse(
                    path,
                    format!("it is {is_now} and stays so, not {length}: change it with ALTER COLUMN"),
                ));
            }
        }
        let comment = to.metadata.get("comment").and_then(Value::as_str).map(|text| Some(text.to_owned()));
        let nullable = Some(to.nullable);
        let mut field = from.clone();
        change_field(
            &mut field,
            &ColumnChange { nullable, comment, ..ColumnChange::of(path.to_vec()) },
            path,
        )?;
        field.data_type = self.data_type(&from.data_type, &to.data_type, path)?;
        Ok(field)
    }

    fn data_type(&mut self, from: &DataType, to: &DataType, path: &[String]) -> Result<DataType> {
        let at = |part: &str| [path, &[part.to_owned()]].concat();
        Ok(match (from, to) {
            (DataType::Struct(from), DataType::Struct(to)) => {
                DataType::Struct(Box::new(self.fields(from, &to.fields, path)?))
            }
            (DataType::Array(from), DataType::Array(to)) => {
                let mut array = from.clone();
                array.contains_null |= to.contains_null;
                array.element_type = self.data_type(&from.element_type, &to.element_type, &at("element"))?;
                DataType::Array(array)
            }
            (DataType::Map(from), DataType::Map(to)) => {
                let mut map = from.clone();
                map.value_contains_null |= to.value_contains_null;
                map.key_type = self.data_type(&from.key_type, &to.key_type, &at("key"))?;
                map.value_type = self.data_type(&from.value_type, &to.value_type, &at("value"))?;
                DataType::Map(map)
            }
            (from, to) => {
                let mut kept = from.clone();
                change_type(self.table, path, &mut kept, to)?;
                kept
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alter::testing::{partitioned, schema, table};
    use crate::properties::TableProperty;

    const NAME: (&str, &str) = ("delta.columnMapping.mode", "name");

    fn columns(ddl: &str) -> Vec<StructField> {
        schema(ddl).fields
    }

    fn paths(table: &Definition) -> Vec<String> {
        table.schema.explode().iter().map(|(path, _)| path.join(".")).collect()
    }

    #[test]
    fn lengths_of_texts_do_not_change() {
        let mut t = table("a string, b string", &[]);
        t.schema.fields[0].metadata.insert(CHAR_VARCHAR.into(), "varchar(3)".into());
        let replaced = |length: Option<&str>| {
            let mut to = columns("a string, b string");
            if let Some(length) = length {
                to[0].metadata.insert(CHAR_VARCHAR.into(), length.into());
            }
            replace_columns(&t, &to)
        };
        for kept in [None, Some("varchar(3)")] {
            assert_eq!(replaced(kept).unwrap().schema, t.schema);
        }
        let error = replaced(Some("varchar(9)")).unwrap_err();
        assert_eq!(error.condition(), Some(&condition::UNSUPPORTED_ALTER_TABLE_REPLACE_COL_OP));
        assert!(error.to_string().contains("it is varchar(3) and stays so, not varchar(9)"), "{error}");
    }

    #[test]
    fn columns_are_put_in_order_and_added() {
        let t = table("a long not null, s struct<x: long, y: long>, l array<struct<u: int>>", &[]);
        let to = "S struct<z: date, Y: long, x: long>, l array<struct<v: int, u: int>>, a long, b string";
        let new = replace_columns(&t, &columns(to)).unwrap();
        assert_eq!(paths(&new), ["s", "s.z", "s.y", "s.x", "l", "l.element.v", "l.element.u", "a", "b"]);
        assert!(new.schema.fields[2].nullable);
        assert_eq!(replace_columns(&t, &t.schema.fields).unwrap(), t);
    }

    #[test]
    fn columns_left_over_are_dropped_with_column_mapping() {
        let t = table(
            "a long, s struct<x: long, y: long>, b long",
            &[NAME, ("delta.dataSkippingStatsColumns", "b,a")],
        );
        let new = replace_columns(&t, &columns("s struct<y: long>, a long")).unwrap();
        assert_eq!(paths(&new), ["s", "s.y", "a"]);
        assert_eq!(new.property(TableProperty::DataSkippingStatsColumns), Some("a"));
        let id = |table: &Definition, name: &str| table.schema.field(name).unwrap().metadata.clone();
        assert_eq!(id(&new, "a"), id(&t, "a"));
        let more = replace_columns(&new, &columns("s struct<y: long>, a long, b long")).unwrap();
        assert_ne!(id(&more, "b"), id(&t, "b"));
    }

    #[test]
    fn comments_and_types_change() {
        let t = table("a int, b int", &[("delta.enableTypeWidening", "true")]);
        let mut to = columns("a long, b int");
        to[1].metadata.insert("comment".into(), "new".into());
        let new = replace_columns(&t, &to).unwrap();
        assert_eq!(new.schema.fields[0].data_type, DataType::Long);
        assert!(new.schema.fields[0].metadata.contains_key("delta.typeChanges"));
        assert_eq!(new.schema.fields[1].metadata["comment"], "new");
        assert_eq!(replace_columns(&new, &columns("a long, b int")).unwrap(), new);
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let mapped = partitioned(table("a long, b long, p long", &[NAME]), &["p"]);
        let plain = table("a long, s struct<x: long>, m map<string, int>", &[]);
        for (table, to, said) in [
            (&plain, "a long, s struct<x: long>", "needs column mapping"),
            (&plain, "a int, s struct<x: long>, m map<string, int>", "no such change"),
            (&plain, "a long, s struct<x: long>, m map<string, long>", "delta.enableTypeWidening"),
            (&plain, "a long, s struct<w: long>, m map<string, int>", "`s.x` dropped at once"),
            (&plain, "a long not null, s struct<x: long>, m map<string, int>", "may hold nulls"),
            (&plain, "a long, s long, m map<string, int>", "in its parts"),
            (&plain, "a long, s struct<x: long>, m map<string, int>, c int not null", "must be nullable"),
            (&mapped, "a long, b long", "partition column"),
            (&mapped, "a long, c long, p long", "`b` dropped at once"),
            (&mapped, "a long, A long, p long", "given twice"),
        ] {
            let error = replace_columns(table, &columns(to)).unwrap_err();
            assert_eq!(error.kind(), "InvalidColumnChange", "{error}");
            assert!(error.to_string().contains(said), "{to}: {error}");
        }
    }
}
