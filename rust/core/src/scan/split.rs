//! Reads that are spread over processes: groups of files with all that a worker needs, so that no worker opens the log.

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use serde::{Deserialize, Serialize};

use super::{FileRows, ReadRequest, RowScan, read_file};
use crate::actions::Add;
use crate::error::{Error, Result};
use crate::predicate::Predicate;
use crate::replay::FilesRequest;
use crate::schema::{ColumnMappingMode, StructType};
use crate::snapshot::Snapshot;
use crate::store::{Location, StorageOptions};

/// No split is smaller than this, where there is enough: opening a file costs about as much as reading so many bytes.
const LEAST_BYTES: i64 = 8 << 20;
/// Splits of a table that is not large.
const SPLITS: i64 = 16;

/// A group of files of one version. Its JSON form travels between processes of the same version of deltaic.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Split {
    root: String,
    options: StorageOptions,
    schema: String,
    partition_columns: Vec<String>,
    mode: String,
    files: Vec<Add>,
}

/// Groups files of a version, each group of at most `most_bytes` unless it is one file. `options` are those that opened
/// the table; they travel with the splits.
pub fn splits(snapshot: &Snapshot, options: &StorageOptions, files: &[Add], most_bytes: i64) -> Vec<Split> {
    let total: i64 = files.iter().map(|f| f.size).sum();
    let most_bytes = most_bytes.min((total / SPLITS).max(LEAST_BYTES));
    let empty = Split {
        root: snapshot.location().root().to_uri(),
        options: options.clone(),
        schema: snapshot.schema().to_json(),
        partition_columns: snapshot.partition_columns().to_vec(),
        mode: mode_name(snapshot.column_mapping()).to_owned(),
        files: Vec::new(),
    };
    let mut splits: Vec<Split> = Vec::new();
    let mut bytes = 0;
    for file in files {
        bytes += file.size;
        match splits.last_mut() {
            Some(split) if bytes <= most_bytes => split.files.push(file.clone()),
            _ => {
                bytes = file.size;
                splits.push(Split { files: vec![file.clone()], ..empty.clone() });
            }
        }
    }
    splits
}

/// The files of a version that a predicate leaves, without statistics.
///
/// # Errors
/// What the log gives, and [`Error::InvalidPredicate`] for a predicate on an unknown column.
pub fn surviving_files(snapshot: &Snapshot, predicate: Option<&Predicate>) -> Result<Vec<Add>> {
    let mut files = Vec::new();
    for batch in snapshot.files(FilesRequest { predicate: predicate.cloned(), ..FilesRequest::default() })? {
        for add in batch?.adds() {
            files.push(Add { stats: None, tags: None, ..add? });
        }
    }
    Ok(files)
}

impl Split {
    /// The JSON form.
    ///
    /// # Errors
    /// None that is known: every part has a JSON form.
    pub fn to_json(&self) -> Result<String> {
        serde_json::to_string(self).map_err(|e| invalid(&e.to_string()))
    }

    /// From [`Split::to_json`].
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] when it is something else.
    pub fn from_json(text: &str) -> Result<Self> {
        serde_json::from_str(text).map_err(|e| invalid(&e.to_string()))
    }

    /// Reads columns of the files, by logical name; the rows are those of the table, without deleted ones.
    ///
    /// # Errors
    /// As [`RowScan::new`]; the batches give the errors of [`read_file`] and end with the first.
    pub fn read(self, columns: Option<Vec<String>>) -> Result<SplitRows> {
        let location = Location::open(&self.root, &self.options)?;
        let schema = StructType::from_json(&self.schema)?;
        let request = ReadRequest { columns, ..ReadRequest::default() };
        let scan = RowScan::new(location, &schema, &self.partition_columns, mode_of(&self.mode), request)?;
        Ok(SplitRows { scan: Arc::new(scan), files: self.files.into_iter(), rows: None })
    }
}

/// The rows of a split, batch by batch.
#[derive(Debug)]
pub struct SplitRows {
    scan: Arc<RowScan>,
    files: std::vec::IntoIter<Add>,
    rows: Option<FileRows>,
}

impl SplitRows {
    /// The schema of every batch.
    pub fn schema(&self) -> &SchemaRef {
        self.scan.schema()
    }
}

impl Iterator for SplitRows {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(batch) = self.rows.as_mut().and_then(Iterator::next) {
                return Some(batch);
            }
            match read_file(&self.scan, &self.files.next()?) {
                Ok(rows) => self.rows = Some(rows),
                Err(error) => {
                    self.files = Vec::new().into_iter();
                    self.rows = None;
                    return Some(Err(error));
                }
            }
        }
    }
}

fn invalid(reason: &str) -> Error {
    Error::InvalidArgument { argument: "split".into(), reason: format!("not what deltaic made: {reason}") }
}

fn mode_name(mode: ColumnMappingMode) -> &'static str {
    match mode {
        ColumnMappingMode::None => "none",
        ColumnMappingMode::Name => "name",
        ColumnMappingMode::Id => "id",
    }
}

fn mode_of(name: &str) -> ColumnMappingMode {
    match name {
        "name" => ColumnMappingMode::Name,
        "id" => ColumnMappingMode::Id,
        _ => ColumnMappingMode::None,
    }
}
