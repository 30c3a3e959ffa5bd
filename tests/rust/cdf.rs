//! The change data feed: rows, kinds, versions and times of what commits did, and the ranges that are refused.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Int64Array, RecordBatch, StringArray};
use arrow::datatypes::{Int64Type, TimestampMicrosecondType};
use deltaic_core::cdf::{CdfBound, CdfRequest, ChangeDataFeed};
use deltaic_core::deletion_vector::DeletionVector;
use deltaic_core::predicate::{CompareOp, Literal, Predicate};
use deltaic_core::scan::{ReadRequest, RowFilter};
use deltaic_core::snapshot::{At, Snapshot};
use deltaic_core::store::{Location, StorageOptions};
use deltaic_core::{Error, Result};
use deltaic_testkit::{TableBuilder, actions};
use serde_json::{Value, json};

const FEED: (&str, &str) = ("delta.enableChangeDataFeed", "true");

fn open(table: &TableBuilder) -> Snapshot {
    Snapshot::open(Location::open(&table.uri(), &StorageOptions::new()).unwrap(), At::Latest).unwrap()
}

fn ids(values: impl IntoIterator<Item = i64>) -> RecordBatch {
    let column: ArrayRef = Arc::new(Int64Array::from_iter_values(values));
    RecordBatch::try_from_iter_with_nullable([("id", column, true)]).unwrap()
}

/// A batch of changes as a writer has them in a `cdc` file.
fn cdc_rows(rows: &[(i64, &str)]) -> RecordBatch {
    let id: ArrayRef = Arc::new(Int64Array::from_iter_values(rows.iter().map(|r| r.0)));
    let change: ArrayRef = Arc::new(StringArray::from_iter_values(rows.iter().map(|r| r.1)));
    RecordBatch::try_from_iter_with_nullable([("id", id, true), ("_change_type", change, true)]).unwrap()
}

fn cdc(table: &TableBuilder, path: &str, batch: &RecordBatch) -> Value {
    let add = table.data_file(path, batch, &[]);
    json!({"cdc": {"path": add["add"]["path"], "partitionValues": {}, "size": add["add"]["size"], "dataChange": false}})
}

/// The `remove` of a file that was added.
fn removed(add: &Value) -> Value {
    let mut body = add["add"].clone();
    let fields = body.as_object_mut().unwrap();
    fields.remove("stats");
    fields.remove("modificationTime");
    fields.insert("deletionTimestamp".into(), 1_767_225_600_000_i64.into());
    json!({ "remove": body })
}

fn without(add: &Value, rows: &[u64]) -> Value {
    let vector: DeletionVector = rows.iter().copied().collect();
    actions::with(add.clone(), "deletionVector", serde_json::to_value(vector.to_inline()).unwrap())
}

/// A table of `id` with the feed on and the features of deletion vectors and column mapping.
fn table(configuration: &[(&str, &str)]) -> TableBuilder {
    let mut table = TableBuilder::temp();
    let reads = ["deletionVectors", "columnMapping"];
    let writes = ["deletionVectors", "columnMapping", "changeDataFeed", "inCommitTimestamp"];
    let configuration: Vec<_> = configuration.iter().copied().chain([FEED]).collect();
    table.commit(&[
        actions::protocol_features(&reads, &writes),
        actions::metadata(&actions::schema(&[("id", "long")]), &[], &configuration),
    ]);
    table
}

fn plan(table: &TableBuilder, start: u64, end: Option<u64>) -> Result<ChangeDataFeed> {
    ChangeDataFeed::plan(&open(table), &CdfRequest::versions(start, end))
}

/// `id change version` of each row, in the order of the stream.
fn lines(changes: &ChangeDataFeed, request: ReadRequest) -> Vec<String> {
    let mut lines = Vec::new();
    for batch in changes.read(request).unwrap() {
        let batch = batch.unwrap();
        let id = batch.column_by_name("id").unwrap().as_primitive::<Int64Type>();
        let change = batch.column_by_name("_change_type").unwrap().as_string::<i32>();
        let version = batch.column_by_name("_commit_version").unwrap().as_primitive::<Int64Type>();
        assert_eq!(change.null_count() + version.null_count(), 0);
        for row in 0..batch.num_rows() {
            lines.push(format!("{} {} {}", id.value(row), change.value(row), version.value(row)));
        }
    }
    lines
}

