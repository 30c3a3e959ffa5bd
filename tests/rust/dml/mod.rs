//! Deletes and updates by condition.

mod cancelled;
mod cases;
mod distributed;
mod faults;
mod merge;
mod oracle;
mod races;
mod refused;
mod replace_where;
mod row_tracking;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, Int64Array, RecordBatch, RecordBatchIterator, StringArray, StructArray,
};
use arrow::datatypes::{DataType, Field, Int64Type};
use deltaic_core::Result;
use deltaic_core::actions::{Action, Add, CommitInfo, FilePath, ObjectPath};
use deltaic_core::conflict::{Changes, winners_from};
use deltaic_core::deletion_vector::file_path;
use deltaic_core::dml::{
    DeleteDone, DmlOptions, MergeAction, MergeClause, MergeDone, MergeRequest, MergeSource, MergeWhen,
    UpdateDone,
};
use deltaic_core::replay::FilesRequest;
use deltaic_core::scan::{ReadRequest, read};
use deltaic_core::snapshot::{At, Snapshot};
use deltaic_core::store::{Location, ObjectAdapter, StorageOptions};
use deltaic_core::write::{WriteMode, WriteOptions, WriteResult};
use deltaic_testkit::FaultStore;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use proptest::prelude::*;

/// A row of the tables of these tests: `k long, p string, s struct<a long, b string>`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Row {
    k: i64,
    p: Option<String>,
    s: Option<(Option<i64>, Option<String>)>,
}

fn row(k: i64, p: Option<&str>, a: Option<i64>) -> Row {
    Row { k, p: p.map(str::to_owned), s: a.map(|a| (Some(a), Some(format!("b{a}")))) }
}

/// Rows `0..n`; every seventh has no `p`, every fifth no `s`.
fn rows(n: i64) -> Vec<Row> {
    let p = |k: i64| (k % 7 != 6).then_some(["x", "y", "z"][(k % 3) as usize]);
    (0..n).map(|k| row(k, p(k), (k % 5 != 4).then_some(k % 4))).collect()
}

fn batch(rows: &[Row]) -> RecordBatch {
    let k: ArrayRef = Arc::new(Int64Array::from_iter_values(rows.iter().map(|r| r.k)));
    let p: ArrayRef = Arc::new(StringArray::from_iter(rows.iter().map(|r| r.p.as_deref())));
    let a = Int64Array::from_iter(rows.iter().map(|r| r.s.as_ref().and_then(|s| s.0)));
    let b = StringArray::from_iter(rows.iter().map(|r| r.s.as_ref().and_then(|s| s.1.as_deref())));
    let fields = vec![Field::new("a", DataType::Int64, true), Field::new("b", DataType::Utf8, true)];
    let present: Vec<bool> = rows.iter().map(|r| r.s.is_some()).collect();
    let columns: Vec<ArrayRef> = vec![Arc::new(a), Arc::new(b)];
    let s: ArrayRef = Arc::new(StructArray::new(fields.into(), columns, Some(present.into())));
    RecordBatch::try_from_iter_with_nullable([("k", k, true), ("p", p, true), ("s", s, true)]).unwrap()
}

fn place() -> (FaultStore, Location) {
    let store = FaultStore::new(Arc::new(ObjectAdapter::memory()));
    let location = Location::with_store(ObjectPath::new("memory://", "/t"), Arc::new(store.clone()));
    (store, location)
}

/// Appends rows in files of ten, and so creates the table where there is none.
fn append(location: &Location, rows: &[Row], partitioned: bool, properties: &[(&str, &str)]) {
    let batch = batch(rows);
    let schema = batch.schema();
    let options = WriteOptions {
        mode: WriteMode::Append,
        partition_by: if partitioned { vec!["p".into()] } else { Vec::new() },
        configuration: properties.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect(),
        max_rows_per_file: Some(10),
        ..Default::default()
    };
    deltaic_core::operations::write(location, RecordBatchIterator::new([Ok(batch)], schema), &options)
        .unwrap();
}

fn table(n: i64, partitioned: bool, properties: &[(&str, &str)]) -> (FaultStore, Location) {
    let (store, location) = place();
    append(&location, &rows(n), partitioned, properties);
    (store, location)
}

const VECTORS: (&str, &str) = ("delta.enableDeletionVectors", "true");
const CHANGES: (&str, &str) = ("delta.enableChangeDataFeed", "true");
const ROW_IDS: (&str, &str) = ("delta.enableRowTracking", "true");

fn delete(location: &Location, condition: Option<&str>) -> Result<DeleteDone> {
    deltaic_core::operations::delete(location, condition, &DmlOptions::default())
}

fn update(location: &Location, set: &[(&str, &str)], condition: Option<&str>) -> Result<UpdateDone> {
    let set: Vec<_> = set.iter().map(|(c, e)| ((*c).to_owned(), (*e).to_owned())).collect();
    deltaic_core::operations::update(location, &set, condition, &DmlOptions::default())
}

/// A clause by its kind, `matched update` and the like, with its condition and its values.
fn clause(kind: &str, condition: Option<&str>, values: Option<&[(&str, &str)]>) -> MergeClause {
    let (when, action) = kind.rsplit_once(' ').unwrap();
    MergeClause {
        when: match when {
            "matched" => MergeWhen::Matched,
            "not matched" => MergeWhen::NotMatched,
            _ => MergeWhen::NotMatchedBySource,
        },
        action: match action {
            "update" => MergeAction::Update,
            "delete" => MergeAction::Delete,
            _ => MergeAction::Insert,
        },
        condition: condition.map(str::to_owned),
        values: values.map(|all| all.iter().map(|(c, e)| ((*c).to_owned(), (*e).to_owned())).collect()),
    }
}

