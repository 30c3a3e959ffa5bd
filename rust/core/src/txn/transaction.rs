use std::collections::BTreeMap;
use std::time::Duration;

use chrono::Utc;
use serde_json::Value;
use uuid::Uuid;

use super::checks::Leave;
use super::pending::{Pending, Prepared};
use super::table::Table;
use super::warnings::warn;
use super::{Committed, Operation};
use crate::actions::{
    Add, Cdc, CommitInfo, DeletionVectorDescriptor, DomainMetadata, FilePath, Metadata, OperationName,
    Protocol, Remove, Txn,
};
use crate::commit::run;
use crate::conflict::{
    Changes, IdentityValues, IsolationLevel, MATRIX, Reads, RowRelocations, StoredVectors,
};
use crate::error::{Error, Result};
use crate::events;
use crate::predicate::Predicate;
use crate::replay::FilesRequest;
use crate::snapshot::Snapshot;
use crate::stats::wide_bounds;
use crate::store::Location;

/// A change of a table in preparation: what was read of one version, and what the next version changes. Nothing is
/// written to the log before [`Transaction::commit`], which writes all of it as one version or nothing.
///
/// What was read decides which commits of others it may follow, so a transaction whose changes depend on rows must say
/// which: by [`Transaction::read_matching`], [`Transaction::read_predicate`], [`Transaction::read_files`],
/// [`Transaction::read_whole_table`] or [`Transaction::read_state`]. `docs/conflicts.md` has the rules.
#[derive(Debug)]
pub struct Transaction {
    location: Location,
    snapshot: Option<Snapshot>,
    operation: Operation,
    reads: Reads,
    changes: Changes,
    level: Option<IsolationLevel>,
    budget: Duration,
    user_metadata: Option<String>,
    inline_vectors: usize,
    engine: Option<String>,
    row_ids_preserved: Option<bool>,
    adds_may_exist: bool,
    leave: Leave,
    id: String,
}

impl Transaction {
    /// Begins at a version.
    pub fn begin(snapshot: &Snapshot, operation: Operation) -> Self {
        Self::new(snapshot.location().clone(), Some(snapshot.clone()), operation)
    }

    /// Makes a table. The commit fails with [`Error::TableAlreadyExists`] if another writer makes one first.
    pub fn create(location: &Location, protocol: Protocol, metadata: Metadata, operation: Operation) -> Self {
        let mut txn = Self::new(location.clone(), None, operation);
        txn.changes.protocol = Some(protocol);
        txn.changes.metadata = Some(metadata);
        txn
    }

    fn new(location: Location, snapshot: Option<Snapshot>, operation: Operation) -> Self {
        Transaction {
            location,
            snapshot,
            operation,
            reads: Reads::default(),
            changes: Changes::default(),
            level: None,
            budget: Duration::from_secs(300),
            user_metadata: None,
            inline_vectors: 0,
            engine: None,
            row_ids_preserved: None,
            adds_may_exist: false,
            leave: Leave::default(),
            id: Uuid::new_v4().to_string(),
        }
    }

    /// The version that it began at; none where it makes the table.
    pub fn snapshot(&self) -> Option<&Snapshot> {
        self.snapshot.as_ref()
    }

    /// The id that identifies the commit, `commitInfo.txnId`: random, and unique to this transaction.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// What is prepared so far.
    pub fn changes(&self) -> &Changes {
        &self.changes
    }

    /// What it claims to have read.
    pub fn reads(&self) -> &Reads {
        &self.reads
    }

    /// The operation, to set parameters and metrics that are known late.
    pub fn operation_mut(&mut self) -> &mut Operation {
        &mut self.operation
    }

    /// Claims the whole table: any commit that lands first is a conflict.
    pub fn read_state(&mut self) {
        self.reads.state();
    }

    /// Claims every row of the table.
    pub fn read_whole_table(&mut self) {
        self.reads.whole_table();
    }

