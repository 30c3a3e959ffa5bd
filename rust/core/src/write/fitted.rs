//! Rows as the table has them: made so, and written to the files of their partitions.

use arrow::array::RecordBatch;

use super::fit::fit_batch;
use super::mode::WriteOptions;
use super::parquet_writer::{DataFiles, WrittenData};
use super::plan::WritePlan;
use super::rules::{Rules, incomplete_schema};
use super::split::Splitter;
use super::text_limits::limit_batch;
use super::uploads::Uploads;
use crate::error::Result;

/// Makes the table's columns out of rows, in the names of the files: cast, supplied, generated and checked.
///
/// # Errors
/// [`crate::Error::SchemaMismatch`] for a value that does not fit, [`crate::Error::InvariantViolation`] for a row that
/// breaks a rule, [`crate::Error::InvalidExpression`] for one that a rule cannot be computed for.
pub(crate) fn fit_rows(plan: &WritePlan, rules: &mut Rules, given: &RecordBatch) -> Result<RecordBatch> {
    let path = plan.location.root().to_string();
    let incomplete = incomplete_schema(rules, plan);
    let batch = rules.supply(fit_batch(&path, given, rules.incomplete(), &incomplete)?)?;
    let batch = limit_batch(&path, batch, &plan.schema, &plan.text_limits)?;
    let batch = match rules.has_generated() {
        // what is generated has its lengths, too
        true => limit_batch(&path, rules.generate(batch)?, &plan.schema, &plan.text_limits)?,
        false => batch,
    };
    rules.check(batch, &plan.fitted_schema())
}

/// Writes fitted rows into data files, one open file a partition.
pub(crate) struct FittedWriter<'a> {
    path: String,
    files: DataFiles<'a>,
    splitter: Splitter,
}

impl<'a> FittedWriter<'a> {
    /// All files go below `folder` of the table where one is given.
    pub(crate) fn new(
        plan: &'a WritePlan,
        uploads: &'a Uploads,
        options: &WriteOptions,
        folder: Option<&'a str>,
    ) -> Self {
        FittedWriter {
            path: plan.location.root().to_string(),
            files: DataFiles::new(plan, uploads, options, folder),
            splitter: Splitter::new(&plan.schema, &plan.partition_columns, plan.file_positions()),
        }
    }

    /// Writes rows that [`fit_rows`] gave.
    ///
    /// # Errors
    /// What the store says; [`crate::Error::SchemaMismatch`] for a partition value that must not be null.
    pub(crate) fn write(&mut self, fitted: &RecordBatch) -> Result<()> {
        for (key, rows) in self.splitter.split(&self.path, fitted)? {
            self.files.write(key, &rows)?;
        }
        Ok(())
    }

    /// Closes the files.
    ///
    /// # Errors
    /// What the store says.
    pub(crate) fn finish(self) -> Result<Vec<WrittenData>> {
        self.files.finish()
    }
}
