//! Compatibility with Iceberg (PROTOCOL.md, "Iceberg Compatibility V1", "V2").

use serde_json::Value;

use super::Definition;
use super::change::Change;
use crate::actions::{Add, Metadata};
use crate::error::{Error, Result};
use crate::features::TableFeature;
use crate::properties::TableProperty;
use crate::schema::{ColumnMappingMode, DataType, TYPE_CHANGES, is_widening, type_from_name};
use crate::stats::num_records;

const V1: TableProperty = TableProperty::EnableIcebergCompatV1;
const V2: TableProperty = TableProperty::EnableIcebergCompatV2;

/// Whether a table is compatible with Iceberg.
pub(crate) fn is_on(metadata: &Metadata) -> bool {
    metadata.is_true(V1) || metadata.is_true(V2)
}

fn version(table: &Definition) -> TableFeature {
    if table.is_true(V1) { TableFeature::IcebergCompatV1 } else { TableFeature::IcebergCompatV2 }
}

fn refuse(table: &Definition, reason: impl Into<String>) -> Error {
    Error::InvalidFeatureChange { feature: version(table).into(), reason: reason.into() }
}

/// Gives a new table with a compatibility column mapping by name, if the mode is not given.
pub(super) fn map_columns_of_new_table(new: &mut Definition, change: Change) {
    const MODE: TableProperty = TableProperty::ColumnMappingMode;
    if change == Change::Create && is_on(&new.metadata) && new.property(MODE).is_none() {
        new.metadata.set_property(MODE, "name");
    }
}

/// Checks the rules for a table with a compatibility: only one of them, column mapping, no deletion vectors, types that
/// Iceberg has, the same partition columns, and type changes that Iceberg has.
///
/// # Errors
/// [`Error::InvalidFeatureChange`] that says which rule.
pub(super) fn check(old: Option<&Definition>, new: &Definition) -> Result<()> {
    if !is_on(&new.metadata) {
        return Ok(());
    }
    if new.is_true(V1) && new.is_true(V2) {
        return Err(refuse(new, "the two versions exclude each other"));
    }
    if new.column_mapping() == ColumnMappingMode::None {
        return Err(refuse(new, "it needs column mapping: set `delta.columnMapping.mode` = `name`"));
    }
    if new.is_true(TableProperty::EnableDeletionVectors) {
        return Err(refuse(
            new,
            "there must be no deletion vectors: set `delta.enableDeletionVectors` = `false`",
        ));
    }
    // a table that another writer left in this state can still be changed
    let both =
        |table: &Definition| table.is_true(V1) && table.protocol.supports(TableFeature::DeletionVectors);
    if both(new) && !old.is_some_and(both) {
        return Err(refuse(new, "the protocol must not have the feature deletionVectors"));
    }
    check_types(new)?;
    if let Some(old) = old {
        let (before, after) = (&old.metadata.partition_columns, &new.metadata.partition_columns);
        let physical =
            |t: &Definition| t.schema.physical_names(&t.metadata.partition_columns, t.column_mapping());
        // a column that is renamed keeps its physical name, one that is replaced by its like the logical one
        if !before.is_empty() && before != after && physical(old) != physical(new) {
            return Err(refuse(new, "the partition columns of the table cannot be replaced"));
        }
    }
    for (path, field) in new.schema.explode() {
        for change in field.metadata.get(TYPE_CHANGES).and_then(Value::as_array).into_iter().flatten() {
            let types = type_from_name(&change["fromType"]).zip(type_from_name(&change["toType"]));
            if types.is_some_and(|(from, to)| !is_iceberg_widening(&from, &to)) {
                let text = format!("{} to {}", change["fromType"], change["toType"]);
                return Err(refuse(
                    new,
                    format!("Iceberg has no change of type as that of `{}`, {text}", path.join(".")),
                ));
            }
        }
    }
    Ok(())
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

fn check_types(table: &Definition) -> Result<()> {
    let refused: &dyn Fn(&DataType) -> bool = match table.is_true(V1) {
        true => &|t| matches!(t, DataType::Map(_) | DataType::Array(_) | DataType::Void),
        false => &|t| matches!(t, DataType::Void | DataType::Variant),
    };
    match table.schema.explode().into_iter().find(|(_, f)| f.data_type.any(refused)) {
        None => Ok(()),
        Some((path, field)) => {
            let reason = format!("column `{}` is of type {}", path.join("."), field.data_type.name());
            Err(refuse(table, reason))
        }
    }
}

/// What a file must not be in a table with a compatibility, if anything: one whose statistics have no `numRecords`, or
/// with a deletion vector.
pub(crate) fn fault_of_file(metadata: &Metadata, add: &Add) -> Option<&'static str> {
    if !is_on(metadata) {
        return None;
    }
    if num_records(add).is_none() {
        return Some("its statistics have no `numRecords`, and the table is compatible with Iceberg");
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
                "needs column mapping",
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