    /// Claims the rows that match a predicate, in any file.
    ///
    /// # Errors
    /// [`Error::InvalidPredicate`] for a column that the table does not have.
    pub fn read_predicate(&mut self, predicate: &Predicate) -> Result<()> {
        self.read(predicate, None)
    }

    /// Claims the rows that match a predicate, where these are all the files with such rows. If the
    /// transaction replaces the deletion vector of one of them, the rows that it deletes there are all that it read there:
    /// others may delete other rows at the same time.
    ///
    /// # Errors
    /// [`Error::InvalidPredicate`] for a column that the table does not have, [`Error::LogCorrupt`] for a path that cannot
    /// be decoded.
    pub fn read_matching<'p>(
        &mut self,
        predicate: &Predicate,
        files: impl IntoIterator<Item = &'p FilePath>,
    ) -> Result<()> {
        self.read(predicate, Some(&mut files.into_iter()))
    }

    /// Claims the rows that a query read: for each of its scans those that match a predicate, or every row for `None`.
    ///
    /// # Errors
    /// As [`Transaction::read_predicate`].
    pub(crate) fn read_rows_of(&mut self, scans: &[Option<Predicate>]) -> Result<()> {
        scans.iter().try_for_each(|scan| match scan {
            Some(predicate) => self.read_predicate(predicate),
            None => {
                self.read_whole_table();
                Ok(())
            }
        })
    }

    fn read(
        &mut self,
        predicate: &Predicate,
        files: Option<&mut dyn Iterator<Item = &FilePath>>,
    ) -> Result<()> {
        let Some(snapshot) = &self.snapshot else { return Ok(()) };
        let table = (snapshot.schema().as_ref(), snapshot.partition_columns(), snapshot.column_mapping());
        self.reads.predicate(predicate, files, table, self.location.root())
    }

    /// Claims every row of these files.
    ///
    /// # Errors
    /// [`Error::LogCorrupt`] for a path that cannot be decoded.
    pub fn read_files<'p>(&mut self, files: impl IntoIterator<Item = &'p FilePath>) -> Result<()> {
        files.into_iter().try_for_each(|path| self.reads.file(path, self.location.root()))
    }

    /// Claims the version of an application. An application whose version is recorded here is claimed, too.
    pub fn read_app(&mut self, app_id: &str) {
        self.reads.app(app_id);
    }

    /// Adds a file.
    pub fn add(&mut self, add: Add) {
        self.changes.adds.push(add);
    }

    /// Adds files whose names this writer did not choose: the commit checks that the table does not contain them yet.
    pub fn add_foreign(&mut self, adds: impl IntoIterator<Item = Add>) {
        self.adds_may_exist = true;
        self.changes.adds.extend(adds);
    }

    /// Removes a file.
    pub fn remove(&mut self, remove: Remove) {
        self.changes.removes.push(remove);
    }

    /// Removes a file of the table; `data_change` if its rows are removed with it.
    pub fn remove_file(&mut self, add: &Add, data_change: bool) {
        self.changes.removes.push(tombstone(add, data_change));
    }

    /// A file of the table gets another deletion vector, which must contain the rows of the one that it has.
    pub fn replace_vector(&mut self, add: &Add, vector: DeletionVectorDescriptor) {
        self.changes.removes.push(tombstone(add, true));
        let stats = add.stats.as_deref().map(wide_bounds);
        self.changes.adds.push(Add {
            deletion_vector: Some(vector),
            data_change: true,
            stats,
            ..add.clone()
        });
    }

    /// Moves rows from files of the table to new ones without a change: removes the sources and adds the new files,
    /// both with `dataChange` false. `moves` has the new position of each remaining row of the sources. In a table with
    /// deletion vectors enabled, rows of the sources that others delete meanwhile are then deleted in the new files;
    /// without that, and for a source that `moves` does not know, the commit is a conflict.
    ///
    /// A transaction rewrites once.
    pub fn rewrite<'s>(
        &mut self,
        sources: impl IntoIterator<Item = &'s Add>,
        adds: impl IntoIterator<Item = Add>,
        moves: RowRelocations,
    ) {
        self.changes.removes.extend(sources.into_iter().map(|add| tombstone(add, false)));
        self.changes.adds.extend(adds.into_iter().map(|add| Add { data_change: false, ..add }));
        self.changes.moves = moves;
    }

    /// A file of row-level changes.
    pub fn cdc(&mut self, cdc: Cdc) {
        self.changes.cdc.push(cdc);
    }

    /// Sets new metadata. It must fit the files that stay, unless [`Transaction::replaces_all_files`] says that none stays.
    pub fn set_metadata(&mut self, metadata: Metadata) {
        self.changes.metadata = Some(metadata);
        self.changes.identities = None;
    }

    /// The new files have values of identity columns, and the high-water marks move past them. Where the metadata is set,
    /// that comes first. Where this is all that happens to it, others may move marks at the same time, but those of
    /// columns whose values were made here: such a value was given twice, which is a conflict.
    ///
    /// # Errors
    /// [`Error::InvalidSchema`] for an identity column that is none, [`Error::InvalidColumnChange`] when a mark would not
    /// fit into 64 bits.
    pub fn advance_identities(&mut self, values: IdentityValues) -> Result<()> {
        let snapshot = self.snapshot.as_ref().map(Snapshot::metadata);
        let Some(before) = self.changes.metadata.as_ref().or(snapshot) else { return Ok(()) };
        let after = values.advance(before)?;
        if after != *before {
            let alone = self.changes.metadata.is_none() || self.changes.identities.is_some();
            self.changes.identities = alone.then_some(values);
            self.changes.metadata = Some(after);
        }
        Ok(())
    }

    /// Sets a new protocol. It has all features of the one before it, except those of [`Transaction::drops_feature`].
    pub fn set_protocol(&mut self, protocol: Protocol) {
        self.changes.protocol = Some(protocol);
    }

    /// All files of the table are removed or rewritten in this commit, so that types and columns may change at will.
    pub fn replaces_all_files(&mut self) {
        self.leave.all_files = true;
    }

    /// The new protocol may lack this feature: for the operation that drops it, after it has removed the feature's traces.
    pub fn drops_feature(&mut self, name: impl Into<String>) {
        self.leave.features.push(name.into());
    }

    /// Records how far an application has come. A version that the table has already, or an older one, is not committed
    /// again: see [`Committed::already_recorded`]. A version below 0 sets the application back and is always committed.
    pub fn app_transaction(&mut self, app_id: impl Into<String>, version: i64) {
        let last_updated = Some(Utc::now().timestamp_millis());
        self.changes.txns.push(Txn { app_id: app_id.into(), version, last_updated });
    }

    /// Sets or removes a metadata domain.
    pub fn domain(&mut self, domain: DomainMetadata) {
        self.changes.domains.push(domain);
    }

    /// Text for `commitInfo.userMetadata`.
    pub fn set_user_metadata(&mut self, text: Option<String>) {
        self.user_metadata = text;
    }

    /// Deletion vectors that are merged with those of a winner are kept in the log, up to so many bytes; without this they
    /// are in files always, since delta-spark's VACUUM fails on one that the log holds.
    pub fn set_inline_vectors(&mut self, bytes: usize) {
        self.inline_vectors = bytes;
    }

    /// Engine that `commitInfo.engineInfo` names before deltaic itself.
    pub fn set_engine(&mut self, engine: Option<String>) {
        self.engine = engine;
    }

    /// Another isolation level than the table's.
    pub fn set_isolation(&mut self, level: IsolationLevel) {
        self.level = Some(level);
    }

    /// How long lost races are retried.
    pub fn set_budget(&mut self, budget: Duration) {
        self.budget = budget;
    }

    /// Whether rows that move to other files keep their row ids, which the data files show.
    pub fn set_row_ids_preserved(&mut self, preserved: bool) {
        self.row_ids_preserved = Some(preserved);
    }

    /// Commits, as the first version that nobody else takes and that this transaction may follow.
    ///
    /// # Errors
    /// * Before anything is written, every rule of the table that the commit would break: [`Error::AppendOnly`],
    ///   [`Error::InvalidAction`], [`Error::UnsupportedFeature`], [`Error::MissingAction`], [`Error::InvalidSchema`],
    ///   [`Error::DataFile`] for a file whose statistics must have the number of rows.
    /// * [`Error::TableAlreadyExists`] when another writer made the table first.
    /// * [`Error::ConcurrentAppend`], [`Error::ConcurrentDeleteRead`], [`Error::ConcurrentDeleteDelete`],
    ///   [`Error::ConcurrentTransaction`], [`Error::MetadataChanged`], [`Error::ProtocolChanged`] when it may not follow a
    ///   commit that landed first; [`Error::ConcurrentWrite`] when the budget is used up,
    ///   or when it claims the whole table.
    /// * [`Error::CommitStateUnknown`] when it is unknown whether the commit was made: nothing that it names may be deleted.
    /// * Errors of the store.
    ///
    /// After every error but [`Error::CommitStateUnknown`] the commit was not made.
    ///
    /// # Cost
    /// One put where nobody else writes, and what [`crate::after_commit::after_commit`] costs. Tables with in-commit timestamps or row ids cost a GET more, application
    /// transactions a replay of the log's tail.
    pub fn commit(self) -> Result<Committed> {
        self.commit_changes().map(|(committed, _)| committed)
    }

    /// [`Transaction::commit`], and the changes as they were committed: rebased on the winners.
    ///
    /// # Errors
    /// As [`Transaction::commit`].
    pub(crate) fn commit_changes(self) -> Result<(Committed, Changes)> {
        if let Some(version) = self.recorded()? {
            let committed = Committed {
                version,
                already_recorded: true,
                attempts: 0,
                in_commit_timestamp: None,
                warnings: Vec::new(),
            };
            return Ok((committed, self.changes));
        }
        let first = self.snapshot.as_ref().map_or(0, |s| s.version() + 1);
        let (location, budget) = (self.location.clone(), self.budget);
        let snapshot = self.snapshot.clone();
        let _span = events::committing(&location.root().to_string(), &self.operation.name).entered();
        let mut pending = self.prepare()?;
        location.cancel().check().inspect_err(|_| pending.vectors.discard())?;
        let landed = run(&location, first, budget, &mut pending).inspect_err(|error| {
            if !matches!(error, Error::CommitStateUnknown { .. }) {
                pending.vectors.discard();
            }
        })?;
        let warnings = if landed.already_recorded {
            pending.vectors.discard();
            Vec::new()
        } else {
            pending.vectors.discard_all_but(&pending.changes);
            pending.after_commit(landed.version, snapshot.as_ref())
        };
        warn(&warnings);
        let committed = Committed {
            version: landed.version,
            already_recorded: landed.already_recorded,
            attempts: landed.attempts,
            in_commit_timestamp: landed.in_commit_timestamp,
            warnings,
        };
        Ok((committed, pending.changes))
    }

    /// The version that it began at, if that has recorded all application transactions of this one, or newer ones of the
    /// same applications: then there is nothing left to do.
    ///
    /// # Errors
    /// As [`Snapshot::app_transaction`].
    pub fn recorded(&self) -> Result<Option<u64>> {
        let Some(snapshot) = &self.snapshot else { return Ok(None) };
        if self.changes.txns.is_empty() {
            return Ok(None);
        }
        for ours in &self.changes.txns {
            if ours.version < 0
                || snapshot.app_transaction(&ours.app_id)?.is_none_or(|t| t.version < ours.version)
            {
                return Ok(None);
            }
        }
        Ok(Some(snapshot.version()))
    }

    /// Refuses files that the table has.
    fn check_foreign(&self) -> Result<()> {
        let (Some(snapshot), true) = (&self.snapshot, self.adds_may_exist) else { return Ok(()) };
        let root = self.location.root();
        let removed = self.changes.removes.iter().map(|r| r.path.identity(root));
        let removed: std::collections::HashSet<String> = removed.collect::<Result<_>>()?;
        let mut new = std::collections::HashSet::new();
        for add in &self.changes.adds {
            let file = add.path.identity(root)?;
            if !removed.contains(&file) {
                new.insert(file);
            }
        }
        for batch in snapshot.files(FilesRequest::default())? {
            for path in batch?.paths().iter().flatten() {
                if new.contains(FilePath::identity_of(path, root)?.as_ref()) {
                    return Err(Error::InvalidAction {
                        path: root.to_string(),
                        action: path.to_owned(),
                        reason: "the table contains this file already".into(),
                    });
                }
            }
        }
        Ok(())
    }

    /// Makes every check that needs no winner. [`Transaction::commit`] does this and then runs the result.
    ///
    /// # Errors
    /// As [`Transaction::commit`], for what is refused before anything is written.
    pub fn prepare(self) -> Result<Pending> {
        self.check_foreign()?;
        let changes = self.changes;
        let table = match &self.snapshot {
            Some(snapshot) => {
                let protocol = changes.protocol.as_ref().unwrap_or(snapshot.protocol());
                let metadata = changes.metadata.as_ref().unwrap_or(snapshot.metadata());
                Some(Table::of(snapshot, protocol, metadata)?)
            }
            None => None,
        };
        let level = match (self.level, &table) {
            (Some(level), _) => level,
            (None, Some(table)) => IsolationLevel::for_changes(&table.metadata, &changes)?,
            (None, None) => IsolationLevel::Serializable,
        };
        let own = concat!("deltaic/", env!("CARGO_PKG_VERSION"));
        let engine = self.engine.map_or(own.to_owned(), |engine| format!("{engine} {own}"));
        // these refer to older files
        let refers =
            [OperationName::Clone, OperationName::Convert].iter().any(|n| n.name() == self.operation.name);
        let adds_only = changes.removes.is_empty() && changes.cdc.is_empty();
        let blind = self.reads.is_blind() && adds_only && !refers;
        let info = CommitInfo {
            operation: Some(self.operation.name),
            operation_parameters: Some(self.operation.parameters),
            operation_metrics: filled(self.operation.metrics),
            read_version: table.as_ref().and_then(|t| i64::try_from(t.version).ok()),
            isolation_level: Some(level.name().to_owned()),
            is_blind_append: Some(blind),
            user_metadata: self.user_metadata,
            engine_info: Some(engine),
            txn_id: Some(self.id),
            ..Default::default()
        };
        let pending = Pending {
            vectors: StoredVectors::new(&self.location).inline(self.inline_vectors),
            prepared: changes.adds.iter().map(Prepared::of).collect(),
            location: self.location,
            level,
            info,
            reads: self.reads,
            changes,
            table,
            metadata: None,
            row_ids: None,
            row_ids_preserved: self.row_ids_preserved,
            routes: self.operation.routes,
            leave: self.leave,
            begun: None,
            matrix: &MATRIX,
        };
        pending.check()?;
        Ok(pending)
    }
}

/// Parameters and metrics as the log has them; nothing where there are none.
fn filled(map: BTreeMap<String, Value>) -> Option<BTreeMap<String, Value>> {
    if map.is_empty() { None } else { Some(map) }
}

/// The removal of a file of the table.
fn tombstone(add: &Add, data_change: bool) -> Remove {
    Remove {
        path: add.path.clone(),
        deletion_timestamp: Some(Utc::now().timestamp_millis()),
        data_change,
        extended_file_metadata: Some(true),
        partition_values: Some(add.partition_values.clone()),
        size: Some(add.size),
        stats: add.stats.clone(),
        tags: add.tags.clone(),
        deletion_vector: add.deletion_vector.clone(),
        base_row_id: add.base_row_id,
        default_row_commit_version: add.default_row_commit_version,
    }
}
