//! What a write refuses, before anything is written.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int32Array, Int64Array, RecordBatch, StringArray};
use arrow::datatypes::{DataType, Field, Schema};
use deltaic_core::Error;
use deltaic_testkit::{Op, TableBuilder, actions};
use serde_json::json;

use super::*;

#[test]
fn data_that_does_not_fit_leaves_no_trace() {
    let (store, location) = place();
    write(&location, &people(&[1]), &append()).unwrap();
    let before = objects(&location);
    store.forget();
    let unknown = batch([
        ("id", Arc::new(Int64Array::from(vec![1])) as ArrayRef),
        ("x", Arc::new(Int64Array::from(vec![1]))),
    ]);
    let narrowing = batch([("id", Arc::new(StringArray::from(vec!["1"])) as ArrayRef)]);
    for data in [unknown, narrowing] {
        let error = write(&location, &data, &append()).unwrap_err();
        assert!(matches!(error.plain(), Error::SchemaMismatch { .. }), "{error}");
    }
    assert_eq!(store.count(Op::Put, "") + store.count(Op::PutIfAbsent, ""), 0);
    assert_eq!(objects(&location), before);
}

#[test]
fn missing_columns_are_null_and_narrow_ones_widen() {
    let (_, location) = place();
    write(&location, &people(&[1]), &append()).unwrap();
    let data = batch([("ID", Arc::new(Int32Array::from(vec![2])) as ArrayRef)]);
    write(&location, &data, &append()).unwrap();
    assert_eq!(ids(&location), [1, 2]);
    let stats: Vec<_> = adds(&location).into_iter().filter_map(|a| a.stats).collect();
    assert!(
        stats.iter().any(|s| s
            == r#"{"numRecords":1,"minValues":{"id":2},"maxValues":{"id":2},"nullCount":{"id":0,"name":1}}"#),
        "{stats:?}"
    );
}

#[test]
fn a_null_where_none_may_be_removes_the_files_again() {
    let (_, location) = place();
    let schema = Arc::new(Schema::new(vec![Field::new("id", DataType::Int64, false)]));
    let first = RecordBatch::try_new(schema, vec![Arc::new(Int64Array::from(vec![1]))]).unwrap();
    write(&location, &first, &append()).unwrap();
    let before = objects(&location);
    let good = batch([("id", Arc::new(Int64Array::from_iter_values(0..100_000)) as ArrayRef)]);
    let bad = batch([("id", Arc::new(Int64Array::from(vec![Some(1), None])) as ArrayRef)]);
    let options = WriteOptions { target_file_size: 1, ..append() };
    let error =
        deltaic_core::operations::write(&location, reader(vec![Ok(good), Ok(bad)]), &options).unwrap_err();
    assert!(error.to_string().contains("`id` must not be null"), "{error}");
    assert_eq!(objects(&location), before);
}

#[test]
fn names_and_partition_columns_are_checked_at_creation() {
    let (store, location) = place();
    let column = || Arc::new(Int64Array::from(vec![1])) as ArrayRef;
    let cases = [
        (batch([("a b", column())]), append(), "InvalidSchema"),
        (batch([("a", column()), ("A", column())]), append(), "InvalidSchema"),
        (batch([("a", column())]), partitioned(&["a"]), "InvalidArgument"),
        (batch([("a", column()), ("b", column())]), partitioned(&["c"]), "InvalidArgument"),
        (batch([("a", column())]), with_properties(&[("delta.appendonyl", "true")]), "InvalidArgument"),
        (
            batch([("a", column())]),
            WriteOptions { compression: Some("rar".into()), ..append() },
            "InvalidArgument",
        ),
    ];
    for (data, options, kind) in cases {
        assert_eq!(write(&location, &data, &options).unwrap_err().kind(), kind);
    }
    assert_eq!(store.count(Op::Put, "") + store.count(Op::PutIfAbsent, ""), 0);
}

#[test]
fn a_table_that_could_not_be_appended_to_is_not_created() {
    let (store, location) = place();
    let options = with_properties(&[("delta.feature.catalogManaged", "supported")]);
    let error = write(&location, &people(&[1]), &options).unwrap_err();
    assert_eq!(error.kind(), "InvalidFeatureChange", "{error}");
    assert_eq!(store.count(Op::Put, "") + store.count(Op::PutIfAbsent, ""), 0);
}

#[test]
fn partitioning_and_properties_of_a_table_are_its_own() {
    let (_, location) = place();
    write(&location, &people(&[1]), &partitioned(&["name"])).unwrap();
    assert_eq!(write(&location, &people(&[2]), &partitioned(&["NAME"])).unwrap().version, 1);
    let error = write(&location, &people(&[3]), &partitioned(&["id"])).unwrap_err();
    assert!(error.to_string().contains("partitioned by name, not by id"), "{error}");
    let error =
        write(&location, &people(&[3]), &with_properties(&[("delta.appendOnly", "true")])).unwrap_err();
    assert!(error.to_string().contains("here it is not set"), "{error}");
    assert_eq!(ids(&location), [1, 2]);
}

#[test]
fn tables_that_ask_more_of_a_writer_are_refused_by_name() {
    let schema = actions::schema(&[("id", "long"), ("name", "string")]);
    let protocols = [(
        json!({"minReaderVersion": 1, "minWriterVersion": 7, "writerFeatures": ["appendOnly", "quantum"]}),
        "quantum",
    )];
    for (protocol, named) in protocols {
        let mut table = TableBuilder::temp();
        table.commit(&[json!({"protocol": protocol}), actions::metadata(&schema, &[], &[])]);
        let location = Location::open(table.root().to_str().unwrap(), &Default::default()).unwrap();
        let before = objects(&location);
        let error = write(&location, &people(&[1]), &append()).unwrap_err();
        assert!(
            matches!(&error, Error::UnsupportedFeature { role: "writer", features, .. } if features[0].starts_with(named)),
            "{error}"
        );
        assert_eq!(objects(&location), before);
    }
}

#[test]
fn char_and_varchar_lengths_hold_in_data_and_in_partitions() {
    let field = |name: &str, declared: &str| json!({"name": name, "type": "string", "nullable": true, "metadata": {"__CHAR_VARCHAR_TYPE_STRING": declared}});
    let fields = json!({"type": "struct", "fields": [field("v", "varchar(3)"), field("p", "char(2)")]});
    let mut table = TableBuilder::temp();
    table.commit(&[actions::protocol(1, 2), actions::metadata(&fields, &["p"], &[])]);
    let location = Location::open(table.root().to_str().unwrap(), &Default::default()).unwrap();
    let data = |v: &str, p: &str| {
        batch([
            ("v", Arc::new(StringArray::from(vec![v])) as ArrayRef),
            ("p", Arc::new(StringArray::from(vec![p]))),
        ])
    };
    let before = objects(&location);
    for (v, p, named) in [("long", "p", "`v` is varchar(3)"), ("v", "longer", "`p` is char(2)")] {
        let error = write(&location, &data(v, p), &append()).unwrap_err();
        assert!(
            matches!(error.plain(), Error::SchemaMismatch { .. }) && error.to_string().contains(named),
            "{error}"
        );
        assert_eq!(objects(&location), before);
    }
    write(&location, &data("abc  ", "p"), &append()).unwrap();
    let add = &adds(&location)[0];
    assert_eq!(add.partition_values.iter().next().unwrap().1.as_deref(), Some("p "));
    assert_eq!(read_file(&location, add).column(0).as_ref(), &StringArray::from(vec!["abc"]));
}
