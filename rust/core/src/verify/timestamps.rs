//! In-commit timestamps (PROTOCOL.md, "In-Commit Timestamps").

use super::finding::FindingKind;
use super::report::VerifyReport;
use crate::actions::{Metadata, ObjectPath};
use crate::features::has_in_commit_timestamps;

/// Compares the timestamp of a commit with that of the commit before, which is given and replaced. `first` is whether
/// `commitInfo` is the first action.
pub(super) fn check(
    timestamp: Option<i64>,
    first: bool,
    metadata: Option<&Metadata>,
    version: u64,
    path: &ObjectPath,
    before: &mut Option<i64>,
    report: &mut VerifyReport,
) {
    if !metadata.is_some_and(has_in_commit_timestamps) {
        *before = None;
        return;
    }
    let Some(now) = timestamp else {
        let expected = "`inCommitTimestamp` in `commitInfo`";
        report.found(FindingKind::MissingTimestamp, version, path, expected, "none");
        *before = None;
        return;
    };
    if !first {
        let expected = "`commitInfo` as the first action";
        report.found(FindingKind::MissingTimestamp, version, path, expected, "another one before it");
    }
    if let Some(last) = before.filter(|last| now <= *last) {
        let expected = format!("a timestamp after {last}");
        report.found(FindingKind::TimestampNotMonotonic, version, path, expected, now);
    }
    *before = Some(now);
}
