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

/// Commits a proposal as the first version from `first` on that nobody else takes. A lost race costs a pause with full
/// jitter, then one listing and one read of each winner, and the version after the head is tried at once: what other
/// writers commit during the pause is followed too. So until the budget is used up.
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
    let mut backoff = Backoff::after_lost_races(budget);
    run_with_pauses(location, first, budget, || backoff.pause(), proposal)
}

/// [`run`], where `pause` waits after a lost race, or is false because the budget is used up.
fn run_with_pauses(
    location: &Location,
    first: u64,
    budget: Duration,
    mut pause: impl FnMut() -> bool,
    proposal: &mut impl Proposal,
) -> Result<Landed> {
    let path = location.root().to_string();
    let mut version = first;
    let mut attempts = 0;
    loop {
        let (info, actions) = proposal.at(version, Utc::now().timestamp_millis())?;
        attempts += 1;
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
        // before the look at the winners and not after it: by then others would have taken the next version
        let time_is_left = pause();
        let winners = winners_from(location, version)?;
        if let Some(version) = proposal.follow(&winners)? {
            let in_commit_timestamp = None;
            events::already_recorded(&path, version);
            return Ok(Landed { version, already_recorded: true, attempts, in_commit_timestamp });
        }
        if !time_is_left {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::StorageOptions;

    /// Follows everything.
    struct Any;

    impl Proposal for Any {
        fn at(&mut self, _: u64, _: i64) -> Result<(CommitInfo, Vec<ActionRef<'_>>)> {
            Ok((info("proposed"), Vec::new()))
        }

        fn follow(&mut self, _: &[Winner]) -> Result<Option<u64>> {
            Ok(None)
        }
    }

    fn info(transaction: &str) -> CommitInfo {
        CommitInfo { txn_id: Some(transaction.into()), ..CommitInfo::default() }
    }

    fn other_writer(location: &Location, version: u64) {
        let none: Vec<ActionRef<'_>> = Vec::new();
        let outcome = write_commit(location, version, &info(&format!("other {version}")), none).unwrap();
        assert!(matches!(outcome, CommitOutcome::Committed(v) if v == version));
    }

    #[test]
    fn what_others_commit_during_a_pause_costs_no_other_race() {
        let folder = tempfile::tempdir().unwrap();
        let location = Location::open(folder.path().to_str().unwrap(), &StorageOptions::default()).unwrap();
        other_writer(&location, 0);
        let mut next = 1;
        let pause = || {
            for _ in 0..3 {
                other_writer(&location, next);
                next += 1;
            }
            true
        };
        let landed = run_with_pauses(&location, 0, Duration::from_secs(60), pause, &mut Any).unwrap();
        assert_eq!((landed.version, landed.attempts), (4, 2));
    }

    #[test]
    fn a_budget_that_is_used_up_is_an_error_that_names_the_version() {
        let folder = tempfile::tempdir().unwrap();
        let location = Location::open(folder.path().to_str().unwrap(), &StorageOptions::default()).unwrap();
        other_writer(&location, 0);
        let error = run_with_pauses(&location, 0, Duration::ZERO, || false, &mut Any).unwrap_err();
        assert!(matches!(&error, Error::ConcurrentWrite(lost) if lost.version == 0), "{error}");
    }
}
