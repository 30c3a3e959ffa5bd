//! Compacted files against the commits that they cover.

use std::collections::BTreeSet;

use super::commit_facts::{CommitFacts, Reconciled};
use super::differences::show;
use super::finding::FindingKind;
use super::names::{self, FEW};
use super::report::VerifyReport;
use crate::error::{Error, Result};
use crate::log::LogFile;
use crate::store::Location;

/// A compacted file whose commits are being replayed.
#[derive(Debug)]
pub(super) struct Compaction {
    pub(super) end: u64,
    pub(super) file: LogFile,
    pub(super) commits: Reconciled,
}

/// Compares a compacted file with its commits, where these could be read.
pub(super) fn compare(
    location: &Location,
    file: &LogFile,
    commits: Option<&Reconciled>,
    report: &mut VerifyReport,
) -> Result<()> {
    let (root, path) = (location.root(), location.log_dir().join(&file.name));
    let body = match location.store().get(&path) {
        Err(Error::NotFound { .. }) => return Ok(()),
        body => body?,
    };
    let parsed = match CommitFacts::parse(&body, &path.to_string(), file.version, root) {
        Ok(parsed) => parsed,
        Err(error @ Error::LogCorrupt { .. }) => {
            report.found(FindingKind::UnreadableCompactedFile, file.version, path, "actions", error);
            return Ok(());
        }
        Err(error) => return Err(error),
    };
    let Some(commits) = commits else { return Ok(()) };
    report.compacted_files += 1;
    let mut found = Reconciled::default();
    found.apply(&parsed);
    let mut differs = |expected: String, said: String| {
        report.found(FindingKind::CompactedFileDiffers, file.version, &path, expected, said);
    };
    if found.protocol != commits.protocol {
        let (expected, said) = show(commits.protocol.as_ref(), found.protocol.as_ref());
        differs(format!("protocol: {expected}"), said);
    }
    if found.metadata != commits.metadata {
        let (expected, said) = show(commits.metadata.as_ref(), found.metadata.as_ref());
        differs(format!("metaData: {expected}"), said);
    }
    if found.txns != commits.txns {
        let (expected, said) = show(Some(&commits.txns), Some(&found.txns));
        differs(format!("txn: {expected}"), said);
    }
    if found.domains != commits.domains {
        let (expected, said) = show(Some(&commits.domains), Some(&found.domains));
        differs(format!("domainMetadata: {expected}"), said);
    }
    let wrong: BTreeSet<_> = found
        .files
        .iter()
        .filter(|(key, change)| commits.files.get(key) != Some(change))
        .map(|(key, _)| *key)
        .collect();
    if !wrong.is_empty() {
        let mut few = names::in_body(&body, &wrong, root);
        few.truncate(FEW);
        let said = format!("{} other file actions: `{}`", wrong.len(), few.join("`, `"));
        differs(format!("the {} file actions of its commits", commits.files.len()), said);
    }
    let lost = commits.files.keys().filter(|key| !found.files.contains_key(key)).count();
    if lost > 0 {
        let said = format!("{lost} of them are missing");
        differs(format!("the {} file actions of its commits", commits.files.len()), said);
    }
    Ok(())
}
