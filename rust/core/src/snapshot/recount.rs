//! The files of a version by chosen parts of the log, to compare with what a reading found.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::blame::damaged_commit;
use super::level::Verify;
use super::load::{Evidence, reopen};
use super::state::{State, replay};
use crate::error::{Error, Result};
use crate::log::{Listing, LogSegment};
use crate::replay::{Blame, Count, FileStream, FilesRequest, Otherwise, ScanSource, Totals};
use crate::report::Counters;
use crate::store::Location;

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

/// What a listing of all files of a segment is counted for: to hold it against the totals of its checksum. None where nothing
/// repeats commits and the level asks for no more.
pub(super) fn count_of(
    location: &Location,
    totals: Totals,
    segment: &LogSegment,
    excluded: &BTreeSet<String>,
    level: Verify,
) -> Option<Count> {
    let (location, version, excluded) = (location.clone(), segment.version, excluded.clone());
    let repeated = segment.repeated();
    let path = repeated.first().map(|name| location.log_dir().join(name).to_string());
    let without: BTreeSet<String> = excluded.iter().cloned().chain(repeated).collect();
    let there = location.clone();
    let otherwise: Otherwise =
        Box::new(move || files_without(&there, &Listing::read(&there, 0)?, version, without));
    let blame = move || match damaged_commit(&location, version, &excluded) {
        Err(error @ (Error::Storage { .. } | Error::Interrupted)) => Err(error),
        // damage elsewhere proves nothing about this version
        found => Ok(found.unwrap_or_default()),
    };
    let blame = (level > Verify::Fast).then(|| Box::new(blame) as Blame);
    Count::against(totals, path.map(|path| (path, otherwise)), blame)
}
