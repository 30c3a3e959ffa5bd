//! One attempt at a delete or update: the version it works on, and the files that it answers for.

use std::time::{Duration, Instant};

use super::condition::Condition;
use super::options::DmlOptions;
use crate::actions::{Add, LogPath};
use crate::conflict::StoredVectors;
use crate::error::{Error, Result};
use crate::predicate::Predicate;
use crate::snapshot::{At, Snapshot};
use crate::store::Location;
use crate::txn::{Operation, Transaction};
use crate::write::{Target, Uploads, WriteOptions, WritePlan, check_writer, plan_existing};

/// An attempt. The files that it wrote are deleted with it unless the table has them, or may have them.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) snapshot: Snapshot,
    pub(super) plan: WritePlan,
    pub(super) write: WriteOptions,
    pub(super) uploads: Uploads,
    pub(super) vectors: StoredVectors,
    pub(super) started: Instant,
    budget: Duration,
    kept: bool,
}

impl Job {
    /// Begins at the newest version.
    ///
    /// # Errors
    /// As [`Snapshot::open`]; [`Error::UnsupportedFeature`] when the table asks more of a writer than this one does.
    pub(super) fn begin(location: &Location, options: &DmlOptions, budget: Duration) -> Result<Self> {
        let started = Instant::now();
        let snapshot = Snapshot::open(location.clone(), At::Latest)?;
        check_writer(
            &location.root().to_string(),
            snapshot.protocol(),
            snapshot.metadata(),
            snapshot.schema(),
        )?;
        let write = options.write();
        let (protocol, metadata) = (snapshot.protocol().clone(), snapshot.metadata().clone());
        let plan = plan_existing(location, Target::Existing(snapshot.version()), protocol, metadata, &write)?;
        Ok(Job {
            snapshot,
            plan,
            write,
            uploads: Uploads::new(location.store().clone()),
            vectors: StoredVectors::new(location),
            started,
            budget,
            kept: false,
        })
    }

    /// Whether rows are marked as deleted where they are.
    pub(super) fn uses_vectors(&self) -> bool {
        self.plan.metadata.is_true("delta.enableDeletionVectors")
            && self.plan.protocol.supports("deletionVectors")
    }

    /// The transaction, with the condition as the history shows it.
    pub(super) fn transaction(
        &self,
        name: &str,
        condition: Option<&str>,
        options: &DmlOptions,
    ) -> Transaction {
        let condition: Vec<&str> = condition.into_iter().collect();
        self.begun(Operation::new(name).with_encoded("predicate", condition), options)
    }

    /// The transaction of an operation.
    pub(super) fn begun(&self, operation: Operation, options: &DmlOptions) -> Transaction {
        let mut txn = Transaction::begin(&self.snapshot, operation);
        txn.set_user_metadata(options.user_metadata.clone());
        txn.set_engine(options.engine.clone());
        txn.set_budget(self.budget);
        txn.set_row_ids_preserved(true);
        if let Some((app_id, version)) = &options.app_transaction {
            txn.app_transaction(app_id, *version);
        }
        txn
    }

    /// The files that may hold rows of a predicate.
    ///
    /// # Errors
    /// As [`Snapshot::files`]; [`Error::AppendOnly`] with the first of them in a table that loses no rows.
    pub(super) fn candidates(&self, predicate: Option<&Predicate>) -> Result<Vec<Add>> {
        let files = self.snapshot.adds(predicate)?;
        let appends_only =
            self.plan.metadata.is_true("delta.appendOnly") && self.plan.protocol.supports("appendOnly");
        match files.first() {
            Some(file) if appends_only => Err(Error::AppendOnly {
                path: self.plan.location.root().to_string(),
                file: file.path.as_str().to_owned(),
            }),
            _ => Ok(files),
        }
    }

    /// Claims the rows of the condition, which are in these files.
    ///
    /// # Errors
    /// As [`Transaction::read_matching`].
    pub(super) fn claim<'p>(
        &self,
        txn: &mut Transaction,
        condition: &Condition,
        files: impl IntoIterator<Item = &'p LogPath>,
    ) -> Result<()> {
        match condition.predicate() {
            Some(predicate) => txn.read_matching(predicate, files),
            None => {
                txn.read_whole_table();
                Ok(())
            }
        }
    }

    /// Whether the table has what was written, or may have it.
    pub(super) fn is_kept(&self) -> bool {
        self.kept
    }

    /// Commits. The version; none where the application transaction was recorded meanwhile.
    ///
    /// # Errors
    /// As [`Transaction::commit`].
    pub(super) fn commit(&mut self, txn: Transaction) -> Result<Option<u64>> {
        let committed = txn.commit();
        self.kept = match &committed {
            Ok(committed) => !committed.already_recorded,
            Err(error) => matches!(error, Error::CommitStateUnknown { .. }),
        };
        if self.kept {
            self.uploads.keep();
        }
        committed.map(|c| (!c.already_recorded).then_some(c.version))
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        if !self.kept {
            self.vectors.discard();
        }
    }
}

/// Milliseconds since then.
pub(super) fn millis(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX)
}

/// The rows that these files show, if their statistics tell the number.
pub(super) fn rows_of(files: &[Add]) -> Option<u64> {
    files
        .iter()
        .map(|file| {
            let rows = crate::txn::row_ids::num_records(file)?;
            let deleted = file.deletion_vector.as_ref().map_or(0, |v| v.cardinality);
            u64::try_from(rows - deleted).ok()
        })
        .sum()
}
