use super::checksum::{checksum_of, put_checksum};
use super::hint::write_hint;
use super::job::{CheckpointDone, Job};
use super::{v1, v2};
use crate::error::Result;
use crate::log::CheckpointPolicy;
use crate::snapshot::Snapshot;

/// Writes a checkpoint of a version, V1 or V2 by the properties of the table, and the hint that names it; the
/// version's checksum where it has none. An existing, intact checkpoint of the version is left alone. Every file is
/// complete in the store before anything names it: a crash at any point leaves the table as readable as it was.
///
/// # Errors
/// [`Error::LogCorrupt`](crate::Error::LogCorrupt) for a log that cannot be replayed, and where the version's checksum
/// counts other files than the replay found; [`Error::UnsupportedFeature`](crate::Error::UnsupportedFeature) for a table
/// whose writer features are not known; [`Error::Unsupported`](crate::Error::Unsupported) for a version that
/// `delta.requireCheckpointProtectionBeforeVersion` protects;
/// [`Error::InvalidArgument`](crate::Error::InvalidArgument) for a property that cannot be read; errors of the store.
///
/// # Cost
/// V1 reads and writes all live files and tombstones. V2 writes those that sidecars do not hold yet, or no longer as they
/// are. Memory: one run of files, the row groups that are decoded at once, and the tail of the snapshot.
pub fn checkpoint(snapshot: &Snapshot) -> Result<CheckpointDone> {
    snapshot.retried(|| write(snapshot))
}

fn write(snapshot: &Snapshot) -> Result<CheckpointDone> {
    let job = Job::new(snapshot)?;
    if let Some((done, hint)) = job.existing()? {
        // whoever wrote it may have died before the hint
        write_hint(snapshot.location(), &hint)?;
        return Ok(done);
    }
    let (done, hint) = match job.settings.policy {
        CheckpointPolicy::Classic => v1::write(&job)?,
        CheckpointPolicy::V2 => v2::write(&job)?,
    };
    write_hint(snapshot.location(), &hint)?;
    if job.checksum.is_none() {
        put_checksum(snapshot.location(), done.version, &checksum_of(snapshot)?)?;
    }
    Ok(done)
}
