//! Deletes and updates of rows.

use std::time::Duration;

use crate::core::{DeleteResult, DmlOptions, Location, Result, UpdateResult, delete, update};

/// Deletes the rows that match, in one commit or not at all; [`Table::delete_rows`](crate::Table::delete_rows) begins it.
///
/// Where `delta.enableDeletionVectors` is set, rows are marked as deleted where they are; otherwise their files are written
/// again without them. A commit that loses its race is made again from what the winner left, where that is safe.
///
/// # Examples
///
/// ```
/// # use std::sync::Arc;
/// # use deltaic::arrow::array::{Int64Array, RecordBatch, RecordBatchIterator};
/// # use deltaic::arrow::datatypes::{DataType, Field, Schema};
/// # let dir = tempfile::tempdir()?;
/// # let uri = dir.path().to_str().unwrap();
/// # let schema = Arc::new(Schema::new(vec![Field::new("id", DataType::Int64, true)]));
/// # let batch = RecordBatch::try_new(schema.clone(), vec![Arc::new(Int64Array::from(vec![1, 2, 3]))])?;
/// # deltaic::Table::write(uri, RecordBatchIterator::new([Ok(batch)], schema)).execute()?;
/// let table = deltaic::Table::open(uri)?;
/// let result = table.delete_rows().filter("id = 2").execute()?;
/// assert_eq!(result.deleted_rows, Some(1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
#[must_use = "nothing is done before `execute`"]
pub struct DeleteRows {
    location: Location,
    condition: Option<String>,
    options: DmlOptions,
}

impl DeleteRows {
    pub(crate) fn new(location: Location) -> Self {
        DeleteRows { location, condition: None, options: DmlOptions::default() }
    }

    /// The rows for which this condition in Spark SQL is true, instead of all.
    pub fn filter(mut self, condition: impl Into<String>) -> Self {
        self.condition = Some(condition.into());
        self
    }

    /// Text that the history shows.
    pub fn user_metadata(mut self, text: impl Into<String>) -> Self {
        self.options.user_metadata = Some(text.into());
        self
    }

    /// How long lost races are repeated; 5 minutes by default.
    pub fn retry_for(mut self, budget: Duration) -> Self {
        self.options.commit_budget = budget;
        self
    }

    /// Deletes.
    ///
    /// # Errors
    /// [`Error::InvalidExpression`](crate::Error::InvalidExpression) for what is not a condition on this table, and for
    /// a row that it cannot be computed for; [`Error::AppendOnly`](crate::Error::AppendOnly); those of
    /// [`Transaction::commit`](crate::Transaction::commit).
    ///
    /// # Cost
    /// The columns of the condition in the files that may match; where partition values decide, no data file is read.
    pub fn execute(self) -> Result<DeleteResult> {
        delete(&self.location, self.condition.as_deref(), &self.options)
    }
}

/// Updates the rows that match, in one commit or not at all; [`Table::update_rows`](crate::Table::update_rows) begins it.
///
/// # Examples
///
/// ```
/// # use std::sync::Arc;
/// # use deltaic::arrow::array::{Int64Array, RecordBatch, RecordBatchIterator};
/// # use deltaic::arrow::datatypes::{DataType, Field, Schema};
/// # let dir = tempfile::tempdir()?;
/// # let uri = dir.path().to_str().unwrap();
/// # let schema = Arc::new(Schema::new(vec![Field::new("id", DataType::Int64, true)]));
/// # let batch = RecordBatch::try_new(schema.clone(), vec![Arc::new(Int64Array::from(vec![1, 2, 3]))])?;
/// # deltaic::Table::write(uri, RecordBatchIterator::new([Ok(batch)], schema)).execute()?;
/// let table = deltaic::Table::open(uri)?;
/// let result = table.update_rows().set("id", "id * 10").filter("id >= 2").execute()?;
/// assert_eq!(result.updated_rows, 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
#[must_use = "nothing is done before `execute`"]
pub struct UpdateRows {
    location: Location,
    set: Vec<(String, String)>,
    condition: Option<String>,
    options: DmlOptions,
}

impl UpdateRows {
    pub(crate) fn new(location: Location) -> Self {
        UpdateRows { location, set: Vec::new(), condition: None, options: DmlOptions::default() }
    }

    /// A column, and the expression in Spark SQL that gives its new value from the row as it was.
    pub fn set(mut self, column: impl Into<String>, expression: impl Into<String>) -> Self {
        self.set.push((column.into(), expression.into()));
        self
    }

    /// The rows for which this condition in Spark SQL is true, instead of all.
    pub fn filter(mut self, condition: impl Into<String>) -> Self {
        self.condition = Some(condition.into());
        self
    }

    /// Text that the history shows.
    pub fn user_metadata(mut self, text: impl Into<String>) -> Self {
        self.options.user_metadata = Some(text.into());
        self
    }

    /// How long lost races are repeated; 5 minutes by default.
    pub fn retry_for(mut self, budget: Duration) -> Self {
        self.options.commit_budget = budget;
        self
    }

    /// Updates.
    ///
    /// # Errors
    /// As [`DeleteRows::execute`]; [`Error::InvariantViolation`](crate::Error::InvariantViolation) for a new row that breaks
    /// a rule of the table, [`Error::InvalidArgument`](crate::Error::InvalidArgument) for an update that sets nothing.
    ///
    /// # Cost
    /// The files that may match; those with a match are written again, or their rows marked as deleted.
    pub fn execute(self) -> Result<UpdateResult> {
        update(&self.location, &self.set, self.condition.as_deref(), &self.options)
    }
}
