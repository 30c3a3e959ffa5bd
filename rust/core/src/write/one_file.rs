//! A data file that is uploaded while it is written.

use arrow::array::RecordBatch;
use bytes::Bytes;
use parquet::arrow::ArrowWriter;

use super::finished_file::finished;
use super::parquet_writer::{FileName, data_file, failed, new_writer};
use super::plan::WritePlan;
use super::split::PartitionKey;
use super::stats::StatsCollector;
use super::stored::stored;
use super::uploads::Uploads;
use crate::actions::Add;
use crate::error::Result;

/// Bytes of a file that are handed to the store at once.
const PART: usize = 8 << 20;

/// Writes all of these rows, columns of the data files of one partition, into one file, and returns its facts.
///
/// # Errors
/// Those of the rows, and errors of the store; [`crate::Error::Interrupted`] where the operation was asked to stop.
///
/// # Cost
/// Memory is that of a row group and of a part of the upload.
pub(super) fn write_file(
    plan: &WritePlan,
    key: PartitionKey,
    number: usize,
    rows: &mut dyn Iterator<Item = Result<RecordBatch>>,
    uploads: &Uploads,
) -> Result<Add> {
    let path = FileName { number, codec: plan.files.codec, folder: uploads.folder() }.path(plan, &key);
    plan.check_storable()?;
    let writer = new_writer(plan.file_schema(), &plan.files, &path)?;
    let stats = StatsCollector::new(&plan.stats);
    let mut parts = Parts { plan, path: &path, rows, writer: Some(writer), stats, uploads, size: 0 };
    uploads.put_parts(&plan.location.root().join(&path), &mut parts)?;
    let Parts { stats, size, .. } = parts;
    Ok(data_file(plan, &path, key, size, &stats))
}

/// The bytes of the new file, as they are produced.
struct Parts<'a> {
    plan: &'a WritePlan,
    path: &'a str,
    rows: &'a mut dyn Iterator<Item = Result<RecordBatch>>,
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
            match self.rows.next() {
                Some(batch) => {
                    let batch = batch?;
                    self.stats.update(&self.plan.stats, &batch);
                    self.plan
                        .files
                        .write(writer, stored(&batch)?.as_ref())
                        .map_err(|e| failed(self.path, e))?;
                    if writer.inner().len() >= PART {
                        return Ok(Some(std::mem::take(writer.inner_mut()).into()));
                    }
                }
                None => {
                    let Some(writer) = self.writer.take() else { break };
                    let rest = finished(writer).map_err(|e| failed(self.path, e))?;
                    return Ok(Some(rest.into()));
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
