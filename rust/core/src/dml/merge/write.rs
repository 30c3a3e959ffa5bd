//! Rows of touched files that go to new files: those that stay, those with new values, and the changes themselves.

use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};

use super::find::{Acted, Found, taken};
use super::plan::MergePlan;
use super::values::Update;
use crate::dml::rewritten_files::{Rewriting, Rewritten, RowWriter, in_shares, share_of};
use crate::dml::{DmlAttempt, Touched};
use crate::error::{Error, Result};
use crate::write::Rules;

/// Writes what is to be written of the files in which clauses apply: updated rows, where there are no deletion vectors
/// also the rows that stay, and changes where the table records them. Several files are rewritten at a time.
///
/// # Errors
/// As [`crate::dml::rewrite`].
///
/// # Cost
/// Of the rows that are written the columns that stay as they are or that new values are made of; all columns where rows are
/// copied or changes recorded. Memory: the open files of one writer a core, and a batch of the source.
pub(super) fn rewrite(attempt: &DmlAttempt, merge: &MergePlan<'_>, found: &Found) -> Result<Rewritten> {
    let (tells, copies) = (attempt.feeds_changes(), !attempt.uses_vectors());
    let whole = tells || copies;
    let files = Rewriting::new(attempt, tells, |place, field| {
        whole || merge.updates.iter().flatten().any(|update| update.reads(place, &field.name))
    })?;
    let task = Task { files, merge, copies };
    // once, so that a rule that cannot be computed is found before anything is written
    task.rules()?;
    let files = found.touched.iter().zip(&found.acted).filter(|(file, acted)| task.reads(file, acted));
    let files: Vec<(&Touched, &[Acted])> = files.map(|(file, acted)| (file, acted.as_slice())).collect();
    task.files.expect(files.iter().map(|(file, _)| *file));
    in_shares(files.chunks(share_of(files.len())?).collect(), |files| task.run(files))
}

/// What all files of a merge have in common.
struct Task<'a> {
    files: Rewriting<'a>,
    merge: &'a MergePlan<'a>,
    copies: bool,
}

impl Task<'_> {
    /// The rules of each clause that updates, by number of the clause.
    fn rules(&self) -> Result<Vec<Option<Rules>>> {
        let rules = |update: &Option<Update>| update.as_ref().map(|u| u.rules(&self.files.plan)).transpose();
        self.merge.updates.iter().map(rules).collect()
    }

    /// Whether rows of a file are written somewhere.
    fn reads(&self, file: &Touched, acted: &[Acted]) -> bool {
        let updates = |a: &Acted| self.merge.updates[usize::from(a.clause)].is_some();
        self.files.tells() || (self.copies && !file.is_whole()) || acted.iter().any(updates)
    }

    fn run(&self, files: &[(&Touched, &[Acted])]) -> Result<Rewritten> {
        let (mut writer, mut rules) = (self.files.writer(), self.rules()?);
        for (file, acted) in files {
            let skipped = match self.copies {
                true => file.deleted.clone(),
                false => Some(file.others()),
            };
            let mut acted = acted.iter().peekable();
            for batch in self.files.rows(file, skipped.as_ref())? {
                let (batch, places) = batch?;
                // both are in the order of positions
                let of_rows = places.iter().map(|place| acted.next_if(|a| a.row == *place).copied());
                let of_rows: Vec<Option<Acted>> = of_rows.collect();
                self.write(&mut writer, &mut rules, &batch, &of_rows)?;
            }
            if acted.next().is_some() {
                return Err(Error::Internal {
                    operation: "merge".into(),
                    reason: format!("rows of `{}` were found, and not read again", file.add.path),
                });
            }
            self.files.done(file);
        }
        writer.finish()
    }

    /// Writes rows of one file, each with what happens to it.
    fn write(
        &self,
        writer: &mut RowWriter<'_>,
        rules: &mut [Option<Rules>],
        batch: &RecordBatch,
        acted: &[Option<Acted>],
    ) -> Result<()> {
        if self.copies {
            let stay = rows_where(acted, |a| a.is_none());
            if !stay.is_empty() {
                writer.copy(&some_rows(batch, &stay)?)?;
            }
        }
        for (clause, (update, rules)) in self.merge.updates.iter().zip(rules).enumerate() {
            let rows = rows_where(acted, |a| a.is_some_and(|a| usize::from(a.clause) == clause));
            if rows.is_empty() {
                continue;
            }
            let old = some_rows(batch, &rows)?;
            match (update, rules) {
                (Some(update), Some(rules)) => {
                    let source = self.sources(&rows_of(acted, &rows))?;
                    let new = update.apply(&self.merge.joined, &old, source.as_deref())?;
                    writer.update(&old, &new, rules)?;
                }
                _ => writer.delete(&old)?,
            }
        }
        Ok(())
    }

    /// All columns of the rows of the source that rows match; none where they match nothing.
    fn sources(&self, matched: &[Option<u32>]) -> Result<Option<Vec<ArrayRef>>> {
        let Some(numbers) = matched.iter().copied().collect::<Option<Vec<u32>>>() else { return Ok(None) };
        let all: Vec<usize> = (0..self.merge.joined.source.fields.len()).collect();
        self.merge.source.take(&numbers, &all).map(Some)
    }
}

fn rows_of(acted: &[Option<Acted>], rows: &[u32]) -> Vec<Option<u32>> {
    rows.iter().map(|row| acted[*row as usize].and_then(|a| a.source)).collect()
}

fn rows_where(acted: &[Option<Acted>], holds: impl Fn(&Option<Acted>) -> bool) -> Vec<u32> {
    let numbered = (0_u32..).zip(acted);
    numbered.filter(|(_, acted)| holds(acted)).map(|(row, _)| row).collect()
}

fn some_rows(batch: &RecordBatch, rows: &[u32]) -> Result<RecordBatch> {
    let columns = taken(batch.columns(), rows)?;
    let options = RecordBatchOptions::new().with_row_count(Some(rows.len()));
    RecordBatch::try_new_with_options(batch.schema(), columns, &options)
        .map_err(|e| Error::arrow("the rows of a file", e))
}
