use std::collections::HashSet;

use serde_json::{Map, Value};

use super::rewrite_metrics::rewrite_metrics;
use super::route::Route;
use super::row_ids::assign;
use super::table::Table;
use super::timestamps::{mark, next};
use super::{checks, universal_format};
use crate::actions::{
    Action, ActionRef, Add, CommitInfo, DomainMetadata, IDENTITY_MARKS_ONLY, Metadata, ObjectPath, Protocol,
    ROUTE, ROW_IDS_PRESERVED,
};
use crate::after_commit::{NewCommit, after_commit};
use crate::commit::Proposal;
use crate::conflict::{
    Changes, IsolationLevel, MATRIX, Ours, Reads, Row, RuleFinding, StoredVectors, TransactionRecord,
    Vectors, Winner, decide, enables_row_tracking, findings,
};
use crate::error::{Conflict, ConflictKind, ConflictRule, Error, Result, condition};
use crate::features::{ROW_TRACKING_DOMAIN, assigns_row_ids, has_in_commit_timestamps};
use crate::log::commit_path;
use crate::properties::TableProperty;
use crate::snapshot::Snapshot;
use crate::store::Location;

/// A transaction that is being committed: it is checked, and retried at successive versions until one is free.
#[derive(Debug)]
pub struct Pending {
    pub(super) location: Location,
    pub(super) level: IsolationLevel,
    pub(super) info: CommitInfo,
    pub(super) reads: Reads,
    pub(super) changes: Changes,
    /// The table before this commit; none when it makes the table.
    pub(super) table: Option<Table>,
    /// The adds as they were prepared, without what an attempt gives them.
    pub(super) prepared: Vec<Prepared>,
    pub(super) vectors: StoredVectors,
    /// What the current attempt adds: metadata with marks, and the domain of row ids.
    pub(super) metadata: Option<Metadata>,
    pub(super) row_ids: Option<DomainMetadata>,
    /// Whether the rows that move keep their row ids, where the writer said so.
    pub(super) row_ids_preserved: Option<bool>,
    /// [`super::Operation::routes`].
    pub(super) routes: Vec<Route>,
    /// The original changes, if rebasing on winners has altered them in a way that rules see.
    pub(super) begun: Option<Changes>,
    /// What only this operation may remove.
    pub(super) leave: checks::Leave,
    /// The rules.
    pub(super) matrix: &'static [Row],
}

/// Row-tracking fields of an add before an attempt.
#[derive(Debug, Clone, Copy)]
pub(super) struct Prepared {
    base_row_id: Option<i64>,
    default_row_commit_version: Option<i64>,
}

impl Prepared {
    pub(super) fn of(add: &Add) -> Self {
        Prepared { base_row_id: add.base_row_id, default_row_commit_version: add.default_row_commit_version }
    }
}

impl Pending {
    /// Uses other rules than [`MATRIX`]: a model checker proves with broken rules that it would find the error.
    pub fn judge_by(&mut self, matrix: &'static [Row]) {
        self.matrix = matrix;
    }

    fn path(&self) -> String {
        self.location.root().to_string()
    }

    /// Protocol after this commit.
    fn protocol(&self) -> Option<&Protocol> {
        self.changes.protocol.as_ref().or(self.table.as_ref().map(|t| &t.protocol))
    }

    /// Metadata after this commit, except marks.
    fn metadata(&self) -> Option<&Metadata> {
        self.changes.metadata.as_ref().or(self.table.as_ref().map(|t| &t.metadata))
    }

    /// The timestamp of the commit, where the table has them.
    fn timestamp(&self, version: u64, now: i64) -> Result<Option<i64>> {
        if !self.metadata().is_some_and(has_in_commit_timestamps) {
            return Ok(None);
        }
        let previous = match &self.table {
            Some(table) if has_in_commit_timestamps(&table.metadata) => table.in_commit_timestamp,
            // the commit before has none: its file time counts for it (PROTOCOL.md, "In-Commit Timestamps", rule 5)
            Some(_) => {
                let before = commit_path(&self.location, version.saturating_sub(1));
                Some(self.location.store().head(&before)?.modified)
            }
            None => None,
        };
        Ok(Some(next(now, previous)))
    }

