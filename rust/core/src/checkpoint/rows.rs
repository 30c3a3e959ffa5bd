//! Live files as rows of a checkpoint: in the columns of the layout, ordered for pruning.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, MapArray, RecordBatch, StructArray, UInt32Array, new_null_array,
};
use arrow::compute::{SortColumn, cast, concat, concat_batches, lexsort_to_indices, take, take_record_batch};
use arrow::datatypes::{DataType, Field, Fields, Schema};
use arrow::error::ArrowError;

use super::encode::ROW_GROUP_ROWS;
use super::schema::Layout;
use super::stats::StatsParser;
use crate::error::{Error, Result};
use crate::partition;
use crate::replay::FileBatch;

/// Makes rows of files.
pub(super) struct AddRows<'a> {
    layout: &'a Layout,
    parser: Option<StatsParser>,
}

impl<'a> AddRows<'a> {
    pub(super) fn new(layout: &'a Layout) -> Self {
        let parser = (!layout.stats.is_empty()).then(|| StatsParser::new(&layout.stats));
        AddRows { layout, parser }
    }

    /// A run of files with all columns of [`FileBatch`], ordered by partition values and by the least values of the
    /// clustering columns. Files that are equal in these, and tables that have neither, keep their order.
    ///
    /// # Errors
    /// [`Error::Arrow`] when a column does not fit, which a bug would do.
    pub(super) fn run(&self, files: &[FileBatch]) -> Result<Run<'_>> {
        self.ordered(files).map_err(failed)
    }

    fn ordered(&self, files: &[FileBatch]) -> Result<Run<'_>, ArrowError> {
        let Some(first) = files.first() else { return Err(ArrowError::ComputeError("no files".into())) };
        // parsed here where some files come parsed, or the order needs it; else a row group at a time
        let some_parsed = files.iter().any(|f| f.record_batch().column_by_name(PARSED).is_some());
        let files = match &self.parser {
            Some(parser) if some_parsed || !self.layout.clustering.is_empty() => {
                let all: Vec<RecordBatch> =
                    files.iter().map(|f| with_parsed(f.record_batch(), parser)).collect::<Result<_, _>>()?;
                concat_batches(&all[0].schema(), &all)?
            }
            _ => concat_batches(&first.record_batch().schema(), files.iter().map(FileBatch::record_batch))?,
        };
        let partitions = self.partitions(&files)?;
        let order = self.order(&partitions, files.column_by_name(PARSED), files.num_rows())?;
        Ok(Run { rows: self, files, order })
    }

    fn partitions(&self, files: &RecordBatch) -> Result<Vec<ArrayRef>, ArrowError> {
        let values = column(files, "partition_values")?;
        self.layout.partitions.iter().map(|(name, kind)| typed(values.as_map(), name, kind)).collect()
    }

    /// The column `add` of files.
    fn adds(&self, files: &RecordBatch) -> Result<ArrayRef, ArrowError> {
        let DataType::Struct(fields) = self.layout.add() else {
            return Err(ArrowError::SchemaError("`add` is not a struct".into()));
        };
        let mut columns = Vec::with_capacity(fields.len());
        for field in &fields {
            columns.push(match field.name().as_str() {
                "path" => column(files, "path")?,
                "partitionValues" => column(files, "partition_values")?,
                "size" => column(files, "size")?,
                "modificationTime" => column(files, "modification_time")?,
                // rows of a checkpoint change nothing
                "dataChange" => Arc::new(BooleanArray::from(vec![false; files.num_rows()])),
                "tags" => column(files, "tags")?,
                "deletionVector" => nullable(&column(files, "deletion_vector")?, field.data_type())?,
                "baseRowId" => column(files, "base_row_id")?,
                "defaultRowCommitVersion" => column(files, "default_row_commit_version")?,
                "clusteringProvider" => column(files, "clustering_provider")?,
                "stats" => column(files, "stats")?,
                "partitionValues_parsed" => {
                    let DataType::Struct(fields) = field.data_type() else { continue };
                    Arc::new(StructArray::try_new(fields.clone(), self.partitions(files)?, None)?)
                }
                _ => match (files.column_by_name(PARSED), &self.parser) {
                    (Some(parsed), _) => parsed.clone(),
                    (None, Some(parser)) => parser.parse(column(files, "stats")?.as_string_view())?,
                    (None, None) => new_null_array(field.data_type(), files.num_rows()),
                },
            });
        }
        Ok(Arc::new(StructArray::try_new(fields, columns, None)?))
    }

    /// The order of the rows; none where they are in order.
    fn order(
        &self,
        partitions: &[ArrayRef],
        stats: Option<&ArrayRef>,
        rows: usize,
    ) -> Result<Option<UInt32Array>, ArrowError> {
        let mut by: Vec<ArrayRef> = partitions.to_vec();
        if let Some(mins) = stats.and_then(|s| s.as_struct().column_by_name("minValues")) {
            by.extend(self.layout.clustering.iter().filter_map(|path| leaf(mins, path)));
        }
        by.retain(|a| !matches!(a.data_type(), DataType::Null | DataType::Struct(_)));
        if by.is_empty() {
            return Ok(None);
        }
        let number =
            |n: usize| u32::try_from(n).map_err(|_| ArrowError::ComputeError("too many rows".into()));
        // the number of the row keeps equal rows in their order
        by.push(Arc::new(UInt32Array::from_iter_values(0..number(rows)?)));
        let by: Vec<SortColumn> = by.into_iter().map(|values| SortColumn { values, options: None }).collect();
        let order = lexsort_to_indices(&by, None)?;
        let sorted = order.values().iter().enumerate().all(|(at, row)| at == *row as usize);
        Ok((!sorted).then_some(order))
    }
}

