//! Fields of a data file that the table does not have, such as those of dropped columns.

use std::collections::BTreeSet;

use arrow::datatypes::{DataType as Arrow, Fields};

use super::matching::Matcher;
use crate::error::Result;
use crate::schema::{ColumnMappingMode, DataType, StructField};

/// Whether a file has a field, at any depth, that no field of the table is read from.
///
/// # Errors
/// [`crate::error::Error::DataFile`] for a file in which a column cannot be distinguished from another.
pub(crate) fn has_other_fields(
    path: &str,
    file: &Fields,
    columns: &[StructField],
    mode: ColumnMappingMode,
) -> Result<bool> {
    within_struct(&Matcher { path, mode }, file, columns, "")
}

fn within_struct(matcher: &Matcher<'_>, file: &Fields, columns: &[StructField], at: &str) -> Result<bool> {
    let names = matcher.names(file, at)?;
    let mut known = BTreeSet::new();
    for column in columns {
        let Some(index) = matcher.find(&names, column, at)? else { continue };
        known.insert(index);
        let place = if at.is_empty() { column.name.clone() } else { format!("{at}.{}", column.name) };
        if within(matcher, file[index].data_type(), &column.data_type, &place)? {
            return Ok(true);
        }
    }
    Ok(known.len() < file.len())
}

fn within(matcher: &Matcher<'_>, file: &Arrow, column: &DataType, at: &str) -> Result<bool> {
    match (file, column) {
        (Arrow::Struct(file), DataType::Struct(column)) => within_struct(matcher, file, &column.fields, at),
        (Arrow::List(element), DataType::Array(column)) => {
            within(matcher, element.data_type(), &column.element_type, at)
        }
        (Arrow::Map(entries, _), DataType::Map(column)) => match entries.data_type() {
            // key and value, whatever their names are
            Arrow::Struct(entries) => {
                for (entry, column) in entries.iter().zip([&column.key_type, &column.value_type]) {
                    if within(matcher, entry.data_type(), column, at)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            _ => Ok(false),
        },
        // a variant is one value, however it is stored; other types are the reader's business
        _ => Ok(false),
    }
}

#[cfg(test)]
mod tests {
    use arrow::datatypes::Field;

    use super::*;
    use crate::schema::StructType;

    fn table(of: &str) -> Vec<StructField> {
        StructType::from_json(of).unwrap().fields
    }

    fn int(name: &str) -> Field {
        Field::new(name, Arrow::Int32, true)
    }

    fn other(file: Vec<Field>, columns: &[StructField]) -> bool {
        has_other_fields("f", &file.into(), columns, ColumnMappingMode::None).unwrap()
    }

    #[test]
    fn fields_of_the_table_are_known_in_any_case_and_may_be_missing() {
        let columns = table(
            r#"{"type":"struct","fields":[
            {"name":"a","type":"integer","nullable":true,"metadata":{}},
            {"name":"b","type":"integer","nullable":true,"metadata":{}}]}"#,
        );
        assert!(!other(vec![int("A"), int("b")], &columns));
        assert!(!other(vec![int("a")], &columns));
        assert!(other(vec![int("a"), int("c")], &columns));
    }

    #[test]
    fn fields_show_at_every_depth() {
        let columns = table(
            r#"{"type":"struct","fields":[
            {"name":"l","nullable":true,"metadata":{},"type":{"type":"array","containsNull":true,"elementType":
                {"type":"struct","fields":[{"name":"a","type":"integer","nullable":true,"metadata":{}}]}}},
            {"name":"m","nullable":true,"metadata":{},"type":{"type":"map","keyType":"string","valueContainsNull":true,
                "valueType":{"type":"struct","fields":[{"name":"a","type":"integer","nullable":true,"metadata":{}}]}}}
            ]}"#,
        );
        let list =
            |of: Vec<Field>| Field::new_list("l", Field::new("item", Arrow::Struct(of.into()), true), true);
        let map = |of: Vec<Field>| {
            let value = Field::new("v", Arrow::Struct(of.into()), true);
            Field::new_map("m", "key_value", Field::new("k", Arrow::Utf8, false), value, false, true)
        };
        assert!(!other(vec![list(vec![int("a")]), map(vec![int("a")])], &columns));
        assert!(other(vec![list(vec![int("a"), int("b")]), map(vec![int("a")])], &columns));
        assert!(other(vec![list(vec![int("a")]), map(vec![int("a"), int("b")])], &columns));
    }

    #[test]
    fn by_ids_a_name_says_nothing() {
        let columns = table(
            r#"{"type":"struct","fields":[{"name":"a","type":"integer","nullable":true,
            "metadata":{"delta.columnMapping.id":2,"delta.columnMapping.physicalName":"p"}}]}"#,
        );
        let with_id = |id: &str| {
            let key = parquet::arrow::PARQUET_FIELD_ID_META_KEY.to_owned();
            int("p").with_metadata([(key, id.to_owned())])
        };
        let other =
            |id| has_other_fields("f", &vec![with_id(id)].into(), &columns, ColumnMappingMode::Id).unwrap();
        assert!(!other("2"));
        assert!(other("1"));
    }
}
