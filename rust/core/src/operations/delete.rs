use std::time::Duration;

use super::job::DmlJob;
use crate::actions::OperationName;
use crate::dml::{DeleteDone, DmlOptions, Removed, check_removable, millis, remove_rows};
use crate::error::Result;
use crate::store::Location;
use crate::txn::{Transaction, retried};
use crate::write::RowCondition;

/// Deletes the rows for which a condition is true, all rows without one: in one commit, or nothing is changed. Rows for
/// which it is false or unknown stay, and so does their order within a file.
///
/// Files in which every row matches are removed without being read if partition values decide it. In other files, the
/// rows are marked in deletion vectors where the table has `delta.enableDeletionVectors`, or else the remaining rows
/// are written into new files, with their row ids. Where `delta.enableChangeDataFeed` is set, the deleted rows are also
/// written as changes, unless readers can derive them from the removed files and vectors. Where no row matches, nothing
/// is committed.
///
/// A delete that loses a race it may not follow is retried on the newest version, until the budget of the commit is
/// used up. Files of an attempt that was not committed are deleted; after [`crate::Error::CommitStateUnknown`] they
/// stay, because they may be part of the table.
///
/// # Errors
/// * As [`crate::Snapshot::open`], and as [`Transaction::commit`].
/// * [`crate::Error::UnsupportedFeature`] when the table asks more of a writer than this one does,
///   [`crate::Error::AppendOnly`] when it loses no rows.
/// * [`crate::Error::InvalidExpression`] for what is not a condition on this table, and for a row that it cannot be
///   computed for.
/// * As [`crate::scan::read_file`], and errors of the store; [`crate::Error::Interrupted`] where it was asked to stop.
///
/// # Cost
/// The columns of the condition in the files, row groups and pages that may match, and where there are no deletion
/// vectors all columns of the files that do. Memory: a few batches and the open files of one writer a core.
pub fn delete(location: &Location, condition: Option<&str>, options: &DmlOptions) -> Result<DeleteDone> {
    retried(options.commit_budget, |budget| attempt(location, condition, options, budget))
}

fn attempt(
    location: &Location,
    text: Option<&str>,
    options: &DmlOptions,
    budget: Duration,
) -> Result<DeleteDone> {
    let mut job = DmlJob::begin(location, options, budget)?;
    check_removable(&job.attempt)?;
    let mut txn = job.transaction(OperationName::Delete, text, options);
    let condition = RowCondition::new(text, &job.attempt.plan)?;
    let nothing = DeleteDone { deleted_rows: Some(0), ..Default::default() };
    if txn.recorded()?.is_some() {
        return Ok(nothing);
    }
    let removed = remove_rows(&job.attempt, &job.snapshot, &mut txn, &condition)?;
    let done = DeleteDone {
        version: None,
        deleted_rows: removed.deleted_rows,
        copied_rows: removed.copied_rows,
        removed_files: removed.removed_files,
        added_files: removed.added_files,
        vectors_added: removed.vectors_added,
        vectors_removed: removed.vectors_removed,
        change_files: removed.change_files,
        warnings: Vec::new(),
    };
    if txn.changes().removes.is_empty() && options.app_transaction.is_none() {
        return Ok(done);
    }
    measure(&mut txn, &removed);
    txn.operation_mut().set_metric("executionTimeMs", millis(job.started));
    let Some(committed) = job.commit(txn)? else { return Ok(nothing) };
    Ok(DeleteDone { version: Some(committed.version), warnings: committed.warnings, ..done })
}

/// The metrics of delta-spark. If files without a known number of rows were removed, rows are not reported.
fn measure(txn: &mut Transaction, removed: &Removed) {
    let mut metrics = vec![
        ("numRemovedFiles", removed.removed_files),
        ("numRemovedBytes", removed.removed_bytes),
        ("numAddedBytes", removed.added_bytes),
        ("numAddedChangeFiles", removed.change_files),
        ("numDeletionVectorsAdded", removed.vectors_added),
        ("numDeletionVectorsRemoved", removed.vectors_removed),
        ("numDeletionVectorsUpdated", removed.vectors_updated),
        ("scanTimeMs", removed.scan_millis),
        ("rewriteTimeMs", removed.rewrite_millis),
    ];
    if let Some(rows) = removed.deleted_rows {
        metrics.extend([
            ("numDeletedRows", rows),
            ("numCopiedRows", removed.copied_rows),
            ("numAddedFiles", removed.added_files),
        ]);
    }
    txn.operation_mut().set_metrics(metrics);
}