    /// Restores the adds to what they were before an attempt.
    fn take_row_ids_back(&mut self) {
        for (add, prepared) in self.changes.adds.iter_mut().zip(&self.prepared) {
            add.base_row_id = prepared.base_row_id;
            add.default_row_commit_version = prepared.default_row_commit_version;
        }
    }

    /// Sets the fields of the adds that depend on the version.
    fn assign_row_ids(&mut self, version: u64) -> Result<()> {
        self.take_row_ids_back();
        let assigns = match (self.protocol(), self.metadata()) {
            (Some(protocol), Some(metadata)) => assigns_row_ids(protocol, metadata),
            _ => false,
        };
        let highest = self.table.as_ref().and_then(|t| t.highest_row_id);
        self.row_ids = match assigns {
            true => assign(&mut self.changes.adds, version, highest)?,
            false => None,
        };
        Ok(())
    }

    /// Updates the metrics of a rewrite to the current files. Metrics that the operation does not have are not
    /// added.
    fn measure_rewrite(&mut self) {
        let Some(metrics) = self.info.operation_metrics.as_mut().filter(|_| !self.changes.moves.is_empty())
        else {
            return;
        };
        for (name, value) in rewrite_metrics(&self.changes) {
            if let Some(metric) = metrics.get_mut(name) {
                *metric = value.to_string().into();
            }
        }
    }

    /// `delta.rowTracking.preserved`: whether every row that moved kept its row id. `delta.identity.schemaUpdate`: the
    /// metadata only moves marks of identity columns, which delta-spark's writers follow. `deltaic.route`: [`Route`].
    fn tags(&self) -> Option<Value> {
        let mut tags = Map::new();
        if self.metadata().is_some_and(|m| m.is_true(TableProperty::EnableRowTracking)) {
            let moved = || !self.changes.removes.is_empty() && !self.changes.adds.is_empty();
            let preserved = self.row_ids_preserved.unwrap_or_else(|| !moved());
            tags.insert(ROW_IDS_PRESERVED.into(), preserved.to_string().into());
        }
        if self.changes.identities.is_some() {
            tags.insert(IDENTITY_MARKS_ONLY.into(), "true".into());
        }
        if !self.routes.is_empty() {
            let names: Vec<&str> = self.routes.iter().map(|route| route.name()).collect();
            tags.insert(ROUTE.into(), names.join(", ").into());
        }
        (!tags.is_empty()).then_some(Value::Object(tags))
    }

