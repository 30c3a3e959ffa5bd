//! Compatibility with Iceberg (PROTOCOL.md, "Iceberg Compatibility V1", "V2"; V3 is a proposal of the protocol,
//! `protocol_rfcs/iceberg-compat-v3.md`, which delta-spark has).

use serde_json::Value;

use super::Definition;
use super::change::Change;
use super::literal_default::is_literal;
use crate::actions::{Add, Metadata};
use crate::error::{Error, Result, condition};
use crate::features::TableFeature;
use crate::properties::TableProperty;
use crate::schema::{
    CURRENT_DEFAULT, ColumnMappingMode, DataType, TYPE_CHANGES, is_widening, type_from_name,
};
use crate::stats::num_records;

const V1: TableProperty = TableProperty::EnableIcebergCompatV1;
const V2: TableProperty = TableProperty::EnableIcebergCompatV2;
const V3: TableProperty = TableProperty::EnableIcebergCompatV3;

/// Each with its feature and its number.
const VERSIONS: [(TableProperty, TableFeature, &str); 3] = [
    (V1, TableFeature::IcebergCompatV1, "1"),
    (V2, TableFeature::IcebergCompatV2, "2"),
    (V3, TableFeature::IcebergCompatV3, "3"),
];

/// Whether a table is compatible with Iceberg.
pub(crate) fn is_on(metadata: &Metadata) -> bool {
    VERSIONS.iter().any(|(property, ..)| metadata.is_true(*property))
}

/// Whether elements, keys and values have ids.
pub(super) fn has_nested_ids(metadata: &Metadata) -> bool {
    metadata.is_true(V2) || metadata.is_true(V3)
}

/// Whether the columns of row ids have the ids that Iceberg reserves for them.
pub(crate) fn reserves_ids_of_row_ids(metadata: &Metadata) -> bool {
    metadata.is_true(V3)
}

fn forbids_deletion_vectors(metadata: &Metadata) -> bool {
    metadata.is_true(V1) || metadata.is_true(V2)
}

/// The first version that is on, and its number.
fn version(table: &Definition) -> (TableFeature, &'static str) {
    let on = VERSIONS.iter().find(|(property, ..)| table.is_true(*property));
    on.map_or((TableFeature::IcebergCompatV3, "3"), |(_, feature, number)| (*feature, *number))
}

fn refuse(table: &Definition, reason: impl Into<String>) -> Error {
    Error::InvalidFeatureChange { feature: version(table).0.into(), reason: reason.into() }
}

fn needs_property(table: &Definition, property: TableProperty, value: &str) -> Error {
    let actual = table.metadata.property_or_default(property).unwrap_or_default();
    let reason = format!("it needs `{property}` = `{value}`, which is `{actual}`");
    refuse(table, reason).named(
        &condition::ICEBERG_COMPAT_VIOLATION_WRONG_REQUIRED_TABLE_PROPERTY,
        [
            ("version", version(table).1),
            ("key", property.name()),
            ("requiredValue", value),
            ("actualValue", actual),
        ],
    )
}

/// Sets what a compatibility needs and the table does not say: column mapping by name in a new or replaced table, row
/// tracking where V3 is turned on.
pub(crate) fn complete(old: Option<&Definition>, new: &mut Definition, change: Change) {
    const MODE: TableProperty = TableProperty::ColumnMappingMode;
    const TRACKING: TableProperty = TableProperty::EnableRowTracking;
    if change != Change::Alter && is_on(&new.metadata) && new.property(MODE).is_none() {
        new.metadata.set_property(MODE, "name");
    }
    let turned_on = new.is_true(V3) && (change != Change::Alter || !old.is_some_and(|old| old.is_true(V3)));
    if turned_on && new.property(TRACKING).is_none() {
        new.metadata.set_property(TRACKING, "true");
    }
}

/// Checks that V3 stays. (What a table is restored to may be without it.)
///
/// # Errors
/// [`Error::InvalidFeatureChange`] where it goes.
pub(super) fn check_stays(old: Option<&Definition>, new: &Definition) -> Result<()> {
    if old.is_some_and(|old| old.is_true(V3)) && !new.is_true(V3) {
        return Err(Error::InvalidFeatureChange {
            feature: TableFeature::IcebergCompatV3.into(),
            reason: "it cannot be turned off: create another table".into(),
        });
    }
    Ok(())
}

