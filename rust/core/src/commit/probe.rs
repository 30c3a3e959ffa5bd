use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use bytes::Bytes;
use chrono::Utc;
use uuid::Uuid;

use super::Backoff;
use super::attempt::{TRIES, is_refusal};
use crate::actions::ObjectPath;
use crate::error::{Error, Result};
use crate::store::{Location, PutOutcome};

/// Stores (scheme, authority and server) that have shown that they keep the condition of put-if-absent.
static TRUSTED: Mutex<BTreeSet<(String, String)>> = Mutex::new(BTreeSet::new());

fn trusted() -> MutexGuard<'static, BTreeSet<(String, String)>> {
    TRUSTED.lock().unwrap_or_else(PoisonError::into_inner)
}

fn key(location: &Location) -> (String, String) {
    (location.root().prefix().to_owned(), location.served_by().to_owned())
}

/// Whether this process need not try a store.
pub(crate) fn is_trusted(location: &Location) -> bool {
    matches!(location.root().scheme(), "file" | "memory") || trusted().contains(&key(location))
}

/// Takes a store as one that another process has tried: that which planned this process's part of a write.
pub(crate) fn trust_store(location: &Location) {
    trusted().insert(key(location));
}

/// Makes sure, once for each remote store in the life of the process, that put-if-absent is one: two writes of one small
/// object, of which the second must be refused. A store that ignores the condition would let two writers commit the
/// same version, and the rows of one would be lost without an error. It is asked before a write uploads its first file.
///
/// # Errors
/// [`Error::Unsupported`] for such a store, and the error of a store that gave no clear answer five times, or that refused
/// the request: nothing is written to a store that may be such a one.
pub(crate) fn check_store(location: &Location) -> Result<()> {
    if is_trusted(location) {
        return Ok(());
    }
    let mut backoff = Backoff::after_unclear_answers();
    for tries in 1.. {
        let object = object(location);
        let answer = put_twice(location, &object);
        remove(location, &object);
        match answer {
            Ok(PutOutcome::AlreadyExists) => break,
            Ok(PutOutcome::Created) => return Err(ignores_conditions(location)),
            Err(error) if tries == TRIES || is_refusal(&error) || !backoff.pause() => return Err(error),
            Err(_) => {}
        }
    }
    trusted().insert(key(location));
    Ok(())
}

fn ignores_conditions(location: &Location) -> Error {
    Error::Unsupported {
        path: location.root().to_string(),
        what: "writing to a store that ignores the condition of put-if-absent (`If-None-Match: *`), where writers \
               would overwrite each other's commits,"
            .to_owned(),
    }
}

/// What a store answered when it was tried; see [`probe_store`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoreProbe {
    /// Milliseconds until the answer to a listing of the log.
    pub list_millis: u64,
    /// Whether a second put-if-absent of an object is refused; none where writing failed.
    pub put_if_absent: Option<bool>,
    /// Why writing failed.
    pub refused: Option<String>,
    /// Milliseconds by which the clock of the store is ahead of this machine's. An object's time is precise to a second.
    pub clock_ahead_millis: Option<i64>,
}

/// Tries the store of a table: a listing, two put-if-absent of one small object in the log's folder, its time; then it is
/// removed. Five requests.
///
/// # Errors
/// Errors of the listing. Errors of the writes are in the answer: a reader need not write.
pub fn probe_store(location: &Location) -> Result<StoreProbe> {
    let begun = Instant::now();
    location.store().list_from(&location.log_dir(), "")?;
    let list_millis = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
    let object = object(location);
    let before = Utc::now().timestamp_millis();
    let answer = put_twice(location, &object);
    let after = Utc::now().timestamp_millis();
    let seen = location.store().head(&object).ok().map(|meta| meta.modified);
    remove(location, &object);
    let ahead = |modified: i64| match modified {
        // within what a time in whole seconds can be
        m if m < before - 999 => m - before,
        m if m > after => m - after,
        _ => 0,
    };
    Ok(StoreProbe {
        list_millis,
        put_if_absent: answer.as_ref().ok().map(|second| *second == PutOutcome::AlreadyExists),
        refused: answer.err().map(|e| e.to_string()),
        clock_ahead_millis: seen.map(ahead),
    })
}

fn object(location: &Location) -> ObjectPath {
    location.log_dir().join(&format!("_probe_{}.tmp", Uuid::new_v4()))
}

/// The answer to the second of two put-if-absent.
fn put_twice(location: &Location, object: &ObjectPath) -> Result<PutOutcome> {
    let store = location.store();
    store.put_if_absent(object, Bytes::from_static(b"1"))?;
    store.put_if_absent(object, Bytes::from_static(b"2"))
}

fn remove(location: &Location, object: &ObjectPath) {
    // best effort: readers of the log ignore names that they do not know
    let _ = location.store().delete(object);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_local_table_is_probed_and_left_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("_delta_log")).unwrap();
        let location = Location::open(folder.path().to_str().unwrap(), &Default::default()).unwrap();
        let probe = probe_store(&location).unwrap();
        assert_eq!(
            (probe.put_if_absent, probe.refused, probe.clock_ahead_millis),
            (Some(true), None, Some(0))
        );
        assert_eq!(std::fs::read_dir(folder.path().join("_delta_log")).unwrap().count(), 0);
    }
}
