//! Operations on whole tables.

use std::time::Duration;

use crate::StorageOptions;
use crate::core::{
    At, CloneOptions, CloneResult, ConvertOptions, ConvertResult, FsckResult, Location, OptimizeOptions,
    OptimizeResult, Partitioning, RestoreOptions, RestoreResult, Result, VacuumMode, VacuumOptions,
    VacuumResult, VerifyOptions, VerifyReport, convert, from_arrow, fsck, optimize, restore, shallow_clone,
    vacuum, verify,
};
use crate::place::{Place, strings};

/// Compacts small files of a partition into larger ones, in one commit or not at all; no row changes.
/// [`Table::optimize`](crate::Table::optimize) begins it.
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
/// # let rows = || RecordBatchIterator::new([Ok(batch.clone())], schema.clone());
/// # deltaic::Table::write(uri, rows()).execute()?;
/// let table = deltaic::Table::open(uri)?;
/// table.append(rows()).execute()?;
/// let result = table.optimize().execute()?;
/// assert_eq!((result.removed.len(), result.added.len()), (2, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
#[must_use = "nothing is done before `execute`"]
pub struct Optimize {
    location: Location,
    options: OptimizeOptions,
}

impl Optimize {
    pub(crate) fn new(location: Location) -> Self {
        Optimize { location, options: OptimizeOptions::default() }
    }

    /// The partitions for which this condition in Spark SQL is true, instead of all.
    pub fn filter(mut self, condition: impl Into<String>) -> Self {
        self.options.predicate = Some(condition.into());
        self
    }

    /// Sorts the rows of each partition by the Z-order of these columns.
    pub fn zorder_by<S: Into<String>>(mut self, columns: impl IntoIterator<Item = S>) -> Self {
        self.options.zorder_by = strings(columns);
        self
    }

    /// Clusters also the files again that were clustered by other columns than the table has now.
    pub fn full(mut self) -> Self {
        self.options.full = true;
        self
    }

    /// Writes the files again of which any row is deleted, and does nothing else.
    pub fn purge(mut self) -> Self {
        self.options.purge = true;
        self
    }

    /// The size in bytes of the files that are made; `delta.targetFileSize` of the table, or 1 GiB, by default.
    pub fn target_size(mut self, bytes: u64) -> Self {
        self.options.target_size = Some(bytes);
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

    /// Optimizes.
    ///
    /// # Errors
    /// [`Error::InvalidPredicate`](crate::Error::InvalidPredicate) and
    /// [`Error::InvalidExpression`](crate::Error::InvalidExpression) for a condition that partition values cannot decide;
    /// those of [`Transaction::commit`](crate::Transaction::commit).
    ///
    /// # Cost
    /// Files that are joined are read and written once.
    pub fn execute(self) -> Result<OptimizeResult> {
        optimize(&self.location, &self.options)
    }
}

/// Deletes files that no version within the retention needs: never one that such a version, or a commit under way that
/// began within it, has. [`Table::vacuum`](crate::Table::vacuum) begins it.
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
/// # let rows = || RecordBatchIterator::new([Ok(batch.clone())], schema.clone());
/// # deltaic::Table::write(uri, rows()).execute()?;
/// let table = deltaic::Table::open(uri)?;
/// let result = table.vacuum().dry_run().execute()?;
/// assert!(result.files.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
#[must_use = "nothing is done before `execute`"]
pub struct Vacuum {
    location: Location,
    options: VacuumOptions,
}

impl Vacuum {
    pub(crate) fn new(location: Location) -> Self {
        Vacuum { location, options: VacuumOptions::default() }
    }

    /// Deletes and commits nothing; the result says what would be deleted.
    pub fn dry_run(mut self) -> Self {
        self.options.dry_run = true;
        self
    }

    /// Reads the log instead of listing the store: files that failed writers left stay.
    pub fn lite(mut self) -> Self {
        self.options.mode = VacuumMode::Lite;
        self
    }

    /// Keeps files so long after they were removed; `delta.deletedFileRetentionDuration` of the table, or a week, by
    /// default.
    pub fn retention(mut self, retention: Duration) -> Self {
        self.options.retention = Some(retention);
        self
    }

    /// Allows a retention below that of the table. Readers and writers that take longer than it fail then, and what they
    /// write may be lost.
    pub fn allow_short_retention(mut self) -> Self {
        self.options.allow_short_retention = true;
        self
    }

    /// Text that the history shows.
    pub fn user_metadata(mut self, text: impl Into<String>) -> Self {
        self.options.user_metadata = Some(text.into());
        self
    }

