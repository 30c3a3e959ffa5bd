//! The rows of a checkpoint are ordered so that readers skip row groups and pages of it.

use std::fs::File;

use arrow::array::{Array, AsArray};
use deltaic_core::checkpoint::checkpoint;
use deltaic_core::snapshot::At;
use deltaic_testkit::{TableBuilder, actions};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::{Value, json};

use super::names;
use crate::load::open;

/// The paths of the `add`s of a checkpoint of the newest version, from its first row to its last.
fn paths(table: &TableBuilder) -> Vec<String> {
    checkpoint(&open(table, At::Latest).unwrap()).unwrap();
    let name = names(table, "").into_iter().find(|n| n.ends_with(".checkpoint.parquet")).unwrap();
    let file = File::open(table.root().join("_delta_log").join(name)).unwrap();
    let batches = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap();
    let mut out = Vec::new();
    for batch in batches.map(Result::unwrap) {
        let add = batch.column_by_name("add").unwrap().as_struct();
        let path = add.column_by_name("path").unwrap().as_string::<i32>();
        out.extend((0..batch.num_rows()).filter(|r| add.is_valid(*r)).map(|r| path.value(r).to_owned()));
    }
    out
}

/// A file with one value of `id`.
fn add(path: &str, id: i64, partition: &[(&str, Option<&str>)]) -> Value {
    let bounds = json!({"id": id});
    let stats = json!({"numRecords": 1, "minValues": bounds, "maxValues": bounds, "nullCount": {"id": 0}});
    actions::with_stats(actions::add_in(path, partition), &stats)
}

#[test]
fn files_of_a_partition_lie_together() {
    let mut table = TableBuilder::temp();
    table.create(&actions::schema(&[("id", "long"), ("p", "integer")]), &["p"], &[]);
    let partitions = [Some("10"), None, Some("9"), Some("10"), Some("9"), None];
    for (n, value) in partitions.into_iter().enumerate() {
        table.commit(&[add(&format!("f{n}"), 0, &[("p", value)])]);
    }
    let value = |path: &String| partitions[path[1..].parse::<usize>().unwrap()];
    let found: Vec<Option<&str>> = paths(&table).iter().map(value).collect();
    assert_eq!(found, [None, None, Some("9"), Some("9"), Some("10"), Some("10")]);
}

#[test]
fn files_of_a_clustered_table_are_ordered_by_its_clustering_columns() {
    let ids = [5, 1, 4, 0, 3, 2];
    let table = |domains: &[Value]| {
        let mut table = TableBuilder::temp();
        let features = ["clustering", "domainMetadata"];
        let schema = actions::schema(&[("id", "long"), ("s", "string")]);
        table.commit(&[actions::protocol_features(&[], &features), actions::metadata(&schema, &[], &[])]);
        for (n, id) in ids.into_iter().enumerate() {
            table.commit(&[add(&format!("f{n}"), id, &[])]);
        }
        table.commit(domains);
        let id = |path: &String| ids[path[1..].parse::<usize>().unwrap()];
        paths(&table).iter().map(id).collect::<Vec<_>>()
    };
    let clustered = |column: &str| {
        let configuration = json!({"clusteringColumns": [[column]], "domainName": "delta.clustering"});
        actions::domain("delta.clustering", &configuration.to_string(), false)
    };
    let other = actions::domain("another", "{}", false);
    assert_eq!(table(&[other.clone(), clustered("id")]), [0, 1, 2, 3, 4, 5]);
    // without statistics of the column there is nothing to order by
    let unordered = table(std::slice::from_ref(&other));
    assert_eq!(table(&[clustered("s"), other]), unordered);
    assert_ne!(unordered, [0, 1, 2, 3, 4, 5]);
}
