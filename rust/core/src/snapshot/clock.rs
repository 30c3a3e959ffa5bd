use std::collections::BTreeMap;

use crate::actions::{Action, CommitInfo, Metadata};
use crate::condition;
use crate::error::{Error, Result};
use crate::log::LogFile;
use crate::replay::CommitActions;
use crate::store::Location;
use crate::txn::timestamps::{SINCE_VERSION, has_in_commit_timestamps};

/// When in-commit timestamps began to count (PROTOCOL.md, "In-Commit Timestamps"): the version, or `None` where they
/// are off.
pub(crate) fn in_commit_since(metadata: &Metadata) -> Option<u64> {
    let version = || metadata.configuration.get(SINCE_VERSION).and_then(|v| v.parse().ok());
    has_in_commit_timestamps(metadata).then(|| version().unwrap_or(0))
}

/// File times made strictly increasing, as delta-spark does: a commit is at least one millisecond after the one before.
/// `commits` are in order.
pub(crate) fn monotonic<'a>(commits: impl Iterator<Item = &'a LogFile>) -> BTreeMap<u64, i64> {
    let mut last = i64::MIN;
    commits
        .map(|c| {
            last = c.modified.max(last.saturating_add(1));
            (c.version, last)
        })
        .collect()
}

/// The `commitInfo` of a commit: its first one.
pub(super) fn commit_info(location: &Location, commit: &LogFile) -> Result<Option<CommitInfo>> {
    let path = location.log_dir().join(&commit.name);
    let body = location.store().get(&path)?;
    info_of(&body, &path.to_string(), commit.version)
}

/// The `commitInfo` of a commit from its body.
pub(crate) fn info_of(body: &[u8], path: &str, version: u64) -> Result<Option<CommitInfo>> {
    // it is the first line wherever a writer follows the protocol; all lines are read only where it is not
    let first = body.split(|b| *b == b'\n').next().unwrap_or_default();
    let parse = |b: &[u8]| {
        CommitActions::parse(b, path, Some(version)).map(|c| {
            c.actions.into_iter().find_map(|a| match a {
                Action::CommitInfo(info) => Some(*info),
                _ => None,
            })
        })
    };
    if first.starts_with(br#"{"commitInfo":"#)
        && let Ok(Some(info)) = parse(first)
    {
        return Ok(Some(info));
    }
    parse(body)
}

/// The in-commit timestamp of a commit.
///
/// # Errors
/// [`Error::LogCorrupt`] when a table with in-commit timestamps has a commit without one.
pub(super) fn in_commit_timestamp(location: &Location, commit: &LogFile) -> Result<i64> {
    let info = commit_info(location, commit)?;
    let missing = match &info {
        None => &condition::MISSING_COMMIT_INFO,
        Some(_) => &condition::MISSING_COMMIT_TIMESTAMP,
    };
    info.and_then(|i| i.in_commit_timestamp).ok_or_else(|| {
        let path = location.log_dir().join(&commit.name).to_string();
        Error::corrupt(
            path,
            Some(commit.version),
            "no `inCommitTimestamp`, which the table's properties ask for",
        )
        .named(missing, [("featureName", "inCommitTimestamp")])
    })
}
