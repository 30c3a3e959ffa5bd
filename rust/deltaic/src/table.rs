use arrow::array::RecordBatchReader;
use arrow::datatypes::{Schema, SchemaRef};

use crate::core::{
    self, At, Cancel, CheckpointResult, Location, Report, Result, VerifyLevel, WriteMode, checkpoint,
    resolve_table_path,
};
use crate::place::Place;
use crate::{
    Alter, Changes, Commit, Convert, Create, DeleteRows, Fsck, Merge, Metadata, Optimize, Protocol, Restore,
    Scan, ShallowClone, Snapshot, StorageOptions, Transaction, UpdateRows, Upsert, Vacuum, Verify, Write,
};

/// A Delta table: the version that was opened, and the operations at its place.
///
/// What is read is always of the version that was opened; [`Table::update`] opens the newest. What is written always
/// follows the newest version, which is not the opened one any more after it.
///
/// # Examples
///
/// ```
/// # use std::sync::Arc;
/// # use deltaic::arrow::array::{Int64Array, RecordBatch, RecordBatchIterator};
/// # use deltaic::arrow::datatypes::{DataType, Field, Schema};
/// use deltaic::Table;
///
/// # let dir = tempfile::tempdir()?;
/// # let uri = dir.path().to_str().unwrap();
/// # let schema = Arc::new(Schema::new(vec![Field::new("id", DataType::Int64, true)]));
/// # let batch = RecordBatch::try_new(schema.clone(), vec![Arc::new(Int64Array::from(vec![1, 2, 3]))])?;
/// # let rows = || RecordBatchIterator::new([Ok(batch.clone())], schema.clone());
/// # Table::write(uri, rows()).execute()?;
/// let mut table = Table::open(uri)?;
/// table.append(rows()).execute()?;
/// assert_eq!(table.version(), 0);
/// assert!(table.update()?);
/// assert_eq!(table.version(), 1);
///
/// assert_eq!(Table::open(&format!("{uri}@v0"))?.version(), 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Table {
    location: Location,
    snapshot: core::Snapshot,
}

impl Table {
    /// Opens a table by its path or URL: the newest version, or the one of a suffix `@v5` or `@20260101000000000`
    /// (`yyyyMMddHHmmssSSS`, UTC).
    ///
    /// # Errors
    /// As [`TableBuilder::open`].
    ///
    /// # Cost
    /// As [`TableBuilder::open`].
    pub fn open(uri: &str) -> Result<Table> {
        Table::builder(uri).open()
    }

    /// Opens a table with options.
    pub fn builder(uri: impl Into<String>) -> TableBuilder {
        TableBuilder {
            uri: uri.into(),
            at: At::Latest,
            options: StorageOptions::new(),
            verify: VerifyLevel::default(),
            cancel: None,
        }
    }

    /// Creates a table with this schema at a path or URL.
    pub fn create(uri: impl Into<String>, schema: impl Into<Schema>) -> Create {
        Create::new(Place::uri(uri), schema.into())
    }

    /// Writes rows to a path or URL; the table is created where there is none.
    pub fn write<R: RecordBatchReader>(uri: impl Into<String>, data: R) -> Write<R> {
        Write::new(Place::uri(uri), data)
    }

    /// Makes a table of the Parquet files at a path or URL.
    pub fn convert(uri: impl Into<String>) -> Convert {
        Convert::new(Place::uri(uri))
    }

    pub(crate) fn at(location: Location) -> Result<Table> {
        let snapshot = core::Snapshot::open(location.clone(), At::Latest)?;
        Ok(Table { location, snapshot })
    }

    /// Advances to the newest version, and returns whether it is another one. The known part of the log is not read again.
    ///
    /// # Errors
    /// As [`TableBuilder::open`]; [`Error::LogGap`](crate::Error::LogGap) where the opened version is not in the log any
    /// more, and no newer one is.
    ///
    /// # Cost
    /// One listing from the opened version on, and the new commits.
    pub fn update(&mut self) -> Result<bool> {
        let newest = self.snapshot.update()?;
        let moved = newest.version() != self.snapshot.version();
        self.snapshot = newest;
        Ok(moved)
    }

