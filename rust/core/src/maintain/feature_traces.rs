//! The traces of features in a version, and the version from which on the history has none of a feature.

use std::collections::BTreeSet;

use chrono::Utc;

use super::tombstones::left;
use crate::actions::{Action, Add, FilePath, Metadata};
use crate::alter::Definition;
use crate::alter::drop_feature::Traces;
use crate::alter::widen::has_changes;
use crate::conflict::Winner;
use crate::deletion_vector::file_path;
use crate::error::Result;
use crate::features::{TableFeature, feature};
use crate::log::{Checkpoint, Listing, LogFileKind, LogSettings, commit_path, complete_checkpoints};
use crate::properties::TableProperty;
use crate::replay::{CheckpointReader, FileBatch, FilesRequest};
use crate::schema::{ColumnMappingMode, DataType, StructField, StructType};
use crate::snapshot::{At, Snapshot};
use crate::store::Location;
use crate::write::definition;

/// The definition of a version, for dropping a feature, and what its state shows of its features. Where column mapping is to
/// go, clustering columns have the names that they then have.
///
/// # Errors
/// As [`definition`], and errors of the store.
///
/// # Cost
/// For deletion vectors and row tracking the live files; for deletion vectors the tombstones of their retention; a listing
/// of the log where checkpoints matter.
pub(super) fn state(snapshot: &Snapshot, dropped: &str) -> Result<(Definition, Traces)> {
    let mut table = definition(snapshot)?;
    let dropped = feature(dropped).map(|known| known.feature);
    if dropped == Some(TableFeature::ColumnMapping) {
        table.clustering = table.clustering.iter().map(|path| logical(&table.schema, path)).collect();
    }
    let of = |feature: TableFeature| dropped == Some(feature) && table.protocol.supports(feature);
    let mut traces = Traces::default();
    if of(TableFeature::DeletionVectors) {
        traces.deletion_vectors = deletion_vectors(snapshot)?;
        traces.unkept_vectors = unkept_vectors(snapshot)?.len() as u64;
    }
    if of(TableFeature::RowTracking) {
        let lean = FilesRequest { extended: true, ..FilesRequest::default() };
        let with_ids = snapshot.each_add(lean)?.filter(|add| add.as_ref().map_or(true, has_row_ids));
        traces.row_ids = with_ids.map(|add| add.map(|_| 1)).sum::<Result<_>>()?;
    }
    if of(TableFeature::RowTracking) || of(TableFeature::DomainMetadata) {
        traces.domains = snapshot.domain_metadata()?.into_iter().map(|d| d.domain).collect();
    }
    if of(TableFeature::V2Checkpoint) || of(TableFeature::CheckpointProtection) {
        let listing = Listing::read(snapshot.location(), 0)?;
        traces.v2_checkpoint = match checkpoints(&listing).last() {
            Some(newest) if of(TableFeature::V2Checkpoint) => is_v2(snapshot.location(), newest)?,
            _ => false,
        };
        traces.history_truncated = oldest(&listing) >= protected_before(&table.metadata);
    }
    Ok((table, traces))
}

/// Files with deletion vectors.
fn deletion_vectors(snapshot: &Snapshot) -> Result<u64> {
    let of = |batch: FileBatch| (0..batch.num_files()).filter(|file| batch.deleted(*file).is_some()).count();
    snapshot.files(FilesRequest::default())?.map(|batch| Ok(of(batch?) as u64)).sum()
}

/// Whether a file has row ids of row tracking.
pub(super) fn has_row_ids(add: &Add) -> bool {
    add.base_row_id.is_some() || add.default_row_commit_version.is_some()
}

/// The files of vectors of the table that tombstones within their retention have, and that have no tombstone themselves.
///
/// # Errors
/// As [`left`].
///
/// # Cost
/// As [`left`], of that time.
pub(super) fn unkept_vectors(snapshot: &Snapshot) -> Result<Vec<FilePath>> {
    let root = snapshot.location().root();
    let settings = LogSettings::of(snapshot.protocol(), snapshot.metadata())?;
    let oldest = Utc::now().timestamp_millis().saturating_sub(settings.tombstone_retention);
    let below = format!("{}/", root.key());
    // by name below the table
    let (mut vectors, mut kept) = (BTreeSet::new(), BTreeSet::new());
    for file in left(snapshot, oldest)?.into_iter().filter(|file| file.since >= oldest) {
        match file.vector {
            // what lies elsewhere, no vacuum of this table deletes
            Some(vector) => vectors.extend(file_path(&vector, root)?.and_then(|path| {
                let own = path.prefix() == root.prefix();
                path.key().strip_prefix(&below).filter(|_| own).map(str::to_owned)
            })),
            None => {
                kept.insert(file.path.identity(root)?);
            }
        }
    }
    Ok(vectors.difference(&kept).map(|name| FilePath::encode(name)).collect())
}

