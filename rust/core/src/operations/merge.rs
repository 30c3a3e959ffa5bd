use std::time::{Duration, Instant};

use super::job::DmlJob;
use crate::actions::OperationName;
use crate::alter::merge_schema;
use crate::conflict::IdentityValues;
use crate::dml::{
    DmlOptions, Marked, MergeAction, MergeDone, MergePlan, MergeRequest, MergeSource, MergeWhen, candidates,
    check_removable, mark, merge_files, millis, new_columns,
};
use crate::error::Result;
use crate::store::Location;
use crate::sums::SaturatingSum;
use crate::txn::{Operation, Transaction, retried};
use crate::write::{Target, definition, plan_existing};

/// Updates, deletes and inserts rows by those of a source: in one commit, or nothing is changed.
///
/// Rows of the table and of the source meet where the condition is true. Of the clauses about a row the first applies
/// whose condition is true. Values and conditions are Spark SQL; columns are `alias.column`, or `column` where one side has
/// it. Values are cast to the type of their column, and one that does not fit is an error. New rows keep every rule of the
/// table, and rows that are updated keep their row ids. Where `delta.enableChangeDataFeed` is set, changes are recorded.
///
/// Where the table has `delta.enableDeletionVectors`, old rows are marked in deletion vectors and only new rows are
/// written; else the files with a changed row are rewritten. Where no clause applies and no column is added, nothing is
/// committed. A merge that loses a race it may not follow is retried on the newest version with the same source.
///
/// # Errors
/// * All of [`super::delete::delete`] and [`super::append::write()`] for what it changes and adds.
/// * [`crate::Error::MultipleMatches`] for a row of the table that matches several rows of the source, unless the only clause
///   about matches deletes without a condition.
/// * [`crate::Error::InvalidArgument`] for clauses that cannot be, for a column that does not exist or is set twice.
/// * [`crate::Error::InvalidExpression`] for an expression that cannot be evaluated, and for a row that it cannot be
///   computed for.
///
/// # Cost
/// The columns of the conditions in the files, row groups and pages that may match, by the values of the columns that must
/// equal one of the source; then all columns of the touched rows, or where there are no deletion vectors of the files that
/// have such. A condition without `=` between both sides compares each row with each. Memory: the keys of the source, 256
/// MiB of its rows (the others are in a temporary file), 24 bytes for each row that changes, a few batches and the open
/// files of one writer a core.
pub fn merge(
    location: &Location,
    source: &MergeSource,
    request: &MergeRequest,
    options: &DmlOptions,
) -> Result<MergeDone> {
    request.check()?;
    retried(options.commit_budget, |budget| attempt(location, source, request, options, budget))
}

