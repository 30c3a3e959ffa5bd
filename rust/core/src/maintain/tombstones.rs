//! The tombstones of removed files in the log.

use crate::actions::{Action, DeletionVectorDescriptor, FilePath};
use crate::error::Result;
use crate::log::{CheckpointFormat, Listing, LogFile, LogFileKind};
use crate::replay::{CHUNK, CommitActions, fetch};
use crate::snapshot::Snapshot;

/// A file that left the table, or one of row-level changes, which no version but its own needs.
#[derive(Debug, Clone)]
pub(super) struct Left {
    pub(super) path: FilePath,
    pub(super) vector: Option<DeletionVectorDescriptor>,
    /// The newest time at which some version may still have had it.
    pub(super) since: i64,
}

/// All of them in the checkpoint of the version and the commits in the log. `since` is the time of the tombstone
/// or of the commit file, whichever is later: clocks of writers differ.
///
/// # Errors
/// [`crate::Error::LogCorrupt`] for a log that cannot be read.
///
/// # Cost
/// The commits of the log that are not older than `oldest`, and the tombstones of the checkpoint.
pub(super) fn left(snapshot: &Snapshot, oldest: i64) -> Result<Vec<Left>> {
    snapshot.retried(|| left_in(snapshot, oldest))
}

fn left_in(snapshot: &Snapshot, oldest: i64) -> Result<Vec<Left>> {
    let location = snapshot.location();
    let dir = location.log_dir();
    let mut out = Vec::new();
    let log = snapshot.replayed_log()?;
    if let Some(checkpoint) = &log.checkpoint {
        for remove in checkpoint.tombstones()? {
            let since = remove.deletion_timestamp.unwrap_or(0);
            out.push(Left { path: remove.path, vector: remove.deletion_vector, since });
        }
    }
    let json = log.segment.checkpoint.iter().flat_map(|c| &c.files);
    for file in json.filter(|f| f.kind == LogFileKind::UuidCheckpoint(CheckpointFormat::Json)) {
        let path = dir.join(&file.name);
        let body = location.store().get(&path)?;
        gather(CommitActions::parse(&body, &path.to_string(), Some(file.version))?, 0, &mut out);
    }
    let since = log.segment.checkpoint.as_ref().map_or(0, |c| c.version);
    let listing = Listing::read(location, 0)?;
    let wanted =
        |c: &&LogFile| c.version <= snapshot.version() && (c.modified >= oldest || c.version > since);
    let commits: Vec<LogFile> = listing.commits().filter(wanted).cloned().collect();
    for chunk in commits.chunks(CHUNK) {
        for (body, commit) in fetch(location, chunk)?.iter().zip(chunk) {
            let path = dir.join(&commit.name).to_string();
            let actions = CommitActions::parse(body, &path, Some(commit.version))?;
            gather(actions, commit.modified, &mut out);
        }
    }
    Ok(out)
}

fn gather(commit: CommitActions, modified: i64, out: &mut Vec<Left>) {
    for action in commit.actions {
        match action {
            Action::Remove(remove) => out.push(Left {
                since: remove.deletion_timestamp.unwrap_or(0).max(modified),
                path: remove.path,
                vector: remove.deletion_vector,
            }),
            Action::Cdc(cdc) => out.push(Left { path: cdc.path, vector: None, since: modified }),
            _ => {}
        }
    }
}
