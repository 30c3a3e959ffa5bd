//! Removal of rows: by a delete, and by an overwrite of some rows before it adds its own.

use std::time::Instant;

use super::attempt::DmlAttempt;
use super::rewrite::{Change, rewrite};
use super::touched::{Touched, find};
use super::vectors::mark;
use crate::actions::{Add, FilePath};
use crate::error::{Error, Result, condition};
use crate::features::TableFeature;
use crate::predicate::Predicate;
use crate::properties::TableProperty;
use crate::snapshot::Snapshot;
use crate::stats::num_records;
use crate::sums::SaturatingSum;
use crate::txn::Transaction;
use crate::write::RowCondition;

/// What was removed, and what was written for it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Removed {
    /// None where nobody knows how many rows the files had.
    pub(crate) deleted_rows: Option<u64>,
    pub(crate) copied_rows: u64,
    pub(crate) removed_files: u64,
    pub(crate) removed_bytes: u64,
    pub(crate) added_files: u64,
    pub(crate) added_bytes: u64,
    /// In place of another or not.
    pub(crate) vectors_added: u64,
    /// With their file or for another.
    pub(crate) vectors_removed: u64,
    pub(crate) vectors_updated: u64,
    /// Rows that stayed in files with others that are marked as deleted.
    pub(crate) kept_rows: u64,
    /// The bytes of these files.
    pub(crate) kept_bytes: u64,
    pub(crate) change_files: u64,
    pub(crate) scan_millis: u64,
    pub(crate) rewrite_millis: u64,
}

/// Stages the removal of the rows of a condition, and claims what was read for it: whole files by their partition values,
/// deletion vectors where the table has them, or else files without the rows.
///
/// # Errors
/// As [`crate::operations::delete`], except those of the commit.
pub(crate) fn remove_rows(
    attempt: &DmlAttempt,
    snapshot: &Snapshot,
    txn: &mut Transaction,
    condition: &RowCondition<'_>,
) -> Result<Removed> {
    let started = Instant::now();
    let candidates = candidates(attempt, snapshot, condition.predicate())?;
    if condition.is_by_partitions() {
        let files = condition.whole_files(candidates)?;
        claim(txn, condition, files.iter().map(|f| &f.path))?;
        let removed = remove_files(attempt, txn, &files);
        return Ok(Removed { scan_millis: millis(started), ..removed });
    }
    let touched = find(attempt, condition, candidates)?;
    claim(txn, condition, touched.iter().map(|t| &t.add.path))?;
    let (scan_millis, rewriting) = (millis(started), Instant::now());
    let removed = match attempt.uses_vectors() {
        true => by_vectors(attempt, txn, &touched)?,
        false => by_rewrite(attempt, txn, &touched)?,
    };
    Ok(Removed { scan_millis, rewrite_millis: millis(rewriting), ..removed })
}

/// The files that may hold rows of a predicate.
///
/// # Errors
/// As [`Snapshot::files`]; [`Error::AppendOnly`] with the first of them in a table that loses no rows.
pub(crate) fn candidates(
    attempt: &DmlAttempt,
    snapshot: &Snapshot,
    predicate: Option<&Predicate>,
) -> Result<Vec<Add>> {
    let files = snapshot.adds(predicate)?;
    match files.first() {
        Some(file) if loses_no_rows(attempt) => Err(refused(attempt, Some(file.path.as_str().to_owned()))),
        _ => Ok(files),
    }
}

fn loses_no_rows(attempt: &DmlAttempt) -> bool {
    let plan = &attempt.plan;
    plan.metadata.is_true(TableProperty::AppendOnly) && plan.protocol.supports(TableFeature::AppendOnly)
}

fn refused(attempt: &DmlAttempt, file: Option<String>) -> Error {
    Error::AppendOnly { path: attempt.plan.location.root().to_string(), file }
        .named(&condition::CANNOT_MODIFY_APPEND_ONLY, [("config", TableProperty::AppendOnly.name())])
}

