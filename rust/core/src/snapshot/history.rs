use super::clock::monotonic;
use super::state::Snapshot;
use crate::actions::CommitInfo;
use crate::error::Result;
use crate::features::in_commit_since;
use crate::log::{Listing, LogFile};
use crate::replay::info_of;

/// One commit of the history.
#[derive(Debug, Clone, PartialEq)]
pub struct Commit {
    /// Version.
    pub version: u64,
    /// When it counts as committed, in milliseconds since the Unix epoch: the in-commit timestamp, or the file time made
    /// monotonic.
    pub timestamp: i64,
    /// Modification time of the file as the store has it.
    pub file_timestamp: i64,
    /// Who committed what, where the writer said so.
    pub info: Option<CommitInfo>,
}

impl Snapshot {
    /// The commits up to this version that the log still holds, newest first, at most `limit`.
    ///
    /// # Errors
    /// [`crate::Error::LogCorrupt`] for a commit that cannot be read.
    ///
    /// # Cost
    /// One listing of the whole log, one GET a commit returned.
    pub fn history(&self, limit: Option<usize>) -> Result<Vec<Commit>> {
        let listing = Listing::read(self.location(), 0)?;
        let commits: Vec<&LogFile> = listing.commits().filter(|c| c.version <= self.version()).collect();
        let times = monotonic(commits.iter().copied());
        let since = in_commit_since(self.metadata());
        let wanted: Vec<&LogFile> = commits.into_iter().rev().take(limit.unwrap_or(usize::MAX)).collect();
        let dir = self.location().log_dir();
        let paths: Vec<_> = wanted.iter().map(|c| dir.join(&c.name)).collect();
        let mut out = Vec::with_capacity(wanted.len());
        for (chunk, paths) in wanted.chunks(256).zip(paths.chunks(256)) {
            for ((commit, path), body) in chunk.iter().zip(paths).zip(self.location().store().get_many(paths))
            {
                let info = info_of(&body?, &path.to_string(), commit.version)?;
                let in_commit = info
                    .as_ref()
                    .and_then(|i| i.in_commit_timestamp)
                    .filter(|_| since.is_some_and(|s| commit.version >= s));
                let adjusted = times.get(&commit.version).copied().unwrap_or(commit.modified);
                out.push(Commit {
                    version: commit.version,
                    timestamp: in_commit.unwrap_or(adjusted),
                    file_timestamp: commit.modified,
                    info,
                });
            }
        }
        Ok(out)
    }
}
