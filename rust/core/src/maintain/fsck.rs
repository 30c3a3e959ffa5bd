//! Taking files out of the log that are not in the store any more.

use super::files::{look, needs};
use crate::actions::{ObjectPath, OperationName};
use crate::error::Result;
use crate::snapshot::{At, Snapshot};
use crate::store::Location;
use crate::txn::{Operation, Transaction};

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
/// A HEAD for each file.
pub fn fsck(location: &Location, dry_run: bool) -> Result<FsckDone> {
    let snapshot = Snapshot::open(location.clone(), At::Latest)?;
    let root = location.root();
    let adds = snapshot.adds(None)?;
    let needed = adds.iter().map(|a| needs(&a.path, a.deletion_vector.as_ref(), root));
    let (data, vectors): (Vec<ObjectPath>, Vec<Option<ObjectPath>>) =
        needed.collect::<Result<Vec<_>>>()?.into_iter().unzip();
    let mut vectors: Vec<ObjectPath> = vectors.into_iter().flatten().collect();
    vectors.sort();
    vectors.dedup();
    let gone = |paths: &[ObjectPath]| -> Result<Vec<bool>> {
        Ok(look(location, paths)?.iter().map(Option::is_none).collect())
    };
    let (lost, lost_vectors) = (gone(&data)?, gone(&vectors)?);
    let named = |paths: &[ObjectPath], lost: &[bool]| {
        paths.iter().zip(lost).filter(|(_, lost)| **lost).map(|(p, _)| p.to_string()).collect::<Vec<_>>()
    };
    let mut done = FsckDone {
        missing: named(&data, &lost),
        missing_vectors: named(&vectors, &lost_vectors),
        version: None,
        warnings: Vec::new(),
    };
    if dry_run || done.missing.is_empty() {
        return Ok(done);
    }
    let operation = Operation::new(OperationName::Fsck).metric("numRemovedFiles", done.missing.len() as u64);
    let mut txn = Transaction::begin(&snapshot, operation);
    let lost: Vec<_> = adds.iter().zip(&lost).filter(|(_, lost)| **lost).map(|(add, _)| add).collect();
    txn.read_files(lost.iter().map(|a| &a.path))?;
    lost.into_iter().for_each(|add| txn.remove_file(add, true));
    let landed = txn.commit()?;
    done.version = Some(landed.version);
    done.warnings = landed.warnings;
    Ok(done)
}
