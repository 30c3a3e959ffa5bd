//! The columns of a checkpoint are those that the table asks for.

use std::fs::File;

use arrow::array::{Array, AsArray};
use arrow::datatypes::{Int32Type, Int64Type};
use deltaic_core::checkpoint::checkpoint;
use deltaic_core::snapshot::At;
use deltaic_testkit::{CheckpointForm, CheckpointSpec, TableBuilder, actions};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::file::reader::{FileReader, SerializedFileReader};
use serde_json::{Value, json};

use super::{V1, V2, add, create, names, path, remove};
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

/// The rows of all files of the newest checkpoint that have an action.
fn rows(table: &TableBuilder, action: &str) -> usize {
    let mut files = names(table, "");
    files.retain(|n| n.contains(".checkpoint."));
    let newest = files.pop().unwrap();
    let all =
        [newest].into_iter().chain(names(table, "_sidecars").into_iter().map(|n| format!("_sidecars/{n}")));
    let count = |name: String| {
        let file = File::open(table.root().join("_delta_log").join(name)).unwrap();
        let batches = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap();
        batches.map(|b| b.unwrap()).map(|b| b[action].len() - b[action].logical_null_count()).sum::<usize>()
    };
    all.map(count).sum()
}

#[test]
fn each_partition_column_has_its_own_value() {
    let mut table = TableBuilder::temp();
    table.create(&actions::schema(&[("id", "long"), ("p", "string"), ("q", "integer")]), &["p", "q"], &[]);
    table.commit(&[
        actions::add_in("a", &[("p", Some("7")), ("q", Some("8"))]),
        actions::add_in("b", &[("p", None), ("q", Some("9"))]),
    ]);
    checkpoint(&open(&table, At::Latest).unwrap()).unwrap();
    let name = names(&table, "").into_iter().find(|n| n.ends_with(".checkpoint.parquet")).unwrap();
    let file = File::open(table.root().join("_delta_log").join(name)).unwrap();
    let mut found = Vec::new();
    for batch in ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap().map(Result::unwrap)
    {
        let add = batch["add"].as_struct();
        let values = add.column_by_name("partitionValues_parsed").unwrap().as_struct();
        let (p, q) = (values.column(0).as_string::<i32>(), values.column(1).as_primitive::<Int32Type>());
        let rows = (0..batch.num_rows()).filter(|r| add.is_valid(*r));
        found.extend(rows.map(|r| (p.is_valid(r).then(|| p.value(r).to_owned()), q.value(r))));
    }
    found.sort();
    assert_eq!(found, [(None, 9), (Some("7".into()), 8)]);
}

#[test]
fn a_file_that_came_back_has_no_tombstone() {
    let mut table = create(&[]);
    table.commit(&[add(1), add(2)]);
    table.commit(&[remove(1), remove(2)]);
    table.commit(&[add(1)]);
    checkpoint(&open(&table, At::Latest).unwrap()).unwrap();
    assert_eq!((rows(&table, "add"), rows(&table, "remove")), (1, 1));
}

#[test]
fn tombstones_of_the_checkpoint_before_go_when_they_have_expired() {
    let write = |table: &TableBuilder| checkpoint(&open(table, At::Latest).unwrap()).unwrap();
    let schema = actions::schema(&[("id", "long"), ("p", "string"), ("t", "timestamp")]);
    for properties in [&[][..], V2] {
        let mut table = create(properties);
        table.commit(&(0..10).map(add).collect::<Vec<_>>());
        let old = actions::with(actions::remove(&path(3)), "deletionTimestamp", super::now() - 86_400_000);
        table.commit(&[old]);
        write(&table);
        assert_eq!((rows(&table, "add"), rows(&table, "remove")), (9, 1));
        let short = ("delta.deletedFileRetentionDuration", "interval 1 hour");
        let properties: Vec<_> = properties.iter().copied().chain([short]).collect();
        table.commit(&[actions::metadata(&schema, &["p"], &properties)]);
        let done = write(&table);
        match properties.len() {
            1 => {
                table.remove_log_file("00000000000000000002.checkpoint.parquet");
                assert_eq!((rows(&table, "add"), rows(&table, "remove")), (9, 0));
            }
            // the sidecar of the tombstone is neither linked nor written again
            _ => assert_eq!((done.sidecars_reused, done.sidecars_written), (1, 0)),
        }
    }
}

#[test]
fn the_reported_sizes_are_those_of_the_files() {
    let mut table = create(V2);
    table.commit(&(0..10).map(add).collect::<Vec<_>>());
    let size = |table: &TableBuilder| {
        let below = |folder: &str, name: &String| table.root().join("_delta_log").join(folder).join(name);
        let top = names(table, "").into_iter().filter(|n| n.contains(".checkpoint.")).map(|n| below("", &n));
        let all = top.chain(names(table, "_sidecars").into_iter().map(|n| below("_sidecars", &n)));
        all.map(|p| p.metadata().unwrap().len()).sum::<u64>()
    };
    let done = checkpoint(&open(&table, At::Latest).unwrap()).unwrap();
    assert_eq!((done.size, done.written), (size(&table), size(&table)));
}

