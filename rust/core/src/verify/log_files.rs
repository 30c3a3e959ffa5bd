//! Which files of the log are verified, and which are missing.

use std::collections::{BTreeMap, BTreeSet};

use super::finding::FindingKind;
use super::report::VerifyReport;
use crate::error::{Error, Result};
use crate::log::{Checkpoint, Listing, LogFile, LogFileKind, commit_path, complete_checkpoints};
use crate::store::Location;

/// The log by versions.
#[derive(Debug, Default)]
pub(super) struct LogFiles {
    /// First version that is replayed: 0, or that of the oldest checkpoint.
    pub(super) first: u64,
    pub(super) head: u64,
    pub(super) commits: BTreeMap<u64, LogFile>,
    pub(super) checkpoints: BTreeMap<u64, Vec<Checkpoint>>,
    /// By the last version that they cover.
    pub(super) compacted: Vec<(u64, LogFile)>,
    pub(super) checksums: BTreeMap<u64, LogFile>,
}

impl LogFiles {
    /// Sorts a listing up to a version, and reports the commits that are missing. None where there is no table.
    pub(super) fn of(
        location: &Location,
        listing: &Listing,
        last: Option<u64>,
        report: &mut VerifyReport,
    ) -> Result<Option<Self>> {
        let within = |version: u64| last.is_none_or(|l| version <= l);
        let all: Vec<&LogFile> = listing.files.iter().collect();
        let mut out = LogFiles::default();
        // a version that only a checksum or a compacted file has was committed, and is lost
        let mut lost_after: BTreeSet<u64> = BTreeSet::new();
        let newest = listing.commits().map(|c| c.version).max();
        let to_the_end = last.is_none_or(|l| newest.is_some_and(|n| l >= n));
        for file in &all {
            match file.kind {
                LogFileKind::Compacted { end } if to_the_end => {
                    lost_after.insert(end);
                }
                LogFileKind::Checksum if to_the_end => {
                    lost_after.insert(file.version);
                }
                _ => {}
            }
            match file.kind {
                _ if !within(file.version) => {}
                LogFileKind::Commit => {
                    out.commits.insert(file.version, (*file).clone());
                }
                LogFileKind::Compacted { end } if within(end) => {
                    out.compacted.push((end, (*file).clone()));
                }
                LogFileKind::Checksum => {
                    out.checksums.insert(file.version, (*file).clone());
                }
                _ => {}
            }
        }
        for checkpoint in complete_checkpoints(&all).into_iter().filter(|c| within(c.version)) {
            out.checkpoints.entry(checkpoint.version).or_default().push(checkpoint);
        }
        let newest = out.commits.keys().next_back().max(out.checkpoints.keys().next_back());
        let Some(head) = newest.copied() else { return Ok(None) };
        out.head = head;
        out.first = match out.commits.contains_key(&0) {
            true => 0,
            false => out.checkpoints.keys().next().copied().unwrap_or(0),
        };
        let from_checkpoint = out.checkpoints.contains_key(&out.first) && !out.commits.contains_key(&0);
        let start = out.first + u64::from(from_checkpoint);
        let behind = lost_after.into_iter().filter(|v| *v > head);
        // a name with a version far away makes no list of all that lie between
        let between = (start..=head).filter(|v| !out.commits.contains_key(v)).take(VerifyReport::MOST);
        for version in between.chain(behind).collect::<Vec<_>>() {
            out.missing(location, version, report)?;
        }
        Ok(Some(out))
    }

    /// Reports a commit as missing, unless it came since the listing.
    fn missing(&self, location: &Location, version: u64, report: &mut VerifyReport) -> Result<()> {
        let path = commit_path(location, version);
        match location.store().head(&path) {
            // a writer was faster than the listing
            Ok(_) if version > self.head => return Ok(()),
            Ok(_) | Err(Error::NotFound { .. }) => {}
            Err(error) => return Err(error),
        }
        let expected = match version > self.head {
            true => format!("the commit, because other files of the log know version {version}"),
            false => format!("a commit for each version from {} to {}", self.first, self.head),
        };
        report.found(FindingKind::MissingCommit, version, path, expected, "no file");
        Ok(())
    }
}
