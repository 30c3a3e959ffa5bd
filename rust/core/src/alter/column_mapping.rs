//! Column mapping: ids and physical names (PROTOCOL.md, "Column Mapping").

use std::collections::{BTreeSet, HashMap, HashSet};

use serde_json::{Map, Value};
use uuid::Uuid;

use super::Definition;
use super::change::Change;
use super::iceberg_compat;
use super::paths::begins_with;
use crate::error::{Error, Result, condition};
use crate::features::TableFeature;
use crate::properties::TableProperty;
use crate::schema::{
    ColumnMappingMode, DataType, FIELD_ID, NESTED_IDS, PHYSICAL_NAME, StructField, StructType,
};

/// The highest id that was ever given.
const MAX_ID: TableProperty = TableProperty::ColumnMappingMaxColumnId;
/// Field metadata of column mapping, with what Parquet readers leave in a schema.
const KEYS: [&str; 6] =
    [FIELD_ID, PHYSICAL_NAME, NESTED_IDS, "parquet.field.id", "parquet.field.nested.ids", "PARQUET:field_id"];

/// Takes all column mapping out of a field.
pub(super) fn strip(field: &mut StructField) {
    field.metadata.retain(|key, _| !KEYS.contains(&key.as_str()));
}

/// Whether some field has metadata of column mapping.
pub(super) fn is_mapped(schema: &StructType) -> bool {
    schema.explode().iter().any(|(_, f)| KEYS.iter().any(|key| f.metadata.contains_key(*key)))
}

/// The schema without column mapping: for a rewrite that drops the feature.
pub fn without_mapping(schema: &StructType) -> StructType {
    let mut schema = schema.clone();
    schema.change_fields(&mut |_, field| strip(field));
    schema
}

/// Gives ids and physical names to the fields that have none.
///
/// An existing field keeps its own. When a table gets mapping by name, its physical names are the names it has; all
/// others are new and unique. Under `delta.enableIcebergCompatV2` and `V3` elements, keys and values get ids too.
///
/// # Errors
/// [`Error::InvalidFeatureChange`] for a change of the mode that would need the files to be rewritten.
pub(super) fn assign(old: Option<&Definition>, new: &mut Definition, change: Change) -> Result<()> {
    let mode = new.column_mapping();
    let before = old.map_or(ColumnMappingMode::None, Definition::column_mapping);
    let upgrade = change == Change::Alter && mode != before;
    if upgrade {
        check_mode(before, mode)?;
        if old.is_some_and(|old| is_mapped(&old.schema)) {
            return Err(refuse(
                "the schema has ids or physical names of an earlier mapping, which are not those of the files",
            ));
        }
    }
    if change == Change::Create {
        new.schema.change_fields(&mut |_, field| strip(field));
    }
    if mode == ColumnMappingMode::None {
        return Ok(());
    }
    let mut last = max_id(&new.schema).max(property(new)).max(old.map_or(0, property));
    let existing: HashSet<Vec<&str>> = old
        .filter(|_| upgrade)
        .into_iter()
        .flat_map(|old| old.schema.explode())
        .map(|(path, _)| path)
        .collect();
    let mut missing = None;
    new.schema.change_fields(&mut |path, field| {
        if field.field_id().is_none() {
            last = last.saturating_add(1);
            field.metadata.insert(FIELD_ID.into(), Value::from(last));
        }
        if !field.metadata.contains_key(PHYSICAL_NAME) {
            let name = if upgrade {
                if !existing.contains(&path.iter().map(String::as_str).collect::<Vec<_>>()) {
                    missing.get_or_insert_with(|| path.join("."));
                }
                field.name.clone()
            } else {
                format!("col-{}", Uuid::new_v4())
            };
            field.metadata.insert(PHYSICAL_NAME.into(), Value::from(name));
        }
    });
    if let Some(column) = missing {
        return Err(refuse(&format!("the column `{column}` is added in the same step; add it in another")));
    }
    if iceberg_compat::has_nested_ids(&new.metadata) {
        assign_nested(&mut new.schema, &mut last);
    }
    if i32::try_from(last).is_err() {
        return Err(Error::InvalidSchema {
            reason: format!("`{MAX_ID}` would be {last}, and ids of columns are at most {}", i32::MAX),
        });
    }
    new.metadata.set_property(MAX_ID, last.to_string());
    Ok(())
}

