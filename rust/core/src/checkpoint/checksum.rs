//! Version checksums: made from the one before and the actions of the commit, or from a snapshot.

use crate::actions::{ActionRef, CommitInfo, ObjectPath};
use crate::checksum::{
    Checksum, ChecksumDifference, MOST_DOMAINS, MOST_TXNS, checksum_differences, count, empty_checksum,
    finish_checksum, next_checksum,
};
use crate::error::{Error, Result};
use crate::replay::FilesRequest;
use crate::snapshot::Snapshot;
use crate::store::{Location, PutOutcome};

/// Place of the checksum of a version.
pub fn checksum_path(location: &Location, version: u64) -> ObjectPath {
    location.log_dir().join(&format!("{version:020}.crc"))
}

/// The checksum of a snapshot, by replay of its files.
///
/// # Errors
/// As [`Snapshot::files`].
///
/// # Cost
/// A listing of all files without statistics.
pub fn checksum_of(snapshot: &Snapshot) -> Result<Checksum> {
    let mut checksum = empty_checksum();
    for batch in snapshot.files(FilesRequest::default())? {
        let batch = batch?;
        for (row, size) in batch.sizes().values().iter().enumerate() {
            count(&mut checksum, *size, batch.deleted(row), 1);
        }
    }
    checksum.metadata = Some(snapshot.metadata().clone());
    checksum.protocol = Some(snapshot.protocol().clone());
    let info = snapshot.commit_info()?;
    checksum.txn_id = info.as_ref().and_then(|i| i.txn_id.clone());
    checksum.in_commit_timestamp_opt = info.and_then(|i| i.in_commit_timestamp);
    checksum.set_transactions = Some(snapshot.app_transactions()?).filter(|t| t.len() <= MOST_TXNS);
    checksum.domain_metadata = Some(snapshot.domain_metadata()?).filter(|d| d.len() <= MOST_DOMAINS);
    let path = snapshot.location().root().to_string();
    finish_checksum(checksum).ok_or(Error::MissingAction {
        path,
        version: snapshot.version(),
        action: "protocol",
    })
}

/// Writes a checksum, unless the version has one: they are never overwritten. Returns whether it was written.
///
/// # Errors
/// Errors of the store.
pub fn put_checksum(location: &Location, version: u64, checksum: &Checksum) -> Result<bool> {
    let path = checksum_path(location, version);
    let mut body = serde_json::to_vec(checksum).map_err(|e| Error::storage("encode", path.to_string(), e))?;
    body.push(b'\n');
    Ok(location.store().put_if_absent(&path, body.into())? == PutOutcome::Created)
}

/// The checksum of a version; `None` if it has none or one that cannot be read.
///
/// # Errors
/// Errors of the store.
pub fn read_checksum(location: &Location, version: u64) -> Result<Option<Checksum>> {
    let path = checksum_path(location, version);
    match location.store().get(&path) {
        Ok(body) => Ok(Checksum::parse(&body, &path.to_string(), version).ok()),
        Err(Error::NotFound { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Writes the checksum of a commit from that of the version before, which is one read where it is not given. False
/// where there is none, or where it cannot be derived: then the next checkpoint writes one.
///
/// # Errors
/// Errors of the store.
pub fn write_checksum(
    location: &Location,
    version: u64,
    before: Option<&Checksum>,
    info: &CommitInfo,
    actions: &[ActionRef<'_>],
) -> Result<bool> {
    let read = match version.checked_sub(1).filter(|_| before.is_none()) {
        None => None,
        Some(version) => match read_checksum(location, version)? {
            None => return Ok(false),
            found => found,
        },
    };
    match next_checksum(before.or(read.as_ref()), info, actions) {
        Some(next) => put_checksum(location, version, &next),
        None => Ok(false),
    }
}

/// The differences between a checksum and the replay of its version; nothing if both agree. What the checksum leaves out
/// is not compared.
///
/// # Errors
/// As [`Snapshot::files`].
///
/// # Cost
/// As [`checksum_of`].
pub fn validate_checksum(snapshot: &Snapshot, checksum: &Checksum) -> Result<Vec<ChecksumDifference>> {
    Ok(checksum_differences(checksum, &checksum_of(snapshot)?))
}