fn all(table: &TableBuilder, start: u64, end: Option<u64>) -> Vec<String> {
    lines(&plan(table, start, end).unwrap(), ReadRequest::default())
}

#[test]
fn adds_are_inserts_and_removes_are_deletes_unless_there_are_cdc_files() {
    let mut table = table(&[]);
    let a = table.data_file("a.parquet", &ids(0..3), &[]);
    let b = table.data_file("b.parquet", &ids(10..12), &[]);
    table.commit(std::slice::from_ref(&a));
    table.commit(&[removed(&a), b.clone()]);
    // a compaction changes no row
    let c = actions::with(table.data_file("c.parquet", &ids(10..12), &[]), "dataChange", false);
    table.commit(&[actions::with(removed(&b), "dataChange", false), c.clone()]);
    let d = table.data_file("d.parquet", &ids([11, 12]), &[]);
    let changes = [(10, "delete"), (12, "insert"), (11, "update_preimage"), (11, "update_postimage")];
    table.commit(&[removed(&c), d, cdc(&table, "_change_data/x.parquet", &cdc_rows(&changes))]);
    assert_eq!(
        all(&table, 0, None),
        [
            "0 insert 1",
            "1 insert 1",
            "2 insert 1",
            "0 delete 2",
            "1 delete 2",
            "2 delete 2",
            "10 insert 2",
            "11 insert 2",
            "10 delete 4",
            "12 insert 4",
            "11 update_preimage 4",
            "11 update_postimage 4",
        ]
    );
    assert_eq!(all(&table, 3, Some(3)), [""; 0]);
    assert_eq!(all(&table, 1, Some(1)).len(), 3);
}

#[test]
fn of_a_file_that_stays_only_the_rows_of_the_vectors_difference_changed() {
    let mut table = table(&[]);
    let a = table.data_file("a.parquet", &ids(0..6), &[]);
    table.commit(std::slice::from_ref(&a));
    let steps: [&[u64]; 4] = [&[1, 4], &[1, 2, 4], &[2, 5], &[]];
    let mut before = a.clone();
    for rows in steps {
        let after = if rows.is_empty() { a.clone() } else { without(&a, rows) };
        table.commit(&[removed(&before), after.clone()]);
        before = after;
    }
    // the same file again: no row changed
    table.commit(&[before.clone(), removed(&before)]);
    assert_eq!(
        all(&table, 2, None),
        [
            "1 delete 2",
            "4 delete 2",
            "2 delete 3",
            "5 delete 4",
            "1 insert 4",
            "4 insert 4",
            "2 insert 5",
            "5 insert 5",
        ]
    );
    // a file that goes takes its live rows along, and one that comes with a vector brings its live rows
    table.commit(&[
        removed(&without(&a, &[0, 1, 2, 3])),
        without(&table.data_file("b.parquet", &ids(7..10), &[]), &[1]),
    ]);
    assert_eq!(all(&table, 7, None), ["4 delete 7", "5 delete 7", "7 insert 7", "9 insert 7"]);
}

#[test]
fn a_vector_with_rows_behind_the_end_of_its_file_is_an_error() {
    let mut table = table(&[]);
    let a = table.data_file("a.parquet", &ids(0..3), &[]);
    table.commit(std::slice::from_ref(&a));
    table.commit(&[removed(&a), without(&a, &[1, 7])]);
    let changes = plan(&table, 2, None).unwrap();
    let error = changes.read(ReadRequest::default()).unwrap().find_map(std::result::Result::err).unwrap();
    assert_eq!(error.kind(), "DeletionVector", "{error}");
}

