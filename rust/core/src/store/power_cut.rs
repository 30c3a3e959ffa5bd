//! A power cut on a local file system: what was not synced is lost. While a test watches a folder, every sync below it is
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

/// Syncs that do nothing, to show the consequences.
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

    /// Creates in `to` what a cut would leave at this moment.
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
