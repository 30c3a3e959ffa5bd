//! What lies in the files.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, Float32Array, Float64Array, Int64Array, RecordBatch, StringArray, TimestampMicrosecondArray,
};
use deltaic_core::deletion_vector::{DeletionVector, write_file};
use deltaic_core::store::{Location, StorageOptions};
use deltaic_core::verify::{Finding, FindingKind as Kind, VerifyOptions, verify};
use deltaic_testkit::{TableBuilder, actions};
use serde_json::{Value, json};
use uuid::Uuid;

fn deep(table: &TableBuilder) -> Vec<Finding> {
    let location = Location::open(&table.uri(), &StorageOptions::new()).unwrap();
    verify(&location, &VerifyOptions { deep: true, ..Default::default() }).unwrap().findings
}

fn only(table: &TableBuilder, kind: Kind) -> Finding {
    let all = deep(table);
    assert!(!all.is_empty(), "{kind:?} is not found");
    assert!(all.iter().all(|f| f.kind == kind), "{kind:?}: {all:#?}");
    all.into_iter().next().unwrap()
}

/// The rows of the one file: four types, nulls, both zeros.
fn rows() -> RecordBatch {
    let a: ArrayRef = Arc::new(Int64Array::from(vec![Some(3), None, Some(7)]));
    let x: ArrayRef = Arc::new(Float64Array::from(vec![-0.0, 1.5, 2.5]));
    let s: ArrayRef = Arc::new(StringArray::from(vec!["b", "c", "d"]));
    let times = vec![1_000_001, 2_000_000, 3_000_999];
    let t: ArrayRef = Arc::new(TimestampMicrosecondArray::from(times).with_timezone("UTC"));
    RecordBatch::try_from_iter_with_nullable([("a", a, true), ("x", x, true), ("s", s, true), ("t", t, true)])
        .unwrap()
}

fn right() -> Value {
    json!({
        "numRecords": 3,
        "minValues": {"a": 3, "x": 0.0, "s": "b", "t": "1970-01-01T00:00:01.000Z"},
        "maxValues": {"a": 7, "x": 2.5, "s": "d", "t": "1970-01-01T00:00:03.000Z"},
        "nullCount": {"a": 1, "x": 0, "s": 0, "t": 0},
    })
}

fn table(types: &[(&str, &str)], change: impl Fn(&TableBuilder, Value) -> Value) -> TableBuilder {
    let mut table = TableBuilder::temp();
    let features = ["deletionVectors"];
    let metadata = actions::metadata(&actions::schema(types), &[], &[]);
    table.commit(&[actions::protocol_features(&features, &features), metadata]);
    let add = actions::with_stats(table.data_file("f.parquet", &rows(), &[]), &right());
    let add = change(&table, add);
    table.commit(&[add]);
    table
}

const TYPES: &[(&str, &str)] = &[("a", "long"), ("x", "double"), ("s", "string"), ("t", "timestamp")];

fn with_stats(section: &str, column: &str, value: Value) -> TableBuilder {
    table(TYPES, |_, add| {
        let mut stats = right();
        if column.is_empty() {
            stats[section] = value.clone();
        } else {
            stats[section][column] = value.clone();
        }
        actions::with_stats(add, &stats)
    })
}

#[test]
fn statistics_that_are_bounds_are_right() {
    assert_eq!(deep(&table(TYPES, |_, add| add)), []);
    for (section, column, value) in [
        ("minValues", "a", json!(-5)),
        ("maxValues", "a", json!(9)),
        ("maxValues", "s", json!("dd")),
        ("minValues", "s", json!("")),
        ("minValues", "a", json!(null)),
        ("maxValues", "a", json!("no number")),
    ] {
        assert_eq!(deep(&with_stats(section, column, value)), [], "{section} {column}");
    }
}

