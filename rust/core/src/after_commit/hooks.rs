use super::manifest::{ManifestDone, update_manifest};
use super::new_commit::NewCommit;
use crate::checkpoint::{CheckpointDone, CleanupDone, checkpoint, cleanup, write_checksum};
use crate::error::Result;
use crate::events;
use crate::log::LogSettings;
use crate::properties::TableProperty;
use crate::snapshot::{At, Snapshot};

/// What was done after a commit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AfterCommit {
    /// Whether the checksum of the version was written.
    pub checksum: bool,
    /// The symlink manifests that the table asks for.
    pub manifest: Option<ManifestDone>,
    /// The checkpoint that was due.
    pub checkpoint: Option<CheckpointDone>,
    /// The cleanup that followed it.
    pub cleanup: Option<CleanupDone>,
    /// What failed, one line each. The commit is not undone.
    pub warnings: Vec<String>,
}

/// Does what follows a commit: its checksum; the manifests of the partitions that it touched, where
/// `delta.compatibility.symlinkFormatManifest.enabled` asks for them; each `delta.checkpointInterval` commits a checkpoint; after that, where
/// `delta.enableExpiredLogCleanup` allows it, the cleanup of what has expired. Call it once, when the commit is made, with
/// `info` and `actions` as they were written and protocol and metadata as they are after the commit. It never fails: the
/// commit is made, and whatever goes wrong here is a warning of the result.
///
/// # Cost
/// One write of a checksum, and one read where the snapshot has not read that of the version before; with manifests a listing and the live files; when a checkpoint is due, that of [`checkpoint`] and [`cleanup`].
pub fn after_commit(commit: &NewCommit<'_>) -> AfterCommit {
    let out = follow_up(commit);
    let table = commit.location.root().to_string();
    let done = [
        (out.checksum, "wrote the checksum"),
        (out.manifest.is_some(), "wrote the symlink manifest"),
        (out.checkpoint.is_some(), "wrote a checkpoint"),
        (out.cleanup.is_some(), "cleaned up the log"),
    ];
    for (_, what) in done.into_iter().filter(|(is_done, _)| *is_done) {
        events::done_after_commit(&table, commit.version, what);
    }
    out
}

fn follow_up(commit: &NewCommit<'_>) -> AfterCommit {
    let mut out = AfterCommit::default();
    let NewCommit { location, version, info, actions, .. } = *commit;
    let before = commit.snapshot.filter(|s| s.version().checked_add(1) == Some(version));
    let before = before.and_then(Snapshot::checksum);
    match write_checksum(location, version, before.as_deref(), info, actions) {
        Ok(written) => out.checksum = written,
        Err(error) => {
            out.warnings.push(format!("the checksum of version {version} was not written: {error}"))
        }
    }
    if commit.metadata.is_true(TableProperty::SymlinkFormatManifest) {
        match update_manifest(commit) {
            Ok(done) => out.manifest = Some(done),
            Err(error) => out.warnings.push(format!(
                "the symlink manifest of version {version} was not written, and an older one may be there: {error}"
            )),
        }
    }
    let settings = match LogSettings::of(commit.protocol, commit.metadata) {
        Ok(settings) => settings,
        Err(error) => {
            out.warnings.push(format!("no checkpoint and no cleanup: {error}"));
            return out;
        }
    };
    if version == 0 || !version.is_multiple_of(settings.interval) {
        return out;
    }
    let done = snapshot_of(commit).and_then(|s| checkpoint(&s).map(|done| (s, done)));
    let snapshot = match done {
        Ok((snapshot, done)) => {
            out.checkpoint = Some(done);
            snapshot
        }
        Err(error) => {
            out.warnings.push(format!("the checkpoint of version {version} was not written: {error}"));
            return out;
        }
    };
    if settings.cleanup {
        match cleanup(&snapshot, false) {
            Ok(done) => {
                let failed = done.failed.iter().map(|(name, why)| format!("`{name}` was not deleted: {why}"));
                out.warnings.extend(failed);
                out.cleanup = Some(done);
            }
            Err(error) => out.warnings.push(format!("expired log files were not deleted: {error}")),
        }
    }
    out
}

/// The version of the commit; newer ones are handled by their own writers.
fn snapshot_of(commit: &NewCommit<'_>) -> Result<Snapshot> {
    if let Some(Ok(snapshot)) = commit.snapshot.map(Snapshot::update)
        && snapshot.version() == commit.version
    {
        return Ok(snapshot);
    }
    Snapshot::open(commit.location.clone(), At::Version(commit.version))
}
