use std::time::Duration;

use chrono::Utc;
use uuid::Uuid;

use crate::actions::{Action, CommitInfo, Txn};
use crate::error::{Error, Result};
use crate::store::Location;

use super::{Backoff, CommitOutcome, Winner, winners_from, write_commit};

/// The commit of an append that read nothing: it may follow any other commit that left protocol and metadata alone.
#[derive(Debug)]
pub struct AppendCommit<'a> {
    /// The table.
    pub location: &'a Location,
    /// Version that the checks were made against; none creates version 0.
    pub read_version: Option<u64>,
    /// In-commit timestamp of that version, where in-commit timestamps are on; 0 when it has none yet.
    pub in_commit_timestamp: Option<i64>,
    /// Application transaction that the commit records.
    pub txn: Option<&'a Txn>,
    /// How long lost races are repeated.
    pub budget: Duration,
}

/// How a commit ended that did not fail.
#[derive(Debug, Clone, PartialEq)]
pub enum Landed {
    /// It is this version.
    Committed(u64),
    /// Another writer has recorded the same application transaction at this version: there is nothing left to do.
    AlreadyRecorded(u64),
    /// Version 0 was to be created, and another writer did.
    Created {
        /// Provenance of the other's commit.
        winner: Option<Box<CommitInfo>>,
    },
}

/// Commits an append. A lost race costs one listing and one read of each winner, then the version after the head is
/// tried, with full jitter between the attempts, until the budget is used up.
///
/// # Errors
/// * [`Error::CommitConflict`] when a winner changed protocol or metadata, when the same application wrote another of its
///   versions meanwhile, or when the budget is used up. The commit was not made.
/// * [`Error::CommitStateUnknown`] when nobody can tell whether it was made.
/// * What the store says; the commit was not made.
pub fn commit_append(commit: &AppendCommit<'_>, mut info: CommitInfo, actions: &[Action]) -> Result<Landed> {
    let location = commit.location;
    if info.txn_id.is_none() {
        info.txn_id = Some(Uuid::new_v4().to_string());
    }
    let mut version = commit.read_version.map_or(0, |v| v + 1);
    let mut previous = commit.in_commit_timestamp;
    let mut backoff = Backoff::new(Duration::from_millis(5), Duration::from_millis(500), commit.budget);
    loop {
        let now = Utc::now().timestamp_millis();
        info.timestamp = Some(now);
        info.in_commit_timestamp = previous.map(|p| now.max(p + 1));
        let winner = match write_commit(location, version, &info, actions)? {
            CommitOutcome::Committed(version) => return Ok(Landed::Committed(version)),
            CommitOutcome::Unknown { version, reason } => {
                let path = location.root().to_string();
                return Err(Error::CommitStateUnknown { path, version, reason });
            }
            CommitOutcome::Conflict { winner, .. } if commit.read_version.is_none() => {
                return Ok(Landed::Created { winner });
            }
            CommitOutcome::Conflict { winner, .. } => winner,
        };
        let winners = winners_from(location, version)?;
        for winner in &winners {
            if let Some(recorded) = check_winner(commit, winner)? {
                return Ok(Landed::AlreadyRecorded(recorded));
            }
            if let (Some(p), Some(info)) = (previous, winner.info()) {
                previous = Some(info.in_commit_timestamp.unwrap_or(p));
            }
        }
        if !backoff.pause() {
            let operation = winner.and_then(|w| w.operation);
            let reason = format!(
                "gave up after {} lost races in {} s; write again, or allow more time",
                backoff.attempts() + 1,
                commit.budget.as_secs()
            );
            return Err(conflict(location, version, operation, reason));
        }
        version += winners.len() as u64;
    }
}

/// Whether the append may follow `winner`; the version of the winner when it has done our work already.
fn check_winner(commit: &AppendCommit<'_>, winner: &Winner) -> Result<Option<u64>> {
    let lost = |reason: String| conflict(commit.location, winner.version, winner.operation(), reason);
    if winner.protocol().is_some() {
        return Err(lost(
            "it changed the protocol of the table; open the table again and repeat the write".into(),
        ));
    }
    if winner.metadata().is_some() {
        return Err(lost(
            "it changed the metadata of the table (schema, partition columns or properties); open the table again and \
             repeat the write"
                .into(),
        ));
    }
    let Some(ours) = commit.txn else { return Ok(None) };
    match winner.txns().find(|t| t.app_id == ours.app_id) {
        None => Ok(None),
        Some(theirs) if theirs.version >= ours.version => Ok(Some(winner.version)),
        Some(theirs) => Err(lost(format!(
            "it recorded version {} of the application `{}` that writes its version {} here; does the application run \
             twice?",
            theirs.version, ours.app_id, ours.version
        ))),
    }
}

fn conflict(location: &Location, version: u64, winner: Option<String>, reason: String) -> Error {
    Error::CommitConflict { path: location.root().to_string(), version, winner, reason }
}