/// Checks the rules for a table with a compatibility: only one of them, column mapping, deletion vectors in V3 alone, types
/// that Iceberg has, the same partition columns, and type changes that Iceberg has. V3 needs row tracking and defaults that
/// are literals.
///
/// # Errors
/// [`Error::InvalidFeatureChange`] that says which rule.
pub(super) fn check(old: Option<&Definition>, new: &Definition, change: Change) -> Result<()> {
    if !is_on(&new.metadata) {
        return Ok(());
    }
    if VERSIONS.iter().filter(|(property, ..)| new.is_true(*property)).count() > 1 {
        return Err(refuse(new, "the versions exclude each other: set the others to false").named(
            &condition::ICEBERG_COMPAT_VIOLATION_VERSION_MUTUAL_EXCLUSIVE,
            [("version", version(new).1)],
        ));
    }
    if new.column_mapping() == ColumnMappingMode::None {
        return Err(needs_property(new, TableProperty::ColumnMappingMode, "name"));
    }
    if forbids_deletion_vectors(&new.metadata) {
        check_no_deletion_vectors(old, new)?;
    }
    check_types(new)?;
    check_partition_columns(old, new)?;
    check_type_changes(new)?;
    if new.is_true(V3) { check_v3(old, new, change) } else { Ok(()) }
}

fn check_no_deletion_vectors(old: Option<&Definition>, new: &Definition) -> Result<()> {
    if new.is_true(TableProperty::EnableDeletionVectors) {
        let reason = "there must be no deletion vectors: set `delta.enableDeletionVectors` = `false`";
        return Err(refuse(new, reason).named(
            &condition::ICEBERG_COMPAT_VIOLATION_DELETION_VECTORS_SHOULD_BE_DISABLED,
            [("version", version(new).1)],
        ));
    }
    // a table that another writer left in this state can still be changed
    let both =
        |table: &Definition| table.is_true(V1) && table.protocol.supports(TableFeature::DeletionVectors);
    if both(new) && !old.is_some_and(both) {
        return Err(refuse(new, "the protocol must not have the feature deletionVectors"));
    }
    Ok(())
}

fn check_partition_columns(old: Option<&Definition>, new: &Definition) -> Result<()> {
    let Some(old) = old else { return Ok(()) };
    let (before, after) = (&old.metadata.partition_columns, &new.metadata.partition_columns);
    let physical =
        |t: &Definition| t.schema.physical_names(&t.metadata.partition_columns, t.column_mapping());
    // a column that is renamed keeps its physical name, one that is replaced by its like the logical one
    if !before.is_empty() && before != after && physical(old) != physical(new) {
        let list = |columns: &[String]| format!("({})", columns.join(","));
        let (before, after) = (list(before), list(after));
        return Err(refuse(new, "the partition columns of the table cannot be replaced").named(
            &condition::ICEBERG_COMPAT_VIOLATION_REPLACE_TABLE_CHANGE_PARTITION_NAMES,
            [("version", version(new).1), ("prevPartitionSpec", &before), ("newPartitionSpec", &after)],
        ));
    }
    Ok(())
}

fn check_type_changes(table: &Definition) -> Result<()> {
    for (path, field) in table.schema.explode() {
        for change in field.metadata.get(TYPE_CHANGES).and_then(Value::as_array).into_iter().flatten() {
            let types = type_from_name(&change["fromType"]).zip(type_from_name(&change["toType"]));
            if let Some((from, to)) = types {
                check_widening(table, &path.join("."), &from, &to)?;
            }
        }
    }
    Ok(())
}

/// Checks that Iceberg has a change of type, too.
///
/// # Errors
/// [`Error::InvalidFeatureChange`] with the types.
pub(super) fn check_widening(table: &Definition, path: &str, from: &DataType, to: &DataType) -> Result<()> {
    if !is_on(&table.metadata) || is_iceberg_widening(from, to) {
        return Ok(());
    }
    let (from, to) = (from.name(), to.name());
    Err(refuse(table, format!("Iceberg has no change of type as that of `{path}`, {from} to {to}")).named(
        &condition::ICEBERG_COMPAT_VIOLATION_UNSUPPORTED_TYPE_WIDENING,
        [("version", version(table).1), ("fieldPath", path), ("prevType", &from), ("newType", &to)],
    ))
}

/// The changes that Iceberg has too.
pub(super) fn is_iceberg_widening(from: &DataType, to: &DataType) -> bool {
    use DataType::{Byte, Decimal, Double, Float, Integer, Long, Short};
    match (from, to) {
        (Byte | Short | Integer, Short | Integer | Long) | (Float, Double) => is_widening(from, to),
        (Decimal(p1, s1), Decimal(p2, s2)) => s1 == s2 && p1 <= p2,
        (from, to) => from == to,
    }
}

