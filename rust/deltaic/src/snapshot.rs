use std::sync::Arc;

use arrow::datatypes::SchemaRef;

use crate::core::{self, Report, Result, to_arrow_schema};
use crate::{Commit, Metadata, Protocol, Scan, Transaction};

/// One version of a table. It never changes, whatever others commit; cloning shares it, and it can be sent to threads.
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
/// # let batch = RecordBatch::try_new(schema.clone(), vec![Arc::new(Int64Array::from(vec![1, 2]))])?;
/// # deltaic::Table::write(uri, RecordBatchIterator::new([Ok(batch)], schema)).execute()?;
/// let snapshot = deltaic::Table::open(uri)?.snapshot();
/// assert_eq!(snapshot.version(), 0);
/// assert_eq!(snapshot.schema().field(0).name(), "id");
/// let rows: usize = snapshot.scan().rows()?.map(|batch| batch.map(|b| b.num_rows())).sum::<Result<_, _>>()?;
/// assert_eq!(rows, 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Snapshot(pub(crate) core::Snapshot);

impl Snapshot {
    /// The version.
    pub fn version(&self) -> u64 {
        self.0.version()
    }

    /// When the version was committed, in milliseconds since the Unix epoch: the in-commit timestamp, or the time of the
    /// file made monotonic.
    ///
    /// # Errors
    /// [`Error::InvalidTimeTravel`](crate::Error::InvalidTimeTravel) when the commit file no longer exists.
    ///
    /// # Cost
    /// One listing of the log and one GET.
    pub fn timestamp(&self) -> Result<i64> {
        self.0.timestamp()
    }

    /// The columns, partition columns among them, as Arrow has them.
    pub fn schema(&self) -> SchemaRef {
        Arc::new(to_arrow_schema(self.0.schema()))
    }

    /// The partition columns, in order.
    pub fn partition_columns(&self) -> &[String] {
        self.0.partition_columns()
    }

    /// What a client must support.
    pub fn protocol(&self) -> Protocol {
        Protocol(self.0.protocol().clone())
    }

    /// Id, name, description and table properties.
    pub fn metadata(&self) -> Metadata {
        Metadata(self.0.metadata().clone())
    }

    /// The commits up to this version that the log still has, newest first, at most `limit`.
    ///
    /// # Errors
    /// [`Error::LogCorrupt`](crate::Error::LogCorrupt) for a commit that cannot be read.
    ///
    /// # Cost
    /// One listing of the whole log, one GET for each commit that is returned.
    pub fn history(&self, limit: Option<usize>) -> Result<Vec<Commit>> {
        Ok(self.0.history(limit)?.into_iter().map(Commit).collect())
    }

    /// What this snapshot has listed, read and skipped so far.
    pub fn report(&self) -> Report {
        self.0.report()
    }

    /// A scan of all rows of all columns; nothing is read before it is asked for rows or files.
    pub fn scan(&self) -> Scan {
        Scan::new(self.0.clone())
    }

    /// A transaction that begins at this version; nothing is written before [`Transaction::commit`]. `operation` is the
    /// name that the history shows, such as `WRITE`.
    pub fn begin(&self, operation: impl Into<String>) -> Transaction {
        Transaction::begin(self, operation)
    }
}
