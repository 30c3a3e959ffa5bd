//! Columns that hold only nulls of no type, which data files do not have (PROTOCOL.md, "Void Type").

use super::{DataType, StructType, format_column_list};
use crate::error::{Error, Result, condition};

impl StructType {
    /// What data files hold: no void columns, and structs without their void fields. Arrays and maps stay as they are:
    /// what is void in them cannot be written ([`check_storable`]).
    pub(crate) fn without_void(&self) -> StructType {
        let fields = self.fields.iter().filter(|f| f.data_type != DataType::Void).map(|field| {
            let mut field = field.clone();
            if let DataType::Struct(inner) = &mut field.data_type {
                **inner = inner.without_void();
            }
            field
        });
        StructType { fields: fields.collect() }
    }

    /// Whether a column, or a field at any depth, is void.
    pub(crate) fn has_void(&self) -> bool {
        self.any_type(&|t| *t == DataType::Void)
    }
}

/// Checks that data files can hold rows of a table: nothing is void within arrays and maps, and of all columns that are in
/// files, and of the fields of each struct, one at least is not void.
///
/// # Errors
/// [`Error::InvalidSchema`] with the column.
pub(crate) fn check_storable(schema: &StructType, partition_columns: &[String]) -> Result<()> {
    if !schema.has_void() {
        return Ok(());
    }
    check_collections(schema, &mut Vec::new())?;
    let is_data = |name: &String| !partition_columns.contains(name);
    if schema.fields.iter().filter(|f| is_data(&f.name)).all(|f| f.data_type == DataType::Void) {
        let refused = |reason: &str| Error::InvalidSchema { reason: reason.into() };
        return Err(match partition_columns {
            [] => refused("all columns are void, so there is nothing to write; give one of them a type")
                .of_condition(&condition::CANNOT_WRITE_EMPTY_SCHEMA_TABLE_ALL_VOID_COLUMNS),
            _ => refused("all columns but the partition columns are void; give one of them a type")
                .of_condition(&condition::NON_PARTITION_COLUMN_ABSENT),
        });
    }
    check_structs(schema, &mut Vec::new())
}

fn check_collections(schema: &StructType, path: &mut Vec<String>) -> Result<()> {
    for field in &schema.fields {
        path.push(field.name.clone());
        let kind = match &field.data_type {
            DataType::Struct(inner) => {
                check_collections(inner, path)?;
                None
            }
            DataType::Array(_) => Some("ArrayType"),
            DataType::Map(_) => Some("MapType"),
            _ => None,
        };
        if let Some(kind) = kind.filter(|_| field.data_type.any(&|t| *t == DataType::Void)) {
            let column = format_column_list(std::slice::from_ref(path));
            let reason =
                format!("column `{column}` has void in an array or a map, which data files cannot hold");
            let parameters = [("columName", column.as_str()), ("dataType", kind)];
            return Err(Error::InvalidSchema { reason }
                .named(&condition::COMPLEX_TYPE_COLUMN_CONTAINS_NULL_TYPE, parameters));
        }
        path.pop();
    }
    Ok(())
}

fn check_structs(schema: &StructType, path: &mut Vec<String>) -> Result<()> {
    for field in &schema.fields {
        let DataType::Struct(inner) = &field.data_type else { continue };
        path.push(field.name.clone());
        if !inner.fields.is_empty() && inner.fields.iter().all(|f| f.data_type == DataType::Void) {
            let column = format_column_list(std::slice::from_ref(path));
            let reason =
                format!("all fields of column `{column}` are void, so that data files cannot hold it");
            return Err(Error::InvalidSchema { reason }.named(
                &condition::CANNOT_WRITE_EMPTY_SCHEMA_STRUCT_ALL_VOID_FIELDS,
                [("columnPath", column.as_str())],
            ));
        }
        check_structs(inner, path)?;
        path.pop();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alter::testing::schema;

    #[test]
    fn files_have_no_void_columns_at_any_depth() {
        let table = schema("a void, b long, s struct<x: void, y: struct<z: void, w: int>>");
        assert!(table.has_void());
        let stored = table.without_void();
        assert_eq!(stored, schema("b long, s struct<y: struct<w: int>>"));
        assert!(!stored.has_void());
    }

    #[test]
    fn what_files_cannot_hold_is_refused_by_name() {
        let name = |text: &str, by: &[&str]| {
            let by: Vec<String> = by.iter().map(|c| (*c).to_owned()).collect();
            check_storable(&schema(text), &by).err().map(|e| e.condition().unwrap().name)
        };
        assert_eq!(name("a long, v void, s struct<x: void, y: int>", &[]), None);
        assert_eq!(name("p long, a long, v void", &["p"]), None);
        let all = Some("DELTA_CANNOT_WRITE_EMPTY_SCHEMA.TABLE_ALL_VOID_COLUMNS");
        assert_eq!(name("v void, w void", &[]), all);
        assert_eq!(name("p long, v void", &["p"]), Some("DELTA_NON_PARTITION_COLUMN_ABSENT"));
        let inner = Some("DELTA_CANNOT_WRITE_EMPTY_SCHEMA.STRUCT_ALL_VOID_FIELDS");
        assert_eq!(name("a long, s struct<x: void>", &[]), inner);
        assert_eq!(name("s struct<a: long, t: struct<x: void, y: void>>", &[]), inner);
        let within = Some("DELTA_COMPLEX_TYPE_COLUMN_CONTAINS_NULL_TYPE");
        for text in [
            "l array<void>",
            "a long, m map<string, void>",
            "a long, s struct<l: array<struct<x: void, y: int>>>",
            // before anything else
            "v void, l array<void>",
        ] {
            assert_eq!(name(text, &[]), within, "{text}");
        }
    }
}
