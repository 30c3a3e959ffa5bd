//! Rules about column names and partition columns.

use std::collections::BTreeSet;

use crate::error::{Error, Result, condition};
use crate::schema::{ColumnMappingMode, DataType, StructType};

/// Characters that Parquet files of older readers cannot have in column names; physical names are free of them.
const REFUSED: &str = " ,;{}()\n\t=";

/// Checks the names of a schema: none empty, no two equal ignoring case within one struct, and without column mapping
/// none of the characters that Spark refuses.
pub(crate) fn check_names(schema: &StructType, mode: ColumnMappingMode) -> Result<()> {
    check_struct(schema, mode, "")
}

/// The names of columns, at any depth, that only files with physical names can have.
pub(super) fn names_that_need_mapping(schema: &StructType) -> Vec<&str> {
    let fields = schema.explode().into_iter().map(|(_, field)| field.name.as_str());
    fields.filter(|name| name.contains(|c| REFUSED.contains(c))).collect()
}

fn check_struct(schema: &StructType, mode: ColumnMappingMode, parent: &str) -> Result<()> {
    let invalid = |reason: String| Err(Error::InvalidSchema { reason });
    if schema.fields.is_empty() {
        let column = match parent.trim_end_matches('.') {
            "" => return invalid("there are no columns".to_owned()),
            column => column,
        };
        return invalid(format!("column `{column}` is a struct without fields")).map_err(|error| {
            let parameters = [("columnPath", column)];
            error.named(&condition::CANNOT_WRITE_EMPTY_SCHEMA_STRUCT_NO_FIELDS, parameters)
        });
    }
    let mut seen = BTreeSet::new();
    for field in &schema.fields {
        let path = format!("{parent}{}", field.name);
        if field.name.is_empty() {
            return invalid(format!("column `{path}` has no name"));
        }
        if !seen.insert(field.name.to_lowercase()) {
            let columns = [("duplicateCols", path.to_lowercase())];
            return invalid(format!(
                "column `{path}` exists twice; names that differ only in case are the same"
            ))
            .map_err(|error| error.named(&condition::DUPLICATE_COLUMNS_FOUND_DATA, columns));
        }
        if mode == ColumnMappingMode::None
            && let Some(c) = field.name.chars().find(|c| REFUSED.contains(*c))
        {
            let columns = [("invalidColumnNames", field.name.clone())];
            return invalid(format!(
                "column `{path}` contains {c:?}, which needs column mapping: rename it, or create the table with \
                 `delta.columnMapping.mode` = `name`"
            ))
            .map_err(|error| error.named(&condition::INVALID_CHARACTERS_IN_COLUMN_NAMES, columns));
        }
        check_type(&field.data_type, mode, &path)?;
    }
    Ok(())
}

fn check_type(data_type: &DataType, mode: ColumnMappingMode, path: &str) -> Result<()> {
    match data_type {
        DataType::Struct(s) => check_struct(s, mode, &format!("{path}.")),
        DataType::Array(a) => check_type(&a.element_type, mode, &format!("{path}.element")),
        DataType::Map(m) => {
            check_type(&m.key_type, mode, &format!("{path}.key"))?;
            check_type(&m.value_type, mode, &format!("{path}.value"))
        }
        _ => Ok(()),
    }
}

/// The partition columns as the schema spells them: there, not all of it, not twice, of a type that has a text form.
pub(crate) fn check_partition_columns(schema: &StructType, partition_by: &[String]) -> Result<Vec<String>> {
    let invalid = |reason: String| Error::InvalidArgument { argument: "partition_by".into(), reason };
    let mut columns: Vec<String> = Vec::with_capacity(partition_by.len());
    for name in partition_by {
        let field = schema.field(name).ok_or_else(|| {
            let names: Vec<_> = schema.fields.iter().map(|f| f.name.as_str()).collect();
            let error = invalid(format!("`{name}` is not a column; the columns are {}", names.join(", ")));
            let parameters = [("columnName", format!("`{name}`")), ("schemaMap", names.join(", "))];
            error.named(&condition::PARTITION_COLUMN_NOT_FOUND, parameters)
        })?;
        match field.data_type {
            DataType::Struct(_)
            | DataType::Array(_)
            | DataType::Map(_)
            | DataType::UserDefined(_)
            | DataType::Variant
            | DataType::Void => {
                let kind = field.data_type.name();
                let parameters = [("name", field.name.clone()), ("dataType", kind.clone())];
                return Err(invalid(format!("`{name}` is of type {kind} and cannot be a partition column"))
                    .named(&condition::INVALID_PARTITION_COLUMN_TYPE, parameters));
            }
            _ => {}
        }
        if columns.contains(&field.name) {
            return Err(invalid(format!("`{name}` is given twice")));
        }
        columns.push(field.name.clone());
    }
    if !columns.is_empty() && columns.len() == schema.fields.len() {
        return Err(invalid(
            "all columns are partition columns; at least one must stay in the data files".into(),
        )
        .of_condition(&condition::CANNOT_USE_ALL_COLUMNS_FOR_PARTITION));
    }
    Ok(columns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::StructField;

    fn schema(fields: &[(&str, DataType)]) -> StructType {
        StructType { fields: fields.iter().map(|(n, t)| StructField::new(*n, t.clone(), true)).collect() }
    }

    #[test]
    fn names_are_checked_at_every_depth() {
        let nested = |name: &str| {
            DataType::Array(Box::new(crate::schema::ArrayType {
                element_type: DataType::Struct(Box::new(schema(&[
                    ("ok", DataType::Long),
                    (name, DataType::Long),
                ]))),
                contains_null: true,
            }))
        };
        for (name, said) in [("a b", "needs column mapping"), ("OK", "twice"), ("", "no name")] {
            let schema = schema(&[("l", nested(name))]);
            let error = check_names(&schema, ColumnMappingMode::None).unwrap_err().to_string();
            assert!(error.contains("`l.element.") && error.contains(said), "{error}");
        }
        assert!(check_names(&schema(&[("a b;=", DataType::Long)]), ColumnMappingMode::Name).is_ok());
        assert!(check_names(&schema(&[]), ColumnMappingMode::Name).is_err());
    }

    #[test]
    fn partition_columns_are_checked() {
        let s = schema(&[("A", DataType::Long), ("b", DataType::Variant)]);
        assert_eq!(check_partition_columns(&s, &["a".into()]).unwrap(), ["A"]);
        for (columns, said) in [
            (vec!["x"], "not a column; the columns are A, b"),
            (vec!["b"], "type variant"),
            (vec!["a", "A"], "twice"),
        ] {
            let columns: Vec<String> = columns.into_iter().map(str::to_owned).collect();
            assert!(check_partition_columns(&s, &columns).unwrap_err().to_string().contains(said));
        }
        let one = schema(&[("a", DataType::Long)]);
        assert!(
            check_partition_columns(&one, &["a".into()]).unwrap_err().to_string().contains("all columns")
        );
    }
}
