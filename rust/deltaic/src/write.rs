use std::time::Duration;

use arrow::array::RecordBatchReader;
use arrow::datatypes::Schema;

use crate::Table;
use crate::core::{
    DefineMode, Result, TableSpec, WriteMode, WriteOptions, WriteResult, define_table, from_arrow, write,
};
use crate::place::{Place, strings};

/// Creates a table without rows, in one commit or not at all; [`Table::create`] begins it.
///
/// # Examples
///
/// ```
/// use deltaic::Table;
/// use deltaic::arrow::datatypes::{DataType, Field, Schema};
///
/// # let dir = tempfile::tempdir()?;
/// # let uri = dir.path().to_str().unwrap();
/// let schema = Schema::new(vec![
///     Field::new("day", DataType::Date32, true),
///     Field::new("amount", DataType::Int64, false),
/// ]);
/// let table = Table::create(uri, schema)
///     .partition_by(["day"])
///     .property("delta.enableChangeDataFeed", "true")
///     .execute()?;
/// assert_eq!(table.version(), 0);
/// assert_eq!(table.partition_columns(), ["day"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
#[must_use = "nothing is done before `execute`"]
pub struct Create {
    place: Place,
    schema: Schema,
    spec: TableSpec,
    mode: DefineMode,
}

impl Create {
    pub(crate) fn new(place: Place, schema: Schema) -> Self {
        Create { place, schema, spec: TableSpec::default(), mode: DefineMode::Create }
    }

    /// An option of the store.
    pub fn option(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.place.option(key, value);
        self
    }

    /// The partition columns, in order.
    pub fn partition_by<S: Into<String>>(mut self, columns: impl IntoIterator<Item = S>) -> Self {
        self.spec.partition_by = strings(columns);
        self
    }

    /// The clustering columns of a table that is not partitioned: columns of the table itself.
    pub fn cluster_by<S: Into<String>>(mut self, columns: impl IntoIterator<Item = S>) -> Self {
        self.spec.cluster_by = columns.into_iter().map(|column| vec![column.into()]).collect();
        self
    }

    /// A table property.
    pub fn property(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.spec.configuration.insert(key.into(), value.into());
        self
    }

    /// A name.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.spec.name = Some(name.into());
        self
    }

    /// A description.
    pub fn description(mut self, text: impl Into<String>) -> Self {
        self.spec.description = Some(text.into());
        self
    }

    /// An existing table stays as it is.
    pub fn if_not_exists(mut self) -> Self {
        self.mode = DefineMode::CreateIfNotExists;
        self
    }

    /// An existing table is replaced: its rows are removed, its versions stay readable.
    pub fn or_replace(mut self) -> Self {
        self.mode = DefineMode::CreateOrReplace;
        self
    }

    /// Text that the history shows.
    pub fn user_metadata(mut self, text: impl Into<String>) -> Self {
        self.spec.user_metadata = Some(text.into());
        self
    }

    /// Creates the table and opens it.
    ///
    /// # Errors
    /// All before anything is written: [`Error::TableAlreadyExists`](crate::Error::TableAlreadyExists), unless another mode
    /// was chosen; [`Error::InvalidSchema`](crate::Error::InvalidSchema),
    /// [`Error::InvalidArgument`](crate::Error::InvalidArgument) and
    /// [`Error::InvalidFeatureChange`](crate::Error::InvalidFeatureChange) for what a table cannot be.
    ///
    /// # Cost
    /// One listing and one PUT.
    pub fn execute(self) -> Result<Table> {
        let spec = TableSpec { schema: from_arrow(&self.schema)?, ..self.spec };
        let location = self.place.open()?;
        define_table(&location, &spec, self.mode)?;
        Table::at(location)
    }
}

/// Writes rows, in one commit or not at all; [`Table::append`], [`Table::overwrite`] and [`Table::write`] begin it.
///
/// Files of a write that failed are deleted, except after
/// [`Error::CommitStateUnknown`](crate::Error::CommitStateUnknown), when they may be part of the table.
///
/// # Examples
///
/// ```
/// # use std::sync::Arc;
/// # use deltaic::arrow::array::{Int64Array, RecordBatch, RecordBatchIterator};
/// # use deltaic::arrow::datatypes::{DataType, Field, Schema};
/// use deltaic::{Table, WriteMode};
///
/// # let dir = tempfile::tempdir()?;
/// # let uri = dir.path().to_str().unwrap();
/// # let schema = Arc::new(Schema::new(vec![Field::new("id", DataType::Int64, true)]));
/// # let batch = RecordBatch::try_new(schema.clone(), vec![Arc::new(Int64Array::from(vec![1, 2, 3]))])?;
/// # let rows = || RecordBatchIterator::new([Ok(batch.clone())], schema.clone());
/// // `rows()` is any `RecordBatchReader`
/// Table::write(uri, rows()).execute()?; // creates the table
/// let table = Table::open(uri)?;
/// let result = table.append(rows()).user_metadata("from the shop").execute()?;
/// assert_eq!((result.version, result.rows), (1, 3));
/// table.overwrite(rows()).replace_where("id <= 3").execute()?;
/// // by URI: the mode says what becomes of a table that is there
/// let result = Table::write(uri, rows()).mode(WriteMode::Ignore).execute()?;
/// assert!(result.skipped);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
#[must_use = "nothing is done before `execute`"]
pub struct Write<R> {
    place: Place,
    data: R,
    options: WriteOptions,
}

