//! Files that another writer made: their statistics come from the footers.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, BinaryArray, BooleanArray, Date32Array, Decimal128Array, Float64Array, Int32Array, Int64Array,
    ListArray, RecordBatch, StringArray, StructArray, TimestampMicrosecondArray,
};
use arrow::datatypes::{DataType, Field, Int64Type};
use bytes::Bytes;
use deltaic_core::operations::commit_adds;
use deltaic_core::schema::from_arrow;
use deltaic_core::write::{WrittenFile, footer_adds, plan_write};
use parquet::arrow::ArrowWriter;
use parquet::file::properties::{EnabledStatistics, WriterProperties};

use super::*;

fn rows() -> RecordBatch {
    let inner = Int32Array::from(vec![Some(5), None, Some(-5)]);
    let inner = StructArray::from(vec![(
        Arc::new(Field::new("x", DataType::Int32, true)),
        Arc::new(inner) as ArrayRef,
    )]);
    let long = "z".repeat(50);
    batch([
        ("id", Arc::new(Int64Array::from(vec![Some(3), None, Some(1)])) as ArrayRef),
        ("s", Arc::new(StringArray::from(vec![Some("a"), Some(long.as_str()), None]))),
        ("d", Arc::new(Decimal128Array::from(vec![-7, 12, 5]).with_precision_and_scale(30, 3).unwrap())),
        ("small", Arc::new(Decimal128Array::from(vec![-7, 12, 5]).with_precision_and_scale(6, 2).unwrap())),
        ("day", Arc::new(Date32Array::from(vec![0, 1, -1]))),
        ("at", Arc::new(TimestampMicrosecondArray::from(vec![1_999, -1, 5]).with_timezone("UTC"))),
        ("flag", Arc::new(BooleanArray::from(vec![Some(true), None, Some(false)]))),
        ("raw", Arc::new(BinaryArray::from_opt_vec(vec![Some(b"x"), None, None]))),
        ("n", Arc::new(inner)),
        ("nothing", Arc::new(Int64Array::from(vec![None; 3]))),
    ])
}

/// Puts a Parquet file where a plan expects one.
fn put(location: &Location, name: &str, rows: &RecordBatch, properties: WriterProperties) -> WrittenFile {
    let mut writer = ArrowWriter::try_new(Vec::new(), rows.schema(), Some(properties)).unwrap();
    writer.write(rows).unwrap();
    location.store().put(&location.root().join(name), Bytes::from(writer.into_inner().unwrap())).unwrap();
    WrittenFile { path: name.to_owned(), partition_values: None }
}

fn spark() -> WriterProperties {
    WriterProperties::builder()
        .set_created_by("parquet-mr version 1.16.0".into())
        .set_statistics_truncate_length(None)
        .set_max_row_group_row_count(Some(2))
        .build()
}

#[test]
fn footers_tell_what_the_rows_tell() {
    let (_, location) = place();
    write(&location, &rows(), &append()).unwrap();
    let collected = adds(&location)[0].stats.clone().unwrap();
    let plan = plan_write(&location, &from_arrow(&rows().schema()).unwrap(), &append()).unwrap();
    let file = put(&location, "sub/part-0 %.parquet", &rows(), spark());
    let from_footer = footer_adds(&plan, vec![file]).unwrap();
    assert_eq!(from_footer[0].stats.as_deref(), Some(collected.as_str()));
    assert_eq!(from_footer[0].path.as_str(), "sub/part-0%20%25.parquet");
    let result = commit_adds(&plan, from_footer, &append()).unwrap();
    assert_eq!((result.version, result.rows, result.files), (1, 3, 1));
    assert_eq!(adds(&location).len(), 2);
}

