//! Explains why a transaction lost or would lose: repeats the check of its commit and reports every rule that applies.

use serde::Serialize;

use super::pending::records_all;
use crate::actions::{Action, DeletionVectorDescriptor};
use crate::conflict::{
    ExplainedWinner, IsolationLevel, Ours, Outcome, Reads, TransactionRecord, Vectors, Winner, explain,
    findings, winners_from,
};
use crate::deletion_vector::DeletionVector;
use crate::error::{Error, Result};
use crate::log::commit_path;
use crate::snapshot::{At, Snapshot};
use crate::store::Location;

/// The commits that a transaction would have to follow.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ConflictExplanation {
    /// Version that it began at.
    pub read_version: u64,
    /// Its operation.
    pub operation: Option<String>,
    /// Its isolation level.
    pub isolation_level: IsolationLevel,
    /// Its outcome.
    pub outcome: Outcome,
    /// The first commit that it cannot follow, or the one that did its work.
    pub version: Option<u64>,
    /// The commits after its version, in order.
    pub winners: Vec<ExplainedWinner>,
}

/// Checks a transaction against the commits after the version that it began at, one after the other, as its commit
/// does. Nothing is written. Commits after a conflict are reported too, as if there had been none.
///
/// # Errors
/// * [`Error::VersionNotFound`] and [`Error::NotFound`] when the log no longer has the version or a commit after it.
/// * [`Error::InvalidPredicate`] for a predicate that is not of this table.
/// * [`Error::DeletionVector`] when the vector of a file that both changed no longer exists.
///
/// # Cost
/// Opening the version, and a read of each commit.
pub fn explain_conflicts(
    location: &Location,
    transaction: &TransactionRecord,
) -> Result<ConflictExplanation> {
    let snapshot = Snapshot::open(location.clone(), At::Version(transaction.read_version))?;
    let root = location.root();
    let table = (snapshot.schema().as_ref(), snapshot.partition_columns(), snapshot.column_mapping());
    let mut reads = Reads::of(&transaction.reads, table)?;
    let mut changes = transaction.changes.clone();
    let (mut protocol, mut metadata) = (snapshot.protocol().clone(), snapshot.metadata().clone());
    let level = match transaction.isolation_level {
        Some(level) => level,
        None => IsolationLevel::for_changes(&metadata, &changes)?,
    };
    let winners = winners(&snapshot, transaction.last_winner)?;
    let recorded = winners.iter().find(|w| records_all(&changes, w)).map(|w| w.version);
    let vectors = Unwritten(location);
    let mut explained: Vec<ExplainedWinner> = Vec::with_capacity(winners.len());
    for winner in &winners {
        let ours = Ours { root, protocol: &protocol, metadata: &metadata, reads: &reads, changes: &changes };
        let mut reported = explain(&ours, winner, &vectors, level)?;
        if reported.outcome != Outcome::Conflict {
            let found = findings(&ours, winner, &vectors)?;
            changes.rebase(&found, winner, root, &vectors)?;
            reads.follow(winner, root)?;
        }
        if recorded == Some(winner.version) {
            reported.outcome = Outcome::Recorded;
        }
        explained.push(reported);
        for action in &winner.actions {
            match action {
                Action::Protocol(new) => protocol = new.clone(),
                Action::MetaData(new) => metadata = new.as_ref().clone(),
                _ => {}
            }
        }
    }
    let conflict = || explained.iter().find(|w| w.outcome == Outcome::Conflict).map(|w| w.version);
    let (outcome, version) = match (recorded, conflict()) {
        (Some(version), _) => (Outcome::Recorded, Some(version)),
        (None, Some(version)) => (Outcome::Conflict, Some(version)),
        (None, None) if explained.iter().any(|w| w.outcome == Outcome::Rebase) => (Outcome::Rebase, None),
        (None, None) => (Outcome::Pass, None),
    };
    Ok(ConflictExplanation {
        read_version: transaction.read_version,
        operation: transaction.operation.clone(),
        isolation_level: level,
        outcome,
        version,
        winners: explained,
    })
}

fn winners(snapshot: &Snapshot, last: Option<u64>) -> Result<Vec<Winner>> {
    let (location, first) = (snapshot.location(), snapshot.version() + 1);
    let last = match last {
        Some(last) => last,
        None => snapshot.update()?.version(),
    };
    if last < first {
        return Ok(Vec::new());
    }
    let mut winners = winners_from(location, first)?;
    let missing = first + winners.len() as u64;
    if missing <= last {
        return Err(Error::NotFound { path: commit_path(location, missing).to_string() });
    }
    winners.retain(|w| w.version <= last);
    Ok(winners)
}

/// Deletion vectors of a table, of which new ones stay in memory.
#[derive(Debug)]
struct Unwritten<'a>(&'a Location);

impl Vectors for Unwritten<'_> {
    fn load(&self, descriptor: &DeletionVectorDescriptor) -> Result<DeletionVector> {
        DeletionVector::load(descriptor, self.0)
    }

    fn store_all(&self, vectors: &[DeletionVector]) -> Result<Vec<DeletionVectorDescriptor>> {
        Ok(vectors.iter().map(DeletionVector::to_inline).collect())
    }
}
