//! Writes: what a table looks like after them, and that it looks as before after one that failed.

mod atomic;
mod define;
mod distributed;
mod enforce;
mod footers;
mod iceberg_compat;
mod layout;
mod partitions;
mod rules;

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch, RecordBatchIterator, RecordBatchReader, StringArray};
use arrow::error::ArrowError;
use deltaic_core::Result;
use deltaic_core::actions::{Add, ObjectPath};
use deltaic_core::replay::FilesRequest;
use deltaic_core::snapshot::{At, Snapshot};
use deltaic_core::store::{Location, ObjectAdapter, Store};
use deltaic_core::write::{WriteMode, WriteOptions, WriteResult};
use deltaic_testkit::FaultStore;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

/// An empty place in memory, and the store that fails on demand.
fn place() -> (FaultStore, Location) {
    let store = FaultStore::new(Arc::new(ObjectAdapter::memory()));
    let location = Location::with_store(ObjectPath::new("memory://", "/t"), Arc::new(store.clone()));
    (store, location)
}

fn append() -> WriteOptions {
    WriteOptions { mode: WriteMode::Append, ..Default::default() }
}

fn partitioned(columns: &[&str]) -> WriteOptions {
    WriteOptions { partition_by: columns.iter().map(|c| (*c).to_owned()).collect(), ..append() }
}

fn with_properties(properties: &[(&str, &str)]) -> WriteOptions {
    let configuration = properties.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    WriteOptions { configuration, ..append() }
}

/// `id long, name string`.
fn people(ids: &[i64]) -> RecordBatch {
    let names: Vec<String> = ids.iter().map(|id| format!("n{id}")).collect();
    batch([
        ("id", Arc::new(Int64Array::from(ids.to_vec())) as ArrayRef),
        ("name", Arc::new(StringArray::from(names))),
    ])
}

fn batch<const N: usize>(columns: [(&str, ArrayRef); N]) -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(n, a)| (n, a, true))).unwrap()
}

fn reader(batches: Vec<std::result::Result<RecordBatch, ArrowError>>) -> impl RecordBatchReader {
    let schema = batches[0].as_ref().unwrap().schema();
    RecordBatchIterator::new(batches, schema)
}

fn write(location: &Location, data: &RecordBatch, options: &WriteOptions) -> Result<WriteResult> {
    deltaic_core::operations::write(location, reader(vec![Ok(data.clone())]), options)
}

fn open(location: &Location) -> Snapshot {
    Snapshot::open(location.clone(), At::Latest).unwrap()
}

fn adds(location: &Location) -> Vec<Add> {
    let request = FilesRequest { stats: true, extended: true, ..Default::default() };
    let files = open(location).files(request).unwrap();
    files.flat_map(|batch| batch.unwrap().adds().map(Result::unwrap).collect::<Vec<_>>()).collect()
}

/// The rows of one data file.
fn read_file(location: &Location, add: &Add) -> RecordBatch {
    let body = location.store().get(&add.path.resolve(location.root()).unwrap()).unwrap();
    assert_eq!(body.len() as i64, add.size);
    let builder = ParquetRecordBatchReaderBuilder::try_new(body).unwrap();
    let schema = builder.schema().clone();
    let batches: Vec<_> = builder.build().unwrap().map(std::result::Result::unwrap).collect();
    arrow::compute::concat_batches(&schema, &batches).unwrap()
}

/// The `id` of every row, in order.
fn ids(location: &Location) -> Vec<i64> {
    use arrow::array::AsArray;
    use arrow::datatypes::Int64Type;
    let mut ids: Vec<i64> = adds(location)
        .iter()
        .flat_map(|add| {
            let rows = read_file(location, add);
            rows.column_by_name("id").unwrap().as_primitive::<Int64Type>().values().to_vec()
        })
        .collect();
    ids.sort_unstable();
    ids
}

/// Everything at the place, by name.
fn objects(location: &Location) -> Vec<String> {
    let mut names: Vec<_> =
        location.store().list_all(location.root()).unwrap().into_iter().map(|f| f.name).collect();
    names.sort();
    names
}

/// The actions of a commit by their key.
fn commit(location: &Location, version: u64) -> Vec<(String, serde_json::Value)> {
    let body = location.store().get(&deltaic_core::log::commit_path(location, version)).unwrap();
    body.split(|b| *b == b'\n')
        .filter(|l| !l.is_empty())
        .map(|l| {
            let object: serde_json::Map<_, _> = serde_json::from_slice(l).unwrap();
            object.into_iter().next().unwrap()
        })
        .collect()
}
