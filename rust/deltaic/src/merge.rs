//! Merges of rows.

use std::time::Duration;

use arrow::array::RecordBatchReader;

use crate::core::{
    DmlOptions, Location, MergeAction, MergeClause, MergeRequest, MergeResult, MergeSource, MergeWhen,
    Result, merge,
};

/// Updates, deletes and inserts rows by those of a source, in one commit or not at all;
/// [`Table::merge`](crate::Table::merge) begins it.
///
/// Of the clauses about a row, the first whose condition is true applies. Expressions are Spark SQL; a column is
/// `target.column` or `source.column`, or `column` where one side has it. Old rows are marked in deletion vectors where
/// `delta.enableDeletionVectors` is set; otherwise files with a changed row are written again. A merge that loses its race is
/// made again from what the winner left, with the same source.
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
/// # let ids = |ids: Vec<i64>| RecordBatch::try_new(schema.clone(), vec![Arc::new(Int64Array::from(ids))]);
/// # deltaic::Table::write(uri, RecordBatchIterator::new([ids(vec![1, 2, 3])], schema.clone())).execute()?;
/// let table = deltaic::Table::open(uri)?;
/// let changes = RecordBatchIterator::new([ids(vec![2, 3, 4])], schema.clone());
/// let result = table
///     .merge(changes, "target.id = source.id")
///     .when_matched_delete(Some("source.id = 2"))
///     .when_matched_update_all(None)
///     .when_not_matched_insert_all(None)
///     .execute()?;
/// assert_eq!((result.deleted_rows, result.updated_rows, result.inserted_rows), (1, 1, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[must_use = "nothing is done before `execute`"]
pub struct Merge<R> {
    location: Location,
    source: R,
    request: MergeRequest,
    options: DmlOptions,
}

impl<R: RecordBatchReader> Merge<R> {
    pub(crate) fn new(location: Location, source: R, condition: impl Into<String>) -> Self {
        let request = MergeRequest {
            condition: condition.into(),
            target_alias: "target".into(),
            source_alias: "source".into(),
            clauses: Vec::new(),
            with_schema_evolution: false,
        };
        Merge { location, source, request, options: DmlOptions::default() }
    }

    /// Other names for the table and the source in expressions than `target` and `source`.
    pub fn aliases(mut self, target: impl Into<String>, source: impl Into<String>) -> Self {
        self.request.target_alias = target.into();
        self.request.source_alias = source.into();
        self
    }

    /// A row of the table that matches gets these values: columns, or fields of structs, and expressions over both sides.
    pub fn when_matched_update(self, set: &[(&str, &str)], condition: Option<&str>) -> Self {
        self.with(MergeWhen::Matched, MergeAction::Update, condition, Some(set))
    }

    /// Every column of a row of the table that matches gets that of the source with its name.
    pub fn when_matched_update_all(self, condition: Option<&str>) -> Self {
        self.with(MergeWhen::Matched, MergeAction::Update, condition, None)
    }

    /// A row of the table that matches is deleted.
    pub fn when_matched_delete(self, condition: Option<&str>) -> Self {
        self.with(MergeWhen::Matched, MergeAction::Delete, condition, None)
    }

    /// A row of the source that matches nothing becomes a new row: columns, and expressions over the source.
    pub fn when_not_matched_insert(self, values: &[(&str, &str)], condition: Option<&str>) -> Self {
        self.with(MergeWhen::NotMatched, MergeAction::Insert, condition, Some(values))
    }

    /// A row of the source that matches nothing becomes a new row, each column that of its name.
    pub fn when_not_matched_insert_all(self, condition: Option<&str>) -> Self {
        self.with(MergeWhen::NotMatched, MergeAction::Insert, condition, None)
    }

    /// A row of the table that matches nothing gets these values: columns, or fields of structs, and expressions over the
    /// table. All files are read.
    pub fn when_not_matched_by_source_update(self, set: &[(&str, &str)], condition: Option<&str>) -> Self {
        self.with(MergeWhen::NotMatchedBySource, MergeAction::Update, condition, Some(set))
    }

    /// A row of the table that matches nothing is deleted. All files are read.
    pub fn when_not_matched_by_source_delete(self, condition: Option<&str>) -> Self {
        self.with(MergeWhen::NotMatchedBySource, MergeAction::Delete, condition, None)
    }

    /// Adds columns that only the source has, where a clause sets them.
    pub fn with_schema_evolution(mut self) -> Self {
        self.request.with_schema_evolution = true;
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

    /// Merges.
    ///
    /// # Errors
    /// [`Error::MultipleMatches`](crate::Error::MultipleMatches) for a row of the table that matches several rows of the
    /// source, unless the only clause about matches deletes them all;
    /// [`Error::InvalidArgument`](crate::Error::InvalidArgument) for clauses that cannot be and columns that do not exist;
    /// [`Error::InvalidExpression`](crate::Error::InvalidExpression) for what cannot be evaluated;
    /// [`Error::InvariantViolation`](crate::Error::InvariantViolation) for a new row that breaks a rule of the table; those
    /// of [`Transaction::commit`](crate::Transaction::commit).
    ///
    /// # Cost
    /// The columns of the conditions in the files that may hold a key of the source, and all columns of the touched rows.
    /// Memory: the keys of the source, 256 MiB of its rows (the others go to a temporary file), and a few batches a core.
    /// A condition without `=` between both sides compares each row with each.
    pub fn execute(self) -> Result<MergeResult> {
        let source = MergeSource::read(&self.location.root().to_string(), self.source)?;
        merge(&self.location, &source, &self.request, &self.options)
    }

    fn with(
        mut self,
        when: MergeWhen,
        action: MergeAction,
        condition: Option<&str>,
        values: Option<&[(&str, &str)]>,
    ) -> Self {
        let owned = |(column, value): &(&str, &str)| ((*column).to_owned(), (*value).to_owned());
        let values = values.map(|all| all.iter().map(owned).collect());
        let condition = condition.map(str::to_owned);
        self.request.clauses.push(MergeClause { when, action, condition, values });
        self
    }
}