fn refuse(reason: &str) -> Error {
    Error::InvalidFeatureChange { feature: TableFeature::ColumnMapping.into(), reason: reason.into() }
}

fn check_mode(before: ColumnMappingMode, mode: ColumnMappingMode) -> Result<()> {
    let refuse = |reason: &str| {
        let modes = [("oldMode", before.name()), ("newMode", mode.name())];
        refuse(reason).named(&condition::UNSUPPORTED_COLUMN_MAPPING_MODE_CHANGE, modes)
    };
    match (before, mode) {
        (ColumnMappingMode::None, ColumnMappingMode::Name) => Ok(()),
        (ColumnMappingMode::None, ColumnMappingMode::Id) => Err(refuse(
            "mapping by id is only for new tables: files of this one have no ids; use `delta.columnMapping.mode` = `name`",
        )),
        (_, ColumnMappingMode::None) => {
            Err(refuse("the files have physical names; drop the feature columnMapping, which rewrites them"))
        }
        _ => Err(refuse("the mode changes only from none to name")),
    }
}

fn property(table: &Definition) -> i64 {
    table.property(MAX_ID).and_then(|v| v.parse().ok()).unwrap_or(0)
}

/// The id of an element, key or value below a field: `path` are the names from the physical name of the field on.
pub(crate) fn nested_id(field: &StructField, path: &str) -> Option<i64> {
    field.metadata.get(NESTED_IDS)?.get(path)?.as_i64()
}

fn nested_ids(field: &StructField) -> impl Iterator<Item = i64> + '_ {
    let ids = field.metadata.get(NESTED_IDS).and_then(Value::as_object);
    ids.into_iter().flat_map(Map::values).filter_map(Value::as_i64)
}

/// The highest id in a schema.
fn max_id(schema: &StructType) -> i64 {
    let ids = |f: &StructField| f.field_id().map(i64::from).into_iter().chain(nested_ids(f)).max();
    schema.explode().iter().filter_map(|(_, f)| ids(f)).max().unwrap_or(0)
}

/// Ids of elements, keys and values, kept in the nearest field by the path of physical names.
fn assign_nested(schema: &mut StructType, last: &mut i64) {
    fn within(data_type: &DataType, path: &str, ids: &mut Map<String, Value>, last: &mut i64) {
        let mut below = |name: &str, data_type: &DataType| {
            let path = format!("{path}.{name}");
            if !ids.contains_key(&path) {
                *last = last.saturating_add(1);
                ids.insert(path.clone(), Value::from(*last));
            }
            within(data_type, &path, ids, last);
        };
        match data_type {
            DataType::Array(a) => below("element", &a.element_type),
            DataType::Map(m) => {
                below("key", &m.key_type);
                below("value", &m.value_type);
            }
            _ => {}
        }
    }
    schema.change_fields(&mut |_, field| {
        let mut ids = field.metadata.get(NESTED_IDS).and_then(Value::as_object).cloned().unwrap_or_default();
        let name = field.physical_name(ColumnMappingMode::Name).to_owned();
        within(&field.data_type, &name, &mut ids, last);
        if !ids.is_empty() {
            field.metadata.insert(NESTED_IDS.into(), Value::Object(ids));
        }
    });
}

