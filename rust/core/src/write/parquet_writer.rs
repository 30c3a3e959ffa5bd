//! Data files: one open Parquet file a partition, a bounded number of them.

use std::collections::{HashMap, HashSet};

use arrow::array::{ArrayRef, RecordBatch};
use arrow::compute::concat_batches;
use arrow::datatypes::SchemaRef;
use bytes::Bytes;
use chrono::Utc;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::errors::ParquetError;
use rayon::prelude::*;
use uuid::Uuid;

use super::file_settings::FileSettings;
use super::finished_file::finished;
use super::mode::WriteOptions;
use super::plan::WritePlan;
use super::split::PartitionKey;
use super::stats::StatsCollector;
use super::stored::stored;
use super::uploads::Uploads;
use crate::actions::{Add, FilePath};
use crate::error::{Error, Result};
use crate::parquet::Codec;
use crate::partition::path;

/// Files that are open at once; the one that was written to longest ago is closed for the next.
const MAX_OPEN: usize = 64;
/// Bytes that all open files hold in memory; the largest is closed above it.
const MAX_BUFFERED: usize = 512 << 20;
/// Rows that are written before the sizes are looked at again.
const STEP: usize = 64 * 1024;
/// Rows that wait for a partition's file, so that small batches over many partitions are not encoded a few rows at a time.
const GATHER: usize = 16 * 1024;

/// Writes the rows of all partitions into data files below the table.
pub(super) struct DataFiles<'a> {
    plan: &'a WritePlan,
    uploads: &'a Uploads,
    schema: SchemaRef,
    settings: &'a FileSettings,
    target_size: u64,
    max_rows: u64,
    /// Folder of the table for all files.
    folder: Option<&'a str>,
    open: HashMap<PartitionKey, OpenFile>,
    /// Partitions whose file was closed for that of another one.
    crowded_out: HashSet<PartitionKey>,
    clock: u64,
    number: usize,
    done: Vec<WrittenData>,
    /// Whether the rows of a partition are consecutive.
    in_turn: bool,
}

/// A data file in the store.
pub(crate) struct WrittenData {
    pub add: Add,
    pub rows: u64,
}

struct OpenFile {
    writer: ArrowWriter<Vec<u8>>,
    stats: StatsCollector,
    /// Decoded path, relative to the table.
    path: String,
    key: PartitionKey,
    last_used: u64,
    /// Rows that are not encoded yet, in order.
    waiting: Vec<RecordBatch>,
    waiting_rows: usize,
    waiting_bytes: usize,
}

impl OpenFile {
    /// Bytes that the file has so far.
    fn size(&self) -> usize {
        self.writer.bytes_written() + self.writer.in_progress_size()
    }

    /// Rows that the file has so far, encoded or not.
    fn rows(&self) -> u64 {
        self.stats.num_records() + self.waiting_rows as u64
    }

    /// Bytes that it holds in memory.
    fn memory(&self) -> usize {
        self.size() + self.waiting_bytes
    }

    /// Takes rows; they wait for more only where there are `few` of them, so that no slice keeps a large batch alive.
    fn push(&mut self, rows: RecordBatch, few: bool, plan: &WritePlan) -> Result<()> {
        // a slice is counted by its visible part, not by its buffers
        let bytes = |c: &ArrayRef| c.to_data().get_slice_memory_size().unwrap_or(0);
        self.waiting_rows += rows.num_rows();
        self.waiting_bytes += rows.columns().iter().map(bytes).sum::<usize>();
        self.waiting.push(rows);
        if few && self.waiting_rows < GATHER { Ok(()) } else { self.encode(plan) }
    }

    /// Encodes the rows that wait.
    fn encode(&mut self, plan: &WritePlan) -> Result<()> {
        let waiting = std::mem::take(&mut self.waiting);
        (self.waiting_rows, self.waiting_bytes) = (0, 0);
        let rows = match waiting.as_slice() {
            [] => return Ok(()),
            [one] => one.clone(),
            several => concat_batches(several[0].schema_ref(), several)
                .map_err(|e| Error::arrow(format!("gathering the rows of `{}`", self.path), e))?,
        };
        self.stats.update(&plan.stats, &rows);
        plan.files.write(&mut self.writer, stored(&rows)?.as_ref()).map_err(|e| failed(&self.path, e))
    }
}

