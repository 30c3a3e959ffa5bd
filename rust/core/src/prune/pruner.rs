use arrow::array::{Array, MapArray, StringViewArray, StructArray};
use arrow_buffer::BooleanBuffer;
use parquet::file::metadata::ParquetMetaData;

use crate::error::Result;
use crate::predicate::{BoundColumn, Predicate};
use crate::schema::{ColumnMappingMode, StructType};

/// What pruning says of one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Some row may match. Not a promise that one does.
    Keep,
    /// No row matches.
    Drop,
}

/// A predicate bound to a table, ready to judge files.
#[derive(Debug)]
pub struct Pruner {
    columns: Vec<BoundColumn>,
    partitions: usize,
}

impl Pruner {
    /// Binds a predicate to the columns of a table.
    ///
    /// # Errors
    /// [`Error::InvalidPredicate`](crate::Error::InvalidPredicate) when it names a column that the schema does not have.
    pub fn bind(
        _predicate: &Predicate,
        _schema: &StructType,
        _partition_columns: &[String],
        _mode: ColumnMappingMode,
    ) -> Result<Pruner> {
        Ok(Pruner { columns: Vec::new(), partitions: 0 })
    }

    /// Whether partition values alone can drop a file.
    pub fn uses_partitions(&self) -> bool {
        self.partitions > 0
    }

    /// Whether statistics can drop a file that its partition values cannot.
    pub fn uses_stats(&self) -> bool {
        self.columns.len() > self.partitions
    }

    /// The partition columns that the predicate reads; `physical` has one part.
    pub fn partition_columns(&self) -> &[BoundColumn] {
        &self.columns[..self.partitions]
    }

    /// The data columns whose minimum, maximum and null count are of use.
    pub fn stats_leaves(&self) -> &[BoundColumn] {
        &self.columns[self.partitions..]
    }

    /// Which files their raw partition values (physical name to text) let live: a set bit keeps.
    pub fn by_partition_values(&self, values: &MapArray) -> BooleanBuffer {
        BooleanBuffer::new_set(values.len())
    }

    /// The same from `partitionValues_parsed`, whose fields have physical names.
    pub fn by_partition_struct(&self, parsed: &StructArray) -> BooleanBuffer {
        BooleanBuffer::new_set(parsed.len())
    }

    /// Which of the files in `keep` their statistics (JSON text) and partition values let live. Parses only those rows,
    /// and of them only the columns of the predicate.
    pub fn by_stats_json(
        &self,
        _stats: &StringViewArray,
        _values: &MapArray,
        keep: &BooleanBuffer,
    ) -> BooleanBuffer {
        keep.clone()
    }

    /// The same from `stats_parsed`.
    pub fn by_stats_struct(
        &self,
        _parsed: &StructArray,
        _values: &MapArray,
        keep: &BooleanBuffer,
    ) -> BooleanBuffer {
        keep.clone()
    }

    /// Which row groups of a checkpoint can hold an `add` whose file may match, from the Parquet statistics of
    /// `add.partitionValues_parsed` and `add.stats_parsed`.
    pub fn row_groups(&self, metadata: &ParquetMetaData) -> Vec<bool> {
        vec![true; metadata.num_row_groups()]
    }
}
