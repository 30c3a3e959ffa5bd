//! Operations on whole tables: overwrite, vacuum, restore and the rest.

mod alter;
mod auto_compact;
mod backfill;
mod backfill_races;
mod clone;
#[cfg(unix)]
mod containment;
mod convert;
mod create_like;
mod drop_feature;
mod drop_feature_races;
mod far;
mod manifest;
mod optimize;
mod optimize_races;
mod overwrite;
mod remove_mapping;
mod restore;
mod vacuum;
mod zorder;

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, Int64Array, RecordBatch, RecordBatchIterator, StringArray};
use arrow::datatypes::Int64Type;
use deltaic_core::Result;
use deltaic_core::actions::{Add, CommitInfo, ObjectPath};
use deltaic_core::conflict::winners_from;
use deltaic_core::deletion_vector::DeletionVector;
use deltaic_core::predicate::{CompareOp, Literal, Predicate};
use deltaic_core::replay::FilesRequest;
use deltaic_core::scan::{ReadRequest, read};
use deltaic_core::snapshot::{At, Snapshot};
use deltaic_core::store::{Location, ObjectAdapter};
use deltaic_core::txn::{Operation, Transaction};
use deltaic_core::write::{WriteMode, WriteOptions, WriteResult};
use deltaic_testkit::FaultStore;

/// An empty place in memory, and the store that fails on demand.
fn place() -> (FaultStore, Location) {
    let store = FaultStore::new(Arc::new(ObjectAdapter::memory()));
    let location = Location::with_store(ObjectPath::new("memory://", "/t"), Arc::new(store.clone()));
    (store, location)
}

/// Another place of the same store.
fn beside(store: &FaultStore, root: &str) -> Location {
    Location::with_store(ObjectPath::new("memory://", root), Arc::new(store.clone()))
}

/// Rows `(p string, id long)`.
fn data(rows: &[(&str, i64)]) -> RecordBatch {
    let p: ArrayRef = Arc::new(StringArray::from_iter_values(rows.iter().map(|r| r.0)));
    let id: ArrayRef = Arc::new(Int64Array::from_iter_values(rows.iter().map(|r| r.1)));
    RecordBatch::try_from_iter_with_nullable([("p", p, true), ("id", id, true)]).unwrap()
}

fn partitioned() -> WriteOptions {
    WriteOptions { mode: WriteMode::Append, partition_by: vec!["p".into()], ..Default::default() }
}

fn with_properties(properties: &[(&str, &str)]) -> WriteOptions {
    let configuration = properties.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    WriteOptions { configuration, ..partitioned() }
}

fn write(location: &Location, rows: &[(&str, i64)], options: &WriteOptions) -> Result<WriteResult> {
    let batch = data(rows);
    let schema = batch.schema();
    deltaic_core::operations::write(location, RecordBatchIterator::new([Ok(batch)], schema), options)
}

fn open(location: &Location) -> Snapshot {
    Snapshot::open(location.clone(), At::Latest).unwrap()
}

/// Rows of a version, in order.
fn rows_at(location: &Location, at: At) -> Vec<(String, i64)> {
    let snapshot = Snapshot::open(location.clone(), at).unwrap();
    let mut rows = Vec::new();
    for batch in read(&snapshot, ReadRequest::default()).unwrap() {
        let batch = batch.unwrap();
        let (p, id) = (batch.column(0).as_string::<i32>(), batch.column(1).as_primitive::<Int64Type>());
        rows.extend((0..batch.num_rows()).map(|i| (p.value(i).to_owned(), id.value(i))));
    }
    rows.sort();
    rows
}

fn rows(location: &Location) -> Vec<(String, i64)> {
    rows_at(location, At::Latest)
}

fn owned(rows: &[(&str, i64)]) -> Vec<(String, i64)> {
    rows.iter().map(|(p, id)| ((*p).to_owned(), *id)).collect()
}

/// Everything at the place outside of the log, by name.
fn objects(location: &Location) -> Vec<String> {
    let all = location.store().list_all(location.root()).unwrap();
    let mut names: Vec<_> =
        all.into_iter().map(|f| f.name).filter(|n| !n.starts_with("_delta_log/")).collect();
    names.sort();
    names
}

fn info(location: &Location, version: u64) -> CommitInfo {
    winners_from(location, version).unwrap()[0].info().unwrap().clone()
}

fn compare(column: &str, op: CompareOp, value: Literal) -> Predicate {
    Predicate::Compare { op, column: vec![column.to_owned()], value }
}

/// The live files.
fn adds(location: &Location) -> Vec<Add> {
    let request = FilesRequest { stats: true, extended: true, ..Default::default() };
    let batches = open(location).files(request).unwrap();
    let mut adds: Vec<Add> =
        batches.flat_map(|b| b.unwrap().adds().collect::<Result<Vec<_>>>().unwrap()).collect();
    adds.sort_by(|a, b| a.path.as_str().cmp(b.path.as_str()));
    adds
}

/// Deletes the first row of the first file by a deletion vector.
fn delete_first_row(location: &Location) {
    let mut txn = Transaction::begin(&open(location), Operation::new("DELETE"));
    txn.replace_vector(&adds(location)[0], [0u64].into_iter().collect::<DeletionVector>().to_inline());
    txn.commit().unwrap();
}