/// The logical names of a path of physical ones; a part that no column has stays.
fn logical(schema: &StructType, path: &[String]) -> Vec<String> {
    let [first, rest @ ..] = path else { return Vec::new() };
    // without mapping no field has another physical name
    let named = |f: &&StructField| f.physical_name(ColumnMappingMode::Name) == first;
    let Some(field) = schema.fields.iter().find(named) else { return path.to_vec() };
    let mut out = vec![field.name.clone()];
    match &field.data_type {
        DataType::Struct(inner) => out.extend(logical(inner, rest)),
        _ => out.extend_from_slice(rest),
    }
    out
}

/// `delta.requireCheckpointProtectionBeforeVersion`.
pub(super) fn protected_before(metadata: &Metadata) -> u64 {
    metadata
        .property(TableProperty::RequireCheckpointProtectionBeforeVersion)
        .and_then(|v| v.parse().ok())
        .unwrap_or(0)
}

/// The version of the oldest existing commit or checkpoint.
pub(super) fn oldest(listing: &Listing) -> u64 {
    let counts = |kind: &LogFileKind| !matches!(kind, LogFileKind::Checksum | LogFileKind::Compacted { .. });
    listing.files.iter().filter(|f| counts(&f.kind)).map(|f| f.version).min().unwrap_or(0)
}

/// The complete checkpoints, oldest first.
pub(super) fn checkpoints(listing: &Listing) -> Vec<Checkpoint> {
    complete_checkpoints(&listing.files.iter().collect::<Vec<_>>())
}

/// Whether a checkpoint is of V2, whatever its name.
fn is_v2(location: &Location, checkpoint: &Checkpoint) -> Result<bool> {
    if checkpoint.files.iter().any(|f| matches!(f.kind, LogFileKind::UuidCheckpoint(_))) {
        return Ok(true);
    }
    let reader = CheckpointReader::open(location, checkpoint)?;
    Ok(reader.parquet.iter().any(|f| f.count("checkpointMetadata", "version") != Some(0)))
}

/// Whether metadata shows a feature.
fn metadata_shows(feature: TableFeature, metadata: &Metadata) -> Result<bool> {
    Ok(match feature {
        TableFeature::DeletionVectors => metadata.is_true(TableProperty::EnableDeletionVectors),
        TableFeature::ColumnMapping => metadata.column_mapping() != ColumnMappingMode::None,
        TableFeature::TypeWidening | TableFeature::TypeWideningPreview => {
            has_changes(&StructType::from_json(&metadata.schema_string)?)
        }
        TableFeature::V2Checkpoint => {
            metadata.property(TableProperty::CheckpointPolicy).is_some_and(|p| p.eq_ignore_ascii_case("v2"))
        }
        _ => false,
    })
}

/// Whether a file of a commit shows a feature. The protocol does not help: it has the feature until it is dropped.
fn file_shows(feature: TableFeature, action: &Action) -> bool {
    feature == TableFeature::DeletionVectors
        && match action {
            Action::Add(add) => add.deletion_vector.is_some(),
            Action::Remove(remove) => remove.deletion_vector.is_some(),
            _ => false,
        }
}

/// The first version from which on neither a commit, nor a state, nor a checkpoint in the log shows a feature; 0 where the
/// whole history shows nothing. Tombstones in a checkpoint do not count, as they do not in delta-spark.
///
/// # Errors
/// [`crate::Error::LogCorrupt`] for a commit or checkpoint that cannot be read; errors of the store.
///
/// # Cost
/// The existing commits from the newest back to the one that shows the feature; the live files of the oldest
/// checkpoint.
pub(super) fn clean_from(snapshot: &Snapshot, listing: &Listing, feature: TableFeature) -> Result<u64> {
    let location = snapshot.location();
    let mut clean = 0;
    let checkpoints = checkpoints(listing);
    if feature == TableFeature::V2Checkpoint {
        for checkpoint in checkpoints.iter().rev() {
            if is_v2(location, checkpoint)? {
                clean = checkpoint.version + 1;
                break;
            }
        }
    }
    // the version since when the metadata is unchanged
    let mut metadata_since = 0;
    for commit in listing.commits().rev().take_while(|c| c.version >= clean) {
        let version = commit.version;
        let path = commit_path(location, version);
        let actions = Winner::parse(version, &path.to_string(), &location.store().get(&path)?)?.actions;
        if actions.iter().any(|action| file_shows(feature, action)) {
            return Ok(clean.max(version + 1));
        }
        for action in &actions {
            let Action::MetaData(metadata) = action else { continue };
            if metadata_shows(feature, metadata)? {
                return Ok(clean.max(metadata_since).max(version + 1));
            }
            metadata_since = version;
        }
    }
    // what the deleted commits left
    let Some(first) = checkpoints.first().filter(|c| c.version >= clean) else { return Ok(clean) };
    let base = Snapshot::open(location.clone(), At::Version(first.version))?;
    let vectors = || Ok(deletion_vectors(&base)? > 0);
    if metadata_shows(feature, base.metadata())? || (feature == TableFeature::DeletionVectors && vectors()?) {
        return Ok(clean.max(metadata_since).max(first.version + 1));
    }
    Ok(clean)
}