/// What V3 needs beside the rules of all versions. Files that kept row ids before it lack the ids that Iceberg reserves
/// for their columns, so that row tracking must not be on when an existing table gets it.
fn check_v3(old: Option<&Definition>, new: &Definition, change: Change) -> Result<()> {
    const TRACKING: TableProperty = TableProperty::EnableRowTracking;
    if !new.is_true(TRACKING) {
        return Err(needs_property(new, TRACKING, "true"));
    }
    let tracked = old.is_some_and(|old| !old.is_true(V3) && old.is_true(TRACKING));
    if change == Change::Alter && tracked {
        return Err(refuse(
            new,
            "a table with row tracking cannot get it: set `delta.enableRowTracking` = `false` first",
        ));
    }
    for field in &new.schema.fields {
        let default = field.metadata.get(CURRENT_DEFAULT).and_then(Value::as_str);
        if default.is_some_and(|text| !is_literal(text, &field.data_type)) {
            let reason = format!("the default of column `{}` must be a literal", field.name);
            let what = format!("{}:{}", field.data_type.name(), field.name);
            return Err(unsupported_type(new, &reason, &what));
        }
    }
    Ok(())
}

fn unsupported_type(table: &Definition, reason: &str, what: &str) -> Error {
    let schema = table.schema.to_json();
    refuse(table, reason).named(
        &condition::ICEBERG_COMPAT_VIOLATION_UNSUPPORTED_DATA_TYPE,
        [("version", version(table).1), ("dataType", what), ("schema", &schema)],
    )
}

fn check_types(table: &Definition) -> Result<()> {
    use DataType::{Array, Map, UserDefined, Variant, Void};
    let refused: &dyn Fn(&DataType) -> bool = match version(table).0 {
        TableFeature::IcebergCompatV1 => &|t| matches!(t, Map(_) | Array(_) | Void),
        TableFeature::IcebergCompatV2 => &|t| matches!(t, Void | Variant | UserDefined(_)),
        _ => &|t| matches!(t, Void | UserDefined(_)),
    };
    match table.schema.explode().into_iter().find(|(_, f)| f.data_type.any(refused)) {
        None => Ok(()),
        Some((path, field)) => {
            let name = field.data_type.name();
            Err(unsupported_type(table, &format!("column `{}` is of type {name}", path.join(".")), &name))
        }
    }
}

/// What a file must not be in a table with a compatibility, if anything: one whose statistics have no `numRecords`, or, but
/// for V3, with a deletion vector.
pub(crate) fn fault_of_file(metadata: &Metadata, add: &Add) -> Option<&'static str> {
    if !is_on(metadata) {
        return None;
    }
    if num_records(add).is_none() {
        return Some("its statistics have no `numRecords`, and the table is compatible with Iceberg");
    }
    if !forbids_deletion_vectors(metadata) {
        return None;
    }
    add.deletion_vector.as_ref().map(|_| "it has a deletion vector, and the table is compatible with Iceberg")
}

/// Whether a change requires a check of the existing files: `icebergCompatV1` has rules for them too.
pub(crate) fn concerns_files(old: &Definition, new: &Definition) -> bool {
    !old.is_true(V1) && new.is_true(V1)
}

