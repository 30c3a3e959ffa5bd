//! Reads that are spread over processes: groups of files with all that a worker needs, so that no worker opens the log.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use serde::{Deserialize, Serialize};

use super::row_positions::PositionedRows;
use super::{FileRows, ReadRequest, RowScan, read_file};
use crate::actions::Add;
use crate::deletion_vector::DeletionVector;
use crate::error::{Error, Result};
use crate::predicate::Predicate;
use crate::replay::FilesRequest;
use crate::schema::{ColumnMappingMode, StructField, StructType};
use crate::snapshot::Snapshot;
use crate::store::{Location, StorageOptions, options_to_send};
use crate::sums::SaturatingSum;

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
    /// What the rows that are wanted have in common: parts of files without such rows are skipped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    predicate: Option<Predicate>,
}

/// Groups files of a version, each group of at most `most_bytes` unless it is one file. `options` are those that opened
/// the table; they travel with the splits. `more` are columns that files have beside those of the table.
pub fn splits(
    snapshot: &Snapshot,
    options: &StorageOptions,
    files: &[Add],
    more: &[StructField],
    most_bytes: i64,
) -> Vec<Split> {
    let mut schema = snapshot.schema().as_ref().clone();
    schema.fields.extend(more.iter().cloned());
    splits_of(snapshot, (&schema, snapshot.partition_columns()), options, files, most_bytes)
}

