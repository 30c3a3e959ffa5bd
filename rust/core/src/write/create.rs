//! Protocol and metadata of a table that a write creates.

use std::collections::{BTreeMap, BTreeSet};

use chrono::Utc;
use serde_json::Value;
use uuid::Uuid;

use super::features::SUPPORTED_WRITER_FEATURES;
use super::mode::WriteOptions;
use super::names::{check_names, check_partition_columns};
use super::schema::{any_type, as_nullable};
use crate::actions::{Format, Metadata, Protocol};
use crate::error::{Error, Result};
use crate::schema::{ColumnMappingMode, DataType, FIELD_ID, PHYSICAL_NAME, StructField, StructType};

/// Properties that a table can be created with.
const PROPERTIES: [&str; 28] = [
    "delta.appendOnly",
    "delta.autoOptimize",
    "delta.autoOptimize.autoCompact",
    "delta.autoOptimize.optimizeWrite",
    "delta.checkpoint.writeStatsAsJson",
    "delta.checkpoint.writeStatsAsStruct",
    "delta.checkpointInterval",
    "delta.checkpointPolicy",
    "delta.checkpointRetentionDuration",
    "delta.columnMapping.mode",
    "delta.compatibility.symlinkFormatManifest.enabled",
    "delta.dataSkippingNumIndexedCols",
    "delta.dataSkippingStatsColumns",
    "delta.dataSkippingStringPrefixLength",
    "delta.deletedFileRetentionDuration",
    "delta.enableChangeDataFeed",
    "delta.enableDeletionVectors",
    "delta.enableExpiredLogCleanup",
    "delta.enableInCommitTimestamps",
    "delta.enableTypeWidening",
    "delta.isolationLevel",
    "delta.logRetentionDuration",
    "delta.parquet.compression.codec",
    "delta.parquet.format.version",
    "delta.randomizeFilePrefixes",
    "delta.randomPrefixLength",
    "delta.sampleRetentionDuration",
    "delta.setTransactionRetentionDuration",
];

/// Properties that turn a feature on: property, value, feature.
const FEATURE_PROPERTIES: [(&str, &str, &str); 5] = [
    ("delta.enableChangeDataFeed", "true", "changeDataFeed"),
    ("delta.enableDeletionVectors", "true", "deletionVectors"),
    ("delta.enableInCommitTimestamps", "true", "inCommitTimestamp"),
    ("delta.enableTypeWidening", "true", "typeWidening"),
    ("delta.checkpointPolicy", "v2", "v2Checkpoint"),
];

/// Features that readers must know too.
const READER_FEATURES: [&str; 7] = [
    "columnMapping",
    "deletionVectors",
    "timestampNtz",
    "typeWidening",
    "v2Checkpoint",
    "vacuumProtocolCheck",
    "variantType",
];

/// Protocol and metadata of a new table. The protocol is the lowest that the schema and the properties allow: reader 1 and
/// writer 2, unless a feature needs more.
///
/// # Errors
/// [`Error::InvalidSchema`] and [`Error::InvalidArgument`] for names, partition columns and properties that cannot be.
pub(super) fn new_table(schema: &StructType, options: &WriteOptions) -> Result<(Protocol, Metadata)> {
    let (mut configuration, asked) = properties(&options.configuration)?;
    let mode = match configuration.get("delta.columnMapping.mode").map(String::as_str) {
        None | Some("none") => ColumnMappingMode::None,
        Some("name") => ColumnMappingMode::Name,
        Some("id") => ColumnMappingMode::Id,
        Some(other) => {
            return Err(invalid("delta.columnMapping.mode", format!("`{other}` is none of none, name, id")));
        }
    };
    check_names(schema, mode)?;
    if any_type(schema, &|t| *t == DataType::Void) {
        return Err(Error::InvalidSchema {
            reason: "a column holds only nulls of no type (Arrow `Null`); cast it to a type first".into(),
        });
    }
    let partition_columns = check_partition_columns(schema, &options.partition_by)?;
    let mut schema = if options.all_nullable { as_nullable(schema) } else { schema.clone() };
    let mut last_id = 0;
    strip_or_map(&mut schema, mode, &mut last_id);
    if mode != ColumnMappingMode::None {
        configuration.insert("delta.columnMapping.maxColumnId".into(), last_id.to_string());
    }
    let protocol = protocol(&schema, &configuration, asked, mode);
    let metadata = Metadata {
        id: Uuid::new_v4().to_string(),
        name: options.name.clone(),
        description: options.description.clone(),
        format: Format::default(),
        schema_string: schema.to_json(),
        partition_columns,
        configuration,
        created_time: Some(Utc::now().timestamp_millis()),
    };
    Ok((protocol, metadata))
}

