//! Changing what a table is: its properties, columns and constraints.

use super::alter_operation::operation;
use super::alteration::{Alteration, altered};
use super::backfill::{backfill, without_row_ids};
use super::check_rows::check_rows;
use super::remove_mapping::{Unmapped, remove_mapping};
use super::sync_identity::farthest;
use crate::alter::row_tracking::needs_backfill;
use crate::alter::sync_mark;
use crate::alter::{Definition, cluster_by, iceberg_compat};
use crate::conflict::IsolationLevel;
use crate::error::{Error, Result};
use crate::features::TableFeature;
use crate::replay::FilesRequest;
use crate::snapshot::{At, Snapshot};
use crate::store::Location;
use crate::txn::Transaction;
use crate::write::definition;

/// How often a change that lost a race is retried. Each loss is a commit of another writer.
const MOST_RACES: u32 = 20;

/// Makes the change in one commit, or none of it. No data file is written: existing rows are read by the new schema.
/// Only `delta.columnMapping.mode` = `none` (and its UNSET) writes all files again, by the names of the columns, in a commit
/// of its own before that of other properties; no row changes, and rows keep their row ids.
///
/// Returns the version of the commit, or the newest version where nothing was to be changed. A commit that loses its
/// race is retried on the newest version, so the change never undoes that of another writer. `user_metadata` is text
/// for
/// `commitInfo.userMetadata`.
///
/// `delta.enableRowTracking` on a table with files that have no row ids takes more commits before that one, as with
/// delta-spark: the feature is added to the protocol, and the files are committed again with row ids. Each of them leaves
/// a valid table, with the property not set before all files have ids; after a failure the call can be made again.
///
/// # Errors
/// * Before anything is written, as the function that each [`Alteration`] names.
/// * [`Error::InvariantViolation`] with a row that a new constraint is not true for, and [`Error::InvalidExpression`] for
///   an expression that cannot be evaluated: a constraint is never added unchecked.
/// * For `delta.enableRowTracking`, [`Error::DataFile`] before anything is written for a file without row ids whose
///   statistics lack its number of rows, and [`Error::InvalidFeatureChange`] where another writer keeps adding files
///   without row ids.
/// * For `delta.enableIcebergCompatV1`, [`Error::InvalidFeatureChange`] that names a file which must not be in such a table.
/// * [`Error::InvalidSchema`] where column mapping is to go and a name cannot be in files.
/// * As [`Transaction::commit`].
///
/// # Cost
/// One put; without column mapping all files are read and written once; a new constraint reads its columns of all rows, the sync of an identity its column, and row tracking takes the list of live files twice.
pub fn alter_table(location: &Location, alteration: &Alteration, user_metadata: Option<&str>) -> Result<u64> {
    match repeated(|| remove_mapping(location, alteration, user_metadata))? {
        None if checked_by_caller(alteration).is_some() => attempt(location, alteration, user_metadata),
        None => repeated(|| attempt(location, alteration, user_metadata)),
        Some(Unmapped { version, rest: None }) => Ok(version),
        Some(Unmapped { rest: Some(rest), .. }) => repeated(|| attempt(location, &rest, user_metadata)),
    }
}

/// The version that a caller has looked at itself.
fn checked_by_caller(alteration: &Alteration) -> Option<u64> {
    match alteration {
        Alteration::AddConstraint { checked, .. } => *checked,
        _ => None,
    }
}

/// Retries a change after each lost race.
fn repeated<T>(change: impl Fn() -> Result<T>) -> Result<T> {
    let mut races = 0;
    loop {
        match change() {
            Err(
                Error::MetadataChanged(_)
                | Error::ProtocolChanged(_)
                | Error::ConcurrentAppend(_)
                | Error::ConcurrentDeleteRead(_),
            ) if races < MOST_RACES => races += 1,
            other => return other,
        }
    }
}

fn attempt(location: &Location, alteration: &Alteration, user_metadata: Option<&str>) -> Result<u64> {
    let (mut snapshot, mut old, mut new) = newest(location, alteration)?;
    if needs_backfill(&old, &new) && backfill(&snapshot, user_metadata)? {
        (snapshot, old, new) = newest(location, alteration)?;
    }
    let same_clustering = new.clustering == old.clustering;
    // what rows show is in the history also where the mark stays
    let syncs = matches!(alteration, Alteration::SyncIdentity { .. });
    if new.protocol == old.protocol && new.metadata == old.metadata && same_clustering && !syncs {
        return Ok(snapshot.version());
    }
    let mut txn = Transaction::begin(&snapshot, operation(alteration, &old, &new)?);
    txn.set_user_metadata(user_metadata.map(str::to_owned));
    if let Alteration::AddConstraint { name, expression, checked } = alteration {
        if checked.is_none() {
            check_rows(&snapshot, name, expression)?;
        }
        claim_all_rows(&mut txn);
    }
    if iceberg_compat::concerns_files(&old, &new) {
        iceberg_compat::check_files(&new, snapshot.each_add(FilesRequest::whole(None))?)?;
        claim_all_rows(&mut txn);
    }
    if needs_backfill(&old, &new) {
        check_row_ids(&snapshot)?;
        claim_all_rows(&mut txn);
    }
    if new.protocol != old.protocol {
        txn.set_protocol(new.protocol);
    }
    if syncs {
        claim_all_rows(&mut txn);
    }
    if new.metadata != old.metadata || syncs {
        txn.set_metadata(new.metadata);
    }
    if let (Alteration::ClusterBy(columns), false) = (alteration, same_clustering) {
        txn.domain(cluster_by(&old, columns)?.1);
    }
    Ok(txn.commit()?.version)
}

/// The newest version, or the one that the caller has read; the current and the new definition.
fn newest(location: &Location, alteration: &Alteration) -> Result<(Snapshot, Definition, Definition)> {
    let at = checked_by_caller(alteration).map_or(At::Latest, At::Version);
    let snapshot = Snapshot::open(location.clone(), at)?;
    let old = definition(&snapshot)?;
    let new = match alteration {
        Alteration::SyncIdentity { column, lowered } => {
            sync_mark(&old, column, *lowered, |name, upwards| farthest(&snapshot, name, upwards))?
        }
        other => altered(&old, other)?,
    };
    Ok((snapshot, old, new))
}

/// The result for the rows must be true for those of others, too: a blind append that lands first has not been checked.
fn claim_all_rows(txn: &mut Transaction) {
    txn.read_whole_table();
    txn.set_isolation(IsolationLevel::Serializable);
}

/// Refuses row tracking while there are files without row ids.
fn check_row_ids(snapshot: &Snapshot) -> Result<()> {
    match without_row_ids(snapshot)?.len() {
        0 => Ok(()),
        without => Err(Error::InvalidFeatureChange {
            feature: TableFeature::RowTracking.into(),
            reason: format!(
                "{without} files of version {} have no row ids, although all files were given some: another writer \
                 adds files without them",
                snapshot.version()
            ),
        }),
    }
}
