//! What a user of the crate does, from an empty folder on: each flow of the front page, end to end.

// a failed step of a test is a failed test
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)]

use std::sync::Arc;

use deltaic::arrow::array::{
    AsArray, Int64Array, RecordBatch, RecordBatchIterator, RecordBatchReader, StringArray,
};
use deltaic::arrow::datatypes::{DataType, Field, Int64Type, Schema, SchemaRef};
use deltaic::{
    Cancel, CompareOp, ConflictKind, Error, Literal, Predicate, Result, Scan, StorageOptions, Table,
    WriteMode,
};
use tempfile::TempDir;

fn schema() -> SchemaRef {
    Arc::new(Schema::new(vec![
        Field::new("id", DataType::Int64, true),
        Field::new("country", DataType::Utf8, true),
    ]))
}

fn orders<I: IntoIterator<Item = i64>>(ids: I, country: &str) -> impl RecordBatchReader + use<I> {
    let ids = Int64Array::from_iter_values(ids);
    let countries = StringArray::from(vec![country; ids.len()]);
    let batch = RecordBatch::try_new(schema(), vec![Arc::new(ids), Arc::new(countries)]).unwrap();
    RecordBatchIterator::new([Ok(batch)], schema())
}

/// The first column of a scan, in order.
fn ids(scan: Scan) -> Vec<i64> {
    let mut ids: Vec<i64> = Vec::new();
    for batch in scan.rows().unwrap() {
        ids.extend(batch.unwrap().column(0).as_primitive::<Int64Type>().values());
    }
    ids.sort_unstable();
    ids
}

/// A table by country with 1 and 2 of DE and 3 of FR, at version 2.
fn table() -> (TempDir, String, Table) {
    let dir = tempfile::tempdir().unwrap();
    let uri = dir.path().join("orders").to_str().unwrap().to_owned();
    let table = Table::create(&uri, (*schema()).clone()).partition_by(["country"]).execute().unwrap();
    table.append(orders([1, 2], "DE")).execute().unwrap();
    table.append(orders([3], "FR")).execute().unwrap();
    let table = Table::open(&uri).unwrap();
    (dir, uri, table)
}

#[test]
fn a_table_is_created_written_changed_and_maintained() {
    let (_dir, uri, mut table) = table();
    assert_eq!((table.version(), table.partition_columns()), (2, &["country".to_owned()][..]));
    assert_eq!(table.schema().field(0).name(), "id");
    assert_eq!(ids(table.scan()), [1, 2, 3]);

    assert_eq!(table.update_rows().set("id", "id + 100").filter("id = 3").execute().unwrap().updated_rows, 1);
    assert_eq!(table.delete_rows().filter("id = 1").execute().unwrap().deleted_rows, Some(1));
    assert_eq!(ids(table.scan()), [1, 2, 3], "the version that was opened does not change");
    assert!(table.update().unwrap());
    assert!(!table.update().unwrap());
    assert_eq!((table.version(), ids(table.scan())), (4, vec![2, 103]));

    table.append(orders([4], "DE")).user_metadata("a late one").execute().unwrap();
    let optimized = table.optimize().filter("country = 'DE'").execute().unwrap();
    assert_eq!((optimized.removed.len(), optimized.added.len()), (2, 1));
    table.update().unwrap();
    let history = table.history(None).unwrap();
    let operations: Vec<_> = history.iter().filter_map(|commit| commit.operation()).collect();
    assert_eq!(operations, ["OPTIMIZE", "WRITE", "DELETE", "UPDATE", "WRITE", "WRITE", "CREATE TABLE"]);
    assert_eq!(history[1].user_metadata(), Some("a late one"));
    assert!(table.verify().deep().execute().unwrap().ok());
    assert_eq!(table.checkpoint().unwrap().version, 6);
    assert!(table.vacuum().dry_run().execute().unwrap().files.is_empty());

    // time travel, by the path, the builder and a restore
    assert_eq!(ids(Table::open(&format!("{uri}@v2")).unwrap().scan()), [1, 2, 3]);
    let then = Table::builder(&uri).version(1).open().unwrap();
    assert_eq!(ids(then.scan()), [1, 2]);
    let at = then.snapshot().timestamp().unwrap();
    assert!(Table::builder(&uri).timestamp(at).open().unwrap().version() >= 1);
    assert_eq!(table.restore().to_version(2).execute().unwrap().restored_version, 2);
    table.update().unwrap();
    assert_eq!(ids(table.scan()), [1, 2, 3]);

    // a clone goes its own way
    let clone = format!("{uri}-clone");
    table.shallow_clone(&clone).execute().unwrap();
    let cloned = Table::open(&clone).unwrap();
    cloned.delete_rows().execute().unwrap();
    assert_eq!(ids(table.scan()), [1, 2, 3]);
    assert!(ids(Table::open(&clone).unwrap().scan()).is_empty());
}

