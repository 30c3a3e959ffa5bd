//! Files that are written again, with the rows that they have.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use super::bins::Bin;
use crate::actions::{Add, ObjectPath};
use crate::conflict::RowRelocations;
use crate::error::{Error, Result};
use crate::store::Location;
use crate::write::{Compacted, SourceRows, Uploads, WritePlan, compact};

/// Files that are written at once.
const WORKERS: usize = 8;

/// Writes the new file of each bin: its rows are read by the first plan and written by the second.
///
/// # Errors
/// As [`compact`].
pub(super) fn write_all(
    plans: (&WritePlan, &WritePlan),
    bins: &[Bin],
    uploads: &Uploads,
) -> Result<Vec<Compacted>> {
    several_at_once(bins.len(), |at| compact(plans, &bins[at].files, at, uploads))
}

/// How many works are done at a time, of so many.
pub(super) fn workers(count: usize) -> usize {
    std::thread::available_parallelism().map_or(2, usize::from).min(WORKERS).min(count)
}

/// Does a work for each number below `count`, several at a time.
pub(super) fn several_at_once<T: Send>(
    count: usize,
    work: impl Fn(usize) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let next = AtomicUsize::new(0);
    let done: Vec<Mutex<Option<Result<T>>>> = (0..count).map(|_| Mutex::new(None)).collect();
    let work = || {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(place) = done.get(at) else { return };
            let result = work(at);
            if result.is_err() {
                // the others are of no use any more
                next.store(count, Ordering::Relaxed);
            }
            *place.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
        }
    };
    match workers(count) {
        0 | 1 => work(),
        // the caller's thread only waits: its requests to the store do not depend on timing
        workers => std::thread::scope(|scope| (0..workers).for_each(|_| drop(scope.spawn(work)))),
    }
    let mut out = Vec::with_capacity(count);
    let mut missing = false;
    for result in done {
        match result.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some(result) => out.push(result?),
            None => missing = true,
        }
    }
    match missing {
        // only after an error, which was returned
        true => Err(Error::storage("write", "a file that is rewritten", "it was not written")),
        false => Ok(out),
    }
}

/// Notes where the rows of a bin went: its files one after the other, without the rows that were deleted.
///
/// # Errors
/// [`Error::LogCorrupt`] for a path that cannot be decoded.
pub(super) fn note(
    location: &Location,
    bin: &Bin,
    (add, sources): (Option<&Add>, &[SourceRows]),
    moves: &mut RowRelocations,
) -> Result<()> {
    let root: &ObjectPath = location.root();
    let target = add.map(|add| add.path.identity(root)).transpose()?;
    for (file, source) in bin.files.iter().zip(sources) {
        let name = file.path.identity(root)?;
        moves.empty_source(&name);
        let Some(target) = &target else { continue };
        let mut next = 0;
        for row in source.deleted.rows() {
            if next < row {
                moves.run(&name, next..row, target);
            }
            next = row + 1;
        }
        if next < source.total {
            moves.run(&name, next..source.total, target);
        }
    }
    Ok(())
}
