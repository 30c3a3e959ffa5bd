//! The rows of several data files in one, in their order.

use std::sync::Arc;

use arrow::array::RecordBatch;
use bytes::Bytes;
use parquet::arrow::ArrowWriter;

use super::fit::fit_batch;
use super::overwrite::partition_key;
use super::parquet_writer::{FileName, data_file, failed, new_writer};
use super::plan::WritePlan;
use super::stats::StatsCollector;
use super::uploads::Uploads;
use crate::actions::Add;
use crate::error::{Error, Result};
use crate::scan::{FileRows, ReadRequest, RowScan, read_file};

/// Bytes of a file that are handed to the store at once.
const PART: usize = 8 << 20;

/// A new file, and how many rows of each source it has, in their order.
#[derive(Debug)]
pub(crate) struct Compacted {
    /// The file; none where nothing was left of the sources.
    pub(crate) add: Option<Add>,
    /// Rows of each source.
    pub(crate) rows: Vec<u64>,
}

/// Writes the rows that are left of these files of one partition into one, in their order.
///
/// # Errors
/// As [`read_file`], and what the store says.
///
/// # Cost
/// Each file is read once, one after the other. Memory is that of a row group and of a part of the upload.
pub(crate) fn compact(
    plan: &WritePlan,
    files: &[Add],
    number: usize,
    uploads: &Uploads,
) -> Result<Compacted> {
    let empty = || Compacted { add: None, rows: vec![0; files.len()] };
    let Some(first) = files.first() else { return Ok(empty()) };
    let (location, partitions) = (plan.location.clone(), &plan.partition_columns);
    let request = ReadRequest::default();
    let scan = RowScan::new(location, &plan.schema, partitions, plan.column_mapping, request)?;
    let mut rows = Rows { plan, scan: Arc::new(scan), files, next: 0, open: None, counts: Vec::new() };
    let Some(batch) = rows.next() else { return Ok(Compacted { add: None, rows: rows.counts }) };
    let key = partition_key(plan, &first.partition_values)?;
    let path = FileName { number, codec: plan.codec, folder: None }.path(plan, &key);
    let writer = new_writer(plan.file_schema(), plan.codec, &path)?;
    let stats = StatsCollector::new(&plan.stats);
    let mut parts = Parts { path: &path, rows, first: Some(batch), writer: Some(writer), stats, size: 0 };
    uploads.put_parts(&plan.location.root().join(&path), &mut parts)?;
    let Parts { rows, stats, size, .. } = parts;
    let add = data_file(plan, &path, key, size, &stats);
    Ok(Compacted { add: Some(add), rows: rows.counts })
}

/// The rows of all files as the new one has them.
struct Rows<'a> {
    plan: &'a WritePlan,
    scan: Arc<RowScan>,
    files: &'a [Add],
    next: usize,
    open: Option<FileRows>,
    counts: Vec<u64>,
}

impl Rows<'_> {
    fn fitted(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        let path = self.plan.location.root().to_string();
        let batch = fit_batch(&path, batch, &self.plan.schema, &self.plan.fitted_schema())?;
        batch.project(&self.plan.data_positions()).map_err(|e| Error::arrow("rows of a compaction", e))
    }
}

impl Iterator for Rows<'_> {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.open.as_mut().and_then(Iterator::next) {
                Some(Ok(batch)) => {
                    if let Some(count) = self.counts.last_mut() {
                        *count += batch.num_rows() as u64;
                    }
                    return Some(self.fitted(&batch));
                }
                Some(Err(error)) => return Some(Err(error)),
                None => {
                    let file = self.files.get(self.next)?;
                    self.next += 1;
                    self.counts.push(0);
                    match read_file(&self.scan, file) {
                        Ok(rows) => self.open = Some(rows),
                        Err(error) => return Some(Err(error)),
                    }
                }
            }
        }
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
    size: u64,
}

impl Parts<'_> {
    fn part(&mut self) -> Result<Option<Bytes>> {
        while let Some(writer) = &mut self.writer {
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
