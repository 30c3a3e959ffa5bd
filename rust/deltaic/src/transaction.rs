use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::core::{self, Committed, FilePath, IsolationLevel, Operation, Result};
use crate::{Filter, Snapshot};

/// A data file of a table (PROTOCOL.md, "Add File and Remove File").
#[derive(Debug, Clone, PartialEq)]
pub struct Add(pub(crate) core::Add);

impl Add {
    /// A Parquet file that was written below the table: its path relative to the table, unescaped, and its size in bytes.
    /// It changes data, and was modified now.
    pub fn new(path: &str, size: u64) -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
        Add(core::Add {
            path: FilePath::encode(path),
            partition_values: Default::default(),
            size: i64::try_from(size).unwrap_or(i64::MAX),
            modification_time: i64::try_from(now).unwrap_or(i64::MAX),
            data_change: true,
            stats: None,
            tags: None,
            deletion_vector: None,
            base_row_id: None,
            default_row_commit_version: None,
            clustering_provider: None,
        })
    }

    /// The value of a partition column, in the form of the protocol; `None` is null. Each partition column needs one, by its
    /// physical name where the table has column mapping.
    #[must_use]
    pub fn with_partition_value(mut self, column: impl Into<String>, value: Option<&str>) -> Self {
        self.0.partition_values.insert(column.into(), value.map(str::to_owned));
        self
    }

    /// The statistics, as JSON (PROTOCOL.md, "Per-file Statistics").
    #[must_use]
    pub fn with_stats(mut self, json: impl Into<String>) -> Self {
        self.0.stats = Some(json.into());
        self
    }

    /// The path as the log has it: escaped, and relative to the table or absolute.
    pub fn path(&self) -> &str {
        self.0.path.as_str()
    }

    /// The size in bytes.
    pub fn size(&self) -> i64 {
        self.0.size
    }

    /// When the file was written, in milliseconds since the Unix epoch.
    pub fn modification_time(&self) -> i64 {
        self.0.modification_time
    }

    /// The partition values, by physical name.
    pub fn partition_values(&self) -> impl Iterator<Item = (&str, Option<&str>)> {
        self.0.partition_values.iter().map(|(column, value)| (column.as_str(), value.as_deref()))
    }

    /// The statistics as JSON, where the file has any.
    pub fn stats(&self) -> Option<&str> {
        self.0.stats.as_deref()
    }

    /// How many of its rows a deletion vector hides.
    pub fn deleted_rows(&self) -> i64 {
        self.0.deletion_vector.as_ref().map_or(0, |vector| vector.cardinality)
    }
}

/// A change of a table in preparation. Nothing is in the log before [`Transaction::commit`], and then all of it in one
/// version, or nothing. [`Table::append`](crate::Table::append) and the like do all of this by themselves; this is for
/// writers of data files.
///
/// What it read decides which commits of others it may follow: a transaction whose changes depend on rows says which, by
/// [`Transaction::read`], [`Transaction::read_files`] or [`Transaction::read_whole_table`].
///
/// # Examples
///
/// The three outcomes of a commit:
///
/// ```
/// # use std::sync::Arc;
/// # use deltaic::arrow::array::{Int64Array, RecordBatch, RecordBatchIterator};
/// # use deltaic::arrow::datatypes::{DataType, Field, Schema};
/// use deltaic::{Error, Table};
///
/// # let dir = tempfile::tempdir()?;
/// # let uri = dir.path().to_str().unwrap();
/// # let schema = Arc::new(Schema::new(vec![Field::new("id", DataType::Int64, true)]));
/// # let batch = RecordBatch::try_new(schema.clone(), vec![Arc::new(Int64Array::from(vec![1, 2, 3]))])?;
/// # Table::write(uri, RecordBatchIterator::new([Ok(batch)], schema)).execute()?;
/// let table = Table::open(uri)?;
/// let mut transaction = table.begin("DELETE");
/// transaction.read("id > 0")?;
/// for files in table.scan().filter("id > 0").files()? {
///     for add in files?.adds() {
///         transaction.remove(&add?);
///     }
/// }
/// // meanwhile somebody else deletes the same rows
/// table.delete_rows().execute()?;
///
/// match transaction.commit() {
///     // it is in the log, for good
///     Ok(committed) => println!("version {}", committed.version),
///     Err(error) => match error.plain() {
///         // it is unknown whether it is in the log: delete nothing that it names
///         Error::CommitStateUnknown { version, .. } => println!("look at version {version}"),
///         // it is not in the log: here because it lost to a commit that it must not follow
///         other => {
///             let conflict = other.conflict().expect("a conflict");
///             assert_eq!(conflict.version, 1);
///             println!("{}", conflict.advice);
///         }
///     },
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[must_use = "nothing is written before `commit`"]
pub struct Transaction {
    inner: core::Transaction,
    snapshot: core::Snapshot,
}

