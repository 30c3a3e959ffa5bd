//! The rows of data files that are written again.

use std::sync::Arc;

use arrow::array::RecordBatch;

use super::conform::conform_batch;
use super::plan::WritePlan;
use crate::actions::Add;
use crate::deletion_vector::DeletionVector;
use crate::error::{Error, Result};
use crate::scan::{InTurn, Job, PositionedRows, ReadRequest, RowIds, RowScan, in_turn};

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
    items: InTurn<Item>,
    sources: Vec<SourceRows>,
}

/// How files are read, and how their rows are to be.
struct How {
    plan: WritePlan,
    row_ids: Option<RowIds>,
    scan: Arc<RowScan>,
}

/// What is read of a file: its facts first, then its rows.
enum Item {
    Source(SourceRows),
    Rows(RecordBatch),
}

struct File {
    how: Arc<How>,
    add: Add,
}

impl Sources {
    /// The first plan says how the files are read, the second, of the same columns, how their rows are to be. Both have the
    /// columns of row ids, where there are any.
    ///
    /// # Errors
    /// As [`RowScan::new`], and [`Error::Storage`] when no thread can be started.
    ///
    /// # Cost
    /// As [`in_turn`].
    pub(super) fn open(
        (from, plan): (&WritePlan, &WritePlan),
        row_ids: Option<RowIds>,
        files: Vec<Add>,
    ) -> Result<Self> {
        let (location, partitions) = (from.location.clone(), &from.partition_columns);
        let request = ReadRequest::default();
        let scan = RowScan::new(location, &from.schema, partitions, from.column_mapping, request)?;
        let how = Arc::new(How { plan: plan.clone(), row_ids, scan: Arc::new(scan.reading_ahead()) });
        let files = files.into_iter().map(|add| File { how: how.clone(), add }).collect();
        Ok(Sources { items: in_turn(&from.location, files)?, sources: Vec::new() })
    }

    /// What was read of each file.
    pub(super) fn into_rows(self) -> Vec<SourceRows> {
        self.sources
    }
}

impl Job for File {
    type Item = Item;

    fn name(&self) -> String {
        self.add.path.to_string()
    }

    fn bytes(&self) -> u64 {
        self.add.size.unsigned_abs()
    }

    fn open(self) -> Result<impl Iterator<Item = Result<Item>> + Send> {
        let File { how, add } = self;
        let (progress, bytes) = (how.plan.location.progress().clone(), add.size.unsigned_abs());
        let deleted = match &add.deletion_vector {
            Some(vector) => DeletionVector::load(vector, &how.plan.location)?,
            None => DeletionVector::default(),
        };
        let rows = PositionedRows::open(&how.scan, &add, Some(&deleted))?;
        let source = Item::Source(SourceRows { total: rows.total(), deleted });
        let rows = rows.map(move |next| {
            let (batch, places) = next?;
            let batch = RowIds::settled(how.row_ids.as_ref(), batch, &add, &places)?;
            how.conformed(&batch).map(Item::Rows)
        });
        // after the last of its rows
        let end = std::iter::from_fn(move || {
            progress.done(1, bytes);
            None
        });
        Ok(std::iter::once(Ok(source)).chain(rows).chain(end))
    }
}

impl How {
    fn conformed(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        let path = self.plan.location.root().to_string();
        let batch = conform_batch(&path, batch, &self.plan.schema, &self.plan.conformed_schema())?;
        batch.project(&self.plan.file_positions()).map_err(|e| Error::arrow("rows of a compaction", e))
    }
}

impl Iterator for Sources {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.items.next()? {
                Ok(Item::Source(source)) => self.sources.push(source),
                Ok(Item::Rows(rows)) => return Some(Ok(rows)),
                Err(error) => return Some(Err(error)),
            }
        }
    }
}