/// The rows of a run, in order.
pub(super) struct Run<'a> {
    rows: &'a AddRows<'a>,
    files: RecordBatch,
    order: Option<UInt32Array>,
}

impl Run<'_> {
    /// Row groups of the run.
    pub(super) fn num_groups(&self) -> usize {
        self.files.num_rows().div_ceil(ROW_GROUP_ROWS)
    }

    /// The column `add` of a row group.
    ///
    /// # Errors
    /// As [`AddRows::run`].
    pub(super) fn group(&self, number: usize) -> Result<ArrayRef> {
        let start = number * ROW_GROUP_ROWS;
        let length = ROW_GROUP_ROWS.min(self.files.num_rows() - start);
        let part = match &self.order {
            Some(order) => take_record_batch(&self.files, &order.slice(start, length)),
            None => Ok(self.files.slice(start, length)),
        };
        part.and_then(|files| self.rows.adds(&files)).map_err(failed)
    }
}

/// The statistics of files that come parsed.
const PARSED: &str = "stats_parsed";

/// The files with their statistics parsed.
fn with_parsed(files: &RecordBatch, parser: &StatsParser) -> Result<RecordBatch, ArrowError> {
    if files.column_by_name(PARSED).is_some() {
        return Ok(files.clone());
    }
    let parsed = parser.parse(column(files, "stats")?.as_string_view())?;
    let last = Arc::new(Field::new(PARSED, parsed.data_type().clone(), true));
    let fields = files.schema_ref().fields().iter().cloned().chain([last]).collect::<Fields>();
    let columns = files.columns().iter().cloned().chain([parsed]).collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)
}

fn failed(error: ArrowError) -> Error {
    Error::arrow("building the rows of a checkpoint", error)
}

fn column(files: &RecordBatch, name: &str) -> Result<ArrayRef, ArrowError> {
    files.column_by_name(name).cloned().ok_or_else(|| ArrowError::SchemaError(format!("no `{name}`")))
}

fn leaf(mins: &ArrayRef, path: &[String]) -> Option<ArrayRef> {
    let mut array = mins;
    for name in path {
        array = array.as_struct_opt()?.column_by_name(name)?;
    }
    Some(array.clone())
}

/// The same struct with fields that may be null.
fn nullable(array: &ArrayRef, to: &DataType) -> Result<ArrayRef, ArrowError> {
    let DataType::Struct(fields) = to else { return cast(array, to) };
    let (_, columns, nulls) = array.as_struct().clone().into_parts();
    Ok(Arc::new(StructArray::try_new(fields.clone(), columns, nulls)?))
}

/// The values of one partition column in its type. What cannot be read is null, as a cast of Spark makes it. Each
/// distinct text is read once.
fn typed(map: &MapArray, name: &str, kind: &crate::schema::DataType) -> Result<ArrayRef, ArrowError> {
    let (keys, values) = (map.keys().as_string::<i32>(), map.values().as_string::<i32>());
    let mut distinct: HashMap<Option<&str>, u32> = HashMap::new();
    let mut parsed: Vec<ArrayRef> = Vec::new();
    let mut rows = Vec::with_capacity(map.len());
    let offsets = map.value_offsets();
    let null = |parsed: &mut Vec<ArrayRef>| {
        let none = partition::parse(name, None, kind).map_err(|e| ArrowError::ComputeError(e.to_string()))?;
        parsed.push(none);
        Ok::<(), ArrowError>(())
    };
    for row in 0..map.len() {
        let mut entries = offsets[row] as usize..offsets[row + 1] as usize;
        let entry = entries.find(|e| map.is_valid(row) && keys.value(*e) == name);
        let text = entry.and_then(|e| values.is_valid(e).then(|| values.value(e)));
        let next = parsed.len() as u32;
        let at = *distinct.entry(text).or_insert(next);
        if at == next {
            match partition::parse(name, text, kind) {
                Ok(value) => parsed.push(value),
                Err(_) => null(&mut parsed)?,
            }
        }
        rows.push(at);
    }
    if parsed.is_empty() {
        null(&mut parsed)?;
    }
    let all: Vec<&dyn Array> = parsed.iter().map(AsRef::as_ref).collect();
    take(&concat(&all)?, &UInt32Array::from(rows), None)
}
