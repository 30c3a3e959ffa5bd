//! Row ids and row commit versions of rows that move to other files (PROTOCOL.md, "Row Tracking").

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Int64Array, RecordBatch, new_null_array};
use arrow::datatypes::{DataType as Arrow, Int64Type};

use crate::actions::{Add, Metadata};
use crate::error::{Error, Result};
use crate::scan::BY_NAME;
use crate::schema::{DataType, StructField};

/// The columns by which files keep the ids of rows that came from other files.
#[derive(Debug, Clone)]
pub(crate) struct RowIds {
    columns: [StructField; 2],
}

impl RowIds {
    /// Of a table whose rows keep their ids.
    ///
    /// # Errors
    /// [`Error::InvalidSchema`] when the table does not name the columns.
    pub(crate) fn of(metadata: &Metadata) -> Result<Option<Self>> {
        if !metadata.is_true("delta.enableRowTracking") {
            return Ok(None);
        }
        let column = |property: &str| {
            let name = metadata.configuration.get(property).ok_or_else(|| Error::InvalidSchema {
                reason: format!("row tracking is on, and `{property}` is not set"),
            })?;
            let mut field = StructField::new(name, DataType::Long, true);
            field.metadata.insert(BY_NAME.into(), true.into());
            Ok(field)
        };
        Ok(Some(RowIds {
            columns: [
                column("delta.rowTracking.materializedRowIdColumnName")?,
                column("delta.rowTracking.materializedRowCommitVersionColumnName")?,
            ],
        }))
    }

    /// The columns, which come behind those of the table.
    pub(crate) fn columns(&self) -> [StructField; 2] {
        self.columns.clone()
    }

    /// Puts the ids and commit versions that rows of a file have into the last two columns of a batch of them.
    ///
    /// # Errors
    /// [`Error::Arrow`] for columns that are not those.
    pub(crate) fn settle(&self, batch: &RecordBatch, file: &Add, places: &[u64]) -> Result<RecordBatch> {
        let own = |column: &ArrayRef, row: usize| {
            let values = column.as_primitive_opt::<Int64Type>()?;
            values.is_valid(row).then(|| values.value(row))
        };
        let [ids, versions] = last_two(batch)?;
        let base = file.base_row_id;
        let fresh_id = |row: usize| base.and_then(|b| b.checked_add_unsigned(places[row]));
        let ids = (0..places.len()).map(|row| own(&ids, row).or_else(|| fresh_id(row)));
        let versions = (0..places.len()).map(|row| own(&versions, row).or(file.default_row_commit_version));
        let (ids, versions): (Int64Array, Int64Array) = (ids.collect(), versions.collect());
        with_last_two(batch, [Arc::new(ids), Arc::new(versions)])
    }

    /// Rows that this commit changes: their commit version is that of the file they go to.
    ///
    /// # Errors
    /// As [`RowIds::settle`].
    pub(crate) fn changed(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        let [ids, versions] = last_two(batch)?;
        with_last_two(batch, [ids, new_null_array(&Arrow::Int64, versions.len())])
    }
}

fn last_two(batch: &RecordBatch) -> Result<[ArrayRef; 2]> {
    match batch.columns() {
        [.., ids, versions] => Ok([ids.clone(), versions.clone()]),
        _ => Err(Error::InvalidSchema { reason: "rows without the columns of row tracking".into() }),
    }
}

fn with_last_two(batch: &RecordBatch, last: [ArrayRef; 2]) -> Result<RecordBatch> {
    let table = batch.num_columns().saturating_sub(2);
    let columns = batch.columns()[..table].iter().cloned().chain(last).collect();
    RecordBatch::try_new(batch.schema(), columns).map_err(|e| Error::arrow("row ids", e))
}
