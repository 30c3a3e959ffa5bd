//! What both kinds of checkpoint need, and what they give.

use std::collections::BTreeSet;

use chrono::Utc;
use parquet::basic::Compression;

use super::checksum::{checksum_path, read_checksum};
use super::schema::Layout;
use crate::actions::{Action, Protocol};
use crate::checksum::Checksum;
use crate::error::{Error, Result};
use crate::features::{CLUSTERING_DOMAIN, TableFeature, check_writer, clustering_columns};
use crate::log::{LastCheckpoint, LastV2Checkpoint, Listing, LogFileKind, LogSegment, LogSettings};
use crate::parquet::parquet_codec;
use crate::properties::TableProperty;
use crate::replay::CheckpointReader;
use crate::snapshot::{ReplayedLog, Snapshot};
use crate::sums::SaturatingSum;

/// What [`checkpoint`](super::checkpoint) did.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CheckpointDone {
    /// Version of the checkpoint.
    pub version: u64,
    /// Name of its top-level file in `_delta_log`.
    pub name: String,
    /// Whether it existed already, intact, so that nothing was written.
    pub existed: bool,
    /// Live files in it.
    pub num_files: u64,
    /// Actions in it.
    pub num_actions: u64,
    /// Bytes of all its files, sidecars that were taken over included.
    pub size: u64,
    /// Bytes that were written.
    pub written: u64,
    /// Sidecars that were written.
    pub sidecars_written: usize,
    /// Sidecars of the checkpoint before that were taken over, because nothing in them changed.
    pub sidecars_reused: usize,
}

/// Everything that both kinds of checkpoint need.
pub(super) struct Job<'a> {
    pub(super) snapshot: &'a Snapshot,
    pub(super) settings: LogSettings,
    pub(super) layout: Layout,
    pub(super) compression: Compression,
    pub(super) log: ReplayedLog,
    /// Checksum of the version, where it has one that can be read.
    pub(super) checksum: Option<Checksum>,
    /// Tombstones up to this time have expired.
    pub(super) expired_before: i64,
    pub(super) now: i64,
}

impl<'a> Job<'a> {
    pub(super) fn new(snapshot: &'a Snapshot) -> Result<Self> {
        let (protocol, metadata) = (snapshot.protocol(), snapshot.metadata());
        let table = snapshot.location().root().to_string();
        check_writer(&table, protocol)?;
        let settings = LogSettings::of(protocol, metadata)?;
        if snapshot.version() < settings.protected_before {
            let what = format!(
                "a checkpoint of version {}, which is before the protected version {},",
                snapshot.version(),
                settings.protected_before
            );
            return Err(Error::Unsupported { path: table, what });
        }
        let vectors = protocol.lists_for_readers(TableFeature::DeletionVectors);
        let clustering = clustering(snapshot)?;
        let mode = snapshot.column_mapping();
        let layout = Layout::of(&settings, metadata, snapshot.schema(), mode, vectors, clustering)?;
        let codec = metadata.property(TableProperty::ParquetCompressionCodec).unwrap_or("zstd");
        let now = Utc::now().timestamp_millis();
        Ok(Job {
            snapshot,
            layout,
            compression: parquet_codec(codec)?.compression,
            log: snapshot.replayed_log()?,
            checksum: read_checksum(snapshot.location(), snapshot.version())?,
            expired_before: now.saturating_sub(settings.tombstone_retention),
            now,
            settings,
        })
    }

    /// The existing checkpoint of this version, if it is intact.
    pub(super) fn existing(&self) -> Result<Option<(CheckpointDone, LastCheckpoint)>> {
        let (location, version) = (self.snapshot.location(), self.snapshot.version());
        let listing = Listing::read(location, version)?;
        let table = location.root().to_string();
        let Ok(Some(segment)) = LogSegment::select(&table, &listing, Some(version), &BTreeSet::new()) else {
            return Ok(None);
        };
        let Some(found) = segment.checkpoint.filter(|c| c.version == version) else { return Ok(None) };
        let Ok(reader) = CheckpointReader::open(location, &found) else { return Ok(None) };
        if !matches!(reader.protocol_and_metadata(), Ok((Some(_), Some(_)))) {
            return Ok(None);
        }
        let first = found.files.first();
        let done = CheckpointDone {
            version,
            name: first.map(|f| f.name.clone()).unwrap_or_default(),
            existed: true,
            num_files: 0,
            num_actions: reader.num_actions(),
            size: found.files.iter().map(|f| f.size).saturating_sum(),
            written: 0,
            sidecars_written: 0,
            sidecars_reused: 0,
        };
        let top = first.filter(|f| matches!(f.kind, LogFileKind::UuidCheckpoint(_)));
        let hint = LastCheckpoint {
            version,
            size: Some(done.num_actions as i64),
            parts: u32::try_from(found.files.len()).ok().filter(|n| *n > 1),
            v2_checkpoint: top.map(|f| LastV2Checkpoint {
                path: f.name.clone(),
                size_in_bytes: f.size as i64,
                modification_time: f.modified,
                non_file_actions: None,
                sidecar_files: None,
            }),
            ..Default::default()
        };
        Ok(Some((done, hint)))
    }

    /// Compares the content of the checkpoint with the checksum of the version, where there is one.
    pub(super) fn check_totals(&self, num_files: u64, num_bytes: Option<i64>) -> Result<()> {
        let (location, version) = (self.snapshot.location(), self.snapshot.version());
        let Some(checksum) = &self.checksum else { return Ok(()) };
        let expected = (checksum.num_files, checksum.table_size_bytes);
        let found = (num_files as i64, num_bytes.unwrap_or(expected.1));
        if expected == found {
            return Ok(());
        }
        let reason = format!(
            "it counts {} files of {} bytes, and the log gives {} of {}; no checkpoint was written. If the log is right, \
             remove the checksum",
            expected.0, expected.1, found.0, found.1
        );
        Err(Error::corrupt(checksum_path(location, version).to_string(), Some(version), reason))
    }

    /// All actions that are no files: protocol, metadata, transaction identifiers that have not expired, live domains.
    pub(super) fn other_actions(&self) -> Result<Vec<Action>> {
        let snapshot = self.snapshot;
        let mut actions: Vec<Action> =
            vec![legacy(snapshot.protocol()).into(), snapshot.metadata().clone().into()];
        actions.extend(snapshot.app_transactions()?.into_iter().map(Action::from));
        actions.extend(snapshot.domain_metadata()?.into_iter().map(Action::from));
        Ok(actions)
    }
}

/// The protocol as a checkpoint must have it: below the table-feature versions the lists are null, not empty.
fn legacy(protocol: &Protocol) -> Protocol {
    let mut protocol = protocol.clone();
    if protocol.min_reader_version < 3 {
        protocol.reader_features = None;
    }
    if protocol.min_writer_version < 7 {
        protocol.writer_features = None;
    }
    protocol
}

/// The clustering columns by physical path. An order is all that depends on them: a domain that cannot be read gives none.
fn clustering(snapshot: &Snapshot) -> Result<Vec<Vec<String>>> {
    let domain = snapshot.domain_metadata()?.into_iter().find(|d| d.domain == CLUSTERING_DOMAIN);
    Ok(domain.and_then(|d| clustering_columns(&d).ok()).unwrap_or_default())
}
