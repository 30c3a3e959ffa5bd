//! What a version shows of the features of its table, and from which version on the history shows nothing of one.

use super::alter_table::definition;
use crate::actions::{Action, Metadata};
use crate::alter::Definition;
use crate::alter::drop_feature::{PROTECTED_BEFORE, Traces};
use crate::alter::widen::has_changes;
use crate::commit::{Winner, commit_path};
use crate::error::Result;
use crate::log::{Checkpoint, Listing, LogFileKind, complete_checkpoints};
use crate::replay::CheckpointReader;
use crate::schema::{ColumnMappingMode, DataType, StructField, StructType};
use crate::snapshot::{At, Snapshot};
use crate::store::Location;

/// The definition of a version, for dropping a feature, and what its state shows of its features. Where column mapping is to
/// go, clustering columns have the names that they then have.
///
/// # Errors
/// As [`definition`], and what the store says.
///
/// # Cost
/// The live files of a table with deletion vectors or row tracking; a listing of the log where checkpoints matter.
pub(super) fn state(snapshot: &Snapshot, dropped: &str) -> Result<(Definition, Traces)> {
    let mut table = definition(snapshot)?;
    if dropped.eq_ignore_ascii_case("columnMapping") {
        table.clustering = table.clustering.iter().map(|path| logical(&table.schema, path)).collect();
    }
    let has = |name: &str| table.protocol.supports(name);
    let mut traces = Traces::default();
    if has("deletionVectors") || has("rowTracking") {
        for add in snapshot.adds(None)? {
            traces.deletion_vectors += u64::from(add.deletion_vector.is_some());
            let tracked = add.base_row_id.is_some() || add.default_row_commit_version.is_some();
            traces.row_ids += u64::from(tracked);
        }
    }
    if has("domainMetadata") {
        traces.domains = snapshot.domain_metadata()?.into_iter().map(|d| d.domain).collect();
    }
    if has("v2Checkpoint") || has("checkpointProtection") {
        let listing = Listing::read(snapshot.location(), 0)?;
        traces.v2_checkpoint = match checkpoints(&listing).last() {
            Some(newest) if has("v2Checkpoint") => is_v2(snapshot.location(), newest)?,
            _ => false,
        };
        traces.history_truncated = oldest(&listing) >= protected_before(&table.metadata);
    }
    Ok((table, traces))
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
    metadata.configuration.get(PROTECTED_BEFORE).and_then(|v| v.parse().ok()).unwrap_or(0)
}

/// The version of the oldest commit or checkpoint that is there.
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
fn metadata_shows(feature: &str, metadata: &Metadata) -> Result<bool> {
    Ok(match feature {
        "deletionVectors" => metadata.is_true("delta.enableDeletionVectors"),
        "columnMapping" => ColumnMappingMode::of(metadata) != ColumnMappingMode::None,
        "typeWidening" | "typeWidening-preview" => {
            has_changes(&StructType::from_json(&metadata.schema_string)?)
        }
        "v2Checkpoint" => {
            metadata.configuration.get("delta.checkpointPolicy").is_some_and(|p| p.eq_ignore_ascii_case("v2"))
        }
        _ => false,
    })
}

/// Whether a file of a commit shows a feature. The protocol says nothing: it has the feature until it is dropped.
fn file_shows(feature: &str, action: &Action) -> bool {
    feature == "deletionVectors"
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
/// [`crate::Error::LogCorrupt`] for a commit or checkpoint that cannot be read; what the store says.
///
/// # Cost
/// The commits that are there from the newest back to the one that shows the feature; the live files of the oldest
/// checkpoint.
pub(super) fn clean_from(snapshot: &Snapshot, listing: &Listing, feature: &str) -> Result<u64> {
    let location = snapshot.location();
    let mut clean = 0;
    let checkpoints = checkpoints(listing);
    if feature == "v2Checkpoint" {
        for checkpoint in checkpoints.iter().rev() {
            if is_v2(location, checkpoint)? {
                clean = checkpoint.version + 1;
                break;
            }
        }
    }
    // since when the metadata is what it is
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
    // what the commits that are gone left
    let Some(first) = checkpoints.first().filter(|c| c.version >= clean) else { return Ok(clean) };
    let base = Snapshot::open(location.clone(), At::Version(first.version))?;
    let vectors = || Ok(base.adds(None)?.iter().any(|add| add.deletion_vector.is_some()));
    if metadata_shows(feature, base.metadata())? || (feature == "deletionVectors" && vectors()?) {
        return Ok(clean.max(metadata_since).max(first.version + 1));
    }
    Ok(clean)
}
