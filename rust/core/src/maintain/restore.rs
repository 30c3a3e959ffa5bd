//! Going back to an older version, by a new one.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};

use super::files::{look_telling, needs};
use crate::actions::{Add, DomainMetadata, Metadata, ObjectPath, OperationName};
use crate::alter::joined_protocol;
use crate::conflict::IsolationLevel;
use crate::error::{Error, Result, condition};
use crate::features::CLUSTERING_DOMAIN;
use crate::properties::TableProperty;
use crate::replay::{FilesRequest, key};
use crate::schema::{IDENTITY_HIGH_WATER_MARK, IDENTITY_START, StructType};
use crate::snapshot::{At, Snapshot, format_timestamp};
use crate::store::Location;
use crate::sums::SaturatingSum;
use crate::txn::{Operation, Transaction};

/// How to restore.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RestoreOptions {
    /// Restores also when files of the old version are missing. Reading these rows fails until `fsck` removes them.
    pub ignore_missing_files: bool,
    /// Text for `commitInfo.userMetadata`.
    pub user_metadata: Option<String>,
}

/// What a restore did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RestoreDone {
    /// Version that was committed; the newest one where that was to be restored.
    pub version: u64,
    /// Version that it restored.
    pub restored_version: u64,
    /// Files that were restored.
    pub restored: u64,
    /// Their bytes.
    pub restored_bytes: u64,
    /// Files that left.
    pub removed: u64,
    /// Their bytes.
    pub removed_bytes: u64,
    /// Files of the table now.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// What failed after the commit. The commit is not undone.
    pub warnings: Vec<String>,
}

/// Restores the table to a version or time: rows, schema and properties. The versions between stay in the
/// history. The protocol keeps every feature that it has now, and row ids and identity columns never go back. Nothing is
/// committed for the newest version: [`RestoreDone::version`] is that one.
///
/// # Errors
/// As [`Snapshot::open`] for a missing version; [`Error::DataFile`] for a file that was vacuumed since, before
/// anything is written; [`Error::AppendOnly`]; as [`Transaction::commit`] when another writer changed the table meanwhile.
///
/// # Cost
/// Two listings of the newest version and one of the other, in memory the paths of the newest one and what differs, and a HEAD
/// for each restored file.
pub fn restore(location: &Location, at: At, options: &RestoreOptions) -> Result<RestoreDone> {
    let now = Snapshot::open(location.clone(), At::Latest)?;
    let then = Snapshot::open(location.clone(), at).map_err(unavailable)?;
    let root = location.root();
    let key_of = |add: &Add| key(add.path.as_str(), add.deletion_vector.as_ref(), root).map(Cow::into_owned);
    let lean = now.each_add(FilesRequest::default())?;
    let mut gone: HashSet<String> = lean.map(|add| key_of(&add?)).collect::<Result<_>>()?;
    let mut done = RestoreDone { restored_version: then.version(), ..Default::default() };
    let (mut back, mut leaving) = (Vec::new(), Vec::new());
    for add in then.each_add(FilesRequest::whole(None))? {
        let add = add?;
        done.files += 1;
        done.bytes = done.bytes.saturating_add(add.size.unsigned_abs());
        if !gone.remove(&key_of(&add)?) {
            done.restored += 1;
            done.restored_bytes = done.restored_bytes.saturating_add(add.size.unsigned_abs());
            back.push(Add { data_change: true, ..add });
        }
    }
    if then.version() == now.version() {
        done.version = now.version();
        return Ok(done);
    }
    if !gone.is_empty() {
        for add in now.each_add(FilesRequest::whole(None))? {
            let add = add?;
            if gone.contains(&key_of(&add)?) {
                leaving.push(add);
            }
        }
    }
    done.removed = leaving.len() as u64;
    done.removed_bytes = leaving.iter().map(|a| a.size.unsigned_abs()).saturating_sum();
    let progress = location.progress();
    progress.expect(done.restored, done.restored_bytes);
    progress.expect_more(done.removed, done.removed_bytes);
    match options.ignore_missing_files {
        true => progress.done(done.restored, done.restored_bytes),
        false => check_there(location, &back)?,
    }
    progress.done(done.removed, done.removed_bytes);
    let operation = Operation::new(OperationName::Restore)
        .metric("tableSizeAfterRestore", done.bytes)
        .metric("numOfFilesAfterRestore", done.files)
        .metric("numRemovedFiles", done.removed)
        .metric("numRestoredFiles", done.restored)
        .metric("removedFilesSize", done.removed_bytes)
        .metric("restoredFilesSize", done.restored_bytes);
    let operation = match at {
        At::Timestamp(millis) => {
            operation.with_json("version", None::<u64>).with("timestamp", format_timestamp(millis))
        }
        At::Version(_) | At::Latest => {
            operation.with_json("version", then.version()).with_json("timestamp", None::<String>)
        }
    };
    let mut txn = Transaction::begin(&now, operation);
    // the version that it makes is the old one, rows and properties
    txn.read_state();
    txn.replaces_all_files();
    txn.set_isolation(IsolationLevel::Serializable);
    txn.set_user_metadata(options.user_metadata.clone());
    let protocol = joined_protocol(now.protocol(), then.protocol());
    if protocol != *now.protocol() {
        txn.set_protocol(protocol);
    }
    let metadata = metadata(now.metadata(), then.metadata())?;
    if metadata != *now.metadata() {
        txn.set_metadata(metadata);
    }
    if let Some(domain) = clustering(&now, &then)? {
        txn.domain(domain);
    }
    leaving.iter().for_each(|add| txn.remove_file(add, true));
    back.into_iter().for_each(|add| txn.add(add));
    let landed = txn.commit()?;
    done.version = landed.version;
    done.warnings = landed.warnings;
    Ok(done)
}

