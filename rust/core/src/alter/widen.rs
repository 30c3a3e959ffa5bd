//! Changes of a column's type (PROTOCOL.md, "Type Widening").

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::paths::refuse;
use super::{Definition, iceberg_compat};
use crate::error::Result;
use crate::features::TableFeature;
use crate::properties::TableProperty;
use crate::schema::{ColumnMappingMode, DataType, StructField, StructType, TYPE_CHANGES, is_widening};

/// Whether type changes are turned on.
pub(super) fn is_on(table: &Definition) -> bool {
    table.is_true(TableProperty::EnableTypeWidening)
}

/// Checks that a column may change its type: both are primitive and the protocol has the change.
///
/// # Errors
/// [`crate::Error::InvalidColumnChange`] with the reason.
pub(super) fn check(table: &Definition, path: &[String], from: &DataType, to: &DataType) -> Result<()> {
    if from == to || *from == DataType::Void {
        return Ok(());
    }
    let change = format!("the type cannot change from {} to {}", from.name(), to.name());
    if !is_widening(from, to) {
        return Err(refuse(path, format!("{change}: the protocol has no such change")));
    }
    if !is_on(table) {
        return Err(refuse(path, format!("{change} unless `delta.enableTypeWidening` is true")));
    }
    if !table.protocol.supports(TableFeature::TypeWidening)
        && table.protocol.supports(TableFeature::TypeWideningPreview)
    {
        return Err(refuse(
            path,
            format!(
                "{change} while the table has only typeWidening-preview; set `delta.feature.typeWidening` = `supported`"
            ),
        ));
    }
    iceberg_compat::check_widening(table, &path.join("."), from, to)
}

/// What bytes, shorts and integers, which files hold alike, do without type widening.
#[derive(Clone, Copy)]
pub(super) enum Integers {
    Widen,
    Stay,
}

/// The type of a column after data of another type is added: the wider of two, where schema evolution may widen.
pub(super) fn evolved(
    table: &Definition,
    from: &DataType,
    to: &DataType,
    integers: Integers,
) -> Option<DataType> {
    let ready = is_on(table) && table.protocol.supports(TableFeature::TypeWidening);
    let widens = from != to && *from != DataType::Void && is_widening(from, to);
    let alike = matches!(integers, Integers::Widen) && same_in_files(from, to);
    let may = widens && (ready || alike);
    (may && (!iceberg_compat::is_on(&table.metadata) || iceberg_compat::is_iceberg_widening(from, to)))
        .then(|| to.clone())
}

/// Whether data files hold both types alike, so that a column may become the wider one without the feature.
fn same_in_files(from: &DataType, to: &DataType) -> bool {
    use DataType::{Byte, Integer, Short};
    matches!((from, to), (Byte, Short | Integer) | (Short, Integer))
}

/// Records the changes of type between the schema of a table and its new one in the metadata of the columns.
///
/// # Errors
/// As [`check`], for a change that must not be.
pub(super) fn record(old: &Definition, new: &mut Definition) -> Result<()> {
    let mut failed = None;
    let mut changes: HashMap<Vec<String>, Vec<Value>> = HashMap::new();
    for (path, before, after) in pairs(old, new) {
        let path: Vec<String> = path.into_iter().map(str::to_owned).collect();
        let mut found = Vec::new();
        collect(before, after, &mut Vec::new(), &mut |at, from, to| {
            if !is_on(new) && same_in_files(from, to) {
                return;
            }
            let full: Vec<String> = path.iter().cloned().chain(at.iter().map(|s| (*s).to_owned())).collect();
            match check(new, &full, from, to) {
                Ok(()) if *from != DataType::Void => found.push(entry(at, from, to)),
                Ok(()) => {}
                Err(error) => {
                    failed.get_or_insert(error);
                }
            }
        });
        if !found.is_empty() {
            changes.insert(path, found);
        }
    }
    if let Some(error) = failed {
        return Err(error);
    }
    if changes.is_empty() {
        return Ok(());
    }
    new.schema.change_fields(&mut |path, field| {
        let Some(found) = changes.get(path) else { return };
        let list = field.metadata.entry(TYPE_CHANGES).or_insert_with(|| Value::Array(Vec::new()));
        if let Value::Array(list) = list {
            list.extend(found.iter().cloned());
        }
    });
    Ok(())
}