/// Checks that the files of a table may stay when `icebergCompatV1` is turned on: every one must be counted, and hold the
/// partition columns, which only files that are written after that do.
///
/// # Errors
/// [`Error::InvalidFeatureChange`] that names a file.
///
/// # Cost
/// One look at every file of the table.
pub(crate) fn check_files(new: &Definition, files: impl Iterator<Item = Result<Add>>) -> Result<()> {
    for add in files {
        let add = add?;
        let reason = match new.metadata.partition_columns.is_empty() {
            false => Some("it does not hold the partition columns"),
            true => fault_of_file(&new.metadata, &add),
        };
        if let Some(reason) = reason {
            let advice = "make a table with the property, and write the rows into that";
            return Err(refuse(new, format!("`{}` cannot stay: {reason}; {advice}", add.path.as_str())));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::actions::{DeletionVectorDescriptor, DvStorage, FilePath};
    use crate::alter::properties::{SetOptions, set_properties};
    use crate::alter::testing::{table, try_table};

    #[test]
    fn a_new_table_is_mapped_by_name() {
        let t = table("a long", &[(V1.name(), "true")]);
        assert_eq!(t.column_mapping(), ColumnMappingMode::Name);
        assert!(t.protocol.supports(TableFeature::ColumnMapping) && t.protocol.min_reader_version == 2);
        assert!(
            table("a array<int>", &[(V2.name(), "true")]).protocol.supports(TableFeature::IcebergCompatV2)
        );
    }

    #[test]
    fn what_iceberg_does_not_have_is_refused() {
        const DV: (&str, &str) = ("delta.enableDeletionVectors", "true");
        for (columns, properties, said) in [
            ("a long", vec![(V1.name(), "true"), (V2.name(), "true")], "exclude each other"),
            (
                "a long",
                vec![(V1.name(), "true"), ("delta.columnMapping.mode", "none")],
                "needs `delta.columnMapping.mode`",
            ),
            ("a long", vec![(V2.name(), "true"), DV], "no deletion vectors"),
            (
                "a long",
                vec![(V1.name(), "true"), ("delta.feature.deletionVectors", "supported")],
                "must not have",
            ),
            ("a array<int>", vec![(V1.name(), "true")], "of type array"),
            ("s struct<m: map<int, int>>", vec![(V1.name(), "true")], "of type"),
            ("v variant", vec![(V2.name(), "true")], "of type variant"),
            ("v void", vec![(V3.name(), "true")], "of type void"),
            ("a long", vec![(V3.name(), "true"), (V2.name(), "true")], "exclude each other"),
            (
                "a long",
                vec![(V3.name(), "true"), ("delta.enableRowTracking", "false")],
                "needs `delta.enableRowTracking`",
            ),
        ] {
            let error = try_table(columns, &properties).unwrap_err();
            assert_eq!(error.kind(), "InvalidFeatureChange", "{error}");
            assert!(error.to_string().contains(said), "{error}");
        }
        let on = [(V2.to_string(), "true".to_owned())].into();
        let plain = table("a long", &[]);
        assert!(
            set_properties(&plain, &on, SetOptions::default()).is_err(),
            "an existing table is mapped first"
        );
    }

    #[test]
    fn v3_tracks_rows_may_have_vectors_and_stays() {
        const ON: [(&str, &str); 2] = [(V3.name(), "true"), ("delta.enableDeletionVectors", "true")];
        let t = table("a array<int>, v variant", &ON);
        assert_eq!(t.column_mapping(), ColumnMappingMode::Name);
        assert!(
            t.is_true(TableProperty::EnableRowTracking) && t.protocol.supports(TableFeature::RowTracking)
        );
        let set = |t: &Definition, key: &str, value: &str| {
            set_properties(t, &[(key.to_owned(), value.to_owned())].into(), SetOptions::default())
        };
        let error = set(&t, V3.name(), "false").unwrap_err().to_string();
        assert!(error.contains("cannot be turned off"), "{error}");
        assert!(set(&t, "delta.enableRowTracking", "false").is_err());

        let mapped = table("a array<int>", &[("delta.columnMapping.mode", "name")]);
        let on = set(&mapped, V3.name(), "true").unwrap();
        assert!(on.is_true(TableProperty::EnableRowTracking));
        assert!(on.schema.fields[0].metadata.contains_key("delta.columnMapping.nested.ids"));
        let tracked = set(&mapped, "delta.enableRowTracking", "true").unwrap();
        let error = set(&tracked, V3.name(), "true").unwrap_err().to_string();
        assert!(error.contains("row tracking cannot get it"), "{error}");
    }

    #[test]
    fn files_must_be_counted_and_whole() {
        let t = table("a long", &[(V2.name(), "true")]).metadata;
        let good = Add {
            path: FilePath::from_log("a.parquet"),
            stats: Some(r#"{"numRecords":3}"#.into()),
            ..Default::default()
        };
        assert_eq!(fault_of_file(&t, &good), None);
        let fault = |add: &Add| fault_of_file(&t, add).unwrap_or_default();
        assert!(fault(&Add { stats: None, ..good.clone() }).contains("numRecords"));
        assert!(fault(&Add { stats: Some("{}".into()), ..good.clone() }).contains("numRecords"));
        let vector = DeletionVectorDescriptor {
            storage_type: DvStorage::Inline,
            path_or_inline_dv: "x".into(),
            offset: None,
            size_in_bytes: 1,
            cardinality: 1,
        };
        assert!(fault(&Add { deletion_vector: Some(vector), ..good.clone() }).contains("deletion vector"));
        assert_eq!(fault_of_file(&table("a long", &[]).metadata, &Add { stats: None, ..good }), None);
    }
}
