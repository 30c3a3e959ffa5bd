use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use uuid::Uuid;

use crate::error::{Error, Result};
use crate::store::{Location, PutOutcome};

/// Stores (scheme and authority) that have shown that they keep the condition of put-if-absent.
static TRUSTED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// Makes sure, once for each remote store in the life of the process, that put-if-absent is one: two writes of one small
/// object, of which the second must be refused. A store that ignores the condition would let two writers take the same
/// version, and the rows of one would be gone without a word.
///
/// # Errors
/// [`Error::Unsupported`] for such a store. A store that gives no clear answer here is not judged: the commit itself will
/// meet the same trouble and report it.
pub(super) fn check_store(location: &Location) -> Result<()> {
    let root = location.root();
    let key = root.prefix().to_owned();
    let trusted = || TRUSTED.lock().unwrap_or_else(PoisonError::into_inner);
    if matches!(root.scheme(), "file" | "memory") || trusted().contains(&key) {
        return Ok(());
    }
    let probe = location.log_dir().join(&format!("_probe_{}.tmp", Uuid::new_v4()));
    let store = location.store();
    let answers = store
        .put_if_absent(&probe, Bytes::from_static(b"1"))
        .and_then(|first| Ok((first, store.put_if_absent(&probe, Bytes::from_static(b"2"))?)));
    // best effort: readers of the log pass over names that they do not know
    let _ = store.delete(&probe);
    match answers {
        Ok((_, PutOutcome::AlreadyExists)) => {
            trusted().insert(key);
            Ok(())
        }
        Ok((_, PutOutcome::Created)) => Err(Error::Unsupported {
            path: root.to_string(),
            what: "writing to a store that ignores the condition of put-if-absent (`If-None-Match: *`), where writers \
                   would overwrite each other's commits,"
                .to_owned(),
        }),
        Err(_) => Ok(()),
    }
}
