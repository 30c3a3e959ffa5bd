//! Rows of touched files that go to new files: those that stay, those with new values, and the changes themselves.

use std::sync::Arc;

use arrow::array::{RecordBatch, RecordBatchOptions};
use rayon::prelude::*;

use super::find::{Acted, Found, taken};
use super::plan::{MergePlan, MergeWritten};
use crate::dml::change_data::{self, ChangeType, ChangeWriter};
use crate::dml::{DmlAttempt, Touched};
use crate::error::{Error, Result};
use crate::scan::{PositionedRows, ReadRequest, RowIds, RowScan};
use crate::store::runtime;
use crate::write::{Rules, TableWriter, WritePlan, conform_rows};

/// Writes what is to be written of the files in which clauses apply: updated rows, where there are no deletion vectors
/// also the rows that stay, and changes where the table records them. Several files are rewritten at a time.
///
/// # Errors
/// As [`crate::dml::rewrite`].
///
/// # Cost
/// All columns of the rows that are written. Memory: the open files of one writer a core, and a batch of the source.
pub(super) fn rewrite(attempt: &DmlAttempt, merge: &MergePlan<'_>, found: &Found) -> Result<MergeWritten> {
    let row_ids = RowIds::of(&attempt.plan.metadata)?;
    let plan = match &row_ids {
        Some(row_ids) => attempt.plan.with_columns(row_ids.columns()),
        None => attempt.plan.clone(),
    };
    let scan = RowScan::new(
        plan.location.clone(),
        &plan.schema,
        &plan.partition_columns,
        plan.column_mapping,
        ReadRequest::default(),
    )?;
    let changes = attempt.feeds_changes().then(|| change_data::plan(&attempt.plan));
    let copies = !attempt.uses_vectors();
    let task = Task { attempt, merge, copies, row_ids, plan, changes, scan: Arc::new(scan) };
    // once, so that a rule that cannot be computed is found before anything is written
    task.rules()?;
    let files = found.touched.iter().zip(&found.acted).filter(|(file, acted)| task.reads(file, acted));
    let files: Vec<(&Touched, &[Acted])> = files.map(|(file, acted)| (file, acted.as_slice())).collect();
    let pool = runtime::pool()?;
    let share = files.len().div_ceil(pool.current_num_threads()).max(1);
    let written: Vec<MergeWritten> =
        pool.install(|| files.par_chunks(share).map(|files| task.run(files)).collect::<Result<_>>())?;
    Ok(written.into_iter().fold(MergeWritten::default(), |mut all, one| {
        all.adds.extend(one.adds);
        all.cdc.extend(one.cdc);
        all.copied += one.copied;
        all
    }))
}

/// What all files of a merge have in common.
struct Task<'a> {
    attempt: &'a DmlAttempt,
    merge: &'a MergePlan<'a>,
    copies: bool,
    row_ids: Option<RowIds>,
    /// With the columns of row ids.
    plan: WritePlan,
    changes: Option<WritePlan>,
    scan: Arc<RowScan>,
}

impl Task<'_> {
    /// The rules of each clause that updates.
    fn rules(&self) -> Result<Vec<Option<Rules>>> {
        let rules = |update: &Option<super::values::Update>| {
            update.as_ref().map(|update| update.rules(&self.plan)).transpose()
        };
        self.merge.updates.iter().map(rules).collect()
    }

    /// Whether rows of a file are written somewhere.
    fn reads(&self, file: &Touched, acted: &[Acted]) -> bool {
        let updates = |a: &Acted| self.merge.updates[usize::from(a.clause)].is_some();
        self.changes.is_some() || (self.copies && !file.is_whole()) || acted.iter().any(updates)
    }

    fn run(&self, files: &[(&Touched, &[Acted])]) -> Result<MergeWritten> {
        let (uploads, options) = (&self.attempt.uploads, &self.attempt.write);
        let mut writer = Writer {
            task: self,
            data: TableWriter::new(&self.plan, uploads, options, None),
            changes: self.changes.as_ref().map(|plan| ChangeWriter::new(plan, uploads, options)),
            as_they_are: Rules::none(&self.plan),
            rules: self.rules()?,
            copied: 0,
        };
        for (file, acted) in files {
            let passed_over = match self.copies {
                true => file.deleted.clone(),
                false => Some(file.others()),
            };
            let mut acted = acted.iter().peekable();
            for batch in PositionedRows::open(&self.scan, &file.add, passed_over.as_ref())? {
                self.attempt.check()?;
                let (batch, places) = batch?;
                let batch = RowIds::settled(self.row_ids.as_ref(), batch, &file.add, &places)?;
                // both are in the order of positions
                let of_rows = places.iter().map(|place| acted.next_if(|a| a.row == *place).copied());
                let of_rows: Vec<Option<Acted>> = of_rows.collect();
                writer.write(&batch, &of_rows)?;
            }
            if acted.next().is_some() {
                return Err(Error::Internal {
                    operation: "merge".into(),
                    reason: format!("rows of `{}` were found, and not read again", file.add.path),
                });
            }
        }
        Ok(MergeWritten {
            adds: writer.data.finish()?.into_iter().map(|file| file.add).collect(),
            cdc: writer.changes.map(ChangeWriter::finish).transpose()?.unwrap_or_default(),
            copied: writer.copied,
            ..Default::default()
        })
    }
}

struct Writer<'a> {
    task: &'a Task<'a>,
    data: TableWriter<'a>,
    changes: Option<ChangeWriter<'a>>,
    as_they_are: Rules,
    /// By number of the clause.
    rules: Vec<Option<Rules>>,
    copied: u64,
}

impl Writer<'_> {
    /// Writes rows of one file, each with what happens to it.
    fn write(&mut self, batch: &RecordBatch, acted: &[Option<Acted>]) -> Result<()> {
        if self.task.copies {
            let stay = rows_where(acted, |a| a.is_none());
            self.copied += stay.len() as u64;
            if !stay.is_empty() {
                let stay = some_rows(batch, &stay)?;
                self.data.write(&conform_rows(&self.task.plan, &mut self.as_they_are, &stay)?)?;
            }
        }
        for clause in 0..self.rules.len() {
            let rows = rows_where(acted, |a| a.is_some_and(|a| usize::from(a.clause) == clause));
            if !rows.is_empty() {
                self.apply(clause, batch, &rows, acted)?;
            }
        }
        Ok(())
    }

    fn apply(
        &mut self,
        clause: usize,
        batch: &RecordBatch,
        rows: &[u32],
        acted: &[Option<Acted>],
    ) -> Result<()> {
        let Task { merge, plan, .. } = self.task;
        let old = some_rows(batch, rows)?;
        let image = match &self.changes {
            Some(_) => Some(conform_rows(plan, &mut self.as_they_are, &old)?),
            None => None,
        };
        let (Some(update), Some(rules)) = (&merge.updates[clause], &mut self.rules[clause]) else {
            return self.note(image.as_ref(), ChangeType::Delete);
        };
        let sources = rows.iter().map(|row| acted[*row as usize].and_then(|a| a.source));
        let source = match sources.collect::<Option<Vec<u32>>>() {
            Some(sources) => {
                let all: Vec<usize> = (0..merge.joined.source.fields.len()).collect();
                Some(merge.source.take(&sources, &all)?)
            }
            None => None,
        };
        let new = update.apply(&merge.joined, &old, source.as_deref())?;
        let new = match &self.task.row_ids {
            Some(row_ids) => row_ids.changed(&new)?,
            None => new,
        };
        let new = conform_rows(plan, rules, &new)?;
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