#[test]
fn the_hint_of_a_checkpoint_that_is_there_already_tells_its_parts() {
    for (form, parts) in [(CheckpointForm::Single, Value::Null), (CheckpointForm::MultiPart(2), json!(2))] {
        let mut table = create(&[]);
        table.commit(&(0..10).map(add).collect::<Vec<_>>());
        table.checkpoint(1, &CheckpointSpec::of(form));
        // as if its writer had died before it
        table.remove_log_file("_last_checkpoint");
        let done = checkpoint(&open(&table, At::Latest).unwrap()).unwrap();
        assert!(done.existed);
        let hint = std::fs::read(table.root().join("_delta_log/_last_checkpoint")).unwrap();
        let hint: Value = serde_json::from_slice(&hint).unwrap();
        assert_eq!((&hint["version"], &hint["parts"]), (&json!(1), &parts), "{form:?}");
    }
}

#[test]
fn a_v2_checkpoint_says_its_version_and_what_its_sidecars_hold() {
    let mut table = create(V2);
    table.commit(&[add(1), add(2)]);
    checkpoint(&open(&table, At::Latest).unwrap()).unwrap();
    let name = names(&table, "").into_iter().find(|n| n.contains(".checkpoint.")).unwrap();
    let file = File::open(table.root().join("_delta_log").join(name)).unwrap();
    let mut found = Vec::new();
    for batch in ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap() {
        let batch = batch.unwrap();
        let head = batch.column_by_name("checkpointMetadata").unwrap().as_struct();
        let version = head.column_by_name("version").unwrap().as_primitive::<Int64Type>();
        let tags = head.column_by_name("tags").unwrap().as_map();
        for row in (0..batch.num_rows()).filter(|row| head.is_valid(*row)) {
            let entries = tags.value(row);
            let (keys, values) = (entries.column(0).as_string::<i32>(), entries.column(1).as_string::<i32>());
            let tag = |name: &str| values.value(keys.iter().position(|k| k == Some(name)).unwrap());
            found.push((
                version.value(row),
                tag("numOfAddFiles").to_owned(),
                tag("sidecarSizeInBytes").to_owned(),
            ));
        }
    }
    let size = |name: String| table.root().join("_delta_log/_sidecars").join(name).metadata().unwrap().len();
    let bytes: u64 = names(&table, "_sidecars").into_iter().map(size).sum();
    assert_eq!(found, [(1, "2".to_owned(), bytes.to_string())]);
}

#[test]
fn parsed_statistics_of_other_types_than_the_table_are_not_cast_into_a_new_checkpoint() {
    let mut table = TableBuilder::temp();
    table.create(&actions::schema(&[("id", "long")]), &[], &[]);
    let stats =
        json!({"numRecords": 2, "minValues": {"id": 5}, "maxValues": {"id": 10}, "nullCount": {"id": 0}});
    table.commit(&[actions::with_stats(actions::add("a"), &stats)]);
    let parsed = CheckpointSpec { struct_stats: true, json_stats: false, ..CheckpointSpec::default() };
    table.checkpoint(1, &parsed);
    // as texts, "5" is more than "10": the bounds would rule the file out for its own values
    table.commit(&[actions::metadata(&actions::schema(&[("id", "string")]), &[], &[])]);
    checkpoint(&open(&table, At::Latest).unwrap()).unwrap();
    let name = "_delta_log/00000000000000000002.checkpoint.parquet";
    let reader =
        ParquetRecordBatchReaderBuilder::try_new(File::open(table.root().join(name)).unwrap()).unwrap();
    let mut found = Vec::new();
    for batch in reader.build().unwrap() {
        let add = batch.unwrap().column_by_name("add").unwrap().as_struct().clone();
        let stats = add.column_by_name("stats_parsed").unwrap().as_struct();
        let records = stats.column_by_name("numRecords").unwrap().as_primitive::<Int64Type>();
        let bound = |kind: &str, row: usize| {
            let ids = stats.column_by_name(kind).unwrap().as_struct().column_by_name("id").unwrap().clone();
            let ids = ids.as_string::<i32>();
            ids.is_valid(row).then(|| ids.value(row).to_owned())
        };
        for row in (0..add.len()).filter(|row| add.is_valid(*row)) {
            found.push((records.value(row), bound("minValues", row), bound("maxValues", row)));
        }
    }
    assert_eq!(found, [(2, None, None)]);
}

#[test]
fn columns_are_written_by_what_is_looked_for_in_them() {
    let mut table = create(V1);
    table.commit(&[add(1), add(2), add(3)]);
    checkpoint(&open(&table, At::Latest).unwrap()).unwrap();
    let name = names(&table, "").into_iter().find(|n| n.ends_with(".checkpoint.parquet")).unwrap();
    let reader =
        SerializedFileReader::new(File::open(table.root().join("_delta_log").join(name)).unwrap()).unwrap();
    let columns = reader.metadata().row_group(0).columns();
    let column = |path: &str| columns.iter().find(|c| c.column_path().string() == path).unwrap();
    // bounds of pages only where pages are skipped by them
    for parsed in ["stats_parsed.minValues.id", "stats_parsed.nullCount.id", "partitionValues_parsed.p"] {
        assert!(column(&format!("add.{parsed}")).column_index_offset().is_some(), "{parsed}");
    }
    assert!(column("add.size").column_index_offset().is_none());
    // texts that are all different have no dictionary, and the long ones no bounds
    for text in ["add.path", "add.stats", "add.stats_parsed.minValues.id"] {
        assert!(column(text).dictionary_page_offset().is_none(), "{text}");
    }
    assert!(column("add.stats").statistics().is_none());
    assert!(column("add.path").statistics().is_some());
}
