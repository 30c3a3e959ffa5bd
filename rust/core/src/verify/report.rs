use super::finding::{Finding, FindingKind};
use crate::error::{Error, Result};

/// What to verify.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VerifyOptions {
    /// Version up to which the log is verified, and whose files are; none is the newest.
    pub version: Option<u64>,
    /// Whether data files and deletion vectors are opened too.
    pub deep: bool,
}

/// What was verified, and the findings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct VerifyReport {
    /// Version whose files were verified.
    pub version: u64,
    /// Oldest version that was replayed.
    pub first_version: u64,
    /// The findings, in the order in which they were made. Of one kind at most [`VerifyReport::MOST`] are kept.
    pub findings: Vec<Finding>,
    /// Findings beyond those.
    pub more_findings: u64,
    /// Commits that were replayed.
    pub commits: u64,
    /// Checkpoints that were compared with the replay.
    pub checkpoints: u64,
    /// Compacted files that were compared with their commits.
    pub compacted_files: u64,
    /// Checksums that were compared with the replay.
    pub checksums: u64,
    /// Data files that were looked at.
    pub files: u64,
    /// Deletion vectors that were looked at.
    pub deletion_vectors: u64,
}

impl VerifyReport {
    /// Findings of one kind that are kept.
    pub const MOST: usize = 100;

    /// Whether no problem was found.
    pub fn ok(&self) -> bool {
        self.findings.is_empty()
    }

    /// Nothing where no problem was found: for callers that want an error instead of a wrong answer.
    ///
    /// # Errors
    /// [`Error::LogCorrupt`] with the first finding, and how many there are.
    pub fn check(&self) -> Result<()> {
        let Some(first) = self.findings.first() else { return Ok(()) };
        let more = match self.findings.len() as u64 - 1 + self.more_findings {
            0 => String::new(),
            more => format!(" (and {more} more, which `verify` lists)"),
        };
        let Finding { kind, version, path, expected, found } = first;
        let reason = format!("{}: expected {expected}, found {found}; {}{more}", kind.name(), first.advice());
        Err(Error::corrupt(path, *version, reason))
    }

    /// Findings of a kind.
    pub fn of(&self, kind: FindingKind) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(move |f| f.kind == kind)
    }

    pub(super) fn found(
        &mut self,
        kind: FindingKind,
        version: impl Into<Option<u64>>,
        path: impl ToString,
        expected: impl ToString,
        found: impl ToString,
    ) {
        if self.of(kind).count() >= Self::MOST {
            self.more_findings += 1;
            return;
        }
        self.findings.push(Finding {
            kind,
            version: version.into(),
            path: path.to_string(),
            expected: expected.to_string(),
            found: found.to_string(),
        });
    }
}
