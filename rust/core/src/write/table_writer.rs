//! Conforms rows to the table, and writes them to the files of their partitions.

use arrow::array::{ArrayRef, RecordBatch};
use arrow::row::{RowConverter, SortField};

use super::conform::conform_batch;
use super::failing_row::with_row;
use super::mode::WriteOptions;
use super::parquet_writer::{DataFiles, WrittenData};
use super::plan::WritePlan;
use super::rules::{Rules, incomplete_schema};
use super::sorter::Sorter;
use super::split::{PartitionKey, Splitter};
use super::uploads::Uploads;
use crate::error::{Error, Result};
use crate::schema::limit_batch;

/// Bytes of rows that wait in memory; more wait in a temporary file.
const RUN_BYTES: usize = 128 << 20;

/// Makes the table's columns out of rows, in the names of the files: cast, supplied, generated and checked.
///
/// # Errors
/// [`crate::Error::SchemaMismatch`] for a value that does not fit, with its row, [`crate::Error::InvariantViolation`] for a row that
/// breaks a rule, [`crate::Error::InvalidExpression`] for one that a rule cannot be computed for.
pub(crate) fn conform_rows(plan: &WritePlan, rules: &mut Rules, given: &RecordBatch) -> Result<RecordBatch> {
    let path = plan.location.root().to_string();
    let incomplete = incomplete_schema(rules, plan);
    let fit = |rows: &RecordBatch| conform_batch(&path, rows, rules.incomplete(), &incomplete);
    let again = |from: usize, rows: usize| fit(&given.slice(from, rows)).map(drop);
    let batch = fit(given).map_err(|e| with_row(e, given, again))?;
    let batch = rules.supply(batch)?;
    let limit = |rows: RecordBatch| limit_batch(&path, rows, &plan.schema, &plan.text_limits);
    let again = |from: usize, rows: usize| limit(batch.slice(from, rows)).map(drop);
    let batch = limit(batch.clone()).map_err(|e| with_row(e, given, again))?;
    let batch = match rules.has_generated() {
        // what is generated has its lengths, too
        true => limit_batch(&path, rules.generate(batch)?, &plan.schema, &plan.text_limits)?,
        false => batch,
    };
    rules.check(batch, &plan.conformed_schema())
}

/// Writes conformed rows into data files, one open file a partition. Where the write or the table asks for optimized writes, rows wait for
/// all others of their partition, so that these are in one file up to the target size, however many partitions there are.
/// They begin to wait, too, when rows of more partitions than files can be open come in turns: otherwise each batch would
/// leave a file of few rows in every partition.
pub(crate) struct TableWriter<'a> {
    path: String,
    files: DataFiles<'a>,
    splitter: Splitter,
    waiting: Option<ByPartition>,
}

impl<'a> TableWriter<'a> {
    /// All files go below `folder` of the table where one is given.
    pub(crate) fn new(
        plan: &'a WritePlan,
        uploads: &'a Uploads,
        options: &WriteOptions,
        folder: Option<&'a str>,
    ) -> Self {
        let waits = !plan.partition_columns.is_empty() && plan.optimize_write;
        TableWriter {
            path: plan.location.root().to_string(),
            files: DataFiles::new(plan, uploads, options, folder),
            splitter: Splitter::new(&plan.schema, &plan.partition_columns, plan.file_positions()),
            waiting: waits.then(ByPartition::new),
        }
    }

    /// Writes rows that [`conform_rows`] gave.
    ///
    /// # Errors
    /// Errors of the store; [`crate::Error::SchemaMismatch`] for a partition value that must not be null.
    pub(crate) fn write(&mut self, conformed: &RecordBatch) -> Result<()> {
        match &mut self.waiting {
            Some(waiting) => waiting.push(conformed, &self.splitter.partition_values(conformed)),
            None => {
                let parts = self.splitter.split(&self.path, conformed)?;
                if self.files.would_crowd(parts.iter().map(|(key, _)| key)) {
                    let waiting = self.waiting.insert(ByPartition::new());
                    return waiting.push(conformed, &self.splitter.partition_values(conformed));
                }
                self.write_parts(parts)
            }
        }
    }

    fn write_parts(&mut self, parts: Vec<(PartitionKey, RecordBatch)>) -> Result<()> {
        parts.into_iter().try_for_each(|(key, rows)| self.files.write(key, &rows))
    }

    /// Closes the files.
    ///
    /// # Errors
    /// As [`TableWriter::write`].
    pub(crate) fn finish(mut self) -> Result<Vec<WrittenData>> {
        if let Some(waiting) = self.waiting.take() {
            self.files.partitions_in_turn();
            for batch in waiting.sorter.finish()? {
                let parts = self.splitter.split(&self.path, &batch?)?;
                self.write_parts(parts)?;
            }
        }
        self.files.finish()
    }
}

/// Rows that wait for all others of their partition.
struct ByPartition {
    sorter: Sorter,
    /// None before the first rows.
    order: Option<RowConverter>,
}

impl ByPartition {
    fn new() -> Self {
        ByPartition { sorter: Sorter::new(RUN_BYTES), order: None }
    }

    fn push(&mut self, rows: &RecordBatch, values: &[ArrayRef]) -> Result<()> {
        let failed = |e| Error::arrow("gathering rows by partition", e);
        let order = match &mut self.order {
            Some(order) => order,
            none => {
                let fields = values.iter().map(|v| SortField::new(v.data_type().clone())).collect();
                none.insert(RowConverter::new(fields).map_err(failed)?)
            }
        };
        let keys = order.convert_columns(values).and_then(|rows| rows.try_into_binary()).map_err(failed)?;
        self.sorter.push(rows, keys)
    }
}
