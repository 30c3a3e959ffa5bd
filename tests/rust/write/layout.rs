//! What a write leaves in the log and in the files.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int32Array, Int64Array, TimestampMicrosecondArray};
use deltaic_core::schema::ColumnMappingMode;
use deltaic_core::write::{WriteMode, WriteOptions};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::json;

use super::*;

#[test]
fn a_table_is_created_and_appended_to() {
    let (_, location) = place();
    let result = write(&location, &people(&[1, 2]), &append()).unwrap();
    assert_eq!(
        (result.version, result.files, result.rows, result.created, result.skipped),
        (0, 1, 2, true, false)
    );
    let result = write(&location, &people(&[3]), &append()).unwrap();
    assert_eq!((result.version, result.rows, result.created), (1, 1, false));
    assert_eq!(ids(&location), [1, 2, 3]);
    let snapshot = open(&location);
    assert_eq!((snapshot.protocol().min_reader_version, snapshot.protocol().min_writer_version), (1, 2));

    let log = commit(&location, 0);
    let keys: Vec<_> = log.iter().map(|(k, _)| k.as_str()).collect();
    assert_eq!(keys, ["commitInfo", "protocol", "metaData", "add"]);
    let info = &log[0].1;
    assert_eq!(info["operation"], "WRITE");
    assert_eq!(info["operationParameters"], json!({"mode": "Append", "partitionBy": "[]"}));
    assert_eq!(info["operationMetrics"]["numOutputRows"], "2");
    assert_eq!((&info["isBlindAppend"], &info["isolationLevel"]), (&json!(true), &json!("Serializable")));
    assert!(info.get("readVersion").is_none() && info.get("inCommitTimestamp").is_none());
    assert!(info["engineInfo"].as_str().unwrap().starts_with("deltaic/"));
    assert_ne!(commit(&location, 1)[0].1["txnId"], info["txnId"]);
    assert_eq!(commit(&location, 1)[0].1["readVersion"], 0);

    let add = &log[3].1;
    let path = add["path"].as_str().unwrap();
    assert!(path.starts_with("part-00000-") && path.ends_with(".c000.snappy.parquet"), "{path}");
    assert_eq!(
        add["stats"],
        r#"{"numRecords":2,"minValues":{"id":1,"name":"n1"},"maxValues":{"id":2,"name":"n2"},"nullCount":{"id":0,"name":0}}"#
    );
}

#[test]
fn only_an_append_that_read_nothing_is_blind() {
    let (_, location) = place();
    let overwrite = WriteOptions { mode: WriteMode::Overwrite, ..Default::default() };
    let blind = |version| commit(&location, version)[0].1["isBlindAppend"].clone();
    write(&location, &people(&[1]), &overwrite).unwrap();
    write(&location, &people(&[2]), &append()).unwrap();
    write(&location, &people(&[3]), &overwrite).unwrap();
    assert_eq!([blind(0), blind(1), blind(2)], [json!(false), json!(true), json!(false)]);
}

#[test]
fn modes_decide_what_happens_to_a_table_that_is_there() {
    for mode in [WriteMode::ErrorIfExists, WriteMode::Ignore, WriteMode::Append] {
        let (_, location) = place();
        let options = WriteOptions { mode, ..Default::default() };
        assert!(write(&location, &people(&[1]), &options).unwrap().created);
        let before = objects(&location);
        match (mode, write(&location, &people(&[2]), &options)) {
            (WriteMode::ErrorIfExists, Err(error)) => assert_eq!(error.kind(), "TableAlreadyExists"),
            (WriteMode::Ignore, Ok(result)) => {
                assert!(result.skipped && result.version == 0 && result.rows == 0)
            }
            (WriteMode::Append, Ok(result)) => {
                assert_eq!(result.version, 1);
                continue;
            }
            (_, other) => panic!("{other:?}"),
        }
        assert_eq!(objects(&location), before);
    }
}

#[test]
fn no_rows_create_a_table_and_append_nothing() {
    let (_, location) = place();
    let result = write(&location, &people(&[]), &append()).unwrap();
    assert_eq!((result.files, result.created), (0, true));
    assert_eq!(open(&location).schema().fields.len(), 2);
    let result = write(&location, &people(&[]), &append()).unwrap();
    assert_eq!((result.version, result.skipped), (0, true));
}

