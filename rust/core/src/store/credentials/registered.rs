use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::{Asked, CredentialSource, Fresh};
use crate::error::{Error, Result};

/// Stores whose credentials are kept. More than a process uses at once: a store holds its own.
const KEPT: usize = 256;

type Sources = BTreeMap<String, Arc<dyn CredentialSource>>;
/// Threads do not survive `fork`, and one of them may hold the lock of a `Fresh`: so a child has its own.
type Key = (u32, String, Asked);

static SOURCES: Mutex<Sources> = Mutex::new(BTreeMap::new());
static FRESH: Mutex<BTreeMap<Key, Arc<Fresh>>> = Mutex::new(BTreeMap::new());

/// Makes a source known in this process by a name, for the option [`CREDENTIALS`](super::CREDENTIALS). One that had the name is replaced.
pub fn register_credentials(name: &str, source: Arc<dyn CredentialSource>) {
    SOURCES.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned(), source);
    FRESH.lock().unwrap_or_else(PoisonError::into_inner).retain(|(_, known, _), _| known != name);
}

/// Whether a source has a name in this process.
pub(crate) fn is_registered(name: &str) -> bool {
    SOURCES.lock().unwrap_or_else(PoisonError::into_inner).contains_key(name)
}

/// The credentials of a source for a store, which all that use the store share.
///
/// # Errors
/// [`Error::Credentials`] where no source has the name: it is one of another process.
pub(crate) fn of_source(name: &str, asked: Asked) -> Result<Arc<Fresh>> {
    let source = SOURCES.lock().unwrap_or_else(PoisonError::into_inner).get(name).cloned();
    let Some(source) = source else {
        let reason =
            "the function that gives them is one of another process: give it here, too, as `credentials`";
        return Err(Error::Credentials { store: asked.store, reason: reason.into() });
    };
    Ok(fresh_of(name, source, asked))
}

/// As [`of_source`], for a source that has no name of its own.
pub(crate) fn fresh_of(name: &str, source: Arc<dyn CredentialSource>, asked: Asked) -> Arc<Fresh> {
    let mut fresh = FRESH.lock().unwrap_or_else(PoisonError::into_inner);
    if fresh.len() >= KEPT {
        fresh.clear();
    }
    let key = (std::process::id(), name.to_owned(), asked.clone());
    fresh.entry(key).or_insert_with(|| Arc::new(Fresh::new(name, source, asked))).clone()
}
