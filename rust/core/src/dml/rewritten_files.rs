//! What every rewrite of touched files shares: how their rows are read, and where rows and changes are written.

use std::sync::Arc;

use arrow::array::{RecordBatch, new_null_array};
use rayon::prelude::*;

use super::attempt::DmlAttempt;
use super::change_data::{self, ChangeType, ChangeWriter};
use super::nullable_rows::nullable_rows;
use super::touched::Touched;
use crate::actions::{Add, Cdc};
use crate::deletion_vector::DeletionVector;
use crate::error::Result;
use crate::scan::{PositionedRows, ReadRequest, RowIds, RowScan};
use crate::schema::{StructField, arrow_type};
use crate::store::runtime;
use crate::write::{Rules, TableWriter, WritePlan, conform_rows};

/// Files that were written.
#[derive(Debug, Default)]
pub(crate) struct Rewritten {
    pub(crate) adds: Vec<Add>,
    pub(crate) cdc: Vec<Cdc>,
    /// Rows that stayed and were written again.
    pub(crate) copied: u64,
}

/// What all files of a rewrite have in common.
pub(super) struct Rewriting<'a> {
    pub(super) attempt: &'a DmlAttempt,
    /// With the columns of row ids.
    pub(super) plan: WritePlan,
    changes: Option<WritePlan>,
    row_ids: Option<RowIds>,
    scan: Arc<RowScan>,
    /// Of each column of the plan, whether it is read.
    reads: Vec<bool>,
}

impl<'a> Rewriting<'a> {
    /// With `tells` changes are written, too. Columns that are not `needed` are null in the rows of [`Rewriting::rows`], and
    /// are not read; row ids are.
    ///
    /// # Errors
    /// As [`RowIds::of`] and [`RowScan::new`].
    pub(super) fn new(
        attempt: &'a DmlAttempt,
        tells: bool,
        needed: impl Fn(usize, &StructField) -> bool,
    ) -> Result<Self> {
        let row_ids = RowIds::of(&attempt.plan.metadata)?;
        let plan = match &row_ids {
            Some(row_ids) => attempt.plan.with_columns(row_ids.columns()),
            None => attempt.plan.clone(),
        };
        let changes = tells.then(|| change_data::plan(&attempt.plan));
        let (location, partitions) = (plan.location.clone(), &plan.partition_columns);
        let own = attempt.plan.schema.fields.len();
        let reads = plan.schema.fields.iter().enumerate().map(|(at, field)| at >= own || needed(at, field));
        let reads: Vec<bool> = reads.collect();
        let columns = reads.iter().any(|read| !read).then(|| {
            let read = plan.schema.fields.iter().zip(&reads).filter(|(_, read)| **read);
            read.map(|(field, _)| field.name.clone()).collect()
        });
        let request = ReadRequest { columns, ..ReadRequest::default() };
        let scan = RowScan::new(location, &plan.schema, partitions, plan.column_mapping, request)?;
        Ok(Rewriting { attempt, plan, changes, row_ids, scan: Arc::new(scan), reads })
    }

    /// Whether changes are written.
    pub(super) fn tells(&self) -> bool {
        self.changes.is_some()
    }

    /// Counts files that are going to be rewritten.
    pub(super) fn expect<'f>(&self, files: impl Iterator<Item = &'f Touched>) {
        let progress = self.attempt.plan.location.progress();
        files.for_each(|file| progress.expect_more(1, file.add.size.unsigned_abs()));
    }

    /// Counts one of them that is done.
    pub(super) fn done(&self, file: &Touched) {
        self.attempt.plan.location.progress().done(1, file.add.size.unsigned_abs());
    }

    /// A writer of one share of the files.
    pub(super) fn writer(&self) -> RowWriter<'_> {
        let (uploads, options) = (&self.attempt.uploads, &self.attempt.write);
        RowWriter {
            data: TableWriter::new(&self.plan, uploads, options, None),
            changes: self.changes.as_ref().map(|plan| ChangeWriter::new(plan, uploads, options)),
            as_they_are: Rules::none(&self.plan),
            rewriting: self,
            copied: 0,
        }
    }

    /// The rows of a file but those that are skipped, with their row ids, and their positions.
    ///
    /// # Errors
    /// As [`PositionedRows::open`].
    pub(super) fn rows(
        &self,
        file: &Touched,
        skipped: Option<&DeletionVector>,
    ) -> Result<impl Iterator<Item = Result<(RecordBatch, Vec<u64>)>>> {
        let rows = PositionedRows::open(&self.scan, &file.add, skipped)?;
        Ok(rows.map(move |batch| {
            self.attempt.check()?;
            let (batch, places) = batch?;
            let batch = self.widened(batch)?;
            Ok((RowIds::settled(self.row_ids.as_ref(), batch, &file.add, &places)?, places))
        }))
    }

    /// Rows with all columns of the plan, those that are not read null.
    fn widened(&self, batch: RecordBatch) -> Result<RecordBatch> {
        if self.reads.iter().all(|read| *read) {
            return Ok(batch);
        }
        let rows = batch.num_rows();
        let mut read = batch.columns().iter();
        let columns = self.plan.schema.fields.iter().zip(&self.reads).map(|(field, is_read)| {
            let column = if *is_read { read.next().cloned() } else { None };
            let column = column.unwrap_or_else(|| new_null_array(&arrow_type(&field.data_type), rows));
            (field.name.clone(), column)
        });
        nullable_rows(columns, rows, "the rows of a file")
    }
}

