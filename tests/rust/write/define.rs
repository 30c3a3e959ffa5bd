//! Tables that are made without rows, and replaced.

use deltaic_core::Error;
use deltaic_core::features::TableFeature;
use deltaic_core::maintain::clustering_columns;
use deltaic_core::schema::{DataType, StructField, StructType};
use deltaic_core::write::{DefineMode, Defines, TableSpec, define_table};

use super::*;

const MODES: [DefineMode; 4] =
    [DefineMode::Create, DefineMode::CreateIfNotExists, DefineMode::Replace, DefineMode::CreateOrReplace];

fn spec(columns: &[&str]) -> TableSpec {
    let fields = columns.iter().map(|c| StructField::new(*c, DataType::Long, true)).collect();
    TableSpec { schema: StructType { fields }, ..Default::default() }
}

fn configured(columns: &[&str], properties: &[(&str, &str)]) -> TableSpec {
    let configuration = properties.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    TableSpec { configuration, ..spec(columns) }
}

fn operation(location: &Location) -> (String, serde_json::Value) {
    let newest = &open(location).history(Some(1)).unwrap()[0];
    let info = newest.info.clone().unwrap();
    (info.operation.unwrap(), serde_json::json!(info.operation_parameters.unwrap_or_default()))
}

/// One row of one column.
fn one(column: &str) -> RecordBatch {
    batch([(column, Arc::new(Int64Array::from(vec![1])) as ArrayRef)])
}

fn files(snapshot: &Snapshot) -> usize {
    snapshot.files(FilesRequest::default()).unwrap().map(|batch| batch.unwrap().adds().count()).sum()
}

#[test]
fn each_mode_does_what_its_name_says() {
    for mode in MODES {
        let (_, location) = place();
        match define_table(&location, &spec(&["id"]), mode) {
            Err(error) => assert!(mode == DefineMode::Replace && error.kind() == "TableNotFound"),
            Ok(done) => assert!(done.created && !done.replaced && done.version == 0),
        }
        write(&location, &one("id"), &append()).unwrap();
        let before = open(&location);
        match define_table(&location, &spec(&["other"]), mode) {
            Err(error) => {
                assert!(
                    matches!(error.plain(), Error::TableAlreadyExists { version, .. } if *version == before.version())
                );
                assert_eq!(mode, DefineMode::Create);
            }
            Ok(done) => {
                let replaced = mode != DefineMode::CreateIfNotExists;
                assert_eq!((done.created, done.replaced), (false, replaced));
                assert_eq!(done.version, before.version() + u64::from(replaced));
                let now = open(&location);
                assert_eq!(files(&now) == 0, replaced);
                assert_eq!(now.metadata().id == before.metadata().id, !replaced);
            }
        }
    }
}

#[test]
fn an_overwrite_of_the_columns_ends_the_clustering() {
    let (_, location) = place();
    let clustered = TableSpec { cluster_by: vec![vec!["id".into()]], ..configured(&["id"], &[]) };
    define_table(&location, &clustered, DefineMode::Create).unwrap();
    write(&location, &one("id"), &append()).unwrap();
    let replacing =
        WriteOptions { mode: WriteMode::Overwrite, overwrite_schema: true, ..WriteOptions::default() };
    write(&location, &one("other"), &replacing).unwrap();
    let now = open(&location);
    assert_eq!(now.schema().fields.iter().map(|f| f.name.as_str()).collect::<Vec<_>>(), ["other"]);
    assert_eq!(clustering_columns(&now).unwrap(), Vec::<Vec<String>>::new());
    assert!(now.protocol().supports(TableFeature::Clustering));
}