    /// The version that was opened, which never changes, whatever happens to the table.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot(self.snapshot.clone())
    }

    /// As [`Snapshot::version`].
    pub fn version(&self) -> u64 {
        self.snapshot.version()
    }

    /// As [`Snapshot::schema`].
    pub fn schema(&self) -> SchemaRef {
        self.snapshot().schema()
    }

    /// As [`Snapshot::partition_columns`].
    pub fn partition_columns(&self) -> &[String] {
        self.snapshot.partition_columns()
    }

    /// As [`Snapshot::protocol`].
    pub fn protocol(&self) -> Protocol {
        self.snapshot().protocol()
    }

    /// As [`Snapshot::metadata`].
    pub fn metadata(&self) -> Metadata {
        self.snapshot().metadata()
    }

    /// As [`Snapshot::history`].
    ///
    /// # Errors
    /// As [`Snapshot::history`].
    pub fn history(&self, limit: Option<usize>) -> Result<Vec<Commit>> {
        self.snapshot().history(limit)
    }

    /// As [`Snapshot::report`].
    pub fn report(&self) -> Report {
        self.snapshot.report()
    }

    /// As [`Snapshot::scan`].
    pub fn scan(&self) -> Scan {
        self.snapshot().scan()
    }

    /// The row-level changes of versions up to the opened one.
    pub fn changes(&self) -> Changes {
        Changes::new(self.snapshot.clone())
    }

    /// As [`Snapshot::begin`].
    pub fn begin(&self, operation: impl Into<String>) -> Transaction {
        self.snapshot().begin(operation)
    }

    /// Adds rows.
    pub fn append<R: RecordBatchReader>(&self, data: R) -> Write<R> {
        Write::new(self.place(), data).mode(WriteMode::Append)
    }

    /// Replaces all rows, or those that the builder says.
    pub fn overwrite<R: RecordBatchReader>(&self, data: R) -> Write<R> {
        Write::new(self.place(), data).mode(WriteMode::Overwrite)
    }

    /// Deletes rows.
    pub fn delete_rows(&self) -> DeleteRows {
        DeleteRows::new(self.location.clone())
    }

    /// Updates rows.
    pub fn update_rows(&self) -> UpdateRows {
        UpdateRows::new(self.location.clone())
    }

    /// Merges rows of a source, which match those of the table where a condition in Spark SQL is true.
    pub fn merge<R: RecordBatchReader>(&self, source: R, condition: impl Into<String>) -> Merge<R> {
        Merge::new(self.location.clone(), source, condition)
    }

    /// Replaces the rows with the keys of a source, which are in `id_cols`, and adds its other rows.
    pub fn upsert<R: RecordBatchReader>(&self, source: R, id_cols: &[&str]) -> Upsert<R> {
        Upsert::new(self.location.clone(), source, id_cols)
    }

    /// Changes properties, columns, constraints or features.
    pub fn alter(&self) -> Alter {
        Alter::new(self.location.clone())
    }

    /// Compacts small files.
    pub fn optimize(&self) -> Optimize {
        Optimize::new(self.location.clone())
    }

    /// Deletes files that no version needs any more.
    pub fn vacuum(&self) -> Vacuum {
        Vacuum::new(self.location.clone())
    }

    /// Restores the table to an older version or time.
    pub fn restore(&self) -> Restore {
        Restore::new(self.location.clone())
    }

    /// Makes another table of the opened version, at a path or URL, which refers to the same files.
    pub fn shallow_clone(&self, target: impl Into<String>) -> ShallowClone {
        ShallowClone::new(self.location.clone(), self.version(), Place::uri(target))
    }

    /// Removes missing files from the table.
    pub fn fsck(&self) -> Fsck {
        Fsck::new(self.location.clone())
    }

    /// Proves that the table is whole.
    pub fn verify(&self) -> Verify {
        Verify::new(self.location.clone())
    }

    /// Writes a checkpoint of the opened version (PROTOCOL.md, "Checkpoints"). Commits write them by themselves, each
    /// `delta.checkpointInterval` versions.
    ///
    /// # Errors
    /// What the log and the store say; [`Error::UnsupportedFeature`](crate::Error::UnsupportedFeature) for a table that asks
    /// more of a writer.
    ///
    /// # Cost
    /// The live files are read and written, a part at a time.
    pub fn checkpoint(&self) -> Result<CheckpointResult> {
        checkpoint(&self.snapshot)
    }

    fn place(&self) -> Place {
        Place::Open(self.location.clone())
    }
}

