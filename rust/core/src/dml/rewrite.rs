//! Rows of touched files that go to new files: those that stay, those with new values, and the changes themselves.

use std::sync::Arc;

use arrow::array::{BooleanArray, RecordBatch};
use arrow::compute::{filter_record_batch, not};
use rayon::prelude::*;

use super::assignments::Assignments;
use super::attempt::DmlAttempt;
use super::change_data;
use super::change_data::{ChangeType, ChangeWriter};
use super::touched::Touched;
use crate::actions::{Add, Cdc};
use crate::deletion_vector::DeletionVector;
use crate::error::{Error, Result};
use crate::scan::{PositionedRows, ReadRequest, RowIds, RowScan};
use crate::store::runtime;
use crate::write::{Rules, TableWriter, WritePlan, conform_rows};

/// What happens to the matching rows.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Change<'a> {
    Delete,
    /// They are removed, or become these rows, which are checked against the rules. Other files record the change.
    Elsewhere(&'a [RecordBatch]),
    Update(&'a Assignments),
}

/// Files that were written.
#[derive(Debug, Default)]
pub(crate) struct Rewritten {
    pub(crate) adds: Vec<Add>,
    pub(crate) cdc: Vec<Cdc>,
    /// Rows that stayed and were written again.
    pub(crate) copied: u64,
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
    let row_ids = RowIds::of(&attempt.plan.metadata)?;
    let plan = match &row_ids {
        Some(row_ids) => attempt.plan.with_columns(row_ids.columns()),
        None => attempt.plan.clone(),
    };
    let tells = attempt.feeds_changes() && !matches!(change, Change::Elsewhere(_));
    let changes = tells.then(|| change_data::plan(&attempt.plan));
    let wanted = |t: &&Touched| changes.is_some() || matches!(change, Change::Update(_)) || !t.is_whole();
    let touched: Vec<&Touched> = touched.iter().filter(wanted).collect();
    let scan = RowScan::new(
        plan.location.clone(),
        &plan.schema,
        &plan.partition_columns,
        plan.column_mapping,
        ReadRequest::default(),
    )?;
    let task = Task { attempt, change, copies, row_ids, plan, changes, scan: Arc::new(scan) };
    // once, so that a rule that cannot be computed is found before anything is written
    task.rules()?;
    let pool = runtime::pool()?;
    let share = touched.len().div_ceil(pool.current_num_threads()).max(1);
    let new = match change {
        Change::Elsewhere(new) => new,
        _ => &[],
    };
    let mut shares: Vec<(&[&Touched], &[RecordBatch])> =
        touched.chunks(share).map(|f| (f, &[][..])).collect();
    match shares.first_mut() {
        Some((_, rows)) => *rows = new,
        None => shares.push((&[], new)),
    }
    let run = |(files, new): (&[&Touched], &[RecordBatch])| task.run(files, new);
    let written: Vec<Rewritten> = pool.install(|| shares.into_par_iter().map(run).collect::<Result<_>>())?;
    Ok(written.into_iter().fold(Rewritten::default(), |mut all, one| {
        all.adds.extend(one.adds);
        all.cdc.extend(one.cdc);
        all.copied += one.copied;
        all
    }))
}

/// What all files of a rewrite have in common.
struct Task<'a> {
    attempt: &'a DmlAttempt,
    change: Change<'a>,
    copies: bool,
    row_ids: Option<RowIds>,
    /// With the columns of row ids.
    plan: WritePlan,
    changes: Option<WritePlan>,
    scan: Arc<RowScan>,
}

impl Task<'_> {
    /// The rules for new rows.
    fn rules(&self) -> Result<Rules> {
        match self.change {
            Change::Delete | Change::Elsewhere(_) => Ok(Rules::none(&self.plan)),
            Change::Update(assignments) => Rules::of_update(&self.plan, |place| assignments.sets(place)),
        }
    }

    /// The rows of a file that need not be read.
    fn skipped_rows(&self, file: &Touched) -> Option<DeletionVector> {
        let reads_matched = self.changes.is_some() || matches!(self.change, Change::Update(_));
        match (self.copies, reads_matched) {
            (true, true) => file.deleted.clone(),
            (true, false) => Some(file.gone()),
            (false, _) => Some(file.others()),
        }
    }

    /// Rewrites files, with `new` rows in the first of those that it writes.
    fn run(&self, files: &[&Touched], new: &[RecordBatch]) -> Result<Rewritten> {
        let uploads = &self.attempt.uploads;
        let options = &self.attempt.write;
        let mut writer = Writer {
            task: self,
            data: TableWriter::new(&self.plan, uploads, options, None),
            changes: self.changes.as_ref().map(|plan| ChangeWriter::new(plan, uploads, options)),
            as_they_are: Rules::none(&self.plan),
            rules: self.rules()?,
            copied: 0,
        };
        for batch in new {
            writer.data.write(&conform_rows(&self.plan, &mut writer.as_they_are, batch)?)?;
        }
        for file in files {
            for batch in PositionedRows::open(&self.scan, &file.add, self.skipped_rows(file).as_ref())? {
                self.attempt.check()?;
                let (batch, places) = batch?;
                let batch = RowIds::settled(self.row_ids.as_ref(), batch, &file.add, &places)?;
                writer.write(&batch, &places.iter().map(|at| Some(file.matched.contains(*at))).collect())?;
            }
        }
        Ok(Rewritten {
            adds: writer.data.finish()?.into_iter().map(|file| file.add).collect(),
            cdc: writer.changes.map(ChangeWriter::finish).transpose()?.unwrap_or_default(),
            copied: writer.copied,
        })
    }
}

struct Writer<'a> {
    task: &'a Task<'a>,
    data: TableWriter<'a>,
    changes: Option<ChangeWriter<'a>>,
    as_they_are: Rules,
    rules: Rules,
    copied: u64,
}

impl Writer<'_> {
    /// Writes rows of one file, of which `matched` match the condition.
    fn write(&mut self, batch: &RecordBatch, matched: &BooleanArray) -> Result<()> {
        let failed = |e| Error::arrow("the rows of a file", e);
        let plan = &self.task.plan;
        let count = matched.true_count();
        if self.task.copies && count < batch.num_rows() {
            let stay = filter_record_batch(batch, &not(matched).map_err(failed)?).map_err(failed)?;
            self.copied += stay.num_rows() as u64;
            self.data.write(&conform_rows(plan, &mut self.as_they_are, &stay)?)?;
        }
        if count == 0 {
            return Ok(());
        }
        let old = filter_record_batch(batch, matched).map_err(failed)?;
        let image = match &self.changes {
            Some(_) => Some(conform_rows(plan, &mut self.as_they_are, &old)?),
            None => None,
        };
        let Change::Update(assignments) = self.task.change else {
            return self.note(image.as_ref(), ChangeType::Delete);
        };
        let new = assignments.apply(&old)?;
        let new = match &self.task.row_ids {
            Some(row_ids) => row_ids.changed(&new)?,
            None => new,
        };
        let new = conform_rows(plan, &mut self.rules, &new)?;
        self.data.write(&new)?;
        self.note(image.as_ref(), ChangeType::UpdatePreimage)?;
        self.note(Some(&new), ChangeType::UpdatePostimage)
    }

    fn note(&mut self, conformed: Option<&RecordBatch>, change: ChangeType) -> Result<()> {
        match (&mut self.changes, conformed) {
            (Some(changes), Some(conformed)) => changes.write(conformed, change),
            _ => Ok(()),
        }
    }
}
