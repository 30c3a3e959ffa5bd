//! The rows of data files that are written again.

use std::sync::Arc;

use arrow::array::RecordBatch;

use super::conform::conform_batch;
use super::plan::WritePlan;
use crate::actions::Add;
use crate::deletion_vector::DeletionVector;
use crate::error::{Error, Result};
use crate::scan::{PositionedRows, ReadRequest, RowIds, RowScan};

/// The rows of a data file, by their position in it.
#[derive(Debug)]
pub(crate) struct SourceRows {
    /// All of them.
    pub(crate) total: u64,
    /// Those that are not in the new file.
    pub(crate) deleted: DeletionVector,
}

/// The rows that are left of data files, one file after the other, as a new file has them.
pub(super) struct Sources {
    plan: WritePlan,
    row_ids: Option<RowIds>,
    scan: Arc<RowScan>,
    /// Those that are not open yet.
    files: std::vec::IntoIter<Add>,
    open: Option<(Add, PositionedRows)>,
    sources: Vec<SourceRows>,
}

impl Sources {
    /// The first plan says how the files are read, the second, of the same columns, how their rows are to be. Both have the
    /// columns of row ids, where there are any.
    ///
    /// # Errors
    /// As [`RowScan::new`].
    pub(super) fn open(
        (from, plan): (&WritePlan, &WritePlan),
        row_ids: Option<RowIds>,
        files: Vec<Add>,
    ) -> Result<Self> {
        let (location, partitions) = (from.location.clone(), &from.partition_columns);
        let request = ReadRequest::default();
        let scan = RowScan::new(location, &from.schema, partitions, from.column_mapping, request)?;
        Ok(Sources {
            plan: plan.clone(),
            row_ids,
            scan: Arc::new(scan),
            files: files.into_iter(),
            open: None,
            sources: Vec::new(),
        })
    }

    /// What was read of each file.
    pub(super) fn into_rows(self) -> Vec<SourceRows> {
        self.sources
    }

    /// Opens the next file; whether there is one.
    fn advance(&mut self) -> Result<bool> {
        let Some(file) = self.files.next() else { return Ok(false) };
        let deleted = match &file.deletion_vector {
            Some(vector) => DeletionVector::load(vector, &self.plan.location)?,
            None => DeletionVector::default(),
        };
        let rows = PositionedRows::open(&self.scan, &file, Some(&deleted))?;
        self.sources.push(SourceRows { total: rows.total(), deleted });
        self.open = Some((file, rows));
        Ok(true)
    }

    /// The next batch of the files, as the new one has it.
    fn read(&mut self) -> Result<Option<RecordBatch>> {
        loop {
            if let Some((file, rows)) = &mut self.open
                && let Some(next) = rows.next()
            {
                let (batch, places) = next?;
                let batch = RowIds::settled(self.row_ids.as_ref(), batch, file, &places)?;
                return self.conformed(&batch).map(Some);
            }
            if !self.advance()? {
                return Ok(None);
            }
        }
    }

    fn conformed(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        let path = self.plan.location.root().to_string();
        let batch = conform_batch(&path, batch, &self.plan.schema, &self.plan.conformed_schema())?;
        batch.project(&self.plan.file_positions()).map_err(|e| Error::arrow("rows of a compaction", e))
    }
}

impl Iterator for Sources {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read().transpose()
    }
}
