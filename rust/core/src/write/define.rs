//! Making a table without rows, and giving one a new definition in place of all that it is.

use std::collections::BTreeMap;
use std::time::Duration;

use chrono::Utc;
use uuid::Uuid;

use super::create::{new_table, wanted};
use super::mode::{DefineMode, Defines, WriteOptions};
use super::place::check_place;
use super::plan::{Target, plan};
use crate::actions::{DomainMetadata, Metadata, OperationName, Protocol};
use crate::alter::clustering::shown;
use crate::alter::{
    Asked, Change, Definition, SetOptions, check_defaults_supported, cluster_by, finalize, iceberg_compat,
    joined_protocol, reuse, without_mapping,
};
use crate::error::{Error, Result, condition};
use crate::features::{CLUSTERING_DOMAIN, TableFeature, check_writer};
use crate::properties::TableProperty;
use crate::replay::FilesRequest;
use crate::schema::{ColumnMappingMode, StructType, as_nullable};
use crate::snapshot::{At, Snapshot};
use crate::store::Location;
use crate::txn::{Operation, Transaction, retried};

/// What a table is to be.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TableSpec {
    /// The columns. The metadata of a field (comment, default, generation, identity) becomes that of the table.
    pub schema: StructType,
    /// Partition columns.
    pub partition_by: Vec<String>,
    /// Clustering columns, as paths.
    pub cluster_by: Vec<Vec<String>>,
    /// Table properties.
    pub configuration: BTreeMap<String, String>,
    /// Table properties that `configuration` does not name: [`WriteOptions::defaults`].
    pub defaults: BTreeMap<String, String>,
    /// Which properties are taken.
    pub properties: SetOptions,
    /// Name of the table.
    pub name: Option<String>,
    /// Description of the table.
    pub description: Option<String>,
    /// Text for `commitInfo.userMetadata`.
    pub user_metadata: Option<String>,
    /// Whether a catalog owns the files, for the history.
    pub managed: bool,
    /// Engine that `commitInfo.engineInfo` names before deltaic itself.
    pub engine: Option<String>,
}

/// What a definition did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Defined {
    /// Version that was committed, or the newest one where nothing was.
    pub version: u64,
    /// Whether the table was made.
    pub created: bool,
    /// Whether a table was replaced.
    pub replaced: bool,
    /// What failed after the commit. The commit is not undone.
    pub warnings: Vec<String>,
}

/// Makes a table without rows, or gives the existing one a new id, schema, partitioning, clustering and properties and
/// removes its rows: in one commit, or nothing. A new table may begin without columns; rows and changes of its definition
/// give it some. The versions before a replacement stay readable, and the table keeps its features, because they need them.
/// A replacement that loses a race is retried on the newest version.
///
/// # Errors
/// All before anything is written: by mode, as [`DefineMode`] says; [`Error::InvalidArgument`] for a place with other files;
/// [`Error::InvalidSchema`], [`Error::InvalidArgument`], [`Error::InvalidColumnChange`] and [`Error::InvalidFeatureChange`] for what a table cannot be;
/// [`Error::UnsupportedFeature`] for a table that asks more of a writer; [`Error::AppendOnly`] for one that loses no rows.
/// Then as [`Transaction::commit`].
///
/// # Cost
/// One listing and one put; a replacement reads which files the table has.
pub fn define_table(location: &Location, spec: &TableSpec, mode: DefineMode) -> Result<Defined> {
    retried(Duration::from_secs(300), |budget| attempt(location, spec, mode, budget))
}

