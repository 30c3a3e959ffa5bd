//! Symlink manifests: lists of data files for engines that read Hive tables and know no Delta log.

use std::collections::{BTreeMap, BTreeSet};

use super::new_commit::NewCommit;
use crate::actions::{ActionRef, Add, FilePath, Metadata, ObjectPath, PartitionValues};
use crate::error::{Error, Result, condition};
use crate::partition::partition_folder;
use crate::replay::FilesRequest;
use crate::schema::ColumnMappingMode;
use crate::snapshot::{At, Snapshot};
use crate::store::Location;

/// The folder of manifests, below the table's root.
const FOLDER: &str = "_symlink_format_manifest";
const NAME: &str = "manifest";
/// How often manifests are written again because another commit landed meanwhile.
const MOST_ROUNDS: u32 = 10;

/// What was written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ManifestDone {
    /// Version whose files are listed.
    pub version: u64,
    /// Manifests that were written, one for each partition.
    pub written: u64,
    /// Manifests of partitions without files that were deleted.
    pub deleted: u64,
}

/// Which manifests are made.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Extent {
    All,
    /// Folders of partitions.
    Partitions(BTreeSet<String>),
}

/// Writes a manifest for each partition of the newest version, and deletes those of partitions that have no files any
/// more. A manifest is replaced as a whole, and lists the files of one version; those of different partitions are not
/// changed at one moment.
///
/// # Errors
/// [`Error::Unsupported`] for a table with deletion vectors on files, or with column mapping: readers of the manifest
/// would give wrong rows. Nothing is written then.
///
/// # Cost
/// The live files, one listing of the folder, one put for each partition.
pub fn generate_manifest(location: &Location) -> Result<ManifestDone> {
    write(Snapshot::open(location.clone(), At::Latest)?, Extent::All)
}

/// Brings the manifests of the partitions that a commit touched up to date; all of them if there are none yet.
///
/// # Errors
/// As [`generate_manifest`].
pub(crate) fn update_manifest(commit: &NewCommit<'_>) -> Result<ManifestDone> {
    let snapshot = match commit.snapshot.map(Snapshot::update) {
        Some(Ok(snapshot)) if snapshot.version() >= commit.version => snapshot,
        _ => Snapshot::open(commit.location.clone(), At::Latest)?,
    };
    let columns = snapshot.partition_columns();
    let extent = if has_manifests(commit.location)? { touched(commit, columns) } else { Extent::All };
    write(snapshot, extent)
}

fn has_manifests(location: &Location) -> Result<bool> {
    Ok(!location.store().list_all(&location.root().join(FOLDER))?.is_empty())
}

fn touched(commit: &NewCommit<'_>, columns: &[String]) -> Extent {
    let mut partitions = BTreeSet::new();
    for action in commit.actions {
        match action {
            ActionRef::Add(add) => partitions.insert(folder_of(columns, &add.partition_values)),
            ActionRef::Remove(remove) => match &remove.partition_values {
                Some(values) => partitions.insert(folder_of(columns, values)),
                None => return Extent::All,
            },
            // partition columns may be others now
            ActionRef::MetaData(_) => return Extent::All,
            _ => continue,
        };
    }
    Extent::Partitions(partitions)
}

fn folder_of(columns: &[String], values: &PartitionValues) -> String {
    partition_folder(columns.iter().map(|c| (c.as_str(), values.get(c).and_then(Option::as_deref))))
}

/// A commit that lands meanwhile writes its own manifests, which this one may overwrite with an older version; so it
/// checks again afterwards. Whoever writes last has seen the newest version.
fn write(mut snapshot: Snapshot, mut extent: Extent) -> Result<ManifestDone> {
    let mut rounds = 0;
    loop {
        let done = write_once(&snapshot, &extent)?;
        let newer = snapshot.update()?;
        rounds += 1;
        if newer.version() == snapshot.version() || rounds == MOST_ROUNDS {
            return Ok(done);
        }
        if newer.partition_columns() != snapshot.partition_columns() {
            extent = Extent::All;
        }
        snapshot = newer;
    }
}

fn write_once(snapshot: &Snapshot, extent: &Extent) -> Result<ManifestDone> {
    let location = snapshot.location();
    check_mapping(location, snapshot.metadata())?;
    let columns = snapshot.partition_columns();
    let mut lists: BTreeMap<String, Vec<FilePath>> = BTreeMap::new();
    for add in snapshot.each_add(FilesRequest::default())? {
        let add = add?;
        let partition = folder_of(columns, &add.partition_values);
        if matches!(extent, Extent::Partitions(wanted) if !wanted.contains(&partition)) {
            continue;
        }
        check_vector(location, &add)?;
        lists.entry(partition).or_default().push(add.path);
    }
    if columns.is_empty() {
        // a table without files is an empty list, and no missing one
        lists.entry(String::new()).or_default();
    }
    let root = location.root().join(FOLDER);
    for (partition, files) in &lists {
        location.cancel().check()?;
        let mut lines = String::new();
        for file in files {
            lines.push_str(&hadoop_text(&location.readable(file)?));
            lines.push('\n');
        }
        location.store().put(&root.join(&below(partition)), lines.into())?;
    }
    let stale: Vec<ObjectPath> = match extent {
        Extent::All => {
            let there = location.store().list_all(&root)?.into_iter().map(|f| f.name);
            let partition = |name: &str| {
                let (folders, last) = name.rsplit_once('/').unwrap_or(("", name));
                (last == NAME).then(|| folders.to_owned())
            };
            let stale = |name: &String| partition(name).is_some_and(|p| !lists.contains_key(&p));
            there.filter(stale).map(|name| root.join(&name)).collect()
        }
        Extent::Partitions(wanted) => {
            wanted.iter().filter(|p| !lists.contains_key(*p)).map(|p| root.join(&below(p))).collect()
        }
    };
    let mut deleted = 0;
    for answer in location.store().delete_many(&stale) {
        match answer {
            Ok(()) => deleted += 1,
            // another writer was here first
            Err(Error::NotFound { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(ManifestDone { version: snapshot.version(), written: lists.len() as u64, deleted })
}

fn below(partition: &str) -> String {
    if partition.is_empty() { NAME.to_owned() } else { format!("{partition}/{NAME}") }
}

/// A place as Hadoop's `Path` writes it, not percent-encoded: readers of manifests take the line as it is.
fn hadoop_text(path: &ObjectPath) -> String {
    match path.scheme() {
        "file" => format!("file:{}", path.key()),
        _ => path.uri(),
    }
}

fn check_mapping(location: &Location, metadata: &Metadata) -> Result<()> {
    if metadata.column_mapping() == ColumnMappingMode::None {
        return Ok(());
    }
    Err(refused(location, "a symlink manifest of a table with column mapping, whose readers know no mapping")
        .of_condition(&condition::UNSUPPORTED_MANIFEST_GENERATION_WITH_COLUMN_MAPPING))
}

fn check_vector(location: &Location, add: &Add) -> Result<()> {
    if add.deletion_vector.is_none() {
        return Ok(());
    }
    Err(refused(
        location,
        &format!(
            "a symlink manifest of a table with deletion vectors (`{}` has one), whose readers would show deleted rows; \
             rewrite these files first",
            add.path
        ),
    ))
}

fn refused(location: &Location, what: &str) -> Error {
    Error::Unsupported { path: location.root().to_string(), what: what.to_owned() }
}
