//! What a write needs to know of its table.

use std::sync::Arc;

use arrow::datatypes::{Schema, SchemaRef};

use super::compaction_rules::{CompactionRules, Compactions};
use super::conform::physical_schema;
use super::file_settings::FileSettings;
use super::mode::WriteOptions;
use crate::actions::{DomainMetadata, Metadata, Protocol};
use crate::alter::generated::in_force;
use crate::alter::iceberg_compat;
use crate::error::Result;
use crate::features::TableFeature;
use crate::predicate::Predicate;
use crate::properties::TableProperty;
use crate::schema::{ColumnMappingMode, Limits, StructField, StructType, check_storable, limits_of};
use crate::snapshot::{At, Snapshot};
use crate::stats::StatsColumns;
use crate::store::Location;
use crate::txn::{Operation, Transaction, universal_format};

/// What the write finds at its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// No table: version 0 is to be created.
    New,
    /// A table at this version, to be appended to.
    Existing(u64),
    /// The table is at this version, and nothing is to be written: the mode is
    /// [`WriteMode::Ignore`](super::WriteMode::Ignore), or the application transaction is already recorded.
    Skip(u64),
}

/// A write that may go ahead: what [`crate::operations::write`], or Spark and then [`crate::operations::commit_adds`], need to know.
#[derive(Debug, Clone)]
pub struct WritePlan {
    /// The table.
    pub location: Location,
    /// The existing table.
    pub target: Target,
    /// Protocol of the table, or of the one to be created.
    pub protocol: Protocol,
    /// Metadata of the table, or of the one to be created.
    pub metadata: Metadata,
    /// All columns, with logical names.
    pub schema: StructType,
    /// How columns are named in the files.
    pub column_mapping: ColumnMappingMode,
    /// Partition columns, logical names.
    pub partition_columns: Vec<String>,
    /// Partition columns as `add.partitionValues` names them.
    pub physical_partition_columns: Vec<String>,
    /// Which columns get statistics.
    pub stats: StatsColumns,
    /// The version that was found; none where there is no table, and in a plan that has travelled.
    pub(crate) snapshot: Option<Snapshot>,
    /// What the query of the rows read of the table: rows that match these, every row for `None`.
    pub(crate) reads: Vec<Option<Predicate>>,
    /// What a write that defines the table sets besides its metadata.
    pub(crate) domains: Vec<DomainMetadata>,
    /// [`WriteOptions::rules_held`].
    pub(crate) rules_held: bool,
    /// Whether the rows of a partition are gathered before they are written, as the write or else the table asks for it.
    pub optimize_write: bool,
    /// [`WriteOptions::auto_compact`].
    pub(crate) auto_compact: Option<bool>,
    /// [`WriteOptions::compaction`].
    pub(crate) compaction: CompactionRules,
    /// Who takes a large compaction; none where the process that commits does it.
    pub(crate) compactions: Option<Compactions>,
    /// How data files are encoded.
    pub(crate) files: FileSettings,
    /// Lengths of `char` and `varchar`, one for each column of the schema.
    pub(crate) text_limits: Vec<Option<Limits>>,
}

/// A plan for the table as it is at a version. Nothing is read.
///
/// # Errors
/// As [`plan`].
pub(crate) fn plan_snapshot(snapshot: &Snapshot, options: &WriteOptions) -> Result<WritePlan> {
    let (protocol, metadata) = (snapshot.protocol().clone(), snapshot.metadata().clone());
    plan(snapshot.location(), Target::Existing(snapshot.version()), protocol, metadata, options)
}

/// A plan from the known facts of the table. Nothing is read.
///
/// # Errors
/// As [`plan_write`], for a schema or codec that is not known here.
pub(crate) fn plan(
    location: &Location,
    target: Target,
    protocol: Protocol,
    metadata: Metadata,
    options: &WriteOptions,
) -> Result<WritePlan> {
    if !matches!(target, Target::Skip(_)) {
        let allowed = universal_format::is_allowed(location);
        universal_format::check(&location.root().to_string(), allowed, &metadata)?;
    }
    let schema = in_force(&protocol, StructType::from_json(&metadata.schema_string)?);
    let mode = metadata.column_mapping();
    let names: Vec<String> = schema.fields.iter().map(|field| field.name.clone()).collect();
    let stored = schema.physical_names(&names, mode);
    let columns: Vec<_> = names.into_iter().zip(stored).collect();
    let files = FileSettings::of(
        &location.root().to_string(),
        &metadata,
        &columns,
        options.compression.as_deref(),
        &options.parquet,
    )?;
    let partition_columns = metadata.partition_columns.clone();
    let data = data_columns(&schema, &partition_columns);
    let has_vectors = protocol.lists_for_writers(TableFeature::DeletionVectors);
    Ok(WritePlan {
        location: location.clone(),
        target,
        column_mapping: mode,
        physical_partition_columns: schema.physical_names(&partition_columns, mode),
        stats: StatsColumns::of(&data, &metadata, mode, has_vectors)?,
        snapshot: None,
        reads: Vec::new(),
        domains: Vec::new(),
        rules_held: options.rules_held,
        optimize_write: options
            .optimize_write
            .unwrap_or_else(|| metadata.is_true(TableProperty::AutoOptimizeOptimizeWrite)),
        auto_compact: options.auto_compact,
        compaction: options.compaction.clone(),
        compactions: None,
        files,
        text_limits: limits_of(&schema)?,
        partition_columns,
        protocol,
        metadata,
        schema,
    })
}

