//! Files of row-level changes (PROTOCOL.md, "Change Data Files").

use std::sync::Arc;

use arrow::array::{RecordBatch, RecordBatchOptions, StringArray};
use rayon::prelude::*;

use super::attempt::DmlAttempt;
use crate::actions::{Add, Cdc};
use crate::error::{Error, Result};
use crate::scan::{ReadRequest, RowScan, read_file};
use crate::schema::{DataType, StructField};
use crate::store::runtime;
use crate::write::{Rules, TableWriter, Uploads, WriteOptions, WritePlan, conform_rows};

/// Folder of the table that the files are in.
const FOLDER: &str = "_change_data";
/// Column that says what happened to the row.
const CHANGE_TYPE: &str = "_change_type";

/// What happened to a row.
#[derive(Debug, Clone, Copy)]
pub(super) enum ChangeType {
    Insert,
    Delete,
    UpdatePreimage,
    UpdatePostimage,
}

impl ChangeType {
    fn name(self) -> &'static str {
        match self {
            ChangeType::Insert => "insert",
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
pub(crate) fn column() -> StructField {
    StructField::new(CHANGE_TYPE, DataType::String, true)
}

/// The action of a file.
pub(crate) fn cdc(file: Add) -> Cdc {
    Cdc {
        path: file.path,
        partition_values: file.partition_values,
        size: file.size,
        data_change: false,
        tags: None,
    }
}

/// Writes the rows of new files as changes: where a commit has files of changes, readers look at nothing else.
///
/// # Errors
/// As [`read_file`], and errors of the store.
///
/// # Cost
/// A read of the new files, several at a time. Memory: the open files of one writer a core.
pub(crate) fn inserted(attempt: &DmlAttempt, adds: &[Add]) -> Result<Vec<Cdc>> {
    let table = &attempt.plan;
    let (location, partitions) = (table.location.clone(), &table.partition_columns);
    let request = ReadRequest::default();
    let scan = RowScan::new(location, &table.schema, partitions, table.column_mapping, request)?;
    let (scan, plan) = (Arc::new(scan), plan(table));
    let write = |files: &[Add]| -> Result<Vec<Cdc>> {
        let mut rules = Rules::none(table);
        let mut changes = ChangeWriter::new(&plan, &attempt.uploads, &attempt.write);
        for file in files {
            for batch in read_file(&scan, file)? {
                changes.write(&conform_rows(table, &mut rules, &batch?)?, ChangeType::Insert)?;
            }
        }
        changes.finish()
    };
    let pool = runtime::pool()?;
    let share = adds.len().div_ceil(pool.current_num_threads()).max(1);
    let written: Vec<Vec<Cdc>> = pool.install(|| adds.par_chunks(share).map(write).collect::<Result<_>>())?;
    Ok(written.concat())
}

/// Writes changes, partitioned as the rows are.
pub(super) struct ChangeWriter<'a> {
    plan: &'a WritePlan,
    files: TableWriter<'a>,
}

impl<'a> ChangeWriter<'a> {
    /// By a plan of [`plan`].
    pub(super) fn new(plan: &'a WritePlan, uploads: &'a Uploads, options: &WriteOptions) -> Self {
        ChangeWriter { plan, files: TableWriter::new(plan, uploads, options, Some(FOLDER)) }
    }

    /// Writes rows that are conformed to the table; columns after those of the table are left out.
    ///
    /// # Errors
    /// Errors of the store.
    pub(super) fn write(&mut self, conformed: &RecordBatch, change: ChangeType) -> Result<()> {
        let rows = conformed.num_rows();
        let table = self.plan.schema.fields.len() - 1;
        let mut columns = conformed.columns()[..table].to_vec();
        columns.push(Arc::new(StringArray::from_iter_values(std::iter::repeat_n(change.name(), rows))));
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let batch = RecordBatch::try_new_with_options(self.plan.conformed_schema(), columns, &options)
            .map_err(|e| Error::arrow("row-level changes", e))?;
        self.files.write(&batch)
    }

    /// Closes the files.
    ///
    /// # Errors
    /// Errors of the store.
    pub(super) fn finish(self) -> Result<Vec<Cdc>> {
        let files = self.files.finish()?.into_iter().map(|file| cdc(file.add));
        Ok(files.collect())
    }
}
