//! The facts of a table's columns in the footer of a data file, for a comparison with the log.

use arrow::array::{ArrayRef, AsArray, Int64Array};
use arrow::datatypes::{DataType as Arrow, Int64Type};
use parquet::basic::Type as Physical;
use parquet::file::metadata::ParquetMetaData;

use super::project::Projection;
use super::skip::Statistics;
use crate::error::Result;
use crate::schema::{ColumnMappingMode, StructType};

/// What the row groups of a file say of a column.
#[derive(Debug)]
pub(crate) struct ColumnFacts {
    /// Its path in the table, by logical names.
    pub(crate) path: Vec<String>,
    /// Whether the file has `float`s; the table may have made `double`s of them since.
    pub(crate) single_precision: bool,
    /// Nulls of each row group; null where it is not known.
    pub(crate) nulls: Int64Array,
    /// Smallest and largest value of each row group, in the type of the table; none where they are not known, or are no
    /// values of the column but bounds.
    pub(crate) bounds: Option<(ArrayRef, ArrayRef)>,
}

/// The facts of a table's columns in a file. `in_files` marks those that data files have.
///
/// # Errors
/// As [`Projection::new`]: where the file does not fit the schema.
pub(crate) fn column_facts(
    path: &str,
    schema: &StructType,
    in_files: &[bool],
    mode: ColumnMappingMode,
    metadata: &ParquetMetaData,
) -> Result<Vec<ColumnFacts>> {
    let projection = Projection::new(path, schema, in_files, mode, metadata.file_metadata())?;
    let facts = projection.prunable.iter().filter_map(|(path, flat)| {
        let statistics = Statistics::of_row_groups(flat, metadata)?;
        let bounds = statistics.bounds.filter(|_| are_values(metadata, flat.leaf));
        let nulls = statistics.nulls.as_primitive::<Int64Type>().clone();
        let single_precision = *flat.field.data_type() == Arrow::Float32;
        Some(ColumnFacts { path: path.clone(), single_precision, nulls, bounds })
    });
    Ok(facts.collect())
}

/// Whether the bounds of a column are values of it. Those of long texts may be cut.
fn are_values(metadata: &ParquetMetaData, leaf: usize) -> bool {
    let file = metadata.file_metadata();
    let may_be_cut = file.schema_descr().column(leaf).physical_type() == Physical::BYTE_ARRAY;
    // it leaves out what is too long, and does not record whether it cuts
    let never_cuts = file.created_by().is_some_and(|c| c.starts_with("parquet-mr"));
    !may_be_cut
        || never_cuts
        || metadata.row_groups().iter().all(|group| {
            let statistics = group.column(leaf).statistics();
            statistics.is_none_or(|s| s.min_is_exact() && s.max_is_exact())
        })
}
