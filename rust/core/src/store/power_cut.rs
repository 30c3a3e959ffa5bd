//! A power cut on a local file system: what was not synced is gone. While a test watches a folder, every sync below it is
//! recorded; a cut then leaves of each folder the names that it had when it was synced last, and of each file the bytes.

// a failed step of a test is a failed test
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Recorders and the folders that they watch.
static WATCHED: Mutex<Vec<(PathBuf, Arc<Mutex<Durable>>)>> = Mutex::new(Vec::new());

/// What would be there after a power cut. Files are known by their inode: links and renames change names alone.
#[derive(Debug, Default)]
struct Durable {
    contents: BTreeMap<u64, Vec<u8>>,
    folders: BTreeMap<PathBuf, BTreeMap<OsString, u64>>,
    ignore: Ignore,
}

/// Syncs that do nothing, to show what would come of it.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ignore {
    #[default]
    Nothing,
    Files,
    Folders,
}

/// Watches a folder.
pub(crate) struct PowerCut {
    root: PathBuf,
    durable: Arc<Mutex<Durable>>,
}

impl PowerCut {
    pub(crate) fn watch(root: &Path, ignore: Ignore) -> Self {
        let durable = Arc::new(Mutex::new(Durable { ignore, ..Default::default() }));
        lock(&WATCHED).push((root.to_owned(), durable.clone()));
        PowerCut { root: root.to_owned(), durable }
    }

    /// Makes in `to` what a cut would leave at this moment.
    pub(crate) fn cut(&self, to: &Path) {
        let durable = lock(&self.durable);
        let mut left = vec![(self.root.clone(), to.to_owned())];
        while let Some((from, to)) = left.pop() {
            fs::create_dir_all(&to).unwrap();
            for (name, inode) in durable.folders.get(&from).into_iter().flatten() {
                let (from, to) = (from.join(name), to.join(name));
                if from.is_dir() {
                    left.push((from, to));
                } else {
                    // a name without content is an empty file
                    fs::write(to, durable.contents.get(inode).map_or(&[][..], Vec::as_slice)).unwrap();
                }
            }
        }
    }
}

impl Drop for PowerCut {
    fn drop(&mut self) {
        lock(&WATCHED).retain(|(root, _)| *root != self.root);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn recorders(path: &Path) -> Vec<Arc<Mutex<Durable>>> {
    let watched = lock(&WATCHED);
    watched.iter().filter(|(root, _)| path.starts_with(root)).map(|(_, durable)| durable.clone()).collect()
}

pub(super) fn synced_file(path: &Path) {
    for durable in recorders(path) {
        let mut durable = lock(&durable);
        if durable.ignore != Ignore::Files {
            durable.contents.insert(fs::metadata(path).unwrap().ino(), fs::read(path).unwrap());
        }
    }
}

pub(super) fn synced_dir(dir: &Path) {
    for durable in recorders(dir) {
        let mut durable = lock(&durable);
        if durable.ignore != Ignore::Folders {
            let entries = fs::read_dir(dir).unwrap().map(|e| e.unwrap());
            let names = entries.filter_map(|e| Some((e.file_name(), e.metadata().ok()?.ino()))).collect();
            durable.folders.insert(dir.to_owned(), names);
        }
    }
}

mod tests {
    use std::sync::Arc;

    use arrow::array::{ArrayRef, Int64Array, RecordBatch, RecordBatchIterator, StringArray};

    use super::*;
    use crate::Result;
    use crate::actions::ObjectPath;
    use crate::checkpoint::checkpoint;
    use crate::scan::{DeletionVector, ReadRequest, read};
    use crate::snapshot::{At, Snapshot};
    use crate::store::{Location, StorageOptions};
    use crate::txn::{Operation, Transaction};
    use crate::write::{Target, WriteMode, WriteOptions, commit_adds, plan_write, write};

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
        let given = crate::write::from_arrow(&data().schema()).unwrap();
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
}
