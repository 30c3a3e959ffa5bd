use arrow::datatypes::{Field, Schema};

#[cfg(doc)]
use crate::core::Error;
use crate::core::{
    Alteration, ColumnChange, DropFeatureResult, DropOptions, Location, NewColumn, Result, StructField,
    StructType, alter_table, drop_feature, from_arrow,
};
use crate::place::strings;

/// Changes of a table's definition. Each method makes one change, in one commit or not at all, and returns its version, or
/// the newest version where nothing was to be changed; only what a method says more of takes more commits.
/// [`Table::alter`](crate::Table::alter) begins it.
///
/// A change that loses its race is made again from what the winner left, so it never undoes that of another writer. A
/// column is given as a path: `["address", "zip"]` is a field of a struct.
///
/// # Errors
/// Every method gives those of [`Transaction::commit`](crate::Transaction::commit) besides its own, and before anything
/// is written [`Error::InvalidFeatureChange`] for a table feature that the change needs and the table does not have.
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
/// table.alter().set_properties([("delta.appendOnly", "true")])?;
/// table.alter().add_columns([Field::new("name", DataType::Utf8, true)])?;
/// let version = table.alter().user_metadata("ids count from 1").add_constraint("positive", "id > 0")?;
/// assert_eq!(version, 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
#[must_use = "nothing is done before a change is asked for"]
pub struct Alter {
    location: Location,
    user_metadata: Option<String>,
}

impl Alter {
    pub(crate) fn new(location: Location) -> Self {
        Alter { location, user_metadata: None }
    }

    /// Text that the history shows.
    pub fn user_metadata(mut self, text: impl Into<String>) -> Self {
        self.user_metadata = Some(text.into());
        self
    }

    /// Sets table properties, and enables the table features that they need.
    ///
    /// `delta.enableRowTracking` on a table with files takes more commits, which give row ids to the files, and
    /// `delta.columnMapping.mode` = `none` one that writes them again.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for an unknown property or a value that it does not allow.
    pub fn set_properties<K: Into<String>, V: Into<String>>(
        self,
        properties: impl IntoIterator<Item = (K, V)>,
    ) -> Result<u64> {
        let properties = properties.into_iter().map(|(key, value)| (key.into(), value.into())).collect();
        self.alter(Alteration::SetProperties { properties, options: Default::default() })
    }

    /// Takes table properties away; those that are not set are no error.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a property that cannot be removed.
    pub fn unset_properties<S: Into<String>>(self, keys: impl IntoIterator<Item = S>) -> Result<u64> {
        self.alter(Alteration::UnsetProperties { keys: strings(keys), if_exists: true })
    }

    /// Adds columns at the end. Existing rows have null in them.
    ///
    /// # Errors
    /// [`Error::InvalidColumnChange`] for a column that exists or cannot be null, [`Error::InvalidSchema`] for its name or
    /// type.
    pub fn add_columns(self, columns: impl IntoIterator<Item = Field>) -> Result<u64> {
        let columns = from_arrow(&Schema::new(columns.into_iter().collect::<Vec<_>>()))?;
        self.alter(Alteration::AddColumns(columns.fields.into_iter().map(NewColumn::of).collect()))
    }

    /// Drops a column; the table needs column mapping.
    ///
    /// # Errors
    /// [`Error::InvalidColumnChange`] for a column that something else needs.
    pub fn drop_column<S: Into<String>>(self, column: impl IntoIterator<Item = S>) -> Result<u64> {
        self.alter(Alteration::DropColumns(vec![strings(column)]))
    }

    /// Gives a column another name; the table needs column mapping.
    ///
    /// # Errors
    /// [`Error::InvalidColumnChange`] for a name that is taken.
    pub fn rename_column<S: Into<String>>(
        self,
        column: impl IntoIterator<Item = S>,
        name: impl Into<String>,
    ) -> Result<u64> {
        self.alter(Alteration::RenameColumn { path: strings(column), name: name.into() })
    }

    /// Gives a column a wider type, that of `field`; the table needs the feature `typeWidening`.
    ///
    /// # Errors
    /// [`Error::InvalidColumnChange`] for a type that is not wider.
    pub fn widen_column<S: Into<String>>(
        self,
        column: impl IntoIterator<Item = S>,
        data_type: arrow::datatypes::DataType,
    ) -> Result<u64> {
        let StructType { fields } = from_arrow(&Schema::new(vec![Field::new("type", data_type, true)]))?;
        let data_type = fields.into_iter().next().map(|StructField { data_type, .. }| data_type);
        self.change(ColumnChange { data_type, ..ColumnChange::of(strings(column)) })
    }