/// Merges rows, which are `s`, into the table, which is `t`.
fn merge(
    location: &Location,
    source: &[Row],
    condition: &str,
    clauses: Vec<MergeClause>,
) -> Result<MergeDone> {
    let batch = batch(source);
    merge_batch(location, batch, condition, clauses, false)
}

fn merge_batch(
    location: &Location,
    batch: RecordBatch,
    condition: &str,
    clauses: Vec<MergeClause>,
    with_schema_evolution: bool,
) -> Result<MergeDone> {
    let schema = batch.schema();
    let source = MergeSource::read("t", RecordBatchIterator::new([Ok(batch)], schema))?;
    let request = MergeRequest {
        condition: condition.to_owned(),
        target_alias: "t".into(),
        source_alias: "s".into(),
        clauses,
        with_schema_evolution,
    };
    deltaic_core::operations::merge(location, &source, &request, &DmlOptions::default())
}

/// Overwrites the rows of a condition.
fn replace(location: &Location, condition: &str, rows: &[Row]) -> Result<WriteResult> {
    let replace_where = Some(condition.to_owned());
    replace_by(location, rows, WriteOptions { replace_where, ..Default::default() })
}

fn replace_by(location: &Location, rows: &[Row], options: WriteOptions) -> Result<WriteResult> {
    let batch = batch(rows);
    let schema = batch.schema();
    let options = WriteOptions { mode: WriteMode::Overwrite, ..options };
    deltaic_core::operations::write(location, RecordBatchIterator::new([Ok(batch)], schema), &options)
}

fn open(location: &Location) -> Snapshot {
    Snapshot::open(location.clone(), At::Latest).unwrap()
}

/// All rows, in order.
fn all(location: &Location) -> Vec<Row> {
    let batches = read(&open(location), ReadRequest::default()).unwrap();
    let mut rows: Vec<Row> = batches.flat_map(|batch| from_batch(&batch.unwrap())).collect();
    rows.sort();
    rows
}

fn from_batch(batch: &RecordBatch) -> Vec<Row> {
    let (k, p) = (batch.column(0).as_primitive::<Int64Type>(), batch.column(1).as_string::<i32>());
    let s = batch.column(2).as_struct();
    let (a, b) = (s.column(0).as_primitive::<Int64Type>(), s.column(1).as_string::<i32>());
    let text = |c: &StringArray, i: usize| c.is_valid(i).then(|| c.value(i).to_owned());
    let rows = (0..batch.num_rows()).map(|i| Row {
        k: k.value(i),
        p: text(p, i),
        s: s.is_valid(i).then(|| (a.is_valid(i).then(|| a.value(i)), text(b, i))),
    });
    rows.collect()
}

fn keys(location: &Location) -> Vec<i64> {
    all(location).iter().map(|r| r.k).collect()
}

fn files(location: &Location) -> Vec<Add> {
    let request = FilesRequest { stats: true, extended: true, ..Default::default() };
    let files = open(location).files(request).unwrap();
    files.flat_map(|batch| batch.unwrap().adds().map(Result::unwrap).collect::<Vec<_>>()).collect()
}

/// What a version did.
fn changes(location: &Location, version: u64) -> Changes {
    Changes::of(&winners_from(location, version).unwrap()[0].actions)
}

fn info(location: &Location, version: u64) -> CommitInfo {
    winners_from(location, version).unwrap()[0].info().unwrap().clone()
}

/// Numbers among the metrics of a version.
fn metrics(location: &Location, version: u64) -> BTreeMap<String, u64> {
    let metrics = info(location, version).operation_metrics.unwrap();
    metrics.into_iter().map(|(k, v)| (k, v.as_str().unwrap().parse().unwrap())).collect()
}

/// A file as it is, without the table.
fn raw(location: &Location, path: &FilePath) -> Vec<RecordBatch> {
    let body = location.store().get(&path.resolve(location.root()).unwrap()).unwrap();
    let reader = ParquetRecordBatchReaderBuilder::try_new(body).unwrap().build().unwrap();
    reader.map(std::result::Result::unwrap).collect()
}

/// The row-level changes that a version wrote: type and key.
fn change_rows(location: &Location, version: u64) -> Vec<(String, i64)> {
    let mut out = Vec::new();
    for cdc in changes(location, version).cdc {
        assert!(cdc.path.as_str().starts_with("_change_data/") && !cdc.data_change);
        for batch in raw(location, &cdc.path) {
            let kinds = batch.column_by_name("_change_type").unwrap().as_string::<i32>().clone();
            let k = batch.column(0).as_primitive::<Int64Type>().clone();
            out.extend((0..batch.num_rows()).map(|i| (kinds.value(i).to_owned(), k.value(i))));
        }
    }
    out.sort();
    out
}

/// Files of the table that no commit names.
fn orphans(location: &Location) -> Vec<String> {
    let root = location.root();
    let mut named: BTreeSet<String> = BTreeSet::new();
    for winner in winners_from(location, 0).unwrap() {
        for action in &winner.actions {
            let (path, vector) = match action {
                Action::Add(add) => (&add.path, &add.deletion_vector),
                Action::Remove(remove) => (&remove.path, &remove.deletion_vector),
                Action::Cdc(cdc) => (&cdc.path, &None),
                _ => continue,
            };
            named.insert(path.resolve(root).unwrap().to_string());
            let vector = vector.as_ref().and_then(|v| file_path(v, root).unwrap());
            named.extend(vector.map(|v| v.to_string()));
        }
    }
    let listed = location.store().list_all(root).unwrap();
    let listed = listed.iter().map(|f| root.join(&f.name).to_string());
    listed.filter(|f| !f.contains("/_delta_log/") && !named.contains(f)).collect()
}
