//! Rows of touched files that go to new files: those that stay, those with new values, and the changes themselves.

use arrow::array::{BooleanArray, RecordBatch};
use arrow::compute::{filter_record_batch, not};

use super::assignments::Assignments;
use super::attempt::DmlAttempt;
use super::rewritten_files::{Rewriting, Rewritten, RowWriter, in_shares, share_of};
use super::touched::Touched;
use crate::deletion_vector::DeletionVector;
use crate::error::{Error, Result};
use crate::write::Rules;

/// What happens to the matching rows.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Change<'a> {
    Delete,
    /// They are removed, or become these rows, which are checked against the rules. Other files record the change.
    Elsewhere(&'a [RecordBatch]),
    Update(&'a Assignments),
}

/// Writes what is to be written of touched files: with `copies` also the rows that stay, because the files are removed.
/// Several files are rewritten at a time.
///
/// # Errors
/// As [`crate::scan::read_file`]; [`Error::InvalidExpression`], [`Error::InvariantViolation`] and
/// [`Error::SchemaMismatch`] for a new row that cannot be computed or breaks a rule of the table; errors of the store.
///
/// # Cost
/// All columns of the rows that are written. Memory: the open files of one writer a core.
pub(crate) fn rewrite(
    attempt: &DmlAttempt,
    change: Change<'_>,
    touched: &[Touched],
    copies: bool,
) -> Result<Rewritten> {
    let tells = attempt.feeds_changes() && !matches!(change, Change::Elsewhere(_));
    let task = Task { files: Rewriting::new(attempt, tells, |_, _| true)?, change, copies };
    // once, so that a rule that cannot be computed is found before anything is written
    task.rules()?;
    let wanted = |t: &&Touched| tells || matches!(change, Change::Update(_)) || !t.is_whole();
    let touched: Vec<&Touched> = touched.iter().filter(wanted).collect();
    task.files.expect(touched.iter().copied());
    let new = match change {
        Change::Elsewhere(new) => new,
        _ => &[],
    };
    let mut shares: Vec<(&[&Touched], &[RecordBatch])> =
        touched.chunks(share_of(touched.len())?).map(|f| (f, &[][..])).collect();
    match shares.first_mut() {
        Some((_, rows)) => *rows = new,
        None => shares.push((&[], new)),
    }
    in_shares(shares, |(files, new)| task.run(files, new))
}

/// What all files of a rewrite have in common.
struct Task<'a> {
    files: Rewriting<'a>,
    change: Change<'a>,
    copies: bool,
}

impl Task<'_> {
    /// The rules for new rows.
    fn rules(&self) -> Result<Rules> {
        let plan = &self.files.plan;
        match self.change {
            Change::Delete | Change::Elsewhere(_) => Ok(Rules::none(plan)),
            Change::Update(assignments) => Rules::of_update(plan, |place| assignments.sets(place)),
        }
    }

    /// The rows of a file that need not be read.
    fn skipped_rows(&self, file: &Touched) -> Option<DeletionVector> {
        let reads_matched = self.files.tells() || matches!(self.change, Change::Update(_));
        match (self.copies, reads_matched) {
            (true, true) => file.deleted.clone(),
            (true, false) => Some(file.gone()),
            (false, _) => Some(file.others()),
        }
    }

    /// Rewrites files, with `new` rows in the first of those that it writes.
    fn run(&self, files: &[&Touched], new: &[RecordBatch]) -> Result<Rewritten> {
        let (mut writer, mut rules) = (self.files.writer(), self.rules()?);
        for batch in new {
            writer.add(batch)?;
        }
        for file in files {
            for batch in self.files.rows(file, self.skipped_rows(file).as_ref())? {
                let (batch, places) = batch?;
                let matched = places.iter().map(|at| Some(file.matched.contains(*at))).collect();
                self.write(&mut writer, &mut rules, &batch, &matched)?;
            }
            self.files.done(file);
        }
        writer.finish()
    }

    /// Writes rows of one file, of which `matched` match the condition.
    fn write(
        &self,
        writer: &mut RowWriter<'_>,
        rules: &mut Rules,
        batch: &RecordBatch,
        matched: &BooleanArray,
    ) -> Result<()> {
        let failed = |e| Error::arrow("the rows of a file", e);
        let count = matched.true_count();
        if self.copies && count < batch.num_rows() {
            writer.copy(&filter_record_batch(batch, &not(matched).map_err(failed)?).map_err(failed)?)?;
        }
        if count == 0 {
            return Ok(());
        }
        let old = filter_record_batch(batch, matched).map_err(failed)?;
        match self.change {
            Change::Update(assignments) => writer.update(&old, &assignments.apply(&old)?, rules),
            Change::Delete | Change::Elsewhere(_) => writer.delete(&old),
        }
    }
}
