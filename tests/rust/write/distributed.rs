//! Writes whose files are made elsewhere, in every mode, and writes that change the columns of the table.

use std::collections::BTreeSet;
use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array};
use deltaic_core::Error;
use deltaic_core::engine::DistributedWrite;
use deltaic_core::schema::{DataType, StructField, StructType, from_arrow};
use serde_json::json;

use super::*;

fn place() -> (tempfile::TempDir, Location) {
    let dir = tempfile::tempdir().unwrap();
    let location = Location::open(dir.path().to_str().unwrap(), &Default::default()).unwrap();
    (dir, location)
}

/// `id long, p long`, with `p = id % 2`.
fn numbers(ids: &[i64]) -> RecordBatch {
    let column = |values: Vec<i64>| Arc::new(Int64Array::from(values)) as ArrayRef;
    batch([("id", column(ids.to_vec())), ("p", column(ids.iter().map(|id| id % 2).collect()))])
}

fn overwrite() -> WriteOptions {
    WriteOptions { mode: WriteMode::Overwrite, ..Default::default() }
}

/// Plans, writes by a plan that travelled, and commits by one that travelled.
fn spread(location: &Location, data: &RecordBatch, options: WriteOptions) -> Result<WriteResult> {
    let uri = location.root().to_local().unwrap();
    let plan = DistributedWrite::plan(
        uri.to_str().unwrap(),
        Default::default(),
        &from_arrow(&data.schema())?,
        options,
    )?;
    let sent = || DistributedWrite::from_json(&plan.to_json().unwrap()).unwrap();
    let files = sent().write_files(reader(vec![Ok(data.clone())]), Some("part"))?;
    sent().commit(files, Vec::new())
}

#[test]
fn every_overwrite_travels() {
    let (_dir, location) = place();
    spread(&location, &numbers(&[1, 2, 3, 4]), partitioned(&["p"])).unwrap();
    let dynamic = WriteOptions { dynamic_partitions: true, ..overwrite() };
    let result = spread(&location, &numbers(&[5]), dynamic).unwrap();
    assert_eq!((result.version, result.removed, ids(&location)), (1, 1, vec![2, 4, 5]));

    let above = WriteOptions { replace_where: Some("id   > 3".into()), ..overwrite() };
    let error = spread(&location, &numbers(&[2]), above.clone()).unwrap_err();
    assert!(matches!(&error, Error::ReplaceWhereMismatch { row, .. } if row == "id = 2"), "{error}");
    spread(&location, &numbers(&[6]), above).unwrap();
    assert_eq!(ids(&location), [2, 6]);
    let info = &commit(&location, 2)[0].1;
    assert_eq!(info["operationParameters"]["predicate"], "id   > 3");
    assert_eq!(info["operationParameters"]["mode"], "Overwrite");

    let again = WriteOptions { data_change: false, ..overwrite() };
    spread(&location, &numbers(&[6, 2]), again).unwrap();
    assert_eq!(ids(&location), [2, 6]);
    let changes: BTreeSet<String> =
        commit(&location, 3).iter().filter_map(|(_, a)| a.get("dataChange")).map(|v| v.to_string()).collect();
    assert_eq!(changes, BTreeSet::from(["false".to_owned()]));
}

#[test]
fn columns_are_merged_and_overwritten_in_the_commit_of_the_rows() {
    let (_dir, location) = place();
    spread(&location, &numbers(&[1, 2]), partitioned(&["p"])).unwrap();
    let wide = batch([
        ("ID", Arc::new(Int64Array::from(vec![3])) as ArrayRef),
        ("n", Arc::new(StringArray::from(vec!["x"]))),
    ]);
    assert_eq!(spread(&location, &wide, append()).unwrap_err().kind(), "SchemaMismatch");
    let merging = WriteOptions { merge_schema: true, ..append() };
    spread(&location, &wide, merging.clone()).unwrap();
    let names = || open(&location).schema().fields.iter().map(|f| f.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(), ["id", "p", "n"]);
    assert_eq!(ids(&location), [1, 2, 3]);
    // the new column was read of nobody
    assert_eq!(commit(&location, 1)[0].1["isBlindAppend"], true);
    // a merge that adds nothing leaves the metadata alone
    spread(&location, &wide, merging).unwrap();
    assert!(commit(&location, 2).iter().all(|(kind, _)| kind != "metaData"));

    let replacing = WriteOptions { overwrite_schema: true, ..overwrite() };
    spread(&location, &wide, replacing.clone()).unwrap();
    assert_eq!(names(), ["ID", "n"]);
    assert!(open(&location).partition_columns().is_empty());
    let (partial, idle) = (
        WriteOptions { dynamic_partitions: true, partition_by: vec!["p".into()], ..replacing.clone() },
        WriteOptions { data_change: false, ..replacing },
    );
    let refused = |data: &RecordBatch, options: &WriteOptions, said: &str| {
        let error = spread(&location, data, options.clone()).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    };
    // rows that stay would be in a partition that their files do not name
    refused(&numbers(&[1]), &partial, "the whole table");
    assert_eq!(names(), ["ID", "n"]);
    spread(&location, &numbers(&[1]), WriteOptions { dynamic_partitions: false, ..partial.clone() }).unwrap();
    refused(&numbers(&[2]), &partial, "the whole table");
    refused(&wide, &WriteOptions { partition_by: Vec::new(), ..partial }, "the whole table");
    refused(&wide, &idle, "no rows change");
    assert_eq!(ids(&location), [1]);
}

#[test]
fn marks_come_from_the_statistics_of_the_files() {
    let (_dir, location) = place();
    let mut key = StructField::new("key", DataType::Long, true);
    for (name, value) in [("start", json!(1)), ("step", json!(-2)), ("allowExplicitInsert", json!(true))] {
        key.metadata.insert(format!("delta.identity.{name}"), value);
    }
    let schema = StructType { fields: vec![key, StructField::new("id", DataType::Long, true)] };
    let uri = location.root().to_local().unwrap();
    // statistics of no column but identities
    let none = [("delta.dataSkippingNumIndexedCols".to_owned(), "0".to_owned())];
    let create = WriteOptions { rules_held: true, configuration: none.into(), ..append() };
    let plan = DistributedWrite::plan(uri.to_str().unwrap(), Default::default(), &schema, create).unwrap();
    plan.commit(Vec::new(), Vec::new()).unwrap();

    let data = StructType { fields: vec![schema.fields[1].clone()] };
    let options = WriteOptions { rules_held: true, ..append() };
    let plan =
        || DistributedWrite::plan(uri.to_str().unwrap(), Default::default(), &data, options.clone()).unwrap();
    let first = plan();
    assert_eq!((first.rules.identities[0].first, first.rules.identities[0].step), (1, -2));
    let column = |values: &[i64]| Arc::new(Int64Array::from(values.to_vec())) as ArrayRef;
    let rows = batch([("key", column(&[1, -5, -3])), ("id", column(&[1, 2, 3]))]);
    let files = first.write_files(reader(vec![Ok(rows)]), None).unwrap();
    assert!(!files[0].stats.as_deref().unwrap().contains(r#""id""#));
    first.commit(files, Vec::new()).unwrap();
    assert_eq!(plan().rules.identities[0].first, -7);
}
