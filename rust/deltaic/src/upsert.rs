//! Rows that replace those with their key.

use std::time::Duration;

use arrow::array::RecordBatchReader;

use crate::core::{DmlOptions, Location, MergeRequest, MergeResult, MergeSource, Result, merge};

/// Each row of a source replaces the row of the table with its key, or is added where there is none: in one commit or not
/// at all; [`Table::upsert`](crate::Table::upsert) begins it.
///
/// It is a [`Merge`](crate::Merge) with both its clauses. Nulls in a key are equal.
///
/// # Examples
///
/// ```
/// # use std::sync::Arc;
/// # use deltaic::arrow::array::{Int64Array, RecordBatch, RecordBatchIterator};
/// # use deltaic::arrow::datatypes::{DataType, Field, Schema};
/// # let dir = tempfile::tempdir()?;
/// # let uri = dir.path().to_str().unwrap();
/// # let field = |name| Field::new(name, DataType::Int64, true);
/// # let schema = Arc::new(Schema::new(vec![field("id"), field("seen")]));
/// # let rows = |ids: Vec<i64>, seen: Vec<i64>| {
/// #     let columns = [ids, seen].map(|c| Arc::new(Int64Array::from(c)) as _);
/// #     RecordBatch::try_new(schema.clone(), columns.to_vec())
/// # };
/// # let first = RecordBatchIterator::new([rows(vec![1, 2], vec![1, 1])], schema.clone());
/// # deltaic::Table::write(uri, first).execute()?;
/// let table = deltaic::Table::open(uri)?;
/// let batch = RecordBatchIterator::new([rows(vec![2, 3, 3], vec![5, 6, 7])], schema.clone());
/// let result = table.upsert(batch, &["id"]).order_by(&["seen"]).execute()?;
/// assert_eq!((result.updated_rows, result.inserted_rows), (1, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[must_use = "nothing is done before `execute`"]
pub struct Upsert<R> {
    location: Location,
    source: R,
    id_cols: Vec<String>,
    order_by: Vec<String>,
    with_schema_evolution: bool,
    options: DmlOptions,
}

impl<R: RecordBatchReader> Upsert<R> {
    pub(crate) fn new(location: Location, source: R, id_cols: &[&str]) -> Self {
        Upsert {
            location,
            source,
            id_cols: owned(id_cols),
            order_by: Vec::new(),
            with_schema_evolution: false,
            options: DmlOptions::default(),
        }
    }

    /// Of the rows with one key the greatest counts: Spark SQL over the source, by which null is the least. Of equal ones
    /// the last counts. Without it a key that comes twice is an error.
    pub fn order_by(mut self, expressions: &[&str]) -> Self {
        self.order_by = owned(expressions);
        self
    }

    /// Adds columns that only the source has; the source may lack some of the table's.
    pub fn with_schema_evolution(mut self) -> Self {
        self.with_schema_evolution = true;
        self
    }

    /// Text that the history shows.
    pub fn user_metadata(mut self, text: impl Into<String>) -> Self {
        self.options.user_metadata = Some(text.into());
        self
    }

    /// Id of an application and its version. A version that the table has recorded is not done again.
    pub fn app_transaction(mut self, app_id: impl Into<String>, version: i64) -> Self {
        self.options.app_transaction = Some((app_id.into(), version));
        self
    }

    /// How long lost races are repeated; 5 minutes by default.
    pub fn retry_for(mut self, budget: Duration) -> Self {
        self.options.commit_budget = budget;
        self
    }

    /// Upserts.
    ///
    /// # Errors
    /// [`Error::MultipleMatches`](crate::Error::MultipleMatches) for a key that comes twice, without an order;
    /// [`Error::InvalidArgument`](crate::Error::InvalidArgument) for no key, and for a column that one side does not have;
    /// those of [`Merge::execute`](crate::Merge::execute).
    ///
    /// # Cost
    /// As [`Merge::execute`](crate::Merge::execute), and for each row of the source what it is ordered by.
    pub fn execute(self) -> Result<MergeResult> {
        let path = self.location.root().to_string();
        let source =
            MergeSource::read(&path, self.source)?.one_for_each_key(&path, &self.id_cols, &self.order_by)?;
        let request = MergeRequest::upsert(&self.id_cols, self.with_schema_evolution);
        merge(&self.location, &source, &request, &self.options)
    }
}

fn owned(all: &[&str]) -> Vec<String> {
    all.iter().map(|text| (*text).to_owned()).collect()
}