impl<R: RecordBatchReader> Write<R> {
    pub(crate) fn new(place: Place, data: R) -> Self {
        Write { place, data, options: WriteOptions::default() }
    }

    /// An option of the store; for a table that is open those that it was opened with count.
    pub fn option(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.place.option(key, value);
        self
    }

    /// What happens to an existing table; [`WriteMode::ErrorIfExists`] by default of [`Table::write`]. Every mode
    /// creates the table where there is none.
    pub fn mode(mut self, mode: WriteMode) -> Self {
        self.options.mode = mode;
        self
    }

    /// The partition columns of a table that is created; those of an existing table otherwise.
    pub fn partition_by<S: Into<String>>(mut self, columns: impl IntoIterator<Item = S>) -> Self {
        self.options.partition_by = strings(columns);
        self
    }

    /// A table property of a table that is created.
    pub fn property(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.options.configuration.insert(key.into(), value.into());
        self
    }

    /// An overwrite replaces the rows that match this condition in Spark SQL, instead of all. The new rows must match, too.
    pub fn replace_where(mut self, condition: impl Into<String>) -> Self {
        self.options.replace_where = Some(condition.into());
        self
    }

    /// An overwrite replaces the partitions that the new rows are in, and no others.
    pub fn dynamic_partitions(mut self) -> Self {
        self.options.dynamic_partitions = true;
        self
    }

    /// The table gets the columns of the data that it does not have, and wider types where it allows them.
    pub fn merge_schema(mut self) -> Self {
        self.options.merge_schema = true;
        self
    }

    /// An overwrite of all rows gives the table the columns and the partition columns of the write.
    pub fn overwrite_schema(mut self) -> Self {
        self.options.overwrite_schema = true;
        self
    }

    /// The size in bytes at which a data file is closed; 128 MiB by default.
    pub fn target_file_size(mut self, bytes: u64) -> Self {
        self.options.target_file_size = bytes;
        self
    }

    /// The compression of the data files, such as `zstd`; that of the table, or snappy, by default.
    pub fn compression(mut self, codec: impl Into<String>) -> Self {
        self.options.compression = Some(codec.into());
        self
    }

    /// Text that the history shows.
    pub fn user_metadata(mut self, text: impl Into<String>) -> Self {
        self.options.user_metadata = Some(text.into());
        self
    }

    /// Makes the write idempotent: with a version that the table has recorded already, or an older one, nothing is written
    /// (PROTOCOL.md, "Transaction Identifiers").
    pub fn app_transaction(mut self, app_id: impl Into<String>, version: i64) -> Self {
        self.options.app_transaction = Some((app_id.into(), version));
        self
    }

    /// How long a commit that loses races tries again; 5 minutes by default.
    pub fn retry_for(mut self, budget: Duration) -> Self {
        self.options.commit_budget = budget;
        self
    }

    /// Writes. The data is read once, batch by batch.
    ///
    /// # Errors
    /// Before the first batch is read: [`Error::TableAlreadyExists`](crate::Error::TableAlreadyExists) by mode,
    /// [`Error::SchemaMismatch`](crate::Error::SchemaMismatch),
    /// [`Error::UnsupportedFeature`](crate::Error::UnsupportedFeature). Then
    /// [`Error::SchemaMismatch`](crate::Error::SchemaMismatch) and
    /// [`Error::InvariantViolation`](crate::Error::InvariantViolation) for a row,
    /// [`Error::ReplaceWhereMismatch`](crate::Error::ReplaceWhereMismatch), [`Error::Arrow`](crate::Error::Arrow) from the
    /// data itself, and those of [`Transaction::commit`](crate::Transaction::commit).
    ///
    /// # Cost
    /// Memory is bounded by the files that are open at once.
    pub fn execute(self) -> Result<WriteResult> {
        write(&self.place.open()?, self.data, &self.options)
    }
}