#[test]
fn columns_and_predicates_may_name_what_happened() {
    let mut table = TableBuilder::temp();
    let schema = actions::schema(&[("id", "long"), ("p", "string")]);
    table.create(&schema, &["p"], &[FEED]);
    let x = table.data_file("x.parquet", &ids(0..2), &[("p", Some("x"))]);
    let null = table.data_file("n.parquet", &ids(5..6), &[("p", None)]);
    table.commit(&[x.clone(), null]);
    table.commit(&[removed(&x)]);
    let changes = plan(&table, 0, None).unwrap();
    let compare = |op, column: &str, value| Predicate::Compare { op, column: vec![column.into()], value };
    let wanted =
        |predicate: Predicate| ReadRequest { filter: Some(predicate.into()), ..ReadRequest::default() };
    let deleted = compare(CompareOp::Eq, "_change_type", Literal::String("delete".into()));
    assert_eq!(lines(&changes, wanted(deleted)), ["0 delete 2", "1 delete 2"]);
    let of_x = compare(CompareOp::Eq, "p", Literal::String("x".into()));
    let first = compare(CompareOp::Lt, "_commit_version", Literal::Long(2));
    assert_eq!(lines(&changes, wanted(Predicate::And(vec![of_x, first]))), ["0 insert 1", "1 insert 1"]);
    let condition = "upper(_change_type) = 'DELETE' AND (id + _commit_version) % 2 = 1";
    let filter = Some(RowFilter::Condition(condition.into()));
    assert_eq!(lines(&changes, ReadRequest { filter, ..ReadRequest::default() }), ["1 delete 2"]);
    let columns = Some(vec!["_commit_version".into(), "p".into()]);
    let batch =
        changes.read(ReadRequest { columns, ..ReadRequest::default() }).unwrap().next().unwrap().unwrap();
    let names: Vec<_> = batch.schema().fields().iter().map(|f| f.name().clone()).collect();
    assert_eq!(names, ["_commit_version", "p"]);
    assert_eq!(batch.column(1).as_string::<i32>().value(0), "x");
    // a writer that did not say where the rows were
    table.commit(&[actions::remove("n.parquet")]);
    let changes = plan(&table, 3, None).unwrap();
    let error = changes.read(ReadRequest::default()).unwrap().next().unwrap().unwrap_err();
    assert!(error.to_string().contains("no partitionValues"), "{error}");
}

#[test]
fn a_remove_that_says_nothing_but_its_path_is_read() {
    let mut table = table(&[]);
    let a = table.data_file("a.parquet", &ids(0..2), &[]);
    table.commit(&[a]);
    table.commit(&[actions::remove("a.parquet")]);
    assert_eq!(all(&table, 2, None), ["0 delete 2", "1 delete 2"]);
    std::fs::remove_file(table.root().join("a.parquet")).unwrap();
    let changes = plan(&table, 2, None).unwrap();
    let error = changes.read(ReadRequest::default()).unwrap().next().unwrap().unwrap_err();
    assert!(error.to_string().contains("VACUUM"), "{error}");
}

#[test]
fn times_are_those_of_the_history() {
    let mut table = table(&[]);
    for i in 0..3 {
        let add = table.data_file(&format!("{i}.parquet"), &ids(i..=i), &[]);
        table.commit(&[actions::commit_info(0, "WRITE"), add]);
    }
    let metadata = |more: &[(&str, &str)]| {
        let all: Vec<_> = more.iter().copied().chain([FEED]).collect();
        actions::metadata(&actions::schema(&[("id", "long")]), &[], &all)
    };
    let since = [
        ("delta.enableInCommitTimestamps", "true"),
        ("delta.inCommitTimestampEnablementVersion", "4"),
        ("delta.inCommitTimestampEnablementTimestamp", "1900000000000"),
    ];
    let info =
        |time: i64| json!({"commitInfo": {"inCommitTimestamp": time, "timestamp": 0, "operation": "WRITE"}});
    table.commit(&[info(1_900_000_000_000), metadata(&since), table.data_file("4.parquet", &ids(4..5), &[])]);
    table.commit(&[info(1_900_000_000_123), table.data_file("5.parquet", &ids(5..6), &[])]);
    let mut times = Vec::new();
    for batch in plan(&table, 1, None).unwrap().read(ReadRequest::default()).unwrap() {
        let batch = batch.unwrap();
        let column = batch.column_by_name("_commit_timestamp").unwrap();
        times.extend(column.as_primitive::<TimestampMicrosecondType>().values().iter().map(|t| t / 1000));
    }
    let mut history: Vec<i64> = open(&table).history(None).unwrap().iter().map(|c| c.timestamp).collect();
    history.reverse();
    assert_eq!(times, history[1..]);
    assert_eq!(times[4], 1_900_000_000_123);

    let of = |start, end, allow| {
        let request = CdfRequest {
            start: CdfBound::Timestamp(start),
            end: Some(CdfBound::Timestamp(end)),
            allow_out_of_range: allow,
        };
        ChangeDataFeed::plan(&open(&table), &request).map(|plan| plan.versions())
    };
    assert_eq!(of(history[1], history[3], false).unwrap(), Some((1, 3)));
    assert_eq!(of(history[1] + 1, history[4] - 1, false).unwrap(), Some((2, 3)));
    // before the first commit is the first commit; between two commits is nothing
    assert_eq!(of(0, history[2], false).unwrap(), Some((0, 2)));
    assert_eq!(of(history[2] + 1, history[3] - 1, false).unwrap(), None);
    assert_eq!(of(history[3], history[2], false).unwrap_err().kind(), "InvalidTimeTravel");
    let later = history[5] + 1;
    assert_eq!(of(later, later, false).unwrap_err().kind(), "TimestampOutOfRange");
    assert_eq!(of(history[5], later, false).unwrap_err().kind(), "TimestampOutOfRange");
    assert_eq!(of(later, later, true).unwrap(), None);
    assert_eq!(of(history[5], later, true).unwrap(), Some((5, 5)));
    assert_eq!(of(0, 1, true).unwrap_err().kind(), "TimestampOutOfRange");
}