/// Refuses what takes rows away, whether there are any.
///
/// # Errors
/// [`Error::AppendOnly`] in a table that loses no rows.
pub(crate) fn check_removable(attempt: &DmlAttempt) -> Result<()> {
    match loses_no_rows(attempt) {
        true => Err(refused(attempt, None)),
        false => Ok(()),
    }
}

/// Claims the rows of the condition, which are in these files.
///
/// # Errors
/// As [`Transaction::read_matching`].
pub(crate) fn claim<'p>(
    txn: &mut Transaction,
    condition: &RowCondition<'_>,
    files: impl IntoIterator<Item = &'p FilePath>,
) -> Result<()> {
    match condition.predicate() {
        Some(predicate) => txn.read_matching(predicate, files),
        None => {
            txn.read_whole_table();
            Ok(())
        }
    }
}

/// Stages the removal of whole files.
fn remove_files(attempt: &DmlAttempt, txn: &mut Transaction, files: &[Add]) -> Removed {
    let mut removed = Removed { deleted_rows: rows_of(files), ..Default::default() };
    for file in files {
        removed.removed_files += 1;
        removed.removed_bytes = removed.removed_bytes.saturating_add(file.size.unsigned_abs());
        removed.vectors_removed += u64::from(file.deletion_vector.is_some());
        txn.remove_file(file, attempt.write.data_change);
    }
    let progress = attempt.plan.location.progress();
    progress.expect(removed.removed_files, removed.removed_bytes);
    progress.done(removed.removed_files, removed.removed_bytes);
    removed
}

fn by_vectors(attempt: &DmlAttempt, txn: &mut Transaction, touched: &[Touched]) -> Result<Removed> {
    let marked = mark(attempt, txn, touched)?;
    let kept = || touched.iter().filter(|t| !t.is_whole());
    Ok(Removed {
        deleted_rows: Some(touched.iter().map(|t| t.matched.len()).sum()),
        removed_files: marked.removed_files,
        removed_bytes: marked.removed_bytes,
        vectors_added: marked.added + marked.updated,
        vectors_removed: marked.removed + marked.updated,
        vectors_updated: marked.updated,
        kept_rows: kept().map(|t| t.rows.saturating_sub(t.gone().cardinality())).saturating_sum(),
        kept_bytes: kept().map(|t| t.add.size.unsigned_abs()).saturating_sum(),
        ..Default::default()
    })
}

fn by_rewrite(attempt: &DmlAttempt, txn: &mut Transaction, touched: &[Touched]) -> Result<Removed> {
    let written = rewrite(attempt, Change::Delete, touched, true)?;
    let removed = Removed {
        deleted_rows: Some(touched.iter().map(|t| t.matched.len()).sum()),
        copied_rows: written.copied,
        removed_files: touched.len() as u64,
        removed_bytes: touched.iter().map(|t| t.add.size.unsigned_abs()).saturating_sum(),
        added_files: written.adds.len() as u64,
        added_bytes: written.adds.iter().map(|a| a.size.unsigned_abs()).saturating_sum(),
        vectors_removed: touched.iter().filter(|t| t.deleted.is_some()).count() as u64,
        change_files: written.cdc.len() as u64,
        ..Default::default()
    };
    let data_change = attempt.write.data_change;
    touched.iter().for_each(|t| txn.remove_file(&t.add, data_change));
    written.adds.into_iter().for_each(|add| txn.add(Add { data_change, ..add }));
    written.cdc.into_iter().for_each(|cdc| txn.cdc(cdc));
    Ok(removed)
}

/// Milliseconds since then.
pub(crate) fn millis(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX)
}

/// The number of rows of these files, if their statistics have it.
pub(crate) fn rows_of(files: &[Add]) -> Option<u64> {
    files.iter().try_fold(0_u64, |all, file| {
        let rows = num_records(file)?;
        let deleted = file.deletion_vector.as_ref().map_or(0, |v| v.cardinality);
        all.checked_add(u64::try_from(rows.checked_sub(deleted)?).ok()?)
    })
}
