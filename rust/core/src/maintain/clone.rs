//! A table that begins as a version of another one, without a copy of its files.

use std::collections::BTreeMap;

use uuid::Uuid;

use super::restore;
use crate::actions::{
    Add, DeletionVectorDescriptor, DvStorage, FilePath, Metadata, ObjectPath, OperationName, Protocol,
};
use crate::alter::properties::for_new_table;
use crate::alter::{Definition, SetOptions, joined_protocol, row_tracking, set_properties};
use crate::deletion_vector::file_path;
use crate::error::{Error, Result, condition};
use crate::features::{CLUSTERING_DOMAIN, TableFeature, check_writer};
use crate::properties::{COORDINATED_COMMITS_PREFIX, TableProperty};
use crate::replay::FilesRequest;
use crate::snapshot::{At, Snapshot};
use crate::store::Location;
use crate::sums::SaturatingSum;
use crate::txn::{Operation, Transaction};
use crate::write::check_place;

/// Whether statements may mark rows of files as deleted.
const VECTORS: TableProperty = TableProperty::EnableDeletionVectors;

/// Properties of a table about its own history or location, which a clone does not get.
const OWN: [&str; 4] = [
    TableProperty::InCommitTimestampEnablementVersion.name(),
    TableProperty::InCommitTimestampEnablementTimestamp.name(),
    TableProperty::RequireCheckpointProtectionBeforeVersion.name(),
    "io.unitycatalog.tableId",
];

/// How to clone.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CloneOptions {
    /// Properties of the clone in place of those of the source.
    pub properties: BTreeMap<String, String>,
    /// Whether the clone may replace an existing table without files.
    pub replace: bool,
    /// Text for `commitInfo.userMetadata`.
    pub user_metadata: Option<String>,
}

/// What a clone did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CloneDone {
    /// Version of the clone.
    pub version: u64,
    /// Version of the source.
    pub source_version: u64,
    /// Files that the clone refers to.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// What failed after the commit. The commit is not undone.
    pub warnings: Vec<String>,
}

/// Makes a table of a version of another, in one commit that refers to the files of the source by absolute paths. From
/// then on they are independent: what is written to one is not in the other, and a vacuum of the clone never deletes a
/// file of the source. A vacuum of the source may delete files that only the clone still needs.
///
/// Schema, partition columns, properties, protocol and clustering columns are those of the source; row ids are not kept.
///
/// # Errors
/// All before anything is written:
/// * As [`Snapshot::open`] for the source; [`Error::UnsupportedFeature`] for one that deltaic cannot write.
/// * [`Error::TableAlreadyExists`] where the target is a table, unless `replace`, or when another writer makes it meanwhile.
/// * [`Error::InvalidArgument`] for a table with files as the target, which its own source may be; for other files
///   in its place unless `replace`, and for another column mapping than that of the source.
/// * As [`set_properties`] for the properties, and as [`Transaction::commit`].
///
/// # Cost
/// The live files of the source, and one put.
pub fn shallow_clone(
    source: &Location,
    at: At,
    target: &Location,
    options: &CloneOptions,
) -> Result<CloneDone> {
    let own = source.root() == target.root();
    let source = Snapshot::open(source.clone(), at)?;
    check_writer(&source.location().root().to_string(), source.protocol())?;
    let existing = match Snapshot::open(target.clone(), At::Latest) {
        Ok(table) if options.replace => Some(table),
        Ok(table) => {
            let (path, version) = (target.root().to_string(), table.version());
            let location = [("tableLocation", path.clone())];
            return Err(Error::TableAlreadyExists { path, version }
                .named(&condition::CREATE_TABLE_WITH_NON_EMPTY_LOCATION, location));
        }
        Err(Error::TableNotFound { .. }) if options.replace => None,
        Err(Error::TableNotFound { .. }) => check_place(target, true).map(|()| None)?,
        Err(error) => return Err(error),
    };
    if let Some(table) = &existing
        && table.each_add(FilesRequest::default())?.next().transpose()?.is_some()
    {
        return Err(refused(target, "the table has files; a clone takes only the place of one without")
            .of_condition(&condition::UNSUPPORTED_NON_EMPTY_CLONE));
    }
    let (protocol, metadata) = definition(&source, existing.as_ref(), target, options)?;
    let from = source.location();
    let stated = |add| if own { Ok(fresh(add)) } else { absolute(add, from) };
    let adds = source.adds(None)?.into_iter().map(stated).collect::<Result<Vec<_>>>()?;
    let (on, was) = (metadata.is_true(VECTORS), source.metadata().is_true(VECTORS));
    if was && !on && adds.iter().any(|add| add.deletion_vector.is_some()) {
        return Err(refused(
            target,
            "files of the source have deletion vectors; a clone cannot turn them off",
        )
        .of_condition(&condition::ADDING_DELETION_VECTORS_DISALLOWED));
    }
    let files = adds.len() as u64;
    let bytes = adds.iter().map(|a| a.size.unsigned_abs()).saturating_sum();
    target.progress().expect(files, bytes);
    let operation = Operation::new(OperationName::Clone)
        .with("source", format!("delta.`{}`", from.root().to_uri()))
        .with_json("sourceVersion", source.version())
        .metric("sourceTableSize", bytes)
        .metric("sourceNumOfFiles", files)
        .metric("numRemovedFiles", 0)
        .metric("numCopiedFiles", 0)
        .metric("removedFilesSize", 0)
        .metric("copiedFilesSize", 0);
    let mut txn = match &existing {
        None => Transaction::create(target, protocol, metadata, operation),
        Some(table) => {
            let mut txn = Transaction::begin(table, operation);
            txn.read_state();
            if protocol != *table.protocol() {
                txn.set_protocol(protocol);
            }
            txn.set_metadata(metadata);
            txn
        }
    };
    txn.set_user_metadata(options.user_metadata.clone());
    if source.protocol().supports(TableFeature::Clustering) {
        let domains = source.domain_metadata()?;
        domains.into_iter().filter(|d| d.domain == CLUSTERING_DOMAIN).for_each(|d| txn.domain(d));
    }
    adds.into_iter().for_each(|add| txn.add(add));
    let landed = txn.commit()?;
    target.progress().done(files, bytes);
    Ok(CloneDone {
        version: landed.version,
        source_version: source.version(),
        files,
        bytes,
        warnings: landed.warnings,
    })
}

