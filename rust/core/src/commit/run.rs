use std::time::Duration;

use chrono::Utc;

use super::{Backoff, CommitOutcome, write_commit};
use crate::actions::{ActionRef, CommitInfo};
use crate::conflict::{Winner, winners_from};
use crate::error::{Conflict, ConflictKind, ConflictRule, Error, Result};
use crate::events;
use crate::store::Location;

/// A proposed commit, independent of its version.
pub trait Proposal {
    /// The commit as this version.
    ///
    /// # Errors
    /// When it cannot be made; nothing was committed.
    fn at(&mut self, version: u64, now: i64) -> Result<(CommitInfo, Vec<ActionRef<'_>>)>;

    /// Makes it follow commits that landed first, all of them up to the head of the log; or returns the version in
    /// which its work was done already.
    ///
    /// # Errors
    /// When it may not follow one of them; nothing was committed.
    fn follow(&mut self, winners: &[Winner]) -> Result<Option<u64>>;
}

/// How a commit ended that did not fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Landed {
    /// The version.
    pub version: u64,
    /// Whether the work was done by an earlier commit, which is this version.
    pub already_recorded: bool,
    /// How many times a version was tried.
    pub attempts: u32,
    /// In-commit timestamp, where the commit has one.
    pub in_commit_timestamp: Option<i64>,
}

/// Commits a proposal as the first version from `first` on that nobody else takes. A lost race costs one listing and one
/// read of each winner, then the version after the head is tried, with full jitter between the attempts, until the budget
/// is used up.
///
/// # Errors
/// * Errors of the proposal: it may not follow a winner.
/// * [`Error::ConcurrentWrite`] when the budget is used up.
/// * [`Error::CommitStateUnknown`] when it is unknown whether the commit was made: nothing that it names may be deleted.
/// * Errors of the store.
///
/// After every error but [`Error::CommitStateUnknown`] the commit was not made.
pub fn run(
    location: &Location,
    first: u64,
    budget: Duration,
    proposal: &mut impl Proposal,
) -> Result<Landed> {
    let path = location.root().to_string();
    let mut backoff = Backoff::new(Duration::from_millis(5), Duration::from_millis(500), budget);
    let mut version = first;
    loop {
        let (info, actions) = proposal.at(version, Utc::now().timestamp_millis())?;
        let attempts = backoff.attempts() + 1;
        let winner = match write_commit(location, version, &info, actions)? {
            CommitOutcome::Committed(version) => {
                let in_commit_timestamp = info.in_commit_timestamp;
                events::landed(&path, version, info.operation.as_deref().unwrap_or_default(), attempts);
                return Ok(Landed { version, already_recorded: false, attempts, in_commit_timestamp });
            }
            CommitOutcome::Unknown { version, reason } => {
                events::unknown(&path, version, &reason);
                return Err(Error::CommitStateUnknown { path, version, reason });
            }
            CommitOutcome::Conflict { winner, .. } => winner,
        };
        let winners = winners_from(location, version)?;
        if let Some(version) = proposal.follow(&winners)? {
            let in_commit_timestamp = None;
            events::already_recorded(&path, version);
            return Ok(Landed { version, already_recorded: true, attempts, in_commit_timestamp });
        }
        if !backoff.pause() {
            let reason = format!(
                "gave up after {attempts} lost races in {} s; write again, or allow more time",
                budget.as_secs()
            );
            let winner = winner.and_then(|w| w.operation);
            let (files, predicate, rule) = (Vec::new(), None, ConflictRule::TimeUsedUp);
            let lost = Conflict {
                path,
                version,
                winner,
                files,
                predicate,
                rule,
                level: None,
                reason,
                advice: "write again, or allow more time",
                transaction: None,
            };
            return Err(Error::lost(ConflictKind::ConcurrentWrite, lost));
        }
        events::lost_version(&path, version, winners.len(), attempts);
        version += winners.len() as u64;
    }
}