    /// Vacuums.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`](crate::Error::InvalidArgument) for a retention below that of the table; what the log and
    /// the store say before the first file is deleted. A file that cannot be deleted is in the result.
    ///
    /// # Cost
    /// One listing of the table and its live files; with [`Vacuum::lite`] the commits of the log. In memory: the names of the
    /// listing, and some 20 bytes for each live file.
    pub fn execute(self) -> Result<VacuumResult> {
        vacuum(&self.location, &self.options)
    }
}

/// Restores the table to a version or time, in a commit of its own: rows, schema and properties. The
/// versions between stay in the history, and the protocol keeps its features. [`Table::restore`](crate::Table::restore)
/// begins it.
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
/// # let rows = || RecordBatchIterator::new([Ok(batch.clone())], schema.clone());
/// # deltaic::Table::write(uri, rows()).execute()?;
/// let table = deltaic::Table::open(uri)?;
/// table.delete_rows().execute()?;
/// let result = table.restore().to_version(0).execute()?;
/// assert_eq!((result.version, result.restored_version), (2, 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
#[must_use = "nothing is done before `execute`"]
pub struct Restore {
    location: Location,
    at: At,
    options: RestoreOptions,
}

impl Restore {
    pub(crate) fn new(location: Location) -> Self {
        Restore { location, at: At::Latest, options: RestoreOptions::default() }
    }

    /// To this version.
    pub fn to_version(mut self, version: u64) -> Self {
        self.at = At::Version(version);
        self
    }

    /// To the newest version committed at or before this time, in milliseconds since the Unix epoch.
    pub fn to_timestamp(mut self, millis: i64) -> Self {
        self.at = At::Timestamp(millis);
        self
    }

    /// Restores also where files of the old version are missing; [`Fsck`] removes them.
    pub fn ignore_missing_files(mut self) -> Self {
        self.options.ignore_missing_files = true;
        self
    }

    /// Text that the history shows.
    pub fn user_metadata(mut self, text: impl Into<String>) -> Self {
        self.options.user_metadata = Some(text.into());
        self
    }

    /// Restores.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`](crate::Error::InvalidArgument) where neither version nor time is given;
    /// [`Error::VersionNotFound`](crate::Error::VersionNotFound),
    /// [`Error::TimestampOutOfRange`](crate::Error::TimestampOutOfRange);
    /// [`Error::DataFile`](crate::Error::DataFile) for a missing file; those of
    /// [`Transaction::commit`](crate::Transaction::commit).
    ///
    /// # Cost
    /// The live files of both versions, and a HEAD for each file that comes back. In memory: the paths of the newest version,
    /// and the files that come back or leave.
    pub fn execute(self) -> Result<RestoreResult> {
        if self.at == At::Latest {
            let reason = "give `to_version` or `to_timestamp`".to_owned();
            return Err(crate::Error::InvalidArgument { argument: "restore".to_owned(), reason });
        }
        restore(&self.location, self.at, &self.options)
    }
}

/// Makes a table of a version of another, in one commit that refers to its files and copies none. From then on they are
/// independent; a vacuum of the source may delete files that only the clone needs.
/// [`Table::shallow_clone`](crate::Table::shallow_clone) begins it.
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
/// # let rows = || RecordBatchIterator::new([Ok(batch.clone())], schema.clone());
/// # deltaic::Table::write(uri, rows()).execute()?;
/// let table = deltaic::Table::open(uri)?;
/// let target = dir.path().join("clone");
/// let result = table.shallow_clone(target.to_str().unwrap()).execute()?;
/// assert_eq!(result.files, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
#[must_use = "nothing is done before `execute`"]
pub struct ShallowClone {
    source: Location,
    at: At,
    target: Place,
    options: CloneOptions,
}

impl ShallowClone {
    pub(crate) fn new(source: Location, version: u64, target: Place) -> Self {
        ShallowClone { source, at: At::Version(version), target, options: CloneOptions::default() }
    }

    /// An option of the store of the clone.
    pub fn option(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.target.option(key, value);
        self
    }

    /// A property of the clone in place of that of the source.
    pub fn property(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.options.properties.insert(key.into(), value.into());
        self
    }

    /// The clone may take the place of a table that has no files.
    pub fn replace(mut self) -> Self {
        self.options.replace = true;
        self
    }

    /// Text that the history shows.
    pub fn user_metadata(mut self, text: impl Into<String>) -> Self {
        self.options.user_metadata = Some(text.into());
        self
    }

    /// Clones.
    ///
    /// # Errors
    /// All before anything is written: [`Error::TableAlreadyExists`](crate::Error::TableAlreadyExists),
    /// [`Error::InvalidArgument`](crate::Error::InvalidArgument) for other files in the place of the clone;
    /// those of [`Transaction::commit`](crate::Transaction::commit).
    ///
    /// # Cost
    /// The live files of the source, and one PUT.
    pub fn execute(self) -> Result<CloneResult> {
        shallow_clone(&self.source, self.at, &self.target.open()?, &self.options)
    }
}

/// Makes a table of the Parquet files of a folder, in one commit; no data is read, copied or changed. Where there is a
/// table already, nothing is done. [`Table::convert`](crate::Table::convert) begins it.
///
/// # Examples
///
/// ```
/// use deltaic::Table;
///
/// # let dir = tempfile::tempdir()?;
/// # let uri = dir.path().to_str().unwrap();
/// // a folder without Parquet files is no table
/// assert_eq!(Table::convert(uri).execute().unwrap_err().kind(), "InvalidArgument");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
#[must_use = "nothing is done before `execute`"]
pub struct Convert {
    place: Place,
    partitions: Option<arrow::datatypes::Schema>,
    inferred: bool,
    options: ConvertOptions,
}

impl Convert {
    pub(crate) fn new(place: Place) -> Self {
        Convert { place, partitions: None, inferred: false, options: ConvertOptions::default() }
    }

