//! Protocol and metadata of a table that a write creates.

use std::collections::BTreeMap;

use chrono::Utc;
use uuid::Uuid;

use super::mode::WriteOptions;
use super::rules::condition_of;
use crate::actions::{Format, Metadata, Protocol};
use crate::alter::constraints::taken_out;
use crate::alter::{Asked, Change, Definition, check_partition_columns, finalize, generated, properties};
use crate::error::{Error, Result, condition};
use crate::properties::TableProperty;
use crate::schema::{StructType, as_nullable};

/// Protocol and metadata of a new table. The protocol is the lowest that the schema and the properties allow: reader 1 and
/// writer 2, unless a feature needs more.
///
/// # Errors
/// [`Error::InvalidSchema`], [`Error::InvalidArgument`] and [`Error::InvalidFeatureChange`] for names, partition columns,
/// properties and features that cannot be; [`Error::InvalidExpression`] for a CHECK constraint that is no condition on the
/// columns, and for a generated column that nobody can compute.
pub(crate) fn new_table(schema: &StructType, options: &WriteOptions) -> Result<(Protocol, Metadata)> {
    let (new, asked) = wanted(schema, options)?;
    let table = finalize(None, new, &asked, Change::Create)?;
    Ok((table.protocol, table.metadata))
}

/// Refuses to make a table of rows that have no columns. One without rows may get its columns later.
///
/// # Errors
/// [`Error::InvalidSchema`].
pub(crate) fn check_has_columns(rows: &StructType) -> Result<()> {
    if !rows.fields.is_empty() {
        return Ok(());
    }
    let error = Error::InvalidSchema { reason: "the rows of a new table have no columns".into() };
    Err(error.of_condition(&condition::EMPTY_DATA))
}

/// What a new table is to be, before it gets its protocol, and what the properties ask of that.
///
/// # Errors
/// As [`new_table`].
pub(super) fn wanted(schema: &StructType, options: &WriteOptions) -> Result<(Definition, Asked)> {
    let mut given = with_defaults(&options.configuration, &options.defaults);
    let constraints = taken_out(&mut given)?;
    let (mut configuration, asked) = properties::for_new_table(&given, options.properties)?;
    for (key, (name, expression)) in constraints {
        condition_of(&name, &expression, schema)?;
        configuration.insert(key, expression);
    }
    generated::check_new(schema)?;
    let metadata = Metadata {
        id: Uuid::new_v4().to_string(),
        name: options.name.clone(),
        description: options.description.clone(),
        format: Format::default(),
        schema_string: String::new(),
        partition_columns: check_partition_columns(schema, &options.partition_by)?,
        configuration,
        created_time: Some(Utc::now().timestamp_millis()),
    };
    let schema = if options.all_nullable { as_nullable(schema) } else { schema.clone() };
    Ok((Definition::new(metadata, schema), asked))
}

/// The properties that are given, and the defaults of those that are not.
pub(crate) fn with_defaults(
    configuration: &BTreeMap<String, String>,
    defaults: &BTreeMap<String, String>,
) -> BTreeMap<String, String> {
    let is = |key: &str, name: &str| key.eq_ignore_ascii_case(name);
    let mut all = configuration.clone();
    for (key, value) in defaults {
        if !configuration.keys().any(|given| is(given, key)) {
            all.insert(key.clone(), value.clone());
        }
    }
    let ignores =
        |(key, value): (&String, &String)| TableProperty::IgnoreProtocolDefaults.is(key) && is(value, "true");
    if all.iter().any(ignores) {
        all.retain(|key, _| configuration.contains_key(key) || !properties::is_of_protocol(key));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::{ColumnMappingMode, DataType, StructField};

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
        assert_eq!(versions(DataType::Void, &[]), (1, 2, none(), none()));
        let names = |names: &[&str]| names.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>();
        assert_eq!(
            versions(DataType::String, &[("delta.enableChangeDataFeed", "true")]),
            (1, 7, none(), names(&["appendOnly", "changeDataFeed", "invariants"]))
        );
        assert_eq!(
            versions(DataType::String, &[("delta.columnmapping.mode", "name")]),
            (2, 7, none(), names(&["appendOnly", "columnMapping", "invariants"]))
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
    fn defaults_are_for_properties_that_are_not_given() {
        let map = |pairs: &[(&str, &str)]| {
            pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect::<BTreeMap<_, _>>()
        };
        let create = |configuration: &[(&str, &str)], defaults: &[(&str, &str)]| {
            let (configuration, defaults) = (map(configuration), map(defaults));
            let options = WriteOptions { configuration, defaults, ..Default::default() };
            new_table(&schema(DataType::String), &options).unwrap()
        };
        let defaults = [
            ("delta.appendOnly", "true"),
            ("delta.checkpointInterval", "7"),
            ("delta.feature.deletionVectors", "supported"),
        ];
        let (protocol, metadata) = create(&[("delta.appendonly", "false")], &defaults);
        let expected = map(&[("delta.appendOnly", "false"), ("delta.checkpointInterval", "7")]);
        assert_eq!(metadata.configuration, expected);
        assert_eq!(protocol.reader_features.unwrap(), ["deletionVectors"]);
        let (protocol, metadata) = create(&[("delta.ignoreProtocolDefaults", "true")], &defaults);
        assert_eq!((protocol.min_reader_version, protocol.min_writer_version), (1, 2));
        assert_eq!(metadata.configuration["delta.appendOnly"], "true");
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
    fn unknown_properties_are_refused() {
        for (key, value) in [
            ("delta.apendOnly", "true"),
            ("delta.feature.timeMachine", "supported"),
            ("delta.columnMapping.mode", "x"),
        ] {
            let error = table(DataType::Long, &[(key, value)]).unwrap_err();
            assert_eq!(error.kind(), "InvalidArgument");
            assert!(error.to_string().starts_with(key), "{error}");
        }
        let (_, metadata) = table(DataType::Long, &[("owner", "me"), ("delta.appendonly", "true")]).unwrap();
        assert_eq!(metadata.configuration.keys().collect::<Vec<_>>(), ["delta.appendOnly", "owner"]);
    }

    #[test]
    fn constraints_are_given_as_properties() {
        let key = "delta.constraints.Positive";
        let (protocol, metadata) = table(DataType::String, &[(key, "a > 0 AND b IS NOT NULL")]).unwrap();
        assert_eq!(metadata.configuration["delta.constraints.positive"], "a > 0 AND b IS NOT NULL");
        assert_eq!(protocol.min_writer_version, 3);
        for (key, expression, condition) in [
            (key, "a + 1", Some("DELTA_NON_BOOLEAN_CHECK_CONSTRAINT")),
            (
                "delta.constraints.__CHAR_VARCHAR_STRING_LENGTH_CHECK__",
                "a > 0",
                Some("DELTA_INVALID_CONSTRAINT_NAME"),
            ),
        ] {
            let error = table(DataType::String, &[(key, expression)]).unwrap_err();
            assert_eq!(error.condition().map(|c| c.name), condition);
        }
        for expression in ["z > 0", "a >", ""] {
            assert!(table(DataType::String, &[(key, expression)]).is_err(), "{expression}");
        }
    }

    #[test]
    fn a_spark_write_makes_all_columns_nullable() {
        let options = WriteOptions { all_nullable: true, ..Default::default() };
        let (_, metadata) = new_table(&schema(DataType::Long), &options).unwrap();
        assert!(StructType::from_json(&metadata.schema_string).unwrap().fields.iter().all(|f| f.nullable));
    }
}
