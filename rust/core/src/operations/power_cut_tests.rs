//! What a table has after a power cut: nothing that was acknowledged is lost.

// a failed step of a test is a failed test
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;
use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch, RecordBatchIterator, StringArray};

use crate::Result;
use crate::actions::ObjectPath;
use crate::checkpoint::checkpoint;
use crate::deletion_vector::DeletionVector;
use crate::operations::{commit_adds, write};
use crate::scan::{ReadRequest, read};
use crate::snapshot::{At, Snapshot};
use crate::store::{Ignore, Location, PowerCut, StorageOptions};
use crate::txn::{Operation, Transaction};
use crate::write::{Target, WriteMode, WriteOptions, plan_write};

fn location(path: &Path) -> Location {
    Location::open(path.to_str().unwrap(), &StorageOptions::new()).unwrap()
}

fn data() -> RecordBatch {
    let p: ArrayRef = Arc::new(StringArray::from(vec!["a", "b", "c"]));
    let id: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 3]));
    RecordBatch::try_from_iter_with_nullable([("p", p, true), ("id", id, true)]).unwrap()
}

fn options() -> WriteOptions {
    let configuration = [("delta.enableDeletionVectors".to_owned(), "true".to_owned())].into();
    WriteOptions {
        mode: WriteMode::Append,
        partition_by: vec!["p".into()],
        configuration,
        ..Default::default()
    }
}

fn append(location: &Location) -> Result<u64> {
    let schema = data().schema();
    write(location, RecordBatchIterator::new([Ok(data())], schema), &options()).map(|r| r.version)
}

fn rows(path: &Path) -> Result<(u64, usize)> {
    let snapshot = Snapshot::open(location(path), At::Latest)?;
    let mut rows = 0;
    for batch in read(&snapshot, ReadRequest::default())? {
        rows += batch?.num_rows();
    }
    Ok((snapshot.version(), rows))
}

/// Deletes the row of partition `a` of every file.
fn delete(location: &Location) -> u64 {
    let snapshot = Snapshot::open(location.clone(), At::Latest).unwrap();
    let mut txn = Transaction::begin(&snapshot, Operation::new("DELETE"));
    for add in snapshot.adds(None).unwrap() {
        if add.deletion_vector.is_none() && add.partition_values["p"].as_deref() == Some("a") {
            let first: DeletionVector = [0].into_iter().collect();
            txn.replace_vector(&add, first.to_inline());
        }
    }
    txn.commit().unwrap().version
}

/// Appends, deletes and checkpoints, with a power cut after each.
fn live(ignore: Ignore) -> Result<()> {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("disk");
    fs::create_dir(&root).unwrap();
    let (table, power) = (root.join("below").join("table"), PowerCut::watch(&root, ignore));
    let place = location(&table);
    let after = |n: usize, expected: (u64, usize)| -> Result<()> {
        let left = dir.path().join(format!("after-{n}"));
        power.cut(&left);
        let found = rows(&left.join("below").join("table"))?;
        assert_eq!(found, expected, "after {n}");
        Ok(())
    };
    after(0, (append(&place)?, 3))?;
    after(1, (append(&place)?, 6))?;
    after(2, (delete(&place), 4))?;
    checkpoint(&Snapshot::open(place.clone(), At::Latest)?)?;
    after(3, (2, 4))?;
    after(4, (append(&place)?, 7))
}

#[test]
fn t24_what_was_acknowledged_survives_a_power_cut() {
    live(Ignore::Nothing).unwrap();
}

#[test]
fn without_the_syncs_a_power_cut_loses_what_was_acknowledged() {
    for ignore in [Ignore::Files, Ignore::Folders] {
        assert!(live(ignore).is_err(), "{ignore:?}");
    }
}

#[test]
fn t24_files_that_another_program_wrote_survive_once_they_are_committed() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("disk");
    fs::create_dir(&root).unwrap();
    let power = PowerCut::watch(&root, Ignore::Nothing);
    // a table of which nothing was ever synced but what its commits sync: files as Spark writes them
    let (theirs, ours) = (dir.path().join("theirs"), root.join("ours"));
    append(&location(&theirs)).unwrap();
    let adds = Snapshot::open(location(&theirs), At::Latest).unwrap().adds(None).unwrap();
    for add in &adds {
        let to = ours.join(add.path.as_str());
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(theirs.join(add.path.as_str()), to).unwrap();
    }
    let given = crate::schema::from_arrow(&data().schema()).unwrap();
    let plan = plan_write(&location(&ours), &given, &options()).unwrap();
    assert_eq!(plan.target, Target::New);
    commit_adds(&plan, adds, &options()).unwrap();
    let left = dir.path().join("left");
    power.cut(&left);
    assert_eq!(rows(&left.join("ours")).unwrap(), (0, 3));
    let gone = [ObjectPath::new("file://", ours.join("gone").to_str().unwrap())];
    let place = location(&ours);
    assert_eq!(place.store().make_durable(place.root(), &gone).unwrap_err().kind(), "Storage");
}