    /// The options of the store.
    pub fn options(mut self, options: StorageOptions) -> Self {
        for (key, value) in options.0.iter() {
            self.place.option(key, value);
        }
        self
    }

    /// The partition columns that the folders name, in order; without them there are none.
    pub fn partition_by(mut self, columns: arrow::datatypes::Schema) -> Self {
        self.partitions = Some(columns);
        self
    }

    /// The partition columns are those that the folders name: integers, dates and timestamps where every value reads so, and
    /// text otherwise.
    pub fn infer_partitions(mut self) -> Self {
        self.inferred = true;
        self
    }

    /// A table property.
    pub fn property(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.options.configuration.insert(key.into(), value.into());
        self
    }

    /// Text that the history shows.
    pub fn user_metadata(mut self, text: impl Into<String>) -> Self {
        self.options.user_metadata = Some(text.into());
        self
    }

    /// Converts.
    ///
    /// # Errors
    /// All before anything is written: [`Error::InvalidArgument`](crate::Error::InvalidArgument) where there are no files,
    /// or folders name other columns; [`Error::DataFile`](crate::Error::DataFile) for a file that is not Parquet;
    /// [`Error::SchemaMismatch`](crate::Error::SchemaMismatch) for files whose types differ.
    ///
    /// # Cost
    /// A listing, and one or two requests for the footer of each file.
    pub fn execute(mut self) -> Result<ConvertResult> {
        self.options.partitioning = match &self.partitions {
            _ if self.inferred => Partitioning::Inferred,
            Some(columns) => Partitioning::Columns(from_arrow(columns)?),
            None => Partitioning::default(),
        };
        convert(&self.place.open()?, &self.options)
    }
}

/// Removes files from the table that the store no longer has, in one commit. Their rows are lost already; the result
/// has the files. [`Table::fsck`](crate::Table::fsck) begins it.
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
/// # let rows = || RecordBatchIterator::new([Ok(batch.clone())], schema.clone());
/// # deltaic::Table::write(uri, rows()).execute()?;
/// let table = deltaic::Table::open(uri)?;
/// assert!(table.fsck().dry_run().execute()?.missing.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
#[must_use = "nothing is done before `execute`"]
pub struct Fsck {
    location: Location,
    dry_run: bool,
}

impl Fsck {
    pub(crate) fn new(location: Location) -> Self {
        Fsck { location, dry_run: false }
    }

    /// Commits nothing; the result has the missing files.
    pub fn dry_run(mut self) -> Self {
        self.dry_run = true;
        self
    }

    /// Checks each file, and commits if one is missing.
    ///
    /// # Errors
    /// What the log and the store say; those of [`Transaction::commit`](crate::Transaction::commit).
    ///
    /// # Cost
    /// The live files, and a HEAD for each.
    pub fn execute(self) -> Result<FsckResult> {
        fsck(&self.location, self.dry_run)
    }
}

/// Proves that a table is intact: compares the log with itself and with the files that it lists.
/// Nothing is written. [`Table::verify`](crate::Table::verify) begins it.
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
/// # let rows = || RecordBatchIterator::new([Ok(batch.clone())], schema.clone());
/// # deltaic::Table::write(uri, rows()).execute()?;
/// let table = deltaic::Table::open(uri)?;
/// let report = table.verify().deep().execute()?;
/// assert!(report.ok(), "{:?}", report.findings);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
#[must_use = "nothing is done before `execute`"]
pub struct Verify {
    location: Location,
    options: VerifyOptions,
}

impl Verify {
    pub(crate) fn new(location: Location) -> Self {
        Verify { location, options: VerifyOptions::default() }
    }

    /// The log up to this version and its files; the newest by default.
    pub fn version(mut self, version: u64) -> Self {
        self.options.version = Some(version);
        self
    }

    /// Opens data files and deletion vectors, too.
    pub fn deep(mut self) -> Self {
        self.options.deep = true;
        self
    }

    /// Verifies. Problems are in the report, and are not an error.
    ///
    /// # Errors
    /// [`Error::TableNotFound`](crate::Error::TableNotFound),
    /// [`Error::VersionNotFound`](crate::Error::VersionNotFound), and errors of the store.
    ///
    /// # Cost
    /// The whole log and a HEAD for each file; with [`Verify::deep`] every file is read.
    pub fn execute(self) -> Result<VerifyReport> {
        verify(&self.location, &self.options)
    }
}