#[test]
fn statistics_that_are_no_bounds_are_found() {
    for (section, column, value) in [
        ("minValues", "a", json!(4)),
        ("maxValues", "a", json!(6)),
        ("minValues", "x", json!(0.5)),
        ("maxValues", "x", json!(2.25)),
        ("minValues", "s", json!("bb")),
        ("maxValues", "s", json!("cz")),
        ("minValues", "t", json!("1970-01-01T00:00:01.001Z")),
        ("maxValues", "t", json!("1970-01-01T00:00:02.999Z")),
    ] {
        let finding = only(&with_stats(section, column, value), Kind::StatsNotBounds);
        assert!(finding.expected.contains(&format!("`{column}`")), "{finding}");
    }
}

#[test]
fn floats_that_became_doubles_keep_the_text_of_their_bounds() {
    let mut table = TableBuilder::temp();
    let changes = json!([{"fromType": "float", "toType": "double"}]);
    let mut schema = actions::schema(&[("x", "double")]);
    schema["fields"][0]["metadata"] = json!({"delta.typeChanges": changes});
    table.commit(&[
        actions::protocol_features(&["typeWidening"], &["typeWidening"]),
        actions::metadata(&schema, &[], &[]),
    ]);
    let x: ArrayRef = Arc::new(Float32Array::from(vec![3.4]));
    let rows = RecordBatch::try_from_iter_with_nullable([("x", x, true)]).unwrap();
    let add = table.data_file("f.parquet", &rows, &[]);
    let stats = |max: f64| json!({"numRecords": 1, "minValues": {"x": 3.4}, "maxValues": {"x": max}});
    table.commit(&[actions::with_stats(add.clone(), &stats(3.4))]);
    assert_eq!(deep(&table), []);
    table.commit(&[actions::with_stats(add, &stats(3.3))]);
    only(&table, Kind::StatsNotBounds);
}

#[test]
fn counts_that_are_wrong_are_found() {
    assert_eq!(only(&with_stats("numRecords", "", json!(4)), Kind::RowCountDiffers).found, "3 rows");
    assert_eq!(only(&with_stats("nullCount", "a", json!(0)), Kind::NullCountDiffers).found, "1 nulls");
}

#[test]
fn a_damaged_file_is_found() {
    let table = table(TYPES, |_, add| add);
    let file = table.root().join("f.parquet");
    let mut bytes = std::fs::read(&file).unwrap();
    let end = bytes.len();
    bytes[end - 40..].fill(0);
    std::fs::write(&file, bytes).unwrap();
    only(&table, Kind::UnreadableFile);
}

#[test]
fn a_file_of_other_types_is_found() {
    let types = [("a", "date"), ("x", "double"), ("s", "string"), ("t", "timestamp")];
    only(&table(&types, |_, add| add), Kind::FileSchemaDiffers);
}

fn with_vector(rows: &[u64], damage: impl Fn(&mut Vec<u8>), wide: bool) -> TableBuilder {
    table(TYPES, |table, add| {
        let vector: DeletionVector = rows.iter().copied().collect();
        let id = Uuid::from_u128(7);
        let (body, descriptors) = write_file(&[vector], "", id).unwrap();
        let mut body = body.to_vec();
        damage(&mut body);
        std::fs::write(table.root().join(format!("deletion_vector_{id}.bin")), body).unwrap();
        let mut stats = right();
        stats["tightBounds"] = json!(!wide);
        if !wide {
            // those of the row that is left
            stats["minValues"]["a"] = json!(7);
        }
        let add = actions::with_stats(add, &stats);
        actions::with(add, "deletionVector", serde_json::to_value(&descriptors[0]).unwrap())
    })
}

#[test]
fn damaged_and_foreign_deletion_vectors_are_found() {
    for wide in [true, false] {
        assert_eq!(deep(&with_vector(&[0, 1], |_| {}, wide)), []);
    }
    let finding = only(&with_vector(&[0, 9], |_| {}, true), Kind::InvalidDeletionVector);
    assert!(finding.found.contains("row 9"), "{finding}");
    let damaged = with_vector(&[0, 1], |body| body[12] ^= 1, true);
    assert!(only(&damaged, Kind::InvalidDeletionVector).found.contains("checksum"));
}
