use crate::core::{self, CdfBound, CdfRequest, ReadRequest, Result};
use crate::place::strings;
use crate::{Filter, Rows};

/// The row-level changes of a range of versions (PROTOCOL.md, "Change Data Files"): the columns of the table, then
/// `_change_type`, `_commit_version` and `_commit_timestamp`. [`Table::changes`](crate::Table::changes) begins it.
///
/// The table must have `delta.enableChangeDataFeed` set in all versions of the range.
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
/// # let rows = RecordBatchIterator::new([Ok(batch)], schema);
/// # deltaic::Table::write(uri, rows).property("delta.enableChangeDataFeed", "true").execute()?;
/// let mut table = deltaic::Table::open(uri)?;
/// table.delete_rows().filter("id = 1").execute()?;
/// table.update()?;
/// let changed = table.changes().from_version(1).filter("_change_type = 'delete' AND id % 2 = 1").rows()?;
/// assert_eq!(changed.map(|batch| batch.map(|b| b.num_rows())).sum::<Result<usize, _>>()?, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
#[must_use = "nothing is read before `rows`"]
pub struct Changes {
    snapshot: core::Snapshot,
    range: CdfRequest,
    request: ReadRequest,
}

impl Changes {
    pub(crate) fn new(snapshot: core::Snapshot) -> Self {
        Changes { snapshot, range: CdfRequest::versions(0, None), request: ReadRequest::default() }
    }

    /// From this version on; 0 by default.
    pub fn from_version(mut self, version: u64) -> Self {
        self.range.start = CdfBound::Version(version);
        self
    }

    /// From the first version committed at or after this time on, in milliseconds since the Unix epoch.
    pub fn from_timestamp(mut self, millis: i64) -> Self {
        self.range.start = CdfBound::Timestamp(millis);
        self
    }

    /// Up to this version, included; that of the table by default.
    pub fn to_version(mut self, version: u64) -> Self {
        self.range.end = Some(CdfBound::Version(version));
        self
    }

    /// Up to the last version committed at or before this time, in milliseconds since the Unix epoch.
    pub fn to_timestamp(mut self, millis: i64) -> Self {
        self.range.end = Some(CdfBound::Timestamp(millis));
        self
    }

    /// These columns by name, in this order, instead of all.
    pub fn columns<S: Into<String>>(mut self, columns: impl IntoIterator<Item = S>) -> Self {
        self.request.columns = Some(strings(columns));
        self
    }

    /// The rows that match, instead of all; `_change_type` and the like can be in the filter.
    pub fn filter(mut self, filter: impl Into<Filter>) -> Self {
        self.request.filter = Some(filter.into().0);
        self
    }

    /// The changes, version by version.
    ///
    /// # Errors
    /// [`Error::ChangesNotRecorded`](crate::Error::ChangesNotRecorded) where the feed was off in the range,
    /// [`Error::ChangesSchemaMismatch`](crate::Error::ChangesSchemaMismatch) where no schema fits all of it,
    /// [`Error::VersionNotFound`](crate::Error::VersionNotFound) and
    /// [`Error::TimestampOutOfRange`](crate::Error::TimestampOutOfRange); as [`Scan::rows`](crate::Scan::rows).
    ///
    /// # Cost
    /// The commits of the range and every file of its changes.
    pub fn rows(self) -> Result<Rows> {
        let rows = core::ChangeDataFeed::plan(&self.snapshot, &self.range)?.read(self.request)?;
        Ok(Rows::new(rows.schema().clone(), rows))
    }
}