#[test]
fn a_replaced_table_has_nothing_of_the_old_one_but_its_versions_and_features() {
    let (_, location) = place();
    let old = TableSpec {
        cluster_by: vec![vec!["id".into()]],
        description: Some("old".into()),
        ..configured(&["id"], &[("delta.columnMapping.mode", "name"), ("owner", "me")])
    };
    define_table(&location, &old, DefineMode::Create).unwrap();
    let first = open(&location);
    assert_eq!(clustering_columns(&first).unwrap(), [["id"]]);
    assert_eq!(operation(&location).1["clusterBy"], r#"["id"]"#);
    write(&location, &one("id"), &append()).unwrap();

    let new = configured(&["a", "p"], &[("delta.enableDeletionVectors", "true")]);
    // the feature of clustering stays, and a table with partitions cannot have it
    let parted = TableSpec { partition_by: vec!["p".into()], ..new.clone() };
    let refused = define_table(&location, &parted, DefineMode::CreateOrReplace).unwrap_err();
    assert_eq!(refused.condition().unwrap().name, "DELTA_CLUSTERING_REPLACE_TABLE_WITH_PARTITIONED_TABLE");
    define_table(&location, &new, DefineMode::CreateOrReplace).unwrap();
    let now = open(&location);
    assert_eq!(clustering_columns(&now).unwrap(), Vec::<Vec<String>>::new());
    assert_eq!(now.partition_columns(), Vec::<String>::new());
    assert_eq!(now.metadata().description, None);
    assert_eq!(now.metadata().configuration.keys().collect::<Vec<_>>(), ["delta.enableDeletionVectors"]);
    assert!(first.protocol().features().iter().all(|feature| now.protocol().supports_named(feature)));
    assert!(now.protocol().supports(TableFeature::DeletionVectors));
    let (name, parameters) = operation(&location);
    assert_eq!(name, "CREATE OR REPLACE TABLE");
    assert_eq!(parameters["partitionBy"], "[]");
    assert_eq!(parameters["isManaged"], "false");
    // the versions before it are as they were, and the new table takes rows
    let then = Snapshot::open(location.clone(), At::Version(1)).unwrap();
    assert_eq!(files(&then), 1);
    let columns = || Arc::new(Int64Array::from(vec![1])) as ArrayRef;
    write(&location, &batch([("a", columns()), ("p", columns())]), &append()).unwrap();
    assert_eq!(files(&open(&location)), 1);
}

#[test]
fn the_same_definition_again_is_a_new_table() {
    let (_, location) = place();
    for (version, mode) in
        [(0, DefineMode::CreateOrReplace), (1, DefineMode::CreateOrReplace), (2, DefineMode::Replace)]
    {
        let mapped = configured(&["id"], &[("delta.columnMapping.mode", "name")]);
        assert_eq!(define_table(&location, &mapped, mode).unwrap().version, version);
        assert_eq!(open(&location).schema().fields.len(), 1);
    }
    assert_eq!(operation(&location).0, "REPLACE TABLE");
}

#[test]
fn what_a_table_cannot_be_changes_nothing() {
    let (_, location) = place();
    define_table(&location, &configured(&["id"], &[("delta.appendOnly", "true")]), DefineMode::Create)
        .unwrap();
    let cases = [
        (TableSpec { cluster_by: vec![vec!["x".into()]], ..spec(&["id"]) }, "InvalidColumnChange"),
        (
            TableSpec {
                cluster_by: vec![vec!["id".into()]],
                partition_by: vec!["p".into()],
                ..spec(&["id", "p"])
            },
            "InvalidFeatureChange",
        ),
        (spec(&["id", "ID"]), "InvalidSchema"),
        (TableSpec { partition_by: vec!["x".into()], ..spec(&["id"]) }, "InvalidArgument"),
        (configured(&["id"], &[("delta.noSuchThing", "1")]), "InvalidArgument"),
    ];
    for (spec, kind) in cases {
        let error = define_table(&location, &spec, DefineMode::CreateOrReplace).unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
        assert_eq!(open(&location).version(), 0);
    }
    assert_eq!(DefineMode::parse("overwrite").unwrap_err().kind(), "InvalidArgument");
}

/// Of the rows of a query, clustered by `id`.
fn with_rows(mode: DefineMode) -> WriteOptions {
    let defines = Defines { mode, cluster_by: vec![vec!["id".into()]], managed: true };
    WriteOptions {
        mode: defines.write_mode(),
        defines: Some(defines),
        description: Some("about".into()),
        configuration: [("owner".to_owned(), "me".to_owned())].into(),
        ..Default::default()
    }
}

#[test]
fn each_mode_with_rows_is_one_commit() {
    for mode in MODES {
        let (_, location) = place();
        match write(&location, &people(&[1, 2]), &with_rows(mode)) {
            Err(error) => {
                assert!(mode == DefineMode::Replace && error.kind() == "TableNotFound");
                let old =
                    TableSpec { partition_by: vec!["p".into()], ..configured(&["x", "p"], &[("old", "1")]) };
                define_table(&location, &old, DefineMode::Create).unwrap();
                write(&location, &people(&[1, 2]), &with_rows(mode)).unwrap();
                assert_eq!(open(&location).version(), 1);
            }
            Ok(_) => assert_eq!(open(&location).version(), 0),
        }
        let now = open(&location);
        assert_eq!(now.schema().fields.iter().map(|f| f.name.as_str()).collect::<Vec<_>>(), ["id", "name"]);
        assert_eq!(clustering_columns(&now).unwrap(), [["id"]]);
        assert_eq!(now.metadata().description.as_deref(), Some("about"));
        assert!(
            now.metadata().partition_columns.is_empty() && !now.metadata().configuration.contains_key("old")
        );
        assert_eq!(ids(&location), [1, 2]);
        let (name, parameters) = operation(&location);
        let shown = match mode {
            DefineMode::Create | DefineMode::CreateIfNotExists => "CREATE TABLE AS SELECT",
            DefineMode::Replace => "REPLACE TABLE AS SELECT",
            DefineMode::CreateOrReplace => "CREATE OR REPLACE TABLE AS SELECT",
        };
        assert_eq!(name, shown);
        assert_eq!(parameters["clusterBy"], r#"["id"]"#);
        assert_eq!(parameters["isManaged"], "true");
    }
}

#[test]
fn rows_that_replace_a_table_leave_nothing_of_it_or_all() {
    let (_, location) = place();
    write(&location, &people(&[1, 2]), &with_rows(DefineMode::Create)).unwrap();
    let error = write(&location, &people(&[3]), &with_rows(DefineMode::Create)).unwrap_err();
    assert_eq!(error.kind(), "TableAlreadyExists");
    write(&location, &people(&[3]), &with_rows(DefineMode::CreateIfNotExists)).unwrap();
    assert_eq!((open(&location).version(), ids(&location)), (0, vec![1, 2]));
    let plain = WriteOptions {
        defines: Some(Defines { mode: DefineMode::Replace, cluster_by: vec![], managed: false }),
        ..with_rows(DefineMode::Replace)
    };
    let before = objects(&location);
    let other = batch([("other", Arc::new(Int64Array::from(vec![7])) as ArrayRef)]);
    let wrong = WriteOptions { partition_by: vec!["nope".into()], ..plain.clone() };
    assert_eq!(write(&location, &other, &wrong).unwrap_err().kind(), "InvalidArgument");
    assert_eq!(objects(&location), before);
    write(&location, &other, &plain).unwrap();
    let now = open(&location);
    assert_eq!((now.version(), files(&now)), (1, 1));
    assert_eq!(clustering_columns(&now).unwrap(), Vec::<Vec<String>>::new());
    assert_eq!(files(&Snapshot::open(location.clone(), At::Version(0)).unwrap()), 1);
}