impl<'a> DataFiles<'a> {
    pub(super) fn new(
        plan: &'a WritePlan,
        uploads: &'a Uploads,
        options: &WriteOptions,
        folder: Option<&'a str>,
    ) -> Self {
        DataFiles {
            plan,
            uploads,
            schema: plan.file_schema(),
            settings: &plan.files,
            target_size: options.target_file_size.max(1),
            max_rows: options.max_rows_per_file.unwrap_or(u64::MAX).max(1),
            folder,
            open: HashMap::new(),
            crowded_out: HashSet::new(),
            clock: 0,
            number: 0,
            done: Vec::new(),
            in_turn: false,
        }
    }

    /// From now on all rows of a partition come before those of the next.
    pub(super) fn partitions_in_turn(&mut self) {
        self.in_turn = true;
    }

    /// Whether files would be closed for others again and again, since more partitions alternate than files are open.
    pub(super) fn would_crowd<'k>(&self, keys: impl ExactSizeIterator<Item = &'k PartitionKey>) -> bool {
        keys.len() > MAX_OPEN || keys.into_iter().any(|k| self.crowded_out.contains(k))
    }

    /// Appends rows to the open file of a partition.
    pub(super) fn write(&mut self, key: PartitionKey, rows: &RecordBatch) -> Result<()> {
        let most = STEP.min(usize::try_from(self.max_rows).unwrap_or(STEP));
        let mut start = 0;
        while start < rows.num_rows() {
            let room = self.open.get(&key).map_or(self.max_rows, |f| self.max_rows - f.rows());
            let length = most.min(rows.num_rows() - start).min(usize::try_from(room).unwrap_or(most));
            let step = rows.slice(start, length);
            start += length;
            self.clock += 1;
            if !self.open.contains_key(&key) {
                if self.open.len() >= MAX_OPEN {
                    let closed = self.close_by(|f| std::cmp::Reverse(f.last_used))?;
                    self.crowded_out.extend(closed);
                }
                let file = self.create(key.clone())?;
                self.open.insert(key.clone(), file);
            }
            let Some(file) = self.open.get_mut(&key) else { continue };
            file.last_used = self.clock;
            file.push(step, rows.num_rows() < GATHER, self.plan)?;
            if file.size() as u64 >= self.target_size || file.rows() >= self.max_rows {
                self.close(&key)?;
            } else if self.open.values().map(OpenFile::memory).sum::<usize>() > MAX_BUFFERED {
                match self.in_turn {
                    // that of a partition whose rows are complete
                    true => self.close_by(|f| std::cmp::Reverse(f.last_used))?,
                    false => self.close_by(OpenFile::memory)?,
                };
            }
        }
        Ok(())
    }

    /// Closes all files, several at a time.
    pub(super) fn finish(mut self) -> Result<Vec<WrittenData>> {
        let mut files: Vec<_> = self.open.drain().map(|(_, file)| file).collect();
        files.sort_by(|a, b| a.path.cmp(&b.path));
        let (plan, uploads) = (self.plan, self.uploads);
        let last: Vec<_> =
            files.into_par_iter().map(|file| upload(plan, uploads, file)).collect::<Result<_>>()?;
        self.done.extend(last);
        Ok(self.done)
    }

    /// Closes the file that ranks highest, and returns its partition.
    fn close_by<K: Ord>(&mut self, rank: impl Fn(&OpenFile) -> K) -> Result<Option<PartitionKey>> {
        let highest = self.open.iter().max_by_key(|(_, f)| rank(f)).map(|(key, _)| key.clone());
        if let Some(key) = &highest {
            self.close(key)?;
        }
        Ok(highest)
    }

    fn close(&mut self, key: &PartitionKey) -> Result<()> {
        if let Some(file) = self.open.remove(key) {
            self.done.push(upload(self.plan, self.uploads, file)?);
        }
        Ok(())
    }

    fn create(&mut self, key: PartitionKey) -> Result<OpenFile> {
        self.plan.check_storable()?;
        let path = FileName { number: self.number, codec: self.settings.codec, folder: self.folder }
            .path(self.plan, &key);
        self.number += 1;
        let writer = new_writer(self.schema.clone(), self.settings, &path)?;
        Ok(OpenFile {
            writer,
            stats: StatsCollector::new(&self.plan.stats),
            path,
            key,
            last_used: self.clock,
            waiting: Vec::new(),
            waiting_rows: 0,
            waiting_bytes: 0,
        })
    }
}