/// The columns of rows besides partition columns. Data files have those that are not void.
fn data_columns(schema: &StructType, partition_columns: &[String]) -> StructType {
    let is_data = |f: &&StructField| !partition_columns.contains(&f.name);
    StructType { fields: schema.fields.iter().filter(is_data).cloned().collect() }
}

impl WritePlan {
    /// The columns of rows beside partition columns, void ones too; logical names.
    pub fn data_schema(&self) -> StructType {
        data_columns(&self.schema, &self.partition_columns)
    }

    /// The same for rows with more columns, which get neither statistics nor rules.
    #[must_use]
    pub(crate) fn with_columns(&self, columns: impl IntoIterator<Item = StructField>) -> Self {
        let mut plan = self.clone();
        plan.schema.fields.extend(columns);
        plan.text_limits.resize_with(plan.schema.fields.len(), || None);
        plan
    }

    /// Whether data files hold the partition columns, too: what a feature demands takes precedence over the property,
    /// and without either they do, as those of delta-spark. (Readers take the values from the log.)
    pub(super) fn files_hold_partition_columns(&self) -> bool {
        let property = self.metadata.property_or_default(TableProperty::WritePartitionColumnsToParquet);
        iceberg_compat::is_on(&self.metadata)
            || self.protocol.supports(TableFeature::MaterializePartitionColumns)
            || property.is_none_or(|v| !v.eq_ignore_ascii_case("false"))
    }

    /// All columns of the rows of a data file, void ones too: partition columns, where the files hold them, come after the
    /// data.
    pub(super) fn file_columns(&self) -> StructType {
        let mut columns = self.data_schema();
        if self.files_hold_partition_columns() {
            let partition = |name: &String| self.schema.fields.iter().find(|f| f.name == *name).cloned();
            columns.fields.extend(self.partition_columns.iter().filter_map(partition));
        }
        columns
    }

    /// The Arrow schema of the data files.
    pub(crate) fn file_schema(&self) -> SchemaRef {
        physical_schema(&self.file_columns().without_void(), self.column_mapping)
    }

    /// The Arrow schema of conformed batches: all columns, physical names.
    pub(crate) fn conformed_schema(&self) -> SchemaRef {
        let schema: Arc<Schema> = physical_schema(&self.schema, self.column_mapping);
        schema
    }

    /// Checks that data files can hold the rows.
    ///
    /// # Errors
    /// [`crate::Error::InvalidSchema`] for void columns of which nothing is left in a file.
    pub(super) fn check_storable(&self) -> Result<()> {
        check_storable(&self.schema, &self.partition_columns)
    }

    /// Places of the columns of a data file's rows, void ones too, among all columns.
    pub(super) fn file_positions(&self) -> Vec<usize> {
        let place = |field: &StructField| self.schema.fields.iter().position(|f| f == field);
        self.file_columns().fields.iter().filter_map(place).collect()
    }

    /// Length of the random folder that takes the place of partition folders, as delta-spark does it under column
    /// mapping and where the table asks for it.
    pub(super) fn random_prefix(&self) -> Option<usize> {
        let random = self.column_mapping != ColumnMappingMode::None
            || self.metadata.is_true(TableProperty::RandomizeFilePrefixes);
        let length = self.metadata.property(TableProperty::RandomPrefixLength).and_then(|v| v.parse().ok());
        random.then(|| length.unwrap_or(2).clamp(1, 32))
    }

    /// The version that was found; none where there is no table, and in a plan that has travelled.
    pub fn snapshot(&self) -> Option<&Snapshot> {
        self.snapshot.as_ref()
    }

    /// A transaction on the table's version, which claims what the query of the rows read.
    ///
    /// # Errors
    /// As [`Snapshot::open`], for a plan that has travelled.
    pub(crate) fn transaction(&self, operation: Operation) -> Result<Transaction> {
        match (self.target, &self.snapshot) {
            (Target::New, _) => {
                let (protocol, metadata) = (self.protocol.clone(), self.metadata.clone());
                Ok(Transaction::create(&self.location, protocol, metadata, operation))
            }
            (_, Some(snapshot)) => {
                let mut txn = Transaction::begin(snapshot, operation);
                txn.read_rows_of(&self.reads)?;
                Ok(txn)
            }
            (Target::Existing(version) | Target::Skip(version), None) => {
                let snapshot = Snapshot::open(self.location.clone(), At::Version(version))?;
                Ok(Transaction::begin(&snapshot, operation))
            }
        }
    }
}