/// The error of a missing version or time, by its condition for a restore.
fn unavailable(error: Error) -> Error {
    let condition = match error.condition() {
        Some(&condition::VERSION_NOT_FOUND) => &condition::CANNOT_RESTORE_TABLE_VERSION,
        Some(&condition::TIMESTAMP_EARLIER_THAN_COMMIT_RETENTION) => {
            &condition::CANNOT_RESTORE_TIMESTAMP_EARLIER
        }
        Some(&condition::TIMESTAMP_GREATER_THAN_COMMIT) => &condition::CANNOT_RESTORE_TIMESTAMP_GREATER,
        _ => return error,
    };
    error.of_condition(condition)
}

fn check_there(location: &Location, adds: &[Add]) -> Result<()> {
    // with the logical files, and their bytes, that each is the data of
    let mut of: BTreeMap<ObjectPath, (u64, u64)> = BTreeMap::new();
    for add in adds {
        let (data, vector) = needs(&add.path, add.deletion_vector.as_ref(), location.root())?;
        let (files, bytes) = of.entry(data).or_default();
        *files += 1;
        *bytes = bytes.saturating_add(add.size.unsigned_abs());
        if let Some(vector) = vector {
            of.entry(vector).or_default();
        }
    }
    let paths: Vec<ObjectPath> = of.keys().cloned().collect();
    let there = look_telling(location, &paths, |paths| {
        for (files, bytes) in paths.iter().filter_map(|path| of.get(path)) {
            location.progress().done(*files, *bytes);
        }
    })?;
    let missing: Vec<&ObjectPath> =
        paths.iter().zip(&there).filter(|(_, m)| m.is_none()).map(|(p, _)| p).collect();
    match missing.first() {
        None => Ok(()),
        Some(first) => Err(Error::DataFile {
            path: first.to_string(),
            reason: format!(
                "gone, with {} others of the {} that the old version needs; a vacuum may have deleted them. Restore a \
                 newer version, or without them",
                missing.len() - 1,
                paths.len()
            ),
        }),
    }
}

/// The old metadata, except for what only grows: the id of the table, column ids, and the marks of identity columns.
pub(super) fn metadata(now: &Metadata, then: &Metadata) -> Result<Metadata> {
    let mut new = Metadata { id: now.id.clone(), ..then.clone() };
    let max_id = |m: &Metadata| {
        m.property(TableProperty::ColumnMappingMaxColumnId).and_then(|v| v.parse::<i64>().ok())
    };
    if let (Some(ours), Some(theirs)) = (max_id(now), max_id(then)) {
        new.set_property(TableProperty::ColumnMappingMaxColumnId, ours.max(theirs).to_string());
    }
    // since when in-commit timestamps count is the business of the commit
    for key in [
        TableProperty::InCommitTimestampEnablementVersion,
        TableProperty::InCommitTimestampEnablementTimestamp,
    ] {
        match now.property(key) {
            Some(value) => new.set_property(key, value),
            None => drop(new.unset_property(key)),
        }
    }
    let current = StructType::from_json(&now.schema_string)?;
    let mut schema = StructType::from_json(&then.schema_string)?;
    let mut moved = false;
    for field in &mut schema.fields {
        let newest = current.field(&field.name).and_then(|f| f.metadata.get(IDENTITY_HIGH_WATER_MARK));
        if let Some(mark) = newest
            && field.metadata.contains_key(IDENTITY_START)
            && field.metadata.get(IDENTITY_HIGH_WATER_MARK) != Some(mark)
        {
            field.metadata.insert(IDENTITY_HIGH_WATER_MARK.to_owned(), mark.clone());
            moved = true;
        }
    }
    if moved {
        new.schema_string = schema.to_json();
    }
    Ok(new)
}

/// The change of the clustering domain, where there is one.
fn clustering(now: &Snapshot, then: &Snapshot) -> Result<Option<DomainMetadata>> {
    let of = |s: &Snapshot| Ok(s.domain_metadata()?.into_iter().find(|d| d.domain == CLUSTERING_DOMAIN));
    let (ours, theirs): (Option<DomainMetadata>, Option<DomainMetadata>) = (of(now)?, of(then)?);
    Ok(match (ours, theirs) {
        (ours, Some(theirs)) if ours.as_ref() != Some(&theirs) => Some(theirs),
        (Some(ours), None) => Some(DomainMetadata { removed: true, ..ours }),
        _ => None,
    })
}
