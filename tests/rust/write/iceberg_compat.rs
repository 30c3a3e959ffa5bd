//! Tables that can become Iceberg's (PROTOCOL.md, "Iceberg Compatibility V1", "V2"): what their data files must hold.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, Int64Array, ListArray, StringArray};
use arrow::datatypes::Int64Type;
use deltaic_core::alter::properties::SetOptions;
use deltaic_core::dml::DmlOptions;
use deltaic_core::features::TableFeature;
use deltaic_core::maintain::{Alteration, OptimizeOptions, alter_table, optimize};
use deltaic_core::operations::{delete, update};
use deltaic_core::scan::{ReadRequest, read};
use deltaic_core::schema::ColumnMappingMode;
use parquet::schema::types::Type;

use super::*;

const V1: &str = "delta.enableIcebergCompatV1";
const V2: &str = "delta.enableIcebergCompatV2";
const V3: &str = "delta.enableIcebergCompatV3";

fn rows(from: i64, lists: bool) -> RecordBatch {
    let lists = lists.then(|| {
        let lists = [from, from + 1].map(|n| Some(vec![Some(n), None]));
        ("l", Arc::new(ListArray::from_iter_primitive::<Int64Type, _, _>(lists)) as ArrayRef)
    });
    let columns = [
        ("p", Arc::new(StringArray::from(vec!["a", "b"])) as ArrayRef),
        ("id", Arc::new(Int64Array::from(vec![from, from + 1]))),
    ];
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().chain(lists).map(|(n, a)| (n, a, true)))
        .unwrap()
}

fn set(location: &Location, key: &str) -> Result<u64> {
    let properties = [(key.to_owned(), "true".to_owned())].into();
    alter_table(location, &Alteration::SetProperties { properties, options: SetOptions::default() }, None)
}

fn columns(location: &Location, add: &Add) -> Vec<Arc<Type>> {
    let body = location.store().get(&add.path.resolve(location.root()).unwrap()).unwrap();
    let builder = ParquetRecordBatchReaderBuilder::try_new(body).unwrap();
    builder.parquet_schema().root_schema().get_fields().to_vec()
}

/// The files have the partition column after the data, and an id for every field of the schema.
fn check_files(location: &Location) {
    let snapshot = open(location);
    let physical = |name: &str| {
        let field = snapshot.schema().fields.iter().find(|f| f.name == name).unwrap();
        (field.physical_name(ColumnMappingMode::Name).to_owned(), field.clone())
    };
    for add in adds(location) {
        let files = columns(location, &add);
        let (last, partition) = physical("p");
        let found = files.last().unwrap();
        assert_eq!(
            (found.name(), found.get_basic_info().id()),
            (last.as_str(), partition.field_id().unwrap())
        );
        let value = add.partition_values[&last].clone().unwrap();
        let stored = read_file(location, &add);
        let stored = stored.column_by_name(&last).unwrap().as_string::<i32>();
        assert!(stored.iter().all(|v| v == Some(value.as_str())));
        let stats: serde_json::Value = serde_json::from_str(add.stats.as_deref().unwrap()).unwrap();
        assert!(stats["numRecords"].is_i64() && stats["minValues"].get(&last).is_none(), "{stats}");
        if snapshot.schema().fields.iter().any(|f| f.name == "l") {
            let (name, list) = physical("l");
            let ids = list.metadata["delta.columnMapping.nested.ids"].as_object().unwrap();
            let column = files.iter().find(|f| f.name() == name).unwrap();
            let element = &column.get_fields()[0].get_fields()[0];
            let id = i64::from(element.get_basic_info().id());
            assert_eq!(Some(id), ids[&format!("{name}.element")].as_i64());
        }
    }
}

/// The row id of each `id`.
fn row_ids(location: &Location) -> BTreeMap<i64, i64> {
    let batches = read(&open(location), ReadRequest { row_ids: true, ..Default::default() }).unwrap();
    let of = |batch: &RecordBatch, name: &str| {
        batch.column_by_name(name).unwrap().as_primitive::<Int64Type>().values().to_vec()
    };
    batches.map(Result::unwrap).flat_map(|b| of(&b, "id").into_iter().zip(of(&b, "_row_id"))).collect()
}

fn values(location: &Location) -> Vec<(String, i64)> {
    let mut out = Vec::new();
    for batch in read(&open(location), ReadRequest::default()).unwrap() {
        let batch = batch.unwrap();
        let p = batch.column_by_name("p").unwrap().as_string::<i32>().clone();
        let id = batch.column_by_name("id").unwrap().as_primitive::<Int64Type>().clone();
        out.extend((0..batch.num_rows()).map(|at| (p.value(at).to_owned(), id.value(at))));
    }
    out.sort();
    out
}