#[test]
fn what_a_footer_does_not_tell_is_left_out() {
    let (_, location) = place();
    let list = ListArray::from_iter_primitive::<Int64Type, _, _>([Some(vec![Some(1), None]), None]);
    let data = batch([
        ("f", Arc::new(Float64Array::from(vec![1.0, 2.0])) as ArrayRef),
        ("l", Arc::new(list)),
        ("id", Arc::new(Int64Array::from(vec![1, 2]))),
    ]);
    let plan = plan_write(&location, &from_arrow(&data.schema()).unwrap(), &append()).unwrap();
    let stats = |name: &str, rows: &RecordBatch, properties| {
        let file = put(&location, name, rows, properties);
        footer_adds(&plan, vec![file]).unwrap()[0].stats.clone().unwrap()
    };
    // the levels of a list tell where all of it is null
    let plain = r#"{"numRecords":2,"minValues":{"f":1.0,"id":1},"maxValues":{"f":2.0,"id":2},"nullCount":{"f":0,"l":1,"id":0}}"#;
    assert_eq!(stats("a.parquet", &data, spark()), plain);
    // bounds that hide NaN prove nothing
    let other = WriterProperties::builder().set_created_by("parquet-cpp-arrow version 20".into()).build();
    assert_eq!(
        stats("b.parquet", &data, other),
        r#"{"numRecords":2,"minValues":{"id":1},"maxValues":{"id":2},"nullCount":{"f":0,"l":1,"id":0}}"#
    );
    let silent = WriterProperties::builder().set_statistics_enabled(EnabledStatistics::None).build();
    assert_eq!(
        stats("c.parquet", &data, silent),
        r#"{"numRecords":2,"minValues":{},"maxValues":{},"nullCount":{}}"#
    );
}

#[test]
fn partition_values_come_from_the_folders() {
    let (_, location) = place();
    let data = batch([
        ("id", Arc::new(Int64Array::from(vec![1])) as ArrayRef),
        ("p", Arc::new(StringArray::from(vec!["x"]))),
        ("at", Arc::new(TimestampMicrosecondArray::from(vec![0]).with_timezone("UTC"))),
    ]);
    let configuration = [("delta.writePartitionColumnsToParquet".to_owned(), "false".to_owned())].into();
    let options = WriteOptions { configuration, ..partitioned(&["p", "at"]) };
    let plan = plan_write(&location, &from_arrow(&data.schema()).unwrap(), &options).unwrap();
    let only = data.project(&[0]).unwrap();
    let files = vec![
        put(&location, "w/p=a%2Fb/at=2024-01-01 00%3A00%3A00/x.parquet", &only, spark()),
        put(
            &location,
            "w/p=__HIVE_DEFAULT_PARTITION__/at=__HIVE_DEFAULT_PARTITION__/x.parquet",
            &only,
            spark(),
        ),
    ];
    let values: Vec<_> = footer_adds(&plan, files).unwrap().into_iter().map(|a| a.partition_values).collect();
    assert_eq!(values[0]["p"].as_deref(), Some("a/b"));
    assert_eq!(values[0]["at"].as_deref(), Some("2024-01-01T00:00:00.000000Z"));
    assert_eq!((&values[1]["p"], &values[1]["at"]), (&None, &None));
    let homeless = put(&location, "w/x.parquet", &only, spark());
    let error = footer_adds(&plan, vec![homeless]).unwrap_err();
    assert!(error.to_string().contains("no value of partition column `p`"), "{error}");
}

#[test]
fn files_of_other_columns_are_refused_and_empty_ones_removed() {
    let (_, location) = place();
    let plan = plan_write(&location, &from_arrow(&people(&[1]).schema()).unwrap(), &append()).unwrap();
    let wrong =
        [("no.parquet", people(&[1]).project(&[0]).unwrap(), "`name`"), ("more.parquet", rows(), "`name`")];
    for (name, rows, said) in wrong {
        let file = put(&location, name, &rows, spark());
        let error = footer_adds(&plan, vec![file]).unwrap_err();
        assert!(error.kind() == "DataFile" && error.to_string().contains(said), "{error}");
    }
    let torn = WrittenFile { path: "torn.parquet".into(), partition_values: None };
    for body in ["", "PAR1", "not a Parquet file at all"] {
        location
            .store()
            .put(&location.root().join("torn.parquet"), Bytes::from_static(body.as_bytes()))
            .unwrap();
        assert_eq!(footer_adds(&plan, vec![torn.clone()]).unwrap_err().kind(), "DataFile");
    }
    let empty = put(&location, "empty.parquet", &people(&[]), spark());
    assert!(footer_adds(&plan, vec![empty]).unwrap().is_empty());
    assert!(!objects(&location).contains(&"empty.parquet".to_owned()));
}
