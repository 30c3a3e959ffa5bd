//! The test kit's own tables are what they claim to be.

use std::collections::HashSet;
use std::fs::{self, File};
use std::path::Path;

use arrow::array::{Array, AsArray};
use arrow::datatypes::{Date32Type, Int64Type};
use arrow::record_batch::RecordBatch;
use deltaic_testkit::{CheckpointForm, CheckpointSpec, LogGen, TableBuilder, actions};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::json;

fn parquet(path: &Path) -> RecordBatch {
    let builder = ParquetRecordBatchReaderBuilder::try_new(File::open(path).unwrap()).unwrap();
    let schema = builder.schema().clone();
    let batches: Vec<RecordBatch> = builder.build().unwrap().map(Result::unwrap).collect();
    arrow::compute::concat_batches(&schema, &batches).unwrap()
}

fn table() -> TableBuilder {
    let mut table = TableBuilder::temp();
    table.create(
        &actions::schema(&[("id", "long"), ("day", "date"), ("flag", "boolean")]),
        &["day", "flag"],
        &[],
    );
    let stats =
        json!({"numRecords": 3, "minValues": {"id": 1}, "maxValues": {"id": 9}, "nullCount": {"id": 0}});
    let in_partition = actions::add_in("a", &[("day", Some("2026-01-02")), ("flag", Some("true"))]);
    table.commit(&[
        actions::with_stats(in_partition, &stats),
        actions::add_in("b", &[("day", None), ("flag", None)]),
    ]);
    table.commit(&[actions::remove("b"), actions::txn("app", 7)]);
    table
}

#[test]
fn a_checkpoint_holds_the_state_with_parsed_columns() {
    let table = table();
    let spec = CheckpointSpec { struct_stats: true, struct_partitions: true, ..CheckpointSpec::default() };
    table.checkpoint(2, &spec);
    let batch = parquet(&table.root().join("_delta_log/00000000000000000002.checkpoint.parquet"));
    assert_eq!(batch.num_rows(), 5, "protocol, metaData, txn, one add, one tombstone");
    let add = batch.column_by_name("add").unwrap().as_struct();
    let row = (0..5).find(|i| add.is_valid(*i)).unwrap();
    assert_eq!(add.column_by_name("path").unwrap().as_string::<i32>().value(row), "a");
    let parsed = add.column_by_name("partitionValues_parsed").unwrap().as_struct();
    assert_eq!(parsed.column_by_name("day").unwrap().as_primitive::<Date32Type>().value(row), 20_455);
    assert!(parsed.column_by_name("flag").unwrap().as_boolean().value(row));
    let most = add
        .column_by_name("stats_parsed")
        .unwrap()
        .as_struct()
        .column_by_name("maxValues")
        .unwrap()
        .as_struct();
    assert_eq!(most.column_by_name("id").unwrap().as_primitive::<Int64Type>().value(row), 9);
    let hint = fs::read_to_string(table.root().join("_delta_log/_last_checkpoint")).unwrap();
    assert_eq!(serde_json::from_str::<serde_json::Value>(&hint).unwrap(), json!({"version": 2, "size": 5}));
}

#[test]
fn every_form_holds_every_row_once() {
    for form in [
        CheckpointForm::MultiPart(3),
        CheckpointForm::V2Parquet(0),
        CheckpointForm::V2Parquet(2),
        CheckpointForm::V2Classic(2),
    ] {
        let table = table();
        table.checkpoint(2, &CheckpointSpec::of(form));
        let log = table.root().join("_delta_log");
        let folders = [log.clone(), log.join("_sidecars")];
        let mut files: Vec<_> = folders
            .iter()
            .filter_map(|d| fs::read_dir(d).ok())
            .flatten()
            .map(|e| e.unwrap().path())
            .collect();
        files.retain(|p| p.extension().is_some_and(|e| e == "parquet"));
        let count = |kind: &str| -> usize {
            let batches = files.iter().map(|p| parquet(p));
            batches.map(|b| b.column_by_name(kind).map_or(0, |c| c.len() - c.null_count())).sum()
        };
        let counts = ["protocol", "metaData", "txn", "add", "remove"].map(count);
        assert_eq!(counts, [1, 1, 1, 1, 1], "{form:?}");
    }
}

#[test]
fn commit_times_are_one_second_apart() {
    let table = table();
    let modified = |version: u64| {
        let path = table.root().join(format!("_delta_log/{version:020}.json"));
        path.metadata().unwrap().modified().unwrap()
    };
    assert_eq!(modified(1).duration_since(modified(0)).unwrap().as_millis(), 1000);
    assert_eq!(modified(2).duration_since(modified(1)).unwrap().as_millis(), 1000);
}

#[test]
fn a_generated_log_has_the_files_that_it_reports() {
    let dir = tempfile::tempdir().unwrap();
    let log = LogGen { files: 25_000, commits: 3, adds: 4, removes: 1, ..LogGen::default() };
    assert_eq!(log.write(dir.path()), (3, 25_009));
    let batch = parquet(&dir.path().join("_delta_log/00000000000000000000.checkpoint.parquet"));
    let add = batch.column_by_name("add").unwrap();
    assert_eq!(add.len() - add.null_count(), 25_000);
    let last = fs::read_to_string(dir.path().join("_delta_log/00000000000000000003.json")).unwrap();
    assert_eq!(last.lines().count(), 1 + 1 + 4);
}

/// Of files with wide statistics, days are partitions, and statistics may be columns, timestamps among them.
#[test]
fn a_generated_log_may_have_columns_of_statistics() {
    let dir = tempfile::tempdir().unwrap();
    let (checkpoint, defaults) = (CheckpointSpec::default(), LogGen::default());
    let checkpoint =
        CheckpointSpec { json_stats: false, struct_stats: true, struct_partitions: true, ..checkpoint };
    LogGen { files: 5_000, wide: true, days: 2_500, checkpoint, ..defaults }.write(dir.path());
    let batch = parquet(&dir.path().join("_delta_log/00000000000000000000.checkpoint.parquet"));
    let add = batch.column_by_name("add").unwrap().as_struct();
    let values = add.column_by_name("partitionValues_parsed").unwrap().as_struct();
    let days: HashSet<_> = values.column(0).as_primitive::<Date32Type>().iter().flatten().collect();
    assert_eq!(days.len(), 2_500);
    let stats = add.column_by_name("stats_parsed").unwrap().as_struct();
    let least = stats.column_by_name("minValues").unwrap().as_struct();
    assert_eq!(least.column_by_name("ts").unwrap().null_count(), 2);
}
