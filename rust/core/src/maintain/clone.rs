//! A table that begins as a version of another one, without a copy of its files.

use std::collections::BTreeMap;

use uuid::Uuid;

use super::restore;
use crate::actions::{
    Add, DeletionVectorDescriptor, DomainMetadata, DvStorage, FilePath, Metadata, ObjectPath, OperationName,
    Protocol,
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
    /// The name by which a catalog knows the source, for the history.
    pub source_name: Option<String>,
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
    let place = Place::of(target, options)?;
    let (protocol, metadata) = place.definition(source.protocol(), source.metadata())?;
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
    let mut domains = Vec::new();
    if source.protocol().supports(TableFeature::Clustering) {
        let all = source.domain_metadata()?;
        domains.extend(all.into_iter().filter(|domain| domain.domain == CLUSTERING_DOMAIN));
    }
    let name = options.source_name.clone().unwrap_or_else(|| format!("delta.`{}`", from.root().to_uri()));
    let origin = Origin { name, version: i64::try_from(source.version()).unwrap_or(i64::MAX), domains };
    place.commit(protocol, metadata, adds, origin)
}

/// What a clone is made of.
pub(super) struct Origin {
    /// As the history names it.
    pub(super) name: String,
    /// -1 where it is no table of ours.
    pub(super) version: i64,
    /// Of the clone.
    pub(super) domains: Vec<DomainMetadata>,
}

/// A place that a clone may take.
pub(super) struct Place<'a> {
    target: &'a Location,
    options: &'a CloneOptions,
    /// The table without files that it replaces.
    existing: Option<Snapshot>,
}

impl<'a> Place<'a> {
    /// Checks what is there.
    ///
    /// # Errors
    /// As [`shallow_clone`] for the target.
    pub(super) fn of(target: &'a Location, options: &'a CloneOptions) -> Result<Self> {
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
        Ok(Place { target, options, existing })
    }

    /// Protocol and metadata of a clone of a table with these.
    ///
    /// # Errors
    /// As [`shallow_clone`] for the properties.
    pub(super) fn definition(
        &self,
        protocol: &Protocol,
        metadata: &Metadata,
    ) -> Result<(Protocol, Metadata)> {
        let existing = self.existing.as_ref();
        let mut metadata = Metadata {
            id: Uuid::new_v4().to_string(),
            name: existing.and_then(|t| t.metadata().name.clone()),
            description: existing.and_then(|t| t.metadata().description.clone()),
            ..metadata.clone()
        };
        metadata.configuration.retain(|key, _| !is_own(key));
        let protocol = match existing {
            Some(table) => {
                metadata = restore::metadata(table.metadata(), &metadata)?;
                joined_protocol(table.protocol(), protocol)
            }
            None => protocol.clone(),
        };
        // refuses what cannot be set for a new table, and then settles protocol and names of columns
        for_new_table(&self.options.properties, SetOptions::default())?;
        let before = Definition::of(&protocol, &metadata)?;
        let after = set_properties(&before, &self.options.properties, SetOptions::default())?;
        let replaced = existing.map(|t| Definition::of(t.protocol(), t.metadata())).transpose()?;
        let mode = after.column_mapping();
        if [Some(&before), replaced.as_ref()]
            .into_iter()
            .flatten()
            .any(|table| table.column_mapping() != mode)
        {
            let modes = [("oldMode", before.column_mapping().name()), ("newMode", mode.name())];
            let reason = "a clone has the column mapping of its source; change it afterwards";
            return Err(
                refused(self.target, reason).named(&condition::UNSUPPORTED_COLUMN_MAPPING_MODE_CHANGE, modes)
            );
        }
        Ok((after.protocol, after.metadata))
    }

    /// Makes the clone of these files.
    ///
    /// # Errors
    /// As [`Transaction::commit`].
    pub(super) fn commit(
        self,
        protocol: Protocol,
        metadata: Metadata,
        adds: Vec<Add>,
        origin: Origin,
    ) -> Result<CloneDone> {
        let files = adds.len() as u64;
        let bytes = adds.iter().map(|a| a.size.unsigned_abs()).saturating_sum();
        self.target.progress().expect(files, bytes);
        let operation = Operation::new(OperationName::Clone)
            .with("source", origin.name)
            .with_json("sourceVersion", origin.version)
            .metric("sourceTableSize", bytes)
            .metric("sourceNumOfFiles", files)
            .metric("numRemovedFiles", 0)
            .metric("numCopiedFiles", 0)
            .metric("removedFilesSize", 0)
            .metric("copiedFilesSize", 0);
        let mut txn = match &self.existing {
            None => Transaction::create(self.target, protocol, metadata, operation),
            Some(table) => {
                let mut txn = Transaction::begin(table, operation);
                txn.read_state();
                // the table has none: its columns may come back with the ids that they had
                txn.replaces_all_files();
                if protocol != *table.protocol() {
                    txn.set_protocol(protocol);
                }
                txn.set_metadata(metadata);
                txn
            }
        };
        txn.set_user_metadata(self.options.user_metadata.clone());
        origin.domains.into_iter().for_each(|domain| txn.domain(domain));
        adds.into_iter().for_each(|add| txn.add(add));
        let landed = txn.commit()?;
        self.target.progress().done(files, bytes);
        Ok(CloneDone {
            version: landed.version,
            source_version: u64::try_from(origin.version).unwrap_or_default(),
            files,
            bytes,
            warnings: landed.warnings,
        })
    }
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

/// A place as Hadoop writes it. delta-spark compares absolute paths of the log as text with those of its file system, where
/// a local file has one slash.
pub(super) fn hadoop_uri(path: &ObjectPath) -> String {
    let uri = path.to_uri();
    uri.strip_prefix("file://").map_or(uri.clone(), |key| format!("file:{key}"))
}

/// The file as another table refers to it.
pub(super) fn absolute(add: Add, from: &Location) -> Result<Add> {
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