fn attempt(location: &Location, spec: &TableSpec, mode: DefineMode, budget: Duration) -> Result<Defined> {
    let path = location.root().to_string();
    match (Snapshot::open(location.clone(), At::Latest), mode) {
        (Ok(table), DefineMode::Create) => {
            let name = [("relationName", format!("`delta`.`{path}`"))];
            Err(Error::TableAlreadyExists { path, version: table.version() }
                .named(&condition::TABLE_OR_VIEW_ALREADY_EXISTS, name))
        }
        (Ok(table), DefineMode::CreateIfNotExists) => {
            Ok(Defined { version: table.version(), ..Default::default() })
        }
        (Ok(_) | Err(Error::TableNotFound { .. }), DefineMode::CreateOrReplace)
        | (Ok(_), DefineMode::Replace)
            if spec.schema.fields.is_empty() =>
        {
            let reason = format!("no columns are given to replace the table `{path}`");
            Err(Error::InvalidSchema { reason }.of_condition(&condition::SCHEMA_NOT_PROVIDED))
        }
        (Ok(table), mode) => replace(&table, spec, mode, budget),
        (Err(Error::TableNotFound { .. }), DefineMode::Create) => make(location, spec, mode, budget),
        (Err(Error::TableNotFound { .. }), DefineMode::CreateIfNotExists | DefineMode::CreateOrReplace) => {
            match make(location, spec, mode, budget) {
                // another writer was first: now there is one
                Err(Error::TableAlreadyExists { .. }) => attempt(location, spec, mode, budget),
                other => other,
            }
        }
        (Err(error), _) => Err(error),
    }
}

/// A new table, and the action that says how it is clustered.
///
/// # Errors
/// As [`define_table`].
pub(super) fn made(spec: &TableSpec) -> Result<(Definition, Option<DomainMetadata>)> {
    let (protocol, metadata) = new_table(&spec.schema, &spec.options())?;
    let new = Definition::of(&protocol, &metadata)?;
    check_defaults_supported(&new)?;
    spec.clustered(new)
}

fn make(location: &Location, spec: &TableSpec, mode: DefineMode, budget: Duration) -> Result<Defined> {
    check_place(location, false)?;
    let (new, domain) = made(spec)?;
    check(location, &new.protocol, &new.metadata)?;
    let name = match mode {
        DefineMode::CreateOrReplace => OperationName::CreateOrReplaceTable,
        _ => OperationName::CreateTable,
    };
    let operation = spec.operation(name, &new.metadata);
    let mut txn = Transaction::create(location, new.protocol, new.metadata, operation);
    domain.into_iter().for_each(|domain| txn.domain(domain));
    txn.set_engine(spec.engine.clone());
    txn.set_user_metadata(spec.user_metadata.clone());
    txn.set_budget(budget);
    let landed = txn.commit()?;
    Ok(Defined { version: landed.version, created: true, replaced: false, warnings: landed.warnings })
}

/// What a replaced table keeps of its properties, where neither the statement nor the session says otherwise.
const KEPT: [TableProperty; 3] =
    [TableProperty::EnableDeletionVectors, TableProperty::CheckpointPolicy, TableProperty::EnableRowTracking];

/// The new definition of a replaced table, and the action of its clustering.
///
/// # Errors
/// As [`define_table`].
pub(super) fn replaced(table: &Snapshot, spec: &TableSpec) -> Result<(Definition, Option<DomainMetadata>)> {
    let location = table.location();
    check_writer(&location.root().to_string(), table.protocol())?;
    let domains = table.domain_metadata()?;
    let clustering = domains.iter().find(|d| d.domain == CLUSTERING_DOMAIN && !d.removed);
    let old = Definition::of(table.protocol(), table.metadata())?.with_clustering(clustering)?;
    if !spec.partition_by.is_empty() && old.protocol.supports(TableFeature::Clustering) {
        return Err(Error::InvalidArgument {
            argument: "partition_by".into(),
            reason: "a clustered table cannot be replaced by one with partitions, because it keeps its features: use \
                     `cluster_by`, or another location"
                .into(),
        }
        .of_condition(&condition::CLUSTERING_REPLACE_TABLE_WITH_PARTITIONED_TABLE));
    }
    let options = spec.options();
    // a table that is replaced gets what a new one would get without being asked
    let (protocol, _) = new_table(&spec.schema, &options)?;
    let (mut wanted, _) = wanted(&spec.schema, &options)?;
    for property in KEPT {
        if let Some(value) = old.metadata.property(property) {
            let wanted = wanted.metadata.configuration.entry(property.name().to_owned());
            wanted.or_insert_with(|| value.to_owned());
        }
    }
    let mut new = Definition {
        protocol: joined_protocol(&old.protocol, &protocol),
        metadata: Metadata {
            id: Uuid::new_v4().to_string(),
            created_time: Some(Utc::now().timestamp_millis()),
            ..wanted.metadata
        },
        schema: without_mapping(&wanted.schema),
        clustering: Vec::new(),
    };
    iceberg_compat::complete(Some(&old), &mut new, Change::Replace);
    if new.column_mapping() != ColumnMappingMode::None && new.column_mapping() == old.column_mapping() {
        // unchanged columns keep their ids, as for an overwrite of the schema
        reuse(&old.schema, &mut new.schema);
    }
    let new = finalize(Some(&old), new, &Asked::default(), Change::Replace)?;
    let (mut new, domain) = spec.clustered(new)?;
    // a schema that did not change is not written again by `finalize`, and this metadata is new
    new.metadata.schema_string = new.schema.to_json();
    check(location, &new.protocol, &new.metadata)?;
    let gone = clustering.map(|domain| DomainMetadata { removed: true, ..domain.clone() });
    Ok((new, domain.or(gone)))
}

