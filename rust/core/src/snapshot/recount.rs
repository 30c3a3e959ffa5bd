//! What a listing of all files is counted for: to compare it with what a checksum says.

use std::collections::BTreeSet;

use super::blame::damaged_commit;
use super::level::Verify;
use super::log_state::files_without;
use crate::error::Error;
use crate::log::{Listing, LogSegment};
use crate::replay::{Blame, Count, Files, Otherwise, Totals};
use crate::store::Location;

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
    let otherwise: Otherwise = Box::new(move || {
        let files = files_without(&there, &Listing::read(&there, 0)?, version, without)?;
        Ok(files.map(|files| Box::new(files) as Files))
    });
    let blame = move || match damaged_commit(&location, version, &excluded) {
        Err(error @ (Error::Storage { .. } | Error::Interrupted)) => Err(error),
        // damage elsewhere proves nothing about this version
        found => Ok(found.unwrap_or_default()),
    };
    let blame = (level > Verify::Fast).then(|| Box::new(blame) as Blame);
    Count::against(totals, path.map(|path| (path, otherwise)), blame)
}