fn invalid(property: &str, reason: impl Into<String>) -> Error {
    Error::InvalidArgument { argument: property.to_owned(), reason: reason.into() }
}

/// The properties in their own spelling, and the features asked for by `delta.feature.x = supported`, which is no
/// property of the table.
fn properties(
    given: &BTreeMap<String, String>,
) -> Result<(BTreeMap<String, String>, BTreeSet<&'static str>)> {
    let (mut kept, mut features) = (BTreeMap::new(), BTreeSet::new());
    for (key, value) in given {
        let lower = key.to_lowercase();
        if let Some(feature) = lower.strip_prefix("delta.feature.") {
            let known = SUPPORTED_WRITER_FEATURES.into_iter().find(|f| f.to_lowercase() == feature);
            let known = known.ok_or_else(|| {
                invalid(
                    key,
                    format!(
                        "not a feature that deltaic writes; it writes {}",
                        SUPPORTED_WRITER_FEATURES.join(", ")
                    ),
                )
            })?;
            if !matches!(value.as_str(), "supported" | "enabled") {
                return Err(invalid(key, format!("`{value}` must be `supported`")));
            }
            features.insert(known);
            if known == "rowTracking" {
                // the highest row id is a metadata domain
                features.insert("domainMetadata");
            }
        } else if lower.starts_with("delta.") {
            let known = PROPERTIES.into_iter().find(|p| p.to_lowercase() == lower);
            let known = known.ok_or_else(|| {
                invalid(
                    key,
                    format!(
                        "not a property that deltaic can create a table with; it knows {}",
                        PROPERTIES.join(", ")
                    ),
                )
            })?;
            kept.insert(known.to_owned(), value.clone());
        } else {
            kept.insert(key.clone(), value.clone());
        }
    }
    Ok((kept, features))
}

/// Gives every field an id and a physical name, or takes away those that another table left in it.
fn strip_or_map(schema: &mut StructType, mode: ColumnMappingMode, last_id: &mut i64) {
    fn within(data_type: &mut DataType, mode: ColumnMappingMode, last_id: &mut i64) {
        match data_type {
            DataType::Struct(s) => strip_or_map(s, mode, last_id),
            DataType::Array(a) => within(&mut a.element_type, mode, last_id),
            DataType::Map(m) => {
                within(&mut m.key_type, mode, last_id);
                within(&mut m.value_type, mode, last_id);
            }
            _ => {}
        }
    }
    for StructField { metadata, data_type, .. } in &mut schema.fields {
        metadata.retain(|key, _| !key.starts_with("delta.columnMapping.") && key != "PARQUET:field_id");
        if mode != ColumnMappingMode::None {
            *last_id += 1;
            metadata.insert(FIELD_ID.into(), Value::from(*last_id));
            metadata.insert(PHYSICAL_NAME.into(), Value::from(format!("col-{}", Uuid::new_v4())));
        }
        within(data_type, mode, last_id);
    }
}

