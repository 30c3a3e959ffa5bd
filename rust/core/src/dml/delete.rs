use std::time::{Duration, Instant};

use super::condition::Condition;
use super::job::{Job, millis, rows_of};
use super::options::{DeleteDone, DmlOptions};
use super::rewrite::{Change, rewrite};
use super::touched::{Touched, find};
use super::vectors::mark;
use crate::actions::Add;
use crate::error::Result;
use crate::store::Location;
use crate::txn::{Transaction, retried};

/// Deletes the rows for which a condition is true, all rows without one: in one commit, or nothing is changed. Rows for
/// which it is false or unknown stay, and so does their order within a file.
///
/// Files all of whose rows go are removed without being read where partition values tell it. Of others, the rows are
/// marked in deletion vectors where the table has `delta.enableDeletionVectors`, or else the rows that stay are written
/// into new files, with their row ids. Where `delta.enableChangeDataFeed` is set, the rows that go are also written as
/// changes, unless readers can tell them from the removed files and vectors. Where no row matches, nothing is committed.
///
/// A delete that loses a race it may not follow is made anew from what the winner left, until the budget of the commit
/// is used up. Files of an attempt that was not committed are deleted; after [`crate::Error::CommitStateUnknown`] they
/// stay, because they may be part of the table.
///
/// # Errors
/// * As [`crate::Snapshot::open`], and as [`Transaction::commit`].
/// * [`crate::Error::UnsupportedFeature`] when the table asks more of a writer than this one does,
///   [`crate::Error::AppendOnly`] when it loses no rows.
/// * [`crate::Error::InvalidExpression`] for what is no condition on this table, and for a row that it cannot be
///   computed for.
/// * As [`crate::scan::read_file`], and what the store says.
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
    let mut job = Job::begin(location, options, budget)?;
    let condition = Condition::new(text, &job.snapshot)?;
    let mut txn = job.transaction("DELETE", text, options);
    if txn.recorded()?.is_some() {
        return Ok(DeleteDone { deleted_rows: Some(0), ..Default::default() });
    }
    let candidates = job.candidates(condition.predicate())?;
    let (mut done, times) = match condition.is_by_partitions() {
        true => {
            let files = condition.whole_files(candidates)?;
            job.claim(&mut txn, &condition, files.iter().map(|f| &f.path))?;
            let scan = millis(job.started);
            (remove(&mut txn, &files), (scan, 0))
        }
        false => {
            let touched = find(location, &condition, candidates)?;
            job.claim(&mut txn, &condition, touched.iter().map(|t| &t.add.path))?;
            let (scan, rewriting) = (millis(job.started), Instant::now());
            let done = match job.uses_vectors() {
                true => delete_by_vectors(&job, &mut txn, &touched)?,
                false => delete_by_rewrite(&job, &mut txn, &touched)?,
            };
            (done, (scan, millis(rewriting)))
        }
    };
    if txn.changes().removes.is_empty() && options.app_transaction.is_none() {
        return Ok(done);
    }
    txn.operation_mut().set_metric("scanTimeMs", times.0);
    txn.operation_mut().set_metric("rewriteTimeMs", times.1);
    txn.operation_mut().set_metric("executionTimeMs", millis(job.started));
    measure(&mut txn, &done);
    done.version = job.commit(txn)?;
    Ok(if done.version.is_none() { DeleteDone { deleted_rows: Some(0), ..Default::default() } } else { done })
}

/// Removes whole files.
fn remove(txn: &mut Transaction, files: &[Add]) -> DeleteDone {
    let mut bytes = 0;
    let mut done = DeleteDone { deleted_rows: rows_of(files), ..Default::default() };
    for file in files {
        bytes += file.size.unsigned_abs();
        done.removed_files += 1;
        done.vectors_removed += u64::from(file.deletion_vector.is_some());
        txn.remove_file(file, true);
    }
    set_bytes(txn, bytes, 0);
    done
}

fn delete_by_vectors(job: &Job, txn: &mut Transaction, touched: &[Touched]) -> Result<DeleteDone> {
    let marked = mark(job, txn, touched)?;
    txn.operation_mut().set_metric("numDeletionVectorsUpdated", marked.updated);
    set_bytes(txn, marked.removed_bytes, 0);
    Ok(DeleteDone {
        deleted_rows: Some(touched.iter().map(|t| t.matched.len()).sum()),
        removed_files: marked.removed_files,
        vectors_added: marked.added + marked.updated,
        vectors_removed: marked.removed + marked.updated,
        ..Default::default()
    })
}

fn delete_by_rewrite(job: &Job, txn: &mut Transaction, touched: &[Touched]) -> Result<DeleteDone> {
    let written = rewrite(job, Change::Delete, touched, true)?;
    let removed = touched.iter().map(|t| t.add.size.unsigned_abs()).sum();
    set_bytes(txn, removed, written.adds.iter().map(|a| a.size.unsigned_abs()).sum());
    let done = DeleteDone {
        deleted_rows: Some(touched.iter().map(|t| t.matched.len()).sum()),
        copied_rows: written.copied,
        removed_files: touched.len() as u64,
        added_files: written.adds.len() as u64,
        vectors_removed: touched.iter().filter(|t| t.deleted.is_some()).count() as u64,
        change_files: written.cdc.len() as u64,
        ..Default::default()
    };
    touched.iter().for_each(|t| txn.remove_file(&t.add, true));
    written.adds.into_iter().for_each(|add| txn.add(add));
    written.cdc.into_iter().for_each(|cdc| txn.cdc(cdc));
    Ok(done)
}

fn set_bytes(txn: &mut Transaction, removed: u64, added: u64) {
    txn.operation_mut().set_metric("numRemovedBytes", removed);
    txn.operation_mut().set_metric("numAddedBytes", added);
}

/// The metrics of delta-spark. Where files were removed and nobody knows how many rows they had, rows are not told.
fn measure(txn: &mut Transaction, done: &DeleteDone) {
    let operation = txn.operation_mut();
    operation.set_metric("numRemovedFiles", done.removed_files);
    operation.set_metric("numAddedChangeFiles", done.change_files);
    operation.set_metric("numDeletionVectorsAdded", done.vectors_added);
    operation.set_metric("numDeletionVectorsRemoved", done.vectors_removed);
    operation.metrics.entry("numDeletionVectorsUpdated".into()).or_insert_with(|| "0".into());
    if let Some(rows) = done.deleted_rows {
        operation.set_metric("numDeletedRows", rows);
        operation.set_metric("numCopiedRows", done.copied_rows);
        operation.set_metric("numAddedFiles", done.added_files);
    }
}