/// Checks the ids and physical names of a mapped table: there, unique, and none above the highest that was given.
///
/// # Errors
/// [`Error::InvalidSchema`] with the column.
pub(super) fn check(table: &Definition) -> Result<()> {
    let mode = table.column_mapping();
    if mode == ColumnMappingMode::None {
        return Ok(());
    }
    let invalid = |reason: String| Error::InvalidSchema { reason };
    let (mut ids, mut names) = (BTreeSet::new(), BTreeSet::new());
    let mut physical: Vec<(Vec<&str>, Vec<String>)> = Vec::new();
    for (path, field) in table.schema.explode() {
        let column = path.join(".");
        let id =
            field.field_id().ok_or_else(|| invalid(format!("column `{column}` has no column mapping id")))?;
        if !field.metadata.contains_key(PHYSICAL_NAME) {
            return Err(invalid(format!("column `{column}` has no physical name")));
        }
        for id in std::iter::once(i64::from(id)).chain(nested_ids(field)) {
            if !ids.insert(id) {
                return Err(invalid(format!("column `{column}` has the id {id} of another column")));
            }
        }
        // the physical path: that of the nearest field above, the steps through arrays and maps, and the own name
        physical.retain(|(above, _)| path.len() > above.len() && path.starts_with(above));
        let (depth, mut full) =
            physical.last().map_or((0, Vec::new()), |(above, full)| (above.len(), full.clone()));
        full.extend(path[depth..path.len() - 1].iter().map(|s| (*s).to_owned()));
        full.push(field.physical_name(mode).to_owned());
        if !names.insert(full.clone()) {
            return Err(invalid(format!("column `{column}` has the physical name of another column")));
        }
        physical.push((path, full));
    }
    let given = table.property(MAX_ID).and_then(|v| v.parse::<i64>().ok());
    let (given, highest) = (given, max_id(&table.schema));
    match given {
        Some(given) if given >= highest && given <= i64::from(i32::MAX) => Ok(()),
        Some(given) => Err(invalid(format!("`{MAX_ID}` is {given}, and the highest id is {highest}"))),
        None => Err(invalid(format!("`{MAX_ID}` is not set"))),
    }
}