#[test]
fn ranges_that_are_not_there_are_refused() {
    let mut table = table(&[]);
    for i in 0..4 {
        let add = table.data_file(&format!("{i}.parquet"), &ids(i..=i), &[]);
        table.commit(&[add]);
    }
    let error = plan(&table, 5, None).unwrap_err();
    assert!(
        matches!(error.plain(), Error::VersionNotFound { version: 5, earliest: 0, latest: 4, .. }),
        "{error}"
    );
    let lenient = CdfRequest { allow_out_of_range: true, ..CdfRequest::versions(5, None) };
    let nothing = ChangeDataFeed::plan(&open(&table), &lenient).unwrap();
    assert_eq!(nothing.versions(), None);
    let rows = nothing.read(ReadRequest::default()).unwrap();
    assert_eq!((rows.schema().fields().len(), rows.count()), (4, 0));
    let error = plan(&table, 3, Some(2)).unwrap_err();
    assert!(error.to_string().contains("begin at version 3 and end before that, at version 2"), "{error}");
    // an end that is not there yet is the newest version
    assert_eq!(plan(&table, 3, Some(9)).unwrap().versions(), Some((3, 4)));

    table.checkpoint(2, &deltaic_testkit::CheckpointSpec::of(deltaic_testkit::CheckpointForm::Single));
    table.remove_log_file("00000000000000000000.json");
    table.remove_log_file("00000000000000000001.json");
    let error = plan(&table, 1, None).unwrap_err();
    assert!(matches!(error.plain(), Error::VersionNotFound { version: 1, .. }), "{error}");
    assert_eq!(all(&table, 2, None).len(), 3);
    // the version can be rebuilt, but what it changed is gone
    table.remove_log_file("00000000000000000002.json");
    let error = plan(&table, 2, None).unwrap_err();
    assert!(matches!(error, Error::LogGap { version: 2, .. }), "{error}");
}

#[test]
fn versions_without_the_feed_are_refused() {
    let schema = actions::schema(&[("id", "long")]);
    let mut table = TableBuilder::temp();
    table.create(&schema, &[], &[]);
    table.commit(&[actions::metadata(&schema, &[], &[FEED]), table.data_file("a.parquet", &ids(0..1), &[])]);
    table.commit(&[table.data_file("b.parquet", &ids(1..2), &[])]);
    table.commit(&[actions::metadata(&schema, &[], &[])]);
    table.commit(&[actions::metadata(&schema, &[], &[FEED])]);
    let off = |start, end| match plan(&table, start, end).unwrap_err().plain() {
        Error::ChangesNotRecorded { version, .. } => *version,
        other => panic!("{other}"),
    };
    assert_eq!((off(0, None), off(1, None), off(3, Some(3))), (0, 3, 3));
    assert_eq!(all(&table, 1, Some(2)), ["0 insert 1", "1 insert 2"]);
    assert_eq!(all(&table, 4, None), [""; 0]);
}

#[test]
fn a_merge_that_changed_nothing_has_no_changes() {
    let mut table = table(&[]);
    let a = table.data_file("a.parquet", &ids(0..2), &[]);
    table.commit(std::slice::from_ref(&a));
    let mut info = actions::commit_info(0, "MERGE");
    let none = |name: &str| (name.to_owned(), json!("0"));
    let metrics = ["numTargetRowsInserted", "numTargetRowsUpdated", "numTargetRowsDeleted"].map(none);
    info["commitInfo"]["operationMetrics"] = Value::Object(metrics.into_iter().collect());
    table.commit(&[info, removed(&a), table.data_file("b.parquet", &ids(0..2), &[])]);
    assert_eq!(all(&table, 2, None), [""; 0]);
}