/// How many of so many files one share has, where each core takes one.
///
/// # Errors
/// As [`runtime::pool`].
pub(super) fn share_of(files: usize) -> Result<usize> {
    Ok(files.div_ceil(runtime::pool()?.current_num_threads()).max(1))
}

/// Works on shares at the same time, and gives what all wrote.
///
/// # Errors
/// Those of the work, and as [`runtime::pool`].
pub(super) fn in_shares<S: Send>(
    shares: Vec<S>,
    work: impl Fn(S) -> Result<Rewritten> + Send + Sync,
) -> Result<Rewritten> {
    let written: Vec<Rewritten> =
        runtime::pool()?.install(|| shares.into_par_iter().map(work).collect::<Result<_>>())?;
    Ok(written.into_iter().fold(Rewritten::default(), |mut all, one| {
        all.adds.extend(one.adds);
        all.cdc.extend(one.cdc);
        all.copied += one.copied;
        all
    }))
}

/// Writes rows, and what happened to them.
pub(super) struct RowWriter<'a> {
    rewriting: &'a Rewriting<'a>,
    data: TableWriter<'a>,
    changes: Option<ChangeWriter<'a>>,
    as_they_are: Rules,
    copied: u64,
}

impl RowWriter<'_> {
    /// Writes rows that need no check: those of the table, or that are checked.
    ///
    /// # Errors
    /// As [`TableWriter::write`].
    pub(super) fn add(&mut self, rows: &RecordBatch) -> Result<()> {
        self.data.write(&conform_rows(&self.rewriting.plan, &mut self.as_they_are, rows)?)
    }

    /// Writes rows that stay.
    ///
    /// # Errors
    /// As [`RowWriter::add`].
    pub(super) fn copy(&mut self, rows: &RecordBatch) -> Result<()> {
        self.copied += rows.num_rows() as u64;
        self.add(rows)
    }

    /// Records that rows are deleted.
    ///
    /// # Errors
    /// As [`ChangeWriter::write`].
    pub(super) fn delete(&mut self, old: &RecordBatch) -> Result<()> {
        self.note_old(old, ChangeType::Delete)
    }

    /// Writes rows with their new values, which are checked against the rules, and records both.
    ///
    /// # Errors
    /// As [`conform_rows`] and [`TableWriter::write`].
    pub(super) fn update(&mut self, old: &RecordBatch, new: &RecordBatch, rules: &mut Rules) -> Result<()> {
        let changed = self.rewriting.row_ids.as_ref().map(|row_ids| row_ids.changed(new)).transpose()?;
        let new = conform_rows(&self.rewriting.plan, rules, changed.as_ref().unwrap_or(new))?;
        self.data.write(&new)?;
        self.note_old(old, ChangeType::UpdatePreimage)?;
        match &mut self.changes {
            Some(changes) => changes.write(&new, ChangeType::UpdatePostimage),
            None => Ok(()),
        }
    }

    fn note_old(&mut self, old: &RecordBatch, change: ChangeType) -> Result<()> {
        match &mut self.changes {
            Some(changes) => {
                changes.write(&conform_rows(&self.rewriting.plan, &mut self.as_they_are, old)?, change)
            }
            None => Ok(()),
        }
    }

    /// Closes the files.
    ///
    /// # Errors
    /// Errors of the store.
    pub(super) fn finish(self) -> Result<Rewritten> {
        Ok(Rewritten {
            adds: self.data.finish()?.into_iter().map(|file| file.add).collect(),
            cdc: self.changes.map(ChangeWriter::finish).transpose()?.unwrap_or_default(),
            copied: self.copied,
        })
    }
}