    /// Allows nulls in a column.
    ///
    /// # Errors
    /// [`Error::InvalidColumnChange`] for a column that must not be.
    pub fn drop_not_null<S: Into<String>>(self, column: impl IntoIterator<Item = S>) -> Result<u64> {
        self.change(ColumnChange { nullable: Some(true), ..ColumnChange::of(strings(column)) })
    }

    /// Gives a column a comment, or takes it away.
    ///
    /// # Errors
    /// [`Error::InvalidColumnChange`] for a column that cannot have one.
    pub fn set_comment<S: Into<String>>(
        self,
        column: impl IntoIterator<Item = S>,
        comment: Option<&str>,
    ) -> Result<u64> {
        let comment = Some(comment.map(str::to_owned));
        self.change(ColumnChange { comment, ..ColumnChange::of(strings(column)) })
    }

    /// Gives a column a default in Spark SQL, or takes it away; the table needs the feature `allowColumnDefaults`.
    ///
    /// # Errors
    /// [`Error::InvalidExpression`] for what is not a constant of the type.
    pub fn set_default<S: Into<String>>(
        self,
        column: impl IntoIterator<Item = S>,
        default: Option<&str>,
    ) -> Result<u64> {
        let default = Some(default.map(str::to_owned));
        self.change(ColumnChange { default, ..ColumnChange::of(strings(column)) })
    }

    /// Adds a CHECK constraint in Spark SQL, after all rows were checked.
    ///
    /// # Errors
    /// [`Error::InvariantViolation`] with a row that it is not true for, [`Error::InvalidExpression`] for what cannot be
    /// evaluated: a constraint is never added unchecked.
    ///
    /// # Cost
    /// Its columns of all rows.
    pub fn add_constraint(self, name: impl Into<String>, expression: impl Into<String>) -> Result<u64> {
        let (name, expression) = (name.into(), expression.into());
        self.alter(Alteration::AddConstraint { name, expression, checked: None })
    }

    /// Drops a CHECK constraint; a missing one is not an error.
    ///
    /// # Errors
    /// Those of every change.
    pub fn drop_constraint(self, name: impl Into<String>) -> Result<u64> {
        self.alter(Alteration::DropConstraint { name: name.into(), if_exists: true })
    }

    /// Gives a table that is not partitioned other clustering columns, which are columns of the table itself; none takes
    /// them away. Files are clustered when they are next optimized.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a column without statistics, and for a partitioned table.
    pub fn cluster_by<S: Into<String>>(self, columns: impl IntoIterator<Item = S>) -> Result<u64> {
        self.alter(Alteration::ClusterBy(columns.into_iter().map(|column| vec![column.into()]).collect()))
    }

    /// Drops a table feature, in as many commits as its traces take. At every point the table is whole, and an
    /// interrupted drop continues from there when it is called again. Older versions that need the feature stay
    /// protected by the feature `checkpointProtection`.
    ///
    /// # Errors
    /// [`Error::InvalidFeatureChange`] for a feature that cannot be dropped, or that another writer uses again meanwhile.
    pub fn drop_feature(self, name: &str) -> Result<DropFeatureResult> {
        self.without_feature(name, false)
    }

    /// As [`Alter::drop_feature`], and removes the versions that need the feature, as soon as
    /// `delta.dropFeatureTruncateHistory.retentionDuration` (24 hours unless set) has passed since the last of them.
    ///
    /// # Errors
    /// [`Error::FeatureInHistory`] until then, which says when to drop it again; those of [`Alter::drop_feature`].
    pub fn drop_feature_and_history(self, name: &str) -> Result<DropFeatureResult> {
        self.without_feature(name, true)
    }

    fn without_feature(self, name: &str, truncate_history: bool) -> Result<DropFeatureResult> {
        let options = DropOptions { user_metadata: self.user_metadata, ..DropOptions::default() };
        drop_feature(&self.location, name, truncate_history, &options)
    }

    fn change(self, change: ColumnChange) -> Result<u64> {
        self.alter(Alteration::ChangeColumns(vec![change]))
    }

    fn alter(self, alteration: Alteration) -> Result<u64> {
        alter_table(&self.location, &alteration, self.user_metadata.as_deref())
    }
}