/// [`splits`] with other columns and partition columns than those of the version.
pub(crate) fn splits_of(
    snapshot: &Snapshot,
    (schema, partition_columns): (&StructType, &[String]),
    options: &StorageOptions,
    files: &[Add],
    most_bytes: i64,
) -> Vec<Split> {
    let total = files.iter().map(|f| f.size).saturating_sum();
    let most_bytes = most_bytes.min((total / SPLITS).max(LEAST_BYTES));
    let empty = Split {
        root: snapshot.location().root().to_uri(),
        options: options.clone(),
        schema: schema.for_spark().to_json(),
        partition_columns: partition_columns.to_vec(),
        mode: snapshot.column_mapping().name().to_owned(),
        files: Vec::new(),
        predicate: None,
    };
    let mut splits: Vec<Split> = Vec::new();
    let mut bytes = 0_i64;
    for file in files {
        bytes = bytes.saturating_add(file.size);
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

/// The files of a version that a predicate keeps, without statistics; with their row ids if requested.
///
/// # Errors
/// What the log gives, and [`Error::InvalidPredicate`] for a predicate on an unknown column.
pub fn surviving_files(
    snapshot: &Snapshot,
    predicate: Option<&Predicate>,
    row_ids: bool,
) -> Result<Vec<Add>> {
    let mut files = Vec::new();
    let request = FilesRequest { predicate: predicate.cloned(), stats: false, extended: row_ids };
    for batch in snapshot.files(request)? {
        for add in batch?.adds() {
            files.push(Add { stats: None, tags: None, ..add? });
        }
    }
    Ok(files)
}

impl Split {
    /// The same files, of which a read skips row groups and pages without a row for which a predicate is true. Rows are not
    /// filtered by it.
    #[must_use]
    pub fn skipping(self, predicate: Option<Predicate>) -> Self {
        Split { predicate, ..self }
    }

    /// The JSON form, with credentials that are valid now.
    ///
    /// # Errors
    /// [`Error::Credentials`].
    pub fn to_json(&self) -> Result<String> {
        let sent = Split { options: options_to_send(&self.root, &self.options)?, ..self.clone() };
        serde_json::to_string(&sent).map_err(|e| invalid(&e.to_string()))
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
        self.open(columns, None)
    }

    /// As [`Split::read`], with two more columns of these names: the decoded URI of each row's file, the same in all
    /// rows of a batch, and the position of the row in it.
    ///
    /// # Errors
    /// As [`Split::read`].
    pub fn read_placed(self, columns: Option<Vec<String>>, places: [&str; 2]) -> Result<SplitRows> {
        self.open(columns, Some(places))
    }

    fn open(self, columns: Option<Vec<String>>, places: Option<[&str; 2]>) -> Result<SplitRows> {
        let location = Location::open(&self.root, &self.options)?;
        let schema = StructType::from_json(&self.schema)?;
        let request = ReadRequest { columns, ..ReadRequest::default() };
        let scan = RowScan::new(location, &schema, &self.partition_columns, mode_of(&self.mode), request)?;
        let scan = match &self.predicate {
            Some(predicate) => scan.pruned_where_known(predicate),
            None => scan,
        };
        let schema = match places {
            None => scan.schema().clone(),
            Some([file, row]) => {
                let mut fields = scan.schema().fields().to_vec();
                fields.push(Arc::new(Field::new(file, DataType::Utf8, false)));
                fields.push(Arc::new(Field::new(row, DataType::Int64, false)));
                Arc::new(Schema::new(fields))
            }
        };
        let (placed, files) = (places.is_some(), self.files.into_iter());
        Ok(SplitRows { scan: Arc::new(scan), schema, placed, files, rows: None })
    }
}

/// The rows of a split, batch by batch; no batch has rows of two files.
#[derive(Debug)]
pub struct SplitRows {
    scan: Arc<RowScan>,
    schema: SchemaRef,
    placed: bool,
    files: std::vec::IntoIter<Add>,
    rows: Option<Rows>,
}

/// The rows of one file.
#[derive(Debug)]
enum Rows {
    Bare(FileRows),
    /// With the decoded URI of the file.
    Placed(PositionedRows, String),
}

impl SplitRows {
    /// The schema of every batch.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn open(&self, add: &Add) -> Result<Rows> {
        if !self.placed {
            return Ok(Rows::Bare(read_file(&self.scan, add)?));
        }
        let location = self.scan.location();
        let path = location.readable(&add.path)?;
        let uri = path.uri();
        let load = |d| DeletionVector::load(d, location);
        let deleted = add.deletion_vector.as_ref().map(load).transpose()?;
        Ok(Rows::Placed(PositionedRows::open(&self.scan, add, deleted.as_ref())?, uri))
    }

    fn next_of_file(&mut self) -> Option<Result<RecordBatch>> {
        match self.rows.as_mut()? {
            Rows::Bare(rows) => rows.next(),
            Rows::Placed(rows, uri) => {
                let found = rows.next()?;
                Some(found.and_then(|(batch, places)| with_places(&self.schema, &batch, uri, &places)))
            }
        }
    }
}

fn with_places(schema: &SchemaRef, batch: &RecordBatch, uri: &str, places: &[u64]) -> Result<RecordBatch> {
    let mut columns: Vec<ArrayRef> = batch.columns().to_vec();
    columns.push(Arc::new(StringArray::from_iter_values(places.iter().map(|_| uri))));
    columns.push(Arc::new(Int64Array::from_iter_values(places.iter().map(|row| *row as i64))));
    RecordBatch::try_new(schema.clone(), columns).map_err(|e| Error::arrow("rows with their places", e))
}

impl Iterator for SplitRows {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(batch) = self.next_of_file() {
                return Some(batch);
            }
            let add = self.files.next()?;
            match self.open(&add) {
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

fn mode_of(name: &str) -> ColumnMappingMode {
    match name {
        "name" => ColumnMappingMode::Name,
        "id" => ColumnMappingMode::Id,
        _ => ColumnMappingMode::None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::actions::FilePath;
    use crate::predicate::{CompareOp, Literal};
    use crate::scan::testing::{lines, nine_rows};
    use crate::snapshot::At;

    /// A table of the rows 0 to 8 in three files, partitioned by nothing.
    fn table(configuration: &[(&str, &str)]) -> (tempfile::TempDir, Snapshot) {
        let (dir, location) = nine_rows(configuration);
        let snapshot = Snapshot::open(location, At::Latest).unwrap();
        (dir, snapshot)
    }

    fn of_size(size: i64) -> Add {
        Add { path: FilePath::encode(&size.to_string()), size, ..Add::default() }
    }

    #[test]
    fn files_are_grouped_in_order_up_to_a_size() {
        let (_dir, snapshot) = table(&[]);
        let sizes = |files: &[i64], most: i64| -> Vec<Vec<i64>> {
            let files: Vec<Add> = files.iter().map(|size| of_size(*size)).collect();
            let splits = splits(&snapshot, &StorageOptions::new(), &files, &[], most);
            splits.iter().map(|s| s.files.iter().map(|f| f.size).collect()).collect()
        };
        const MIB: i64 = 1 << 20;
        assert_eq!(sizes(&[], MIB), Vec::<Vec<i64>>::new());
        // one file is never divided, and a group that is full is closed
        assert_eq!(sizes(&[5, 5, 11, 1, 2], 10), [vec![5, 5], vec![11], vec![1, 2]]);
        // little data gives few groups although larger ones are allowed, much data all that is allowed
        assert_eq!(sizes(&[3 * MIB, 3 * MIB, 3 * MIB], 100 * MIB), [vec![3 * MIB, 3 * MIB], vec![3 * MIB]]);
        assert_eq!(sizes(&[100 * MIB; 32], 200 * MIB).len(), 16);
    }

    #[test]
    fn a_split_that_travelled_gives_the_rows_without_the_log() {
        for mode in ["none", "name", "id"] {
            let (dir, snapshot) = table(&[("delta.columnMapping.mode", mode)]);
            let files = surviving_files(&snapshot, None, false).unwrap();
            let sent: Vec<String> = splits(&snapshot, &StorageOptions::new(), &files, &[], 1)
                .iter()
                .map(|split| split.to_json().unwrap())
                .collect();
            assert_eq!(sent.len(), 3);
            std::fs::remove_dir_all(dir.path().join("_delta_log")).unwrap();
            let rows = |columns: &[&str]| -> Vec<String> {
                let columns: Vec<String> = columns.iter().map(|c| (*c).to_owned()).collect();
                let read =
                    |text: &String| Split::from_json(text).unwrap().read(Some(columns.clone())).unwrap();
                let mut rows: Vec<String> =
                    sent.iter().flat_map(read).flat_map(|batch| lines(&batch.unwrap())).collect();
                rows.sort();
                rows
            };
            assert_eq!(
                rows(&["name", "id"])[..4],
                ["n1|1", "n2|2", "n4|4", "n5|5"].map(String::from),
                "{mode}"
            );
            assert_eq!(rows(&["id"]).len(), 9, "{mode}");
        }
    }

    #[test]
    fn rows_tell_where_they_are_and_deleted_ones_are_left_out() {
        let (dir, snapshot) = table(&[]);
        let mut files = surviving_files(&snapshot, None, false).unwrap();
        files[1].deletion_vector = Some(DeletionVector::from_iter([1]).to_inline());
        let split = splits(&snapshot, &StorageOptions::new(), &files, &[], i64::MAX).pop().unwrap();
        let rows = split.read_placed(Some(vec!["id".into()]), ["file", "row"]).unwrap();
        assert_eq!(rows.schema().field(1).name(), "file");
        let seen: Vec<String> = rows.flat_map(|batch| lines(&batch.unwrap())).collect();
        let place = |file: usize| format!("file://{}/{}", dir.path().display(), files[file].path.as_str());
        let mut expected: Vec<String> =
            (0..9).filter(|at| *at != 4).map(|at| format!("{}|{}", place(at / 3), at % 3)).collect();
        expected.sort();
        let mut found: Vec<String> = seen
            .iter()
            .map(|row| {
                let (id, at) = row.split_once('|').unwrap();
                // each file has three rows whose numbers follow each other
                assert_eq!(id.parse::<u32>().unwrap() % 3, at[at.len() - 1..].parse::<u32>().unwrap());
                at.to_owned()
            })
            .collect();
        found.sort();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_predicate_skips_rows_where_its_columns_are_read_and_nothing_else() {
        let (_dir, snapshot) = table(&[]);
        let files = surviving_files(&snapshot, None, false).unwrap();
        let predicate =
            Predicate::Compare { op: CompareOp::Ge, column: vec!["id".into()], value: Literal::Long(6) };
        let split = splits(&snapshot, &StorageOptions::new(), &files, &[], i64::MAX).pop().unwrap();
        let sent = split.skipping(Some(predicate)).to_json().unwrap();
        let rows = |columns: &[&str]| {
            let columns = columns.iter().map(|c| (*c).to_owned()).collect();
            let read = Split::from_json(&sent).unwrap().read_placed(Some(columns), ["file", "row"]).unwrap();
            read.map(|batch| batch.unwrap().num_rows()).sum::<usize>()
        };
        assert_eq!((rows(&["id"]), rows(&["name"])), (3, 9));
    }

    #[test]
    fn files_that_cannot_match_are_not_among_the_surviving() {
        let (_dir, snapshot) = table(&[]);
        let predicate =
            Predicate::Compare { op: CompareOp::Ge, column: vec!["id".into()], value: Literal::Long(6) };
        let files = surviving_files(&snapshot, Some(&predicate), false).unwrap();
        assert_eq!(files.len(), 1);
        // what a worker does not need does not travel
        assert!(files[0].stats.is_none() && files[0].tags.is_none());
    }

    #[test]
    fn the_first_error_ends_a_split() {
        let (_dir, snapshot) = table(&[]);
        let mut files = surviving_files(&snapshot, None, false).unwrap();
        files.insert(1, Add { path: FilePath::from_log("gone.parquet"), ..files[0].clone() });
        let all = splits(&snapshot, &StorageOptions::new(), &files, &[], i64::MAX).pop().unwrap();
        let mut rows = all.read(None).unwrap();
        assert_eq!(rows.schema().fields().len(), 2);
        assert_eq!(rows.next().unwrap().unwrap().num_rows(), 3);
        assert_eq!(rows.next().unwrap().unwrap_err().kind(), "DataFile");
        assert!(rows.next().is_none());
    }

    #[test]
    fn what_is_no_split_is_refused() {
        let error = Split::from_json(r#"{"root":"/t"}"#).unwrap_err();
        assert!(error.to_string().starts_with("split: not what deltaic made: missing field"), "{error}");
    }
}