#[test]
fn a_filter_gives_exactly_the_rows_that_match_and_skips_files() {
    let (_dir, _uri, table) = table();
    let files = |scan: Scan| -> usize { scan.files().unwrap().map(|batch| batch.unwrap().num_files()).sum() };
    for (condition, rows, opened) in [
        ("country = 'FR'", vec![3], 1),
        ("id > 1", vec![2, 3], 2),
        ("id > 2", vec![3], 1),
        ("id % 2 = 1", vec![1, 3], 2),
        ("ID % 2 = 1 AND Country LIKE 'D%'", vec![1], 1),
        ("id IS NULL", vec![], 0),
        ("NULL", vec![], 0),
        ("true", vec![1, 2, 3], 2),
    ] {
        assert_eq!(ids(table.scan().filter(condition)), rows, "{condition}");
        assert_eq!(files(table.scan().filter(condition)), opened, "{condition}");
    }
    let predicate =
        Predicate::Compare { op: CompareOp::Le, column: vec!["id".to_owned()], value: Literal::Long(2) };
    assert_eq!(ids(table.scan().filter(predicate)), [1, 2]);
    // columns that only the condition needs are not in the batches, and the order is as asked
    let only = table.scan().columns(["country"]).filter("id * 2 = 6").rows().unwrap();
    assert_eq!(only.schema().fields().len(), 1);
    let batches = only.collect::<Result<Vec<_>>>().unwrap();
    assert_eq!(batches.iter().map(RecordBatch::num_rows).sum::<usize>(), 1);
    assert_eq!(batches[0].column(0).as_string::<i32>().value(0), "FR");
    let swapped = table.scan().columns(["country", "id"]).filter("id = 3").rows().unwrap();
    assert_eq!(swapped.schema().field(1).name(), "id");
    // no column at all: batches that have rows only
    let none = table.scan().columns([""; 0]).filter("id < 3").rows().unwrap();
    assert_eq!(none.map(|batch| batch.unwrap().num_rows()).sum::<usize>(), 2);
    for wrong in ["nothing = 1", "id +", "id + 1"] {
        let refused = table.scan().filter(wrong).rows();
        assert!(matches!(refused, Err(ref e) if e.kind() == "InvalidExpression"), "{wrong}: {refused:?}");
    }
    assert!(matches!(table.scan().columns(["no"]).rows(), Err(Error::InvalidArgument { .. })));
}

#[test]
fn a_row_that_a_filter_cannot_be_computed_for_ends_the_rows_with_an_error() {
    let (_dir, _uri, table) = table();
    let rows = table.scan().filter("1 / (id - 2) > 0").rows().unwrap().collect::<Vec<_>>();
    assert!(matches!(rows.last(), Some(Err(Error::InvalidExpression { .. }))), "{rows:?}");
    assert_eq!(rows.iter().filter(|row| row.is_err()).count(), 1);
}