impl Transaction {
    pub(crate) fn begin(snapshot: &Snapshot, operation: impl Into<String>) -> Self {
        let inner = core::Transaction::begin(&snapshot.0, Operation::new(operation));
        Transaction { inner, snapshot: snapshot.0.clone() }
    }

    /// The changes depend on every row of the table.
    pub fn read_whole_table(&mut self) {
        self.inner.read_whole_table();
    }

    /// Claims the rows that match, in any file.
    ///
    /// # Errors
    /// [`Error::InvalidExpression`](crate::Error::InvalidExpression) and
    /// [`Error::InvalidPredicate`](crate::Error::InvalidPredicate) for a filter that does not go with the table.
    pub fn read(&mut self, filter: impl Into<Filter>) -> Result<()> {
        let predicate = filter.into().predicate(&self.snapshot)?;
        self.inner.read_predicate(&predicate)
    }

    /// The changes depend on every row of these files.
    ///
    /// # Errors
    /// [`Error::LogCorrupt`](crate::Error::LogCorrupt) for a path that cannot be decoded.
    pub fn read_files<'a>(&mut self, files: impl IntoIterator<Item = &'a Add>) -> Result<()> {
        self.inner.read_files(files.into_iter().map(|add| &add.0.path))
    }

    /// Adds a file.
    pub fn add(&mut self, add: Add) {
        self.inner.add(add.0);
    }

    /// Removes a file and its rows.
    pub fn remove(&mut self, add: &Add) {
        self.inner.remove_file(&add.0, true);
    }

    /// Records how far an application has come (PROTOCOL.md, "Transaction Identifiers"). A version that the table has
    /// already, or an older one, is not committed again: see [`Committed::already_recorded`].
    pub fn app_transaction(&mut self, app_id: impl Into<String>, version: i64) {
        self.inner.app_transaction(app_id, version);
    }

    /// Text that the history shows.
    pub fn user_metadata(&mut self, text: impl Into<String>) {
        self.inner.set_user_metadata(Some(text.into()));
    }

    /// Another isolation level than that of the table.
    pub fn isolation_level(&mut self, level: IsolationLevel) {
        self.inner.set_isolation(level);
    }

    /// How long a commit that loses races tries again; 5 minutes by default.
    pub fn retry_for(&mut self, budget: Duration) {
        self.inner.set_budget(budget);
    }

    /// Commits, as the first version that nobody else takes and that this transaction may follow.
    ///
    /// * `Ok`: it is in the log, or its application transaction was recorded before.
    /// * [`Error::CommitStateUnknown`](crate::Error::CommitStateUnknown): it is unknown. Nothing that it names may be
    ///   deleted; the log shows later whether the version is this one.
    /// * Any other error: it is not in the log. [`Error::conflict`](crate::Error::conflict) is set if it lost to
    ///   another commit.
    ///
    /// # Errors
    /// Before anything is written, every rule of the table that it would break:
    /// [`Error::AppendOnly`](crate::Error::AppendOnly), [`Error::InvalidAction`](crate::Error::InvalidAction),
    /// [`Error::UnsupportedFeature`](crate::Error::UnsupportedFeature). Then the conflicts: `ConcurrentAppend`,
    /// `ConcurrentDeleteRead`, `ConcurrentDeleteDelete`, `ConcurrentTransaction`, `MetadataChanged`, `ProtocolChanged`; and
    /// `ConcurrentWrite` when the time to retry is over. And errors of the store.
    ///
    /// # Cost
    /// One PUT where nobody else writes, and the checkpoint where one is due.
    pub fn commit(self) -> Result<Committed> {
        self.inner.commit()
    }
}