#[test]
fn every_writer_puts_partition_columns_and_ids_into_the_files() {
    for (key, lists) in [(V1, false), (V2, true)] {
        let (_, location) = place();
        let first = WriteOptions { partition_by: vec!["p".into()], ..with_properties(&[(key, "true")]) };
        write(&location, &rows(1, lists), &first).unwrap();
        write(&location, &rows(3, lists), &append()).unwrap();
        check_files(&location);
        delete(&location, Some("id = 3"), &DmlOptions::default()).unwrap();
        update(&location, &[("id".into(), "id * 10".into())], Some("id = 4"), &DmlOptions::default())
            .unwrap();
        check_files(&location);
        optimize(&location, &OptimizeOptions::default()).unwrap();
        assert_eq!(adds(&location).len(), 2, "one file a partition");
        check_files(&location);
        let expected = [("a", 1), ("b", 2), ("b", 40)].map(|(p, id)| (p.to_owned(), id));
        assert_eq!(values(&location), expected);
    }
}

#[test]
fn files_that_are_there_may_stay_where_the_version_allows_it() {
    let mapped = with_properties(&[("delta.columnMapping.mode", "name")]);
    let without = with_properties(&[
        ("delta.columnMapping.mode", "name"),
        ("delta.writePartitionColumnsToParquet", "false"),
    ]);
    let by_p = WriteOptions { partition_by: vec!["p".into()], ..without };
    let (_, location) = place();
    write(&location, &rows(1, false), &by_p).unwrap();
    let error = set(&location, V1).unwrap_err();
    assert_eq!(error.kind(), "InvalidFeatureChange", "{error}");
    assert!(error.to_string().contains("partition columns"), "{error}");
    assert_eq!(open(&location).version(), 0);
    // V2 asks it of what is written from then on
    set(&location, V2).unwrap();
    write(&location, &rows(3, false), &append()).unwrap();
    let new: Vec<Add> = adds(&location).into_iter().filter(|a| columns(&location, a).len() == 2).collect();
    assert_eq!((new.len(), values(&location).len()), (2, 4));

    let (_, location) = place();
    write(&location, &rows(1, false), &mapped).unwrap();
    set(&location, V1).unwrap();
    assert!(open(&location).protocol().supports(TableFeature::IcebergCompatV1));
}

#[test]
fn columns_of_row_ids_have_the_ids_that_iceberg_reserves() {
    let kept = |location: &Location| -> Vec<i32> {
        let ids = adds(location).into_iter().flat_map(|add| columns(location, &add));
        let mut ids: Vec<i32> =
            ids.filter(|c| c.name().starts_with("_row-")).map(|c| c.get_basic_info().id()).collect();
        ids.sort_unstable();
        ids.dedup();
        ids
    };
    for vectors in ["false", "true"] {
        let (_, location) = place();
        let options = with_properties(&[(V3, "true"), ("delta.enableDeletionVectors", vectors)]);
        write(&location, &rows(1, true), &WriteOptions { partition_by: vec!["p".into()], ..options })
            .unwrap();
        write(&location, &rows(3, true), &append()).unwrap();
        check_files(&location);
        assert_eq!(kept(&location), [0; 0]);
        let mut before = row_ids(&location);
        assert_eq!(before.values().collect::<BTreeSet<_>>(), [0, 1, 2, 3].iter().collect());
        before.remove(&3);
        before = before.into_iter().map(|(id, row)| (if id == 4 { 40 } else { id }, row)).collect();
        delete(&location, Some("id = 3"), &DmlOptions::default()).unwrap();
        update(&location, &[("id".into(), "id * 10".into())], Some("id = 4"), &DmlOptions::default())
            .unwrap();
        assert_eq!(kept(&location), [2_147_483_539, 2_147_483_540]);
        optimize(&location, &OptimizeOptions::default()).unwrap();
        assert_eq!(kept(&location), [2_147_483_539, 2_147_483_540]);
        let expected = [("a", 1), ("b", 2), ("b", 40)].map(|(p, id)| (p.to_owned(), id));
        assert_eq!(values(&location), expected);
        assert_eq!(row_ids(&location), before);
    }
}

#[test]
fn files_that_are_there_get_row_ids_when_it_is_turned_on() {
    let (_, location) = place();
    write(&location, &rows(1, true), &with_properties(&[("delta.columnMapping.mode", "name")])).unwrap();
    set(&location, V3).unwrap();
    let snapshot = open(&location);
    assert!(snapshot.protocol().supports(TableFeature::IcebergCompatV3));
    assert!(
        adds(&location).iter().all(|a| a.base_row_id.is_some() && a.default_row_commit_version.is_some())
    );
    write(&location, &rows(3, true), &append()).unwrap();
    assert_eq!(values(&location).len(), 4);
    let error = set(&location, V2).unwrap_err();
    assert!(error.to_string().contains("exclude each other"), "{error}");
}