fn replace(table: &Snapshot, spec: &TableSpec, mode: DefineMode, budget: Duration) -> Result<Defined> {
    let (new, domain) = replaced(table, spec)?;
    let name = match mode {
        DefineMode::CreateOrReplace => OperationName::CreateOrReplaceTable,
        _ => OperationName::ReplaceTable,
    };
    let mut txn = Transaction::begin(table, spec.operation(name, &new.metadata));
    txn.read_whole_table();
    for add in table.each_add(FilesRequest::whole(None))? {
        txn.remove_file(&add?, true);
    }
    txn.replaces_all_files();
    if new.protocol != *table.protocol() {
        txn.set_protocol(new.protocol);
    }
    txn.set_metadata(new.metadata);
    domain.into_iter().for_each(|domain| txn.domain(domain));
    txn.set_engine(spec.engine.clone());
    txn.set_user_metadata(spec.user_metadata.clone());
    txn.set_budget(budget);
    let landed = txn.commit()?;
    Ok(Defined { version: landed.version, created: false, replaced: true, warnings: landed.warnings })
}

/// Checks that this writer can write to the table that it defines.
fn check(location: &Location, protocol: &Protocol, metadata: &Metadata) -> Result<()> {
    let options = WriteOptions::default();
    plan(location, Target::New, protocol.clone(), metadata.clone(), &options)?;
    check_writer(&location.root().to_string(), protocol)
}

impl TableSpec {
    fn options(&self) -> WriteOptions {
        WriteOptions {
            partition_by: self.partition_by.clone(),
            configuration: self.configuration.clone(),
            defaults: self.defaults.clone(),
            properties: self.properties,
            name: self.name.clone(),
            description: self.description.clone(),
            ..Default::default()
        }
    }

    fn clustered(&self, new: Definition) -> Result<(Definition, Option<DomainMetadata>)> {
        if self.cluster_by.is_empty() {
            return Ok((new, None));
        }
        let (new, domain) = cluster_by(&new, &self.cluster_by)?;
        Ok((new, Some(domain)))
    }

    /// Of a write that defines the table.
    pub(crate) fn of(schema: StructType, options: &WriteOptions, defines: &Defines) -> Self {
        TableSpec {
            schema: if options.all_nullable { as_nullable(&schema) } else { schema },
            partition_by: options.partition_by.clone(),
            cluster_by: defines.cluster_by.clone(),
            configuration: options.configuration.clone(),
            name: options.name.clone(),
            description: options.description.clone(),
            managed: defines.managed,
            defaults: options.defaults.clone(),
            properties: options.properties,
            user_metadata: options.user_metadata.clone(),
            engine: options.engine.clone(),
        }
    }

    /// The operation, as the history shows it.
    pub(crate) fn operation(&self, name: OperationName, metadata: &Metadata) -> Operation {
        let clustering: Vec<String> = self.cluster_by.iter().map(|path| shown(path)).collect();
        Operation::new(name)
            .with("isManaged", self.managed.to_string())
            .with_json("description", self.description.clone())
            .with_encoded("partitionBy", metadata.partition_columns.clone())
            .with_encoded("clusterBy", clustering)
            .with_encoded("properties", serde_json::json!(metadata.configuration))
    }
}