    /// The actions of the last attempt.
    fn actions(&self) -> Vec<ActionRef<'_>> {
        let changes = &self.changes;
        let own = |d: &&DomainMetadata| self.row_ids.is_none() || d.domain != ROW_TRACKING_DOMAIN;
        let domains = self.row_ids.iter().chain(changes.domains.iter().filter(own));
        let mut actions = Vec::with_capacity(8 + changes.adds.len() + changes.removes.len());
        actions.extend(changes.protocol.iter().map(ActionRef::Protocol));
        actions.extend(self.metadata.iter().map(ActionRef::MetaData));
        actions.extend(domains.map(ActionRef::DomainMetadata));
        actions.extend(changes.txns.iter().map(ActionRef::Txn));
        actions.extend(changes.removes.iter().map(ActionRef::Remove));
        actions.extend(changes.adds.iter().map(ActionRef::Add));
        actions.extend(changes.cdc.iter().map(ActionRef::Cdc));
        actions
    }

    /// Runs the steps after the commit that the last attempt made. A failure there cannot undo the commit.
    pub(super) fn after_commit(&self, version: u64, snapshot: Option<&Snapshot>) -> Vec<String> {
        let (Some(protocol), Some(metadata)) = (self.protocol(), self.metadata.as_ref().or(self.metadata()))
        else {
            return Vec::new();
        };
        let commit = NewCommit {
            location: &self.location,
            version,
            info: &self.info,
            actions: &self.actions(),
            protocol,
            metadata,
            snapshot,
        };
        let stale = universal_format::warning(version, metadata).filter(|_| self.changes.is_of_formats());
        after_commit(&commit).warnings.into_iter().chain(stale).collect()
    }

    /// The original transaction, for the check against these winners up to the last one.
    fn record(&self, winners: &[Winner]) -> Result<String> {
        let root = self.location.root();
        let read_version = self.info.read_version.and_then(|v| u64::try_from(v).ok()).unwrap_or_default();
        let touched = touched(winners, root)?;
        let changes = self.begun.as_ref().unwrap_or(&self.changes);
        let place: (_, _, &dyn Vectors) = (root, &touched, &self.vectors);
        TransactionRecord {
            last_winner: winners.last().map(|w| w.version),
            operation: self.info.operation.clone(),
            isolation_level: Some(self.level),
            ..TransactionRecord::of(read_version, &self.reads, changes, place)?
        }
        .to_json()
    }

    fn lost(&self, winner: &Winner, winners: &[Winner], kind: ConflictKind, finding: &RuleFinding) -> Error {
        let row = MATRIX.iter().find(|r| r.rule == finding.rule);
        let about = match (finding.rule, &finding.subject) {
            (ConflictRule::Transaction, Some(app)) => format!(" (application `{app}`)"),
            (ConflictRule::Domain, Some(domain)) => format!(" (domain `{domain}`)"),
            (ConflictRule::IdentityTaken, Some(column)) => format!(" (column `{column}`)"),
            _ => String::new(),
        };
        let reason = row.map_or_else(String::new, |r| {
            format!("it {}{about}, and this transaction {}; {}", r.winner, r.ours, r.then)
        });
        let predicate = if about.is_empty() { finding.subject.clone() } else { None };
        let conflict = Conflict {
            path: self.path(),
            version: winner.version,
            winner: winner.operation(),
            files: finding.files.clone(),
            predicate,
            rule: finding.rule,
            level: Some(self.level.name()),
            reason,
            advice: row.map_or("", |r| r.then),
            // a failure to record it must not hide why it lost
            transaction: self.record(winners).ok(),
        };
        let error = Error::lost(kind, conflict);
        match finding.rule {
            ConflictRule::Overtaken => error.of_condition(&condition::CONCURRENT_WRITE),
            _ => error,
        }
    }
}

/// The files that winners removed, by identity.
fn touched(winners: &[Winner], root: &ObjectPath) -> Result<HashSet<String>> {
    let removes = winners.iter().flat_map(|w| &w.actions).filter_map(|a| match a {
        Action::Remove(remove) => Some(remove.path.identity(root)),
        _ => None,
    });
    removes.collect()
}

/// Whether a commit has recorded the application transactions already.
pub(super) fn records_all(changes: &Changes, winner: &Winner) -> bool {
    let recorded = |app: &str| winner.txns().find(|t| t.app_id == app).map(|t| t.version);
    !changes.txns.is_empty()
        && changes
            .txns
            .iter()
            .all(|ours| ours.version >= 0 && recorded(&ours.app_id).is_some_and(|v| v >= ours.version))
}

impl Proposal for Pending {
    fn at(&mut self, version: u64, now: i64) -> Result<(CommitInfo, Vec<ActionRef<'_>>)> {
        self.info.timestamp = Some(now);
        self.info.in_commit_timestamp = self.timestamp(version, now)?;
        match self.tags() {
            Some(tags) => self.info.other.insert("tags".to_owned(), tags),
            None => self.info.other.remove("tags"),
        };
        self.assign_row_ids(version)?;
        self.metadata = self.changes.metadata.clone().map(|mut metadata| {
            let before = self.table.as_ref().map(|t| &t.metadata);
            mark(&mut metadata, before, version, self.info.in_commit_timestamp);
            metadata
        });
        Ok((self.info.clone(), self.actions()))
    }

