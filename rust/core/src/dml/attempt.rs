//! The files of an attempt: how they are written, and when they are deleted.

use crate::conflict::StoredVectors;
use crate::error::{Error, Result};
use crate::features::TableFeature;
use crate::properties::TableProperty;
use crate::txn::{Committed, Transaction};
use crate::write::{Uploads, WriteOptions, WritePlan};

/// Data files, change files and deletion vectors that were written for one transaction. They are deleted with it unless
/// the table has them, or may have them.
#[derive(Debug)]
pub(crate) struct DmlAttempt {
    pub(crate) plan: WritePlan,
    pub(crate) write: WriteOptions,
    pub(crate) uploads: Uploads,
    pub(super) vectors: StoredVectors,
    kept: bool,
}

impl DmlAttempt {
    pub(crate) fn new(plan: WritePlan, write: WriteOptions) -> Self {
        let uploads = Uploads::new(&plan.location);
        let vectors = StoredVectors::new(&plan.location);
        DmlAttempt { plan, write, uploads, vectors, kept: false }
    }

    /// Whether rows are marked as deleted where they are. A new vector means that rows change.
    pub(crate) fn uses_vectors(&self) -> bool {
        (self.write.data_change && self.write.vectors)
            && self.plan.metadata.is_true(TableProperty::EnableDeletionVectors)
            && self.plan.protocol.supports(TableFeature::DeletionVectors)
    }

    /// Whether row-level changes are recorded.
    pub(crate) fn feeds_changes(&self) -> bool {
        self.write.data_change && self.plan.metadata.is_true(TableProperty::EnableChangeDataFeed)
    }

    /// Whether the table has the files, or may have them.
    pub(crate) fn is_kept(&self) -> bool {
        self.kept
    }

    /// Whether to continue.
    ///
    /// # Errors
    /// [`Error::Interrupted`] once the operation was asked to stop.
    pub(crate) fn check(&self) -> Result<()> {
        self.uploads.check()
    }

    /// Commits, and keeps the files if the table has them then, or may have them.
    ///
    /// # Errors
    /// As [`Transaction::commit`]; [`Error::Interrupted`] where the operation was asked to stop before.
    pub(crate) fn commit(&mut self, txn: Transaction) -> Result<Committed> {
        self.check()?;
        let committed = txn.commit_changes().map(|(committed, changes)| {
            if !committed.already_recorded {
                self.vectors.discard_all_but(&changes);
            }
            committed
        });
        self.kept = match &committed {
            Ok(committed) => !committed.already_recorded,
            Err(error) => matches!(error, Error::CommitStateUnknown { .. }),
        };
        if self.kept {
            self.uploads.keep();
        }
        committed
    }
}

impl Drop for DmlAttempt {
    fn drop(&mut self) {
        if !self.kept {
            self.vectors.discard();
        }
    }
}
