use std::time::{Duration, Instant};

use super::job::DmlJob;
use crate::actions::OperationName;
use crate::dml::{
    Assignments, Change, DmlOptions, Marked, UpdateDone, candidates, check_removable, claim, find, mark,
    millis, rewrite,
};
use crate::error::Result;
use crate::store::Location;
use crate::sums::SaturatingSum;
use crate::txn::retried;
use crate::write::RowCondition;

/// Gives columns other values in the rows for which a condition is true, in all rows without one: in one commit, or
/// nothing is changed. `set` has columns, or fields of structs (`a.b`), and SQL expressions; all of these see the row as
/// it was. Values are cast to the type of the column, and one that does not fit is an error.
///
/// New rows keep every rule of the table: generated columns that are not set are computed again, those that are set must
/// be what their expression gives, and nullability, lengths, CHECK constraints and invariants are checked. Rows move
/// between partitions where partition columns are set. Rows keep their row ids.
///
/// Where the table has `delta.enableDeletionVectors`, the old rows are marked in deletion vectors and only new rows are
/// written; else the touched files are rewritten. Where `delta.enableChangeDataFeed` is set, rows before and after are
/// written as changes. Where no row matches, nothing is committed.
///
/// An update that loses a race it may not follow is retried on the newest version, until the budget of the commit is
/// used up. Files of an attempt that was not committed are deleted; after [`crate::Error::CommitStateUnknown`] they
/// stay, because they may be part of the table.
///
/// # Errors
/// * All of [`super::delete::delete`].
/// * [`crate::Error::InvalidArgument`] for a missing column, is set twice, or lies in an array or map.
/// * [`crate::Error::InvalidExpression`] for an expression that cannot be evaluated or does not give the type of its
///   column, and for a row that it cannot be computed for.
/// * [`crate::Error::SchemaMismatch`] for a value that must not be null or is too long, and for an identity column that
///   is GENERATED ALWAYS.
/// * [`crate::Error::InvariantViolation`] for a new row that breaks a rule of the table.
///
/// # Cost
/// The columns of the condition in the files, row groups and pages that may match, then all columns of the matching rows,
/// or where there are no deletion vectors of the files that have such. Memory: a few batches and the open files of one
/// writer a core.
pub fn update(
    location: &Location,
    set: &[(String, String)],
    condition: Option<&str>,
    options: &DmlOptions,
) -> Result<UpdateDone> {
    retried(options.commit_budget, |budget| attempt(location, set, condition, options, budget))
}

fn attempt(
    location: &Location,
    set: &[(String, String)],
    text: Option<&str>,
    options: &DmlOptions,
    budget: Duration,
) -> Result<UpdateDone> {
    let mut job = DmlJob::begin(location, options, budget)?;
    check_removable(&job.attempt)?;
    let condition = RowCondition::new(text, &job.attempt.plan)?;
    let assignments = Assignments::new(set, job.snapshot.schema())?;
    let mut txn = job.transaction(OperationName::Update, text, options);
    if txn.recorded()?.is_some() {
        return Ok(UpdateDone::default());
    }
    let mut files = candidates(&job.attempt, &job.snapshot, condition.predicate())?;
    if condition.is_by_partitions() {
        files = condition.whole_files(files)?;
    }
    let touched = find(&job.attempt, &condition, files)?;
    claim(&mut txn, &condition, touched.iter().map(|t| &t.add.path))?;
    let (scan, rewriting) = (millis(job.started), Instant::now());
    let vectors = job.attempt.uses_vectors();
    let written = rewrite(&job.attempt, Change::Update(&assignments), &touched, !vectors)?;
    let marked = match vectors {
        true => mark(&job.attempt, &mut txn, &touched)?,
        false => {
            touched.iter().for_each(|t| txn.remove_file(&t.add, true));
            Marked {
                removed_bytes: touched.iter().map(|t| t.add.size.unsigned_abs()).saturating_sum(),
                removed: touched.iter().filter(|t| t.deleted.is_some()).count() as u64,
                ..Default::default()
            }
        }
    };
    let mut done = UpdateDone {
        version: None,
        updated_rows: touched.iter().map(|t| t.matched.len()).sum(),
        copied_rows: written.copied,
        touched_files: touched.len() as u64,
        added_files: written.adds.len() as u64,
        vectors_added: marked.added + marked.updated,
        vectors_removed: marked.removed + marked.updated,
        change_files: written.cdc.len() as u64,
        warnings: Vec::new(),
    };
    if touched.is_empty() && options.app_transaction.is_none() {
        return Ok(done);
    }
    let metrics = [
        ("numUpdatedRows", done.updated_rows),
        ("numCopiedRows", done.copied_rows),
        ("numRemovedFiles", done.touched_files),
        ("numAddedFiles", done.added_files),
        ("numAddedChangeFiles", done.change_files),
        ("numRemovedBytes", marked.removed_bytes),
        ("numAddedBytes", written.adds.iter().map(|a| a.size.unsigned_abs()).saturating_sum()),
        ("numDeletionVectorsAdded", done.vectors_added),
        ("numDeletionVectorsRemoved", done.vectors_removed),
        ("numDeletionVectorsUpdated", marked.updated),
        ("scanTimeMs", scan),
        ("rewriteTimeMs", millis(rewriting)),
        ("executionTimeMs", millis(job.started)),
    ];
    written.adds.into_iter().for_each(|add| txn.add(add));
    written.cdc.into_iter().for_each(|cdc| txn.cdc(cdc));
    txn.operation_mut().set_metrics(metrics);
    let Some(committed) = job.commit(txn)? else { return Ok(UpdateDone::default()) };
    done.version = Some(committed.version);
    done.warnings = committed.warnings;
    Ok(done)
}
