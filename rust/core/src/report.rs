//! What it cost to open a version and to list its files.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde::Serialize;

use crate::events;
use crate::store::{Location, Meter};

/// What a snapshot listed, read and skipped so far. Counters only grow; an advanced snapshot starts at zero.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Report {
    /// Version of the snapshot.
    pub version: u64,
    /// Version of the checkpoint that it is built on.
    pub checkpoint_version: Option<u64>,
    /// Commits (and compacted files) after the checkpoint.
    pub commits: u64,
    /// Listing requests.
    pub lists: u64,
    /// Objects that they returned.
    pub listed: u64,
    /// Read requests.
    pub gets: u64,
    /// Bytes read.
    pub bytes: u64,
    /// Where protocol and metadata came from: `checksum`, `commits`, `checkpoint` or `previous snapshot`.
    pub opened_from: String,
    /// Milliseconds to open.
    pub open_ms: f64,
    /// Milliseconds to replay the commits after the checkpoint, once it was asked for.
    pub replay_ms: f64,
    /// File actions in those commits.
    pub actions: u64,
    /// Checkpoint rows that were looked at.
    pub checkpoint_rows: u64,
    /// Row groups of the checkpoint that pruning did not read.
    pub row_groups_skipped: u64,
    /// Files dropped by partition values.
    pub files_pruned_by_partition: u64,
    /// Files dropped by statistics.
    pub files_pruned_by_stats: u64,
    /// Files that listings returned.
    pub files_kept: u64,
    /// Corrupt hints, checkpoints and checksums that were ignored, one line each.
    pub fallbacks: Vec<String>,
}

/// The counters behind a [`Report`].
#[derive(Debug, Default)]
pub(crate) struct Counters {
    /// Root of the table, for events.
    table: String,
    pub(crate) meter: Arc<Meter>,
    open_us: AtomicU64,
    replay_us: AtomicU64,
    actions: AtomicU64,
    checkpoint_rows: AtomicU64,
    row_groups_skipped: AtomicU64,
    by_partition: AtomicU64,
    by_stats: AtomicU64,
    kept: AtomicU64,
    fallbacks: Mutex<Vec<String>>,
}

impl Counters {
    /// All zero, of the table at a location.
    pub(crate) fn of(location: &Location) -> Self {
        Counters { table: location.root().to_string(), ..Counters::default() }
    }

    /// Root of the table.
    pub(crate) fn table(&self) -> &str {
        &self.table
    }

    pub(crate) fn opened(&self, version: u64, from: &str, took: Duration) {
        events::opened(&self.table, version, from, took);
        self.open_us.fetch_add(micros(took), Relaxed);
    }

    pub(crate) fn replayed(&self, took: Duration, actions: u64) {
        self.replay_us.fetch_add(micros(took), Relaxed);
        self.actions.store(actions, Relaxed);
    }

    pub(crate) fn checkpoint_rows(&self, n: u64) {
        self.checkpoint_rows.fetch_add(n, Relaxed);
    }

    pub(crate) fn row_groups_skipped(&self, n: u64) {
        self.row_groups_skipped.fetch_add(n, Relaxed);
    }

    pub(crate) fn pruned_by_partition(&self, n: u64) {
        self.by_partition.fetch_add(n, Relaxed);
    }

    pub(crate) fn pruned_by_stats(&self, n: u64) {
        self.by_stats.fetch_add(n, Relaxed);
    }

    pub(crate) fn files_kept(&self, n: u64) {
        self.kept.fetch_add(n, Relaxed);
    }

    pub(crate) fn fell_back(&self, what: String) {
        let mut all = self.fallbacks.lock().unwrap_or_else(PoisonError::into_inner);
        if !all.contains(&what) {
            events::fell_back(&self.table, &what);
            all.push(what);
        }
    }

    pub(crate) fn report(&self, version: u64) -> Report {
        let load = |a: &AtomicU64| a.load(Relaxed);
        let ms = |a: &AtomicU64| load(a) as f64 / 1000.0;
        Report {
            version,
            lists: load(&self.meter.lists),
            listed: load(&self.meter.listed),
            gets: load(&self.meter.gets),
            bytes: load(&self.meter.bytes),
            open_ms: ms(&self.open_us),
            replay_ms: ms(&self.replay_us),
            actions: load(&self.actions),
            checkpoint_rows: load(&self.checkpoint_rows),
            row_groups_skipped: load(&self.row_groups_skipped),
            files_pruned_by_partition: load(&self.by_partition),
            files_pruned_by_stats: load(&self.by_stats),
            files_kept: load(&self.kept),
            fallbacks: self.fallbacks.lock().unwrap_or_else(PoisonError::into_inner).clone(),
            ..Report::default()
        }
    }
}

fn micros(d: Duration) -> u64 {
    u64::try_from(d.as_micros()).unwrap_or(u64::MAX)
}