#[test]
fn row_ids_come_with_a_filter() {
    let dir = tempfile::tempdir().unwrap();
    let uri = dir.path().to_str().unwrap();
    Table::write(uri, orders(1..=5, "DE")).property("delta.enableRowTracking", "true").execute().unwrap();
    let table = Table::open(uri).unwrap();
    let rows = table.scan().columns(["country"]).with_row_ids().filter("id >= 4").rows().unwrap();
    let names: Vec<_> = rows.schema().fields().iter().map(|f| f.name().clone()).collect();
    assert_eq!(names, ["country", "_row_id", "_row_commit_version"]);
    let ids: Vec<i64> = rows
        .flat_map(|batch| batch.unwrap().column(1).as_primitive::<Int64Type>().values().to_vec())
        .collect();
    assert_eq!(ids, [3, 4]);
}

#[test]
fn rows_of_one_table_are_written_to_another() {
    let (_dir, uri, table) = table();
    let copy = format!("{uri}-copy");
    let rows = table.scan().filter("id < 3").rows().unwrap().into_reader();
    assert_eq!(Table::write(&copy, rows).execute().unwrap().rows, 2);
    let copy = Table::open(&copy).unwrap();
    assert_eq!(ids(copy.scan()), [1, 2]);
    let again = copy.overwrite(orders([2, 5], "DE")).replace_where("id >= 2").execute().unwrap();
    assert_eq!(again.rows, 2);
    let skipped = Table::write(&uri, orders([9], "DE")).mode(WriteMode::Ignore).execute().unwrap();
    assert!(skipped.skipped);
    let refused = Table::write(&uri, orders([9], "DE")).execute();
    assert!(matches!(refused, Err(Error::TableAlreadyExists { .. })));
    // a write that the table has recorded is not made again
    let once = || table.append(orders([7], "FR")).app_transaction("loader", 1).execute().unwrap();
    assert_eq!((once().skipped, once().skipped), (false, true));
}

#[test]
fn a_conflict_says_what_it_lost_to_and_leaves_the_table_alone() {
    let (_dir, _uri, mut table) = table();
    let adds: Vec<_> = table
        .scan()
        .filter("country = 'DE'")
        .files()
        .unwrap()
        .flat_map(|batch| batch.unwrap().adds().map(|add| add.unwrap()).collect::<Vec<_>>())
        .collect();
    assert_eq!((adds.len(), adds[0].deleted_rows()), (1, 0));
    assert_eq!(adds[0].partition_values().collect::<Vec<_>>(), [("country", Some("DE"))]);
    let begin = || {
        let mut transaction = table.begin("DELETE");
        transaction.read("country = 'DE'").unwrap();
        adds.iter().for_each(|add| transaction.remove(add));
        transaction
    };
    let (first, second, third) = (begin(), begin(), table.begin("WRITE"));
    assert_eq!(first.commit().unwrap().version, 3);
    let lost = second.commit().unwrap_err();
    assert_eq!(lost.kind(), "ConcurrentDeleteDelete");
    let conflict = lost.conflict().unwrap();
    assert_eq!((conflict.version, conflict.winner.as_deref()), (3, Some("DELETE")));
    assert!(!matches!(lost, Error::CommitStateUnknown { .. }));
    // one that read nothing follows
    assert_eq!(third.commit().unwrap().version, 4);
    table.update().unwrap();
    assert_eq!((table.version(), ids(table.scan())), (4, vec![3]));
    // the kinds can be named
    assert_ne!(ConflictKind::ConcurrentAppend, ConflictKind::ConcurrentDeleteRead);
}