/// Checks that a change keeps what files are found by: fields keep their physical names, ids are not given twice.
///
/// # Errors
/// [`Error::InvalidSchema`] with the column.
pub(super) fn check_kept(old: &Definition, new: &Definition, change: Change) -> Result<()> {
    let invalid = |reason: String| Err(Error::InvalidSchema { reason });
    let (before, mode) = (old.column_mapping(), new.column_mapping());
    if mode == ColumnMappingMode::None || before == ColumnMappingMode::None {
        if change == Change::Alter && mode != before {
            check_mode(before, mode)?;
            for (path, field) in new.schema.explode() {
                if field.physical_name(mode) != field.name {
                    return invalid(format!(
                        "column `{}` gets the physical name `{}`, and in the files it is `{}`",
                        path.join("."),
                        field.physical_name(mode),
                        field.name
                    ));
                }
            }
        }
        return Ok(());
    }
    if property(new) < property(old) {
        return invalid(format!("`{MAX_ID}` decreases from {} to {}", property(old), property(new)));
    }
    if change == Change::Replace {
        return Ok(());
    }
    if before != mode {
        check_mode(before, mode)?;
    }
    let olds: HashMap<i32, &StructField> =
        old.schema.explode().into_iter().filter_map(|(_, f)| Some((f.field_id()?, f))).collect();
    for (path, field) in new.schema.explode() {
        match field.field_id().and_then(|id| olds.get(&id)) {
            Some(was) if was.physical_name(mode) != field.physical_name(mode) => {
                return invalid(format!(
                    "the physical name of column `{}` changes from `{}` to `{}`",
                    path.join("."),
                    was.physical_name(mode),
                    field.physical_name(mode)
                ));
            }
            None if field.field_id().is_some_and(|id| i64::from(id) <= property(old)) => {
                return invalid(format!(
                    "the new column `{}` has the id {} of one that was dropped",
                    path.join("."),
                    field.field_id().unwrap_or_default()
                ));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Takes ids and physical names over from columns of the same path and type, so that overwriting a table with the same
/// columns keeps them.
pub(crate) fn reuse(old: &StructType, new: &mut StructType) {
    let lower = |path: &mut dyn Iterator<Item = &str>| path.map(str::to_lowercase).collect::<Vec<_>>();
    let olds: HashMap<Vec<String>, &StructField> =
        old.explode().into_iter().map(|(path, f)| (lower(&mut path.into_iter()), f)).collect();
    let mut changed: Vec<Vec<String>> = Vec::new();
    new.change_fields(&mut |path, field| {
        strip(field);
        match olds.get(&lower(&mut path.iter().map(String::as_str))) {
            // within a column that is new, all is new
            Some(was)
                if !changed.iter().any(|c| begins_with(path, c))
                    && alike(&was.data_type, &field.data_type) =>
            {
                for key in [FIELD_ID, PHYSICAL_NAME, NESTED_IDS] {
                    field.metadata.extend(was.metadata.get(key).map(|v| (key.to_owned(), v.clone())));
                }
            }
            _ => changed.push(path.to_vec()),
        }
    });
}

/// Whether two types are equal except for nullability and metadata.
fn alike(a: &DataType, b: &DataType) -> bool {
    match (a, b) {
        (DataType::Struct(a), DataType::Struct(b)) => {
            a.fields.len() == b.fields.len()
                && a.fields
                    .iter()
                    .zip(&b.fields)
                    .all(|(a, b)| a.name == b.name && alike(&a.data_type, &b.data_type))
        }
        (DataType::Array(a), DataType::Array(b)) => alike(&a.element_type, &b.element_type),
        (DataType::Map(a), DataType::Map(b)) => {
            alike(&a.key_type, &b.key_type) && alike(&a.value_type, &b.value_type)
        }
        (a, b) => a == b,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alter::paths::field;
    use crate::alter::properties::{SetOptions, set_properties};
    use crate::alter::testing::{data_type, path, table};
    use crate::alter::{NewColumn, add_columns};

    const NAME: (&str, &str) = ("delta.columnMapping.mode", "name");

    fn set(table: &Definition, key: &str, value: &str) -> Result<Definition> {
        set_properties(table, &[(key.to_owned(), value.to_owned())].into(), SetOptions::default())
    }

    #[test]
    fn a_table_that_gets_mapping_keeps_its_names_in_the_files() {
        let plain = table("a long, s struct<x: long, l array<struct<y: int>>>", &[]);
        let mapped = set(&plain, "delta.columnMapping.mode", "NAME").unwrap();
        for (at, f) in mapped.schema.explode() {
            assert_eq!(f.physical_name(ColumnMappingMode::Name), at[at.len() - 1]);
        }
        assert_eq!(mapped.property(MAX_ID), Some("5"));
        assert_eq!(mapped.metadata.schema_string, mapped.schema.to_json());
        assert!(mapped.protocol.supports(TableFeature::ColumnMapping));
        // nothing more happens the second time
        assert_eq!(set(&mapped, "delta.columnMapping.mode", "name").unwrap(), mapped);
    }

    #[test]
    fn the_mode_changes_only_from_none_to_name() {
        let plain = table("a long", &[]);
        let mapped = table("a long", &[NAME]);
        for (t, mode, said) in [
            (&plain, "id", "only for new tables"),
            (&mapped, "none", "drop the feature"),
            (&mapped, "id", "none to name"),
        ] {
            let error = set(t, "delta.columnMapping.mode", mode).unwrap_err();
            assert_eq!(error.kind(), "InvalidFeatureChange");
            assert!(error.to_string().contains(said), "{error}");
        }
        assert_eq!(
            table("a long", &[("delta.columnMapping.mode", "id")]).column_mapping(),
            ColumnMappingMode::Id
        );
    }

    #[test]
    fn leftovers_of_a_mapping_are_no_mapping() {
        let mut t = table("a long", &[]);
        t.schema.fields[0].metadata.insert(FIELD_ID.into(), 7.into());
        assert!(
            set(&t, "delta.columnMapping.mode", "name").unwrap_err().to_string().contains("earlier mapping")
        );
        assert!(!is_mapped(&without_mapping(&t.schema)));
    }

    #[test]
    fn elements_keys_and_values_get_ids_for_iceberg() {
        let t = table(
            "a array<array<int>>, m map<int, struct<l array<int>>>",
            &[("delta.enableIcebergCompatV2", "true")],
        );
        assert_eq!(t.column_mapping(), ColumnMappingMode::Name);
        let nested =
            |at: &str| field(&t.schema, &path(at)).unwrap().metadata[NESTED_IDS].as_object().unwrap().clone();
        let suffixes = |at: &str| -> Vec<String> {
            nested(at).keys().map(|k| k.split_once('.').unwrap().1.to_owned()).collect()
        };
        assert_eq!(suffixes("a"), ["element", "element.element"]);
        assert_eq!(suffixes("m"), ["key", "value"]);
        assert_eq!(suffixes("m.value.l"), ["element"]);
        assert_eq!(t.property(MAX_ID), Some("8"));
        check(&t).unwrap();
    }

    #[test]
    fn the_highest_id_is_what_a_log_says() {
        let mut t = table("a long", &[NAME]);
        t.metadata.set_property(MAX_ID, i64::MAX.to_string());
        let column = NewColumn::of(StructField::new("b", data_type("array<int>"), true));
        let error = add_columns(&t, &[column]).unwrap_err().to_string();
        assert!(error.contains("would be 9223372036854775807, and ids of columns are at most"), "{error}");
    }

    #[test]
    fn ids_and_names_are_checked() {
        let good = table("a long, s struct<x: long>", &[NAME]);
        let broken = |change: &dyn Fn(&mut Definition)| {
            let mut t = good.clone();
            change(&mut t);
            check(&t).unwrap_err().to_string()
        };
        let said = broken(&|t| {
            let id = t.schema.fields[0].metadata[FIELD_ID].clone();
            t.schema.fields[1].metadata.insert(FIELD_ID.into(), id);
        });
        assert!(said.contains("column `s` has the id 1"), "{said}");
        let said = broken(&|t| {
            let name = t.schema.fields[0].metadata[PHYSICAL_NAME].clone();
            t.schema.fields[1].metadata.insert(PHYSICAL_NAME.into(), name);
        });
        assert!(said.contains("physical name of another"), "{said}");
        let said = broken(&|t| strip(&mut t.schema.fields[0]));
        assert!(said.contains("no column mapping id"), "{said}");
        let said = broken(&|t| {
            t.metadata.set_property(MAX_ID, "2");
        });
        assert!(said.contains("the highest id is 3"), "{said}");
        let said = broken(&|t| {
            t.metadata.unset_property(MAX_ID);
        });
        assert!(said.contains("not set"), "{said}");
    }

    #[test]
    fn what_files_are_found_by_is_kept() {
        let old = table("a long, b long", &[NAME]);
        let mut renamed = old.clone();
        renamed.schema.fields[0].metadata.insert(PHYSICAL_NAME.into(), "other".into());
        assert!(
            check_kept(&old, &renamed, Change::Alter)
                .unwrap_err()
                .to_string()
                .contains("physical name of column")
        );
        assert!(check_kept(&old, &renamed, Change::Replace).is_ok());
        let mut lower = old.clone();
        lower.metadata.set_property(MAX_ID, "1");
        assert!(check_kept(&old, &lower, Change::Replace).unwrap_err().to_string().contains("decreases"));
        let mut dropped = old.clone();
        dropped.schema.fields.pop();
        let mut again = dropped.clone();
        again.schema.fields.push(StructField::new("c", DataType::Long, true));
        again.schema.fields[1].metadata.insert(FIELD_ID.into(), 2.into());
        assert!(check_kept(&dropped, &again, Change::Alter).unwrap_err().to_string().contains("was dropped"));
    }
}
