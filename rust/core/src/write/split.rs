//! Rows by partition, without sorting them.

use std::collections::HashMap;

use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions, UInt32Array, new_null_array};
use arrow::compute::take_record_batch;
use arrow::error::ArrowError;
use arrow::row::{RowConverter, SortField};

use crate::error::{Error, Result, condition};
use crate::partition::{PartitionText, partition_text};
use crate::schema::{StructField, StructType};

/// The values of one partition, in the order of the partition columns.
pub(crate) type PartitionKey = Vec<Option<PartitionText>>;

/// Splits conformed batches into the rows of each partition.
#[derive(Debug)]
pub(super) struct Splitter {
    /// Partition columns with their place in the conformed batch.
    partitions: Vec<(usize, StructField)>,
    /// Positions of the columns that the files have.
    data: Vec<usize>,
}

impl Splitter {
    /// `table` is the schema of the conformed batches; `data` the places of the columns of the data files.
    pub(super) fn new(table: &StructType, partition_columns: &[String], data: Vec<usize>) -> Self {
        let partitions = partition_columns
            .iter()
            .filter_map(|c| table.fields.iter().position(|f| f.name == *c))
            .map(|at| (at, table.fields[at].clone()))
            .collect();
        Splitter { partitions, data }
    }

    /// The partition columns of conformed rows.
    pub(super) fn partition_values(&self, batch: &RecordBatch) -> Vec<ArrayRef> {
        self.partitions.iter().map(|(at, _)| batch.column(*at).clone()).collect()
    }

    /// The rows of each partition, in their order; the file's columns only.
    ///
    /// # Errors
    /// [`Error::SchemaMismatch`] when a partition column that must not be null is null or empty.
    pub(super) fn split(&self, path: &str, batch: &RecordBatch) -> Result<Vec<(PartitionKey, RecordBatch)>> {
        let failed = |e| Error::arrow(format!("partitioning the data for `{path}`"), e);
        let data = batch.project(&self.data).map_err(failed)?;
        if batch.num_rows() == 0 {
            return Ok(Vec::new());
        }
        if self.partitions.is_empty() {
            return Ok(vec![(Vec::new(), data)]);
        }
        let columns = self.partition_values(batch);
        let groups = group(&columns).map_err(failed)?;
        let whole = groups.len() == 1;
        groups
            .into_iter()
            .map(|rows| {
                let key = self.key(path, &columns, rows[0] as usize)?;
                let part = if whole {
                    data.clone()
                } else {
                    take_record_batch(&data, &UInt32Array::from(rows)).map_err(failed)?
                };
                let part = self.as_in_the_log(&key, part).map_err(failed)?;
                Ok((key, part))
            })
            .collect()
    }

    /// The rows of a partition with null for a partition column whose value in the log is null: an empty text is, there.
    fn as_in_the_log(&self, key: &PartitionKey, rows: RecordBatch) -> Result<RecordBatch, ArrowError> {
        let mut columns = rows.columns().to_vec();
        for ((at, _), value) in self.partitions.iter().zip(key) {
            if let (None, Some(stored)) = (value, self.data.iter().position(|data| data == at)) {
                columns[stored] = new_null_array(columns[stored].data_type(), rows.num_rows());
            }
        }
        let length = RecordBatchOptions::new().with_row_count(Some(rows.num_rows()));
        RecordBatch::try_new_with_options(rows.schema(), columns, &length)
    }

    fn key(&self, path: &str, columns: &[ArrayRef], row: usize) -> Result<PartitionKey> {
        let value = |((_, field), column): (&(usize, StructField), &ArrayRef)| {
            let text = partition_text(column, row, &field.data_type, &field.name)?;
            if text.is_none() && !field.nullable {
                return Err(Error::SchemaMismatch {
                    path: path.to_owned(),
                    reason: format!(
                        "partition column `{}` must not be null or empty, and the data holds such a value",
                        field.name
                    ),
                }
                .named(&condition::NOT_NULL_CONSTRAINT_VIOLATED, [("columnName", field.name.as_str())]));
            }
            Ok(text)
        };
        self.partitions.iter().zip(columns).map(value).collect()
    }
}

/// Row numbers by equal values, groups in order of their first row.
fn group(columns: &[ArrayRef]) -> Result<Vec<Vec<u32>>, ArrowError> {
    let fields = columns.iter().map(|c| SortField::new(c.data_type().clone())).collect();
    let rows = RowConverter::new(fields)?.convert_columns(columns)?;
    let mut at: HashMap<&[u8], usize, foldhash::fast::RandomState> = HashMap::default();
    let mut groups: Vec<Vec<u32>> = Vec::new();
    let rows: Vec<_> = rows.iter().collect();
    for (number, row) in rows.iter().enumerate() {
        let group = *at.entry(row.data()).or_insert_with(|| {
            groups.push(Vec::new());
            groups.len() - 1
        });
        groups[group].push(number as u32);
    }
    Ok(groups)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{Int64Array, StringArray};

    use super::*;
    use crate::schema::DataType;

    #[test]
    fn rows_keep_their_order_within_a_partition() {
        let p = StringArray::from(vec![Some("b"), Some(""), Some("b"), None]);
        let x = Int64Array::from(vec![1, 2, 3, 4]);
        let batch = RecordBatch::try_from_iter_with_nullable([
            ("p", Arc::new(p) as ArrayRef, true),
            ("x", Arc::new(x) as ArrayRef, true),
        ])
        .unwrap();
        let mut table = StructType {
            fields: vec![
                StructField::new("p", DataType::String, true),
                StructField::new("x", DataType::Long, true),
            ],
        };
        let splitter = Splitter::new(&table, &["p".into()], vec![1]);
        let parts: Vec<_> = splitter
            .split("t", &batch)
            .unwrap()
            .into_iter()
            .map(|(key, part)| {
                let column = part.column(0).clone();
                let rows: Vec<i64> = column.as_any().downcast_ref::<Int64Array>().unwrap().values().to_vec();
                (key[0].as_ref().map(|t| t.log.clone()), rows)
            })
            .collect();
        assert_eq!(parts, [(Some("b".into()), vec![1, 3]), (None, vec![2]), (None, vec![4])]);

        table.fields[0].nullable = false;
        let error = Splitter::new(&table, &["p".into()], vec![1]).split("t", &batch).unwrap_err();
        assert!(error.to_string().contains("`p` must not be null or empty"), "{error}");
    }
}