/// The fields that are in both schemas, by their new paths: the same id, or without column mapping the same path.
fn pairs<'a>(old: &'a Definition, new: &'a Definition) -> Vec<(Vec<&'a str>, &'a DataType, &'a DataType)> {
    let mapped = old.column_mapping() != ColumnMappingMode::None;
    let key = |path: &[&'a str], field: &StructField| match mapped {
        true => field.field_id().map(|id| vec![id.to_string()]),
        false => Some(path.iter().map(|s| (*s).to_owned()).collect()),
    };
    let olds: HashMap<Vec<String>, &DataType> = old
        .schema
        .explode()
        .into_iter()
        .filter_map(|(path, field)| Some((key(&path, field)?, &field.data_type)))
        .collect();
    let pair = |(path, field): (Vec<&'a str>, &'a StructField)| {
        let before = olds.get(&key(&path, field)?)?;
        Some((path, *before, &field.data_type))
    };
    new.schema.explode().into_iter().filter_map(pair).collect()
}

/// Calls `found` for each primitive type that differs, with its place within the field. Structs are fields of their own.
fn collect<'a>(
    from: &'a DataType,
    to: &'a DataType,
    at: &mut Vec<&'static str>,
    found: &mut dyn FnMut(&[&'static str], &'a DataType, &'a DataType),
) {
    let mut below = |name, from, to| {
        at.push(name);
        collect(from, to, at, found);
        at.pop();
    };
    match (from, to) {
        (DataType::Struct(_), DataType::Struct(_)) => {}
        (DataType::Array(a), DataType::Array(b)) => below("element", &a.element_type, &b.element_type),
        (DataType::Map(a), DataType::Map(b)) => {
            below("key", &a.key_type, &b.key_type);
            below("value", &a.value_type, &b.value_type);
        }
        (from, to) if from != to => found(at, from, to),
        _ => {}
    }
}

fn entry(at: &[&str], from: &DataType, to: &DataType) -> Value {
    let mut entry = Map::new();
    entry.insert("fromType".into(), from.name().into());
    entry.insert("toType".into(), to.name().into());
    if !at.is_empty() {
        entry.insert("fieldPath".into(), at.join(".").into());
    }
    Value::Object(entry)
}

/// Checks that no type differs between two schemas but by a change that the protocol has, for files that stay.
///
/// # Errors
/// [`crate::Error::InvalidColumnChange`] with the column.
pub(super) fn check_kept(old: &Definition, new: &Definition) -> Result<()> {
    let mut failed = None;
    let supported = new.protocol.supports(TableFeature::TypeWidening)
        || new.protocol.supports(TableFeature::TypeWideningPreview);
    for (path, before, after) in pairs(old, new) {
        collect(before, after, &mut Vec::new(), &mut |_, from, to| {
            let may = same_in_files(from, to) || (supported && is_widening(from, to));
            if *from != DataType::Void && !may {
                let reason = format!("the type cannot change from {} to {}", from.name(), to.name());
                let path: Vec<String> = path.iter().map(|s| (*s).to_owned()).collect();
                failed.get_or_insert(refuse(&path, reason));
            }
        });
    }
    failed.map_or(Ok(()), Err)
}

/// Whether the schema has recorded changes: files may be of an older type.
pub fn has_changes(schema: &StructType) -> bool {
    schema.explode().iter().any(|(_, f)| f.metadata.contains_key(TYPE_CHANGES))
}

/// The schema without the recorded changes: for when every file has the types of the schema.
pub fn without_changes(schema: &StructType) -> StructType {
    let mut schema = schema.clone();
    schema.change_fields(&mut |_, field| {
        field.metadata.remove(TYPE_CHANGES);
    });
    schema
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alter::change_column::{ColumnChange, change_columns};
    use crate::alter::paths::field;
    use crate::alter::testing::{data_type, path, table};

    const ON: (&str, &str) = ("delta.enableTypeWidening", "true");

    fn widen(table: &Definition, column: &str, to: &str) -> Result<Definition> {
        let change = ColumnChange { data_type: Some(data_type(to)), ..ColumnChange::of(path(column)) };
        change_columns(table, &[change])
    }

    #[test]
    fn every_change_of_the_protocol_and_no_other() {
        let all = [
            "byte",
            "short",
            "integer",
            "long",
            "float",
            "double",
            "date",
            "timestamp",
            "timestamp_ntz",
            "string",
            "decimal(10,0)",
            "decimal(12,2)",
            "decimal(20,0)",
            "decimal(21,1)",
        ];
        let may = |from: &str| -> &[&str] {
            match from {
                "byte" => &[
                    "short",
                    "integer",
                    "long",
                    "double",
                    "decimal(10,0)",
                    "decimal(12,2)",
                    "decimal(20,0)",
                    "decimal(21,1)",
                ],
                "short" => &[
                    "integer",
                    "long",
                    "double",
                    "decimal(10,0)",
                    "decimal(12,2)",
                    "decimal(20,0)",
                    "decimal(21,1)",
                ],
                "integer" => {
                    &["long", "double", "decimal(10,0)", "decimal(12,2)", "decimal(20,0)", "decimal(21,1)"]
                }
                "long" => &["decimal(20,0)", "decimal(21,1)"],
                "float" => &["double"],
                "date" => &["timestamp_ntz"],
                "decimal(10,0)" => &["decimal(12,2)", "decimal(20,0)", "decimal(21,1)"],
                "decimal(12,2)" => &[],
                "decimal(20,0)" => &["decimal(21,1)"],
                _ => &[],
            }
        };
        for from in all {
            let t = table(&format!("a {from}"), &[ON, ("delta.feature.timestampNtz", "supported")]);
            for to in all {
                let done = widen(&t, "a", to);
                assert_eq!(done.is_ok(), from == to || may(from).contains(&to), "{from} to {to}: {done:?}");
            }
        }
    }

    #[test]
    fn changes_are_recorded_in_the_nearest_field_and_kept() {
        let t = table("a byte, m map<string, array<short>>, s struct<x: float>", &[ON]);
        let t = widen(&t, "a", "short").unwrap();
        let t = widen(&t, "a", "long").unwrap();
        let t = widen(&t, "m.value.element", "integer").unwrap();
        let t = widen(&t, "s.x", "double").unwrap();
        let changes = |at: &str| field(&t.schema, &path(at)).unwrap().metadata[TYPE_CHANGES].to_string();
        assert_eq!(
            changes("a"),
            r#"[{"fromType":"byte","toType":"short"},{"fromType":"short","toType":"long"}]"#
        );
        assert_eq!(changes("m"), r#"[{"fieldPath":"value.element","fromType":"short","toType":"integer"}]"#);
        assert_eq!(changes("s.x"), r#"[{"fromType":"float","toType":"double"}]"#);
        assert!(has_changes(&t.schema) && !has_changes(&without_changes(&t.schema)));
        let again = StructType::from_json(&t.metadata.schema_string).unwrap();
        assert_eq!(again, t.schema);
    }

    #[test]
    fn it_must_be_on_and_fit_iceberg() {
        let error = widen(&table("a int", &[]), "a", "long").unwrap_err().to_string();
        assert!(error.contains("delta.enableTypeWidening"), "{error}");
        let iceberg = table("a int, d date", &[ON, ("delta.enableIcebergCompatV2", "true")]);
        assert!(widen(&iceberg, "a", "long").is_ok());
        assert!(widen(&iceberg, "a", "double").unwrap_err().to_string().contains("Iceberg"));
    }
}