fn attempt(
    location: &Location,
    source: &MergeSource,
    request: &MergeRequest,
    options: &DmlOptions,
    budget: Duration,
) -> Result<MergeDone> {
    let mut job = DmlJob::begin(location, options, budget)?;
    if !request.only_inserts() {
        check_removable(&job.attempt)?;
    }
    evolve(&mut job, request, source)?;
    let merge = MergePlan::new(request, &job.attempt.plan, source)?;
    let mut txn = begun(&job, request, options);
    if txn.recorded()?.is_some() {
        return Ok(MergeDone::default());
    }
    let files = match request.only_inserts() {
        true => job.snapshot.adds(merge.pruning())?,
        false => candidates(&job.attempt, &job.snapshot, merge.pruning())?,
    };
    let (found, written) = merge_files(&job.attempt, &merge, files)?;
    match merge.pruning() {
        Some(predicate) => txn.read_matching(predicate, &found.read)?,
        None => txn.read_whole_table(),
    }
    let (scan, rewriting) = (millis(job.started), Instant::now());
    let vectors = job.attempt.uses_vectors();
    let marked = match vectors {
        true => mark(&job.attempt, &mut txn, &found.touched)?,
        false => {
            found.touched.iter().for_each(|t| txn.remove_file(&t.add, true));
            Marked {
                removed_files: found.touched.len() as u64,
                removed_bytes: found.touched.iter().map(|t| t.add.size.unsigned_abs()).saturating_sum(),
                ..Default::default()
            }
        }
    };
    let rows = |when: MergeWhen, action: MergeAction| -> u64 {
        let of = request.clauses.iter().zip(&written.rows);
        of.filter(|(c, _)| c.when == when && c.action == action).map(|(_, rows)| *rows).sum()
    };
    let updated = [MergeWhen::Matched, MergeWhen::NotMatchedBySource].map(|w| rows(w, MergeAction::Update));
    let deleted = [MergeWhen::Matched, MergeWhen::NotMatchedBySource].map(|w| rows(w, MergeAction::Delete));
    let mut done = MergeDone {
        version: None,
        source_rows: u64::from(source.len()),
        inserted_rows: rows(MergeWhen::NotMatched, MergeAction::Insert),
        updated_rows: updated.iter().sum(),
        deleted_rows: deleted.iter().sum(),
        copied_rows: written.files.copied,
        touched_files: found.touched.len() as u64,
        added_files: written.files.adds.len() as u64,
        vectors_added: marked.added + marked.updated,
        vectors_removed: marked.removed + marked.updated,
        change_files: written.files.cdc.len() as u64,
        warnings: Vec::new(),
    };
    let same_table = txn.changes().metadata.is_none() && txn.changes().protocol.is_none();
    let changed = done.inserted_rows + done.updated_rows + done.deleted_rows;
    if changed == 0 && same_table && options.app_transaction.is_none() {
        return Ok(done);
    }
    let metrics = [
        ("numSourceRows", done.source_rows),
        ("numTargetRowsInserted", done.inserted_rows),
        ("numTargetRowsUpdated", done.updated_rows),
        ("numTargetRowsMatchedUpdated", updated[0]),
        ("numTargetRowsNotMatchedBySourceUpdated", updated[1]),
        ("numTargetRowsDeleted", done.deleted_rows),
        ("numTargetRowsMatchedDeleted", deleted[0]),
        ("numTargetRowsNotMatchedBySourceDeleted", deleted[1]),
        ("numTargetRowsCopied", done.copied_rows),
        ("numOutputRows", done.inserted_rows + done.updated_rows + done.copied_rows),
        ("numTargetFilesAdded", done.added_files),
        ("numTargetFilesRemoved", marked.removed_files),
        ("numTargetBytesAdded", written.files.adds.iter().map(|a| a.size.unsigned_abs()).saturating_sum()),
        ("numTargetBytesRemoved", marked.removed_bytes),
        ("numTargetChangeFilesAdded", done.change_files),
        ("numTargetDeletionVectorsAdded", done.vectors_added),
        ("numTargetDeletionVectorsRemoved", done.vectors_removed),
        ("numTargetDeletionVectorsUpdated", marked.updated),
        ("scanTimeMs", scan),
        ("rewriteTimeMs", millis(rewriting)),
        ("executionTimeMs", millis(job.started)),
    ];
    written.files.adds.into_iter().for_each(|add| txn.add(add));
    written.files.cdc.into_iter().for_each(|cdc| txn.cdc(cdc));
    if !written.marks.is_empty() {
        let generated = written.marks.keys().cloned().collect();
        txn.advance_identities(IdentityValues { written: written.marks, generated })?;
    }
    txn.operation_mut().set_metrics(metrics);
    let Some(committed) = job.commit(txn)? else { return Ok(MergeDone::default()) };
    done.version = Some(committed.version);
    done.warnings = committed.warnings;
    Ok(done)
}

/// Plans for the table with the columns that the merge adds.
fn evolve(job: &mut DmlJob, request: &MergeRequest, source: &MergeSource) -> Result<()> {
    if !request.with_schema_evolution {
        return Ok(());
    }
    let new = new_columns(request, &job.attempt.plan.schema, source.columns());
    if new.fields.is_empty() {
        return Ok(());
    }
    let evolved = merge_schema(&definition(&job.snapshot)?, &new)?;
    let target = Target::Existing(job.snapshot.version());
    let plan = plan_existing(
        job.snapshot.location(),
        target,
        evolved.protocol,
        evolved.metadata,
        &job.attempt.write,
    )?;
    job.attempt.plan = plan;
    Ok(())
}

/// The transaction, with the clauses as the history shows them, and the definition that the merge gives the table.
fn begun(job: &DmlJob, request: &MergeRequest, options: &DmlOptions) -> Transaction {
    let mut operation =
        Operation::new(OperationName::Merge).with_encoded("predicate", vec![request.condition.as_str()]);
    for (name, clauses) in request.parameters() {
        operation = operation.with_encoded(name, clauses);
    }
    let mut txn = job.begun(operation, options);
    let plan = &job.attempt.plan;
    if *job.snapshot.protocol() != plan.protocol {
        txn.set_protocol(plan.protocol.clone());
    }
    if *job.snapshot.metadata() != plan.metadata {
        txn.set_metadata(plan.metadata.clone());
    }
    txn
}
