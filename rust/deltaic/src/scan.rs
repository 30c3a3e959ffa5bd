use std::fmt;

use arrow::array::{RecordBatch, RecordBatchIterator, RecordBatchReader};
use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;

use crate::Add;
use crate::core::{self, FileStream, FilesRequest, Predicate, ReadRequest, Result, RowFilter, read};
use crate::place::strings;

/// Which rows: a condition in Spark SQL (`From<&str>`, `From<String>`) or a [`Predicate`]. Rows match for which it is true;
/// false and unknown do not.
#[derive(Debug, Clone)]
pub struct Filter(pub(crate) RowFilter);

impl Filter {
    /// The predicate that prunes files and is the claim of what was read.
    pub(crate) fn predicate(&self, snapshot: &core::Snapshot) -> Result<Predicate> {
        self.0.predicate(snapshot.schema())
    }
}

impl From<&str> for Filter {
    fn from(sql: &str) -> Self {
        Filter(RowFilter::Condition(sql.to_owned()))
    }
}

impl From<String> for Filter {
    fn from(sql: String) -> Self {
        Filter(RowFilter::Condition(sql))
    }
}

impl From<Predicate> for Filter {
    fn from(predicate: Predicate) -> Self {
        Filter(RowFilter::Predicate(predicate))
    }
}

/// A read of one version: exactly the rows that are not deleted and match the filter, in the table's types.
///
/// Files are skipped by partition values and statistics, row groups and pages by their own: only where no row can match.
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
/// for batch in table.scan().columns(["id"]).filter("id % 2 = 1 AND id > 1").rows()? {
///     assert_eq!(batch?.num_rows(), 1);
/// }
/// for files in table.scan().filter("id > 100").files()? {
///     assert_eq!(files?.num_files(), 0); // statistics exclude the only file
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
#[must_use = "nothing is read before `rows` or `files`"]
pub struct Scan {
    snapshot: core::Snapshot,
    request: ReadRequest,
}

impl Scan {
    pub(crate) fn new(snapshot: core::Snapshot) -> Self {
        Scan { snapshot, request: ReadRequest::default() }
    }

    /// These columns by name, in this order, instead of all.
    pub fn columns<S: Into<String>>(mut self, columns: impl IntoIterator<Item = S>) -> Self {
        self.request.columns = Some(strings(columns));
        self
    }

    /// The rows that match, instead of all.
    pub fn filter(mut self, filter: impl Into<Filter>) -> Self {
        self.request.filter = Some(filter.into().0);
        self
    }

    /// Two more columns at the end, `_row_id` and `_row_commit_version` (PROTOCOL.md, "Row Tracking").
    pub fn with_row_ids(mut self) -> Self {
        self.request.row_ids = true;
        self
    }

    /// At most so many rows in a batch; 32768 by default.
    pub fn batch_size(mut self, rows: usize) -> Self {
        self.request.batch_size = rows;
        self
    }

    /// The rows, as Arrow batches. They come in the order of the files in the log and, within one, of the file.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`](crate::Error::InvalidArgument) for a column that is unknown or named twice, and for row
    /// ids of a table without row tracking; [`Error::InvalidExpression`](crate::Error::InvalidExpression) and
    /// [`Error::InvalidPredicate`](crate::Error::InvalidPredicate) for a filter that does not go with the table; what the
    /// log and the store say. The reader gives the errors of data files, and ends with the first.
    ///
    /// # Cost
    /// The log once in the life of the snapshot. Files that cannot match are not opened; memory is that of a few batches
    /// of at most 8 files.
    pub fn rows(self) -> Result<Rows> {
        let rows = read(&self.snapshot, self.request)?;
        Ok(Rows::new(rows.schema().clone(), rows))
    }

    /// The files that may have rows which match, with their statistics; columns play no part.
    ///
    /// # Errors
    /// Those of [`Scan::rows`] of the filter and of the log.
    ///
    /// # Cost
    /// The log once in the life of the snapshot; no data file is opened.
    pub fn files(self) -> Result<Files> {
        let filter = self.request.filter.map(|filter| filter.predicate(self.snapshot.schema()));
        let predicate = filter.transpose()?;
        let request = FilesRequest { predicate, stats: true, extended: true };
        Ok(Files(self.snapshot.files(request)?))
    }
}

/// Rows as Arrow batches, all of one schema; an error is the last item.
pub struct Rows {
    schema: SchemaRef,
    batches: Box<dyn Iterator<Item = Result<RecordBatch>> + Send>,
}

impl Rows {
    pub(crate) fn new(
        schema: SchemaRef,
        batches: impl Iterator<Item = Result<RecordBatch>> + Send + 'static,
    ) -> Self {
        Rows { schema, batches: Box::new(batches) }
    }

    /// The schema of every batch.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The same rows as a [`RecordBatchReader`], for those that take one, such as [`Table::append`](crate::Table::append).
    /// An [`Error`](crate::Error) is within an [`ArrowError::ExternalError`].
    pub fn into_reader(self) -> impl RecordBatchReader + Send {
        let schema = self.schema.clone();
        let batches = self.map(|batch| batch.map_err(|error| ArrowError::ExternalError(Box::new(error))));
        RecordBatchIterator::new(batches, schema)
    }
}

impl Iterator for Rows {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        self.batches.next()
    }
}

impl fmt::Debug for Rows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rows").field("schema", &self.schema).finish_non_exhaustive()
    }
}

/// Live files, batch by batch.
#[derive(Debug)]
pub struct Files(FileStream);

impl Iterator for Files {
    type Item = Result<FileBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next().map(|batch| batch.map(FileBatch))
    }
}

/// Some live files of a version, in columns.
#[derive(Debug)]
pub struct FileBatch(core::FileBatch);

impl FileBatch {
    /// The number of files.
    pub fn num_files(&self) -> usize {
        self.0.num_files()
    }

    /// The files as Arrow columns with the names of the protocol. Nothing is copied.
    pub fn record_batch(&self) -> &RecordBatch {
        self.0.record_batch()
    }

    /// The files one by one.
    ///
    /// # Errors
    /// [`Error::LogCorrupt`](crate::Error::LogCorrupt) for a file whose fields cannot be decoded.
    pub fn adds(&self) -> impl Iterator<Item = Result<Add>> + '_ {
        self.0.adds().map(|add| add.map(Add))
    }
}