/// How to open a table; [`Table::builder`] begins it.
///
/// # Examples
///
/// ```
/// # use deltaic::arrow::datatypes::{DataType, Field, Schema};
/// use deltaic::{Cancel, Table, VerifyLevel};
///
/// # let dir = tempfile::tempdir()?;
/// # let uri = dir.path().to_str().unwrap();
/// # Table::create(uri, Schema::new(vec![Field::new("id", DataType::Int64, true)])).execute()?;
/// let cancel = Cancel::default(); // stops operations from any thread
/// let table = Table::builder(uri)
///     .version(0)
///     .option("allowed_locations", "table-only")
///     .verify(VerifyLevel::Full)
///     .cancelled_by(&cancel)
///     .open()?;
/// assert_eq!(table.version(), 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
#[must_use = "nothing is opened before `open`"]
pub struct TableBuilder {
    uri: String,
    at: At,
    options: StorageOptions,
    verify: VerifyLevel,
    cancel: Option<Cancel>,
}

impl TableBuilder {
    /// This version; the last of version and timestamp counts.
    pub fn version(mut self, version: u64) -> Self {
        self.at = At::Version(version);
        self
    }

    /// The newest version committed at or before this time, in milliseconds since the Unix epoch.
    pub fn timestamp(mut self, millis: i64) -> Self {
        self.at = At::Timestamp(millis);
        self
    }

    /// An option of the store.
    pub fn option(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.options = self.options.with(key, value);
        self
    }

    /// The options of the store, instead of those given so far.
    pub fn options(mut self, options: StorageOptions) -> Self {
        self.options = options;
        self
    }

    /// How much of the redundant information in the log is compared before it is trusted.
    pub fn verify(mut self, level: VerifyLevel) -> Self {
        self.verify = level;
        self
    }

    /// Stops what the table does from another thread, where it is safe: what was stopped fails with
    /// [`Error::Interrupted`](crate::Error::Interrupted), and the table is as it was.
    pub fn cancelled_by(mut self, cancel: &Cancel) -> Self {
        self.cancel = Some(cancel.clone());
        self
    }

    /// Opens the table. No data file is read, and no file action of the log.
    ///
    /// # Errors
    /// [`Error::TableNotFound`](crate::Error::TableNotFound); [`Error::VersionNotFound`](crate::Error::VersionNotFound) and
    /// [`Error::TimestampOutOfRange`](crate::Error::TimestampOutOfRange) with what there is;
    /// [`Error::InvalidTimeTravel`](crate::Error::InvalidTimeTravel) for a suffix that is no version or time, or where the
    /// path and the builder both name one; [`Error::LogGap`](crate::Error::LogGap) and
    /// [`Error::LogCorrupt`](crate::Error::LogCorrupt) for a broken log;
    /// [`Error::UnsupportedFeature`](crate::Error::UnsupportedFeature) for a table that asks more of a reader;
    /// [`Error::InvalidArgument`](crate::Error::InvalidArgument) for a URL or option that makes no sense.
    ///
    /// # Cost
    /// One GET of the hint, one listing from there, and one GET of the newest checksum, or of the commits after the
    /// checkpoint and its footer. A version by timestamp lists the whole log.
    pub fn open(self) -> Result<Table> {
        let (path, at) = resolve_table_path(&self.uri, self.at, &self.options.0)?;
        let location = Location::open(&path, &self.options.0)?;
        let location = match &self.cancel {
            Some(cancel) => location.stopped_by(cancel),
            None => location,
        };
        let snapshot = core::Snapshot::open_with(location.clone(), at, self.verify)?;
        Ok(Table { location, snapshot })
    }
}