/// `metaData` of one column that is `physical` in the files, of id 1.
fn mapped(name: &str, physical: &str, mode: &str) -> Value {
    let mut schema = actions::schema(&[(name, "long")]);
    schema["fields"][0]["metadata"] =
        json!({"delta.columnMapping.id": 1, "delta.columnMapping.physicalName": physical});
    actions::metadata(&schema, &[], &[FEED, ("delta.columnMapping.mode", mode)])
}

#[test]
fn a_rename_ends_a_range_and_the_schema_is_that_of_its_last_version() {
    let mut table = table(&[]);
    table.commit(&[table.data_file("a.parquet", &ids(0..1), &[])]);
    // the mapping begins with the names that are there
    table.commit(&[mapped("id", "id", "name")]);
    table.commit(&[table.data_file("b.parquet", &ids(1..2), &[])]);
    table.commit(&[mapped("key", "id", "name")]);
    table.commit(&[table.data_file("c.parquet", &ids(2..3), &[])]);
    assert_eq!(all(&table, 0, Some(3)), ["0 insert 1", "1 insert 3"]);
    let across = plan(&table, 1, None).unwrap_err();
    assert!(
        matches!(across.plain(), Error::ChangesSchemaMismatch { version: 2, read_version: 5, start: 1, end: 5, reason, .. }
            if reason == "column `id` was renamed to `key`"),
        "{across}"
    );
    let after = plan(&table, 4, None).unwrap();
    let batch = after.read(ReadRequest::default()).unwrap().next().unwrap().unwrap();
    assert_eq!((batch.schema().field(0).name().as_str(), batch.num_rows()), ("key", 1));
}

#[test]
fn cdc_files_of_a_table_that_maps_by_id_say_what_happened_by_name() {
    let mut table = table(&[]);
    table.commit(&[mapped("id", "col-1", "id")]);
    let with_id = |batch: &RecordBatch| {
        let mut fields: Vec<_> = batch.schema().fields().iter().map(|f| f.as_ref().clone()).collect();
        let id = vec![("PARQUET:field_id".to_owned(), "1".to_owned())];
        fields[0] =
            fields[0].clone().with_name("col-1").with_metadata(id.into_iter().collect::<HashMap<_, _>>());
        let schema = Arc::new(arrow::datatypes::Schema::new(fields));
        RecordBatch::try_new(schema, batch.columns().to_vec()).unwrap()
    };
    let changes = [(1, "insert"), (2, "delete")];
    table.commit(&[cdc(&table, "_change_data/x.parquet", &with_id(&cdc_rows(&changes)))]);
    table.commit(&[table.data_file("d.parquet", &with_id(&ids(3..4)), &[])]);
    assert_eq!(all(&table, 2, None), ["1 insert 2", "2 delete 2", "3 insert 3"]);
}

#[test]
fn data_files_may_have_a_column_that_looks_like_a_change() {
    let mut table = table(&[]);
    table.commit(&[table.data_file("a.parquet", &cdc_rows(&[(1, "delete")]), &[])]);
    assert_eq!(all(&table, 1, None), ["1 insert 1"]);
}

#[test]
fn splits_give_the_same_rows_without_the_log() {
    let mut table = table(&[]);
    let a = table.data_file("a.parquet", &ids(0..4), &[]);
    table.commit(std::slice::from_ref(&a));
    table.commit(&[removed(&a), without(&a, &[1])]);
    table.commit(&[cdc(&table, "_change_data/x.parquet", &cdc_rows(&[(9, "update_postimage")]))]);
    table.commit(&[table.data_file("b.parquet", &ids(5..6), &[])]);
    let changes = plan(&table, 1, None).unwrap();
    let rows = changes.read(ReadRequest::default()).unwrap().map(|b| b.unwrap()).collect::<Vec<_>>();
    let splits = changes.splits(&StorageOptions::new(), i64::MAX).unwrap();
    std::fs::remove_dir_all(table.root().join("_delta_log")).unwrap();
    let read = splits.into_iter().flat_map(|s| s.read(None).unwrap()).map(|b| b.unwrap()).collect::<Vec<_>>();
    assert_eq!(read, rows);
    assert_eq!(rows.iter().map(RecordBatch::num_rows).sum::<usize>(), 7);
}
