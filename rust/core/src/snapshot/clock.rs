use std::collections::BTreeMap;

use crate::actions::CommitInfo;
use crate::error::{Error, Result, condition};
use crate::features::TableFeature;
use crate::log::LogFile;
use crate::replay::info_of;
use crate::store::Location;

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
            "no `inCommitTimestamp`, which the table's properties require",
        )
        .named(missing, [("featureName", TableFeature::InCommitTimestamp)])
    })
}
