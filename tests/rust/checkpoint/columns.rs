//! The columns of a checkpoint are those that the table asks for.

use std::fs::File;

use deltaic::checkpoint::checkpoint;
use deltaic::snapshot::At;
use deltaic_testkit::{TableBuilder, actions};
use parquet::file::reader::{FileReader, SerializedFileReader};
use serde_json::Value;

use super::{add, names};
use crate::load::open;

/// The paths of all leaves of a V1 checkpoint of a table with one file.
fn leaves(protocol: Value, partitions: &[&str], properties: &[(&str, &str)]) -> Vec<String> {
    let mut table = TableBuilder::temp();
    let schema = actions::schema(&[("id", "long"), ("p", "string"), ("t", "timestamp")]);
    table.commit(&[protocol, actions::metadata(&schema, partitions, properties), add(1)]);
    checkpoint(&open(&table, At::Latest).unwrap()).unwrap();
    let name = names(&table, "").into_iter().find(|n| n.ends_with(".checkpoint.parquet")).unwrap();
    let reader =
        SerializedFileReader::new(File::open(table.root().join("_delta_log").join(name)).unwrap()).unwrap();
    let columns = reader.metadata().file_metadata().schema_descr().columns();
    columns.iter().map(|c| c.path().string()).collect()
}

#[test]
fn bounds_may_be_wide_only_where_files_may_have_deletion_vectors() {
    let wide = |protocol| leaves(protocol, &["p"], &[]).contains(&"add.stats_parsed.tightBounds".to_owned());
    assert!(!wide(actions::protocol(1, 2)));
    assert!(!wide(actions::protocol_features(&["v2Checkpoint"], &["v2Checkpoint"])));
    assert!(wide(actions::protocol_features(&["deletionVectors"], &["deletionVectors"])));
}

#[test]
fn the_properties_choose_the_columns_of_statistics_and_partition_values() {
    let has = |partitions: &[&str], properties: &[(&str, &str)]| {
        let leaves = leaves(actions::protocol(1, 2), partitions, properties);
        let any = |start: &str| leaves.iter().any(|l| l.starts_with(start));
        ["add.stats", "add.stats_parsed.", "add.partitionValues_parsed."]
            .map(|start| if start == "add.stats" { leaves.iter().any(|l| l == start) } else { any(start) })
    };
    let (json, parsed) = ("delta.checkpoint.writeStatsAsJson", "delta.checkpoint.writeStatsAsStruct");
    assert_eq!(has(&["p"], &[]), [true, true, true]);
    assert_eq!(has(&[], &[]), [true, true, false]);
    assert_eq!(has(&["p"], &[(json, "false")]), [false, true, true]);
    assert_eq!(has(&["p"], &[(parsed, "false")]), [true, false, false]);
    // a partition column has its value, and no bounds
    let leaves = leaves(actions::protocol(1, 2), &["p"], &[]);
    let below = |of: &str| {
        let start = format!("add.{of}.");
        leaves.iter().filter_map(|l| l.strip_prefix(&start)).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(below("partitionValues_parsed"), ["p"]);
    assert_eq!(
        below("stats_parsed"),
        [
            "numRecords",
            "minValues.id",
            "minValues.t",
            "maxValues.id",
            "maxValues.t",
            "nullCount.id",
            "nullCount.t"
        ]
    );
}