/// What a new data file is called after.
pub(super) struct FileName<'a> {
    /// Its number in the write.
    pub(super) number: usize,
    pub(super) codec: Codec,
    /// Folder of the table for all files of the write.
    pub(super) folder: Option<&'a str>,
}

impl FileName<'_> {
    /// A path that no other file has: decoded, relative to the table.
    pub(super) fn path(&self, plan: &WritePlan, key: &PartitionKey) -> String {
        let name = format!("part-{:05}-{}.c000{}.parquet", self.number, Uuid::new_v4(), self.codec.extension);
        let folder = match plan.random_prefix() {
            Some(length) => random_text(length),
            None => path::folder(
                plan.partition_columns
                    .iter()
                    .map(String::as_str)
                    .zip(key.iter().map(|v| v.as_ref().map(|t| t.folder.as_str()))),
            ),
        };
        let folders = [self.folder.unwrap_or_default(), &folder, &name];
        folders.into_iter().filter(|f| !f.is_empty()).collect::<Vec<_>>().join("/")
    }
}

/// A writer of a data file. `path` is for errors.
pub(super) fn new_writer(
    schema: SchemaRef,
    settings: &FileSettings,
    path: &str,
) -> Result<ArrowWriter<Vec<u8>>> {
    let options = ArrowWriterOptions::new()
        .with_properties(settings.properties.clone())
        // the table's schema is in the log; Spark reads the Parquet schema alone
        .with_skip_arrow_metadata(true)
        .with_schema_root("spark_schema".to_owned());
    ArrowWriter::try_new_with_options(Vec::new(), schema, options).map_err(|e| failed(path, e))
}

/// The action of a data file that was written.
pub(super) fn data_file(
    plan: &WritePlan,
    path: &str,
    key: PartitionKey,
    size: u64,
    stats: &StatsCollector,
) -> Add {
    let values =
        plan.physical_partition_columns.iter().cloned().zip(key.into_iter().map(|v| v.map(|t| t.log)));
    Add {
        path: FilePath::encode(path),
        partition_values: values.collect(),
        size: size as i64,
        modification_time: Utc::now().timestamp_millis(),
        data_change: true,
        stats: Some(stats.to_json(&plan.stats)),
        ..Default::default()
    }
}

fn upload(plan: &WritePlan, uploads: &Uploads, mut file: OpenFile) -> Result<WrittenData> {
    file.encode(plan)?;
    let OpenFile { writer, stats, path, key, .. } = file;
    let body = Bytes::from(finished(writer).map_err(|e| failed(&path, e))?);
    let size = body.len() as u64;
    uploads.put(&plan.location.root().join(&path), body)?;
    let add = data_file(plan, &path, key, size, &stats);
    Ok(WrittenData { add, rows: stats.num_records() })
}

/// Letters and digits from random UUIDs.
fn random_text(length: usize) -> String {
    let mut text = String::with_capacity(length);
    while text.len() < length {
        // the last group of a version 4 UUID is all random
        let group = Uuid::new_v4().simple().to_string();
        text.extend(group.chars().skip(20).take(length - text.len()));
    }
    text
}

pub(super) fn failed(path: &str, error: ParquetError) -> Error {
    Error::DataFile { path: path.to_owned(), reason: error.to_string() }
}