fn protocol(
    schema: &StructType,
    configuration: &BTreeMap<String, String>,
    asked: BTreeSet<&'static str>,
    mode: ColumnMappingMode,
) -> Protocol {
    let mut features = asked;
    let listed = !features.is_empty();
    for (property, value, feature) in FEATURE_PROPERTIES {
        if configuration.get(property).is_some_and(|v| v.eq_ignore_ascii_case(value)) {
            features.insert(feature);
        }
    }
    if mode != ColumnMappingMode::None {
        features.insert("columnMapping");
    }
    if any_type(schema, &|t| *t == DataType::TimestampNtz) {
        features.insert("timestampNtz");
    }
    if any_type(schema, &|t| *t == DataType::Variant) {
        features.insert("variantType");
    }
    // column mapping and change data feed have protocol versions of their own, which more readers know
    let versions = |reader, writer| Protocol {
        min_reader_version: reader,
        min_writer_version: writer,
        reader_features: None,
        writer_features: None,
    };
    let legacy = features.iter().all(|f| matches!(*f, "appendOnly" | "changeDataFeed" | "columnMapping"));
    if legacy && !listed {
        return match (features.contains("columnMapping"), features.contains("changeDataFeed")) {
            (true, _) => versions(2, 5),
            (false, true) => versions(1, 4),
            (false, false) => versions(1, 2),
        };
    }
    if features.contains("clustering") {
        features.insert("domainMetadata");
    }
    features.extend(["appendOnly", "invariants"]);
    let reader: Vec<String> =
        features.iter().filter(|f| READER_FEATURES.contains(f)).map(|f| (*f).to_owned()).collect();
    Protocol {
        min_reader_version: if reader.is_empty() { 1 } else { 3 },
        min_writer_version: 7,
        reader_features: (!reader.is_empty()).then_some(reader),
        writer_features: Some(features.into_iter().map(str::to_owned).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema(data_type: DataType) -> StructType {
        StructType {
            fields: vec![
                StructField::new("a", DataType::Long, false),
                StructField::new("b", data_type, true),
            ],
        }
    }

    fn table(data_type: DataType, properties: &[(&str, &str)]) -> Result<(Protocol, Metadata)> {
        let configuration = properties.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        new_table(&schema(data_type), &WriteOptions { configuration, ..Default::default() })
    }

    fn versions(data_type: DataType, properties: &[(&str, &str)]) -> (i32, i32, Vec<String>, Vec<String>) {
        let p = table(data_type, properties).unwrap().0;
        (
            p.min_reader_version,
            p.min_writer_version,
            p.reader_features.unwrap_or_default(),
            p.writer_features.unwrap_or_default(),
        )
    }

    #[test]
    fn the_protocol_is_the_lowest_that_will_do() {
        let none = Vec::<String>::new;
        assert_eq!(versions(DataType::String, &[]), (1, 2, none(), none()));
        assert_eq!(
            versions(DataType::String, &[("delta.enableChangeDataFeed", "true")]),
            (1, 4, none(), none())
        );
        assert_eq!(
            versions(DataType::String, &[("delta.columnmapping.mode", "name")]),
            (2, 5, none(), none())
        );
        let ict = versions(DataType::String, &[("delta.enableInCommitTimestamps", "true")]);
        assert_eq!(
            ict,
            (1, 7, none(), ["appendOnly", "inCommitTimestamp", "invariants"].map(String::from).to_vec())
        );
        let ntz = versions(DataType::TimestampNtz, &[]);
        assert_eq!(
            ntz,
            (
                3,
                7,
                vec!["timestampNtz".into()],
                ["appendOnly", "invariants", "timestampNtz"].map(String::from).to_vec()
            )
        );
        let dv = versions(
            DataType::Variant,
            &[("delta.enableDeletionVectors", "true"), ("delta.feature.clustering", "supported")],
        );
        assert_eq!(dv.2, ["deletionVectors", "variantType"]);
        assert!(dv.3.iter().any(|f| f == "domainMetadata"));
    }

    #[test]
    fn column_mapping_gives_ids_and_names_at_every_depth() {
        let inner = DataType::Struct(Box::new(schema(DataType::String)));
        let (_, metadata) = table(inner, &[("delta.columnMapping.mode", "id")]).unwrap();
        let schema = StructType::from_json(&metadata.schema_string).unwrap();
        let DataType::Struct(inner) = &schema.fields[1].data_type else { panic!("a struct") };
        let ids: Vec<_> = schema.fields.iter().chain(&inner.fields).map(|f| f.field_id().unwrap()).collect();
        assert_eq!(ids, [1, 2, 3, 4]);
        assert!(inner.fields[0].physical_name(ColumnMappingMode::Id).starts_with("col-"));
        assert_eq!(metadata.configuration["delta.columnMapping.maxColumnId"], "4");
    }

    #[test]
    fn unknown_properties_and_typeless_columns_are_refused() {
        for (key, value) in [
            ("delta.apendOnly", "true"),
            ("delta.feature.timeMachine", "supported"),
            ("delta.columnMapping.mode", "x"),
        ] {
            let error = table(DataType::Long, &[(key, value)]).unwrap_err();
            assert_eq!(error.kind(), "InvalidArgument");
            assert!(error.to_string().starts_with(key), "{error}");
        }
        assert_eq!(table(DataType::Void, &[]).unwrap_err().kind(), "InvalidSchema");
        let (_, metadata) = table(DataType::Long, &[("owner", "me"), ("delta.appendonly", "true")]).unwrap();
        assert_eq!(metadata.configuration.keys().collect::<Vec<_>>(), ["delta.appendOnly", "owner"]);
    }

    #[test]
    fn a_spark_write_makes_all_columns_nullable() {
        let options = WriteOptions { all_nullable: true, ..Default::default() };
        let (_, metadata) = new_table(&schema(DataType::Long), &options).unwrap();
        assert!(StructType::from_json(&metadata.schema_string).unwrap().fields.iter().all(|f| f.nullable));
    }
}
