//! One schema for many files.

use crate::schema::{ArrayType, DataType, MapType, StructField, StructType};

/// The columns of both, those of `seen` first. Small integers become the wider of their types, which Parquet stores alike,
/// and a column without a type takes that of the other; names are compared without regard to case, as Spark reads files.
///
/// # Errors
/// The column and both of its types, where they are not the same.
pub(crate) fn merge(seen: &StructType, file: &StructType) -> Result<StructType, String> {
    merge_struct(seen, file, "")
}

/// The column of a name, as Spark compares names.
pub(super) fn of_name<'a>(schema: &'a StructType, name: &str) -> Option<&'a StructField> {
    schema.fields.iter().find(|f| f.name.to_lowercase() == name.to_lowercase())
}

fn merge_struct(seen: &StructType, file: &StructType, at: &str) -> Result<StructType, String> {
    let mut fields = seen.fields.clone();
    for other in &file.fields {
        match fields.iter_mut().find(|f| f.name.to_lowercase() == other.name.to_lowercase()) {
            Some(field) => {
                let path = if at.is_empty() { field.name.clone() } else { format!("{at}.{}", field.name) };
                field.data_type = merge_type(&field.data_type, &other.data_type, &path)?;
            }
            None => fields.push(other.clone()),
        }
    }
    Ok(StructType { fields })
}

fn merge_type(seen: &DataType, file: &DataType, at: &str) -> Result<DataType, String> {
    Ok(match (seen, file) {
        (a, b) if a == b => a.clone(),
        (DataType::Void, other) | (other, DataType::Void) => other.clone(),
        (DataType::Struct(a), DataType::Struct(b)) => DataType::Struct(Box::new(merge_struct(a, b, at)?)),
        (DataType::Array(a), DataType::Array(b)) => DataType::Array(Box::new(ArrayType {
            element_type: merge_type(&a.element_type, &b.element_type, &format!("{at}.element"))?,
            contains_null: true,
        })),
        (DataType::Map(a), DataType::Map(b)) => DataType::Map(Box::new(MapType {
            key_type: merge_type(&a.key_type, &b.key_type, &format!("{at}.key"))?,
            value_type: merge_type(&a.value_type, &b.value_type, &format!("{at}.value"))?,
            value_contains_null: true,
        })),
        (DataType::Byte, DataType::Short) | (DataType::Short, DataType::Byte) => DataType::Short,
        (DataType::Byte | DataType::Short, DataType::Integer)
        | (DataType::Integer, DataType::Byte | DataType::Short) => DataType::Integer,
        (a, b) => {
            return Err(format!("column `{at}` is {} here and {} in other files", b.name(), a.name()));
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alter::columns_from_json;

    fn schema(fields: &[(&str, serde_json::Value)]) -> StructType {
        let fields: Vec<_> = fields
            .iter()
            .map(|(n, t)| serde_json::json!({"name": n, "type": t, "nullable": true, "metadata": {}}))
            .collect();
        let json = serde_json::json!({"type": "struct", "fields": fields}).to_string();
        StructType { fields: columns_from_json(&json).unwrap() }
    }

    #[test]
    fn new_columns_come_last_and_small_integers_widen() {
        let inner =
            |name: &str| serde_json::json!({"type": "struct", "fields": [{"name": name, "type": "string"}]});
        let a = schema(&[("a", "byte".into()), ("s", inner("x"))]);
        let b = schema(&[("c", "date".into()), ("A", "integer".into()), ("s", inner("y"))]);
        let merged = merge(&a, &b).unwrap();
        let shown: Vec<_> =
            merged.fields.iter().map(|f| format!("{} {}", f.name, f.data_type.name())).collect();
        assert_eq!(shown, ["a integer", "s struct", "c date"]);
        let DataType::Struct(inner) = &merged.fields[1].data_type else { panic!("a struct") };
        assert_eq!(inner.fields.iter().map(|f| f.name.as_str()).collect::<Vec<_>>(), ["x", "y"]);
        assert_eq!(merge(&merged, &a).unwrap(), merged);
    }

    #[test]
    fn other_types_are_a_conflict_that_names_the_column() {
        let nested = |t: &str| serde_json::json!({"type": "array", "elementType": t, "containsNull": true});
        for (a, b) in [("long", "integer"), ("string", "long"), ("decimal(10,2)", "decimal(12,2)")] {
            let error = merge(&schema(&[("l", nested(a))]), &schema(&[("l", nested(b))])).unwrap_err();
            assert_eq!(error, format!("column `l.element` is {b} here and {a} in other files"));
        }
        assert!(merge(&schema(&[("l", nested("long"))]), &schema(&[("l", "long".into())])).is_err());
    }
}