#[test]
fn changes_and_alterations_are_seen() {
    let (_dir, _uri, mut table) = table();
    table.alter().set_properties([("delta.enableChangeDataFeed", "true")]).unwrap();
    table.alter().add_columns([Field::new("note", DataType::Utf8, true)]).unwrap();
    table.alter().set_comment(["note"], Some("free text")).unwrap();
    table.alter().add_constraint("positive", "id > 0").unwrap();
    let refused = table.append(orders([-1], "DE")).execute();
    assert!(matches!(refused, Err(Error::InvariantViolation { .. })));
    assert_eq!(table.alter().drop_constraint("positive").unwrap(), 7);
    table.delete_rows().filter("id = 2").execute().unwrap();
    table.update().unwrap();
    assert_eq!(table.schema().fields().len(), 3);
    assert_eq!(
        table.metadata().configuration().get("delta.enableChangeDataFeed").map(String::as_str),
        Some("true")
    );
    assert!(table.protocol().min_writer_version() >= 4);
    let changes = table.changes().from_version(3).columns(["id", "_change_type"]).rows().unwrap();
    let batches = changes.collect::<Result<Vec<_>>>().unwrap();
    let changed: Vec<_> = batches
        .iter()
        .flat_map(|b| {
            let (ids, kinds) = (b.column(0).as_primitive::<Int64Type>(), b.column(1).as_string::<i32>());
            (0..b.num_rows()).map(|row| (ids.value(row), kinds.value(row).to_owned())).collect::<Vec<_>>()
        })
        .collect();
    assert_eq!(changed, [(2, "delete".to_owned())]);
    let unrecorded = table.changes().rows().unwrap_err();
    assert!(matches!(unrecorded.plain(), Error::ChangesNotRecorded { version: 0, .. }), "{unrecorded:?}");
}

#[test]
fn a_folder_of_parquet_files_becomes_a_table() {
    let (_dir, uri, _table) = table();
    std::fs::remove_dir_all(format!("{uri}/_delta_log")).unwrap();
    let done = Table::convert(&uri).infer_partitions().execute().unwrap();
    assert_eq!((done.files, done.rows), (2, 3));
    let table = Table::open(&uri).unwrap();
    assert_eq!((ids(table.scan()), table.partition_columns()), (vec![1, 2, 3], &["country".to_owned()][..]));
    let file = table.scan().filter("country = 'FR'").files().unwrap().next().unwrap().unwrap();
    let path = file.adds().next().unwrap().unwrap().path().to_owned();
    std::fs::remove_file(format!("{uri}/{path}")).unwrap();
    assert_eq!(table.fsck().execute().unwrap().missing.len(), 1);
    assert_eq!(ids(Table::open(&uri).unwrap().scan()), [1, 2]);
}

#[test]
fn secrets_are_not_shown_and_contradictions_are_refused() {
    let options = StorageOptions::from_iter([("aws_secret_access_key", "PLANTED"), ("token", "PLANTED")]);
    let builder = Table::builder("s3://bucket/t").options(options.clone());
    for shown in [format!("{options:?}"), format!("{builder:?}")] {
        assert!(shown.contains("token") && !shown.contains("PLANTED"), "{shown}");
    }
    let (_dir, uri, _table) = table();
    let both = Table::builder(format!("{uri}@v1")).version(2).open();
    assert!(both.is_err_and(|error| matches!(error.plain(), Error::InvalidTimeTravel { .. })));
    let missing = Table::open(&format!("{uri}@v9")).unwrap_err();
    assert!(matches!(missing, Error::VersionNotFound { version: 9, latest: 2, .. }));
    assert!(matches!(Table::open(&format!("{uri}-nowhere")), Err(Error::TableNotFound { .. })));
    let table = Table::open(&uri).unwrap();
    assert!(matches!(table.restore().execute(), Err(Error::InvalidArgument { .. })));
}

#[test]
fn what_is_cancelled_leaves_the_table_as_it_was() {
    let (_dir, uri, table) = table();
    let cancel = Cancel::default();
    let stopped = Table::builder(&uri).cancelled_by(&cancel).open().unwrap();
    cancel.cancel();
    assert!(matches!(stopped.append(orders([8], "DE")).execute(), Err(Error::Interrupted)));
    assert_eq!(Table::open(&uri).unwrap().version(), table.version());
}
