//! Files of row-level changes (PROTOCOL.md, "Change Data Files").

use std::sync::Arc;

use arrow::array::{RecordBatch, RecordBatchOptions, StringArray};

use crate::actions::{Add, Cdc};
use crate::error::{Error, Result};
use crate::schema::{DataType, StructField};
use crate::write::{FittedWriter, Uploads, WriteOptions, WritePlan};

/// Folder of the table that the files are in.
const FOLDER: &str = "_change_data";
/// Column that says what happened to the row.
const CHANGE_TYPE: &str = "_change_type";

/// What happened to a row.
#[derive(Debug, Clone, Copy)]
pub(super) enum ChangeType {
    Delete,
    UpdatePreimage,
    UpdatePostimage,
}

impl ChangeType {
    fn name(self) -> &'static str {
        match self {
            ChangeType::Delete => "delete",
            ChangeType::UpdatePreimage => "update_preimage",
            ChangeType::UpdatePostimage => "update_postimage",
        }
    }
}

/// The plan of the files, from that of the data files.
pub(super) fn plan(plan: &WritePlan) -> WritePlan {
    plan.with_columns([column()])
}

/// The column that says what happened to a row.
pub(super) fn column() -> StructField {
    StructField::new(CHANGE_TYPE, DataType::String, true)
}

/// The action of a file.
pub(super) fn cdc(file: Add) -> Cdc {
    Cdc {
        path: file.path,
        partition_values: file.partition_values,
        size: file.size,
        data_change: false,
        tags: None,
    }
}

/// Writes changes, partitioned as the rows are.
pub(super) struct ChangeWriter<'a> {
    plan: &'a WritePlan,
    files: FittedWriter<'a>,
}

impl<'a> ChangeWriter<'a> {
    /// By a plan of [`plan`].
    pub(super) fn new(plan: &'a WritePlan, uploads: &'a Uploads, options: &WriteOptions) -> Self {
        ChangeWriter { plan, files: FittedWriter::new(plan, uploads, options, Some(FOLDER)) }
    }

    /// Writes rows that are fitted to the table; columns behind those of the table are left out.
    ///
    /// # Errors
    /// What the store says.
    pub(super) fn write(&mut self, fitted: &RecordBatch, change: ChangeType) -> Result<()> {
        let rows = fitted.num_rows();
        let table = self.plan.schema.fields.len() - 1;
        let mut columns = fitted.columns()[..table].to_vec();
        columns.push(Arc::new(StringArray::from_iter_values(std::iter::repeat_n(change.name(), rows))));
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let batch = RecordBatch::try_new_with_options(self.plan.fitted_schema(), columns, &options)
            .map_err(|e| Error::arrow("row-level changes", e))?;
        self.files.write(&batch)
    }

    /// Closes the files.
    ///
    /// # Errors
    /// What the store says.
    pub(super) fn finish(self) -> Result<Vec<Cdc>> {
        let files = self.files.finish()?.into_iter().map(|file| cdc(file.add));
        Ok(files.collect())
    }
}
