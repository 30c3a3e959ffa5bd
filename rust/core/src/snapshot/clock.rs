use std::collections::BTreeMap;

use crate::actions::CommitInfo;
use crate::error::{Error, Result, condition};
use crate::features::TableFeature;
use crate::log::{LogFile, commit_path};
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

/// The `commitInfo` of a version: the first one of its commit.
pub(super) fn commit_info(location: &Location, version: u64) -> Result<Option<CommitInfo>> {
    let path = commit_path(location, version);
    info_of(&location.store().get(&path)?, &path.to_string(), version)
}

/// The in-commit timestamp of a version.
///
/// # Errors
/// [`Error::LogCorrupt`] when a table with in-commit timestamps has a commit without one.
pub(crate) fn in_commit_timestamp(location: &Location, version: u64) -> Result<i64> {
    let info = commit_info(location, version)?;
    let missing = match &info {
        None => &condition::MISSING_COMMIT_INFO,
        Some(_) => &condition::MISSING_COMMIT_TIMESTAMP,
    };
    info.and_then(|i| i.in_commit_timestamp).ok_or_else(|| {
        let reason = "no `inCommitTimestamp`, which the table's properties require";
        Error::corrupt(commit_path(location, version).to_string(), Some(version), reason)
            .named(missing, [("featureName", TableFeature::InCommitTimestamp)])
    })
}
