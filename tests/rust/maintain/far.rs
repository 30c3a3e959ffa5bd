//! Optimize on stores whose requests take long: the same files, read ahead.

use std::sync::{Condvar, Mutex};
use std::time::Duration;

use deltaic_core::dml::DmlOptions;
use deltaic_core::maintain::{OptimizeOptions, RestoreOptions, optimize, restore};
use deltaic_core::operations::delete;
use deltaic_core::scan::{RowScan, read_file};
use deltaic_core::write::ParquetOptions;
use deltaic_testkit::Op;

use super::*;

const FILES: i64 = 12;

/// A table of two partitions whose files have several row groups and, but for some, deleted rows; its store, and the place
/// seen as far away.
fn table() -> (FaultStore, Location, Location) {
    let store = FaultStore::new(Arc::new(ObjectAdapter::memory()));
    let root = || ObjectPath::new("memory://", "/t");
    let near = Location::with_store(root(), Arc::new(store.clone()));
    let far = Location::with_store(root(), Arc::new(store.far()));
    let properties = [("delta.enableDeletionVectors", "true"), ("delta.enableRowTracking", "true")];
    let own = [("parquet.block.row.count.limit".to_owned(), "7".to_owned())];
    let parquet = ParquetOptions { own: own.into(), ..Default::default() };
    let options = WriteOptions { parquet, ..with_properties(&properties) };
    for file in 0..FILES {
        // files of one row, and of many
        let count = if file % 3 == 0 { 1 } else { 40 };
        for p in ["a", "b"] {
            let numbers = file * 100..file * 100 + count;
            let rows: Vec<_> = numbers.map(|n| (p, n * 7919 % 4001)).collect();
            write(&near, &rows, &options).unwrap();
        }
    }
    delete(&near, Some("id % 5 = 1"), &DmlOptions::default()).unwrap();
    (store, near, far)
}

/// The rows of each file, in their order, with their ids.
fn content(location: &Location) -> Vec<Vec<(String, i64, i64)>> {
    let scan = RowScan::of(&open(location), ReadRequest { row_ids: true, ..Default::default() }).unwrap();
    let scan = Arc::new(scan);
    let row = |batch: &RecordBatch, at: usize| {
        let (p, id) = (batch.column(0).as_string::<i32>(), batch.column(1).as_primitive::<Int64Type>());
        (p.value(at).to_owned(), id.value(at), batch.column(2).as_primitive::<Int64Type>().value(at))
    };
    let file = |add: &Add| {
        let batches = read_file(&scan, add).unwrap().map(|batch| batch.unwrap());
        batches.flat_map(|b| (0..b.num_rows()).map(|at| row(&b, at)).collect::<Vec<_>>()).collect()
    };
    let mut files: Vec<Vec<_>> = adds(location).iter().map(file).collect();
    files.sort();
    files
}

#[test]
fn a_store_that_is_far_gets_the_same_files() {
    for zorder_by in [Vec::new(), vec!["id".to_owned()]] {
        let options = OptimizeOptions { zorder_by, ..Default::default() };
        let (_, near, distant) = table();
        let (version, before) = (open(&near).version(), rows(&near));
        let optimized = |location: &Location| {
            let done = optimize(location, &options).unwrap();
            assert_eq!((done.removed.len() as i64, done.added.len()), (2 * FILES, 2));
            assert_eq!(rows(&near), before);
            content(&near)
        };
        let far = optimized(&distant);
        // the same files again
        restore(&near, At::Version(version), &RestoreOptions::default()).unwrap();
        assert_eq!(far, optimized(&near));
    }
}

#[test]
fn files_of_a_far_store_are_read_at_once() {
    let (store, near, _) = table();
    let before = rows(&near);
    // nobody gets a data file before two have asked, where one partition is read
    let gate = Arc::new((Mutex::new(0), Condvar::new()));
    let gated = gate.clone();
    let directed = store.far().directed(move |op, path| {
        if op == Op::GetRange && path.to_string().contains("part-") {
            let (asked, changed) = &*gated;
            let mut asked = asked.lock().unwrap();
            *asked += 1;
            changed.notify_all();
            let patience = Duration::from_secs(60);
            let waited = changed.wait_timeout_while(asked, patience, |asked| *asked < 2).unwrap();
            assert!(!waited.1.timed_out(), "one file is read after the other");
        }
        None
    });
    let location = Location::with_store(ObjectPath::new("memory://", "/t"), Arc::new(directed));
    let options = OptimizeOptions { predicate: Some("p = 'a'".into()), ..Default::default() };
    assert_eq!(optimize(&location, &options).unwrap().added.len(), 1);
    assert!(*gate.0.lock().unwrap() >= 2);
    assert_eq!(rows(&near), before);
}

#[test]
fn a_file_that_is_missing_on_a_far_store_changes_nothing() {
    let (_, near, far) = table();
    let before = objects(&near);
    let lost = adds(&near).into_iter().nth(7).unwrap();
    near.store().delete(&lost.path.resolve(near.root()).unwrap()).unwrap();
    for zorder_by in [Vec::new(), vec!["id".to_owned()]] {
        let options = OptimizeOptions { zorder_by, ..Default::default() };
        let error = optimize(&far, &options).unwrap_err();
        assert_eq!(error.kind(), "DataFile");
        assert!(error.to_string().contains(lost.path.as_str()), "{error}");
        let now = objects(&near);
        assert_eq!(now.len() + 1, before.len());
        assert!(now.iter().all(|name| before.contains(name)));
    }
}