fn refused(target: &Location, reason: &str) -> Error {
    Error::InvalidArgument { argument: target.root().to_string(), reason: reason.into() }
}

/// Whether a property is about the table itself, and is not copied to one made from it.
pub(super) fn is_own(key: &str) -> bool {
    OWN.contains(&key)
        || key.starts_with(COORDINATED_COMMITS_PREFIX)
        // what lies in the files under these names are the row ids of the source
        || row_tracking::COLUMNS.iter().any(|(property, _)| property.name() == key)
}

/// Protocol and metadata of the clone.
fn definition(
    source: &Snapshot,
    existing: Option<&Snapshot>,
    target: &Location,
    options: &CloneOptions,
) -> Result<(Protocol, Metadata)> {
    let mut metadata = Metadata {
        id: Uuid::new_v4().to_string(),
        name: existing.and_then(|t| t.metadata().name.clone()),
        description: existing.and_then(|t| t.metadata().description.clone()),
        ..source.metadata().clone()
    };
    metadata.configuration.retain(|key, _| !is_own(key));
    let protocol = match existing {
        Some(table) => {
            metadata = restore::metadata(table.metadata(), &metadata)?;
            joined_protocol(table.protocol(), source.protocol())
        }
        None => source.protocol().clone(),
    };
    // refuses what cannot be set for a new table, and then settles protocol and names of columns
    for_new_table(&options.properties, SetOptions::default())?;
    let before = Definition::of(&protocol, &metadata)?;
    let after = set_properties(&before, &options.properties, SetOptions::default())?;
    let modes =
        [Some(&before), existing.map(|t| Definition::of(t.protocol(), t.metadata())).transpose()?.as_ref()]
            .into_iter()
            .flatten()
            .all(|table| table.column_mapping() == after.column_mapping());
    if !modes {
        let modes = [("oldMode", before.column_mapping().name()), ("newMode", after.column_mapping().name())];
        return Err(refused(target, "a clone has the column mapping of its source; change it afterwards")
            .named(&condition::UNSUPPORTED_COLUMN_MAPPING_MODE_CHANGE, modes));
    }
    Ok((after.protocol, after.metadata))
}

/// A place as Hadoop writes it. delta-spark compares absolute paths of the log as text with those of its file system, where
/// a local file has one slash.
fn hadoop_uri(path: &ObjectPath) -> String {
    let uri = path.to_uri();
    uri.strip_prefix("file://").map_or(uri.clone(), |key| format!("file:{key}"))
}

/// The file as another table refers to it.
fn absolute(add: Add, from: &Location) -> Result<Add> {
    let deletion_vector = match add.deletion_vector.clone() {
        Some(vector) => Some(match file_path(&vector, from.root())? {
            Some(file) => {
                from.check_read(&file)?;
                DeletionVectorDescriptor {
                    storage_type: DvStorage::AbsolutePath,
                    path_or_inline_dv: hadoop_uri(&file),
                    ..vector
                }
            }
            None => vector,
        }),
        None => None,
    };
    let path = FilePath::from_log(hadoop_uri(&from.readable(&add.path)?));
    Ok(Add { path, deletion_vector, ..fresh(add) })
}

/// The file as one whose rows the table did not have.
fn fresh(add: Add) -> Add {
    Add { data_change: true, base_row_id: None, default_row_commit_version: None, ..add }
}
