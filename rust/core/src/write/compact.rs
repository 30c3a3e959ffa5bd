//! The rows of several data files in one, in their order.

use std::sync::Arc;

use arrow::array::RecordBatch;
use bytes::Bytes;
use parquet::arrow::ArrowWriter;

use super::fit::fit_batch;
use super::overwrite::partition_key;
use super::parquet_writer::{FileName, data_file, failed, new_writer};
use super::plan::WritePlan;
use super::row_ids::RowIds;
use super::stats::StatsCollector;
use super::uploads::Uploads;
use crate::actions::Add;
use crate::error::{Error, Result};
use crate::scan::{DeletionVector, PlacedRows, ReadRequest, RowScan};

/// Bytes of a file that are handed to the store at once.
const PART: usize = 8 << 20;

/// A new file, and what its sources had.
#[derive(Debug)]
pub(crate) struct Compacted {
    /// The file; none where nothing was left of the sources.
    pub(crate) add: Option<Add>,
    /// The rows of each source.
    pub(crate) sources: Vec<SourceRows>,
}

/// The rows of a data file, by their position in it.
#[derive(Debug)]
pub(crate) struct SourceRows {
    /// All of them.
    pub(crate) total: u64,
    /// Those that are not in the new file.
    pub(crate) deleted: DeletionVector,
}

/// Writes the rows that are left of these files of one partition into one, in their order. Where rows have ids that they
/// keep, the new file says which. The first plan says how the files are read, the second, of the same columns, how the new
/// one is written.
///
/// # Errors
/// As [`crate::scan::read_file`], and what the store says; [`Error::InvalidSchema`] where the table tracks rows and does
/// not name the columns of their ids.
///
/// # Cost
/// Each file is read once, one after the other. Memory is that of a row group and of a part of the upload.
pub(crate) fn compact(
    (from, plan): (&WritePlan, &WritePlan),
    files: &[Add],
    number: usize,
    uploads: &Uploads,
) -> Result<Compacted> {
    let Some(first) = files.first() else { return Ok(Compacted { add: None, sources: Vec::new() }) };
    let row_ids = RowIds::of(&plan.metadata)?;
    let with_ids = |plan: &WritePlan| match &row_ids {
        Some(ids) => plan.with_columns(ids.columns()),
        None => plan.clone(),
    };
    let (from, plan) = (&with_ids(from), &with_ids(plan));
    let (location, partitions) = (from.location.clone(), &from.partition_columns);
    let request = ReadRequest::default();
    let scan = RowScan::new(location, &from.schema, partitions, from.column_mapping, request)?;
    let mut rows =
        Rows { plan, row_ids, scan: Arc::new(scan), files: files.iter(), open: None, sources: Vec::new() };
    let Some(batch) = rows.next() else { return Ok(Compacted { add: None, sources: rows.sources }) };
    let key = partition_key(from, &first.partition_values)?;
    let path = FileName { number, codec: plan.codec, folder: None }.path(plan, &key);
    let writer = new_writer(plan.file_schema(), plan.codec, &path)?;
    let stats = StatsCollector::new(&plan.stats);
    let mut parts =
        Parts { path: &path, rows, first: Some(batch), writer: Some(writer), stats, uploads, size: 0 };
    uploads.put_parts(&plan.location.root().join(&path), &mut parts)?;
    let Parts { rows, stats, size, .. } = parts;
    let add = data_file(plan, &path, key, size, &stats);
    Ok(Compacted { add: Some(add), sources: rows.sources })
}

/// The rows of all files as the new one has them.
struct Rows<'a> {
    plan: &'a WritePlan,
    row_ids: Option<RowIds>,
    scan: Arc<RowScan>,
    /// Those that are not open yet.
    files: std::slice::Iter<'a, Add>,
    open: Option<(&'a Add, PlacedRows)>,
    sources: Vec<SourceRows>,
}

impl Rows<'_> {
    /// Opens the next file; whether there is one.
    fn advance(&mut self) -> Result<bool> {
        let Some(file) = self.files.next() else { return Ok(false) };
        let deleted = match &file.deletion_vector {
            Some(vector) => DeletionVector::load(vector, &self.plan.location)?,
            None => DeletionVector::default(),
        };
        let rows = PlacedRows::open(&self.scan, file, Some(&deleted))?;
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
                let batch = match &self.row_ids {
                    Some(row_ids) => row_ids.settle(&batch, file, &places)?,
                    None => batch,
                };
                return self.fitted(&batch).map(Some);
            }
            if !self.advance()? {
                return Ok(None);
            }
        }
    }

    fn fitted(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        let path = self.plan.location.root().to_string();
        let batch = fit_batch(&path, batch, &self.plan.schema, &self.plan.fitted_schema())?;
        batch.project(&self.plan.file_positions()).map_err(|e| Error::arrow("rows of a compaction", e))
    }
}

impl Iterator for Rows<'_> {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read().transpose()
    }
}

/// The bytes of the new file, as they come to be.
struct Parts<'a> {
    path: &'a str,
    rows: Rows<'a>,
    /// The batch that was read to see whether there is any.
    first: Option<Result<RecordBatch>>,
    /// None after the end.
    writer: Option<ArrowWriter<Vec<u8>>>,
    stats: StatsCollector,
    uploads: &'a Uploads,
    size: u64,
}

impl Parts<'_> {
    fn part(&mut self) -> Result<Option<Bytes>> {
        while let Some(writer) = &mut self.writer {
            self.uploads.check()?;
            match self.first.take().or_else(|| self.rows.next()) {
                Some(batch) => {
                    let batch = batch?;
                    self.stats.update(&self.rows.plan.stats, &batch);
                    writer.write(&batch).map_err(|e| failed(self.path, e))?;
                    if writer.inner().len() >= PART {
                        return Ok(Some(std::mem::take(writer.inner_mut()).into()));
                    }
                }
                None => {
                    let Some(writer) = self.writer.take() else { break };
                    return writer
                        .into_inner()
                        .map(|rest| Some(rest.into()))
                        .map_err(|e| failed(self.path, e));
                }
            }
        }
        Ok(None)
    }
}

impl Iterator for Parts<'_> {
    type Item = Result<Bytes>;

    fn next(&mut self) -> Option<Self::Item> {
        let part = self.part().transpose()?;
        match &part {
            Ok(bytes) => self.size += bytes.len() as u64,
            Err(_) => self.writer = None,
        }
        Some(part)
    }
}
