use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use super::Fresh;
use crate::error::{Error, Result};
use crate::store::StorageOptions;

/// The storage option that names a source of credentials: see [`register_credentials`].
pub const CREDENTIALS: &str = "credentials_source";

/// The same of a session: keys that an operation is given by the names of the crate `object_store` go before it.
pub const SESSION_CREDENTIALS: &str = "session_credentials_source";

/// The name of the source that is asked where Hadoop's settings name a class that only a JVM can call.
pub const JVM_CREDENTIALS: &str = "jvm";

/// Stores whose credentials are kept. More than a process uses at once: a store holds its own.
const KEPT: usize = 256;

/// What a source is asked for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Asked {
    /// The store: `s3://bucket`.
    pub store: String,
    /// Hadoop's settings, for a source that asks Hadoop.
    pub settings: BTreeMap<String, String>,
}

/// What a source gave. `Debug` shows no secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GivenCredentials {
    /// Options of the store, credentials only.
    pub options: StorageOptions,
    /// When they expire; `None`: never, as far as the source knows.
    pub expires: Option<SystemTime>,
}

/// Somebody who gives credentials. One call is made at a time for a store, from a thread that may block.
pub trait CredentialSource: Send + Sync {
    /// Credentials that are valid now.
    ///
    /// # Errors
    /// The reason why there are none, for the user.
    fn credentials(&self, asked: &Asked) -> Result<GivenCredentials, String>;
}

type Sources = BTreeMap<String, Arc<dyn CredentialSource>>;
/// Threads do not survive `fork`, and one of them may hold the lock of a `Fresh`: so a child has its own.
type Key = (u32, String, Asked);

static SOURCES: Mutex<Sources> = Mutex::new(BTreeMap::new());
static FRESH: Mutex<BTreeMap<Key, Arc<Fresh>>> = Mutex::new(BTreeMap::new());

/// Makes a source known in this process by a name, for the option [`CREDENTIALS`]. One that had the name is replaced.
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
