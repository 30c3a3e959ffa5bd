//! Taking files out of the log that are not in the store any more.

use std::collections::{BTreeSet, HashSet};

use super::files::{look, needed};
use crate::actions::{ObjectPath, OperationName};
use crate::error::Result;
use crate::replay::FilesRequest;
use crate::snapshot::{At, Snapshot};
use crate::store::Location;
use crate::txn::{Operation, Transaction};

/// Files whose paths are in memory at once.
const CHUNK: usize = 1 << 16;

/// The missing files, and the commit that removed them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FsckDone {
    /// Data files that the log has and the store has not; absolute paths. Except in a dry run, they were removed from
    /// the log.
    pub missing: Vec<String>,
    /// Files of deletion vectors that are missing. Their data files stay in the log: without the vector it is unknown
    /// which of their rows are deleted.
    pub missing_vectors: Vec<String>,
    /// Version of the commit; none where there was nothing to do.
    pub version: Option<u64>,
    /// What failed after the commit. The commit is not undone.
    pub warnings: Vec<String>,
}

/// Checks every file of the newest version, and removes those from the log whose data file does not exist. Their rows
/// are lost either way; the rest of the table can be read again.
///
/// # Errors
/// What the log and the store say; as [`Transaction::commit`].
///
/// # Cost
/// A HEAD for each file, and two listings of the log where one is missing; memory for the paths of 65,536 files, and of all
/// deletion vectors.
pub fn fsck(location: &Location, dry_run: bool) -> Result<FsckDone> {
    let snapshot = Snapshot::open(location.clone(), At::Latest)?;
    let (mut lost, mut vectors) = (Vec::new(), BTreeSet::new());
    let mut needed = needed(&snapshot)?;
    loop {
        let mut data = Vec::new();
        for one in needed.by_ref().take(CHUNK) {
            let (file, vector) = one?;
            data.push(file);
            vectors.extend(vector);
        }
        if data.is_empty() {
            break;
        }
        lost.extend(gone(location, data)?);
    }
    let named = |paths: &[ObjectPath]| paths.iter().map(ToString::to_string).collect();
    let mut done = FsckDone {
        missing: named(&lost),
        missing_vectors: named(&gone(location, vectors.into_iter().collect())?),
        version: None,
        warnings: Vec::new(),
    };
    if dry_run || done.missing.is_empty() {
        return Ok(done);
    }
    let operation = Operation::new(OperationName::Fsck).metric("numRemovedFiles", done.missing.len() as u64);
    let mut txn = Transaction::begin(&snapshot, operation);
    let (lost, mut adds): (HashSet<ObjectPath>, _) = (lost.into_iter().collect(), Vec::new());
    for add in snapshot.each_add(FilesRequest::whole(None))? {
        let add = add?;
        if lost.contains(&add.path.resolve(location.root())?) {
            adds.push(add);
        }
    }
    txn.read_files(adds.iter().map(|add| &add.path))?;
    adds.iter().for_each(|add| txn.remove_file(add, true));
    let landed = txn.commit()?;
    done.version = Some(landed.version);
    done.warnings = landed.warnings;
    Ok(done)
}

/// Those of the files that are missing.
fn gone(location: &Location, paths: Vec<ObjectPath>) -> Result<Vec<ObjectPath>> {
    let found = look(location, &paths)?;
    Ok(paths.into_iter().zip(found).filter(|(_, found)| found.is_none()).map(|(path, _)| path).collect())
}
