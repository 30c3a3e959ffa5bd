//! Which changes of the schema leave earlier rows readable: columns may be added and made nullable, and nothing else.

use std::collections::HashMap;

use crate::actions::Metadata;
use crate::error::Result;
use crate::schema::{ColumnMappingMode, DataType, Nullability, StructType, read_difference};

/// Why rows that were written with the metadata `old` cannot be read with the later metadata `read`; `None` when they can.
///
/// # Errors
/// [`crate::Error::InvalidSchema`] for a schema that is none.
pub(super) fn difference(old: &Metadata, read: &Metadata) -> Result<Option<String>> {
    let (from, to) = (old.schema()?, read.schema()?);
    Ok(mapping_difference((old, &from), (read, &to))
        .or_else(|| read_difference(&from, &to, Nullability::MayRelax)))
}

/// What column mapping hides: columns that were renamed, dropped, or that another one took the name of.
fn mapping_difference(old: (&Metadata, &StructType), read: (&Metadata, &StructType)) -> Option<String> {
    let (from, to) = (old.0.column_mapping(), read.0.column_mapping());
    if to == ColumnMappingMode::None {
        return (from != to).then(|| "column mapping was removed".to_owned());
    }
    if from != ColumnMappingMode::None && from != to {
        return Some("the mode of column mapping differs".to_owned());
    }
    let mut names = HashMap::new();
    physical_paths(read.1, to, &mut Vec::new(), String::new(), &mut names);
    let mut before = HashMap::new();
    physical_paths(old.1, from, &mut Vec::new(), String::new(), &mut before);
    let mut changed: Vec<_> =
        before.into_iter().filter(|(path, name)| names.get(path) != Some(name)).collect();
    changed.sort();
    if let Some((path, name)) = changed.into_iter().next() {
        return Some(match names.get(&path) {
            Some(now) => format!("column `{name}` was renamed to `{now}`"),
            None => format!("column `{name}` was dropped"),
        });
    }
    let partitions =
        |(m, schema): (&Metadata, &StructType), mode| schema.physical_names(&m.partition_columns, mode);
    (partitions(old, from) != partitions(read, to)).then(|| "the partition columns differ".to_owned())
}

/// The logical path of every field by its physical one, nested ones too.
fn physical_paths(
    schema: &StructType,
    mode: ColumnMappingMode,
    at: &mut Vec<String>,
    logical: String,
    into: &mut HashMap<Vec<String>, String>,
) {
    for field in &schema.fields {
        at.push(field.physical_name(mode).to_owned());
        let name = if logical.is_empty() { field.name.clone() } else { format!("{logical}.{}", field.name) };
        into.insert(at.clone(), name.clone());
        within(&field.data_type, mode, at, &name, into);
        at.pop();
    }
}

fn within(
    data_type: &DataType,
    mode: ColumnMappingMode,
    at: &mut Vec<String>,
    name: &str,
    into: &mut HashMap<Vec<String>, String>,
) {
    let mut inner = |part: &str, data_type: &DataType| {
        at.push(part.to_owned());
        within(data_type, mode, at, &format!("{name}.{part}"), into);
        at.pop();
    };
    match data_type {
        DataType::Struct(fields) => physical_paths(fields, mode, at, name.to_owned(), into),
        DataType::Array(array) => inner("element", &array.element_type),
        DataType::Map(map) => {
            inner("key", &map.key_type);
            inner("value", &map.value_type);
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn metadata(fields: Value, mode: &str, partitions: &[&str]) -> Metadata {
        serde_json::from_value(json!({
            "id": "t", "format": {"provider": "parquet", "options": {}},
            "schemaString": json!({"type": "struct", "fields": fields}).to_string(),
            "partitionColumns": partitions, "configuration": {"delta.columnMapping.mode": mode},
        }))
        .unwrap()
    }

    fn field(name: &str, data_type: impl Into<Value>, physical: &str) -> Value {
        json!({"name": name, "type": data_type.into(), "nullable": true,
            "metadata": {"delta.columnMapping.physicalName": physical}})
    }

    fn required(name: &str) -> Value {
        json!({"name": name, "type": "long", "nullable": false, "metadata": {}})
    }

    fn between(old: &Metadata, read: &Metadata) -> String {
        difference(old, read).unwrap().unwrap_or_default()
    }

    #[test]
    fn columns_may_be_added_and_become_nullable() {
        let old = metadata(json!([required("a")]), "none", &[]);
        let read = metadata(json!([field("a", "long", ""), field("b", "string", "")]), "none", &[]);
        assert_eq!(between(&old, &read), "");
        assert_eq!(between(&read, &read), "");
        assert_eq!(between(&read, &old), "column `a` may be null, and later not");
    }

    #[test]
    fn without_mapping_columns_are_known_by_their_names() {
        let of = |name: &str, data_type: &str| metadata(json!([field(name, data_type, "")]), "none", &[]);
        assert_eq!(between(&of("a", "long"), &of("b", "long")), "column `a` was dropped");
        assert_eq!(between(&of("a", "long"), &of("A", "long")), "column `a` was renamed to `A`");
        assert_eq!(
            between(&of("a", "integer"), &of("a", "long")),
            "the type of column `a` was changed from integer to long"
        );
        assert_eq!(between(&of("a", "void"), &of("a", "long")), "");
    }

    #[test]
    fn with_mapping_a_column_is_its_physical_name() {
        let of = |name: &str, physical: &str| metadata(json!([field(name, "long", physical)]), "name", &[]);
        assert_eq!(between(&of("a", "x"), &of("a", "x")), "");
        assert_eq!(between(&of("a", "x"), &of("b", "x")), "column `a` was renamed to `b`");
        // dropped, and another one of the same name was added
        assert_eq!(between(&of("a", "x"), &of("a", "y")), "column `a` was dropped");
        let plain = metadata(json!([field("a", "long", "ignored")]), "none", &[]);
        assert_eq!(between(&plain, &of("a", "a")), "");
        assert_eq!(between(&of("a", "a"), &plain), "column mapping was removed");
        let by_id = metadata(json!([field("a", "long", "x")]), "id", &[]);
        assert_eq!(between(&of("a", "x"), &by_id), "the mode of column mapping differs");
        let partitioned = metadata(json!([field("a", "long", "x")]), "name", &["a"]);
        assert_eq!(between(&of("a", "x"), &partitioned), "the partition columns differ");
    }

    #[test]
    fn nested_fields_count() {
        let of = |name: &str, physical: &str, mode: &str| {
            let inner = json!({"type": "struct", "fields": [field(name, "long", physical)]});
            let array = json!({"type": "array", "elementType": inner, "containsNull": true});
            let map =
                json!({"type": "map", "keyType": "string", "valueType": array, "valueContainsNull": true});
            metadata(json!([field("m", map, "m")]), mode, &[])
        };
        assert_eq!(between(&of("a", "x", "name"), &of("a", "x", "name")), "");
        let renamed = "column `m.value.element.a` was renamed to `m.value.element.b`";
        assert_eq!(between(&of("a", "x", "name"), &of("b", "x", "name")), renamed);
        let dropped = "column `m.value.element.a` was dropped";
        assert_eq!(between(&of("a", "", "none"), &of("b", "", "none")), dropped);
    }
}
