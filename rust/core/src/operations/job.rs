//! One attempt at a delete or update: the version it works on, and the files that it answers for.

use std::time::{Duration, Instant};

use crate::actions::OperationName;
use crate::dml::{DmlAttempt, DmlOptions};
use crate::error::{Error, Result, condition};
use crate::features::check_writer;
use crate::maintain::AutoCompact;
use crate::snapshot::{At, Snapshot};
use crate::store::Location;
use crate::txn::{Committed, Operation, Transaction};
use crate::write::{WriteOptions, WritePlan, plan_snapshot};

/// An attempt, with the version that it works on.
#[derive(Debug)]
pub(crate) struct DmlJob {
    pub(crate) snapshot: Snapshot,
    pub(crate) attempt: DmlAttempt,
    pub(super) started: Instant,
    budget: Duration,
}

impl DmlJob {
    /// Begins at the newest version.
    ///
    /// # Errors
    /// As [`Snapshot::open`]; [`Error::UnsupportedFeature`] when the table asks more of a writer than this one does.
    pub(crate) fn begin(location: &Location, options: &DmlOptions, budget: Duration) -> Result<Self> {
        let started = Instant::now();
        let snapshot = Snapshot::open(location.clone(), At::Latest)?;
        check_writer(&location.root().to_string(), snapshot.protocol())?;
        let write = options.write();
        let plan = plan_snapshot(&snapshot, &write)?;
        let attempt = DmlAttempt::new(plan, write);
        Ok(DmlJob { snapshot, attempt, started, budget })
    }

    /// Works on the version of a checked plan.
    ///
    /// # Errors
    /// [`Error::TableNotFound`] for a plan that makes the table, and for one that has travelled.
    pub(crate) fn of_plan(plan: WritePlan, write: WriteOptions) -> Result<Self> {
        let Some(snapshot) = plan.snapshot().cloned() else {
            let error = Error::TableNotFound { path: plan.location.root().to_string() };
            return Err(error.of_condition(&condition::PATH_DOES_NOT_EXIST));
        };
        let budget = write.commit_budget;
        Ok(DmlJob { snapshot, attempt: DmlAttempt::new(plan, write), started: Instant::now(), budget })
    }

    /// The transaction, with the condition as the history shows it.
    pub(super) fn transaction(
        &self,
        name: OperationName,
        condition: Option<&str>,
        options: &DmlOptions,
    ) -> Transaction {
        let condition: Vec<&str> = condition.into_iter().collect();
        self.begun(Operation::new(name).with_encoded("predicate", condition), options)
    }

    /// The transaction of an operation.
    pub(crate) fn begun(&self, operation: Operation, options: &DmlOptions) -> Transaction {
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

    /// Whether the table refers to what was written, or may do so.
    pub(crate) fn is_kept(&self) -> bool {
        self.attempt.is_kept()
    }

    /// Commits, and compacts where the table asks for it. None where the application transaction was recorded meanwhile.
    ///
    /// # Errors
    /// As [`Transaction::commit`].
    pub(crate) fn commit(&mut self, txn: Transaction) -> Result<Option<Committed>> {
        let compaction = AutoCompact::of(&self.attempt.plan, &txn.changes().adds);
        let mut committed = self.attempt.commit(txn)?;
        if committed.already_recorded {
            return Ok(None);
        }
        if let Some(compaction) = compaction {
            committed.warnings.extend(compaction.run(committed.version));
        }
        Ok(Some(committed))
    }
}
