//! Transactions: one commit path, its checks, its races and its outcomes.

mod compactions;
mod create;
mod explained;
mod idempotent;
mod outcomes;
mod races;
mod refused;
mod row_level;
mod table_state;

use std::sync::Arc;

use deltaic_core::actions::{Add, DomainMetadata, FilePath, Metadata, ObjectPath, Protocol};
use deltaic_core::conflict::{RowRelocations, Winner, winners_from};
use deltaic_core::deletion_vector::DeletionVector;
use deltaic_core::predicate::{CompareOp, Literal, Predicate};
use deltaic_core::replay::FilesRequest;
use deltaic_core::snapshot::{At, Snapshot};
use deltaic_core::store::{Location, ObjectAdapter};
use deltaic_core::txn::{Operation, Transaction};
use deltaic_testkit::FaultStore;
use serde_json::json;

/// Columns `p string` and `id long`, partitioned by `p`.
pub(crate) fn metadata(properties: &[(&str, &str)]) -> Metadata {
    let schema = json!({"type": "struct", "fields": [
        {"name": "p", "type": "string", "nullable": true, "metadata": {}},
        {"name": "id", "type": "long", "nullable": true, "metadata": {}},
    ]});
    Metadata {
        id: "a-table".into(),
        schema_string: schema.to_string(),
        partition_columns: vec!["p".into()],
        configuration: properties.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect(),
        ..Default::default()
    }
}

pub(crate) fn protocol(features: &[&str]) -> Protocol {
    let names = |keep: &[&str]| {
        let all = features.iter().filter(|f| keep.is_empty() || keep.contains(f));
        Some(all.map(|f| (*f).to_owned()).collect())
    };
    Protocol {
        min_reader_version: 3,
        min_writer_version: 7,
        reader_features: names(&["deletionVectors", "columnMapping", "v2Checkpoint"]),
        writer_features: names(&[]),
    }
}

/// Every feature that the tests use.
pub(crate) const FEATURES: [&str; 4] =
    ["deletionVectors", "domainMetadata", "appendOnly", "inCommitTimestamp"];

/// An empty place in memory, and the store that fails on demand.
pub(crate) fn place() -> (FaultStore, Location) {
    let store = FaultStore::new(Arc::new(ObjectAdapter::memory()));
    let location = Location::with_store(ObjectPath::new("memory://", "/t"), Arc::new(store.clone()));
    (store, location)
}

/// A table with these features and properties.
pub(crate) fn table(features: &[&str], properties: &[(&str, &str)]) -> (FaultStore, Location) {
    let (store, location) = place();
    let operation = Operation::new("CREATE TABLE");
    Transaction::create(&location, protocol(features), metadata(properties), operation).commit().unwrap();
    (store, location)
}

pub(crate) fn open(location: &Location) -> Snapshot {
    Snapshot::open(location.clone(), At::Latest).unwrap()
}

pub(crate) fn begin(location: &Location) -> Transaction {
    Transaction::begin(&open(location), Operation::new("TEST"))
}

/// A file of ten rows in partition `p`, whose ids are `10 * n` to `10 * n + 9`.
pub(crate) fn file(name: &str, p: &str, n: i64) -> Add {
    let stats = json!({"numRecords": 10, "minValues": {"id": 10 * n}, "maxValues": {"id": 10 * n + 9}, "nullCount": {"id": 0}});
    Add {
        path: FilePath::encode(name),
        partition_values: [("p".to_owned(), Some(p.to_owned()))].into(),
        size: 100,
        data_change: true,
        stats: Some(stats.to_string()),
        ..Default::default()
    }
}

/// The same without statistics.
pub(crate) fn bare(add: Add) -> Add {
    Add { stats: None, ..add }
}

/// Appends files and returns the version.
pub(crate) fn append(location: &Location, files: &[Add]) -> u64 {
    let mut txn = begin(location);
    files.iter().for_each(|f| txn.add(f.clone()));
    txn.commit().unwrap().version
}

pub(crate) fn compare(column: &str, op: CompareOp, value: Literal) -> Predicate {
    Predicate::Compare { op, column: vec![column.to_owned()], value }
}

pub(crate) fn partition_is(value: &str) -> Predicate {
    compare("p", CompareOp::Eq, Literal::String(value.into()))
}

pub(crate) fn id_below(value: i64) -> Predicate {
    compare("id", CompareOp::Lt, Literal::Long(value))
}

/// The live files.
pub(crate) fn files(location: &Location) -> Vec<Add> {
    let request = FilesRequest { stats: true, extended: true, ..Default::default() };
    let mut files: Vec<Add> = open(location)
        .files(request)
        .unwrap()
        .flat_map(|batch| batch.unwrap().adds().map(Result::unwrap).collect::<Vec<_>>())
        .collect();
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files
}

pub(crate) fn names(location: &Location) -> Vec<String> {
    files(location).iter().map(|a| a.path.as_str().to_owned()).collect()
}

pub(crate) fn live(location: &Location, name: &str) -> Add {
    files(location).into_iter().find(|a| a.path.as_str() == name).unwrap()
}

pub(crate) fn rows(vector: &[u64]) -> DeletionVector {
    vector.iter().copied().collect()
}

/// Deletes rows of a file by a deletion vector that holds these.
pub(crate) fn delete_rows(txn: &mut Transaction, add: &Add, deleted: &[u64]) {
    txn.read_matching(&id_below(1_000_000), [&add.path]).unwrap();
    txn.replace_vector(add, rows(deleted).to_inline());
}

/// Moves the rows of the files `a` and `b` to a new one, `ab`.
pub(crate) fn compact(txn: &mut Transaction, location: &Location) {
    let mut moves = RowRelocations::default();
    let sources = ["a", "b"].map(|name| live(location, name));
    let mut rows = 0;
    for add in &sources {
        let gone: Vec<u64> = match &add.deletion_vector {
            Some(vector) => DeletionVector::load(vector, location).unwrap().rows().iter().collect(),
            None => Vec::new(),
        };
        let source = add.path.identity(location.root()).unwrap();
        let target = FilePath::encode("ab").identity(location.root()).unwrap();
        for row in (0..10).filter(|row| !gone.contains(row)) {
            moves.run(&source, row..row + 1, &target);
            rows += 1;
        }
    }
    let stats =
        json!({"numRecords": rows, "minValues": {"id": 0}, "maxValues": {"id": 19}, "nullCount": {"id": 0}});
    txn.rewrite(&sources, [Add { stats: Some(stats.to_string()), ..file("ab", "x", 0) }], moves);
}

pub(crate) fn domain(name: &str) -> DomainMetadata {
    DomainMetadata { domain: name.into(), configuration: "{}".into(), removed: false }
}

pub(crate) fn commits(location: &Location) -> Vec<Winner> {
    winners_from(location, 0).unwrap()
}