#[test]
fn mapped_tables_have_physical_names_in_files_and_log() {
    for mode in ["name", "id"] {
        let (_, location) = place();
        let data = batch([
            ("a b", Arc::new(Int64Array::from(vec![1, 2])) as ArrayRef),
            ("p;", Arc::new(Int32Array::from(vec![7, 7]))),
        ]);
        let options = WriteOptions {
            partition_by: vec!["p;".into()],
            ..with_properties(&[("delta.columnMapping.mode", mode)])
        };
        write(&location, &data, &options).unwrap();
        // and once more, into the table that is there
        write(&location, &data, &append()).unwrap();
        let schema = open(&location).schema().clone();
        let name = schema.fields[0].physical_name(ColumnMappingMode::Name);
        let partition = schema.fields[1].physical_name(ColumnMappingMode::Name);
        let adds = adds(&location);
        assert_eq!(adds.len(), 2);
        for add in adds {
            assert_eq!(add.partition_values.get(partition), Some(&Some("7".to_owned())));
            let stats: serde_json::Value = serde_json::from_str(add.stats.as_deref().unwrap()).unwrap();
            assert_eq!(stats["maxValues"], json!({name: 2}));
            let (folder, _) = add.path.as_str().split_once('/').unwrap();
            assert!(folder.len() == 2 && !folder.contains('='), "a random folder, not {folder}");
            let body = location.store().get(&add.path.resolve(location.root()).unwrap()).unwrap();
            let builder = ParquetRecordBatchReaderBuilder::try_new(body).unwrap();
            let field = &builder.parquet_schema().root_schema().get_fields()[0];
            assert_eq!((field.name(), field.get_basic_info().id()), (name, 1));
        }
    }
}

#[test]
fn timestamps_without_a_zone_raise_the_protocol() {
    let (_, location) = place();
    let data = batch([
        ("at", Arc::new(TimestampMicrosecondArray::from(vec![1_999])) as ArrayRef),
        ("utc", Arc::new(TimestampMicrosecondArray::from(vec![1_999]).with_timezone("UTC"))),
    ]);
    write(&location, &data, &append()).unwrap();
    let snapshot = open(&location);
    assert_eq!(snapshot.protocol().reader_features.as_deref(), Some(&["timestampNtz".to_owned()][..]));
    let stats = adds(&location)[0].stats.clone().unwrap();
    assert!(
        stats.contains(r#""maxValues":{"at":"1970-01-01T00:00:00.001","utc":"1970-01-01T00:00:00.001Z"}"#),
        "{stats}"
    );
}

#[test]
fn in_commit_timestamps_are_first_and_grow() {
    let (_, location) = place();
    let options = with_properties(&[("delta.enableInCommitTimestamps", "true")]);
    for n in 0..4 {
        write(&location, &people(&[n]), &append_after(n, &options)).unwrap();
    }
    let times: Vec<_> =
        (0..4).map(|v| commit(&location, v)[0].1["inCommitTimestamp"].as_i64().unwrap()).collect();
    assert!(times.windows(2).all(|w| w[0] < w[1]), "{times:?}");
    assert_eq!(open(&location).timestamp().unwrap(), times[3]);
}

fn append_after(n: i64, first: &WriteOptions) -> WriteOptions {
    if n == 0 { first.clone() } else { append() }
}

#[test]
fn tables_with_deletion_vectors_say_that_bounds_are_tight() {
    let (_, location) = place();
    write(&location, &people(&[1]), &with_properties(&[("delta.enableDeletionVectors", "true")])).unwrap();
    assert!(adds(&location)[0].stats.as_deref().unwrap().ends_with(r#","tightBounds":true}"#));
}

#[test]
fn an_application_writes_each_of_its_versions_once() {
    let (_, location) = place();
    let version = |v| WriteOptions { app_transaction: Some(("app".into(), v)), ..append() };
    assert!(write(&location, &people(&[1]), &version(5)).unwrap().created);
    for older in [5, 4] {
        let result = write(&location, &people(&[2]), &version(older)).unwrap();
        assert_eq!((result.version, result.skipped), (0, true));
    }
    // no rows, but progress that must be recorded
    assert_eq!(write(&location, &people(&[]), &version(6)).unwrap().version, 1);
    assert!(write(&location, &people(&[3]), &version(6)).unwrap().skipped);
    assert_eq!(ids(&location), [1]);
}

#[test]
fn the_codec_is_the_option_or_the_tables_own() {
    let (_, location) = place();
    write(&location, &people(&[1]), &with_properties(&[("delta.parquet.compression.codec", "ZSTD")]))
        .unwrap();
    write(&location, &people(&[2]), &WriteOptions { compression: Some("none".into()), ..append() }).unwrap();
    let paths: Vec<_> = adds(&location).into_iter().map(|a| a.path.to_string()).collect();
    assert!(paths.iter().any(|p| p.ends_with(".c000.zstd.parquet")), "{paths:?}");
    assert!(paths.iter().any(|p| p.ends_with(".c000.parquet")), "{paths:?}");
    assert_eq!(ids(&location), [1, 2]);
}

#[test]
fn files_are_closed_at_the_target_size() {
    let (_, location) = place();
    let many: Vec<i64> = (0..200_000).collect();
    let result = write(&location, &people(&many), &WriteOptions { target_file_size: 1, ..append() }).unwrap();
    assert_eq!((result.files, result.rows), (4, 200_000));
    assert_eq!(ids(&location), many);
}
