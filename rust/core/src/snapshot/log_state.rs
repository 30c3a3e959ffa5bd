//! The log of a version, as far as it is read.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::load::{Evidence, reopen};
use crate::error::Result;
use crate::log::{Listing, LogFile, LogSegment};
use crate::replay::{CheckpointReader, FileStream, FilesRequest, ScanSource, Tail};
use crate::report::Counters;
use crate::store::Location;

/// So many commits after its checkpoint, or file actions in them, a version is loaded from a newer one where there is one: a
/// process may follow a table for months.
const MANY_COMMITS: usize = 1_000;
const MANY_ACTIONS: u64 = 200_000;

/// What is known of the log of a version.
pub(super) struct State {
    pub(super) segment: LogSegment,
    pub(super) excluded: BTreeSet<String>,
    pub(super) checkpoint: Option<Arc<CheckpointReader>>,
    /// Replay up to `base_version`, from an older snapshot.
    pub(super) base: Option<(u64, Arc<Tail>)>,
    pub(super) tail: Option<Arc<Tail>>,
    pub(super) evidence: Evidence,
}

impl State {
    pub(super) fn of(
        segment: LogSegment,
        excluded: BTreeSet<String>,
        checkpoint: Option<Arc<CheckpointReader>>,
        evidence: Evidence,
    ) -> Self {
        State { segment, excluded, checkpoint, base: None, tail: None, evidence }
    }

    /// Whether much was replayed that a checkpoint of this version has.
    pub(super) fn is_long(&self, version: u64) -> bool {
        let actions =
            self.tail.as_ref().or(self.base.as_ref().map(|(_, tail)| tail)).map_or(0, |t| t.actions);
        self.segment.checkpoint.as_ref().is_none_or(|c| c.version < version)
            && (self.segment.tail.len() >= MANY_COMMITS || actions >= MANY_ACTIONS)
    }
}

/// The parts of a replayed version.
pub(crate) struct ReplayedLog {
    pub(crate) segment: LogSegment,
    pub(crate) tail: Arc<Tail>,
    pub(crate) checkpoint: Option<Arc<CheckpointReader>>,
}

/// Opens the checkpoint and replays the commits that are not replayed yet.
pub(super) fn replay(location: &Location, state: &mut State) -> Result<Arc<Tail>> {
    if state.checkpoint.is_none()
        && let Some(checkpoint) = &state.segment.checkpoint
    {
        state.checkpoint = Some(Arc::new(state.evidence.open_checkpoint(location, checkpoint)?));
    }
    match &state.base {
        Some((version, base)) => {
            let newer: Vec<LogFile> =
                state.segment.tail.iter().filter(|f| f.version > *version).cloned().collect();
            base.advance(location, &newer)
        }
        None => Tail::default().advance(location, &state.segment.tail),
    }
    .map(Arc::new)
}

/// The live files of a version without some files of the log; none where the rest of it does not give them.
///
/// # Errors
/// Errors of replay.
///
/// # Cost
/// As a listing of all files of a newly opened version.
pub(super) fn files_without(
    location: &Location,
    listing: &Listing,
    version: u64,
    excluded: BTreeSet<String>,
) -> Result<Option<FileStream>> {
    let counters = Arc::new(Counters::of(location));
    let Ok(opened) = reopen(location, listing, Some(version), excluded, &counters) else {
        return Ok(None);
    };
    let mut state = State::of(opened.segment, opened.excluded, opened.checkpoint, Evidence::default());
    let tail = replay(location, &mut state)?;
    let source = ScanSource { location: location.clone(), tail, checkpoint: state.checkpoint, counters };
    Ok(Some(FileStream::new(source, &FilesRequest::default(), None)))
}