    fn follow(&mut self, winners: &[Winner]) -> Result<Option<u64>> {
        // among all of them first: a conflicting winner does not matter if a later one did our work
        if let Some(winner) = winners.iter().find(|w| records_all(&self.changes, w)) {
            return Ok(Some(winner.version));
        }
        let path = self.path();
        for winner in winners {
            let Some(table) = &mut self.table else {
                let version = winners.last().map_or(winner.version, |w| w.version);
                return Err(Error::TableAlreadyExists { path, version });
            };
            // the adds as they were prepared: fields set by an attempt are not claims
            let ours = Ours {
                root: self.location.root(),
                protocol: &table.protocol,
                metadata: &table.metadata,
                reads: &self.reads,
                changes: &self.changes,
            };
            let found = findings(&ours, winner, &self.vectors)?;
            if let Some((kind, finding)) = decide(self.matrix, &found, self.level) {
                return Err(self.lost(winner, winners, kind, finding));
            }
            if winner.metadata().is_some_and(|new| enables_row_tracking(&table.metadata, new)) {
                self.row_ids_preserved = Some(false);
            }
            table.follow(&path, winner)?;
            self.take_row_ids_back();
            let seen = |f: &RuleFinding| matches!(f.rule, ConflictRule::OtherRows | ConflictRule::RowsMoved);
            if self.begun.is_none() && found.iter().any(seen) {
                self.begun = Some(self.changes.clone());
            }
            self.changes.rebase(&found, winner, self.location.root(), &self.vectors)?;
            self.reads.follow(winner, self.location.root())?;
            self.prepared = self.changes.adds.iter().map(Prepared::of).collect();
            self.measure_rewrite();
            let table_changed = |f: &RuleFinding| {
                matches!(
                    f.rule,
                    ConflictRule::FeaturesAdded
                        | ConflictRule::PropertiesSet
                        | ConflictRule::IdentityAdvanced
                )
            };
            if found.iter().any(table_changed) {
                self.check()?;
            }
        }
        Ok(None)
    }
}

impl Pending {
    /// All checks that need no winner.
    ///
    /// # Errors
    /// The first rule that the commit would break.
    pub(super) fn check(&self) -> Result<()> {
        let (Some(protocol), Some(metadata)) = (self.protocol(), self.metadata()) else {
            return Err(Error::MissingAction {
                path: self.path(),
                version: 0,
                action: if self.protocol().is_none() { "protocol" } else { "metaData" },
            });
        };
        checks::all(&checks::Subject {
            root: self.location.root(),
            protocol,
            metadata,
            before: self.table.as_ref().map(|t| (&t.protocol, &t.metadata)),
            changes: &self.changes,
            allows_stale_formats: universal_format::is_allowed(&self.location),
            leave: &self.leave,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::actions::{Add, FilePath, Remove};

    #[test]
    fn the_files_that_winners_removed_are_touched() {
        let remove = |path: &str| Action::from(Remove { path: FilePath::encode(path), ..Remove::default() });
        let add = Action::from(Add { path: FilePath::encode("c"), ..Add::default() });
        let winners = [
            Winner { version: 1, actions: vec![remove("a"), add] },
            Winner { version: 2, actions: vec![remove("b")] },
        ];
        let root = ObjectPath::new("memory://", "/t");
        let identity = |path: &str| FilePath::encode(path).identity(&root).unwrap();
        let expected: HashSet<String> = [identity("a"), identity("b")].into();
        assert_eq!(touched(&winners, &root).unwrap(), expected);
    }
}
