//! Live files as rows of a checkpoint: in the columns of the layout, ordered for pruning.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, MapArray, StructArray, UInt32Array};
use arrow::compute::{SortColumn, cast, concat, concat_batches, lexsort_to_indices, take};
use arrow::datatypes::DataType;
use arrow::error::ArrowError;

use super::schema::Layout;
use super::stats::StatsParser;
use crate::error::{Error, Result};
use crate::replay::FileBatch;
use crate::scan::partition;

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

    /// The column `add` of a run of files with all columns of [`FileBatch`], ordered by partition values and by the
    /// least values of the clustering columns. Files that are equal in these, and tables that have neither, keep their
    /// order.
    ///
    /// # Errors
    /// [`Error::Arrow`] when a column does not fit, which a bug would do.
    pub(super) fn build(&self, run: &[FileBatch]) -> Result<ArrayRef> {
        self.column(run).map_err(|e| Error::arrow("building the rows of a checkpoint", e))
    }

    fn column(&self, run: &[FileBatch]) -> Result<ArrayRef, ArrowError> {
        let Some(first) = run.first() else { return Err(ArrowError::ComputeError("no files".into())) };
        let batches: Vec<_> = run.iter().map(FileBatch::record_batch).collect();
        let files = concat_batches(&first.record_batch().schema(), batches)?;
        let column = |name: &str| {
            files.column_by_name(name).cloned().ok_or_else(|| ArrowError::SchemaError(format!("no `{name}`")))
        };
        let values = column("partition_values")?;
        let partitions = self
            .layout
            .partitions
            .iter()
            .map(|(name, kind)| typed(values.as_map(), name, kind))
            .collect::<Result<Vec<_>, _>>()?;
        let stats = column("stats")?;
        let parsed = self.parser.as_ref().map(|p| p.parse(stats.as_string_view())).transpose()?;
        let DataType::Struct(fields) = self.layout.add() else {
            return Err(ArrowError::SchemaError("`add` is no struct".into()));
        };
        let order = self.order(&partitions, parsed.as_ref(), files.num_rows())?;
        let mut columns = Vec::with_capacity(fields.len());
        for field in &fields {
            let array = match field.name().as_str() {
                "path" => column("path")?,
                "partitionValues" => values.clone(),
                "size" => column("size")?,
                "modificationTime" => column("modification_time")?,
                // rows of a checkpoint change nothing
                "dataChange" => Arc::new(BooleanArray::from(vec![false; files.num_rows()])),
                "tags" => column("tags")?,
                "deletionVector" => nullable(&column("deletion_vector")?, field.data_type())?,
                "baseRowId" => column("base_row_id")?,
                "defaultRowCommitVersion" => column("default_row_commit_version")?,
                "clusteringProvider" => column("clustering_provider")?,
                "stats" => stats.clone(),
                "partitionValues_parsed" => {
                    let DataType::Struct(fields) = field.data_type() else { continue };
                    Arc::new(StructArray::try_new(fields.clone(), partitions.clone(), None)?)
                }
                _ => parsed.clone().ok_or_else(|| ArrowError::SchemaError("no statistics".into()))?,
            };
            columns.push(match &order {
                Some(order) => take(&array, order, None)?,
                None => array,
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
